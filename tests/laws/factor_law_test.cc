// The law of factors: the claim of each kind is compared with what parts of the operation compute, and a kind that
// claims less than is true is refused. The rows here have only a type and a decomposition, so no other law fails.
#include <gtest/gtest.h>

#include <deque>

#include "ricci/check.h"
#include "ricci/plugin.hpp"
#include "ricci/ricci.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

const Shape kLast = {1};

// ---- operations on a matrix `a b` ----
ArrayTypes RowsType(const Eqn& e) { return e.in(0).WithShape(e.in(0).shape().first(1)); }
ArrayTypes SameType(const Eqn& e) { return e.in(0); }
ArrayTypes TwiceType(const Eqn& e) { return {e.in(0), e.in(0).WithShape(e.in(0).shape().first(1))}; }

template <Value (*reduce)(const Value&, Dims)>
Values Reduced(const Eqn&, std::span<const Value> in) {
  return {reduce(in[0], kLast)};
}
template <bool reverse>
Values Accumulated(const Eqn&, std::span<const Value> in) {
  return {lax::cumsum(in[0], 1, reverse)};
}
Values Turned(const Eqn&, std::span<const Value> in) { return {lax::rev(in[0], kLast)}; }
Values Squared(const Eqn&, std::span<const Value> in) { return {lax::mul(in[0], in[0])}; }
Values SquaredAndSummed(const Eqn&, std::span<const Value> in) {
  return {lax::mul(in[0], in[0]), lax::reduce_sum(in[0], kLast)};
}
// Each element and its neighbours, zero beyond the ends.
Values Smoothed(const Eqn& e, std::span<const Value> in) {
  const auto moved = [&](int64_t by) {
    return lax::pad(in[0], lax::full(e.builder(), e.in(0).WithShape({}), 0.0), Shape{0, by}, Shape{0, -by},
                    Shape{0, 0});
  };
  return {lax::add(in[0], lax::add(moved(1), moved(-1)))};
}
// Each element and its place.
Values Indexed(const Eqn& e, std::span<const Value> in) {
  return {lax::add(in[0], lax::iota(e.builder(), e.in(0).dtype(), e.in(0).shape(), 1))};
}

class FactorLaw : public ::testing::Test {
 protected:
  // The message of the check for such a row, without the names of row and law; empty if all laws hold.
  std::string Told(DecomposeRule decompose, TypeRule type, const char* factors, const char* examples) {
    const std::string& name = names_.emplace_back("test.row" + std::to_string(names_.size()));
    Row& row = rows_.emplace_back();
    row.name = name;
    row.type = type;
    row.factors = factors;
    row.lowerings = {&lowerings_.emplace_back(Lowering{.decompose = decompose}), 1};
    row.missing = "jvp, transpose, batch: not of interest";
    row.examples = examples;
    Register(runner_.ctx(), row);
    ricci_check_opts o{};
    o.hdr.size = sizeof o;
    o.device = {"ref", 3};
    size_t failing = 0;
    o.sink = &failing;
    o.law = [](void* sink, const ricci_check_law* law) { *static_cast<size_t*>(sink) += law->failure.len != 0; };
    ricci_status* s = ricci_check_primitive(runner_.ctx(), name.data(), name.size(), nullptr, 0, &o);
    if (s == nullptr) return "";
    EXPECT_EQ(failing, 1u) << factors;  // no other law sees it
    const std::string message = Message(s), front = name + ": example 0: law factors: " + name + " `" + factors + "`: ";
    return message.starts_with(front) ? message.substr(front.size()) : message;
  }
  std::string Reduction(DecomposeRule decompose, const char* factors, const char* examples = "(f64[3,5])") {
    return Told(decompose, RowsType, factors, examples);
  }
  std::string Shaped(DecomposeRule decompose, const char* factors, const char* examples = "(f64[3,7])") {
    return Told(decompose, SameType, factors, examples);
  }

  std::deque<std::string> names_;
  std::deque<Row> rows_;  // they outlive the context
  std::deque<Lowering> lowerings_;
  ProgramRunner runner_;
};

constexpr char kInts[] = "(i32[3,5] in 0..50)";

// ---- reduced ----
TEST_F(FactorLaw, RightReductionsPass) {
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a; sum b"), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a; sum b", kInts), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_prod>, "a b -> a; prod b"), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_max>, "a b -> a; max b"), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_min>, "a b -> a; min b"), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_and>, "a b -> a; and b", kInts), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_or>, "a b -> a; or b", kInts), "");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_xor>, "a b -> a; xor b", kInts), "");
}
TEST_F(FactorLaw, AnotherReductionIsSeen) {
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a; max b").substr(0, 84),
            "factor b is max, but its parts do not combine in that way: of result 0, element 0 is");
  for (const char* kind : {"sum", "prod", "min", "and", "or", "xor"}) {
    const std::string text = std::string("a b -> a; ") + kind + " b";
    EXPECT_NE(Reduction(Reduced<lax::reduce_max>, text.c_str(), kInts), "") << kind;
  }
  for (const char* kind : {"sum", "prod", "max", "and", "or", "xor"}) {
    const std::string text = std::string("a b -> a; ") + kind + " b";
    EXPECT_NE(Reduction(Reduced<lax::reduce_min>, text.c_str(), kInts), "") << kind;
  }
  for (const char* kind : {"sum", "prod", "max", "min", "or", "xor"}) {
    const std::string text = std::string("a b -> a; ") + kind + " b";
    EXPECT_NE(Reduction(Reduced<lax::reduce_and>, text.c_str(), kInts), "") << kind;
  }
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a; xor b"),
            "factor b is xor, but its parts do not combine in that way: result 0 cannot be combined in that way");
}

// ---- whole: a factor that can be split must be declared so ----
TEST_F(FactorLaw, WholeForAReductionIsSeen) {
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a; whole b"),
            "factor b is whole, but its parts combine by sum; write `sum b`");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_min>, "a b -> a; whole b"),
            "factor b is whole, but its parts combine by min; write `min b`");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_xor>, "a b -> a; whole b", kInts),
            "factor b is whole, but its parts combine by xor; write `xor b`");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_prod>, "a b -> a; seq b"),
            "factor b is seq, but its parts combine by prod; write `prod b`");
}
TEST_F(FactorLaw, WholeForAParallelFactorIsSeen) {
  EXPECT_EQ(Shaped(Squared, "a b -> a b; whole b"),
            "factor b is whole, but the result of the whole is that of the parts; give it no kind");
  EXPECT_EQ(Shaped(Squared, "a b -> a b; seq b"),
            "factor b is seq, but the result of the whole is that of the parts; give it no kind");
  EXPECT_EQ(Shaped(Squared, "a b -> a b; window b"),
            "factor b is window, but the result of the whole is that of the parts; give it no kind");
  EXPECT_EQ(Shaped(Squared, "a b -> a b; indexed b"),
            "factor b is indexed, but the result of the whole is that of the parts; give it no kind");
  EXPECT_EQ(Shaped(Squared, "a b -> a b"), "");
  EXPECT_EQ(Shaped(Turned, "a b -> a b; whole b"), "");
  EXPECT_EQ(Shaped(Turned, "a b -> a b; whole b", "(f64[1,2])"), "");
}

// ---- parallel, seq, window, indexed ----
TEST_F(FactorLaw, DependentPointsAreSeen) {
  EXPECT_EQ(Shaped(Turned, "a b -> a b").substr(0, 102),
            "factor b has no kind, but the result of the whole is not that of the parts: the first part's result 0,");
  EXPECT_NE(Shaped(Accumulated<false>, "a b -> a b"), "");
  EXPECT_NE(Shaped(Smoothed, "a b -> a b"), "");
  EXPECT_NE(Shaped(Indexed, "a b -> a b"), "");
}
TEST_F(FactorLaw, ResultsWithoutTheFactorAreTheSame) {
  EXPECT_EQ(Told(SquaredAndSummed, TwiceType, "a b -> a b, a", "(f64[3,4])").substr(0, 112),
            "factor b has no kind, but the result of the whole is not that of the parts: the first part's result 1, "
            "element 0");
}
TEST_F(FactorLaw, Sequences) {
  EXPECT_EQ(Shaped(Accumulated<false>, "a b -> a b; seq b"), "");
  EXPECT_EQ(Shaped(Accumulated<true>, "a b -> a b; seq b"), "");
  EXPECT_EQ(Shaped(Turned, "a b -> a b; seq b"),
            "factor b is seq, but neither half of the results can be computed without the other half of the operands: "
            "result 0 "
            "changes from 0 to 2, and result 0 changes from 3 to 6");
}
TEST_F(FactorLaw, Windows) {
  EXPECT_EQ(Shaped(Smoothed, "a b -> a b; window b"), "");
  EXPECT_EQ(Shaped(Turned, "a b -> a b; window b"),
            "factor b is window, but it reaches from end to end (examples must be larger than the window): result 0 "
            "changes from 0 to 0");
}
TEST_F(FactorLaw, IndexedPoints) {
  EXPECT_EQ(Shaped(Indexed, "a b -> a b; indexed b"), "");
  EXPECT_EQ(Shaped(Smoothed, "a b -> a b; indexed b"),
            "factor b is indexed, but its points need each other: result 0 changes from 0 to 2");
}

// ---- texts ----
TEST_F(FactorLaw, TextsThatSayNothingSensible) {
  const auto told = [&](const char* text) { return Shaped(Squared, text); };
  EXPECT_EQ(told("a b"), "it has no `->`");
  EXPECT_EQ(told("a b -> a b -> a"), "it has more than one `->`");
  EXPECT_EQ(told("a b, c -> a b"), "2 lists for 1 operand");
  EXPECT_EQ(told("a b -> a b c"), "3 factors for result 0 of rank 2");
  EXPECT_EQ(told("a -> a a"), "factor a is twice in result 0");
  EXPECT_EQ(told("a b -> b a"), "factor b is 7, and 3 in result 0");
  EXPECT_EQ(told("a b -> a b; sum"), "a kind names at least one factor");
  EXPECT_EQ(told("a b -> a b; mean b"), "mean is not a kind of factor");
  EXPECT_EQ(told("a b -> a b; whole c"), "whole of c, which is not a factor");
  EXPECT_EQ(told("a b -> a b; whole b; seq b"), "factor b is whole and seq");
  EXPECT_EQ(told("a b -> a b; sum b"), "factor b is in a result, so it is not combined by sum");
  EXPECT_EQ(Reduction(Reduced<lax::reduce_sum>, "a b -> a"),
            "factor b is in no result, so it needs a kind, such as `sum b` or `whole b`");
}

}  // namespace
}  // namespace ricci::testing
