// Product: batched matrix products C[batch] = A[batch] B[batch] by packed tiles, planned from shapes and run in tasks.
//
// What dot_general and convolutions have in common. Operands are addressed by strides or, where dimensions do not join,
// by tables of offsets, so that every layout and every window is read in place. Tasks are tiles fixed by shape, each of
// which packs its own operands: our pool distributes them, so bits do not depend on the thread count, and no task waits
// for another.
#ifndef RICCI_CPU_PRODUCT_H_
#define RICCI_CPU_PRODUCT_H_
#include <memory>

#include "cpu/library/library_op.h"

namespace ricci::cpu {

// Rows (A) or columns (B), or the steps of the sum.
struct Extent {
  int64_t stride = 1;
  Ints at;            // offsets of the elements; empty: by the stride
  bool runs = false;  // the offsets increase, and many differ by 1
};
struct ProductOperand {
  uint32_t number = 0;  // of the operation's operands
  GemmType type{};
  Extent outer, steps;
};
// Strides of the three arrays along one dimension that all of them have, or that some have at stride 0.
struct BatchDim {
  int64_t size, a_stride, b_stride, c_stride;
};

struct Product {
  ProductOperand a, b;
  GemmType c_type{}, sum{};
  std::vector<BatchDim> batch_dims;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t c_stride = 0;  // from row to row of C, whose columns are adjacent

  int64_t tile_m = 0, tile_n = 0, m_tiles = 1, n_tiles = 1, batch_per_task = 1;
  int64_t b_offset = 0, sums_offset = 0, scratch_bytes = 0;
  GemmTileFn tile = nullptr;
};

// From the types of the arrays. False: tiles have no such types.
bool SetTypes(Product& p, const Array& a, const Array& b, const Array& c);
// False: the generated kernel is as good, and fuses, or the sizes are beyond any memory.
bool IsWorthTiles(const Product& p);
// Chooses tiles and scratch, once shapes and types are known.
void LayOut(Product& p);
// What a library's plan says about it, which takes it over.
void Describe(std::unique_ptr<Product> p, ricci_library_plan* out);
// For ricci_library: runs one task, and releases.
ricci_status* RunProduct(void* product, const ricci_launch* launch);
void DropProduct(void* product);

}  // namespace ricci::cpu
#endif
