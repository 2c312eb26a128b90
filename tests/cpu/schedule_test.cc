// How vmap and kernels are scheduled: by estimates for stated processors, or as a vmap says, or refused if impossible.
#include "backend_with.h"
#include "library_row.h"
#include "scheduled_programs.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Other processors than this one: code compiled for them may not run here.
template <size_t kLevel>
cpu::Settings Processor() {
  cpu::Settings settings;
  settings.processor = kLevel == 4 ? "x86-64-v4" : "x86-64-v3";
  if (kLevel == 4) settings.features = "+avx512f,+avx512vl";
  return settings;
}

// The choice for the first vmap of `text`: the first line ends with it, or with it, a comma and the reason.
std::string Chosen(ProgramRunner& r, std::string_view text) {
  const std::string decisions = r.Dump(r.Parse(text), "decisions", "cpu");
  const std::string line = decisions.substr(0, decisions.find('\n'));
  const std::string choice = line.substr(line.rfind(": ") + 2);
  return choice.substr(0, choice.find(','));
}

std::string WithSchedule(std::string text, const std::string& schedule) {
  const std::string anchor = " axis_name=\"\"";
  return text.replace(text.find(anchor), anchor.size(), anchor + " schedule=\"" + schedule + "\"");
}

template <size_t kLevel>
void ExpectSchedules() {
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<Processor<kLevel>>)));
  EXPECT_EQ(Chosen(r, kRecurrent), "batched");
  EXPECT_EQ(Chosen(r, kSmallMatrices), "lanes");
  EXPECT_EQ(Chosen(r, kWideRows), "batched");
  const std::string decisions = r.Dump(r.Parse(WithSchedule(kHalving, "lanes")), "decisions", "cpu");
  EXPECT_NE(decisions.find(kLevel == 4 ? "32 lanes over the domain" : "16 lanes over the domain"), std::string::npos)
      << decisions;
}

TEST(Schedule, OfAProcessorWithAvx2) { ExpectSchedules<3>(); }
TEST(Schedule, OfAProcessorWithAvx512) { ExpectSchedules<4>(); }

TEST(Schedule, TellsBothEstimatesAndTheKernels) {
  ProgramRunner r;
  const std::string text = r.Dump(r.Parse(kSmallMatrices), "decisions", "cpu");
  EXPECT_EQ(text.find("vmap of 256 (f32[256,4,4], f32[256,4,4]) at test:1: lanes\n  batched: "), 0u) << text;
  EXPECT_NE(text.find("\n  lanes: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nkernel "), std::string::npos) << text;
  EXPECT_NE(text.find("\nin all about "), std::string::npos) << text;
}

// A loop that writes a stack, and one on the way back that reads it: each trip waits for the trip before, not for all
// trips of the other loop.
double LanesOfLoops(ProgramRunner& r, int trips) {
  std::string text =
      "program f(%x: f32[4096]) { %y: f32[4096] = vmap(%x) size=4096 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[]) { %c: f32[], %s: f32[TRIPS] = scan(%x) length=TRIPS num_consts=0 num_carry=1"
      " reverse=false body=program(%x: f32[]) { %n: f32[] = sin(%x) %k: f32[] = cos(%x) return %n, %k }"
      " %z: f32[] = scan(%c, %s) length=TRIPS num_consts=0 num_carry=1 reverse=true"
      " body=program(%g: f32[], %k: f32[]) { %p: f32[] = mul(%g, %k) return %p } return %z } return %y }";
  for (size_t at; (at = text.find("TRIPS")) != std::string::npos;) text.replace(at, 5, std::to_string(trips));
  const std::string decisions = r.Dump(r.Parse(text), "decisions", "cpu");
  return std::stod(decisions.substr(decisions.find("lanes: ") + 7));
}

TEST(Schedule, EstimatesGrowWithTheTripsOfLoops) {
  ProgramRunner r;
  const double once = LanesOfLoops(r, 100), ten = LanesOfLoops(r, 1000);
  EXPECT_GT(ten, 5 * once);
  EXPECT_LT(ten, 20 * once);
}

std::string MatrixLoop(int n, const std::string& attributes = "") {
  const std::string matrix = "f32[" + std::to_string(n) + "," + std::to_string(n) + "]";
  return "program f(%w: " + matrix + ", %c: " + matrix + ") { %y: " + matrix +
         " = scan(%w, %c) length=100 num_consts=1 num_carry=1 reverse=false" + attributes +
         " body=program(%w: " + matrix + ", %c: " + matrix + ") { %p: " + matrix +
         " = dot_general(%w, %c) lhs_contract=[1] rhs_contract=[0] return %p } return %y }";
}

TEST(Schedule, LoopsRunWhereTheyAreCheaper) {
  ProgramRunner r;
  EXPECT_EQ(Chosen(r, MatrixLoop(3)), "kernel");
  EXPECT_EQ(Chosen(r, MatrixLoop(24)), "plan");
  for (const std::string run_in : {"kernel", "plan"}) {
    const Program f = r.Parse(MatrixLoop(8, " run_in=\"" + run_in + "\""));
    const std::string plan = r.Dump(f, "plan", "cpu");
    EXPECT_EQ(plan.find("while") == std::string::npos, run_in == "kernel") << plan;
    r.RunEverywhere(f, {Numbers(64, 0.1), Numbers(64, 0.2)}, 1e-5);
  }
  const std::string message = r.ParseError(MatrixLoop(8, " run_in=\"moon\""));
  EXPECT_NE(message.find("scan: run_in is `moon`; it must be kernel or plan, or left out"), std::string::npos)
      << message;
}

// Lanes that do not take a branch compute too, but not with whatever is in memory, which may be a huge number whose
// sine takes a hundred times as long.
TEST(Schedule, SwitchedOffLanesComputeWithNumbers) {
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_config(r.ctx(), "vmap", 4, "lanes", 5)));
  const Program f = r.Parse(
      "program f(%x: f32[16]) { %y: f32[16] = vmap(%x) size=16 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[]) { %z: f32[] = constant 0.0 %p: bool[] = gt(%x, %z)"
      " %i: i32[] = convert_element_type(%p) new_dtype=i32"
      " %r: f32[] = cond(%i, %x) branches=[program(%x: f32[]) { return %x }, program(%x: f32[]) {"
      " %s: f32[] = scan(%x) length=50 num_consts=0 num_carry=1 reverse=false body=program(%x: f32[]) {"
      " %s: f32[] = sin(%x) return %s } return %s }] return %r } return %y }");
  const std::string native = r.Dump(f, "native", "cpu");
  EXPECT_NE(native.find("sin"), std::string::npos);
  EXPECT_EQ(native.find("undef"), std::string::npos) << native;
  EXPECT_EQ(native.find("poison"), std::string::npos) << native;
}

TEST(Schedule, IsWhatTheVmapSays) {
  ProgramRunner r;
  for (const char* text : {kRecurrent, kSmallMatrices, kHalving, kWideRows}) {
    EXPECT_EQ(Chosen(r, WithSchedule(text, "batched")), "batched");
    EXPECT_EQ(Chosen(r, WithSchedule(text, "lanes")), "lanes");
  }
  ASSERT_TRUE(Ok(ricci_context_config(r.ctx(), "vmap", 4, "batched", 7)));
  EXPECT_EQ(Chosen(r, WithSchedule(kHalving, "lanes")), "lanes") << "it goes before the option";
  const std::string message = r.ParseError(WithSchedule(kHalving, "sideways"));
  EXPECT_NE(message.find("schedule is `sideways`; it must be batched or lanes"), std::string::npos) << message;
}

TEST(Schedule, IsKeptByTransforms) {
  ProgramRunner r;
  const Program f = r.Parse(WithSchedule(kSmallMatrices, "lanes"));
  EXPECT_NE(r.Print(r.Jvp(f, {1, 1})).find("schedule=\"lanes\""), std::string::npos);
  EXPECT_NE(r.Print(r.Batch(f, {1, 1}, 3)).find("schedule=\"lanes\""), std::string::npos);
  EXPECT_NE(ricci_program_hash(f.get()), ricci_program_hash(r.Parse(kSmallMatrices).get()));
  ricci_program *fwd = nullptr, *bwd = nullptr;
  const uint8_t wanted[] = {1, 1};
  ASSERT_TRUE(Ok(ricci_vjp(f.get(), wanted, 2, &fwd, &bwd)));
  EXPECT_NE(r.Print(Program(fwd)).find("schedule=\"lanes\""), std::string::npos);
  EXPECT_NE(r.Print(Program(bwd)).find("schedule=\"lanes\""), std::string::npos);
}

std::string CompileError(ProgramRunner& r, const std::string& text) {
  const Program f = r.Parse(text);
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  ricci_device* const on = ricci_device_find(r.ctx(), "cpu", 3);
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  ricci_status* s = ricci_compile(f.get(), &o, &x);
  ricci_executable_release(x);
  return s == nullptr ? "" : Message(s);
}

TEST(Schedule, ACheckInABranchIsNotBatched) {
  ProgramRunner r;
  const std::string text =
      "program f(%x: f32[8]) { %y: f32[8] = vmap(%x) size=8 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[]) { %o: f32[] = constant 0.0 %p: bool[] = gt(%x, %o) %i: i32[] = convert_element_type(%p)"
      " new_dtype=i32 %r: f32[] = cond(%i, %x) branches=[program(%x: f32[]) { return %x }, program(%x: f32[]) {"
      " %l: f32[] = constant 9.0 %q: bool[] = lt(%x, %l) %c: f32[] = check(%q, %x) code=9 message=\"large\" return %c "
      "}]"
      " return %r } return %y }";
  EXPECT_EQ(Chosen(r, text), "lanes");
  const std::string message = CompileError(r, WithSchedule(text, "batched"));
  EXPECT_NE(message.find("schedule `batched` is not possible: a check in a branch would fail"), std::string::npos)
      << message;
  EXPECT_NE(message.find("test:1"), std::string::npos) << message;
}

// A primitive that has only a library call.
TEST(Schedule, WhatNoKernelCanRunIsNotInLanes) {
  ProgramRunner r;
  static const ricci_library library = {{sizeof(ricci_library), 0, nullptr},
                                        [](void*, const ricci_op*, ricci_library_plan* out) -> ricci_status* {
                                          out->tasks = 1;
                                          return nullptr;
                                        },
                                        [](void*, const ricci_launch*) -> ricci_status* { return nullptr; },
                                        nullptr};
  const auto batch = [](void*, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) -> ricci_status* {
    a->out_dims[0] = 0;
    return ricci_builder_emit(b, op->prim, nullptr, 0, a->in, 1, a->out, 1);
  };
  ASSERT_TRUE(Ok(RegisterLibraryRow(r.ctx(), "test.call", library, nullptr, batch)));
  const std::string text =
      "program f(%x: f32[8,3]) { %y: f32[8,3] = vmap(%x) size=8 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[3]) { %r: f32[3] = test.call(%x) return %r } return %y }";
  EXPECT_EQ(Chosen(r, text), "batched");
  const std::string message = CompileError(r, WithSchedule(text, "lanes"));
  EXPECT_NE(message.find("schedule `lanes` is not possible: test.call in its body cannot run within a kernel"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace ricci::testing
