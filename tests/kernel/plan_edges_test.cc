// Which steps of a plan wait for which: plans made by hand, random ones against the definition, and large ones.
#include <gtest/gtest.h>

#include <random>

#include "kernel/kernel.h"
#include "support/program_runner.h"

namespace ricci::kernel { namespace {

constexpr uint32_t kRead = RICCI_ACCESS_READ, kWrite = RICCI_ACCESS_WRITE, kBoth = RICCI_ACCESS_READ_WRITE;
constexpr uint32_t kArena = RICCI_BUFFER_ARENA, kInput = RICCI_BUFFER_INPUT, kOutput = RICCI_BUFFER_OUTPUT;
using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

ricci_status* Launch(void*, const ricci_launch*) { return nullptr; }

// A plan whose kernels only access their buffers. Buffers have 8 bytes unless stated otherwise.
class TestPlan {
 public:
  uint32_t Buffer(uint32_t kind, uint32_t index, uint64_t offset = 0, uint64_t bytes = 8) {
    static const uint64_t data = 0;
    plan_.buffers.push_back({kind, index, bytes, offset, kind == RICCI_BUFFER_CONSTANT ? &data : nullptr});
    if (kind == kInput) plan_.n_inputs = std::max(plan_.n_inputs, index + 1);
    if (kind == kOutput) plan_.n_outputs = std::max(plan_.n_outputs, index + 1);
    if (kind == RICCI_BUFFER_CONSTANT) plan_.n_constants = std::max(plan_.n_constants, index + 1);
    if (kind == kArena) plan_.arena_bytes = std::max(plan_.arena_bytes, offset + bytes);
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  uint32_t Arena(uint64_t offset, uint64_t bytes = 8) { return Buffer(kArena, 0, offset, bytes); }

  void Kernel(std::vector<std::pair<uint32_t, uint32_t>> uses) {  // buffer and access
    kernel::Kernel k;
    k.name = "k";
    std::vector<uint32_t> args;
    for (auto [buffer, access] : uses) {
      k.buffers.push_back({RICCI_U8, access, static_cast<int64_t>(plan_.buffers[buffer].bytes)});
      args.push_back(buffer);
    }
    kernels_.push_back(k);
    plan_.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(kernels_.size() - 1), args);
  }
  void Copy(uint32_t to, uint32_t from) { Step(RICCI_STEP_COPY, 0, {to, from}); }
  void Step(uint32_t kind, uint32_t index = 0, std::vector<uint32_t> args = {}) { plan_.Step(kind, index, args); }
  void Library(std::vector<uint32_t> in, std::vector<uint32_t> out, uint32_t workspace) {
    static const ricci_library library{{}, nullptr, Launch, nullptr};
    plan_.libraries.push_back(
        {&library, nullptr, 1, static_cast<uint32_t>(in.size()), static_cast<uint32_t>(out.size()), 8, 0, 0});
    in.insert(in.end(), out.begin(), out.end());
    in.push_back(workspace);
    Step(RICCI_STEP_LIBRARY, static_cast<uint32_t>(plan_.libraries.size() - 1), in);
  }
  void SetAlias(std::vector<int32_t> alias) { alias_ = std::move(alias); }

  ricci_plan View() const {
    ricci_plan p = plan_.View();
    p.output_alias = alias_.empty() ? nullptr : alias_.data();
    return p;
  }
  Edges Find() const { return Find(0, static_cast<uint32_t>(plan_.steps.size())); }
  // Of the steps [first, last) alone.
  Edges Find(uint32_t first, uint32_t last) const {
    ricci_plan p = View();
    p.steps += first, p.n_steps = last - first;
    const KernelViews views(kernels_);
    Edges edges;
    EXPECT_TRUE(ricci::testing::Ok(
        ricci_plan_edges(&p, views.data(), views.size(), &edges, [](void* sink, uint32_t earlier, uint32_t later) {
          static_cast<Edges*>(sink)->push_back({earlier, later});
        })));
    return edges;
  }

  const std::vector<kernel::Kernel>& kernels() const { return kernels_; }
  kernel::Plan& plan() { return plan_; }

 private:
  kernel::Plan plan_;
  std::vector<kernel::Kernel> kernels_;
  std::vector<int32_t> alias_;
};

TEST(PlanEdges, ReadersWaitForWritersAndWritersForReaders) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), a = t.Arena(0), b = t.Arena(64), c = t.Arena(128);
  t.Kernel({{in, kRead}, {a, kWrite}});
  t.Kernel({{a, kRead}, {b, kWrite}});
  t.Kernel({{a, kRead}, {c, kWrite}});
  t.Kernel({{in, kRead}, {a, kWrite}});  // after both readers, so after the writer too
  t.Kernel({{in, kRead}, {a, kWrite}});  // it was not read in between
  EXPECT_EQ(t.Find(), (Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}));
}

TEST(PlanEdges, StepsThatShareNothingWaitForNothing) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), constant = t.Buffer(RICCI_BUFFER_CONSTANT, 0);
  t.Copy(t.Buffer(kOutput, 0), in);
  t.Copy(t.Buffer(kOutput, 1), in);
  t.Kernel({{constant, kRead}, {t.Buffer(kOutput, 2), kWrite}});
  t.Kernel({{constant, kRead}, {t.Arena(0), kWrite}});
  t.Kernel({{in, kRead}, {t.Arena(8), kWrite}});  // begins where the one before ends
  EXPECT_EQ(t.Find(), Edges{});
}

TEST(PlanEdges, RangesOfTheArenaThatOverlapAreOneMemory) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), low = t.Arena(0), high = t.Arena(8), middle = t.Arena(4);
  const uint32_t whole = t.Arena(0, 16);
  t.Copy(low, in);
  t.Copy(high, in);
  t.Copy(middle, in);
  t.Copy(t.Buffer(kOutput, 0), high);
  t.Kernel({{whole, kBoth}});
  EXPECT_EQ(t.Find(), (Edges{{0, 2}, {1, 2}, {2, 3}, {3, 4}}));
}

// Two buffers of one output are the same memory; buffers of no bytes are none.
TEST(PlanEdges, MemoryIsThatOfTheIndex) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), out = t.Buffer(kOutput, 0), again = t.Buffer(kOutput, 0);
  const uint32_t nothing = t.Arena(4, 0), other_nothing = t.Arena(4, 0);
  t.Kernel({{in, kRead}, {out, kWrite}, {nothing, kWrite}});
  t.Kernel({{other_nothing, kBoth}});
  t.Kernel({{again, kBoth}});
  EXPECT_EQ(t.Find(), (Edges{{0, 2}}));
}

TEST(PlanEdges, OutputsTakeTheMemoryOfInputs) {
  TestPlan t;
  const uint32_t x = t.Buffer(kInput, 0), y = t.Buffer(kInput, 1), a = t.Arena(0);
  t.Copy(a, x);
  t.Kernel({{y, kRead}, {t.Arena(8), kWrite}});
  t.Copy(t.Buffer(kOutput, 0), a);
  t.Copy(t.Buffer(kOutput, 1), a);
  EXPECT_EQ(t.Find(), (Edges{{0, 2}, {0, 3}}));
  t.SetAlias({1, -1});
  EXPECT_EQ(t.Find(), (Edges{{0, 2}, {1, 2}, {0, 3}}));
}

TEST(PlanEdges, WorkspaceIsWritten) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), work = t.Arena(0);
  t.Library({in}, {t.Buffer(kOutput, 0)}, work);
  t.Library({in, in}, {t.Buffer(kOutput, 1)}, work);
  t.Library({in}, {t.Buffer(kOutput, 2)}, t.Arena(8));
  EXPECT_EQ(t.Find(), (Edges{{0, 1}}));
}

// A loop is one step with all that it touches; it also reads its predicate.
TEST(PlanEdges, LoopsAndChoicesAreOneStep) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0, 0, 4), flag = t.Arena(0, 1), a = t.Arena(8), b = t.Arena(16);
  const uint32_t c = t.Arena(24), which = t.Arena(32, 4);
  t.Kernel({{in, kRead}, {a, kWrite}});                       // 0
  t.Step(RICCI_STEP_WHILE, 0, {flag});                        // 1
  t.Kernel({{a, kRead}, {flag, kWrite}});                     // 2
  t.Step(RICCI_STEP_COND);                                    // 3
  t.Step(RICCI_STEP_CASE, 2, {in});                           // 4
  t.Copy(a, b);                                               // 5
  t.Step(RICCI_STEP_NEXT);                                    // 6
  t.Step(RICCI_STEP_END);                                     // 7
  t.Step(RICCI_STEP_END);                                     // 8
  t.Kernel({{in, kRead}, {c, kWrite}});                       // 9
  t.Kernel({{b, kWrite}});                                    // 10
  t.Kernel({{in, kRead}, {which, kWrite}});                   // 11
  t.Step(RICCI_STEP_CASE, 1, {which});                        // 12
  t.Copy(c, a);                                               // 13
  t.Step(RICCI_STEP_END);                                     // 14
  t.Kernel({{flag, kRead}, {t.Buffer(kOutput, 0), kWrite}});  // 15
  EXPECT_EQ(t.Find(), (Edges{{0, 1}, {1, 10}, {1, 12}, {9, 12}, {11, 12}, {1, 15}}));
}

// A backend asks about the body of a loop as if it were a plan, also where it has loops itself.
TEST(PlanEdges, AListWithinIsAPlanByItself) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), flag = t.Arena(0), a = t.Arena(8), b = t.Arena(16);
  t.Kernel({{in, kRead}, {a, kWrite}});    // 0
  t.Step(RICCI_STEP_WHILE, 0, {flag});     // 1
  t.Kernel({{a, kRead}, {flag, kWrite}});  // 2
  t.Step(RICCI_STEP_COND);                 // 3
  t.Kernel({{a, kRead}, {b, kWrite}});     // 4
  t.Step(RICCI_STEP_CASE, 2, {in});        // 5
  t.Copy(a, b);                            // 6
  t.Kernel({{a, kBoth}});                  // 7
  t.Step(RICCI_STEP_NEXT);                 // 8
  t.Step(RICCI_STEP_END);                  // 9
  t.Step(RICCI_STEP_END);                  // 10
  EXPECT_EQ(t.Find(2, 3), (Edges{}));
  EXPECT_EQ(t.Find(4, 10), (Edges{{0, 1}}));
  EXPECT_EQ(t.Find(6, 8), (Edges{{0, 1}}));
  EXPECT_EQ(t.Find(8, 8), (Edges{}));
}

TEST(PlanEdges, MalformedPlansAreRefused) {
  TestPlan t;
  t.Step(RICCI_STEP_WHILE, 0, {t.Arena(0)});
  const ricci_plan p = t.View();
  const auto write = [](void*, uint32_t, uint32_t) { FAIL(); };
  EXPECT_EQ(ricci::testing::Message(ricci_plan_edges(&p, nullptr, 0, nullptr, write)), "plan: a block is not closed");
  EXPECT_EQ(ricci::testing::Message(ricci_plan_edges(nullptr, nullptr, 0, nullptr, write)),
            "ricci_plan_edges: p is NULL");
  TestPlan aliased;
  aliased.Copy(aliased.Buffer(kOutput, 0), aliased.Buffer(kInput, 0));
  aliased.SetAlias({1});
  const ricci_plan wrong = aliased.View();
  EXPECT_EQ(ricci::testing::Message(ricci_plan_edges(&wrong, nullptr, 0, nullptr, write)),
            "plan: output 0 takes the memory of input 1 of 1");
}

// ---- random plans against the definition ----
class RandomPlan {
 public:
  explicit RandomPlan(uint64_t seed) : random_(seed) {
    MakeBuffers();
    for (int n = Draw(24) + 2; n > 0; --n) AddStep(0);
  }
  TestPlan t;

 private:
  uint32_t Draw(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void MakeBuffers() {
    for (uint32_t i = 0; i < 3; ++i) readable_.push_back(t.Buffer(kInput, i));
    readable_.push_back(t.Buffer(RICCI_BUFFER_CONSTANT, 0));
    for (uint32_t i = 0; i < 3; ++i) Writable(t.Buffer(kOutput, i));
    for (int n = Draw(8) + 2; n > 0; --n) Writable(t.Arena(Draw(24), 8));
    if (Draw(2) != 0) t.SetAlias({static_cast<int32_t>(Draw(4)) - 1, -1, -1});
  }
  void Writable(uint32_t buffer) {
    readable_.push_back(buffer);
    writable_.push_back(buffer);
  }
  uint32_t Any() { return readable_[Draw(static_cast<uint32_t>(readable_.size()))]; }
  uint32_t AnyWritable() { return writable_[Draw(static_cast<uint32_t>(writable_.size()))]; }

  void AddStep(int depth) {
    switch (Draw(depth < 2 ? 10 : 8)) {
      case 8:
        t.Step(RICCI_STEP_WHILE, 0, {Any()});
        AddStep(depth + 1);
        t.Step(RICCI_STEP_COND);
        return AddBlockEnd(depth);
      case 9:
        t.Step(RICCI_STEP_CASE, 2, {Any()});
        AddStep(depth + 1);
        t.Step(RICCI_STEP_NEXT);
        return AddBlockEnd(depth);
      case 6:
        return t.Copy(AnyWritable(), Any());
      case 7:
        return t.Library({Any(), Any()}, {AnyWritable()}, AnyWritable());
      default:
        return AddKernel();
    }
  }
  void AddBlockEnd(int depth) {
    for (uint32_t n = Draw(3); n > 0; --n) AddStep(depth + 1);
    t.Step(RICCI_STEP_END);
  }
  void AddKernel() {
    std::vector<std::pair<uint32_t, uint32_t>> uses;
    for (uint32_t n = Draw(3); n > 0; --n) uses.push_back({Any(), kRead});
    uses.push_back({AnyWritable(), Draw(3) == 0 ? kBoth : kWrite});
    t.Kernel(uses);
  }

  std::mt19937_64 random_;
  std::vector<uint32_t> readable_, writable_;
};

// The accesses of each outermost step, by its number; 0 for a step inside another one.
struct Touched {
  bool outermost = false;
  std::vector<std::pair<uint32_t, uint32_t>> uses;  // buffer, access
};
std::vector<Touched> TouchedBy(const ricci_plan& p, const KernelViews& kernels) {
  std::vector<Touched> all(p.n_steps);
  uint32_t depth = 0, outermost = 0;
  for (uint32_t s = 0; s < p.n_steps; ++s) {
    const ricci_plan_step& step = p.steps[s];
    if (depth == 0) outermost = s;
    all[outermost].outermost = true;
    depth += step.kind == RICCI_STEP_WHILE || step.kind == RICCI_STEP_CASE;
    depth -= step.kind == RICCI_STEP_END;
    for (uint32_t i = 0; i < step.n_args; ++i) {
      uint32_t access = kRead;
      if (step.kind == RICCI_STEP_KERNEL) access = kernels.data()[step.index]->buffers[i].access;
      if (step.kind == RICCI_STEP_COPY && i == 0) access = kWrite;
      if (step.kind == RICCI_STEP_LIBRARY && i >= p.libraries[step.index].n_in) access = kWrite;
      all[outermost].uses.push_back({p.args[step.args + i], access});
    }
  }
  return all;
}

bool SameMemory(const ricci_plan& p, const ricci_plan_buffer& a, const ricci_plan_buffer& b) {
  if (a.kind == kArena && b.kind == kArena) return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  if (a.kind == b.kind) return a.index == b.index;
  const bool a_is_output = a.kind == kOutput;
  const ricci_plan_buffer &out = a_is_output ? a : b, &in = a_is_output ? b : a;
  if (out.kind != kOutput || in.kind != kInput || p.output_alias == nullptr) return false;
  return p.output_alias[out.index] == static_cast<int32_t>(in.index);
}

bool Conflict(const ricci_plan& p, const Touched& a, const Touched& b) {
  for (auto [x, how_x] : a.uses) {
    for (auto [y, how_y] : b.uses) {
      if (((how_x | how_y) & kWrite) != 0 && SameMemory(p, p.buffers[x], p.buffers[y])) return true;
    }
  }
  return false;
}

using Reach = std::vector<std::vector<bool>>;  // [earlier][later]
Reach Closure(Reach r) {
  for (size_t k = 0; k < r.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = k + 1; r[i][k] && j < r.size(); ++j) r[i][j] = r[i][j] || r[k][j];
    }
  }
  return r;
}

struct Orders {
  Reach want, got;  // by the definition and by the pairs, both transitively
};
Orders OrdersOf(const TestPlan& t) {
  const ricci_plan p = t.View();
  const KernelViews kernels(t.kernels());
  EXPECT_TRUE(Verify(p, kernels.data(), kernels.size()).ok());
  const std::vector<Touched> touched = TouchedBy(p, kernels);
  const Reach none(p.n_steps, std::vector<bool>(p.n_steps));
  Reach want = none, got = none;
  for (uint32_t a = 0; a < p.n_steps; ++a) {
    for (uint32_t b = a + 1; b < p.n_steps; ++b) want[a][b] = Conflict(p, touched[a], touched[b]);
  }
  std::pair<uint32_t, uint32_t> before{0, 0};  // later, earlier
  for (auto [earlier, later] : t.Find()) {
    EXPECT_LT(earlier, later);
    EXPECT_TRUE(touched[earlier].outermost && touched[later].outermost);
    EXPECT_LT(before, (std::pair{later, earlier})) << "not sorted";
    before = {later, earlier};
    got[earlier][later] = true;
  }
  return {Closure(want), Closure(got)};
}

TEST(PlanEdges, RandomPlansWaitForWhatTheDefinitionSays) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Orders orders = OrdersOf(RandomPlan(seed).t);
    ASSERT_EQ(orders.got, orders.want) << seed;
  }
}

// With this many readers, and writers of pieces, some steps wait that need not, but none that must wait does not.
TEST(PlanEdges, CrowdedMemoryMissesNoPair) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    TestPlan t;
    const uint32_t whole = t.Arena(0, 160);
    std::vector<uint32_t> pieces;
    for (uint32_t i = 0; i < 40; ++i) pieces.push_back(t.Arena(i * 4));
    for (uint32_t i = 0; i < 160; ++i) {
      const bool small = random() % 4 != 0, writes = random() % 200 < (i / 40 % 2 == 0 ? 1 : 150);
      t.Kernel({{small ? pieces[random() % pieces.size()] : whole, writes ? kWrite : kRead}});
    }
    const Orders orders = OrdersOf(t);
    for (size_t a = 0; a < orders.want.size(); ++a) {
      for (size_t b = a + 1; b < orders.want.size(); ++b) {
        ASSERT_TRUE(orders.got[a][b] || !orders.want[a][b]) << "seed " << seed << ": " << a << " before " << b;
      }
    }
  }
}

// ---- large plans: pairs are proportional to steps, and none is missed ----
// Whether the steps of each pair in `needed` are ordered, directly or through others.
void ExpectOrdered(const Edges& edges, const Edges& needed, uint32_t n_steps) {
  std::vector<std::vector<uint32_t>> before(n_steps);
  for (auto [earlier, later] : edges) before[later].push_back(earlier);
  for (auto [earlier, later] : needed) {
    std::vector<uint32_t> open{later};
    std::vector<bool> seen(n_steps);
    while (!open.empty() && !seen[earlier]) {
      const uint32_t s = open.back();
      open.pop_back();
      for (uint32_t b : before[s]) {
        if (b >= earlier && !seen[b]) open.push_back(b);
        seen[b] = true;
      }
    }
    EXPECT_TRUE(seen[earlier]) << earlier << " before " << later;
  }
}

constexpr uint32_t kSteps = 20'000;

// Memory that is reused many times, as in a long program.
TEST(PlanEdges, LongPlans) {
  TestPlan t;
  std::mt19937_64 random(7);
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 500; ++i) slots.push_back(t.Arena(i * 48, 64));  // each overlaps its neighbours
  const auto any = [&] { return slots[random() % slots.size()]; };
  for (uint32_t i = 0; i < kSteps; ++i) t.Kernel({{any(), kRead}, {any(), kRead}, {any(), kWrite}});
  EXPECT_LT(t.Find().size(), size_t{8} * kSteps);
}

// Ten thousand steps read one array; then as many smaller arrays take its memory, and one reads all of them.
TEST(PlanEdges, ManyReadersBeforeManyWriters) {
  TestPlan t;
  const uint32_t in = t.Buffer(kInput, 0), half = kSteps / 2, whole = t.Arena(0, uint64_t{8} * half);
  t.Kernel({{in, kRead}, {whole, kWrite}});
  for (uint32_t i = 0; i < half; ++i) t.Kernel({{whole, kRead}, {t.Buffer(kOutput, i), kWrite}});
  for (uint32_t i = 0; i < half; ++i) t.Kernel({{in, kRead}, {t.Arena(uint64_t{8} * i), kWrite}});
  for (uint32_t i = 0; i < 100; ++i) t.Kernel({{whole, kRead}, {t.Buffer(kOutput, half + i), kWrite}});
  const Edges edges = t.Find();
  EXPECT_LT(edges.size(), size_t{34} * kSteps);
  const uint32_t last = kSteps + 1;
  ExpectOrdered(edges, {{0, 1}, {0, half}, {1, half + 1}, {half, kSteps}, {half + 1, last}, {kSteps, last + 99}},
                static_cast<uint32_t>(t.plan().steps.size()));
}

}  // namespace
}  // namespace ricci::kernel
