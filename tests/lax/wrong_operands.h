// Wrong operands and attributes: what a traced function is given, and the exact message of its error.
#ifndef RICCI_TESTS_LAX_WRONG_OPERANDS_H_
#define RICCI_TESTS_LAX_WRONG_OPERANDS_H_
#include <gtest/gtest.h>

#include "lax/traced_function.h"

namespace ricci::testing {

struct Wrong {
  std::vector<std::pair<DType, Shape>> inputs;
  Function f;
  std::string message;
};

constexpr DType kF16 = DType::kF16, kF32 = DType::kF32, kF64 = DType::kF64, kC64 = DType::kC64, kI32 = DType::kI32,
                kBool = DType::kBool;

inline Values One(Value v) { return {v}; }

inline void ExpectMessages(const std::vector<Wrong>& cases) {
  const Bench bench;
  for (const Wrong& wrong : cases) {
    std::vector<ArrayType> params;
    for (const auto& [dtype, shape] : wrong.inputs) params.push_back(bench.Type(dtype, shape));
    try {
      bench.Trace(params, wrong.f);
      ADD_FAILURE() << "no error, expected: " << wrong.message;
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), wrong.message);
    }
  }
}

}  // namespace ricci::testing
#endif
