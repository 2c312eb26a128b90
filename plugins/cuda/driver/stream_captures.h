// StreamCaptures: what a function of a library enqueues to a stream, as a graph in place of work that runs
// (RICCI_LIBRARY_ONLY_ENQUEUES).
//
// The stream is one of ours, in which nothing else is, so that no stream of a run or of the host is captured. Meanwhile
// the thread may make no call that might wait or allocate, though it may elsewhere in this plugin: so the driver sees a
// function that does more than enqueue. Other threads are not concerned.
#ifndef RICCI_CUDA_STREAM_CAPTURES_H_
#define RICCI_CUDA_STREAM_CAPTURES_H_
#include <functional>
#include <string_view>

#include "cuda/driver/driver.h"
#include "cuda/driver/reused.h"
#include "ricci/api_table.h"

namespace ricci::cuda {

class Gpu;

struct Enqueued {
  std::string_view name;  // of the primitive, for people
  std::function<ricci_status*(CuStream stream)> enqueue = nullptr;
};

class StreamCaptures {
 public:
  explicit StreamCaptures(const Gpu& device) : device_(device) {}
  StreamCaptures(const StreamCaptures&) = delete;
  // The device's context is current in all; nothing is captured any more.
  void Clear();
  // The graph of what is enqueued, which the caller destroys. It has a node, though nothing be enqueued. What breaks
  // the capture is FAILED_PRECONDITION with the name; what the function itself returns comes after that.
  ricci_status* Capture(const Enqueued& what, CuGraph& out);

 private:
  ricci_status* CaptureIn(CuStream stream, const Enqueued& what, CuGraph& out) const;
  ricci_status* EnqueueIn(CuStream stream, const Enqueued& what) const;
  ricci_status* FillIfEmpty(CuGraph graph) const;

  const Gpu& device_;
  Reused<CuStream> streams_;
};

}  // namespace ricci::cuda
#endif
