// Cholesky factors by blocks: every instruction set, sizes around blocks and products, against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "blocked_matrices.h"

namespace ricci::testing { namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Positive definite; above the diagonal are numbers that must not be read.
Numbers Positive(int64_t batch, int64_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> some(-1, 1);
  Numbers a;
  for (int64_t i = 0; i < batch * n * n; ++i) {
    const int64_t row = i / n % n, column = i % n;
    a.push_back(column > row ? kNaN : some(random) + (row == column ? static_cast<double>(n) : 0));
  }
  return a;
}

// Imaginary parts for it; those of the diagonal must not be read either.
Numbers Imaginary(int64_t batch, int64_t n) {
  std::mt19937 random(static_cast<unsigned>(n + 1));
  std::uniform_real_distribution<double> some(-0.7, 0.7);
  Numbers a;
  for (int64_t i = 0; i < batch * n * n; ++i) a.push_back(i % n >= i / n % n ? kNaN : some(random));
  return a;
}

std::string Program(const std::string& type) {
  return "program f(%a: " + type + ") { %l: " + type + " = cholesky(%a) return %l }";
}

TEST(BlockedCholesky, AgreesWithTheInterpreter) {
  ProgramRunner r;
  for (const char* dtype : {"f64", "f32"}) {
    for (int64_t n : {8, 9, 16, 27, 47, 48, 63, 64, 65, 128, 130, 580}) {
      const int64_t batch = n < 100 ? 3 : 1;
      const std::string size = std::to_string(n);
      const auto f = r.Parse(Program(dtype + ("[" + std::to_string(batch)) + "," + size + "," + size + "]"));
      EXPECT_EQ(IsBlocked(r, f), n >= 9) << n;
      SCOPED_TRACE(dtype + size);
      r.RunEverywhere(f, {Positive(batch, n)}, std::string(dtype) == "f64" ? 1e-12 : 1e-5);
    }
  }
}

// Of a batch, smaller matrices are factored side by side in lanes; one that is not positive definite leaves the others.
TEST(BlockedCholesky, LeavesBatchesToLanes) {
  ProgramRunner r;
  for (const char* dtype : {"f64", "f32"}) {
    for (int64_t n : {9, 27, 47, 48}) {
      const std::string size = std::to_string(n);
      const auto f = r.Parse(Program(dtype + std::string("[19,") + size + "," + size + "]"));
      EXPECT_EQ(IsBlocked(r, f), n >= 48) << n;
      const bool lanes = r.Dump(f, "decisions", "cpu").find("lanes over the domain") != std::string::npos;
      EXPECT_EQ(lanes, n < 48) << n;
      SCOPED_TRACE(dtype + size);
      Numbers a = Positive(19, n);
      a[static_cast<size_t>(5 * n * n)] = -1;
      r.RunEverywhere(f, {a}, std::string(dtype) == "f64" ? 1e-12 : 1e-5);
    }
  }
}

// Of the parts of a complex matrix, and giving the parts of its factor.
std::string ComplexProgram(const std::string& part, const std::string& shape) {
  const std::string real = part + shape, type = (part == "f64" ? "c128" : "c64") + shape;
  return "program f(%x: " + real + ", %y: " + real + ") { %a: " + type + " = complex(%x, %y) %l: " + type +
         " = cholesky(%a) %r: " + real + " = real(%l) %i: " + real + " = imag(%l) return %r, %i }";
}

// Around 8 rows, which are a group, and 32 columns, a block of complex numbers. Of a batch, smaller ones are in lanes.
TEST(BlockedCholesky, ComplexOnesAgreeWithTheInterpreter) {
  ProgramRunner r;
  for (const std::string part : {"f64", "f32"}) {
    for (int64_t n : {8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 300}) {
      const int64_t batch = n % 2 == 0 && n < 40 ? 8 : n < 100 ? 3 : 1;
      const std::string size = std::to_string(n);
      const auto f = r.Parse(ComplexProgram(part, "[" + std::to_string(batch) + "," + size + "," + size + "]"));
      EXPECT_EQ(IsBlocked(r, f), n >= (batch < 8 ? 9 : 32)) << n;
      SCOPED_TRACE(part + size);
      r.RunEverywhere(f, {Positive(batch, n), Imaginary(batch, n)}, part == "f64" ? 1e-12 : 1e-5);
    }
  }
}

TEST(BlockedCholesky, AComplexOneThatIsNotPositiveIsNaN) {
  ProgramRunner r;
  const auto f = r.Parse(ComplexProgram("f64", "[2,70,70]"));
  Numbers x = Positive(2, 70);
  x[69 * 70 + 69] = -1;  // seen last
  for (const Numbers& part : r.RunEverywhere(f, {x, Imaginary(2, 70)})) {
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t row = i / 70 % 70, column = i % 70;
      if (column > row) {
        EXPECT_EQ(part[i], 0);
      } else {
        EXPECT_EQ(std::isnan(part[i]), i < 4900) << i;
      }
    }
  }
}

TEST(BlockedCholesky, OneThatIsNotPositiveIsNaN) {
  ProgramRunner r;
  const auto f = r.Parse(Program("f64[2,100,100]"));
  Numbers a = Positive(2, 100);
  a[99 * 100 + 99] = -1;  // seen last
  const Numbers l = r.RunEverywhere(f, {a})[0];
  for (size_t i = 0; i < l.size(); ++i) {
    const size_t row = i / 100 % 100, column = i % 100;
    if (column > row) {
      EXPECT_EQ(l[i], 0);
    } else {
      EXPECT_EQ(std::isnan(l[i]), i < 10000) << i;
    }
  }
}

// ---- rows of one block ----
template <typename T>
void FactoriseOneBlock(cpu::FactorRowsFn rows, cpu::GemmType type, int64_t n) {
  const Numbers numbers = Positive(1, n);
  const std::vector<T> a(numbers.begin(), numbers.end());
  std::vector<T> l(a.size(), 0);
  AlignedElements<T> block(cpu::kTriangleElements);
  ASSERT_TRUE(rows({a.data(), l.data(), nullptr, block.data(), n, 0, n, 0, n, type}));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int64_t m = 0; m <= j; ++m) sum += double{l[size_t(i * n + m)]} * double{l[size_t(j * n + m)]};
      EXPECT_NEAR(sum, a[size_t(i * n + j)], 1e-4) << i << ", " << j;
    }
  }
}

TEST(BlockedCholesky, EachInstructionSet) {
  for (const InstructionSet& s : InstructionSets()) {
    for (int64_t n : {1, 2, 7, 33, 64}) {
      SCOPED_TRACE(s.name + std::to_string(n));
      FactoriseOneBlock<double>(s.rows, cpu::GemmType::kF64, n);
      FactoriseOneBlock<float>(s.rows, cpu::GemmType::kF32, n);
    }
  }
}

}  // namespace
}  // namespace ricci::testing
