// Loops, branches and checkpoints inside each other: the work of transforms and passes grows linearly with their
// number. Work is counted in programs begun (generations of builders), not in time.
#include "ir/program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Wrap = std::string (*)(const std::string& body);

std::string InScan(const std::string& body) {
  return "program(%c: f64[]) {\n  %y: f64[] = scan(%c) length=2 num_consts=0 num_carry=1 body=" + body +
         "\n  return %y\n}";
}
std::string InWhile(const std::string& body) {
  return "program(%c: f64[]) {\n  %y: f64[] = while(%c) cond_nconsts=0 body_nconsts=0 max_trips=2 "
         "cond=program(%c: f64[]) {\n  %z: f64[] = constant 0.5\n  %p: bool[] = lt(%c, %z)\n  return %p\n} body=" +
         body + "\n  return %y\n}";
}
std::string InCond(const std::string& body) {
  return "program(%c: f64[]) {\n  %z: i32[] = constant 1\n  %y: f64[] = cond(%z, %c) branches=[" + body +
         ", program(%c: f64[]) {\n  %s: f64[] = sin(%c)\n  return %s\n}]\n  return %y\n}";
}
std::string InCheckpoint(const std::string& body) {
  return "program(%c: f64[]) {\n  %y: f64[] = checkpoint(%c) policy=\"nothing\" body=" + body + "\n  return %y\n}";
}
std::string InVmap(const std::string& body) {
  return "program(%c: f64[]) {\n  %b: f64[2] = broadcast_in_dim(%c) shape=[2] broadcast_dimensions=[]\n"
         "  %v: f64[2] = vmap(%b) size=2 in_axes=[0] out_axes=[0] axis_name=\"\" body=" +
         body + "\n  %y: f64[] = reduce_sum(%v) axes=[0]\n  return %y\n}";
}
std::string InCustom(const std::string& body) {
  return "program(%c: f64[]) {\n  %y: f64[] = custom_jvp(%c) call=" + body +
         " jvp=program(%c: f64[], %t: f64[]) {\n  %y: f64[] = custom_jvp(%c) self=1\n  return %y, %t\n}\n"
         "  return %y\n}";
}

class Nesting : public ::testing::TestWithParam<Wrap> {
 protected:
  std::string Text(int depth) const {
    std::string text = "program(%c: f64[]) {\n  %y: f64[] = sin(%c)\n  return %y\n}";
    for (int i = 0; i < depth; ++i) text = GetParam()(text);
    return text.insert(text.find('('), " f");
  }
  // Programs begun by what `work` does with f.
  template <typename F>
  static uint32_t Begun(const Program& f, F&& work) {
    ir::Vocabulary& v = *ir::FromAbi(f.get())->vocabulary();
    const uint32_t before = v.NextGeneration();
    work();
    return v.NextGeneration() - before;
  }
  template <typename F>
  void ExpectLinear(F&& work) {
    const Program half = r.Parse(Text(8)), whole = r.Parse(Text(16));
    // The smaller one first, whatever order a compiler evaluates operands in: it would find parts of the larger one.
    const uint32_t of_half = Begun(half, [&] { work(half); }), of_whole = Begun(whole, [&] { work(whole); });
    EXPECT_LE(of_whole, 2.5 * of_half);
  }
  ProgramRunner r;
};

TEST_P(Nesting, TransformsAreLinear) {
  ExpectLinear([&](const Program& f) { r.Jvp(f, {1}); });
  ExpectLinear([&](const Program& f) { r.Grad(f); });
  ExpectLinear([&](const Program& f) { r.Vmap(f, {0}, {0}, 3); });
  ExpectLinear([&](const Program& f) { r.Batch(f, {1}, 3); });
}

TEST_P(Nesting, CompilingIsLinear) {
  for (const std::string& device : r.Devices()) {
    SCOPED_TRACE(device);
    ExpectLinear([&](const Program& f) { r.Dump(f, "optimized", device); });
    ExpectLinear([&](const Program& f) { r.Dump(r.Grad(f), "optimized", device); });
  }
}

constexpr const char* kNames[] = {"scan", "while", "cond", "checkpoint", "vmap", "custom"};
INSTANTIATE_TEST_SUITE_P(Of, Nesting, ::testing::Values(InScan, InWhile, InCond, InCheckpoint, InVmap, InCustom),
                         [](const auto& test) { return std::string(kNames[test.index]); });

}  // namespace
}  // namespace ricci::testing
