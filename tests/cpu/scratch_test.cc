// Private arrays that do not fit the stack are in scratch. A lower bound puts all arrays there, so that small bodies
// test what otherwise only large ones would: loops one after another, code that is made once for each piece of the
// domain, reductions whose body occurs several times in the code.
#include <sstream>

#include "backend_with.h"
#include "cpu/sine_values.h"

namespace ricci::testing { namespace {

cpu::Settings SmallStack() {
  cpu::Settings settings;
  settings.stack_local = 8;
  return settings;
}

// `loops` while loops one after another over `arrays` carried arrays of `size`, in lanes of a batch that is a
// concatenation of two halves, so that the domain is cut there.
std::string Loops(int batch, int size, int arrays, int loops) {
  std::ostringstream t;
  const std::string one = "f32[" + std::to_string(size) + "]", n = std::to_string(batch);
  const auto all = [&](const std::string& type) { return "f32[" + type + "," + std::to_string(size) + "]"; };
  t << "program f(%a: " << all(std::to_string(batch / 2)) << ", %b: " << all(std::to_string(batch / 2))
    << ") {\n %x: " << all(n) << " = concatenate(%a, %b) dimension=0\n %y: " << all(n) << " = vmap(%x) size=" << n
    << " in_axes=[0] out_axes=[0] axis_name=\"\" body=program(%x: " << one << ") {\n  %z: i32[] = constant 0\n";
  std::string params = "(%i: i32[]";
  for (int k = 0; k < arrays; ++k) params += ", %a" + std::to_string(k) + ": " + one;
  params += ")";
  for (int loop = 0; loop < loops; ++loop) {
    t << "  %j" << loop << ": i32[]";
    for (int k = 0; k < arrays; ++k) t << ", %w" << loop << "_" << k << ": " << one;
    t << " = while(%z";
    for (int k = 0; k < arrays; ++k) {
      t << ", %" << (loop == 0 ? "x" : "w" + std::to_string(loop - 1) + "_" + std::to_string(k));
    }
    t << ") cond_nconsts=0 body_nconsts=0 cond=program" << params << " { %l: i32[] = constant " << 2 + loop % 2
      << " %s: f32[] = reduce_max(%a0) axes=[0] %m: f32[] = constant 90.0 %p: bool[] = lt(%i, %l)"
      << " %q: bool[] = lt(%s, %m) %r: bool[] = and(%p, %q) return %r }\n   body=program" << params
      << " { %o: i32[] = constant 1 %j: i32[] = add(%i, %o) %c0: " << one << " = cumsum(%a0) axis=0 reverse=false";
    for (int k = 1; k < arrays; ++k) t << " %c" << k << ": " << one << " = sub(%a" << k - 1 << ", %a" << k << ")";
    t << " return %j";
    for (int k = 0; k < arrays; ++k) t << ", %c" << k;
    t << " }\n";
  }
  t << "  return %w" << loops - 1 << "_" << arrays - 1 << "\n }\n return %y }";
  return t.str();
}

// A sum over rows, each of which has a private array; its body occurs several times in the code.
constexpr const char* kSumOfRows =
    "program f(%x: f32[64,24,40]) { %y: f32[64] = vmap(%x) size=64 in_axes=[0] out_axes=[0] axis_name=\"\""
    " body=program(%x: f32[24,40]) { %z: f32[24] = vmap(%x) size=24 in_axes=[0] out_axes=[0] axis_name=\"\""
    " body=program(%v: f32[40]) { %s: f32[40] = cumsum(%v) axis=0 reverse=true  %t: f32[40] = sort(%s) dimension=0"
    " is_stable=true num_keys=1  %u: f32[40] = cumsum(%t) axis=0 reverse=false  %r: f32[] = reduce_max(%u) axes=[0]"
    "  return %r }  %q: f32[] = reduce_sum(%z) axes=[0]  return %q }  return %y }";

void ExpectSameAsReference(ProgramRunner& r, const std::string& text, const std::vector<Numbers>& args) {
  ASSERT_EQ(ricci_context_config(r.ctx(), "vmap", 4, "lanes", 5), nullptr);
  r.RunEverywhere(r.Parse(text), args, 1e-4);
}

TEST(Scratch, SmallBodiesWithTheBoundLowered) {
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<SmallStack>)));
  for (const auto& [arrays, loops] : {std::pair(1, 1), std::pair(2, 3), std::pair(5, 4)}) {
    ExpectSameAsReference(r, Loops(1024, 20, arrays, loops), {Values(512 * 20), Values(512 * 20)});
  }
  ExpectSameAsReference(r, kSumOfRows, {Values(64 * 24 * 40)});
}

TEST(Scratch, ALargeBody) {
  ProgramRunner r;
  ExpectSameAsReference(r, Loops(1024, 260, 6, 4), {Values(512 * 260), Values(512 * 260)});
}

}  // namespace
}  // namespace ricci::testing
