// Triangular solutions by blocks: every attribute, instruction set and size around blocks, against the interpreter and
// a bound of the residual.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "blocked_matrices.h"

namespace ricci::testing { namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Case {
  bool left, lower, transpose, conjugate, unit;
  std::string Attributes() const {
    const auto text = [](const char* name, bool v) { return std::string(" ") + name + (v ? "=true" : "=false"); };
    return text("left_side", left) + text("lower", lower) + text("transpose_a", transpose) +
           text("conjugate_a", conjugate) + text("unit_diagonal", unit);
  }
};
struct Size {
  int64_t batch, n, lines;
  std::string A() const { return Text(n, n); }
  std::string B(bool left) const { return left ? Text(n, lines) : Text(lines, n); }
  std::string Text(int64_t rows, int64_t columns) const {
    return "[" + std::to_string(batch) + "," + std::to_string(rows) + "," + std::to_string(columns) + "]";
  }
};

// What must not be read is NaN: the other triangle, and a diagonal of ones.
Numbers Triangles(const Size& s, const Case& c) {
  std::mt19937 random(static_cast<unsigned>(s.n));
  std::uniform_real_distribution<float> some(-1, 1);
  Numbers a;
  for (int64_t i = 0; i < s.batch * s.n * s.n; ++i) {
    const int64_t row = i / s.n % s.n, column = i % s.n;
    const double v = some(random);
    if (row == column) {
      a.push_back(c.unit ? kNaN : v + std::copysign(1.5, v));
    } else {
      a.push_back((row > column) == c.lower ? v / static_cast<double>(s.n) : kNaN);
    }
  }
  return a;
}
Numbers Right(const Size& s) {
  std::mt19937 random(static_cast<unsigned>(s.lines + 7));
  std::uniform_real_distribution<float> some(-1, 1);
  Numbers b(static_cast<size_t>(s.batch * s.n * s.lines));
  for (double& v : b) v = some(random);
  return b;
}

std::string ProgramOf(const std::string& dtype, const Size& s, const Case& c) {
  const std::string b = dtype + s.B(c.left);
  return "program f(%a: " + dtype + s.A() + ", %b: " + b + ") { %x: " + b + " = triangular_solve(%a, %b)" +
         c.Attributes() + " return %x }";
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (int i = 0; i < 32; ++i) cases.push_back({(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0, (i & 16) != 0});
  return cases;
}

TEST(BlockedTriangularSolve, EveryAttributeAgreesWithTheInterpreter) {
  ProgramRunner r;
  for (const Case& c : AllCases()) {
    for (const Size s : {Size{2, 64, 33}, Size{1, 150, 40}}) {
      for (const std::string dtype : {"f64", "f32"}) {
        SCOPED_TRACE(dtype + s.A() + s.B(c.left) + c.Attributes());
        const Program f = r.Parse(ProgramOf(dtype, s, c));
        EXPECT_TRUE(IsBlocked(r, f));
        r.RunEverywhere(f, {Triangles(s, c), Right(s)}, dtype == "f64" ? 1e-13 : 1e-5);
      }
    }
  }
}

TEST(BlockedTriangularSolve, SizesAroundBlocks) {
  constexpr Case kCases[] = {{true, true, false, false, false},  // forward and backward, lines adjacent or not
                             {true, false, false, false, false},
                             {false, true, false, false, false},
                             {false, false, false, false, false}};
  constexpr Size kSizes[] = {{3, 31, 9},   {3, 32, 8},   {2, 63, 33},  {2, 64, 31},  {2, 64, 32},
                             {2, 65, 35},  {1, 128, 17}, {1, 129, 64}, {1, 193, 90}, {1, 70, 256},
                             {1, 70, 257}, {1, 90, 600}, {1, 700, 3},  {1, 1000, 2}, {1, 700, 1}};
  ProgramRunner r;
  for (const Case& c : kCases) {
    for (const Size& s : kSizes) {
      SCOPED_TRACE(s.A() + s.B(c.left) + c.Attributes());
      const Program f = r.Parse(ProgramOf("f64", s, c));
      const bool large = c.left ? s.n >= 64 && s.n * s.lines >= 2000 : s.n >= 32;
      EXPECT_EQ(IsBlocked(r, f), large && s.lines > 1);
      r.RunEverywhere(f, {Triangles(s, c), Right(s)}, 1e-13);
    }
  }
}

// |b - l x| <= n eps |l| |x|, element by element (Higham, "Accuracy and stability of numerical algorithms", 8.1).
TEST(BlockedTriangularSolve, ResidualIsSmall) {
  ProgramRunner r;
  const Size s{1, 400, 30};
  const Case c{true, true, false, false, false};
  const Numbers a = Triangles(s, c), b = Right(s);
  for (const std::string dtype : {"f64", "f32"}) {
    const Program f = r.Parse(ProgramOf(dtype, s, c));
    const Numbers x = r.Run(f, {a, b}, "cpu")[0];
    const double eps = dtype == "f64" ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < s.n; ++i) {
      for (int64_t j = 0; j < s.lines; ++j) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k <= i; ++k) {
          // The operand as rounded to the dtype.
          const double l = a[static_cast<size_t>(i * s.n + k)], rounded = dtype == "f64" ? l : static_cast<float>(l);
          const double term = rounded * x[static_cast<size_t>(k * s.lines + j)];
          sum += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(sum, b[static_cast<size_t>(i * s.lines + j)], static_cast<double>(s.n) * eps * size)
            << dtype << " " << i << ", " << j;
      }
    }
  }
}

// A line with NaN or an infinity spoils itself alone; a zero on the diagonal divides.
TEST(BlockedTriangularSolve, SpecialValuesSpreadAsInTheLoops) {
  ProgramRunner r;
  const Size s{1, 140, 40};
  for (const Case& c : AllCases()) {
    if (c.conjugate || c.unit) continue;
    const Program f = r.Parse(ProgramOf("f64", s, c));
    SCOPED_TRACE(c.Attributes());
    Numbers b = Right(s);
    const auto line = [&](int64_t i, int64_t j) { return static_cast<size_t>(c.left ? i * s.lines + j : j * s.n + i); };
    b[line(0, 3)] = kNaN;
    b[line(70, 4)] = kInf;
    b[line(139, 5)] = -kInf;
    for (int64_t i = 0; i < s.n; ++i) b[line(i, 6)] = 0;
    r.RunEverywhere(f, {Triangles(s, c), b}, 1e-12);
    for (int64_t zero : {0, 64, 139}) {
      Numbers a = Triangles(s, c);
      a[static_cast<size_t>(zero * s.n + zero)] = 0;
      r.RunEverywhere(f, {a, b}, 1e-12);
    }
  }
}

TEST(BlockedTriangularSolve, NothingIsDoneForNoElements) {
  ProgramRunner r;
  for (const bool left : {false, true}) {
    for (const Size s : {Size{0, 100, 100}, Size{2, 100, 0}, Size{2, 0, 100}}) {
      const Case c{left, true, false, false, false};
      const Numbers a(static_cast<size_t>(s.batch * s.n * s.n), 1);
      EXPECT_TRUE(r.RunEverywhere(r.Parse(ProgramOf("f64", s, c)), {a, {}})[0].empty());
    }
  }
}

// ---- one block ----
// Lines adjacent, or elements; elements in the order of addresses, or against it.
template <typename T>
void SolveOne(cpu::SolveBlockFn solve, cpu::GemmType type, int64_t n, int64_t lines, bool adjacent, int64_t direction,
              bool unit) {
  std::mt19937 random(static_cast<unsigned>(n * 100 + lines));
  std::uniform_real_distribution<T> some(-1, 1);
  AlignedElements<T> triangle(cpu::kTriangleElements);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i < n; ++i) triangle.data()[j * cpu::kFactorBlock + i] = some(random) / T{8};
    triangle.data()[cpu::kTriangleDiagonal + j] = unit ? std::numeric_limits<T>::quiet_NaN() : 2 + some(random);
  }
  const int64_t step = adjacent ? lines + 5 : 1, line = adjacent ? 1 : n + 5;
  std::vector<T> x(static_cast<size_t>((n + 5) * (lines + 5)), T{77});
  const int64_t first = direction > 0 ? 0 : (n - 1) * step;
  const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(first + direction * i * step + j * line); };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < lines; ++j) x[at(i, j)] = some(random);
  }
  const std::vector<T> b = x;
  solve({triangle.data(), unit, x.data() + first, direction * step, line, n, lines, type});
  std::vector<bool> touched(x.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < lines; ++j) {
      double sum = double{x[at(i, j)]} * (unit ? 1.0 : double{triangle.data()[cpu::kTriangleDiagonal + i]});
      for (int64_t k = 0; k < i; ++k) {
        sum += double{triangle.data()[k * cpu::kFactorBlock + i]} * double{x[at(k, j)]};
      }
      EXPECT_NEAR(sum, b[at(i, j)], (sizeof(T) == 8 ? 1e-14 : 1e-5) * (1 + std::fabs(sum) + static_cast<double>(n)))
          << i << ", " << j;
      touched[at(i, j)] = true;
    }
  }
  for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(touched[i] || x[i] == T{77}) << i;
}

TEST(BlockedTriangularSolve, EachInstructionSet) {
  ForEachSolveBlock(
      {1, 2, 3, 4, 5, 17, 63, 64}, {1, 2, 3, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100},
      [](const InstructionSet& set, int64_t n, int64_t lines, bool adjacent, int64_t direction, bool unit) {
        SolveOne<double>(set.solve, cpu::GemmType::kF64, n, lines, adjacent, direction, unit);
        SolveOne<float>(set.solve, cpu::GemmType::kF32, n, lines, adjacent, direction, unit);
      });
}

}  // namespace
}  // namespace ricci::testing
