// Graphs: how they are made, instantiated, changed and launched.
#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

struct Exec {
  Graph* from;            // gone, and perhaps another one by now, unless IsThere
  const uint64_t number;  // of `from`
  const int device;       // of `from`
  std::unique_ptr<Tree> tree;
  std::shared_ptr<int> running = std::make_shared<int>(0);  // launches in streams
  CuStream last = nullptr;                                  // of the last launch
};

// Those that have not been destroyed. Other threads may use them at the end of the process.
std::set<Graph*>& graphs = *new std::set<Graph*>;
std::set<Exec*>& execs = *new std::set<Exec*>;

// Is the graph that it was made from still there?
bool IsThere(const Exec& e) { return graphs.count(e.from) != 0 && e.from->number == e.number; }

// Copies in a body.
bool MayBeIn(const Machine& m, const Graph& g, const NodeWork& work) {
  if (!g.IsWithinBody()) return true;
  for (const Graph* const child : work.bodies) {
    const auto may_be = [&](const NodeWork& w) { return MayBeIn(m, g, w); };
    if (!std::all_of(child->work.begin(), child->work.end(), may_be)) return false;
  }
  if (work.host == nullptr) return true;
  const auto p = reinterpret_cast<uintptr_t>(work.host);
  const auto after = m.pinned.upper_bound(p);
  return after != m.pinned.begin() && p - std::prev(after)->first < std::prev(after)->second;
}

CuResult AddNode(const char* call, CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                 NodeWork work) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  return AddTo(m, call, out, graph, waits, n_waits, std::move(work));
}

// The tree whose graph, `g` or a body, has the node; null if there is none.
Tree* TreeOfNode(Tree& t, const Graph& g, const Node* node) {
  if (g.Has(node)) return node->number < t.work.size() ? &t : nullptr;
  for (const auto& [number, bodies] : t.bodies) {
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (Tree* const found = TreeOfNode(*bodies[i], *t.work[number].bodies[i], node)) return found;
    }
  }
  return nullptr;
}

CuResult ChangeNode(const char* call, CuGraphExec exec, CuGraphNode which, NodeWork work) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  Tree* tree = nullptr;
  if (const CuResult refused = FindTree(m, call, exec, which, tree)) return refused;
  NodeWork& old = tree->work[As<Node>(which).number];
  if (old.kind != work.kind) return Refuse(m, call, "the node is of another kind");
  if (old.function != work.function) return Refuse(m, call, "the function of a node changes");
  if (old.bytes != work.bytes) return Refuse(m, call, "the size of a node changes");
  if (old.contexts != work.contexts) return kInvalidValue;  // cannot be known before
  old = std::move(work);
  return kCuSuccess;
}

uint32_t DepthOf(const Graph& g) {
  uint32_t depth = 0;
  for (const auto& body : g.bodies) depth = std::max(depth, (body->is_body ? 1 : 0) + DepthOf(*body));
  return depth;
}

// The graph and its bodies.
void Forget(Graph& g) {
  graphs.erase(&g);
  for (const auto& body : g.bodies) Forget(*body);
}

// Of a conditional node whose kind has so many bodies; else why not.
const char* WhyNotBodies(int driver_version, int type, unsigned n_bodies) {
  constexpr int kFirstWithSeveral = 12080;
  if (type < kCuConditionIf || type > kCuConditionSwitch) return "no such kind of conditional node";
  if (type == kCuConditionWhile && n_bodies != 1) return "a WHILE has one body";
  if (type == kCuConditionIf && n_bodies != 1 && n_bodies != 2) return "an IF has one or two bodies";
  if (type == kCuConditionSwitch && n_bodies == 0) return "a SWITCH has bodies";
  const bool is_new = type == kCuConditionSwitch || n_bodies == 2;
  return is_new && driver_version < kFirstWithSeveral ? "the driver is older than CUDA 12.8" : nullptr;
}

// Of a conditional node that may be in the graph; else why not.
const char* WhyNotConditional(const Machine& m, const CuNode& node, const Graph& g) {
  const CuConditionalNode& n = node.conditional;
  const auto is_zero = [](long long v) { return v == 0; };
  if (node.type != kCuNodeConditional) return "other nodes than conditional ones are not simulated";
  if (node.reserved0[0] != 0 || node.reserved2 != 0 ||
      !std::all_of(node.reserved1 + sizeof n / sizeof(long long), std::end(node.reserved1), is_zero)) {
    return "reserved bytes are not zero";
  }
  const Condition* const c = FindCondition(n.condition);
  if (c == nullptr) return "no such condition";
  const Graph* owner = &g;
  while (owner != nullptr && owner != c->graph) owner = owner->parent;
  if (owner == nullptr) return "the condition is of another graph";
  if (c->has_node) return "the condition has a node already";
  if (const char* const why = WhyNotBodies(m.driver_version, n.type, n.n_bodies)) return why;
  return n.context != c->context ? "the context is not that of the condition" : nullptr;
}

// ---- work of nodes ----
CuResult KernelWork(const CuKernelNode& node, NodeWork& out) {
  out = {"kernel", nullptr, node.f, 0};
  return MakeLaunch(node.f, node.grid, node.block, node.arguments, node.shared_bytes, out.run);
}

// Whose memory it is; null: unowned, or the host's.
const Context* ContextOf(const CuCopySide& p) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const Allocation* const piece = p.type == kCuMemoryDevice ? m.PieceAt(p.device) : nullptr;
  return piece == nullptr ? nullptr : piece->context;
}

// False if it is not a plain range of bytes, or has a pitch that no driver takes.
bool CheckCopy(const CuCopyNode& n) {
  const auto plain = [&](const CuCopySide& p) {
    if (p.pitch > Machine::Get().most_pitch || (p.pitch != 0 && p.pitch < n.width_bytes)) return false;
    return p.x_bytes == 0 && p.y == 0 && p.z == 0 && p.lod == 0 && p.array == nullptr && p.reserved == nullptr &&
           (p.type == kCuMemoryHost ? p.host != nullptr : p.type == kCuMemoryDevice && p.device != 0);
  };
  return plain(n.src) && plain(n.dst) && n.width_bytes != 0 && n.height == 1 && n.depth == 1;
}
CuResult CopyWork(const char* call, const CuCopyNode& n, NodeWork& out) {
  if (!CheckCopy(n)) return kInvalidValue;
  const auto device = [](const CuCopySide& p) { return p.type == kCuMemoryDevice ? p.device : 0; };
  const auto address = [](const CuCopySide& p) {
    return p.type == kCuMemoryDevice ? reinterpret_cast<void*>(static_cast<uintptr_t>(p.device)) : p.host;
  };
  out = {"copy", MakeCopy(call, address(n.dst), address(n.src), n.width_bytes, device(n.dst), device(n.src)), nullptr,
         n.width_bytes};
  out.contexts = {ContextOf(n.dst), ContextOf(n.src)};
  out.host = n.src.type == kCuMemoryHost ? n.src.host : n.dst.type == kCuMemoryHost ? n.dst.host : nullptr;
  return kCuSuccess;
}

CuResult MemsetWork(const char* call, const CuMemsetNode& n, NodeWork& out) {
  if (n.dst == 0 || n.element_bytes != sizeof(unsigned) || n.width == 0 || n.height != 1) return kInvalidValue;
  out = {"memset", MakeMemset(call, n.dst, n.value, n.width), nullptr, n.width * sizeof(unsigned)};
  return kCuSuccess;
}

}  // namespace

bool Graph::Has(const Node* node) const {
  return std::any_of(nodes.begin(), nodes.end(), [=](const Node& n) { return &n == node; });
}

CuResult Refuse(Machine& m, const char* call, const char* why, CuResult result) {
  m.Complain(std::string(call) + ": " + why);
  return result;
}

CuResult AddTo(Machine& m, const char* call, CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
               NodeWork work) {
  auto* const g = &As<Graph>(graph);
  if (!IsGraph(graph)) return Refuse(m, call, "no such graph", kInvalidHandle);
  if (!MayBeIn(m, *g, work)) return Refuse(m, call, "a copy in a body uses memory of the host that is not pinned");
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

void Know(Graph& g) {
  graphs.insert(&g);
  for (const auto& body : g.bodies) Know(*body);
}

CuResult FindTree(Machine& m, const char* call, CuGraphExec exec, CuGraphNode which, Tree*& out) {
  auto* const e = &As<Exec>(exec);
  if (execs.count(e) == 0) return Refuse(m, call, "no such executable graph", kInvalidHandle);
  if (!IsThere(*e)) return Refuse(m, call, "the graph that it was made from is gone");
  out = TreeOfNode(*e->tree, *e->from, &As<Node>(which));
  return out == nullptr ? Refuse(m, call, "the node is in another graph") : CuResult{kCuSuccess};
}

CuResult AddCaptured(Machine& m, const char* call, Stream& s, NodeWork work) {
  if (s.capture->is_invalid) return kCaptureInvalidated;
  CuGraphNode made = nullptr;
  const CuResult result = AddTo(m, call, &made, s.capture->graph, s.last.data(), s.last.size(), std::move(work));
  if (result == kCuSuccess) s.last = {made};
  return result;
}

void ForgetGraphs(Machine& m, int device) {
  m.execs -=
      static_cast<int64_t>(std::erase_if(execs, [=](Exec* e) { return e->device == device && (delete e, true); }));
  std::vector<Graph*> whole;
  std::copy_if(graphs.begin(), graphs.end(), std::back_inserter(whole),
               [=](const Graph* g) { return g->parent == nullptr && g->device == device; });
  for (Graph* const g : whole) {
    Forget(*g);
    DropConditions(*g);
    delete g;
  }
  m.graphs -= static_cast<int64_t>(whole.size());
}

bool Graph::HasConditional() const {
  return std::any_of(bodies.begin(), bodies.end(), [](const auto& b) { return b->is_body || b->HasConditional(); });
}

bool IsGraph(CuGraph graph) { return graphs.count(&As<Graph>(graph)) != 0; }

CuResult cuGraphCreate(CuGraph* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static uint64_t last_number = 0;
  auto* const graph = new Graph;
  graph->number = ++last_number;
  if (const Context* const current = CurrentContext()) graph->device = current->device;
  graphs.insert(graph);
  ++m.graphs;
  *out = Handle<CuGraph>(graph);
  return kCuSuccess;
}
CuResult cuGraphDestroy(CuGraph graph) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  auto* const g = &As<Graph>(graph);
  if (!IsGraph(graph)) return Refuse(m, "cuGraphDestroy", "no such graph", kInvalidHandle);
  if (g->parent != nullptr) return Refuse(m, "cuGraphDestroy", "a body goes with its node");
  if (g->is_captured) return Refuse(m, "cuGraphDestroy", "a stream captures into the graph");
  Forget(*g);
  DropConditions(*g);
  --m.graphs;
  delete g;
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

CuResult cuGraphGetNodes(CuGraph graph, CuGraphNode* nodes, size_t* count) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsGraph(graph)) return Refuse(m, "cuGraphGetNodes", "no such graph", kInvalidHandle);
  auto& g = As<Graph>(graph);
  if (nodes == nullptr) return *count = g.nodes.size(), kCuSuccess;
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < g.nodes.size() ? Handle<CuGraphNode>(&g.nodes[i]) : nullptr;
  return *count = std::min(*count, g.nodes.size()), kCuSuccess;
}

CuResult cuGraphAddNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, const void* edges, size_t n_waits,
                        CuNode* node) {
  constexpr const char* kCall = "cuGraphAddNode";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsGraph(graph)) return Refuse(m, kCall, "no such graph", kInvalidHandle);
  auto& g = As<Graph>(graph);
  if (edges != nullptr) return Refuse(m, kCall, "edges of other kinds are not simulated");
  if (const char* const why = WhyNotConditional(m, *node, g)) return Refuse(m, kCall, why);
  constexpr const char* kKinds[] = {"branch", "loop", "switch"};
  Condition* const condition = FindCondition(node->conditional.condition);
  const int type = node->conditional.type;
  NodeWork work{kKinds[type], nullptr, nullptr, 0, nullptr, condition, type};
  std::vector<std::unique_ptr<Graph>> bodies(node->conditional.n_bodies);
  for (auto& body : bodies) {
    body = std::make_unique<Graph>();
    body->parent = &g;
    body->is_body = true;
    work.bodies.push_back(body.get());
  }
  const CuResult result = AddTo(m, kCall, out, graph, waits, n_waits, std::move(work));
  if (result != kCuSuccess) return result;
  condition->has_node = true;
  std::vector<CuGraph>& handles = g.body_handles.emplace_back();
  for (auto& body : bodies) {
    graphs.insert(body.get());
    handles.push_back(Handle<CuGraph>(body.get()));
    g.bodies.push_back(std::move(body));
  }
  node->conditional.bodies = handles.data();
  return kCuSuccess;
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec* out, CuGraph graph, unsigned long long) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  constexpr const char* kCall = "cuGraphInstantiateWithFlags";
  if (CurrentDevice(m, kCall) < 0) return kInvalidContext;
  auto* const g = &As<Graph>(graph);
  if (!IsGraph(graph)) return Refuse(m, kCall, "no such graph", kInvalidHandle);
  if (g->parent != nullptr) return Refuse(m, kCall, "the graph is a body");
  if (HasUnusedCondition(*g)) return Refuse(m, kCall, "a condition has no node");
  if (g->HasConditional() && g->instances != 0) {
    return Refuse(m, kCall, "a graph with conditional nodes has an executable graph already");
  }
  if (DepthOf(*g) > m.most_depth) return 801;  // not supported
  ++g->instances;
  auto* const exec = new Exec{g, g->number, g->device, TreeOf(*g)};
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
  if (IsThere(As<Exec>(exec))) --As<Exec>(exec).from->instances;
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

// The work of nodes is that of now. A driver lets one launch wait for an earlier one of the same; this plugin asks for
// that in one stream only, where it would be so anyway.
CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  Machine& m = Machine::Get();
  auto* const e = &As<Exec>(exec);
  Work launch;
  {
    const std::lock_guard lock(m.mutex);
    if (execs.count(e) == 0) return Refuse(m, "cuGraphLaunch", "no such executable graph", kInvalidHandle);
    if (CurrentDevice(m, "cuGraphLaunch") < 0) return kInvalidContext;
    if (*e->running != 0 && e->last != stream) m.Complain("cuGraphLaunch: the graph is running in another stream");
    e->last = stream;
    ++*e->running;
    std::shared_ptr<const Tree> tree = Copy(*e->tree);
    launch = [running = e->running, tree, seed = m.seed](const StepRef& step) {
      RunTree(*tree, seed, step);
      const std::lock_guard here(Machine::Get().mutex);
      --*running;
    };
  }
  return Push("cuGraphLaunch", stream, std::move(launch));
}

}  // namespace ricci::cuda::standin
