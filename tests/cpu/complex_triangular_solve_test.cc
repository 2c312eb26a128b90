// Triangular solutions of complex numbers by blocks: every attribute, instruction set and size around blocks, against a
// bound of the residual, and against the interpreter where numbers are not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "blocked_matrices.h"

namespace ricci::testing { namespace {

using Complex = std::complex<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Case {
  bool left, lower, transpose, conjugate, unit;
  std::string Attributes() const {
    const auto text = [](const char* name, bool v) { return std::string(" ") + name + (v ? "=true" : "=false"); };
    return text("left_side", left) + text("lower", lower) + text("transpose_a", transpose) +
           text("conjugate_a", conjugate) + text("unit_diagonal", unit);
  }
};
std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (int i = 0; i < 32; ++i) cases.push_back({(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0, (i & 16) != 0});
  return cases;
}
struct Size {
  int64_t batch, n, lines;
  std::string A() const { return Text(n, n); }
  std::string B(bool left) const { return left ? Text(n, lines) : Text(lines, n); }
  std::string Text(int64_t rows, int64_t columns) const {
    return "[" + std::to_string(batch) + "," + std::to_string(rows) + "," + std::to_string(columns) + "]";
  }
};

// The parts of complex numbers.
struct Parts {
  Numbers re, im;
  void Add(Complex v) { re.push_back(v.real()), im.push_back(v.imag()); }
  Complex operator[](int64_t i) const { return {re[static_cast<size_t>(i)], im[static_cast<size_t>(i)]}; }
};
class Source {
 public:
  explicit Source(int64_t seed) : random_(static_cast<unsigned>(seed)) {}
  Complex Next() {
    const double re = some_(random_);
    return {re, some_(random_)};
  }

 private:
  std::mt19937 random_;
  std::uniform_real_distribution<float> some_{-1, 1};
};
// What must not be read is NaN: the other triangle, and a diagonal of ones.
Parts Triangles(const Size& s, const Case& c) {
  Source source(s.n);
  Parts a;
  for (int64_t i = 0; i < s.batch * s.n * s.n; ++i) {
    const int64_t row = i / s.n % s.n, column = i % s.n;
    const Complex v = source.Next();
    const bool read = row == column ? !c.unit : (row > column) == c.lower;
    const Complex diagonal = v * 0.5 + (row % 2 == 0 ? Complex{1, -1} : Complex{0.25, 1.5});
    a.Add(!read ? Complex{kNaN, kNaN} : row == column ? diagonal : Complex{0x1p-6 * v});
  }
  return a;
}
Parts Right(const Size& s) {
  Source source(s.lines + 7);
  Parts b;
  for (int64_t i = 0; i < s.batch * s.n * s.lines; ++i) b.Add(source.Next());
  return b;
}

std::string ProgramOf(const std::string& part, const Size& s, const Case& c) {
  const std::string complex = part == "f64" ? "c128" : "c64", a = s.A(), b = s.B(c.left);
  return "program f(%p: " + part + a + ", %q: " + part + a + ", %u: " + part + b + ", %v: " + part + b +
         ") { %a: " + complex + a + " = complex(%p, %q) %b: " + complex + b + " = complex(%u, %v) %x: " + complex + b +
         " = triangular_solve(%a, %b)" + c.Attributes() + " %y: " + part + b + " = real(%x) %z: " + part + b +
         " = imag(%x) return %y, %z }";
}
// |b - op(a) x| <= 4 n eps |op(a)| |x|, element by element: the bound of real solutions (Higham, "Accuracy and
// stability of numerical algorithms", 8.1) for numbers of two parts; and no less than that of the sums of the check.
void CheckResidual(const Size& s, const Case& c, const Parts& a, const Parts& b, const Parts& x, double eps) {
  const auto matrix = [&](int64_t batch, int64_t i, int64_t k) {
    if (i == k && c.unit) return Complex{1};
    // The rows of x op(a) = b are the columns of op(a)^T x^T = b^T.
    const Complex v = a[(batch * s.n + (c.transpose == c.left ? k : i)) * s.n + (c.transpose == c.left ? i : k)];
    return c.conjugate ? std::conj(v) : v;
  };
  const auto at = [&](int64_t batch, int64_t i, int64_t j) {
    return batch * s.n * s.lines + (c.left ? i * s.lines + j : j * s.n + i);
  };
  const bool forward = c.lower != (c.transpose == c.left);
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t i = 0; i < s.n; ++i) {
      for (int64_t j = 0; j < s.lines; ++j) {
        Complex rest = b[at(batch, i, j)];
        double size = std::abs(rest);
        for (int64_t k = forward ? 0 : i; k < (forward ? i + 1 : s.n); ++k) {
          const Complex term = matrix(batch, i, k) * x[at(batch, k, j)];
          rest -= term;
          size += std::abs(term);
        }
        ASSERT_LE(std::abs(rest), 4 * static_cast<double>(s.n) * eps * size) << batch << ": " << i << ", " << j;
      }
    }
  }
}
void Check(ProgramRunner& r, const std::string& part, const Size& s, const Case& c, bool blocked) {
  SCOPED_TRACE(part + s.A() + s.B(c.left) + c.Attributes());
  const Parts a = Triangles(s, c), b = Right(s);
  const Program f = r.Parse(ProgramOf(part, s, c));
  EXPECT_EQ(IsBlocked(r, f), blocked);
  const std::vector<Numbers> x = r.Run(f, {a.re, a.im, b.re, b.im}, "cpu");
  ASSERT_EQ(x.size(), 2u);
  CheckResidual(s, c, a, b, {x[0], x[1]}, part == "f64" ? 0x1p-53 : 0x1p-24);
}

TEST(ComplexTriangularSolve, EveryAttribute) {
  ProgramRunner r;
  for (const Case& c : AllCases()) {
    for (const std::string part : {"f64", "f32"}) {
      Check(r, part, {2, 33, 17}, c, true);
      Check(r, part, {1, 100, 2}, c, true);
      Check(r, part, {2, 70, 1}, c, c.left == c.transpose);
    }
  }
}

TEST(ComplexTriangularSolve, SizesAroundBlocks) {
  constexpr Size kSizes[] = {{3, 15, 9},   {3, 16, 8},   {2, 31, 33},  {2, 32, 16},  {2, 33, 15},  {2, 63, 1},
                             {2, 64, 1},   {2, 64, 31},  {2, 65, 35},  {1, 96, 7},   {1, 129, 64}, {1, 70, 32},
                             {1, 70, 256}, {1, 40, 257}, {1, 40, 600}, {1, 300, 300}};
  ProgramRunner r;
  for (int way = 0; way < 8; ++way) {
    const Case c{(way & 1) != 0, (way & 2) != 0, (way & 4) != 0, way == 5, false};
    for (const Size& s : kSizes) {
      const bool blocked = s.lines > 1 ? s.n >= 16 : s.n >= 64 && c.left == c.transpose;
      Check(r, s.n % 2 == 0 ? "f32" : "f64", s, c, blocked);
    }
  }
}

// A number is finite if both of its parts are. A zero on the diagonal divides, as in JAX.
TEST(ComplexTriangularSolve, SpecialValuesSpreadAsInTheLoops) {
  ProgramRunner r;
  const Size s{1, 70, 20};
  const auto compare = [&](const Program& f, const Parts& a, const Parts& b) {
    const std::vector<Numbers> got = r.Run(f, {a.re, a.im, b.re, b.im}, "cpu"),
                               want = r.Run(f, {a.re, a.im, b.re, b.im}, "ref");
    const Parts x{got[0], got[1]}, y{want[0], want[1]};
    for (int64_t i = 0; i < s.n * s.lines; ++i) {
      if (std::isfinite(std::abs(y[i]))) {
        ASSERT_LE(std::abs(x[i] - y[i]), 1e-12 * (1 + std::abs(y[i]))) << i;
      } else {
        ASSERT_FALSE(std::isfinite(std::abs(x[i]))) << i;
      }
    }
  };
  for (const Case& c : AllCases()) {
    if (c.conjugate || c.unit) continue;
    SCOPED_TRACE(c.Attributes());
    const Program f = r.Parse(ProgramOf("f64", s, c));
    Parts b = Right(s);
    const auto line = [&](int64_t i, int64_t j) { return static_cast<size_t>(c.left ? i * s.lines + j : j * s.n + i); };
    b.re[line(0, 3)] = kNaN;
    b.im[line(40, 4)] = kInf;
    b.re[line(69, 5)] = -kInf;
    for (int64_t i = 0; i < s.n; ++i) b.re[line(i, 6)] = b.im[line(i, 6)] = 0;
    compare(f, Triangles(s, c), b);
    for (int64_t zero : {0, 32, 69}) {
      Parts a = Triangles(s, c);
      a.re[static_cast<size_t>(zero * s.n + zero)] = a.im[static_cast<size_t>(zero * s.n + zero)] = 0;
      compare(f, a, b);
    }
  }
}

TEST(ComplexTriangularSolve, NothingIsDoneForNoElements) {
  ProgramRunner r;
  for (const Size s : {Size{0, 100, 100}, Size{2, 100, 0}, Size{2, 0, 100}}) {
    const Case c{true, true, true, true, false};
    const Numbers a(static_cast<size_t>(s.batch * s.n * s.n), 1);
    EXPECT_TRUE(r.RunEverywhere(r.Parse(ProgramOf("f64", s, c)), {a, a, {}, {}})[0].empty());
  }
}

// ---- one block ----
// Lines adjacent, or elements; elements in the order of addresses, or against it.
template <typename T>
void SolveOne(cpu::SolveBlockFn solve, cpu::GemmType type, int64_t n, int64_t lines, bool adjacent, int64_t direction,
              bool unit) {
  using Number = std::complex<T>;
  Source source(n * 100 + lines);
  AlignedElements<T> memory(cpu::kTriangleElements);
  auto* triangle = reinterpret_cast<Number*>(memory.data());
  const int64_t width = cpu::kFactorBlock / 2, diagonal = cpu::kTriangleDiagonal / 2;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i < n; ++i) triangle[j * width + i] = Number(source.Next() / 8.0);
    triangle[diagonal + j] = Number(unit ? Complex{kNaN, kNaN} : source.Next() + Complex{1.0, j % 2 == 0 ? 2.0 : 0.25});
  }
  const int64_t step = adjacent ? lines + 5 : 1, line = adjacent ? 1 : n + 5,
                first = direction > 0 ? 0 : (n - 1) * step;
  std::vector<Number> x(static_cast<size_t>((n + 5) * (lines + 5)), Number{77, 78});
  const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(first + direction * i * step + j * line); };
  for (int64_t i = 0; i < n * lines; ++i) x[at(i / lines, i % lines)] = Number(source.Next());
  const std::vector<Number> b = x;
  solve({triangle, unit, x.data() + first, direction * step, line, n, lines, type, /*parts=*/2});
  std::vector<bool> touched(x.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < lines; ++j) {
      Complex rest = Complex(b[at(i, j)]) - Complex(x[at(i, j)]) * (unit ? 1.0 : Complex(triangle[diagonal + i]));
      for (int64_t k = 0; k < i; ++k) rest -= Complex(triangle[k * width + i]) * Complex(x[at(k, j)]);
      EXPECT_LE(std::abs(rest), (sizeof(T) == 8 ? 1e-13 : 1e-4)) << i << ", " << j;
      touched[at(i, j)] = true;
    }
  }
  for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(touched[i] || x[i] == (Number{77, 78})) << i;
}

TEST(ComplexTriangularSolve, EachInstructionSet) {
  ForEachSolveBlock(
      {1, 2, 3, 4, 5, 17, 31, 32}, {1, 2, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 65},
      [](const InstructionSet& set, int64_t n, int64_t lines, bool adjacent, int64_t direction, bool unit) {
        SolveOne<double>(set.solve, cpu::GemmType::kF64, n, lines, adjacent, direction, unit);
        SolveOne<float>(set.solve, cpu::GemmType::kF32, n, lines, adjacent, direction, unit);
      });
}

}  // namespace
}  // namespace ricci::testing
