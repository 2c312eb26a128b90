// BlockAlgebra: products taken away in place and systems of one triangular matrix, of real or complex numbers, in
// scratch of its own; what factors and triangular solutions by blocks are made of.
#ifndef RICCI_CPU_BLOCK_ALGEBRA_H_
#define RICCI_CPU_BLOCK_ALGEBRA_H_
#include <complex>

#include "cpu/library/library_op.h"

namespace ricci::cpu {

// The code and the scratch of a BlockAlgebra: part of what is planned. All strides and sizes are in numbers.
struct BlockTools {
  GemmType type{};  // of the parts of numbers: kF32 or kF64
  int parts = 1;    // 2: numbers are complex
  GemmTileFn tile = nullptr;
  SolveBlockFn solve = nullptr;
  int64_t b_offset = 0, triangle_offset = 0, scratch_bytes = 0;

  int64_t width() const { return kFactorBlock / parts; }         // of diagonal blocks
  int64_t size() const { return SizeOf(type) * parts; }          // of a number, in bytes
  uint64_t real_products() const { return parts == 2 ? 4 : 1; }  // that one of numbers takes
  // The first elements of n, in whole blocks.
  int64_t HalfOf(int64_t n) const { return (n / 2 + width() - 1) / width() * width(); }
};
// For matrices of at most `most` rows and columns of an array's dtype. False: there are none of that dtype.
bool ToolsFor(uint32_t dtype, int64_t most, BlockTools& out);

// f(T{}) with the type T of its numbers.
template <typename F>
void ForNumbersOf(const BlockTools& t, F&& f) {
  const bool wide = t.type == GemmType::kF64;
  if (t.parts == 2) return wide ? f(std::complex<double>{}) : f(std::complex<float>{});
  wide ? f(double{}) : f(float{});
}

// t x = b, where b is given in x, and t[i, j] at i * row + j * column. Elements of one line of x are `step` apart,
// lines `line`; one of them is 1.
struct TriangularSystem {
  const void* t;
  int64_t row, column;
  bool forward;  // t is lower: element 0 is found first
  bool unit;     // the diagonal is ones, and not read
  void* x;
  int64_t step, line, n, lines;
};

class BlockAlgebra {
 public:
  BlockAlgebra(const BlockTools& tools, void* scratch) : tools_(tools), scratch_(static_cast<char*>(scratch)) {}

  // c[m, n] -= sum over k of a[m, k] b[n, k]. Of complex numbers, rows of a are adjacent.
  void Subtract(const GemmMatrix& a, const GemmMatrix& b, void* c, int64_t c_stride, int64_t m, int64_t n,
                int64_t k) const;
  void Solve(const TriangularSystem& s) const { SolveElements(s, 0, s.n); }
  // A diagonal block as solutions read it (factor_tile.h): `Solve` overwrites it.
  void* Triangle() const { return scratch_ + tools_.triangle_offset; }
  // With that block, of which t is not read.
  void SolveBlock(const TriangularSystem& s) const {
    tools_.solve({Triangle(), s.unit, s.x, s.step, s.line, s.n, s.lines, tools_.type, tools_.parts});
  }
  // The matrix with its rows at stride `outer`, its steps at stride `k`, from element `at` of `data` on.
  GemmMatrix View(const void* data, int64_t at, int64_t outer, int64_t k) const {
    return {At(data, at), outer, k, nullptr, nullptr, tools_.type};
  }

 private:
  struct Elements {
    int64_t first, end;
    int64_t count() const { return end - first; }
  };
  void SolveElements(const TriangularSystem& s, int64_t first, int64_t end) const;
  void SubtractFound(const TriangularSystem& s, Elements found, Elements rest) const;
  void SolveDiagonal(const TriangularSystem& s, int64_t first, int64_t end) const;
  template <typename T>
  void CopyTriangle(const TriangularSystem& s, int64_t first, int64_t end) const;
  const void* At(const void* data, int64_t at) const;
  void* At(void* data, int64_t at) const { return const_cast<void*>(At(static_cast<const void*>(data), at)); }

  const BlockTools& tools_;
  char* scratch_;
};

}  // namespace ricci::cpu
#endif
