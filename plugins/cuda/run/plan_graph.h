// PlanGraph: the steps of a plan, or of a part of it, as nodes of graphs: which waits for which, and which address each
// depends on. A function of the tables alone.
//
// What differs between runs is a list of addresses: of the inputs, then of the outputs, the constants, the states of
// library calls, the arena and the word of failed checks. A run with other addresses needs other addresses in the nodes
// that use them.
//
// A loop is a node with a graph of its own, its body, which runs as long as a value on the device says so. The branches
// of a CASE are one node, a choice, with a body for each of them, of which the value numbers one; where the driver has
// no such nodes (conditions.h), each branch is a node whose body runs once or not at all. A kernel, the node that
// decides, gives the value. What computes the predicate of a loop is in the plan once, but twice in the graphs: before
// the loop, and at the end of its body.
//
// A plan that needs nothing of the host is one graph: its launch, and the event of its end, are all that a run asks of
// the driver. Steps that need no order have none. Without checks a plan of one kernel is a graph of one node.
//
// Loops are WHILE nodes (CUDA 12.4). Those that count keep their counter in memory, so addresses are the same in all
// trips. A choice of two branches is an IF with two bodies, of which the second one is for 0; of more it is a SWITCH
// (CUDA 12.8). A SWITCH runs nothing for a value that is too large, so the kernel that decides clamps the number, as
// JAX does. Branches come after it, so they may write over the number. A branch without steps gets an empty node, since
// the driver's guide wants bodies to be filled. If all branches but one are empty, that one is an IF. Where each branch
// is a node, a kernel sets the values of eight, and none begins before all are decided.
#ifndef RICCI_CUDA_PLAN_GRAPH_H_
#define RICCI_CUDA_PLAN_GRAPH_H_
#include <vector>

#include "cuda/driver/driver.h"
#include "cuda/run/plan_parts.h"
#include "ricci/api_table.h"

namespace ricci::cuda {

using Addresses = std::vector<CuPointer>;
uint32_t AddressCount(const ricci_plan& plan);
uint32_t AddressIndexOf(const ricci_plan& plan, uint32_t buffer);
uint32_t StateIndexOf(const ricci_plan& plan, uint32_t library);
inline uint32_t FailedCheckIndex(const ricci_plan& plan) { return AddressCount(plan) - 1; }
Addresses AddressesOf(const ricci_plan& plan, const ricci_run_args& a);
CuPointer AddressOf(const ricci_plan& plan, const Addresses& addresses, uint32_t buffer);

struct PlanNode {
  enum Kind : uint8_t {
    kSetCheck,   // sets the word of failed checks
    kReadCheck,  // reads it
    kStep,       // a kernel, source, copy or what a library enqueues
    kDecide,     // gives a loop, a choice or up to kDecided branches their values
    kJoin,       // nothing: after several others, or in a branch without steps
    kLoop,       // its body runs while its value is not 0
    kBranch,     // its body runs if its value is not 0
    kChoice,     // runs the body whose number is its value
  };
  static constexpr uint32_t kDecided = 8;
  Kind kind = kStep;
  uint32_t step = 0;   // kStep; of kDecide, kLoop, kBranch and kChoice the WHILE or CASE
  uint32_t graph = 0;  // the one that it is in: 0 is the whole, others are bodies
  uint32_t body = 0;   // kLoop, kBranch: the graph in it
  // kChoice: the graphs in it, by branch. kDecide: the bodies that it is about, which name the values: that of a loop;
  // the first one of a choice; or those of kDecided branches of a CASE, from `first` on, 0 for a branch that is missing
  // or has no steps.
  std::vector<uint32_t> bodies = {};
  uint32_t first = 0;
};

// Of a whole plan with checks the first node sets the word of failed checks, the last one reads it; without loops and
// branches, node 1 + s is step s. A part of a plan has no such nodes, nor has a plan none of whose kernels has a check:
// there node s is step s. What a node waits for comes before it and is in the same graph; so does the node that its
// graph is in.
struct PlanGraph {
  std::vector<PlanNode> nodes;
  std::vector<std::vector<uint32_t>> waits;  // by node: earlier ones that it waits for
  std::vector<std::vector<uint32_t>> users;  // by address: the nodes that use it, in order
  std::vector<uint32_t> last;                // after which all steps are done; empty: without earlier nodes
  uint32_t n_graphs = 1;

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  // Without the node that reads the word.
  uint32_t n_before_read() const {
    return size() - (!nodes.empty() && nodes.back().kind == PlanNode::kReadCheck ? 1 : 0);
  }
};
// By kernel: can a run of it lower the word of failed checks?
std::vector<bool> ChecksOf(const ricci_compile_args& a);
// Of one of the plan's parts; `is_whole`: that is the plan. `uses_arena`: by step, whether it needs working memory
// besides its buffers; `has_checks`: ChecksOf; `has_choices`: a node can have several bodies.
ricci_status* MakePlanGraph(const ricci_compile_args& a, const PlanBlocks& blocks, const StepRange& part, bool is_whole,
                            const std::vector<bool>& uses_arena, const std::vector<bool>& has_checks, bool has_choices,
                            PlanGraph& out);
inline uint32_t ArenaIndex(const ricci_plan& plan) { return AddressCount(plan) - 2; }

}  // namespace ricci::cuda
#endif
