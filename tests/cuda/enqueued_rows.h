// EnqueuedRows: a row of a plugin whose launch for `cuda` promises to do nothing but enqueue, and that keeps the
// promise, or breaks it as the test wants.
#ifndef RICCI_TESTS_CUDA_ENQUEUED_ROWS_H_
#define RICCI_TESTS_CUDA_ENQUEUED_ROWS_H_
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "cuda/library_rows.h"

namespace ricci::testing {

// What launch does besides copying its operand to its workspace, and that to its result.
enum class Manner {
  kKeepsPromise,
  kForks,            // the second copy is in another stream, which comes back: allowed
  kAddsAMemset,      // between the copies: allowed, but another graph
  kEnqueuesNothing,  // allowed
  kWaits,
  kAllocates,
  kLeavesAStream,  // as kForks, but it does not come back
  kEndsCapture,
  kReturns,  // a status
  kThrows,
  kUsesPageableMemory,  // of the host, which the driver takes, but not in loops and branches
};
struct EnqueuedCalls {
  std::atomic<Manner> manner{Manner::kKeepsPromise};
  std::atomic<int> launches{0};
  int pushed = 0;  // contexts, by the test
};
inline EnqueuedCalls enqueued;

struct Enqueuing {
  std::unique_ptr<cuda::Driver> driver;
  uint64_t bytes = 4;
  cuda::CuStream other = nullptr;
  cuda::CuEvent fork = nullptr, join = nullptr;
};

inline ricci_status* PlanEnqueuing(void*, const ricci_op* op, ricci_library_plan* plan) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &d)) return s;
  auto state = std::make_unique<Enqueuing>();
  for (uint32_t i = 0; i < d.rank; ++i) state->bytes *= static_cast<uint64_t>(d.dims[i]);
  plan->workspace_bytes = state->bytes;
  plan->scratch_bytes = 64;
  if (plan->native_context == nullptr) return plan->state = state.release(), nullptr;  // a function of the host
  std::string error;
  state->driver = cuda::OpenDriver({RICCI_STANDIN}, error);
  cuda::CuContext context = static_cast<cuda::CuContext>(plan->native_context);
  state->driver->cuCtxPushCurrent(context);
  state->driver->cuStreamCreate(&state->other, cuda::kCuStreamNonBlocking);
  for (cuda::CuEvent* e : {&state->fork, &state->join}) {
    state->driver->cuEventCreate(e, cuda::kCuEventDisableTiming);
  }
  state->driver->cuCtxPopCurrent(&context);
  plan->state = state.release();
  return nullptr;
}
inline void DropEnqueuing(void* p) {
  const std::unique_ptr<Enqueuing> state(static_cast<Enqueuing*>(p));
  if (state->driver == nullptr) return;
  for (const cuda::CuEvent e : {state->fork, state->join}) state->driver->cuEventDestroy(e);
  state->driver->cuStreamDestroy(state->other);
}

// Before the second copy; the stream that this goes to.
inline cuda::CuStream Misbehave(const Enqueuing& s, Manner manner, cuda::CuStream stream, cuda::CuPointer result) {
  void* pinned = nullptr;
  cuda::CuGraph graph = nullptr;
  switch (manner) {
    case Manner::kForks:
    case Manner::kLeavesAStream:
      s.driver->cuEventRecord(s.fork, stream);
      s.driver->cuStreamWaitEvent(s.other, s.fork, 0);
      return s.other;
    case Manner::kAddsAMemset:
      s.driver->cuMemsetD32Async(result, 0, 1, stream);
      return stream;
    case Manner::kWaits:
      s.driver->cuStreamSynchronize(stream);
      return stream;
    case Manner::kAllocates:
      if (s.driver->cuMemHostAlloc(&pinned, 64, 0) == 0) s.driver->cuMemFreeHost(pinned);
      return stream;
    case Manner::kEndsCapture:
      if (s.driver->cuStreamEndCapture(stream, &graph) == 0) s.driver->cuGraphDestroy(graph);
      return stream;
    default:
      return stream;
  }
}
inline ricci_status* LaunchEnqueuing(void* p, const ricci_launch* l) {
  const Enqueuing& s = *static_cast<Enqueuing*>(p);
  const Manner manner = enqueued.manner;
  const auto pointer = [](const void* at) { return static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(at)); };
  const auto stream = static_cast<cuda::CuStream>(l->stream);
  ++enqueued.launches;
  EXPECT_EQ(OfStandin<int()>("ricci_standin_pushed")(), enqueued.pushed + 1) << "ours is current";
  std::memset(l->scratch, 1, 64);
  if (manner == Manner::kEnqueuesNothing) return nullptr;
  const cuda::CuPointer workspace = pointer(l->workspace);
  cuda::CuResult result = s.driver->cuMemcpyDtoDAsync(workspace, pointer(l->in[0]), s.bytes, stream);
  const cuda::CuStream second = Misbehave(s, manner, stream, pointer(l->out[0]));
  if (manner == Manner::kEndsCapture) return nullptr;
  if (result == 0) result = s.driver->cuMemcpyDtoDAsync(pointer(l->out[0]), workspace, s.bytes, second);
  if (manner == Manner::kForks) {
    s.driver->cuEventRecord(s.join, second);
    s.driver->cuStreamWaitEvent(stream, s.join, 0);
  }
  static float pageable = 0;
  if (manner == Manner::kUsesPageableMemory) result = s.driver->cuMemcpyDtoHAsync(&pageable, workspace, 4, stream);
  if (manner == Manner::kThrows) throw std::runtime_error("enqueued: thrown");
  if (result == 0 && manner != Manner::kReturns) return nullptr;
  return ricci_status_make(RICCI_INTERNAL, "enqueued: no more", 17);
}
inline constexpr ricci_library kEnqueuing = {
    {sizeof(ricci_library), RICCI_LIBRARY_ONLY_ENQUEUES, nullptr}, PlanEnqueuing, LaunchEnqueuing, DropEnqueuing};

// The same elsewhere.
inline ricci_status* LaunchSame(void* p, const ricci_launch* l) {
  std::memcpy(l->out[0], l->in[0], static_cast<Enqueuing*>(p)->bytes);
  return nullptr;
}
inline constexpr ricci_library kSame = {{sizeof(ricci_library), 0, nullptr}, PlanEnqueuing, LaunchSame, DropEnqueuing};

// `test.enqueued`: y = x of f32, elementwise for vmap; on `cuda` it enqueues, elsewhere it is a function of the host.
inline void AddEnqueuedRow(ricci_ctx* ctx, const ricci_library& of_cuda = kEnqueuing) {
  ricci_lowering each[2]{};
  const ricci_lowering* lowerings[] = {&each[0], &each[1]};
  for (ricci_lowering& l : each) {
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_LIBRARY;
  }
  each[0].target = {"cuda", 4}, each[0].library = &of_cuda;
  each[1].target = {"*", 1}, each[1].library = &kSame;
  ricci_prim_def row{};
  row.hdr.size = sizeof row;
  row.name = {"test.enqueued", 13};
  row.batch_kind = RICCI_BATCH_ELEMENTWISE;
  row.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  row.lowerings = lowerings;
  row.n_lowerings = 2;
  ricci_prim prim = 0;
  EXPECT_TRUE(Ok(ricci_prim_register(ctx, &row, &prim)));
  enqueued.manner = Manner::kKeepsPromise;
  enqueued.launches = 0;
  enqueued.pushed = OfStandin<int()>("ricci_standin_pushed")();
}

}  // namespace ricci::testing
#endif
