// Bodies too large for one function are cut into regions. A lower bound does this to small bodies too, which tests what
// crosses from one region to the next: values of every type, masks, private arrays, the code around loops and branches.
#include <algorithm>
#include <sstream>

#include "backend_with.h"
#include "cpu/sine_values.h"

namespace ricci::testing { namespace {

cpu::Settings ShortRegions() {
  cpu::Settings settings;
  settings.cuts.region_code = 6;
  return settings;
}

std::string Mapped(const std::string& type, const std::string& body) {
  const std::string all =
      type.substr(0, type.find('[')) + "[35" + (type.ends_with("[]") ? "" : ",") + type.substr(type.find('[') + 1);
  return "program f(%a: " + all + ", %b: " + all + ") {\n %r: " + all +
         " = vmap(%a, %b) size=35 in_axes=[0,0] out_axes=[0] axis_name=\"\" schedule=\"lanes\" body=program(%x: " +
         type + ", %y: " + type + ") {\n" + body + " }\n return %r }";
}

void ExpectSameInRegions(const std::string& text, size_t elements) {
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<ShortRegions>)));
  const Program f = r.Parse(text);
  EXPECT_NE(r.Dump(f, "native", "cpu").find("_region2"), std::string::npos) << text;
  r.RunEverywhere(f, {Values(elements), Values(elements)}, 1e-4);
}

TEST(Regions, ValuesOfEveryType) {
  for (const std::string t : {"f16", "bf16", "f32", "f64", "i8", "u16", "i32", "i64"}) {
    const std::string one = t + "[]", to = one + " = convert_element_type(";
    std::ostringstream body;
    body << "%a: " << to << "%x) new_dtype=" << t << " %b: " << to << "%y) new_dtype=" << t
         << "\n%p: bool[] = lt(%a, %b) %n: i64[] = convert_element_type(%a) new_dtype=i64 %v0: " << one
         << " = add(%a, %b)\n";
    for (int i = 0; i < 20; ++i) {
      body << "%v" << i + 1 << ": " << one << " = "
           << (i % 3 == 0   ? "mul"
               : i % 3 == 1 ? "sub"
                            : "max")
           << "(%v" << i << ", " << (i % 2 == 0 ? "%a" : "%v" + std::to_string(i / 2)) << ")\n";
    }
    body << "%m: " << to << "%n) new_dtype=" << t << " %s: " << one
         << " = select_n(%p, %v20, %m) %q: bool[] = not(%p) %z: " << one
         << " = select_n(%q, %s, %v3) %r: f32[] = convert_element_type(%z) new_dtype=f32 return %r";
    ExpectSameInRegions(Mapped("f32[]", body.str()), 35);
  }
}

// Lanes leave the loop at different times and take different branches in it; a reduction, a private array.
TEST(Regions, WithinLoopsAndBranches) {
  ExpectSameInRegions(
      Mapped("f32[20]",
             "%zero: i32[] = constant 0 %w: f32[20] = mul(%x, %y) %s: f32[] = reduce_sum(%w) axes=[0]\n"
             "%j: i32[], %c: f32[20], %k: f32[20] = while(%s, %zero, %x, %y) cond_nconsts=0 body_nconsts=1\n"
             " cond=program(%i: i32[], %c: f32[20], %d: f32[20]) { %l: i32[] = constant 9 %m: f32[] = reduce_max(%c)"
             " axes=[0] %h: f32[] = constant 3.5 %p: bool[] = lt(%i, %l) %q: bool[] = lt(%m, %h)"
             " %r: bool[] = and(%p, %q) return %r }\n"
             " body=program(%s: f32[], %i: i32[], %c: f32[20], %d: f32[20]) {\n"
             "  %one: i32[] = constant 1 %n: i32[] = add(%i, %one) %u: f32[] = reduce_sum(%d) axes=[0]\n"
             "  %p: bool[] = lt(%s, %u) %b: i32[] = convert_element_type(%p) new_dtype=i32\n"
             "  %e: f32[20], %g: f32[20] = cond(%b, %c, %d)\n"
             "   branches=[program br0(%c: f32[20], %d: f32[20]) { %t: f32[20] = sin(%c) %o: f32[20] = add(%t, %d)"
             " %v: f32[20] = cumsum(%o) axis=0 reverse=false return %v, %t },\n"
             "   program br1(%c: f32[20], %d: f32[20]) { %t: f32[20] = sort(%d) dimension=0 is_stable=true num_keys=1"
             " %o: f32[20] = sub(%t, %c) %v: f32[20] = mul(%o, %o) return %o, %v }]\n"
             "  %f: f32[20] = max(%e, %g) return %n, %f, %e }\n"
             "%z: f32[20] = add(%c, %k) return %z"),
      35 * 20);
}

// `n` equations over `type`, each of which reads one some distance before it.
std::string Long(int n, const std::string& type) {
  std::ostringstream body;
  body << "%v0: " << type << " = add(%x, %y)\n";
  for (int i = 0; i < n; ++i) {
    const char* op = i % 5 == 4 ? "tanh" : i % 3 == 0 ? "add" : i % 3 == 1 ? "sub" : "mul";
    body << "%v" << i + 1 << ": " << type << " = " << op << "(%v" << i;
    if (i % 5 != 4) body << ", %v" << i - i * 7 % std::min(i + 1, 50);
    body << ")\n";
  }
  body << "return %v" << n;
  return Mapped(type, body.str());
}

// Lines of the longest function, and of all functions.
std::pair<int64_t, int64_t> FunctionsOf(const std::string& code) {
  std::istringstream in(code);
  int64_t all = 0, longest = 0, length = 0;
  for (std::string line; std::getline(in, line); ++all) {
    length = line.starts_with("define") ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  return {longest, all};
}

TEST(LargeBodies, AreFunctionsOfBoundedLength) {
  for (const auto& [type, n] : {std::pair("f32[]", 7500), std::pair("f32[64]", 800), std::pair("f32[12]", 400)}) {
    ProgramRunner r;
    const auto half = FunctionsOf(r.Dump(r.Parse(Long(n, type)), "native", "cpu"));
    const auto whole = FunctionsOf(r.Dump(r.Parse(Long(2 * n, type)), "native", "cpu"));
    EXPECT_LE(whole.first, std::min<int64_t>(20000, half.first * 5 / 4)) << type;
    EXPECT_LE(static_cast<double>(whole.second), 2.2 * static_cast<double>(half.second)) << type;
  }
}

// A choice among `n` arrays, and a loop with `n` carries.
std::string ManyCases(int n) {
  std::ostringstream params, cases;
  for (int i = 0; i < n; ++i) params << ", %x" << i << ": f32[35]", cases << ", %x" << i;
  return "program f(%w: i32[35]" + params.str() + ") {\n %y: f32[35] = select_n(%w" + cases.str() + ")\n return %y }";
}
std::string ManyCarries(int n) {
  std::ostringstream params, values, body, results;
  for (int i = 0; i < n; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    params << comma << "%x" << i << ": f32[]", values << comma << "%x" << i, results << comma << "%r" << i << ": f32[]";
    body << "%y" << i << ": f32[] = sub(%x" << i << ", %x" << (i + 1) % n << ")\n";
  }
  std::string next = values.str(), out = values.str();
  std::replace(next.begin(), next.end(), 'x', 'y');
  std::replace(out.begin(), out.end(), 'x', 'r');
  return "program f(" + params.str() + ") {\n " + results.str() + " = scan(" + values.str() +
         ") length=3 num_consts=0 num_carry=" + std::to_string(n) + " body=program(" + params.str() + ") {\n" +
         body.str() + " return " + next + " }\n return " + out + " }";
}

TEST(LargeBodies, HaveShortFunctionsForManyBuffers) {
  for (const auto& make : {ManyCases, ManyCarries}) {
    ProgramRunner r;
    const auto half = FunctionsOf(r.Dump(r.Parse(make(2500)), "native", "cpu"));
    const auto whole = FunctionsOf(r.Dump(r.Parse(make(5000)), "native", "cpu"));
    EXPECT_LE(whole.first, 20000);
    EXPECT_LE(static_cast<double>(whole.second), 2.2 * static_cast<double>(half.second));
  }
}

// What one region computes and another reads are a few of the halves that it chooses between, not all cases.
TEST(LargeBodies, ChoicesAreReadWhereTheyAreMade) {
  ProgramRunner r;
  const std::string code = r.Dump(r.Parse(ManyCases(3000)), "native", "cpu");
  size_t stores = 0;
  for (size_t at = code.find("store <"); at != std::string::npos; at = code.find("store <", at + 1)) ++stores;
  EXPECT_LT(stores, 100);
}

TEST(LargeBodies, ManyCasesAndCarriesGiveWhatTheReferenceGives) {
  ProgramRunner r;
  Numbers which(35);
  for (size_t i = 0; i < which.size(); ++i) which[i] = static_cast<double>(i) * 97 - 500;
  std::vector<Numbers> cases{which}, carries;
  for (int i = 0; i < 2600; ++i) cases.push_back(Numbers(35, i)), carries.push_back({std::sin(i)});
  r.RunEverywhere(r.Parse(ManyCases(2600)), cases, 0);
  r.RunEverywhere(r.Parse(ManyCarries(2600)), carries, 1e-5);
}

TEST(LargeBodies, GiveWhatTheReferenceGives) {
  ProgramRunner r;
  r.RunEverywhere(r.Parse(Long(15000, "f32[]")), {Values(35), Values(35)}, 1e-4);
  r.RunEverywhere(r.Parse(Long(900, "f32[12]")), {Values(35 * 12), Values(35 * 12)}, 1e-4);
}

}  // namespace
}  // namespace ricci::testing
