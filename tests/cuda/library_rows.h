// LibraryCalls: rows of a plugin whose lowerings are LIBRARY: one for every target, which runs on the host, and one for
// `cuda`, which enqueues work to the stream of the run.
#ifndef RICCI_TESTS_CUDA_LIBRARY_ROWS_H_
#define RICCI_TESTS_CUDA_LIBRARY_ROWS_H_
#include "cuda/bare_driver.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing {

inline constexpr uint64_t kScratch = 200, kWorkspace = 48;
inline constexpr int64_t kTasks = 3;

// y = x + 1 of f32, by three tasks, each of which has its part of the elements; through scratch and workspace.
inline ricci_status* PlanParts(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  EXPECT_EQ(plan->native_context, nullptr) << "it runs on the host";
  plan->state = new int64_t(d.dims[0]);
  plan->tasks = kTasks;
  plan->workspace_bytes = kWorkspace;
  plan->scratch_bytes = kScratch;
  return nullptr;
}
inline ricci_status* LaunchPart(void* state, const ricci_launch* l) {
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
inline void DropParts(void* state) { delete static_cast<int64_t*>(state); }
inline constexpr ricci_library kParts = {{sizeof(ricci_library), 0, nullptr}, PlanParts, LaunchPart, DropParts};

// y = x, by a copy that goes into the stream of the run.
struct OnStream {
  std::unique_ptr<cuda::Driver> driver;
  uint64_t bytes;
};
inline ricci_status* PlanCopy(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  EXPECT_NE(plan->native_context, nullptr);
  std::string error;
  plan->state = new OnStream{cuda::OpenDriver({RICCI_STANDIN}, error), static_cast<uint64_t>(d.dims[0]) * 4};
  plan->workspace_bytes = plan->scratch_bytes = 100;
  return nullptr;
}
inline ricci_status* LaunchCopy(void* state, const ricci_launch* l) {
  const OnStream& s = *static_cast<OnStream*>(state);
  const auto pointer = [](const void* p) { return static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(p)); };
  EXPECT_EQ(OfStandin<int()>("ricci_standin_pushed")(), 1);
  std::memset(l->scratch, 1, 100);
  const auto stream = static_cast<cuda::CuStream>(l->stream);
  const cuda::CuResult set = s.driver->cuMemsetD32Async(pointer(l->workspace), 1, 25, stream);
  const cuda::CuResult copied = s.driver->cuMemcpyDtoDAsync(pointer(l->out[0]), pointer(l->in[0]), s.bytes, stream);
  return set == 0 && copied == 0 ? nullptr : ricci_status_make(RICCI_INTERNAL, "copy: the driver refuses", 24);
}
inline void DropCopy(void* state) { delete static_cast<OnStream*>(state); }
inline constexpr ricci_library kCopy = {{sizeof(ricci_library), 0, nullptr}, PlanCopy, LaunchCopy, DropCopy};

inline ricci_status* AddRow(ricci_ctx* ctx, std::string_view name, const ricci_library& library,
                            std::string_view target) {
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
// With the simulated GPU.
inline void AddLibraryRows(ricci_ctx* ctx) {
  EXPECT_TRUE(Ok(AddRow(ctx, "test.parts", kParts, "*")));
  EXPECT_TRUE(Ok(AddRow(ctx, "test.copy", kCopy, "cuda")));
  EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, QuerySimulatedGpu)));
}

class LibraryCalls : public ::testing::Test {
 protected:
  LibraryCalls() { AddLibraryRows(r_.ctx()); }
  ProgramRunner r_;
};

}  // namespace ricci::testing
#endif
