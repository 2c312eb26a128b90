// A rewriter adds what a value takes and nothing else, each once, however long the chain is.
#include "trace/rewriter.h"

#include "ir/program_fixture.h"

namespace ricci { inline namespace v0 { namespace testing { namespace {

class RewriterTest : public ProgramTest {
 protected:
  void SetUp() override {
    ricci_prim_def def{};
    def.hdr.size = sizeof def;
    def.name = {"step", 4};
    def.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
      return base::ToAbi(trace::FromAbi(b)->SetOutTypes({op->in_types, 1}));
    };
    ASSERT_TRUE(registry().Add(def).ok());
  }
  std::unique_ptr<trace::Builder> New(size_t n_params) {
    const std::vector<ir::TypeId> types(n_params, *registry().vocabulary().types.Intern(RICCI_F32, {}));
    return *trace::Builder::Create(registry(), "f", types);
  }
  // A chain of `n` steps from parameter 0; parameter 1 has a step of its own.
  ir::ProgramRef Chain(int n) {
    auto b = New(2);
    trace::Val v = b->param(0);
    for (int i = 0; i < n; ++i) v = *b->Emit1("step", {}, {&v, 1});
    const trace::Val other = b->param(1), results[] = {v, *b->Emit1("step", {}, {&other, 1})};
    return *b->Finish(results);
  }
};

TEST_F(RewriterTest, CopiesAProgram) {
  const ir::ProgramRef f = Chain(3);
  auto b = New(2);
  trace::Rewriter values(*f, *b);
  values.SetParams(b->params());
  ASSERT_TRUE(values.AddConstants().ok());
  ASSERT_TRUE(values.CopyAll().ok());
  const ir::ProgramRef copy = *b->Finish(values.Results());
  EXPECT_EQ(copy->equations.size(), 4u);
  EXPECT_EQ(copy->n_results(), 2u);
}

TEST_F(RewriterTest, AddsWhatIsNeededOnceAndWithoutRecursion) {
  constexpr int kLong = 200'000;  // frames of a recursion would not fit a stack
  const ir::ProgramRef f = Chain(kLong);
  auto b = New(2);
  trace::Rewriter values(*f, *b);
  values.SetParams(b->params());
  ASSERT_TRUE(values.Need(f->results[0]).ok());
  EXPECT_EQ(b->program().equations.size(), static_cast<size_t>(kLong));
  ASSERT_TRUE(values.Need(f->results[0]).ok());
  EXPECT_EQ(b->program().equations.size(), static_cast<size_t>(kLong));
  EXPECT_EQ(values[f->results[1]], trace::kNone);
}

TEST_F(RewriterTest, StopsAtGivenValues) {
  const ir::ProgramRef f = Chain(5);
  auto b = New(1);
  trace::Rewriter values(*f, *b);
  const ir::ValueId third = f->equations[2].result(0);
  int asked = 0;
  const auto given = [&](ir::ValueId v) -> absl::StatusOr<trace::Val> {
    ++asked;
    return v == third ? b->param(0) : trace::kNone;
  };
  ASSERT_TRUE(values.Need(f->results[0], given).ok());
  EXPECT_EQ(b->program().equations.size(), 2u);
  EXPECT_EQ(asked, 3);
}

TEST_F(RewriterTest, AParameterWithoutValueIsAnInvariant) {
  const ir::ProgramRef f = Chain(2);
  auto b = New(0);
  trace::Rewriter values(*f, *b);
  EXPECT_EQ(values.Need(f->results[0]).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}}}  // namespace ricci::v0::testing
