// ricci_check_primitive: right rows pass, and each mutated one is caught by the law that it breaks.
#include <gtest/gtest.h>

#include "ricci/check.h"
#include "ricci/plugin.hpp"
#include "ricci/ricci.h"
#include "support/program_runner.h"

namespace ricci::testing {
namespace {

// ---- x^3, and with a derivative of the wrong sign ----
Value CubeDerivative(const Value& x, const Value&) { return lax::mul(3.0, lax::square(x)); }
Value WrongSign(const Value& x, const Value&) { return lax::mul(-3.0, lax::square(x)); }
Scalar Cube(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0] * in[0]; }
Scalar Halved(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0]; }

// ---- the rows of a matrix turned round ----
const Shape kFirst = {0}, kSecond = {1};
Values Flip(const Eqn&, std::span<const Value> in) { return {lax::rev(in[0], kFirst)}; }
Value FlipBack(const Eqn&, const Value& ct) { return lax::rev(ct, kFirst); }
Value Unflipped(const Eqn&, const Value& ct) { return ct; }
Batched FlipBatch(const Eqn&, const Batched& x) { return {lax::rev(x.value, x.dim == 0 ? kSecond : kFirst), x.dim}; }
Batched WrongAxis(const Eqn&, const Batched& x) { return {lax::rev(x.value, kFirst), x.dim}; }

constexpr Row RowOfFlip(std::string_view name, TransposeRule transpose, BatchRule batch) {
  return {.name = name,
          .type = rules::Same<1, kFloats>,
          .jvp = rules::Linear,
          .transpose = transpose,
          .batch = batch,
          .decompose = Flip};
}
constexpr Row RowOfCube(std::string_view name, JvpRule jvp, ScalarRule scalar) {
  return {.name = name, .type = rules::Same<1, kFloats>, .jvp = jvp, .batch = rules::Elementwise, .scalar = scalar};
}
constexpr Row kRows[] = {
    RowOfCube("test.cube", rules::Derivative<CubeDerivative>, Cube),
    RowOfCube("test.cube_sign", rules::Derivative<WrongSign>, Cube),
    RowOfCube("test.cube_value", rules::Derivative<CubeDerivative>, Halved),
    RowOfFlip("test.flip", rules::TransposeFirst<FlipBack>, rules::BatchFirstOperand<FlipBatch>),
    RowOfFlip("test.flip_transpose", rules::TransposeFirst<Unflipped>, rules::BatchFirstOperand<FlipBatch>),
    RowOfFlip("test.flip_batch", rules::TransposeFirst<FlipBack>, rules::BatchFirstOperand<WrongAxis>),
};
RowList Rows() { return kRows; }
RowList (*const kTables[])() = {Rows};
ricci_status* Attach(void*, ricci_ctx* ctx) { return AttachRows(ctx, kTables); }
constexpr ricci_plugin kPlugin = Describe("test", "1", Attach);
ricci_status* Query(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kPlugin;
  return nullptr;
}

class CheckPrimitive : public ::testing::Test {
 protected:
  CheckPrimitive() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), Query))); }

  // The message of the law that fails; empty if all hold.
  std::string Verdict(std::string_view name, uint64_t* laws = nullptr) {
    const Shape shape = {2, 3};
    const ricci_check_operand x{ArrayType::Make(runner_.ctx(), DType::kF64, shape).id(), 0, -2, 2};
    ricci_check_example e{};
    e.hdr.size = sizeof e;
    e.operands = &x;
    e.n_operands = 1;
    ricci_status* s = ricci_check_primitive(runner_.ctx(), name.data(), name.size(), &e, 1, laws);
    if (s == nullptr) return "";
    EXPECT_EQ(ricci_status_code(s), static_cast<uint32_t>(RICCI_FAILED_PRECONDITION));
    return Message(s);
  }
  void ExpectCaught(std::string_view name, std::string_view law) {
    const std::string message = Verdict(name);
    EXPECT_NE(message.find(std::string(name) + ": example 0: law " + std::string(law) + ":"), std::string::npos)
        << message;
  }

  ProgramRunner runner_;
};

TEST_F(CheckPrimitive, RightRowsPass) {
  uint64_t laws = 0;
  EXPECT_EQ(Verdict("test.cube", &laws), "");
  EXPECT_GT(laws, 20u);
  EXPECT_EQ(Verdict("test.flip"), "");
  EXPECT_EQ(Verdict("sin"), "");
}

TEST_F(CheckPrimitive, WrongDerivativeIsCaught) {
  ExpectCaught("test.cube_sign", "jvp");
  ExpectCaught("test.cube_value", "jvp");
}
TEST_F(CheckPrimitive, WrongTransposeIsCaught) { ExpectCaught("test.flip_transpose", "transpose"); }
TEST_F(CheckPrimitive, WrongBatchAxisIsCaught) { EXPECT_NE(Verdict("test.flip_batch"), ""); }

TEST_F(CheckPrimitive, NoExampleIsAnError) {
  ricci_status* s = ricci_check_primitive(runner_.ctx(), "sin", 3, nullptr, 0, nullptr);
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(ricci_status_code(s), static_cast<uint32_t>(RICCI_INVALID_ARGUMENT));
  EXPECT_EQ(Message(s), "ricci_check_primitive: n is 0; a primitive without examples is not checked");
}

}  // namespace
}  // namespace ricci::testing
