// A plugin written with the C++ binding: its rows work like the built-in ones, and no exception reaches the core.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>

#include "lax/optimized_run.h"
#include "lax/traced_function.h"

namespace ricci::testing { namespace {

// ---- a primitive with all its rules: x^3 ----
Value CubeDerivative(const Value& x, const Value&) { return lax::mul(3.0, lax::square(x)); }
Scalar Cube(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0] * in[0]; }

// ---- rules that fail ----
ArrayTypes ThrowsError(const Eqn& e) { e.Fail("never fits ", e.in(0)); }
ArrayTypes ThrowsStandard(const Eqn&) { throw std::runtime_error("broken rule"); }
ArrayTypes ThrowsBadAlloc(const Eqn&) { throw std::bad_alloc(); }
ArrayTypes ThrowsNumber(const Eqn&) { throw 7; }
ArrayTypes ReadsUnknownAttribute(const Eqn& e) { return e.in(static_cast<uint32_t>(e.integer("nothing"))); }
void FailingJvp(const Eqn& e, Jvp&) { throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": no tangent today")); }
void EmptyJvp(const Eqn&, Jvp&) {}

// ---- several lowerings, each with a different result ----
template <auto added>
Scalar Plus(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return in[0] + added;
}
bool IsVector(const Eqn& e) { return e.in(0).rank() == 1; }
bool IsPair(const Eqn& e) { return IsVector(e) && e.in(0).dim(0) == 2; }
ricci_status* PlanPlus100(void*, const ricci_op*, ricci_library_plan*) { return nullptr; }
ricci_status* LaunchPlus100(void*, const ricci_launch* l) {
  for (int i = 0; i < 2; ++i) static_cast<double*>(l->out[0])[i] = static_cast<const double*>(l->in[0])[i] + 100;
  return nullptr;
}
constexpr ricci_library kPlus100 = {{sizeof(ricci_library), 0, nullptr}, PlanPlus100, LaunchPlus100, nullptr};
constexpr Lowering kSeveral[] = {{.scalar = Plus<1>},
                                 {.scalar = Plus<2>},
                                 {.scalar = Plus<3>, .target = "abacus", .priority = 9},
                                 {.scalar = Plus<10>, .match = IsVector, .priority = 1},
                                 {.library = &kPlus100, .match = IsPair, .priority = 2}};

// ---- two results ----
ArrayTypes Twice(const Eqn& e) { return {e.in(0), e.in(0)}; }
Scalar Same(KernelBuilder& k, const Eqn&, uint32_t, std::span<const Scalar> at) { return k.Operand(0).Load(at); }
template <size_t n>
Values Simpler(const Eqn&, std::span<const Value> in) {
  return Values(n, in[0]);
}

// ---- results that need some of the operands: 2x, x + y ----
ArrayTypes Sides(const Eqn& e) { return {e.in(0), e.in(0)}; }
Scalar Side(KernelBuilder& k, const Eqn&, uint32_t result, std::span<const Scalar> at) {
  const Scalar x = k.Operand(0).Load(at);
  return result == 0 ? x + x : x + k.Operand(1).Load(at);
}
void SplitSides(const Eqn&, PartialEval& a) {
  a.out_is_known = {a.is_known[0], static_cast<uint8_t>(a.is_known[0] && a.is_known[1])};
  const auto here = [&](size_t i) { return a.is_known[i] && !a.out_is_known[1] ? a.Residual(a.in[i]) : a.in[i]; };
  a.out = {lax::mul(2.0, a.in[0]), lax::add(here(0), here(1))};
}
void DropSide(const Eqn& e, DeadCode& a) {
  a.used_in = {1, a.used_out[1]};
  if (a.in.empty()) return;
  a.out = a.used_out[1] ? e.EmitN(a.in) : Values{lax::mul(2.0, a.in[0]), {}};
}

// ---- lists of another length than the core has places for, and reads beyond the ends ----
template <size_t n>
void JvpOfResults(const Eqn&, Jvp& a) {
  a.out.assign(n, a.primals[0]);
}
template <size_t n>
void JvpOfTangents(const Eqn&, Jvp& a) {
  a.out = a.primals;
  a.out_tangents.assign(n, a.tangents[0]);
}
template <size_t n>
void TransposeOf(const Eqn&, Transpose& a) {
  a.in_cts.assign(n, a.cts[0]);
}
template <size_t n>
void BatchOf(const Eqn&, Batch& a) {
  a.out.assign(n, a.in[0]);
}
template <size_t results, size_t flags>
void SplitOf(const Eqn&, PartialEval& a) {
  a.out.assign(results, a.in[0]);
  a.out_is_known.assign(flags, a.is_known[0]);
}
template <size_t results, size_t flags>
void DropOf(const Eqn&, DeadCode& a) {
  a.used_in.assign(flags, 1);
  if (!a.in.empty()) a.out.assign(results, a.in[0]);
}
ArrayTypes ReadsOperand9(const Eqn& e) { return e.in(9); }
ArrayTypes ReadsResult(const Eqn& e) { return e.out(); }
Row Miscounting(std::string_view name) {
  return {.name = name, .type = rules::Same<1, kFloats>, .lowerings = lower::Scalar<Plus<0>>};
}

constexpr Row kRows[] = {
    {.name = "test.sides", .type = Sides, .partial_eval = SplitSides, .dce = DropSide, .lowerings = lower::Index<Side>},
    {.name = "test.cube",
     .type = rules::Same<1, kFloats>,
     .jvp = rules::Derivative<CubeDerivative>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Cube>},
    {.name = "test.error", .type = ThrowsError},
    {.name = "test.standard", .type = ThrowsStandard},
    {.name = "test.bad_alloc", .type = ThrowsBadAlloc},
    {.name = "test.number", .type = ThrowsNumber},
    {.name = "test.attribute", .type = ReadsUnknownAttribute},
    {.name = "test.operand_9", .type = ReadsOperand9},
    {.name = "test.early", .type = ReadsResult},
    {.name = "test.failing_jvp", .type = rules::Same<1, kFloats>, .jvp = FailingJvp},
    {.name = "test.empty_jvp", .type = rules::Same<1, kFloats>, .jvp = EmptyJvp},
    {.name = "test.no_jvp", .type = rules::Same<1, kFloats>, .missing = "jvp: it has no tangent"},
    {.name = "test.several", .type = rules::Same<1, kFloats>, .lowerings = kSeveral},
    {.name = "test.plus_2_to_63", .type = rules::Same<1, kFloats>, .lowerings = lower::Scalar<Plus<uint64_t{1} << 63>>},
    {.name = "test.both", .type = Twice, .simplify = Simpler<2>, .lowerings = lower::Index<Same>},
    {.name = "test.one", .type = Twice, .simplify = Simpler<1>, .lowerings = lower::Index<Same>},
};
RowList Rows() { return kRows; }
RowList (*const kTables[])() = {Rows};
ricci_status* Attach(void*, ricci_ctx* ctx) { return AttachRows(ctx, kTables); }
constexpr ricci_plugin kPlugin = Describe("test", "1", Attach);
ricci_status* Query(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kPlugin;
  return nullptr;
}

class PluginRows : public ::testing::Test {
 protected:
  PluginRows() { Check(ricci_context_add_plugin(bench_.context(), Query)); }
  Program Trace(std::string_view primitive) const {
    return bench_.Trace({bench_.Type(DType::kF64, {2})},
                        [&](const Values& in) { return Values{Emit1(primitive, in)}; });
  }
  Program JvpOf(const Program& f) const {
    const std::vector<uint8_t> active(bench_.Params(f).size(), 1);
    ricci_program* out = nullptr;
    Check(ricci_jvp(f.get(), active.data(), static_cast<uint32_t>(active.size()), &out));
    return Own(out);
  }
  // The parameters that the results with used[i] need, and these results.
  using Pruned = std::pair<std::vector<uint8_t>, std::vector<Numbers>>;
  Pruned PrunedRun(const Program& f, const std::vector<uint8_t>& used, const std::vector<Numbers>& in) const {
    std::vector<uint8_t> params(in.size());
    ricci_program* out = nullptr;
    Check(ricci_dce(f.get(), used.data(), static_cast<uint32_t>(used.size()), params.data(), &out));
    return {params, bench_.Run(Own(out), in)};
  }
  template <typename F>
  static void ExpectError(uint32_t code, std::string_view message, F&& f) {
    try {
      f();
      ADD_FAILURE() << "no error, expected: " << message;
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), message);
      EXPECT_EQ(e.code(), code);
    }
  }

  Bench bench_;
};

TEST_F(PluginRows, RunAndDifferentiate) {
  const Program f = Trace("test.cube");
  EXPECT_EQ(bench_.Run(f, {{2, -1}})[0], (Numbers{8, -1}));
  EXPECT_EQ(bench_.Run(JvpOf(f), {{2, -1}, {1, 10}})[1], (Numbers{12, 30}));
  EXPECT_EQ(bench_.Run(JvpOf(JvpOf(f)), {{2, -1}, {1, 1}, {1, 1}, {0, 0}}).back(), (Numbers{12, -6}));
}

TEST_F(PluginRows, TheLoweringOfTheHighestPriorityThatMatches) {
  const auto run = [&](const Shape& shape, const Numbers& x) {
    const Program f = bench_.Trace({bench_.Type(DType::kF64, shape)},
                                   [](const Values& in) { return Values{Emit1("test.several", in)}; });
    return bench_.Run(f, {x})[0];
  };
  EXPECT_EQ(run({2}, {1, 2}), (Numbers{101, 102}));
  EXPECT_EQ(run({3}, {1, 2, 3}), (Numbers{11, 12, 13}));
  EXPECT_EQ(run({1, 1}, {1}), (Numbers{2}));
}

TEST_F(PluginRows, UnsignedNumbersAboveInt64KeepTheirSign) {
  EXPECT_EQ(bench_.Run(Trace("test.plus_2_to_63"), {{0, 0x1p63}})[0], (Numbers{0x1p63, 0x1p64}));
  ExpectError(RICCI_INVALID_ARGUMENT, "the attribute axis is 9223372036854775808; the largest is 9223372036854775807",
              [] { Attr("axis", uint64_t{1} << 63); });
}

TEST_F(PluginRows, ASimplificationGivesAllResults) {
  const auto optimized = [&](std::string_view primitive) {
    const Program f =
        bench_.Trace({bench_.Type(DType::kF64, {2})}, [&](const Values& in) { return EmitN(2, primitive, in); });
    double x[] = {3, 4}, y[2] = {}, z[2] = {};
    void *in[] = {x}, *out[] = {y, z};
    RunOptimized(f.get(), in, out);
    return Numbers{y[0], y[1], z[0], z[1]};
  };
  EXPECT_EQ(optimized("test.both"), (Numbers{3, 4, 3, 4}));
  ExpectError(RICCI_INTERNAL, "test.one: the simplification returns 1 result, not 2", [&] { optimized("test.one"); });
}

TEST_F(PluginRows, PartialEvaluationOfEachResult) {
  const ArrayType x = bench_.Type(DType::kF64, {2});
  const Program f = bench_.Trace({x, x}, [](const Values& in) { return EmitN(2, "test.sides", in); });
  const uint8_t known[] = {1, 0};
  uint8_t out_known[2] = {};
  uint32_t residuals = 0;
  ricci_program *first = nullptr, *second = nullptr;
  Check(ricci_partial_eval(f.get(), known, 2, nullptr, out_known, &residuals, &first, &second));
  const Program known_half = Own(first), unknown_half = Own(second);
  EXPECT_EQ(out_known[0], 1);
  EXPECT_EQ(out_known[1], 0);
  EXPECT_EQ(residuals, 1u);
  EXPECT_EQ(bench_.Run(known_half, {{1, 2}}), (std::vector<Numbers>{{2, 4}, {1, 2}}));
  EXPECT_EQ(bench_.Run(unknown_half, {{1, 2}, {10, 20}}), (std::vector<Numbers>{{11, 22}}));
}

TEST_F(PluginRows, DeadCodeOfEachResult) {
  const ArrayType x = bench_.Type(DType::kF64, {2});
  const Program f = bench_.Trace({x, x}, [](const Values& in) { return EmitN(2, "test.sides", in); });
  const std::vector<Numbers> in{{1, 2}, {3, 4}};
  EXPECT_EQ(PrunedRun(f, {1, 0}, in), Pruned({1, 0}, {{2, 4}}));
  EXPECT_EQ(PrunedRun(f, {0, 1}, in), Pruned({1, 1}, {{4, 6}}));
}

// An operand that is sorted along but not used is not moved.
TEST_F(PluginRows, SortDropsPassengers) {
  const ArrayType x = bench_.Type(DType::kF64, {3});
  const Program f = bench_.Trace({x, x, x}, [](const Values& in) {
    return EmitN(3, "sort", in, {{"dimension", 0}, {"num_keys", 1}, {"is_stable", true}});
  });
  const std::vector<Numbers> in{{3, 1, 2}, {30, 10, 20}, {5, 6, 7}};
  EXPECT_EQ(PrunedRun(f, {1, 0, 0}, in), Pruned({1, 0, 0}, {{1, 2, 3}}));
  EXPECT_EQ(PrunedRun(f, {0, 0, 1}, in), Pruned({1, 0, 1}, {{6, 7, 5}}));
  EXPECT_EQ(PrunedRun(f, {1, 1, 1}, in), Pruned({1, 1, 1}, {{1, 2, 3}, {10, 20, 30}, {6, 7, 5}}));
}

TEST_F(PluginRows, WhatRulesThrowBecomesAStatus) {
  ExpectError(RICCI_INVALID_ARGUMENT, "test.error: never fits f64[2]", [&] { Trace("test.error"); });
  ExpectError(RICCI_INTERNAL, "test.standard: broken rule", [&] { Trace("test.standard"); });
  ExpectError(RICCI_RESOURCE_EXHAUSTED, "test.bad_alloc: out of memory", [&] { Trace("test.bad_alloc"); });
  ExpectError(RICCI_INTERNAL, "test.number: it threw something that is not a std::exception",
              [&] { Trace("test.number"); });
  ExpectError(RICCI_INTERNAL, "test.attribute: the rule reads attribute nothing, which the row lacks",
              [&] { Trace("test.attribute"); });
}

// A list that a rule has made longer must not be written over what follows it in the core.
TEST_F(PluginRows, ListsOfAnotherLengthAreErrors) {
  struct Case {
    std::string said;
    std::function<void(Row&)> set;
    std::function<void(const Program&)> use;
  };
  const auto jvp = [&](const Program& f) { JvpOf(f); };
  const auto transpose = [&](const Program& f) {
    const uint8_t linear = 1;
    ricci_program* out = nullptr;
    Check(ricci_linear_transpose(f.get(), &linear, 1, nullptr, nullptr, &out));
    Own(out);
  };
  const auto batch = [&](const Program& f) {
    const uint8_t batched = 1;
    uint8_t out_batched = 0;
    ricci_program* out = nullptr;
    Check(ricci_batch(f.get(), &batched, 1, 3, nullptr, &out_batched, &out));
    Own(out);
  };
  const auto split = [&](const Program& f) {
    const uint8_t known = 0;
    uint8_t out_known = 0;
    uint32_t residuals = 0;
    ricci_program *first = nullptr, *second = nullptr;
    Check(ricci_partial_eval(f.get(), &known, 1, nullptr, &out_known, &residuals, &first, &second));
    Own(first), Own(second);
  };
  const auto drop = [&](const Program& f) { PrunedRun(f, {1}, {{1, 2}}); };
  const Case cases[] = {
      {"rule jvp returns 0 results, not 1", [](Row& r) { r.jvp = JvpOfResults<0>; }, jvp},
      {"rule jvp returns 3000 results, not 1", [](Row& r) { r.jvp = JvpOfResults<3000>; }, jvp},
      {"rule jvp returns 0 tangents, not 1", [](Row& r) { r.jvp = JvpOfTangents<0>; }, jvp},
      {"rule jvp returns 3000 tangents, not 1", [](Row& r) { r.jvp = JvpOfTangents<3000>; }, jvp},
      {"rule transpose returns 0 cotangents, not 1", [](Row& r) { r.transpose = TransposeOf<0>; }, transpose},
      {"rule transpose returns 3000 cotangents, not 1", [](Row& r) { r.transpose = TransposeOf<3000>; }, transpose},
      {"rule batch returns 0 results, not 1", [](Row& r) { r.batch = BatchOf<0>; }, batch},
      {"rule batch returns 3000 results, not 1", [](Row& r) { r.batch = BatchOf<3000>; }, batch},
      {"rule partial_eval returns 0 results, not 1", [](Row& r) { r.partial_eval = SplitOf<0, 1>; }, split},
      {"rule partial_eval returns 3000 flags, not 1", [](Row& r) { r.partial_eval = SplitOf<1, 3000>; }, split},
      {"rule dce returns 3000 results, not 1", [](Row& r) { r.dce = DropOf<3000, 1>; }, drop},
      {"rule dce returns 3000 flags, not 1", [](Row& r) { r.dce = DropOf<1, 3000>; }, drop}};
  static std::vector<std::unique_ptr<std::pair<std::string, Row>>> rows;  // they outlive the context
  for (const Case& c : cases) {
    auto& held = *rows.emplace_back(std::make_unique<std::pair<std::string, Row>>());
    held.first = "test.count_" + std::to_string(rows.size());
    held.second = Miscounting(held.first);
    c.set(held.second);
    Register(bench_.context(), held.second);
    const Program f = Trace(held.first);
    ExpectError(RICCI_INTERNAL, held.first + ": the " + c.said, [&] { c.use(f); });
  }
}
TEST_F(PluginRows, ReadsBeyondTheEndsAreErrors) {
  ExpectError(RICCI_INVALID_ARGUMENT, "test.operand_9: its rule reads operand 9, but it has 1 operand",
              [&] { Trace("test.operand_9"); });
  ExpectError(RICCI_INVALID_ARGUMENT, "test.early: its rule reads the type of result 0, but it has 0 results",
              [&] { Trace("test.early"); });
}

TEST_F(PluginRows, FailingAndMissingRulesNameThemselves) {
  ExpectError(RICCI_UNIMPLEMENTED, "test.failing_jvp: no tangent today", [&] { JvpOf(Trace("test.failing_jvp")); });
  ExpectError(RICCI_INVALID_ARGUMENT, "test.empty_jvp: rule jvp of plugin test: slot 0 is not filled",
              [&] { JvpOf(Trace("test.empty_jvp")); });
  ExpectError(RICCI_UNIMPLEMENTED, "test.no_jvp: no jvp rule (it has no tangent)",
              [&] { JvpOf(Trace("test.no_jvp")); });
}

TEST_F(PluginRows, AddedTwiceIsAnError) {
  const ricci_ctx* before = bench_.context();
  ExpectError(RICCI_INVALID_ARGUMENT, "test.sides: already registered by plugin test; RICCI_PRIM_OVERRIDE replaces it",
              [&] { Check(AttachRows(bench_.context(), kTables)); });
  EXPECT_EQ(before, bench_.context());
}

// ---- elements ----
TEST(Elements, RoundOnceToNearestEven) {
  const auto bits = [](DType d, double v) {
    uint64_t out = 0;
    const Element e = Encode(d, v);
    std::memcpy(&out, e.bytes.data(), e.size);
    return out;
  };
  EXPECT_EQ(bits(DType::kF16, 1.0), 0x3c00u);
  EXPECT_EQ(bits(DType::kF16, -65504.0), 0xfbffu);
  EXPECT_EQ(bits(DType::kF16, 65520.0), 0x7c00u);
  EXPECT_EQ(bits(DType::kF16, 0x1p-24), 1u);
  EXPECT_EQ(bits(DType::kF16, 0x1p-25), 0u);
  EXPECT_EQ(bits(DType::kF16, 0x1.8p-25), 1u);
  EXPECT_EQ(bits(DType::kF16, 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(bits(DType::kF16, 1 + 0x1.8p-10), 0x3c02u);
  EXPECT_EQ(bits(DType::kBF16, 0x1p-133), 1u);
  EXPECT_EQ(bits(DType::kBF16, INFINITY), 0x7f80u);
  EXPECT_EQ(bits(DType::kBF16, 3.0e38), 0x7f62u);
  EXPECT_EQ(bits(DType::kBF16, -0.0), 0x8000u);
  EXPECT_EQ(bits(DType::kI8, 300), 44u);
  EXPECT_EQ(bits(DType::kBool, 2), 1u);
  EXPECT_EQ(Encode(DType::kF64, ~uint64_t{0}).bytes, Encode(DType::kF64, 0x1p64).bytes);
  EXPECT_EQ(Encode(DType::kC128, uint64_t{1} << 63).bytes, Encode(DType::kC128, 0x1p63).bytes);
  EXPECT_EQ(Encode(DType::kF64, int8_t{-1}).bytes, Encode(DType::kF64, -1.0).bytes);
  EXPECT_EQ(Encode(DType::kI64, int8_t{-1}).bytes, Encode(DType::kU64, ~uint64_t{0}).bytes);
  Element e = Encode(DType::kU64, ~uint64_t{0});
  EXPECT_EQ(e.bytes[7], 0xff);
  EXPECT_EQ(e.size, 8u);
}

}  // namespace
}  // namespace ricci::testing
