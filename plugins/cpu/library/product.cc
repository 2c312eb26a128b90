#include "cpu/library/product.h"

#include <algorithm>

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = 24 * 24 * 24;              // m n k below which the generated kernel is as good and fuses
constexpr int64_t kTaskWork = int64_t{1} << 21;          // m n k of one task at least, if there is more than one
constexpr int64_t kTasks = 8;                            // wanted; more when the tiles are at their largest
constexpr int64_t kTileRows = 1024, kTileColumns = 512;  // columns are packed once for all rows

// Tiles are halved along their longer side until there are enough, but not below kTaskWork.
void ChooseTiles(Product& p) {
  const auto even = [](int64_t size, int64_t parts, int64_t step) {
    return std::min(size, ((size + parts - 1) / parts + step - 1) / step * step);
  };
  p.m_tiles = (p.m + kTileRows - 1) / kTileRows;
  p.n_tiles = (p.n + kTileColumns - 1) / kTileColumns;
  for (;;) {
    p.tile_m = even(p.m, p.m_tiles, 2), p.tile_n = even(p.n, p.n_tiles, 32);
    const int64_t work = p.tile_m * p.tile_n * p.k;
    if (p.batch * p.m_tiles * p.n_tiles >= kTasks || work < 2 * kTaskWork) break;
    int64_t& parts = p.tile_m >= p.tile_n ? p.m_tiles : p.n_tiles;
    parts *= 2;
  }
  p.m_tiles = (p.m + p.tile_m - 1) / p.tile_m, p.n_tiles = (p.n + p.tile_n - 1) / p.tile_n;
  p.batch_per_task = std::clamp<int64_t>(kTaskWork / (p.tile_m * p.tile_n * p.k), 1, p.batch);
}

void LayOutScratch(Product& p) {
  const int64_t element = SizeOf(p.sum);
  const auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  p.b_offset = aligned(GemmPacked(std::min(p.tile_m, kGemmRows)) * element);
  p.sums_offset = p.b_offset + aligned(GemmPacked(p.tile_n) * element);
  p.scratch_bytes = p.sums_offset + (p.c_type == p.sum ? 0 : aligned(p.tile_m * p.tile_n * element));
}

// The part of an operand from row or column `first` on, `elements` after its begin.
GemmMatrix From(int64_t first, const ProductOperand& x, const ricci_launch& l, int64_t elements) {
  const bool table = !x.outer.at.empty();
  if (!table) elements += first * x.outer.stride;
  return {static_cast<const char*>(l.in[x.number]) + elements * SizeOf(x.type),
          x.outer.stride,
          x.steps.stride,
          table ? x.outer.at.data() + first : nullptr,
          x.steps.at.empty() ? nullptr : x.steps.at.data(),
          x.type,
          /*shared=*/false,
          x.outer.runs,
          x.steps.runs};
}

void RunTile(const Product& p, const ricci_launch& l, int64_t batch, int64_t m0, int64_t n0) {
  int64_t a = 0, b = 0, c = m0 * p.c_stride + n0, rest = batch;
  for (size_t i = p.batch_dims.size(); i-- > 0;) {
    const BatchDim& d = p.batch_dims[i];
    a += rest % d.size * d.a_stride;
    b += rest % d.size * d.b_stride;
    c += rest % d.size * d.c_stride;
    rest /= d.size;
  }
  auto* scratch = static_cast<char*>(l.scratch);
  const GemmTile tile{From(m0, p.a, l, a),
                      From(n0, p.b, l, b),
                      static_cast<char*>(l.out[0]) + c * SizeOf(p.c_type),
                      p.c_stride,
                      p.c_type,
                      p.sum,
                      std::min(p.tile_m, p.m - m0),
                      std::min(p.tile_n, p.n - n0),
                      p.k};
  p.tile(tile, {scratch, scratch + p.b_offset, scratch + p.sums_offset});
}

}  // namespace

bool SetTypes(Product& p, const Array& a, const Array& b, const Array& c) {
  if (!TypeOf(a.dtype, p.a.type) || !TypeOf(b.dtype, p.b.type) || !TypeOf(c.dtype, p.c_type)) return false;
  p.sum = p.c_type == GemmType::kF64 ? GemmType::kF64 : GemmType::kF32;
  // Operands must not be rounded to the type of the sums.
  return p.sum == GemmType::kF64 || (p.a.type != GemmType::kF64 && p.b.type != GemmType::kF64);
}

bool IsWorthTiles(const Product& p) {
  // Far above any memory, and low enough that no product of sizes overflows.
  const double all = static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n);
  if (p.batch < 1 || all * static_cast<double>(p.k) >= 0x1p62) return false;
  // A product with a vector reads its matrix once, which needs no packing.
  return p.m >= 2 && p.n >= 2 && p.k >= 1 && p.m * p.n * p.k >= kSmallest;
}

void LayOut(Product& p) {
  ChooseTiles(p);
  LayOutScratch(p);
  p.tile = BestTile();
}

void Describe(std::unique_ptr<Product> p, ricci_library_plan* out) {
  out->tasks = (p->batch + p->batch_per_task - 1) / p->batch_per_task * p->m_tiles * p->n_tiles;
  out->flops = 2 * static_cast<uint64_t>(p->batch * p->m * p->n * p->k);
  out->scratch_bytes = static_cast<uint64_t>(p->scratch_bytes);
  out->state = p.release();
}

ricci_status* RunProduct(void* product, const ricci_launch* l) {
  const Product& p = *static_cast<const Product*>(product);
  const int64_t n0 = l->task % p.n_tiles * p.tile_n, m0 = l->task / p.n_tiles % p.m_tiles * p.tile_m,
                first = l->task / p.n_tiles / p.m_tiles * p.batch_per_task;
  for (int64_t i = first; i < std::min(p.batch, first + p.batch_per_task); ++i) RunTile(p, *l, i, m0, n0);
  return nullptr;
}

void DropProduct(void* product) { delete static_cast<Product*>(product); }

}  // namespace ricci::cpu
