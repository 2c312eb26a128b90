// LU factors by blocks: every instruction set, sizes around blocks, ties, zeros and NaN, against the interpreter and a
// bound of the residual.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "blocked_matrices.h"

namespace ricci::testing { namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

using Size = LuSize;

// In f32, so that both dtypes have the same matrix.
Numbers Random(const Size& s) {
  std::mt19937 random(static_cast<unsigned>(s.rows * 1000 + s.columns));
  std::uniform_real_distribution<float> some(-1, 1);
  Numbers a(s.elements());
  for (double& v : a) v = some(random);
  return a;
}

std::string ProgramOf(const std::string& dtype, const Size& s) {
  const std::string a = dtype + s.Text();
  return "program f(%a: " + a + ") { %l: " + a + ", %p: " + s.Pivots() + ", %r: " + s.Permutation() +
         " = lu(%a) return %l, %p, %r }";
}

constexpr Size kSizes[] = {{3, 23, 23},   {3, 24, 24},   {2, 63, 63},   {2, 64, 64},  {2, 65, 65},  {1, 128, 128},
                           {1, 129, 129}, {1, 200, 200}, {2, 24, 100},  {2, 100, 24}, {1, 70, 130}, {1, 130, 70},
                           {1, 64, 600},  {1, 600, 64},  {1, 257, 193}, {2, 100, 23}};

TEST(BlockedLu, AgreesWithTheInterpreter) {
  ProgramRunner r;
  for (const std::string dtype : {"f64", "f32"}) {
    for (const Size& s : kSizes) {
      SCOPED_TRACE(dtype + s.Text());
      const Program f = r.Parse(ProgramOf(dtype, s));
      EXPECT_EQ(IsBlocked(r, f), s.steps() >= 24);
      r.RunEverywhere(f, {Random(s)}, dtype == "f64" ? 1e-10 : 2e-3);
    }
  }
}

// |p a - l u| <= n eps |l| |u|, element by element (Higham, "Accuracy and stability of numerical algorithms", 9.3),
// and no factor is above 1.
TEST(BlockedLu, ResidualIsSmall) {
  ProgramRunner r;
  const Size s{1, 300, 333};
  const Numbers a = Random(s);
  for (const std::string dtype : {"f64", "f32"}) {
    const std::vector<Numbers> out = r.Run(r.Parse(ProgramOf(dtype, s)), {a}, "cpu");
    ASSERT_EQ(out.size(), 3u);
    const auto at = [&](int64_t i, int64_t j) { return out[0][static_cast<size_t>(i * s.columns + j)]; };
    const double eps = dtype == "f64" ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < s.rows; ++i) {
      const auto row = static_cast<int64_t>(out[2][static_cast<size_t>(i)]);
      for (int64_t j = 0; j < s.columns; ++j) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k <= std::min(i, j); ++k) {
          const double l = k == i ? 1 : at(i, k);
          ASSERT_LE(std::fabs(l), 1) << i << ", " << k;
          sum += l * at(k, j);
          size += std::fabs(l * at(k, j));
        }
        const double want = a[static_cast<size_t>(row * s.columns + j)];
        ASSERT_NEAR(sum, want, static_cast<double>(s.columns) * eps * size) << dtype << " " << i << ", " << j;
      }
    }
  }
}

// ---- what pivots are chosen among ----
void CheckSpecial(ProgramRunner& r, const Size& s, const Numbers& a, const char* what) {
  for (const std::string dtype : {"f64", "f32"}) {
    SCOPED_TRACE(dtype + s.Text() + " " + what);
    const Program f = r.Parse(ProgramOf(dtype, s));
    EXPECT_TRUE(IsBlocked(r, f));
    r.RunEverywhere(f, {a}, dtype == "f64" ? 1e-10 : 2e-3);
  }
}

TEST(BlockedLu, FirstOfTheLargestIsThePivot) {
  ProgramRunner r;
  for (const Size s : {Size{1, 40, 40}, Size{1, 100, 100}, Size{1, 150, 90}}) {
    const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * s.columns + j); };
    // All of the first column have one magnitude, with either sign.
    Numbers equal(static_cast<size_t>(s.rows * s.columns));
    for (int64_t i = 0; i < s.rows; ++i) {
      for (int64_t j = 0; j < s.columns; ++j) equal[at(i, j)] = j <= i ? ((i + j) % 3 == 0 ? -1 : 1) : 0;
    }
    CheckSpecial(r, s, equal, "signs");
    Numbers turned(equal.size(), 0);
    for (int64_t i = 0; i < s.rows; ++i) turned[at(i, (s.rows - 1 - i) % s.columns)] = i % 2 == 0 ? 2 : -2;
    CheckSpecial(r, s, turned, "turned");
    CheckSpecial(r, s, Numbers(equal.size(), 1), "ones");
    CheckSpecial(r, s, Numbers(equal.size(), 0), "zeros");
    CheckSpecial(r, s, Numbers(equal.size(), -0.0), "negative zeros");
  }
}

TEST(BlockedLu, ColumnsOfZerosAreLeft) {
  ProgramRunner r;
  const Size s{1, 140, 140};
  for (int64_t zero : {0, 7, 8, 63, 64, 100, 139}) {
    Numbers a = Random(s);
    for (int64_t i = 0; i < s.rows; ++i) a[static_cast<size_t>(i * s.columns + zero)] = 0;
    CheckSpecial(r, s, a, std::to_string(zero).c_str());
  }
}

TEST(BlockedLu, NaNAndInfinitySpreadAsInTheLoops) {
  ProgramRunner r;
  const Size s{1, 140, 140};
  for (double v : {kNaN, kInf, -kInf}) {
    for (const auto& [i, j] :
         {std::pair{0, 0}, {139, 0}, {50, 3}, {3, 50}, {70, 70}, {100, 66}, {66, 100}, {139, 139}}) {
      Numbers a = Random(s);
      a[static_cast<size_t>(i * s.columns + j)] = v;
      CheckSpecial(r, s, a, (std::to_string(v) + " at " + std::to_string(i) + ", " + std::to_string(j)).c_str());
    }
  }
}

TEST(BlockedLu, NothingIsDoneForNoElements) {
  ProgramRunner r;
  for (const Size s : {Size{0, 100, 100}, Size{2, 0, 50}, Size{2, 50, 0}}) {
    const std::vector<Numbers> out = r.RunEverywhere(r.Parse(ProgramOf("f64", s)), {{}});
    ASSERT_EQ(out.size(), 3u);
    EXPECT_TRUE(out[0].empty());
    EXPECT_EQ(out[2].size(), static_cast<size_t>(s.batch * s.rows));
  }
}

// ---- one panel ----
template <typename T>
void FactorisePanel(cpu::LuPanelFn panel, cpu::GemmType type, int64_t rows, int64_t width) {
  const Numbers numbers = Random({1, rows, width});
  const int64_t stride = width + 3;
  std::vector<T> lu(static_cast<size_t>(rows * stride), T{77});
  for (int64_t i = 0; i < rows * width; ++i) {
    lu[static_cast<size_t>(i / width * stride + i % width)] = static_cast<T>(numbers[static_cast<size_t>(i)]);
  }
  std::vector<int32_t> pivots(static_cast<size_t>(width));
  AlignedElements<T> scratch(cpu::LuPanelElements(rows, width));
  panel({lu.data(), stride, rows, width, pivots.data(), scratch.data(), type});
  std::vector<size_t> order(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = 0; i < pivots.size(); ++i) std::swap(order[i], order[static_cast<size_t>(pivots[i])]);
  for (int64_t i = 0; i < rows; ++i) {
    const T* row = &lu[static_cast<size_t>(i * stride)];
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t k = 0; k <= std::min(i, j); ++k) {
        sum += (k == i ? 1.0 : double{row[k]}) * double{lu[static_cast<size_t>(k * stride + j)]};
      }
      EXPECT_NEAR(sum, numbers[order[static_cast<size_t>(i)] * static_cast<size_t>(width) + static_cast<size_t>(j)],
                  sizeof(T) == 8 ? 1e-13 : 1e-4)
          << i << ", " << j;
    }
    for (int64_t j = width; j < stride; ++j) EXPECT_EQ(row[j], T{77});
  }
}

TEST(BlockedLu, EachInstructionSet) {
  for (const InstructionSet& set : InstructionSets()) {
    for (int64_t rows : {1, 2, 7, 8, 9, 16, 17, 33, 64, 100}) {
      for (int64_t width : {1, 2, 7, 8, 9, 16, 33, 64}) {
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
