// Products of complex numbers by tiles of reals: each instruction set, in every layout of the right operand, exactly.
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "instruction_sets.h"

namespace ricci::testing { namespace {

struct Shape {
  int64_t m, n, k;
};
// Of the right operand, in numbers.
struct Layout {
  int64_t outer, k;
  bool conjugate;
};

// Sums of small integers are exact.
template <typename T>
std::vector<std::complex<T>> SomeNumbers(int64_t n, std::mt19937& random) {
  std::vector<std::complex<T>> all(static_cast<size_t>(n));
  const auto part = [&] { return static_cast<T>(static_cast<int>(random() % 5) - 2); };
  for (auto& v : all) v = {part(), part()};
  return all;
}

// c -= a b in numbers with a column and a row to spare, which must stay as they are.
template <typename T>
void CheckTile(cpu::GemmTileFn tile, cpu::GemmType type, const Shape& s, const Layout& right) {
  std::mt19937 random(static_cast<unsigned>(s.m * 100 + s.n * 10 + s.k));
  const auto a = SomeNumbers<T>(s.m * s.k, random);
  const auto b = SomeNumbers<T>((s.n - 1) * right.outer + (s.k - 1) * right.k + 1, random);
  const int64_t stride = s.n + 1;
  auto c = SomeNumbers<T>((s.m + 1) * stride, random);
  auto want = c;
  for (int64_t i = 0; i < s.m * s.n * s.k; ++i) {
    const int64_t row = i / s.k / s.n, column = i / s.k % s.n, step = i % s.k;
    const auto v = b[static_cast<size_t>(column * right.outer + step * right.k)];
    want[static_cast<size_t>(row * stride + column)] -=
        a[static_cast<size_t>(row * s.k + step)] * (right.conjugate ? std::conj(v) : v);
  }
  cpu::GemmMatrix left{a.data(), 2 * s.k, 1, nullptr, nullptr, type},
      squares{b.data(), right.outer, right.k, nullptr, nullptr, type};
  squares.squares = true, squares.conjugate = right.conjugate;
  AlignedElements<T> pa(cpu::GemmPacked(s.m)), pb(cpu::GemmPacked(2 * s.n));
  tile({left, squares, c.data(), 2 * stride, type, type, s.m, 2 * s.n, 2 * s.k, /*subtract=*/true},
       {pa.data(), pb.data(), nullptr});
  for (size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], want[i]) << i;
}

TEST(ComplexGemm, AnyShapeAndLayout) {
  constexpr Shape kShapes[] = {{1, 1, 1}, {2, 3, 4}, {7, 8, 9}, {16, 16, 32}, {13, 17, 129}, {3, 33, 300}, {60, 5, 64}};
  for (const InstructionSet& set : InstructionSets()) {
    for (const Shape& s : kShapes) {
      for (const Layout& l :
           {Layout{1, s.n + 2, false}, {s.k + 1, 1, false}, {1, s.n, true}, {s.k, 1, true}, {3, 3 * s.n, false}}) {
        SCOPED_TRACE(set.name + " " + std::to_string(s.m) + ", " + std::to_string(s.n) + ", " + std::to_string(s.k));
        CheckTile<float>(set.tile, cpu::GemmType::kF32, s, l);
        CheckTile<double>(set.tile, cpu::GemmType::kF64, s, l);
      }
    }
  }
}

}  // namespace
}  // namespace ricci::testing
