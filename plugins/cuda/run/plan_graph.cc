// Steps wait as ricci_plan_edges says, which takes a loop or branch as one step; so it is asked about each list of
// steps alone: the plan or part, then the bodies. Those of a list that wait for none of it come after what the list
// comes after.
#include "cuda/run/plan_graph.h"

#include <algorithm>
#include <span>

namespace ricci::cuda {
namespace {

using Nodes = std::vector<uint32_t>;

bool HasSteps(const StepRange& range) { return range.first != range.last; }
CuPointer Pointer(const void* p) { return static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p)); }

void AddTo(Nodes& nodes, const Nodes& more) { nodes.insert(nodes.end(), more.begin(), more.end()); }
Nodes EachOnce(Nodes nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

class NodeMaker {
 public:
  NodeMaker(const ricci_compile_args& a, const PlanBlocks& blocks, bool has_choices, PlanGraph& g)
      : a_(a), blocks_(blocks), has_choices_(has_choices), g_(g) {}

  ricci_status* WithChecks() {
    const uint32_t first = Add({PlanNode::kSetCheck}, {});
    if (ricci_status* failed = List({0, a_.plan->n_steps}, 0, {first}, g_.last)) return failed;
    Add({PlanNode::kReadCheck}, g_.last);
    return nullptr;
  }
  ricci_status* Part(const StepRange& steps) { return List(steps, 0, {}, g_.last); }

 private:
  uint32_t Add(const PlanNode& node, const Nodes& waits) {
    g_.nodes.push_back(node);
    g_.waits.push_back(EachOnce(waits));
    return g_.size() - 1;
  }

  // By step of the list, those that it waits for.
  ricci_status* Edges(const StepRange& range, std::vector<Nodes>& out) const {
    ricci_plan list = *a_.plan;
    list.steps += range.first;
    list.n_steps = range.last - range.first;
    out.assign(list.n_steps, {});
    const auto add = [](void* sink, uint32_t earlier, uint32_t later) {
      (*static_cast<std::vector<Nodes>*>(sink))[later].push_back(earlier);
    };
    return ricci_plan_edges(&list, a_.kernels, a_.n_kernels, &out, add);
  }

  // Nodes of graph `graph` for these steps, after `after`; in `last` those after which all is done.
  ricci_status* List(const StepRange& range, uint32_t graph, const Nodes& after, Nodes& last) {
    std::vector<Nodes> edges;
    if (ricci_status* failed = Edges(range, edges)) return failed;
    std::vector<Nodes> ends(edges.size());
    std::vector<bool> waited_for(edges.size());
    for (uint32_t s = range.first; s < range.last; s = blocks_.After(s)) {
      Nodes waits;
      for (uint32_t earlier : edges[s - range.first]) {
        AddTo(waits, ends[earlier]);
        waited_for[earlier] = true;
      }
      if (waits.empty()) waits = after;
      if (ricci_status* failed = Step(s, graph, waits, ends[s - range.first])) return failed;
    }
    last.clear();
    for (uint32_t s = range.first; s < range.last; s = blocks_.After(s)) {
      if (!waited_for[s - range.first]) AddTo(last, ends[s - range.first]);
    }
    if (last.empty()) last = after;
    last = EachOnce(last);
    return nullptr;
  }

  ricci_status* Step(uint32_t s, uint32_t graph, const Nodes& waits, Nodes& ends) {
    switch (a_.plan->steps[s].kind) {
      case RICCI_STEP_WHILE:
        return Loop(s, graph, waits, ends);
      case RICCI_STEP_CASE:
        return Case(s, graph, waits, ends);
      default:
        ends = {Add({PlanNode::kStep, s, graph}, waits)};
        return nullptr;
    }
  }

  ricci_status* Loop(uint32_t s, uint32_t graph, const Nodes& waits, Nodes& ends) {
    Nodes asked;
    if (ricci_status* failed = List(blocks_.Condition(s), graph, waits, asked)) return failed;
    const uint32_t body = g_.n_graphs++;
    const uint32_t decides = Add({PlanNode::kDecide, s, graph, 0, {body}}, asked);
    ends = {Add({PlanNode::kLoop, s, graph, body}, {decides})};
    Nodes done;
    if (ricci_status* failed = List(blocks_.Body(s), body, {}, done)) return failed;
    if (ricci_status* failed = List(blocks_.Condition(s), body, done, asked)) return failed;
    Add({PlanNode::kDecide, s, body, 0, {body}}, asked);
    return nullptr;
  }

  ricci_status* Case(uint32_t s, uint32_t graph, const Nodes& waits, Nodes& ends) {
    const std::vector<StepRange> branches = blocks_.Branches(s);
    const bool is_choice = has_choices_ && std::count_if(branches.begin(), branches.end(), HasSteps) > 1;
    return is_choice ? Choice(s, graph, waits, ends) : EachBranch(s, graph, waits, ends);
  }

  // The node that decides is the only one that reads the number, and all branches come after it: one may write over
  // that memory. A body must hold something, so one without steps gets a node that does nothing.
  ricci_status* Choice(uint32_t s, uint32_t graph, const Nodes& waits, Nodes& ends) {
    const std::vector<StepRange> branches = blocks_.Branches(s);
    std::vector<uint32_t> bodies(branches.size());
    for (uint32_t& body : bodies) body = g_.n_graphs++;
    const uint32_t decides = Add({PlanNode::kDecide, s, graph, 0, {bodies[0]}}, waits);
    ends = {Add({PlanNode::kChoice, s, graph, 0, bodies}, {decides})};
    for (uint32_t b = 0; b < branches.size(); ++b) {
      Nodes done;
      if (!HasSteps(branches[b])) {
        Add({PlanNode::kJoin, s, bodies[b]}, {});
      } else if (ricci_status* failed = List(branches[b], bodies[b], {}, done)) {
        return failed;
      }
    }
    return nullptr;
  }

  // A branch may write over the memory of the number that decides, so none begins before all are decided.
  ricci_status* EachBranch(uint32_t s, uint32_t graph, const Nodes& waits, Nodes& ends) {
    const std::vector<StepRange> branches = blocks_.Branches(s);
    std::vector<uint32_t> bodies;
    for (const StepRange& b : branches) bodies.push_back(HasSteps(b) ? g_.n_graphs++ : 0);
    Nodes decided = Decide(s, graph, bodies, waits);
    if (decided.empty()) return ends = waits, nullptr;
    if (decided.size() > 1) decided = {Add({PlanNode::kJoin, s, graph}, decided)};
    for (const uint32_t body : bodies) {
      if (body != 0) ends.push_back(Add({PlanNode::kBranch, s, graph, body}, decided));
    }
    for (uint32_t b = 0; b < branches.size(); ++b) {
      Nodes done;
      if (bodies[b] == 0) continue;
      if (ricci_status* failed = List(branches[b], bodies[b], {}, done)) return failed;
    }
    return nullptr;
  }

  // Nodes that decide about these bodies, by branch; 0: a branch has none.
  Nodes Decide(uint32_t s, uint32_t graph, const std::vector<uint32_t>& bodies, const Nodes& waits) {
    Nodes out;
    for (size_t first = 0; first < bodies.size(); first += PlanNode::kDecided) {
      std::vector<uint32_t> some(PlanNode::kDecided);
      for (size_t i = 0; i < some.size() && first + i < bodies.size(); ++i) some[i] = bodies[first + i];
      if (std::all_of(some.begin(), some.end(), [](uint32_t body) { return body == 0; })) continue;
      out.push_back(Add({PlanNode::kDecide, s, graph, 0, some, static_cast<uint32_t>(first)}, waits));
    }
    return out;
  }

  const ricci_compile_args& a_;
  const PlanBlocks& blocks_;
  const bool has_choices_;
  PlanGraph& g_;
};

void FindUsers(const ricci_plan& p, const std::vector<bool>& uses_arena, const std::vector<bool>& has_checks,
               PlanGraph& g) {
  const uint32_t failed_check = FailedCheckIndex(p);
  g.users.assign(AddressCount(p), {});
  const auto add = [&g](uint32_t index, uint32_t node) {
    std::vector<uint32_t>& users = g.users[index];
    if (users.empty() || users.back() != node) users.push_back(node);
  };
  for (uint32_t n = 0; n < g.size(); ++n) {
    const PlanNode::Kind kind = g.nodes[n].kind;
    if (kind == PlanNode::kSetCheck || kind == PlanNode::kReadCheck) add(failed_check, n);
    if (kind != PlanNode::kStep && kind != PlanNode::kDecide) continue;
    const uint32_t s = g.nodes[n].step;
    const ricci_plan_step& step = p.steps[s];
    for (uint32_t i = 0; i < step.n_args; ++i) add(AddressIndexOf(p, p.args[step.args + i]), n);
    if (uses_arena[s]) add(ArenaIndex(p), n);
    if (step.kind == RICCI_STEP_KERNEL && has_checks[step.index]) add(failed_check, n);
    if (step.kind == RICCI_STEP_LIBRARY) add(StateIndexOf(p, step.index), n);
  }
}

}  // namespace

// ---- addresses ----
uint32_t AddressCount(const ricci_plan& p) { return p.n_inputs + p.n_outputs + p.n_constants + p.n_libraries + 2; }

uint32_t StateIndexOf(const ricci_plan& p, uint32_t library) {
  return p.n_inputs + p.n_outputs + p.n_constants + library;
}

uint32_t AddressIndexOf(const ricci_plan& p, uint32_t buffer) {
  const ricci_plan_buffer& b = p.buffers[buffer];
  switch (b.kind) {
    case RICCI_BUFFER_INPUT:
      return b.index;
    case RICCI_BUFFER_OUTPUT:
      return p.n_inputs + b.index;
    case RICCI_BUFFER_CONSTANT:
      return p.n_inputs + p.n_outputs + b.index;
    default:
      return ArenaIndex(p);
  }
}

Addresses AddressesOf(const ricci_plan& p, const ricci_run_args& a) {
  Addresses out;
  out.reserve(AddressCount(p));
  for (uint32_t i = 0; i < p.n_inputs; ++i) out.push_back(Pointer(a.inputs[i]));
  for (uint32_t i = 0; i < p.n_outputs; ++i) out.push_back(Pointer(a.outputs[i]));
  for (uint32_t i = 0; i < p.n_constants; ++i) out.push_back(Pointer(a.constants[i]));
  for (uint32_t i = 0; i < p.n_libraries; ++i) out.push_back(Pointer(a.libraries[i].state));
  out.push_back(Pointer(a.arena));
  out.push_back(Pointer(a.failed_check));
  return out;
}

CuPointer AddressOf(const ricci_plan& p, const Addresses& addresses, uint32_t buffer) {
  const ricci_plan_buffer& b = p.buffers[buffer];
  return addresses[AddressIndexOf(p, buffer)] + (b.kind == RICCI_BUFFER_ARENA ? b.offset : 0);
}

// ---- nodes ----
std::vector<bool> ChecksOf(const ricci_compile_args& a) {
  std::vector<bool> has_checks;
  for (const ricci_kernel_table* k : std::span(a.kernels, a.n_kernels)) {
    const auto is_check = [](const ricci_inst& i) { return i.op == RICCI_K_CHECK; };
    has_checks.push_back(std::any_of(k->insts, k->insts + k->n_insts, is_check));
  }
  return has_checks;
}

ricci_status* MakePlanGraph(const ricci_compile_args& a, const PlanBlocks& blocks, const StepRange& part, bool is_whole,
                            const std::vector<bool>& uses_arena, const std::vector<bool>& has_checks, bool has_choices,
                            PlanGraph& out) {
  out = {};
  NodeMaker maker(a, blocks, has_choices, out);
  const bool is_checked = is_whole && std::find(has_checks.begin(), has_checks.end(), true) != has_checks.end();
  if (ricci_status* failed = is_checked ? maker.WithChecks() : maker.Part(part)) return failed;
  FindUsers(*a.plan, uses_arena, has_checks, out);
  return nullptr;
}

}  // namespace ricci::cuda
