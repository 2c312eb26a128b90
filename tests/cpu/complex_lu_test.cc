// LU factors of complex matrices by blocks: sizes around blocks, ties, zeros and NaN, against the interpreter and a
// bound of the residual; panels with every instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "blocked_matrices.h"

namespace ricci::testing { namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

using Size = LuSize;

// One of the parts, the same in both dtypes.
Numbers Random(const Size& s, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(s.rows * 1000 + s.columns));
  std::uniform_real_distribution<float> some(-1, 1);
  Numbers a(s.elements());
  for (double& v : a) v = some(random);
  return a;
}

// Of the parts of a matrix, and giving those of its factors, pivots and permutation.
std::string ProgramOf(const std::string& part, const Size& s) {
  const std::string real = part + s.Text(), type = (part == "f64" ? "c128" : "c64") + s.Text();
  return "program f(%x: " + real + ", %y: " + real + ") { %a: " + type + " = complex(%x, %y) %l: " + type +
         ", %p: " + s.Pivots() + ", %r: " + s.Permutation() + " = lu(%a) %u: " + real + " = real(%l) %v: " + real +
         " = imag(%l) return %u, %v, %p, %r }";
}
constexpr Size kSizes[] = {{3, 15, 15}, {3, 16, 16},  {3, 23, 23},   {2, 31, 31},  {2, 32, 32},  {2, 33, 33},
                           {2, 64, 64}, {2, 65, 65},  {1, 130, 130}, {2, 24, 100}, {2, 100, 24}, {1, 40, 90},
                           {1, 90, 40}, {1, 32, 300}, {1, 300, 32},  {2, 100, 15}};

TEST(ComplexLu, AgreesWithTheInterpreter) {
  ProgramRunner r;
  for (const std::string part : {"f64", "f32"}) {
    for (const Size& s : kSizes) {
      SCOPED_TRACE(part + s.Text());
      const Program f = r.Parse(ProgramOf(part, s));
      EXPECT_EQ(IsBlocked(r, f), s.steps() >= 16);
      r.RunEverywhere(f, {Random(s, 1), Random(s, 2)}, part == "f64" ? 1e-10 : 2e-3);
    }
  }
}

// |p a - l u| <= 4 n eps |l| |u|, element by element: the bound of real factors (Higham, "Accuracy and stability of
// numerical algorithms", 9.3) for numbers of two parts; and no factor is above sqrt(2), as sizes are |re| + |im|.
TEST(ComplexLu, ResidualIsSmall) {
  ProgramRunner r;
  const Size s{1, 200, 233};
  const Numbers x = Random(s, 1), y = Random(s, 2);
  for (const std::string part : {"f64", "f32"}) {
    const std::vector<Numbers> out = r.Run(r.Parse(ProgramOf(part, s)), {x, y}, "cpu");
    ASSERT_EQ(out.size(), 4u);
    const auto number = [&](const Numbers& re, const Numbers& im, int64_t i, int64_t j) {
      const auto at = static_cast<size_t>(i * s.columns + j);
      return std::complex<double>(re[at], im[at]);
    };
    const double eps = part == "f64" ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < s.rows; ++i) {
      const auto row = static_cast<int64_t>(out[3][static_cast<size_t>(i)]);
      for (int64_t j = 0; j < s.columns; ++j) {
        std::complex<double> rest = number(x, y, row, j);
        double size = 0;
        for (int64_t k = 0; k <= std::min(i, j); ++k) {
          const std::complex<double> l = k == i ? 1 : number(out[0], out[1], i, k);
          ASSERT_LE(std::abs(l), 1.4143) << i << ", " << k;
          const std::complex<double> term = l * number(out[0], out[1], k, j);
          rest -= term;
          size += std::abs(term);
        }
        ASSERT_LE(std::abs(rest), 4 * static_cast<double>(s.columns) * eps * size) << part << " " << i << ", " << j;
      }
    }
  }
}

// ---- what pivots are chosen among ----
void CheckSpecial(ProgramRunner& r, const Size& s, const Numbers& x, const Numbers& y, const std::string& what) {
  for (const std::string part : {"f64", "f32"}) {
    SCOPED_TRACE(part + s.Text() + " " + what);
    const Program f = r.Parse(ProgramOf(part, s));
    EXPECT_TRUE(IsBlocked(r, f));
    r.RunEverywhere(f, {x, y}, part == "f64" ? 1e-10 : 2e-3);
  }
}

TEST(ComplexLu, FirstOfTheLargestIsThePivot) {
  ProgramRunner r;
  for (const Size s : {Size{1, 40, 40}, Size{1, 75, 50}}) {
    const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * s.columns + j); };
    const Numbers zeros(s.elements(), 0), ones(s.elements(), 1);
    // All of a column have one size, in one part or the other, with either sign.
    Numbers x = zeros, y = zeros;
    for (int64_t i = 0; i < s.rows; ++i) {
      for (int64_t j = 0; j <= std::min(i, s.columns - 1); ++j)
        (i % 2 == 0 ? x : y)[at(i, j)] = (i + j) % 3 == 0 ? -1 : 1;
    }
    CheckSpecial(r, s, x, y, "parts and signs");
    CheckSpecial(r, s, ones, zeros, "ones");
    CheckSpecial(r, s, zeros, ones, "multiples of i");
    CheckSpecial(r, s, zeros, zeros, "zeros");
    // 2 + 2i is larger than 3i, whose magnitude is larger.
    Numbers u = zeros, v = zeros;
    for (int64_t i = 0; i < s.rows; ++i) {
      u[at(i, i % s.columns)] = 0.5, v[at(i, i % s.columns)] = 2.5;
      u[at(i, (i + 7) % s.columns)] = v[at(i, (i + 7) % s.columns)] = 2;
    }
    CheckSpecial(r, s, u, v, "sums of parts");
  }
}

TEST(ComplexLu, ColumnsOfZerosAreLeft) {
  ProgramRunner r;
  const Size s{1, 70, 70};
  for (int64_t zero : {0, 3, 4, 31, 32, 69}) {
    Numbers x = Random(s, 1), y = Random(s, 2);
    for (int64_t i = 0; i < s.rows; ++i) x[size_t(i * s.columns + zero)] = y[size_t(i * s.columns + zero)] = 0;
    CheckSpecial(r, s, x, y, std::to_string(zero));
  }
}

// In one part or the other.
TEST(ComplexLu, NaNAndInfinitySpreadAsInTheLoops) {
  ProgramRunner r;
  const Size s{1, 70, 70};
  for (const auto& [i, j] : {std::pair{0, 0}, {69, 0}, {40, 3}, {3, 40}, {40, 40}, {69, 69}}) {
    for (double v : {kNaN, kInf, -kInf}) {
      for (const bool real : {false, true}) {
        Numbers x = Random(s, 1), y = Random(s, 2);
        (real ? x : y)[static_cast<size_t>(i * s.columns + j)] = v;
        CheckSpecial(r, s, x, y, std::to_string(v) + " at " + std::to_string(i) + ", " + std::to_string(j));
      }
    }
  }
}

TEST(ComplexLu, NothingIsDoneForNoElements) {
  ProgramRunner r;
  for (const Size s : {Size{0, 50, 50}, Size{2, 0, 50}, Size{2, 50, 0}}) {
    const std::vector<Numbers> out = r.RunEverywhere(r.Parse(ProgramOf("f64", s)), {{}, {}});
    ASSERT_EQ(out.size(), 4u);
    EXPECT_EQ(out[3].size(), static_cast<size_t>(s.batch * s.rows));
  }
}

// ---- one panel ----
template <typename T>
void FactorisePanel(cpu::LuPanelFn panel, cpu::GemmType type, int64_t rows, int64_t width) {
  using Complex = std::complex<T>;
  const Size s{1, rows, width};
  const Numbers x = Random(s, 1), y = Random(s, 2);
  const int64_t stride = width + 3;
  std::vector<Complex> lu(static_cast<size_t>(rows * stride), Complex{77, 78});
  for (int64_t i = 0; i < rows * width; ++i) {
    const auto at = static_cast<size_t>(i);
    lu[size_t(i / width * stride + i % width)] = {static_cast<T>(x[at]), static_cast<T>(y[at])};
  }
  const std::vector<Complex> a = lu;
  std::vector<int32_t> pivots(static_cast<size_t>(width));
  AlignedElements<T> scratch(cpu::LuPanelElements(rows, width * 2));
  panel({lu.data(), stride, rows, width, pivots.data(), scratch.data(), type, /*parts=*/2});
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = 0; i < pivots.size(); ++i) std::swap(order[i], order[static_cast<size_t>(pivots[i])]);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < stride; ++j) {
      std::complex<double> sum = 0;
      for (int64_t k = 0; k <= std::min({i, j, width - 1}); ++k) {
        sum += (k == i ? 1.0 : std::complex<double>(lu[size_t(i * stride + k)])) *
               std::complex<double>(lu[size_t(k * stride + j)]);
      }
      if (j >= width) sum = lu[size_t(i * stride + j)];
      const Complex want = j < width ? a[size_t(order[size_t(i)] * stride + j)] : Complex{77, 78};
      EXPECT_LE(std::abs(sum - std::complex<double>(want)), sizeof(T) == 8 ? 1e-13 : 1e-4) << i << ", " << j;
    }
  }
}

TEST(ComplexLu, EachInstructionSet) {
  for (const InstructionSet& set : InstructionSets()) {
    for (int64_t rows : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 70}) {
      for (int64_t width : {1, 2, 3, 4, 5, 8, 9, 31, 32}) {
        if (width > rows) continue;
        SCOPED_TRACE(set.name + " " + std::to_string(rows) + ", " + std::to_string(width));
        FactorisePanel<double>(set.panel, cpu::GemmType::kF64, rows, width);
        FactorisePanel<float>(set.panel, cpu::GemmType::kF32, rows, width);
      }
    }
  }
}

}  // namespace
}  // namespace ricci::testing
