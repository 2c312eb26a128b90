// LIBRARY lowerings of plugins on GPUs: those for every target, which run on the host, and those for `cuda`, which
// enqueue work to the stream of the run.
#include "cuda/bare_driver.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr uint64_t kScratch = 200, kWorkspace = 48;
constexpr int64_t kTasks = 3;

// y = x + 1 of f32, by three tasks, each of which has its part of the elements; through scratch and workspace.
ricci_status* PlanParts(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  EXPECT_EQ(plan->native_context, nullptr) << "it runs on the host";
  plan->state = new int64_t(d.dims[0]);
  plan->tasks = kTasks;
  plan->workspace_bytes = kWorkspace;
  plan->scratch_bytes = kScratch;
  return nullptr;
}
ricci_status* LaunchPart(void* state, const ricci_launch* l) {
  const int64_t n = *static_cast<int64_t*>(state);
  EXPECT_EQ(l->stream, nullptr);
  EXPECT_EQ(OfStandin<int()>("ricci_standin_pushed")(), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(l->scratch) % 64, 0u);
  std::memset(l->scratch, 1, kScratch);
  std::memset(static_cast<char*>(l->workspace) + l->task * 16, 1, 16);
  for (int64_t i = l->task; i < n; i += kTasks) {
    static_cast<float*>(l->out[0])[i] = static_cast<const float*>(l->in[0])[i] + 1;
  }
  return nullptr;
}
void DropParts(void* state) { delete static_cast<int64_t*>(state); }
constexpr ricci_library kParts = {{sizeof(ricci_library), 0, nullptr}, PlanParts, LaunchPart, DropParts};

// y = x, by a copy that goes into the stream of the run.
struct OnStream {
  std::unique_ptr<cuda::Driver> driver;
  uint64_t bytes;
};
ricci_status* PlanCopy(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  EXPECT_NE(plan->native_context, nullptr);
  std::string error;
  plan->state = new OnStream{cuda::OpenDriver(RICCI_STANDIN, error), static_cast<uint64_t>(d.dims[0]) * 4};
  plan->workspace_bytes = plan->scratch_bytes = 100;
  return nullptr;
}
ricci_status* LaunchCopy(void* state, const ricci_launch* l) {
  const OnStream& s = *static_cast<OnStream*>(state);
  const auto pointer = [](const void* p) { return static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(p)); };
  EXPECT_EQ(OfStandin<int()>("ricci_standin_pushed")(), 1);
  std::memset(l->scratch, 1, 100);
  const auto stream = static_cast<cuda::CuStream>(l->stream);
  const cuda::CuResult set = s.driver->cuMemsetD32Async(pointer(l->workspace), 1, 25, stream);
  const cuda::CuResult copied = s.driver->cuMemcpyDtoDAsync(pointer(l->out[0]), pointer(l->in[0]), s.bytes, stream);
  return set == 0 && copied == 0 ? nullptr : ricci_status_make(RICCI_INTERNAL, "copy: the driver refuses", 24);
}
void DropCopy(void* state) { delete static_cast<OnStream*>(state); }
constexpr ricci_library kCopy = {{sizeof(ricci_library), 0, nullptr}, PlanCopy, LaunchCopy, DropCopy};

ricci_status* AddRow(ricci_ctx* ctx, std::string_view name, const ricci_library& library, std::string_view target) {
  ricci_lowering lowering{};
  lowering.hdr.size = sizeof lowering;
  lowering.kind = RICCI_LOWER_LIBRARY;
  lowering.target = {target.data(), target.size()};
  lowering.library = &library;
  const ricci_lowering* lowerings[] = {&lowering};
  ricci_prim_def row{};
  row.hdr.size = sizeof row;
  row.name = {name.data(), name.size()};
  row.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  ricci_prim prim = 0;
  return ricci_prim_register(ctx, &row, &prim);
}
class LibraryCalls : public ::testing::Test {
 protected:
  LibraryCalls() {
    EXPECT_TRUE(Ok(AddRow(r_.ctx(), "test.parts", kParts, "*")));
    EXPECT_TRUE(Ok(AddRow(r_.ctx(), "test.copy", kCopy, "cuda")));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r_.ctx(), QuerySimulatedGpu)));
  }
  ProgramRunner r_;
};

TEST_F(LibraryCalls, ARowThatOnlyTheHostHas) {
  const Program f = r_.Parse(R"(program f(%x: f32[7]) {
  %a: f32[7] = mul(%x, %x)
  %b: f32[7] = test.parts(%a)
  %c: f32[7] = test.parts(%b)
  %d: f32[7] = neg(%c)
  return %d, %b
})");
  EXPECT_EQ(r_.RunEverywhere(f, {{1, 2, 3, 4, 5, 6, 7}})[0], (Numbers{-3, -6, -11, -18, -27, -38, -51}));
}

constexpr std::string_view kCopied = R"(program f(%x: f32[7]) {
  %a: f32[7] = mul(%x, %x)
  %b: f32[7] = test.copy(%a)
  %d: f32[7] = neg(%b)
  return %d
})";

// Nothing waits for it.
TEST_F(LibraryCalls, ARowOfTheDevice) {
  GpuProgram f(GpuOf(r_.ctx()));
  std::vector<Floats> got;
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kCopied)) && Ok(f.Give({{1, 2, 3, 4, 5, 6, 7}})));
  OfStandin<const char*()>("ricci_standin_calls")();
  ASSERT_TRUE(Ok(f.Enqueue()));
  const std::string calls = OfStandin<const char*()>("ricci_standin_calls")();
  EXPECT_EQ(calls.find("Synchronize"), calls.npos) << calls;
  ASSERT_TRUE(Ok(f.Read(got)));
  EXPECT_EQ(got[0], (Floats{-1, -4, -9, -16, -25, -36, -49}));
  EXPECT_NE(r_.Dump(r_.Parse(kCopied), "decisions", "cuda").find("one by one: the plan has library calls\n"),
            std::string::npos);
}

TEST_F(LibraryCalls, AFailureOfTheDevice) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kCopied)) && Ok(f.Give({{1, 2, 3, 4, 5, 6, 7}})));
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  int refused = 0;
  for (uint64_t n = 1;; ++n) {
    fail(n, 999, 0);
    ricci_status* s = f.Enqueue();
    if (s == nullptr) s = ricci_array_wait(f.out()[0]);
    const std::string call = failed(), why = s == nullptr ? "" : Message(s);
    fail(0, 0, 0);
    if (call.empty()) break;
    const bool in_call = why.find("copy: the driver refuses") != why.npos;
    EXPECT_TRUE(why.empty() || in_call || why.find(call) != why.npos) << why;
    refused += in_call;
  }
  EXPECT_GE(refused, 1) << "how many calls come before depends on what earlier runs have left to give back";
}

TEST_F(LibraryCalls, ARowOfTheDeviceElsewhere) {
  GpuProgram f(ricci_device_find(r_.ctx(), "ref", 3));
  const std::string why = Message(f.Compile(r_.ctx(), kCopied));
  EXPECT_NE(why.find("test.copy"), why.npos) << why;
}

}}  // namespace ricci::testing
