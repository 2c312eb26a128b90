// Launches of graphs: nodes in their order, and conditional nodes, whose conditions kernels set. A condition is memory
// of its own: a kernel that sets it writes it, its node reads it before each trip.
#include <algorithm>
#include <random>

#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint64_t kMostTrips = 20'000;  // of a loop that ends
constexpr size_t kNone = ~size_t{0};

std::deque<Condition>& conditions = *new std::deque<Condition>;

// Of the launch and the kernel that this thread runs.
thread_local const Graph* running = nullptr;
thread_local StepRef kernel_step;

std::string NumberText(const std::vector<InGraph>& path) {
  std::string text;
  for (const InGraph& at : path) {
    if (at.body != 0) text += ":" + std::to_string(at.body);
    text += (text.empty() ? "" : ".") + std::to_string(at.node);
  }
  return text;
}

class TreeRun {
 public:
  TreeRun(uint64_t seed, const StepRef& launch) : random_(seed), launch_(launch) {}

  void Run(const Tree& t, std::vector<InGraph> path, uint64_t trip, size_t body) {
    std::vector<bool> done(t.work.size());
    path.push_back({t.reached, 0, trip, body});
    for (size_t n = 0; n < t.work.size(); ++n) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < t.work.size(); ++i) {
        const auto is_done = [&](size_t earlier) { return done[earlier]; };
        if (!done[i] && std::all_of(t.waits[i].begin(), t.waits[i].end(), is_done)) ready.push_back(i);
      }
      const size_t next = ready[random_() % ready.size()];
      path.back().node = next;
      const StepRef step = StepOf(t.work[next], path);
      if (t.work[next].run) t.work[next].run(step);
      if (t.work[next].condition != nullptr) {
        RunBody(t, next, path, step);
      } else if (const auto child = t.bodies.find(next); child != t.bodies.end()) {
        Run(*child->second[0], path, 1, 0);
      }
      done[next] = true;
    }
  }

 private:
  StepRef StepOf(const NodeWork& work, const std::vector<InGraph>& path) const {
    Step step = *launch_;
    step.name = work.function != nullptr ? "kernel " + NameOf(work.function) : work.kind;
    step.name += " (node " + NumberText(path) + ")";
    step.path = path;
    return std::make_shared<const Step>(std::move(step));
  }

  // The number of the body that the value means; none of them: `kNone` or more than there are.
  static size_t BodyFor(unsigned value, int type) {
    if (type == kCuConditionSwitch) return value;
    return value != 0 ? 0 : type == kCuConditionIf ? 1 : kNone;
  }
  static size_t NextBody(const NodeWork& work, const StepRef& step) {
    const Condition& c = *work.condition;
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    if (m.failed_for_good) return kNone;
    m.Touch(reinterpret_cast<uintptr_t>(&c.value), sizeof c.value, /*writes=*/false, step);
    if (!c.is_set) m.Complain(step->Text() + ": its condition was never set");
    return c.is_set ? BodyFor(c.value, work.type) : kNone;
  }
  void RunBody(const Tree& t, size_t node, const std::vector<InGraph>& path, const StepRef& step) {
    const NodeWork& work = t.work[node];
    const auto& bodies = t.bodies.at(node);
    uint64_t trip = 1;
    for (size_t body; (body = NextBody(work, step)) < bodies.size(); ++trip) {
      Run(*bodies[body], path, trip, body);
      if (work.type != kCuConditionWhile) return;
      if (trip < kMostTrips) continue;
      Machine& m = Machine::Get();
      const std::lock_guard lock(m.mutex);
      return m.Complain(step->Text() + ": a loop of " + std::to_string(trip) + " trips does not end");
    }
  }

  std::mt19937_64 random_;
  const StepRef& launch_;
};

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

}  // namespace

std::unique_ptr<Tree> TreeOf(const Graph& g) {
  auto tree = std::make_unique<Tree>(Tree{g.Whole(), g.waits, g.work, ReachedBy(g.waits), {}});
  for (size_t i = 0; i < g.work.size(); ++i) {
    for (const Graph* const body : g.work[i].bodies) tree->bodies[i].push_back(TreeOf(*body));
  }
  return tree;
}

std::unique_ptr<Tree> Copy(const Tree& t) {
  auto copy = std::make_unique<Tree>(Tree{t.whole, t.waits, t.work, t.reached, {}});
  for (const auto& [node, bodies] : t.bodies) {
    for (const auto& body : bodies) copy->bodies[node].push_back(Copy(*body));
  }
  return copy;
}

Condition* FindCondition(CuCondition condition) {
  return condition != 0 && condition <= conditions.size() ? &conditions[condition - 1] : nullptr;
}

bool HasUnusedCondition(const Graph& whole) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c.whole == &whole && !c.has_node; });
}

void DropConditions(const Graph& whole) {
  for (Condition& c : conditions) {
    if (c.whole == &whole) c.graph = c.whole = nullptr;
  }
}

void RunTree(const Tree& tree, uint64_t seed, const StepRef& launch) {
  {
    const std::lock_guard lock(Machine::Get().mutex);
    for (Condition& c : conditions) {
      if (c.whole != tree.whole) continue;
      c.is_set = c.has_first;
      c.value = c.first;
    }
  }
  running = tree.whole;
  TreeRun(seed, launch).Run(tree, {}, 0, 0);
  running = nullptr;
}

void RunsKernel(const StepRef& step) { kernel_step = step; }

void SetCondition(unsigned long long condition, unsigned value) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  Condition* const c = FindCondition(condition);
  if (c == nullptr || running == nullptr || c->whole != running) {
    return m.Complain(kernel_step->Text() + " sets a condition that is not of its graph");
  }
  if (c->setter == kernel_step) m.Complain(kernel_step->Text() + " sets a condition twice");
  m.Touch(reinterpret_cast<uintptr_t>(&c->value), sizeof c->value, /*writes=*/true, kernel_step);
  c->value = value;
  c->is_set = true;
  c->setter = kernel_step;
}

CuResult cuGraphConditionalHandleCreate(CuCondition* out, CuGraph graph, CuContext context, unsigned first,
                                        unsigned flags) {
  constexpr const char* kCall = "cuGraphConditionalHandleCreate";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const auto* const g = &As<Graph>(graph);
  if (!IsGraph(graph)) return m.Complain(std::string(kCall) + ": no such graph"), kInvalidHandle;
  if (context == nullptr || flags > 1) return kInvalidValue;
  conditions.push_back({g, g->Whole(), context, first, flags == 1});
  *out = conditions.size();
  return kCuSuccess;
}

}  // namespace ricci::cuda::standin
