// Generated code needs only the functions of the plugin's tables, whatever instructions the processor has, and failures
// on the way to code are reported in the error, never on stderr.
#include "cpu/llvm/code_symbols.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "kernel/scalar/scalar_eval.h"
#include "kernel/scalar/scalar_float.h"
#include "scalar_kernel.h"

namespace ricci::testing { namespace {

bool IsFloat(uint32_t dtype) { return types::IsFloating(dtype); }

// All operations of `arity` operands of a dtype.
std::vector<ScalarKernel::Op> OpsOf(uint32_t dtype, uint32_t arity) {
  std::vector<ScalarKernel::Op> ops;
  for (uint32_t op = 1; op < RICCI_S_COUNT; ++op) {
    if (kernel::InfoOf(op).arity != arity || op == RICCI_S_SELECT) continue;
    for (uint32_t to = RICCI_BOOL; to <= RICCI_F4E2M1FN; ++to) {
      const std::vector<uint32_t> operands(arity, dtype);
      const bool typed = op == RICCI_S_CONVERT || op == RICCI_S_BITCAST;
      const auto result = kernel::ResultDType(op, typed ? to : 0, operands);
      if (result.ok() && *result == to) ops.push_back({op, to});
    }
  }
  return ops;
}

// 64 small, distinct values of a dtype.
ScalarKernel::Bits Values(uint32_t dtype, int shift) {
  ScalarKernel::Bits bits;
  for (int i = 0; i < 64; ++i) {
    const int v = (i * 7 + shift) % 23;
    if (dtype == RICCI_BOOL) {
      bits.push_back(static_cast<uint64_t>(v % 2));
    } else if (IsFloat(dtype)) {
      bits.push_back(kernel::EncodeFloat(dtype, (v - 11) * 0.37 + 0.01));
    } else {
      bits.push_back(kernel::EncodeInteger(dtype, v - 5));
    }
  }
  return bits;
}

void ExpectNear(uint32_t dtype, uint64_t got, uint64_t want, const std::string& what) {
  if (!IsFloat(dtype)) {
    EXPECT_EQ(got, want) << what;
    return;
  }
  const double g = kernel::DecodeFloat(dtype, got), w = kernel::DecodeFloat(dtype, want);
  if (std::isnan(w) || std::isinf(w)) {
    EXPECT_TRUE(std::isnan(w) ? std::isnan(g) : g == w) << what << " is " << g << ", not " << w;
    return;
  }
  const double step = dtype == RICCI_F64   ? 1e-15
                      : dtype == RICCI_F32 ? 5e-7
                      : dtype == RICCI_F16 ? 2e-3
                                           : std::ldexp(1, -ricci_float_format_of(dtype).mantissa_bits - 2);
  EXPECT_NEAR(g, w, 4 * step * std::max(1.0, std::fabs(w))) << what;
}

// NULL: this processor.
class CodeSymbols : public ::testing::TestWithParam<const char*> {};

TEST_P(CodeSymbols, AllScalarOperationsOfAllDTypesNeedNoOthers) {
  cpu::Settings settings;
  settings.processor = GetParam();
  for (uint32_t dtype = RICCI_BOOL; dtype <= RICCI_F4E2M1FN; ++dtype) {
    if (!types::InKernels(dtype)) continue;
    for (uint32_t arity = 1; arity <= 3; ++arity) {
      const auto ops = OpsOf(dtype, arity);
      if (ops.empty()) continue;
      std::vector<ScalarKernel::Bits> in;
      for (uint32_t a = 0; a < arity; ++a) in.push_back(Values(dtype, static_cast<int>(5 * a)));
      for (const int64_t points : {int64_t{1}, int64_t{64}}) {
        ScalarKernel k(dtype, ops, arity, points);
        const auto got = k.Compiled(settings, in, /*opt_level=*/1), want = k.Interpreted(in);
        ASSERT_EQ(k.error(), "") << "dtype " << dtype << ", " << arity << " operands";
        for (size_t o = 0; o < ops.size(); ++o) {
          for (size_t i = 0; i < static_cast<size_t>(points); ++i) {
            ExpectNear(ops[o].to, got[o][i], want[o][i],
                       std::string(kernel::InfoOf(ops[o].op).name) + " of dtype " + std::to_string(dtype) + " to " +
                           std::to_string(ops[o].to) + ", point " + std::to_string(i));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, CodeSymbols, ::testing::Values("x86-64", "x86-64-v2", nullptr),
                         [](const auto& processor) {
                           std::string name = processor.param == nullptr ? "this" : processor.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// How an f16 is passed to a function: in the low bits of a vector register, as an f32 is.
TEST(CodeSymbols, HalfConversions) {
  const auto extend = reinterpret_cast<float (*)(float)>(cpu::FindCodeSymbol("__extendhfsf2"));
  const auto narrow = reinterpret_cast<float (*)(float)>(cpu::FindCodeSymbol("__truncsfhf2"));
  const auto narrow_f64 = reinterpret_cast<float (*)(double)>(cpu::FindCodeSymbol("__truncdfhf2"));
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float half = std::bit_cast<float>(bits), wide = extend(half);
    const double want = kernel::DecodeFloat(RICCI_F16, bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(wide)) << bits;
      EXPECT_EQ(std::bit_cast<uint32_t>(narrow(wide)) & 0x7fffu, (bits | 0x200u) & 0x7fffu);
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), want) << bits;
    ASSERT_EQ(std::bit_cast<uint32_t>(narrow(wide)), bits);
    for (const double v : {std::nextafter(want, 1e9), std::nextafter(want, -1e9), want * 1.0004, want + 0x1p-25}) {
      ASSERT_EQ(std::bit_cast<uint32_t>(narrow_f64(v)), kernel::EncodeFloat(RICCI_F16, v)) << v;
      const auto f = static_cast<float>(v);
      ASSERT_EQ(std::bit_cast<uint32_t>(narrow(f)), kernel::EncodeFloat(RICCI_F16, static_cast<double>(f))) << f;
    }
  }
}

// A module whose entry calls a function that is in the process, but not in the table.
TEST(CodeSymbols, AFunctionOfTheProcessIsNotTaken) {
  std::string error;
  auto jit = cpu::Jit::Create({}, error);
  ASSERT_NE(jit, nullptr) << error;
  LLVMContextRef ctx = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", ctx);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
  LLVMTypeRef params[4];
  for (LLVMTypeRef& p : params) p = LLVMPointerTypeInContext(ctx, 0);
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(ctx), params, 4, 0);
  LLVMTypeRef abort_type = LLVMFunctionType(LLVMVoidTypeInContext(ctx), nullptr, 0, 0);
  LLVMValueRef entry = LLVMAddFunction(module, cpu::kEntryName, type);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, entry, "entry"));
  LLVMBuildCall2(b, abort_type, LLVMAddFunction(module, "abort", abort_type), nullptr, 0, "");
  LLVMBuildRet(b, LLVMConstInt(LLVMInt32TypeInContext(ctx), 0, 0));
  LLVMDisposeBuilder(b);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(jit->Compile(ctx, module, 2, error), nullptr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(error, "generated code calls abort, which is not in the tables of allowed functions");
}

TEST(CodeSymbols, WhatIsNoObjectIsRefused) {
  std::string error;
  for (const std::string& bytes : {std::string(), std::string("\177ELF"), std::string(400, 'x')}) {
    EXPECT_EQ(cpu::LoadedObject::Load({bytes.data(), bytes.size()}, "f", cpu::FindCodeSymbol, error), nullptr);
    EXPECT_EQ(error, "object: not relocatable code for x86-64");
  }
}

}  // namespace
}  // namespace ricci::testing
