// Tile: sums of products that the threads of a block compute together, for a rectangle of rows and columns.
//
// A kernel whose point holds a long sum of products of two values, of which one does not depend on some dimensions of
// the domain (the columns) and the other one not on others (the rows), reads each of these values once for every column
// or row. A block therefore takes a tile of rows and columns: step by step of the sum it brings what the tile needs
// into shared memory, once, and each thread adds the products of several rows and columns to sums in registers.
//
// What is recognised is dependence, not an operation: the two factors may be any plain expressions of loads (a cast, a
// scale, rows chosen by indices, the windows of a convolution), and what the point does with its sums is whatever it
// did without tiles. Dimensions that both factors depend on, or neither, are the batch.
//
// Operands may have any layout, and several dimensions may be rows, columns, batch or sum together. A convolution is
// such a product too, whose rows are windows. Where the pattern does not hold, nothing changes: more than two sums in a
// point, or few rows or columns of a small product. A thread holds at most 64 bytes of what it computes for a step,
// else the step has fewer trips.
//
// Not there yet: `tcgen05`, numbers of 4 bits, and TMA for what is converted or computed. Clusters, multicast and warps
// for copies alone are only in the form for large products (pair_tile.h), which has one product. In the other form with
// TMA one thread of the first group asks for copies, which waits for the other group meanwhile. Where threads copy, one
// group of products is in flight. `mma.sync` has up to 48 KB of shared memory, and computes tiles of fewer than 64
// rows, integers of 8 bits and tf32 on sm_90a too. Products of bf16 with f16, and sums of integers that no tensor core
// has (of 16 bits, in i64), are in registers. Products with fewer than 4 rows or columns are teams'. Windows of
// convolutions are read element by element, and those with a padding do not go through tensor cores. Computed factors
// of convolutions are stored first.
#ifndef RICCI_CUDA_PRODUCT_TILE_H_
#define RICCI_CUDA_PRODUCT_TILE_H_
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/driver/text_target.h"
#include "cuda/schedule/vector_access.h"
#include "cuda/tile/tensor_form.h"
#include "cuda/tile/tile_size.h"

namespace ricci::cuda {

enum class Side : uint8_t { kRows, kColumns, kBatch };

inline constexpr int64_t kTurned = 4;

struct TileOperand {
  uint32_t value = 0;      // the instruction whose value is brought into shared memory,
  uint32_t dtype = 0;      // as this type, which holds all its values
  VectorAccess access;     // of neighbours along the sum, or along the rows (columns)
  bool along_sum = false;  // also the order in which threads take the elements
  // Brought along the side, but kept along the sum: a thread turns blocks of kTurned elements of so many rows
  // (columns).
  bool is_turned = false;
  bool is_copy = false;  // what is loaded is what is kept, in the same order, so that bytes can be copied
  TensorForm form;       // by which the GPU copies it itself, where addresses are aligned
};

struct TileProduct {
  std::vector<uint32_t> loops;   // REDUCEs, each in the one before
  uint32_t first = 0, last = 0;  // YIELD of the outermost and of the innermost loop
  int64_t trips = 1;             // of all loops together
  uint32_t product = 0;          // the instruction that multiplies; of several that are added in a trip, one
  bool contracted = false;       // it is not rounded before it is added
  TileOperand operands[2];       // by side: of rows, of columns
};

struct Tile {
  std::vector<TileProduct> products;  // empty: without tiles
  std::vector<TileProduct> sums;      // of these the first of each sum, to which the others are added too
  std::vector<Side> sides;            // by dimension of the domain
  int64_t extents[3] = {1, 1, 1};     // by side: the product of its dimensions
  TileSize size;
  TileKind kind = TileKind::kRegisters;
  bool has_forms = false;              // all operands have one
  std::string why_no_forms;            // of groups of warps, if not
  std::optional<VectorAccess> points;  // what is computed from the sums; nothing: point by point, as without tiles
  std::string reason;                  // for the text

  bool IsUsed() const { return !products.empty(); }
  bool on_tensor_cores() const { return kind != TileKind::kRegisters; }
  int64_t TilesOf(Side side) const;
  int64_t tiles() const { return TilesOf(Side::kRows) * TilesOf(Side::kColumns) * extents[2]; }
};
// By what multiplies them best on the target: groups of warps, warps on tensor cores (tensor_format.h; not all products
// are for these), or the registers of threads.
Tile TileOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges,
            const TextTarget& target);

}  // namespace ricci::cuda
#endif
