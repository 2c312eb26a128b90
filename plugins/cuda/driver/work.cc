#include "cuda/driver/work.h"

namespace ricci::cuda {
namespace {

// The arguments of a kernel as the driver takes them, which `work` and this hold.
struct Arguments {
  std::vector<CuTensorMap> maps;
  std::vector<void*> pointers;
};
ricci_status* ArgumentsOf(const Gpu& device, Work& work, Arguments& out) {
  for (CuPointer& v : work.arguments) out.pointers.push_back(&v);
  if (work.maps == nullptr) return nullptr;
  out.maps.resize(work.maps->size());
  for (size_t i = 0; i < out.maps.size(); ++i) {
    const TensorMap& m = (*work.maps)[i];
    const CuResult result = Encode(device.driver(), m, work.arguments[m.argument], out.maps[i]);
    if (ricci_status* failed = device.Check("cuTensorMapEncodeTiled", result)) return failed;
    out.pointers.push_back(&out.maps[i]);
  }
  return nullptr;
}

// ---- work as the driver's structs ----
CuKernelNode KernelNode(const Function& f, std::vector<void*>& arguments) {
  CuKernelNode node{};
  node.f = f.f;
  for (int d = 0; d < 3; ++d) node.grid[d] = f.grid[d], node.block[d] = f.block[d];
  node.shared_bytes = f.shared_bytes;
  node.arguments = arguments.data();
  return node;
}

// Without a pitch, which the driver limits where the bytes of a copy have no limit.
CuCopySide SideOf(unsigned type, CuPointer device, void* host) {
  CuCopySide side{};
  side.type = type;
  side.device = device;
  side.host = host;
  return side;
}

CuCopyNode CopyNode(const Work& work) {
  CuCopyNode node{};
  node.src = SideOf(kCuMemoryDevice, work.arguments.back(), nullptr);
  node.dst = work.kind == Work::kRead ? SideOf(kCuMemoryHost, 0, work.host)
                                      : SideOf(kCuMemoryDevice, work.arguments.front(), nullptr);
  node.width_bytes = work.bytes;
  node.height = node.depth = 1;
  return node;
}

CuMemsetNode MemsetNode(const Work& work) { return {work.arguments.front(), 0, work.value, sizeof(uint32_t), 1, 1}; }

// ---- what a library enqueues: a child graph, of which the driver keeps a copy ----
// Calls `use` with it.
template <typename F>
ricci_status* WithChild(const Gpu& device, const Work& work, const char* call, F use) {
  CuGraph child = nullptr;
  if (ricci_status* failed = device.captures().Capture(work.enqueued, child)) return failed;
  const CuResult result = use(child);
  device.Note(device.driver().cuGraphDestroy(child));
  if (result != kCuInvalidValue && result != kCuNotSupported) return device.Check(call, result);
  return Fail(RICCI_FAILED_PRECONDITION,
              std::string(work.enqueued.name) + ": what its launch enqueues cannot be a node of this graph (" +
                  device.driver().ErrorText(call, result) +
                  "): RICCI_LIBRARY_ONLY_ENQUEUES is for kernels, and for copies and memsets of memory of the device");
}

}  // namespace

Work Before(const Work& work) {
  return {.kind = Work::kKernel, .function = work.before, .arguments = work.arguments, .maps = work.maps};
}

// ---- the three ways ----
ricci_status* Issue(const Gpu& device, Work work, CuStream stream) {
  const Driver& d = device.driver();
  std::vector<CuPointer>& a = work.arguments;
  switch (work.kind) {
    case Work::kKernel: {
      const Function& f = *work.function;
      Arguments given;
      if (ricci_status* failed = ArgumentsOf(device, work, given)) return failed;
      return device.Check("cuLaunchKernel",
                          d.cuLaunchKernel(f.f, f.grid[0], f.grid[1], f.grid[2], f.block[0], f.block[1], f.block[2],
                                           f.shared_bytes, stream, given.pointers.data(), nullptr));
    }
    case Work::kCopy:
      return device.Check("cuMemcpyDtoDAsync", d.cuMemcpyDtoDAsync(a[0], a[1], work.bytes, stream));
    case Work::kSet:
      return device.Check("cuMemsetD32Async", d.cuMemsetD32Async(a[0], work.value, 1, stream));
    case Work::kRead:
      return device.Check("cuMemcpyDtoHAsync", d.cuMemcpyDtoHAsync(work.host, a[0], work.bytes, stream));
    case Work::kEnqueued:
      return work.enqueued.enqueue(stream);
    default:
      return nullptr;
  }
}

ricci_status* AddNode(const Gpu& device, Work work, CuGraph graph, std::span<const CuGraphNode> waits,
                      CuGraphNode& out) {
  const Driver& d = device.driver();
  switch (work.kind) {
    case Work::kKernel: {
      Arguments given;
      if (ricci_status* failed = ArgumentsOf(device, work, given)) return failed;
      const CuKernelNode node = KernelNode(*work.function, given.pointers);
      return device.Check("cuGraphAddKernelNode",
                          d.cuGraphAddKernelNode(&out, graph, waits.data(), waits.size(), &node));
    }
    case Work::kCopy:
    case Work::kRead: {
      const CuCopyNode node = CopyNode(work);
      return device.Check("cuGraphAddMemcpyNode",
                          d.cuGraphAddMemcpyNode(&out, graph, waits.data(), waits.size(), &node, device.context()));
    }
    case Work::kSet: {
      const CuMemsetNode node = MemsetNode(work);
      return device.Check("cuGraphAddMemsetNode",
                          d.cuGraphAddMemsetNode(&out, graph, waits.data(), waits.size(), &node, device.context()));
    }
    case Work::kEnqueued:
      return WithChild(device, work, "cuGraphAddChildGraphNode", [&](CuGraph child) {
        return d.cuGraphAddChildGraphNode(&out, graph, waits.data(), waits.size(), child);
      });
    default:
      return device.Check("cuGraphAddEmptyNode", d.cuGraphAddEmptyNode(&out, graph, waits.data(), waits.size()));
  }
}

ricci_status* ChangeNode(const Gpu& device, Work work, CuGraphExec exec, CuGraphNode which) {
  const Driver& d = device.driver();
  switch (work.kind) {
    case Work::kKernel: {
      Arguments given;
      if (ricci_status* failed = ArgumentsOf(device, work, given)) return failed;
      const CuKernelNode node = KernelNode(*work.function, given.pointers);
      return device.Check("cuGraphExecKernelNodeSetParams", d.cuGraphExecKernelNodeSetParams(exec, which, &node));
    }
    case Work::kCopy:
    case Work::kRead: {
      const CuCopyNode node = CopyNode(work);
      return device.Check("cuGraphExecMemcpyNodeSetParams",
                          d.cuGraphExecMemcpyNodeSetParams(exec, which, &node, device.context()));
    }
    case Work::kSet: {
      const CuMemsetNode node = MemsetNode(work);
      return device.Check("cuGraphExecMemsetNodeSetParams",
                          d.cuGraphExecMemsetNodeSetParams(exec, which, &node, device.context()));
    }
    case Work::kEnqueued:
      return WithChild(device, work, "cuGraphExecChildGraphNodeSetParams",
                       [&](CuGraph child) { return d.cuGraphExecChildGraphNodeSetParams(exec, which, child); });
    default:
      return nullptr;
  }
}

}  // namespace ricci::cuda
