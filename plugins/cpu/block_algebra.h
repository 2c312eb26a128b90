// BlockAlgebra: products taken away in place and systems of one triangular matrix, in scratch of its own; what LU
// factors and triangular solutions by blocks are made of.
#ifndef RICCI_CPU_BLOCK_ALGEBRA_H_
#define RICCI_CPU_BLOCK_ALGEBRA_H_
#include "factor_tile.h"

namespace ricci::cpu {

// The code and the scratch of a BlockAlgebra: part of what is planned.
struct BlockTools {
  GemmType type{};  // kF32 or kF64
  GemmTileFn tile = nullptr;
  SolveBlockFn solve = nullptr;
  int64_t b_offset = 0, triangle_offset = 0, scratch_bytes = 0;
};
// For matrices of at most `most` rows and columns.
BlockTools ToolsFor(GemmType type, int64_t most);

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

  // c[m, n] -= sum over k of a[m, k] b[n, k].
  void Subtract(const GemmMatrix& a, const GemmMatrix& b, void* c, int64_t c_stride, int64_t m, int64_t n,
                int64_t k) const;
  void Solve(const TriangularSystem& s) const { SolveElements(s, 0, s.n); }
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
