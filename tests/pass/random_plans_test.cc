// Random plans of copies, kernels, loops and branches: the stages that remove copies do not change what a run computes.
//
// Everything that is read was written on each path to the read, as in the plans of lower_plan. Kernels read where they
// write, or at other places, or write a part. The interpreter runs each plan before the stages and after each of them.
#include <gtest/gtest.h>

#include <random>

#include "kernel/writer.h"
#include "pass/plan/lower_plan.h"
#include "support/late_runs.h"

namespace ricci::testing { namespace {

using kernel::Val;

constexpr int64_t kElements = 4;  // of all arrays except counters and predicates
constexpr uint64_t kBytes = kElements * sizeof(float);
constexpr uint32_t kInputs = 2, kOutputs = 2, kArena = 5;
constexpr int64_t kShape[] = {kElements}, kOne[] = {1};
constexpr types::ArrayType kFloats{RICCI_F32, kShape, kElements, kBytes}, kChoice{RICCI_I32, kOne, 1, 4};

kernel::Kernel Must(kernel::Writer& w) {
  auto k = w.Finish();
  EXPECT_TRUE(k.ok()) << k.status();
  return *std::move(k);
}

// result[i] = a[i] + b[i] / 2, with a in reverse order if `turned`, for the elements up to `n`.
kernel::Kernel Mix(bool turned, int64_t n) {
  kernel::Writer w(turned ? "turned" : "mix");
  uint32_t in[2];
  for (uint32_t& b : in) b = w.Buffer(RICCI_F32, kElements, RICCI_ACCESS_READ);
  const uint32_t out = w.Buffer(RICCI_F32, kElements, RICCI_ACCESS_WRITE);
  Val i;
  w.Parallel({&n, 1}, &i);
  const Val a = w.Load(in[0], turned ? w.Sub(w.Index(kElements - 1), i) : i);
  w.Store(out, i, w.Add(a, w.Mul(w.Load(in[1], i), w.Float(RICCI_F32, 0.5))));
  w.End();
  kernel::Kernel k = Must(w);
  if (n < kElements) k.updates = static_cast<int32_t>(out);
  return k;
}

enum : uint32_t { kMix, kTurned, kPart, kStart, kNext, kParity, kLess };  // kLess + n: counter < n

std::vector<kernel::Kernel> Kernels() {
  std::vector<kernel::Kernel> kernels;
  kernels.push_back(Mix(/*turned=*/false, kElements));
  kernels.push_back(Mix(/*turned=*/true, kElements));
  kernels.push_back(Mix(/*turned=*/false, 2));
  kernel::Writer start("start"), next("next"), parity("parity");
  start.Store(start.Buffer(RICCI_I64, 1, RICCI_ACCESS_WRITE), start.Index(0), start.Index(0));
  kernels.push_back(Must(start));
  const uint32_t c = next.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ_WRITE);
  next.Store(c, next.Index(0), next.Add(next.Load(c, next.Index(0)), next.Index(1)));
  kernels.push_back(Must(next));
  const uint32_t from = parity.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ);
  const uint32_t to = parity.Buffer(RICCI_I32, 1, RICCI_ACCESS_WRITE);
  const Val odd = parity.And(parity.Load(from, parity.Index(0)), parity.Index(1));
  parity.Store(to, parity.Index(0), parity.Convert(odd, RICCI_I32));
  kernels.push_back(Must(parity));
  for (int64_t n = 0; n < 5; ++n) {
    kernel::Writer less("less");
    const uint32_t counter = less.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ);
    const uint32_t predicate = less.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_WRITE);
    less.Store(predicate, less.Index(0), less.Less(less.Load(counter, less.Index(0)), less.Index(n)));
    kernels.push_back(Must(less));
  }
  return kernels;
}

class Generator {
 public:
  Generator(uint32_t seed, pass::Lowered& out) : random_(seed), out_(out), plan_(out.plan) {}

  void Run() {
    out_.kernels = Kernels();
    plan_.n_inputs = kInputs + 1, plan_.n_outputs = kOutputs;
    for (uint32_t i = 0; i < kInputs; ++i) written_.push_back(Add(RICCI_BUFFER_INPUT, i, kBytes));
    choice_ = Add(RICCI_BUFFER_INPUT, kInputs, kChoice.bytes);
    for (uint32_t i = 0; i < kOutputs; ++i) targets_.push_back(Add(RICCI_BUFFER_OUTPUT, i, kBytes));
    for (uint32_t i = 0; i < kArena; ++i) targets_.push_back(Add(RICCI_BUFFER_ARENA, 0, kBytes));
    List(6, 0);
    for (uint32_t i = 0; i < kOutputs; ++i) {
      if (!Written(targets_[i])) plan_.Step(RICCI_STEP_COPY, 0, {targets_[i], Pick(written_)});
    }
  }

 private:
  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  uint32_t Pick(const std::vector<uint32_t>& from) { return from[Below(from.size())]; }
  uint32_t Add(uint32_t kind, uint32_t index, uint64_t bytes) {
    plan_.buffers.push_back({kind, index, bytes, 0, nullptr});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  bool Written(uint32_t b) const { return std::find(written_.begin(), written_.end(), b) != written_.end(); }

  void List(uint32_t steps, int depth) {
    for (uint32_t n = Below(steps + 1) + 1; n > 0; --n) {
      const uint32_t kind = Below(depth < 3 ? 10 : 7);
      if (kind < 4) Copy();
      if (kind >= 4 && kind < 7) Kernel(kMix + Below(3));
      if (kind == 7 || kind == 8) Loop(depth);
      if (kind == 9) Branches(depth);
    }
  }
  void Copy() {
    const uint32_t to = Pick(targets_), from = Pick(written_);
    if (to == from) return;
    plan_.Step(RICCI_STEP_COPY, 0, {to, from});
    if (!Written(to)) written_.push_back(to);
  }
  void Kernel(uint32_t k) {
    const uint32_t to = Pick(targets_), a = Pick(written_), b = Pick(written_);
    if (to == a || to == b || (k == kPart && !Written(to))) return;
    plan_.Step(RICCI_STEP_KERNEL, k, {a, b, to});
    if (!Written(to)) written_.push_back(to);
  }
  // A loop with a known number of trips, or with one that is not known and may be 0.
  void Loop(int depth) {
    const bool known = Below(2) == 0;
    const uint32_t trips = Below(4) + known, outer = counter_;
    const uint32_t predicate = Add(RICCI_BUFFER_ARENA, 0, 1);
    counter_ = Add(RICCI_BUFFER_ARENA, 0, 8);
    plan_.Step(RICCI_STEP_KERNEL, kStart, {counter_});
    plan_.Step(RICCI_STEP_WHILE, known ? trips : 0, {predicate});
    plan_.Step(RICCI_STEP_KERNEL, kLess + trips, {counter_, predicate});
    if (Below(4) == 0) Kernel(kMix);
    plan_.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{});
    const std::vector<uint32_t> before = written_;
    Trip(depth);
    plan_.Step(RICCI_STEP_KERNEL, kNext, {counter_});
    plan_.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
    if (!known) written_ = before;
    counter_ = outer;
  }
  bool Sometimes() { return Below(2) == 0; }
  // A few steps or none, without loops and branches.
  void Between() {
    if (Sometimes()) List(2, 3);
  }
  // A new array made from `from` and another one, in one of the ways in which results of trips and branches are made.
  void Make(uint32_t to, uint32_t from) {
    if (Below(3) == 0) return plan_.Step(RICCI_STEP_COPY, 0, {to, from});
    plan_.Step(RICCI_STEP_KERNEL, kMix + Below(2), {from, Pick(written_), to});
  }
  // Some trips make the next value of an array elsewhere and copy it at the end, or close to it.
  void Trip(int depth) {
    const uint32_t carry = Pick(targets_);
    if (!Written(carry) || Sometimes()) return List(6, depth + 1);
    const uint32_t next = Add(RICCI_BUFFER_ARENA, 0, kBytes);
    Between();
    Make(next, carry);
    if (Sometimes()) written_.push_back(next);
    List(5, Sometimes() ? 3 : depth + 1);
    plan_.Step(RICCI_STEP_COPY, 0, {carry, next});
    Between();
    if (Below(4) != 0) std::erase(written_, next);
  }
  void Branches(int depth) {
    uint32_t index = choice_;
    if (counter_ != 0) {
      index = Add(RICCI_BUFFER_ARENA, 0, 4);
      plan_.Step(RICCI_STEP_KERNEL, kParity, {counter_, index});
    }
    const uint32_t n = Below(3) + 1;
    plan_.Step(RICCI_STEP_CASE, n, {index});
    const std::vector<uint32_t> before = written_;
    std::vector<uint32_t> in_all;
    const uint32_t source = Pick(written_), made = Sometimes() ? Add(RICCI_BUFFER_ARENA, 0, kBytes) : 0;
    for (uint32_t i = 0; i < n; ++i) {
      if (i != 0) plan_.Step(RICCI_STEP_NEXT, 0, std::vector<uint32_t>{});
      written_ = before;
      if (made != 0) Make(made, source);
      if (Below(4) != 0) List(4, depth + 1);
      if (i == 0) in_all = written_;
      std::erase_if(in_all, [&](uint32_t b) { return !Written(b); });
    }
    plan_.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
    written_ = in_all;
    if (made == 0) return;
    Between();
    const uint32_t to = std::find(targets_.begin(), targets_.end(), source) != targets_.end() ? source : Pick(targets_);
    plan_.Step(RICCI_STEP_COPY, 0, {to, made});
    if (!Written(to)) written_.push_back(to);
  }

  std::mt19937 random_;
  pass::Lowered& out_;
  kernel::Plan& plan_;
  std::vector<uint32_t> written_;  // arrays, on each path to here
  std::vector<uint32_t> targets_;
  uint32_t choice_ = 0, counter_ = 0;  // of the innermost loop, 0: there is none
};

// The results of a run of `l`: `run` gets its arguments.
template <typename Run>
std::vector<float> ResultsOf(const pass::Lowered& l, int32_t choice, Run run) {
  std::vector<float> in(kInputs * kElements), out(kOutputs * kElements);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  std::vector<void*> inputs, outputs;
  for (uint32_t i = 0; i < kInputs; ++i) inputs.push_back(&in[i * kElements]);
  inputs.push_back(&choice);
  for (uint32_t i = 0; i < kOutputs; ++i) outputs.push_back(&out[i * kElements]);
  std::vector<std::max_align_t> arena(l.plan.arena_bytes / sizeof(std::max_align_t) + 1);
  ricci_run_args a{};
  a.inputs = inputs.data();
  a.outputs = outputs.data();
  a.arena = arena.data();
  EXPECT_EQ(run(a), absl::OkStatus());
  return out;
}

std::vector<float> Results(const pass::Lowered& l, int32_t choice) {
  const kernel::KernelViews views(l.kernels);
  return ResultsOf(l, choice, [&](const ricci_run_args& a) {
    return kernel::Interpret(l.plan.View(), views.data(), views.size(), a);
  });
}

// Places the buffers, also when they have been placed before.
absl::Status PlaceAndCheck(const pass::Options& options, pass::Lowered& l) {
  for (ricci_plan_buffer& b : l.plan.buffers) b.offset = 0;
  if (absl::Status s = pass::PlanBuffers(options, l); !s.ok()) return s;
  kernel::PlanFacts facts;
  facts.inputs.assign(kInputs, kFloats);
  facts.inputs.push_back(kChoice);
  facts.outputs.assign(kOutputs, kFloats);
  facts.has_offsets = true;
  return kernel::VerifyPlan(l.plan, l.kernels, facts);
}

size_t Copies(const pass::Lowered& l) {
  return static_cast<size_t>(std::count_if(l.plan.steps.begin(), l.plan.steps.end(),
                                           [](const ricci_plan_step& s) { return s.kind == RICCI_STEP_COPY; }));
}

TEST(RandomPlans, SparedCopiesChangeNothing) {
  pass::Options options;
  options.target.limits.turn_bytes = 1;
  size_t before = 0, coalesced = 0, turned = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    pass::Lowered l;
    Generator(seed, l).Run();
    ASSERT_EQ(PlaceAndCheck(options, l), absl::OkStatus()) << seed;
    std::vector<std::vector<float>> want;
    for (int32_t choice : {0, 1, 2}) want.push_back(Results(l, choice));
    const auto expect_same = [&](std::string_view stage) {
      ASSERT_EQ(PlaceAndCheck(options, l), absl::OkStatus()) << stage << ", seed " << seed;
      for (int32_t choice : {0, 1, 2}) ASSERT_EQ(Results(l, choice), want[choice]) << stage << ", seed " << seed;
    };
    before += Copies(l);
    ASSERT_EQ(pass::CoalesceCopies(options, l), absl::OkStatus());
    ASSERT_NO_FATAL_FAILURE(expect_same("coalesce_copies"));
    coalesced += Copies(l);
    const size_t steps = l.plan.steps.size();
    ASSERT_EQ(pass::TakeTurns(options, l), absl::OkStatus());
    ASSERT_NO_FATAL_FAILURE(expect_same("take_turns"));
    turned += l.plan.steps.size() != steps;
  }
  EXPECT_LT(coalesced, before);
  EXPECT_GT(turned, 100u) << "plans";
}

// Only the pairs of steps that wait for each other keep a plan correct.
TEST(RandomPlans, StepsRunInAnyOrderThatTheirEdgesAllow) {
  pass::Options options;
  size_t moved = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    pass::Lowered l;
    Generator(seed, l).Run();
    ASSERT_EQ(PlaceAndCheck(options, l), absl::OkStatus()) << seed;
    const kernel::KernelViews views(l.kernels);
    const ricci_plan plan = l.plan.View();
    const auto code = LateCode::Create({{}, views.data(), views.size(), 1, &plan}, 0);
    ASSERT_EQ(code.status(), absl::OkStatus());
    const std::vector<float> want = Results(l, 1);
    for (uint64_t order = 0; order < 5; ++order) {
      const auto run = [&](const ricci_run_args& a) { return (*code)->Run(a, order); };
      ASSERT_EQ(ResultsOf(l, 1, run), want) << "seed " << seed << ", order " << order;
      const std::vector<ricci_plan_step> steps = (*code)->Shuffled(order);
      moved += !std::equal(steps.begin(), steps.end(), plan.steps,
                           [](const auto& a, const auto& b) { return a.kind == b.kind && a.args == b.args; });
    }
  }
  EXPECT_GT(moved, 1000u) << "orders";
}

}  // namespace
}  // namespace ricci::testing
