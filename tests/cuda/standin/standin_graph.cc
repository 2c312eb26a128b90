// Graphs: the nodes of a launch run one after the other, in an order that the seed draws from those that their edges
// allow. So where an edge is missing, some seed shows it.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

// What a node does, and what an update must not change.
struct NodeWork {
  const char* kind;
  Work run;
  CuFunction function;
  uint64_t bytes;
};
struct Node {
  size_t number;
};
struct Graph {
  std::deque<Node> nodes;  // their addresses are the handles
  std::vector<std::vector<size_t>> waits;
  std::vector<NodeWork> work;

  bool Has(const Node* node) const {
    return std::any_of(nodes.begin(), nodes.end(), [=](const Node& n) { return &n == node; });
  }
};
struct Exec {
  Graph* from;
  std::vector<std::vector<size_t>> waits;
  std::vector<NodeWork> work;
  std::shared_ptr<int> running = std::make_shared<int>(0);  // launches in streams
};

// Those that have not been destroyed. Other threads may use them at the end of the process.
std::set<Graph*>& graphs = *new std::set<Graph*>;
std::set<Exec*>& execs = *new std::set<Exec*>;

CuResult Refuse(Machine& m, const char* call, const char* why, CuResult result = kInvalidValue) {
  m.Complain(std::string(call) + ": " + why);
  return result;
}

CuResult AddNode(const char* call, CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                 NodeWork work) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  auto* const g = &As<Graph>(graph);
  if (graphs.count(g) == 0) return Refuse(m, call, "no such graph", kInvalidHandle);
  std::set<size_t> numbers;
  for (size_t i = 0; i < n_waits; ++i) {
    if (!g->Has(&As<Node>(waits[i]))) return Refuse(m, call, "a dependency is not in the graph");
    if (!numbers.insert(As<Node>(waits[i]).number).second) return Refuse(m, call, "a dependency is named twice");
  }
  g->nodes.push_back({g->nodes.size()});
  g->waits.emplace_back(numbers.begin(), numbers.end());
  g->work.push_back(std::move(work));
  *out = Handle<CuGraphNode>(&g->nodes.back());
  return kCuSuccess;
}

CuResult ChangeNode(const char* call, CuGraphExec exec, CuGraphNode which, NodeWork work) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  auto* const e = &As<Exec>(exec);
  if (execs.count(e) == 0) return Refuse(m, call, "no such executable graph", kInvalidHandle);
  if (graphs.count(e->from) == 0) return Refuse(m, call, "the graph that it was made from is gone");
  if (!e->from->Has(&As<Node>(which))) return Refuse(m, call, "the node is in another graph");
  NodeWork& old = e->work[As<Node>(which).number];
  if (std::string(old.kind) != work.kind) return Refuse(m, call, "the node is of another kind");
  if (old.function != work.function) return Refuse(m, call, "the function of a node changes");
  if (old.bytes != work.bytes) return Refuse(m, call, "the size of a node changes");
  old = std::move(work);
  return kCuSuccess;
}

// ---- work of nodes ----
CuResult KernelWork(const CuKernelNode& node, NodeWork& out) {
  out = {"kernel", nullptr, node.f, 0};
  return MakeLaunch(node.f, node.grid, node.block, node.arguments, node.shared_bytes, out.run);
}

// False if it is not a plain range of bytes.
bool CheckCopy(const CuCopyNode& n) {
  const auto plain = [&](const CuCopyPlace& p) {
    return p.x_bytes == 0 && p.y == 0 && p.z == 0 && p.lod == 0 && p.array == nullptr && p.reserved == nullptr &&
           (p.type == kCuMemoryHost ? p.host != nullptr : p.type == kCuMemoryDevice && p.device != 0);
  };
  return plain(n.src) && plain(n.dst) && n.width_bytes != 0 && n.height == 1 && n.depth == 1;
}
CuResult CopyWork(const char* call, const CuCopyNode& n, NodeWork& out) {
  if (!CheckCopy(n)) return kInvalidValue;
  const auto device = [](const CuCopyPlace& p) { return p.type == kCuMemoryDevice ? p.device : 0; };
  const auto address = [](const CuCopyPlace& p) {
    return p.type == kCuMemoryDevice ? reinterpret_cast<void*>(static_cast<uintptr_t>(p.device)) : p.host;
  };
  out = {"copy", MakeCopy(call, address(n.dst), address(n.src), n.width_bytes, device(n.dst), device(n.src)), nullptr,
         n.width_bytes};
  return kCuSuccess;
}

CuResult MemsetWork(const char* call, const CuMemsetNode& n, NodeWork& out) {
  if (n.dst == 0 || n.element_bytes != sizeof(unsigned) || n.width == 0 || n.height != 1) return kInvalidValue;
  out = {"memset", MakeMemset(call, n.dst, n.value, n.width), nullptr, n.width * sizeof(unsigned)};
  return kCuSuccess;
}

// ---- a launch ----
// Of each node those that are in order before it. A dependency is made before what depends on it.
std::shared_ptr<const Reached> ReachedBy(const std::vector<std::vector<size_t>>& waits) {
  auto reached = std::make_shared<Reached>(waits.size(), std::vector<bool>(waits.size()));
  for (size_t i = 0; i < waits.size(); ++i) {
    for (const size_t w : waits[i]) {
      (*reached)[i][w] = true;
      for (size_t earlier = 0; earlier < w; ++earlier) {
        if ((*reached)[w][earlier]) (*reached)[i][earlier] = true;
      }
    }
  }
  return reached;
}

StepRef StepOfNode(const StepRef& launch, const NodeWork& work, size_t node, std::shared_ptr<const Reached> graph) {
  Step step = *launch;
  step.name = work.function != nullptr ? "kernel " + NameOf(work.function) : work.kind;
  step.name += " (node " + std::to_string(node) + ")";
  step.node = node;
  step.graph = std::move(graph);
  return std::make_shared<const Step>(std::move(step));
}

void RunNodes(const std::vector<NodeWork>& work, const std::vector<std::vector<size_t>>& waits, uint64_t seed,
              const StepRef& launch) {
  const std::shared_ptr<const Reached> graph = ReachedBy(waits);
  std::mt19937_64 random(seed);
  std::vector<bool> done(work.size());
  for (size_t n = 0; n < work.size(); ++n) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < work.size(); ++i) {
      const auto is_done = [&](size_t earlier) { return done[earlier]; };
      if (!done[i] && std::all_of(waits[i].begin(), waits[i].end(), is_done)) ready.push_back(i);
    }
    const size_t next = ready[random() % ready.size()];
    if (work[next].run) work[next].run(StepOfNode(launch, work[next], next, graph));
    done[next] = true;
  }
}

}  // namespace

CuResult cuGraphCreate(CuGraph* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  auto* const graph = new Graph;
  graphs.insert(graph);
  ++m.graphs;
  *out = Handle<CuGraph>(graph);
  return kCuSuccess;
}
CuResult cuGraphDestroy(CuGraph graph) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (graphs.erase(&As<Graph>(graph)) == 0) return Refuse(m, "cuGraphDestroy", "no such graph", kInvalidHandle);
  --m.graphs;
  delete &As<Graph>(graph);
  return kCuSuccess;
}

CuResult cuGraphAddEmptyNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits) {
  return AddNode("cuGraphAddEmptyNode", out, graph, waits, n_waits, {"empty", nullptr, nullptr, 0});
}
CuResult cuGraphAddKernelNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                              const CuKernelNode* node) {
  NodeWork work;
  const CuResult result = KernelWork(*node, work);
  return result != kCuSuccess ? result : AddNode("cuGraphAddKernelNode", out, graph, waits, n_waits, std::move(work));
}
CuResult cuGraphAddMemcpyNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                              const CuCopyNode* node, CuContext context) {
  NodeWork work;
  const CuResult result = context == nullptr ? kInvalidContext : CopyWork("cuGraphAddMemcpyNode", *node, work);
  return result != kCuSuccess ? result : AddNode("cuGraphAddMemcpyNode", out, graph, waits, n_waits, std::move(work));
}
CuResult cuGraphAddMemsetNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                              const CuMemsetNode* node, CuContext context) {
  NodeWork work;
  const CuResult result = context == nullptr ? kInvalidContext : MemsetWork("cuGraphAddMemsetNode", *node, work);
  return result != kCuSuccess ? result : AddNode("cuGraphAddMemsetNode", out, graph, waits, n_waits, std::move(work));
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec* out, CuGraph graph, unsigned long long) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuGraphInstantiateWithFlags") < 0) return kInvalidContext;
  auto* const g = &As<Graph>(graph);
  if (graphs.count(g) == 0) return Refuse(m, "cuGraphInstantiateWithFlags", "no such graph", kInvalidHandle);
  auto* const exec = new Exec{g, g->waits, g->work};
  execs.insert(exec);
  ++m.execs;
  *out = Handle<CuGraphExec>(exec);
  return kCuSuccess;
}
// One that runs goes on.
CuResult cuGraphExecDestroy(CuGraphExec exec) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (execs.erase(&As<Exec>(exec)) == 0) {
    return Refuse(m, "cuGraphExecDestroy", "no such executable graph", kInvalidHandle);
  }
  --m.execs;
  delete &As<Exec>(exec);
  return kCuSuccess;
}

CuResult cuGraphExecKernelNodeSetParams(CuGraphExec exec, CuGraphNode which, const CuKernelNode* node) {
  NodeWork work;
  const CuResult result = KernelWork(*node, work);
  return result != kCuSuccess ? result : ChangeNode("cuGraphExecKernelNodeSetParams", exec, which, std::move(work));
}
CuResult cuGraphExecMemcpyNodeSetParams(CuGraphExec exec, CuGraphNode which, const CuCopyNode* node,
                                        CuContext context) {
  constexpr const char* kCall = "cuGraphExecMemcpyNodeSetParams";
  NodeWork work;
  const CuResult result = context == nullptr ? kInvalidContext : CopyWork(kCall, *node, work);
  return result != kCuSuccess ? result : ChangeNode(kCall, exec, which, std::move(work));
}
CuResult cuGraphExecMemsetNodeSetParams(CuGraphExec exec, CuGraphNode which, const CuMemsetNode* node,
                                        CuContext context) {
  constexpr const char* kCall = "cuGraphExecMemsetNodeSetParams";
  NodeWork work;
  const CuResult result = context == nullptr ? kInvalidContext : MemsetWork(kCall, *node, work);
  return result != kCuSuccess ? result : ChangeNode(kCall, exec, which, std::move(work));
}

// The work of nodes is that of now. A driver lets one launch wait for an earlier one of the same; this plugin never
// asks for that.
CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  Machine& m = Machine::Get();
  auto* const e = &As<Exec>(exec);
  Work launch;
  {
    const std::lock_guard lock(m.mutex);
    if (execs.count(e) == 0) return Refuse(m, "cuGraphLaunch", "no such executable graph", kInvalidHandle);
    if (CurrentDevice(m, "cuGraphLaunch") < 0) return kInvalidContext;
    if (*e->running != 0) m.Complain("cuGraphLaunch: the graph is running");
    ++*e->running;
    launch = [running = e->running, work = e->work, waits = e->waits, seed = m.seed](const StepRef& step) {
      RunNodes(work, waits, seed, step);
      const std::lock_guard here(Machine::Get().mutex);
      --*running;
    };
  }
  return Push("cuGraphLaunch", stream, std::move(launch));
}

}  // namespace ricci::cuda::standin
