// The factors of an equation are computed once, stay with its program, and are copied with the equation.
#include "trace/equation_factors.h"

#include <thread>

#include "ir/program_fixture.h"

namespace ricci { inline namespace v0 { namespace testing { namespace {

class EquationFactors : public ProgramTest {
 protected:
  // States the factors of `prim`, an operation from one array to another of its type, as `text` at that time.
  void Tell(std::string_view name, uint32_t flags = 0) {
    ricci_prim_def def{};
    def.hdr.size = sizeof def;
    def.hdr.flags = flags;
    def.name = {name.data(), name.size()};
    def.self = this;
    def.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
      return base::ToAbi(trace::FromAbi(b)->SetOutTypes({op->in_types, 1}));
    };
    def.factors_of = [](void* self, const ricci_op*, void* sink, void (*write)(void*, const char*, size_t)) {
      auto& test = *static_cast<EquationFactors*>(self);
      ++test.asked_;
      if (test.fails_) return base::ToAbi(absl::InternalError("told: out of order"));
      write(sink, test.text_.data(), test.text_.size());
      return static_cast<ricci_status*>(nullptr);
    };
    ASSERT_TRUE(registry().Add(def).ok());
  }
  static ir::FactorsRef Of(const ir::ProgramRef& f, uint32_t e = 0) {
    auto factors = trace::FactorsOf(*f, e);
    EXPECT_TRUE(factors.ok()) << factors.status();
    return factors.ok() ? *factors : nullptr;
  }

  std::string text_ = "a b -> a b; seq b";
  bool fails_ = false;
  std::atomic<int> asked_ = 0;
};

constexpr char kTwice[] = R"(program f(%x: f32[2,3]) {
  %y: f32[2,3] = told(%x)
  %z: f32[2,3] = told(%y)
  return %z
})";

TEST_F(EquationFactors, EachEquationIsAskedOnce) {
  Tell("told");
  const ir::ProgramRef f = Parse(kTwice);
  const ir::FactorsRef second = Of(f, 1);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->factors[1].kind, ir::FactorKind::kSeq);
  EXPECT_EQ(second->factors[1].size, 3);
  EXPECT_EQ(Of(f, 1), second);
  EXPECT_EQ(asked_, 1);
  EXPECT_NE(Of(f, 0), second);
  EXPECT_EQ(asked_, 2);
}

TEST_F(EquationFactors, CopiesAreNotAskedAgain) {
  Tell("told");
  const ir::ProgramRef f = Parse(kTwice);
  const ir::FactorsRef first = Of(f);
  auto b = trace::Builder::Create(registry(), "g", {{f->param_types[0]}});
  ASSERT_TRUE(b.ok());
  const auto results = (*b)->Inline(*f, (*b)->params());
  ASSERT_TRUE(results.ok()) << results.status();
  const auto g = (*b)->Finish(*results);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(Of(*g), first);
  EXPECT_EQ(asked_, 1);
  EXPECT_NE(Of(*g, 1), nullptr);
  EXPECT_EQ(asked_, 2);
}

TEST_F(EquationFactors, CopiesOfOtherTypesAreAsked) {
  Tell("told");
  const ir::ProgramRef f = Parse(kTwice), other = Parse("program g(%x: f32[4,5]) { return %x }");
  Of(f);
  auto b = trace::Builder::Create(registry(), "g", {{other->param_types[0]}});
  ASSERT_TRUE(b.ok());
  const auto results = (*b)->Copy(*f, f->equations[0], (*b)->params());
  ASSERT_TRUE(results.ok()) << results.status();
  const auto g = (*b)->Finish(*results);
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ(Of(*g)->factors[1].size, 5);
  EXPECT_EQ(asked_, 2);
}

TEST_F(EquationFactors, ThreadsMayAskAtOnce) {
  Tell("told");
  const ir::ProgramRef f = Parse(kTwice);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (uint32_t e : {0u, 1u, 0u}) EXPECT_EQ(Of(f, e)->factors[1].size, 3);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(asked_, 8);
}

TEST_F(EquationFactors, NothingSaidIsKeptToo) {
  Tell("told");
  text_ = "";
  const ir::ProgramRef f = Parse(kTwice);
  EXPECT_EQ(Of(f), nullptr);
  EXPECT_EQ(Of(f), nullptr);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(Of(Parse("program f(%x: f32[2]) { %y: f32[2] = mix(%x) return %y }")), nullptr);
}

TEST_F(EquationFactors, WhatIsWrongIsToldInTheResult) {
  Tell("told");
  text_ = "a -> a";
  const ir::ProgramRef f = Parse(kTwice);
  EXPECT_EQ(Of(f)->wrong.message(), "`a -> a`: 1 factor for operand 0 of rank 2");
  EXPECT_TRUE(Of(f)->factors.empty());
  EXPECT_EQ(asked_, 1);
}

TEST_F(EquationFactors, AnErrorOfTheCallbackIsNotKept) {
  Tell("told");
  fails_ = true;
  const ir::ProgramRef f = Parse(kTwice);
  EXPECT_EQ(trace::FactorsOf(*f, 0).status().message(), "told: rule factors_of of the host: out of order");
  fails_ = false;
  EXPECT_NE(Of(f), nullptr);
}

TEST_F(EquationFactors, ARowThatReplacesAnotherIsAsked) {
  Tell("told");
  const ir::ProgramRef f = Parse(kTwice);
  const ir::FactorsRef before = Of(f);
  text_ = "a b -> a b; whole b";
  Tell("told", RICCI_PRIM_OVERRIDE);
  EXPECT_EQ(Of(f)->factors[1].kind, ir::FactorKind::kWhole);
  EXPECT_EQ(before->factors[1].kind, ir::FactorKind::kSeq);
}

TEST_F(EquationFactors, Elementwise) {
  const ir::ProgramRef f = Parse("program f(%x: f32[2,3], %s: f32[]) { %y: f32[2,3] = mix(%x, %s) return %y }");
  const ir::FactorsRef factors = trace::ElementwiseFactors(*f, f->equations[0]);
  EXPECT_EQ(factors->in, (ir::FactorLists{{0, 1}, {}}));
  EXPECT_EQ(factors->out, (ir::FactorLists{{0, 1}}));
  EXPECT_EQ(factors->factors[1].size, 3);
  EXPECT_EQ(factors->factors[1].kind, ir::FactorKind::kParallel);
}

}  // namespace
}}}  // namespace ricci::v0::testing
