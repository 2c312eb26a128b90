// Graphs of the simulated driver: what nodes do, the bodies of conditional nodes, and the values that those follow.
//
// A child graph is a copy of a graph, in a node of another one; it has no conditional nodes. What an executable graph
// does there may be changed by a graph of the same nodes, edges, functions and sizes; if that differs, the change is
// refused.
//
// Conditional nodes are as the driver API describes them: a condition belongs to a graph and has one node, in that
// graph or a body within it; the node's body is a graph of the driver's, which may hold kernels, copies on the device
// or from and to pinned memory, memsets, empty and conditional nodes; a graph with such nodes has one executable graph
// at a time, in which nodes of bodies are changed as others are. From CUDA 12.8 on, an IF may have a second body for
// the value 0, and a SWITCH has any number, of which the value numbers one: a larger value runs none.
//
// Reported: conditional nodes whose condition is of another graph, has two nodes or none, or was never set; too few or
// too many bodies for their kind or driver; loops that do not end.
#ifndef RICCI_TESTS_CUDA_STANDIN_GRAPH_H_
#define RICCI_TESTS_CUDA_STANDIN_GRAPH_H_
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "standin.h"

namespace ricci::cuda::standin {

struct Graph;

// A value that kernels set and a conditional node reads. Never dropped, so that its address stays its own.
struct Condition {
  const Graph* graph;  // that it was made for
  const Graph* whole;  // the one that is launched
  CuContext context;
  unsigned first;
  bool has_first;  // it has that value whenever the graph is launched
  bool has_node = false, is_set = false;
  unsigned value = 0;
  StepRef setter = nullptr;  // the last one
};

// What a node does, and what an update must not change.
struct NodeWork {
  std::string kind;
  Work run;
  CuFunction function;
  uint64_t bytes;
  const void* host = nullptr;                               // memory of the host that a copy uses
  Condition* condition = nullptr;                           // of a conditional node
  int type = 0;                                             // its kind, as CUgraphConditionalNodeType
  std::vector<Graph*> bodies = {};                          // of a conditional node, or the child graph
  std::pair<const Context*, const Context*> contexts = {};  // of what a copy writes and reads on a device
};

struct Node {
  size_t number;
};
struct Graph {
  Graph* parent = nullptr;  // null: neither a body nor a child graph
  bool is_body = false;     // of a conditional node
  std::deque<Node> nodes;   // their addresses are the handles
  std::vector<std::vector<size_t>> waits;
  std::vector<NodeWork> work;
  std::deque<std::unique_ptr<Graph>> bodies;
  std::deque<std::vector<CuGraph>> body_handles;  // what the driver gives out, by conditional node
  int instances = 0;
  bool is_captured = false;
  int device = 0;       // whose context was current when it was made
  uint64_t number = 0;  // of a graph that is not a body: its own, since another one may have its address later

  bool Has(const Node* node) const;
  bool HasConditional() const;  // itself
  bool IsWithinBody() const { return is_body || (parent != nullptr && parent->IsWithinBody()); }
  const Graph* Whole() const { return parent == nullptr ? this : parent->Whole(); }
};

// The nodes of a graph and its bodies, as they were at an instantiation or launch.
struct Tree {
  const Graph* whole;
  std::vector<std::vector<size_t>> waits;
  std::vector<NodeWork> work;
  std::shared_ptr<const Reached> reached;                       // of each node those that are in order before it
  std::map<size_t, std::vector<std::unique_ptr<Tree>>> bodies;  // by the number of a node
};
std::unique_ptr<Tree> TreeOf(const Graph& g);
std::unique_ptr<Tree> Copy(const Tree& t);

// ---- standin_graph.cc: with the mutex held ----
// Whether it has not been destroyed.
bool IsGraph(CuGraph graph);
CuResult Refuse(Machine& m, const char* call, const char* why, CuResult result = kInvalidValue);
CuResult AddTo(Machine& m, const char* call, CuGraphNode* out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,
               NodeWork work);
// The graph and what is in it can be asked about.
void Know(Graph& g);
// The tree that has the node, in an executable graph.
CuResult FindTree(Machine& m, const char* call, CuGraphExec exec, CuGraphNode which, Tree*& out);
// A node of a graph that a stream captures, after those that are the last ones there.
CuResult AddCaptured(Machine& m, const char* call, Stream& s, NodeWork work);
// Those of the device go, without a call.
void ForgetGraphs(Machine& m, int device);

// ---- standin_conditions.cc: with the mutex held, but for RunTree ----
// Null if there is none.
Condition* FindCondition(CuCondition condition);
// Does the graph, with all bodies, have a condition that no node has?
bool HasUnusedCondition(const Graph& whole);
// The graph goes.
void DropConditions(const Graph& whole);
// Runs all nodes as parts of the operation `launch`, in sequence, in an order that the seed draws from those that their
// edges allow. So where an edge is missing, some seed shows it.
void RunTree(const Tree& tree, uint64_t seed, const StepRef& launch);

}  // namespace ricci::cuda::standin
#endif
