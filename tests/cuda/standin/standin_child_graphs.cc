// Child graphs: a copy of a graph as a node, and how an executable graph gets another one of the same form there.
#include <algorithm>

#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kChildGraph = "child graph";

std::unique_ptr<Graph> CopyOf(const Graph& from, Graph& parent) {
  auto copy = std::make_unique<Graph>();
  copy->parent = &parent;
  copy->nodes = from.nodes;
  copy->waits = from.waits;
  copy->work = from.work;
  for (NodeWork& work : copy->work) {
    for (Graph*& child : work.bodies) {
      copy->bodies.push_back(CopyOf(*child, *copy));
      child = copy->bodies.back().get();
    }
  }
  return copy;
}

bool IsLike(const Tree& now, const Graph& then) {
  if (now.waits != then.waits) return false;
  for (size_t i = 0; i < then.work.size(); ++i) {
    const NodeWork &a = now.work[i], &b = then.work[i];
    if (a.kind != b.kind || a.function != b.function || a.bytes != b.bytes || a.contexts != b.contexts) return false;
    if (!b.bodies.empty() && !IsLike(*now.bodies.at(i)[0], *b.bodies[0])) return false;
  }
  return true;
}
void ChangeTo(Tree& now, const Graph& then) {
  for (size_t i = 0; i < then.work.size(); ++i) {
    std::vector<Graph*> bodies = std::move(now.work[i].bodies);
    now.work[i] = then.work[i];
    now.work[i].bodies = std::move(bodies);
    if (!then.work[i].bodies.empty()) ChangeTo(*now.bodies.at(i)[0], *then.work[i].bodies[0]);
  }
}

}  // namespace

CuResult cuGraphAddChildGraphNode(CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
                                  CuGraph child) {
  constexpr const char* kCall = "cuGraphAddChildGraphNode";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsGraph(graph) || !IsGraph(child)) return Refuse(m, kCall, "no such graph", kInvalidHandle);
  auto &g = As<Graph>(graph), &from = As<Graph>(child);
  if (from.Whole() == g.Whole()) return Refuse(m, kCall, "a graph cannot be in itself");
  if (from.is_captured) return Refuse(m, kCall, "a stream captures into the child graph");
  if (from.HasConditional()) return Refuse(m, kCall, "a child graph has no conditional nodes", kCuNotSupported);
  std::unique_ptr<Graph> copy = CopyOf(from, g);
  NodeWork work{kChildGraph, nullptr, nullptr, 0};
  work.bodies = {copy.get()};
  const CuResult result = AddTo(m, kCall, out, graph, waits, n_waits, std::move(work));
  if (result != kCuSuccess) return result;
  Know(*copy);
  g.bodies.push_back(std::move(copy));
  return kCuSuccess;
}

// A graph that is not like the other one is refused without a complaint, since a host cannot see that before.
CuResult cuGraphExecChildGraphNodeSetParams(CuGraphExec exec, CuGraphNode which, CuGraph child) {
  constexpr const char* kCall = "cuGraphExecChildGraphNodeSetParams";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const size_t number = As<Node>(which).number;
  Tree* tree = nullptr;
  if (const CuResult refused = FindTree(m, kCall, exec, which, tree)) return refused;
  if (!IsGraph(child)) return Refuse(m, kCall, "no such graph", kInvalidHandle);
  if (tree->work[number].kind != kChildGraph) return Refuse(m, kCall, "the node is of another kind");
  Tree& now = *tree->bodies.at(number)[0];
  if (!IsLike(now, As<Graph>(child))) return kUpdateRefused;
  ChangeTo(now, As<Graph>(child));
  return kCuSuccess;
}

}  // namespace ricci::cuda::standin
