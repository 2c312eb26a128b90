// Equal parts of a large body are calls of one function: how many functions there are, and that results have the bits
// that they have without.
#include <sstream>

#include "backend_with.h"
#include "cpu/sine_values.h"

namespace ricci::testing { namespace {

cpu::Settings Shared() {
  cpu::Settings settings;
  settings.cuts.region_code = 200;
  settings.cuts.shared_code = 8;
  return settings;
}
cpu::Settings NotShared() {
  cpu::Settings settings = Shared();
  settings.cuts.shared_code = INT64_MAX;
  return settings;
}

// A body over %x and %y, mapped in lanes over 35 elements, and %u, the same for all of them.
std::string InLanes(const std::string& type, const std::string& body) {
  const std::string all =
      type.substr(0, type.find('[')) + "[35" + (type.ends_with("[]") ? "" : ",") + type.substr(type.find('[') + 1);
  return "program f(%a: " + all + ", %b: " + all + ", %c: f32[]) {\n %r: " + all +
         " = vmap(%a, %b, %c) size=35 in_axes=[0,0,-1] out_axes=[0] axis_name=\"\" schedule=\"lanes\" "
         "body=program(%x: " +
         type + ", %y: " + type + ", %u: f32[]) {\n" + body + " }\n return %r }";
}

size_t CountFunctions(const std::string& code) {
  size_t n = 0;
  for (size_t at = code.find("\ndefine"); at != std::string::npos; at = code.find("\ndefine", at + 1)) ++n;
  return n;
}

struct Outcome {
  std::string code;
  std::vector<Numbers> results;
};
template <cpu::Settings (*kSettings)()>
Outcome RunWith(const std::string& text, size_t elements) {
  ProgramRunner r;
  EXPECT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<kSettings>)));
  const Program f = r.Parse(text);
  const std::vector<Numbers> inputs{Values(elements), Values(elements), {0.25}};
  r.RunEverywhere(f, inputs, 1e-4);
  return {r.Dump(f, "native", "cpu"), r.Run(f, inputs, "cpu")};
}

void ExpectSameBits(const std::string& text, size_t elements) {
  const Outcome shared = RunWith<Shared>(text, elements), apart = RunWith<NotShared>(text, elements);
  EXPECT_LT(shared.code.size(), apart.code.size()) << text;
  ASSERT_EQ(shared.results.size(), apart.results.size());
  for (size_t i = 0; i < shared.results.size(); ++i) {
    for (size_t e = 0; e < shared.results[i].size(); ++e) {
      EXPECT_EQ(shared.results[i][e], apart.results[i][e]) << "element " << e << " of\n" << text;
    }
  }
}

// %NAME = the first of x, f(x), f(f(x)), ... that is below `limit`, and how many steps that takes. Lanes leave the loop
// at different times.
std::string Halving(const std::string& name, const std::string& x, const std::string& limit) {
  return "%" + name + "_z: i32[] = constant 0 %" + name + "_n: i32[], %" + name + ": f32[] = while(" + limit + ", %" +
         name + "_z, " + x +
         ") cond_nconsts=1 body_nconsts=0\n cond=program(%l: f32[], %i: i32[], %v: f32[]) { %m: i32[] = constant 40"
         " %a: f32[] = abs(%v) %p: bool[] = lt(%l, %a) %q: bool[] = lt(%i, %m) %r: bool[] = and(%p, %q) return %r }\n"
         " body=program(%i: i32[], %v: f32[]) { %one: i32[] = constant 1 %n: i32[] = add(%i, %one) %h: f32[] = constant"
         " 0.4 %w: f32[] = mul(%v, %h) %s: f32[] = sin(%w) %t: f32[] = sqrt(%h) %g: f32[] = mul(%s, %t)"
         " return %n, %g }\n";
}

TEST(SharedParts, ValuesOfLanesAndOfAll) {
  std::string body = "%v0: f32[] = add(%x, %y) %l: f32[] = abs(%y) %k: f32[] = constant 0.125\n";
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i), x = "%v" + n;
    const std::string limit = i % 3 == 0 ? "%u" : i % 3 == 1 ? "%l" : "%k";
    body += Halving("h" + n, x, limit);
    body += "%c" + n + ": f32[] = convert_element_type(%h" + n + "_n) new_dtype=f32 %d" + n + ": f32[] = mul(%c" + n +
            ", %x) %e" + n + ": f32[] = " + (i % 2 == 0 ? "add" : "sub") + "(%d" + n + ", %h" + n + ")\n";
    body += "%v" + std::to_string(i + 1) + ": f32[] = add(%e" + n + (i > 4 ? ", %h" + std::to_string(i - 4) : ", %y") +
            ")\n";
  }
  ExpectSameBits(InLanes("f32[]", body + "return %v12"), 35);
}

// Private arrays that other parts made, that others read, and that only the part itself has.
TEST(SharedParts, PrivateArrays) {
  std::string body = "%v0: f32[20] = add(%x, %y)\n";
  for (int i = 0; i < 9; ++i) {
    const std::string n = std::to_string(i), x = "%v" + n, older = i < 2 ? "%y" : "%v" + std::to_string(i - 2);
    body += "%s" + n + ": f32[20] = sort(" + x + ") dimension=0 is_stable=true num_keys=1\n %c" + n +
            ": f32[20] = cumsum(%s" + n + ") axis=0 reverse=false\n %t" + n + ": f32[20] = sin(%c" + n + ")\n %v" +
            std::to_string(i + 1) + ": f32[20] = " + (i % 4 == 0 ? "sub" : "max") + "(%t" + n + ", " + older + ")\n";
  }
  ExpectSameBits(InLanes("f32[20]", body + "return %v9"), 35 * 20);
}

// In a branch that some lanes take, in a loop that they leave at different times, and at the top.
TEST(SharedParts, UnderMasks) {
  const std::string two = Halving("a", "%v", "%l") + Halving("b", "%a", "%l") + Halving("c", "%w", "%l") +
                          "%d: f32[] = add(%b, %c) %e: f32[] = sub(%d, %a)\n";
  const std::string branch = "(%v: f32[], %w: f32[], %l: f32[]) {\n" + two + "return %e }";
  ExpectSameBits(
      InLanes("f32[]",
              "%l: f32[] = constant 0.125 %k: f32[] = abs(%l) %p: bool[] = lt(%x, %y) %b: i32[] ="
              " convert_element_type(%p) new_dtype=i32\n" +
                  Halving("g", "%x", "%l") + Halving("h", "%y", "%l") +
                  "%m: f32[] = cond(%b, %x, %y, %l) branches=[program br0" + branch + ", program br1" + branch +
                  "]\n %z: i32[] = constant 0 %j: i32[], %o: f32[], %q: f32[] = while(%l, %z, %x, %m)"
                  " cond_nconsts=0 body_nconsts=1 cond=program(%i: i32[], %v: f32[], %w: f32[]) {"
                  " %n: i32[] = constant 5 %f: f32[] = constant 0.9 %s: bool[] = lt(%i, %n) %t: bool[] ="
                  " lt(%v, %f) %r: bool[] = and(%s, %t) return %r }\n"
                  " body=program(%l: f32[], %i: i32[], %v: f32[], %w: f32[]) {\n" +
                  two +
                  "%one: i32[] = constant 1 %n: i32[] = add(%i, %one) %y: f32[] = cos(%e)"
                  " return %n, %y, %d }\n"
                  " %r: f32[] = add(%o, %q) %s: f32[] = add(%r, %g) %t: f32[] = mul(%s, %h) return %t"),
      35);
}

std::string Eigenvalues(int n) {
  std::ostringstream body;
  body << "%v0: f32[3,3] = add(%x, %y)\n";
  for (int i = 0; i < n; ++i) {
    body << "%u" << i << ": f32[3,3], %w" << i << ": f32[3] = eigh(%v" << i << ")\n%b" << i
         << ": f32[3,3] = broadcast_in_dim(%w" << i << ") shape=[3,3] broadcast_dimensions=[1] %v" << i + 1
         << ": f32[3,3] = " << (i % 2 == 0 ? "sub" : "mul") << "(%u" << i << ", %b" << i << ")\n";
  }
  body << "return %v" << n;
  return InLanes("f32[3,3]", body.str());
}
std::string SingularValues(int n) {
  std::ostringstream body;
  body << "%v0: f32[3,3] = add(%x, %y)\n";
  for (int i = 0; i < n; ++i) {
    body << "%s" << i << ": f32[3], %u" << i << ": f32[3,3], %t" << i << ": f32[3,3] = svd(%v" << i
         << ") full_matrices=false\n%b" << i << ": f32[3,3] = broadcast_in_dim(%s" << i
         << ") shape=[3,3] broadcast_dimensions=[1] %c" << i << ": f32[3,3] = add(%b" << i << ", %t" << i << ") %v"
         << i + 1 << ": f32[3,3] = " << (i % 2 == 0 ? "sub" : "mul") << "(%u" << i << ", %c" << i << ")\n";
  }
  body << "return %v" << n;
  return InLanes("f32[3,3]", body.str());
}
std::string Attentions(int n) {
  std::ostringstream body;
  body << "%v0: f32[1,8,2,4] = add(%x, %y)\n";
  for (int i = 0; i < n; ++i) {
    body << "%a" << i << ": f32[1,8,2,4], %l" << i << ": f32[1,8,2] = dot_product_attention(%v" << i << ", %v" << i
         << ", %y) is_causal=true block_size=4\n%v" << i + 1 << ": f32[1,8,2,4] = add(%a" << i << ", %v" << i << ")\n";
  }
  body << "return %v" << n;
  return InLanes("f32[1,8,2,4]", body.str());
}

TEST(SharedParts, CodeDoesNotGrowWithEqualParts) {
  for (const auto& of : {Eigenvalues, SingularValues, Attentions}) {
    ProgramRunner r;
    const std::string few = r.Dump(r.Parse(of(20)), "native", "cpu"), many = r.Dump(r.Parse(of(80)), "native", "cpu");
    EXPECT_LE(CountFunctions(many), CountFunctions(few) + 1);  // calls are regions too
    EXPECT_LT(many.size(), 2 * few.size());
  }
}

}  // namespace
}  // namespace ricci::testing
