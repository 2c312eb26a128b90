// Work: one thing that a run asks of a GPU, and the three ways to ask for it: in a stream, as a node of a graph, and as
// that node with other addresses.
#ifndef RICCI_CUDA_WORK_H_
#define RICCI_CUDA_WORK_H_
#include <span>
#include <vector>

#include "cuda/driver/gpu.h"
#include "cuda/driver/stream_captures.h"
#include "cuda/driver/tensor_map.h"

namespace ricci::cuda {

struct Function {
  CuFunction f;
  unsigned grid[3], block[3];
  unsigned shared_bytes = 0;
};

struct Work {
  enum Kind : uint8_t { kNothing, kKernel, kCopy, kSet, kRead, kEnqueued };
  Kind kind = kNothing;
  const Function* function = nullptr;
  const Function* before = nullptr;  // kKernel: a kernel with the same arguments that comes before it, if there is one
  // Of the kernel, 8 bytes each; kCopy: destination and source, kSet: destination, kRead: source.
  std::vector<CuPointer> arguments = {};
  const std::vector<TensorMap>* maps = nullptr;  // of the kernel, which come after its arguments; null: none
  uint64_t bytes = 0;                            // kCopy, kRead
  uint32_t value = 0;                            // kSet: of one word
  void* host = nullptr;                          // kRead: destination, pinned
  Enqueued enqueued = {};                        // kEnqueued: by a library, once for each of the three ways
};

// The kernel that comes before the work, as work of its own.
Work Before(const Work& work);
// The device's context is current in all of these; a kernel that comes before is not in them. `waits`: nodes that come
// before. A node whose work is nothing is an empty one, what a library enqueues is a graph in a node; `exec` runs a
// graph with the node `which`, whose work has the same kind and sizes; its function may be another one of the same
// context.
ricci_status* Issue(const Gpu& device, Work work, CuStream stream);
ricci_status* AddNode(const Gpu& device, Work work, CuGraph graph, std::span<const CuGraphNode> waits,
                      CuGraphNode& out);
ricci_status* ChangeNode(const Gpu& device, Work work, CuGraphExec exec, CuGraphNode which);

}  // namespace ricci::cuda
#endif
