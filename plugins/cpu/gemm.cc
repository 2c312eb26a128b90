// dot_general as batched matrix products: C[batch] = A[batch] B[batch], C row-major, A and B at any strides.
//
// If the free dimensions of an operand, or the contracted ones, do not lie at one stride, tables hold the offsets of
// the elements, so every layout is accepted; the dimensions of C are always in the order of the operands'. Tasks are
// tiles fixed by shape, each of which packs its own operands: our pool distributes them, so bits do not depend on the
// thread count, and no task waits for another.
#include "gemm.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "library_op.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = 24 * 24 * 24;              // m n k below which the generated kernel is as good and fuses
constexpr int64_t kNarrow = 8;                           // likewise columns or steps
constexpr int64_t kTaskWork = int64_t{1} << 21;          // m n k of one task at least, if there is more than one
constexpr int64_t kTasks = 8;                            // wanted; more when the tiles are at their largest
constexpr int64_t kTileRows = 1024, kTileColumns = 512;  // columns are packed once for all rows

Ints Attr(const ricci_op* op, std::string_view name) {
  const ricci_attr* a = FindAttr(op, name);
  if (a == nullptr) return {};
  const auto* at = static_cast<const int64_t*>(a->data);
  return {at, at + a->count};
}

// ---- shapes ----
// Some dimensions of an array as one.
struct Group {
  int64_t size = 1, stride = 1;
  bool joined = true;  // their elements lie at that stride
};
Group Join(const Array& x, const Ints& which) {
  Group out;
  for (size_t i = which.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(which[i]);
    if (x.dims[d] == 1) continue;
    if (out.size == 1) out.stride = x.strides[d];
    out.joined &= x.strides[d] == out.size * out.stride;
    out.size *= x.dims[d];
  }
  return out;
}
// The offsets of the elements of such a group.
Ints OffsetsOf(const Array& x, const Ints& which) {
  Ints all = {0};
  for (const int64_t dimension : which) {
    const auto d = static_cast<size_t>(dimension);
    Ints next;
    next.reserve(all.size() * static_cast<size_t>(x.dims[d]));
    for (const int64_t from : all) {
      for (int64_t i = 0; i < x.dims[d]; ++i) next.push_back(from + i * x.strides[d]);
    }
    all = std::move(next);
  }
  return all;
}

Ints Without(size_t rank, const Ints& a, const Ints& b) {
  Ints out;
  for (size_t d = 0; d < rank; ++d) {
    const auto i = static_cast<int64_t>(d);
    if (std::find(a.begin(), a.end(), i) == a.end() && std::find(b.begin(), b.end(), i) == b.end()) out.push_back(i);
  }
  return out;
}

// Contracted pairs in the order of the left operand's dimensions: any order gives the same sums.
void SortPairs(Ints& l, Ints& r) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < l.size(); ++i) pairs.emplace_back(l[i], r[i]);
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < l.size(); ++i) std::tie(l[i], r[i]) = pairs[i];
}

// ---- the product ----
struct BatchDim {
  int64_t size, a_stride, b_stride;
};

struct Product {
  GemmType a_type{}, b_type{}, c_type{}, sum{};
  std::vector<BatchDim> batch_dims;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Group rows, columns, a_steps, b_steps;
  Ints rows_at, columns_at, a_steps_at, b_steps_at;  // offsets, of those that do not join
  int64_t tile_m = 0, tile_n = 0, m_tiles = 1, n_tiles = 1, batch_per_task = 1;
  int64_t b_offset = 0, sums_offset = 0, scratch_bytes = 0;
  GemmTileFn tile = nullptr;
};

bool ReadProduct(const ricci_op* op, Product& p) {
  Array a, b, c;
  if (!ReadType(op, op->in_types[0], a) || !ReadType(op, op->in_types[1], b) || !ReadType(op, op->out_types[0], c)) {
    return false;
  }
  if (!TypeOf(a.dtype, p.a_type) || !TypeOf(b.dtype, p.b_type) || !TypeOf(c.dtype, p.c_type)) return false;
  p.sum = p.c_type == GemmType::kF64 ? GemmType::kF64 : GemmType::kF32;
  // Operands must not be rounded to the type of the sums.
  if (p.sum == GemmType::kF32 && (p.a_type == GemmType::kF64 || p.b_type == GemmType::kF64)) return false;
  Ints l = Attr(op, "lhs_contract"), r = Attr(op, "rhs_contract");
  const Ints lb = Attr(op, "lhs_batch"), rb = Attr(op, "rhs_batch");
  SortPairs(l, r);
  const Ints rows = Without(a.dims.size(), l, lb), columns = Without(b.dims.size(), r, rb);
  p.rows = Join(a, rows), p.columns = Join(b, columns), p.a_steps = Join(a, l), p.b_steps = Join(b, r);
  p.m = p.rows.size, p.n = p.columns.size, p.k = p.a_steps.size;
  for (size_t i = 0; i < lb.size(); ++i) {
    const auto da = static_cast<size_t>(lb[i]), db = static_cast<size_t>(rb[i]);
    p.batch_dims.push_back({a.dims[da], a.strides[da], b.strides[db]});
    p.batch *= a.dims[da];
  }
  // Far above any memory, and low enough that no product of sizes overflows.
  return p.batch > 0 &&
         static_cast<double>(p.batch * p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) < 0x1p62;
}

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

bool Make(const ricci_op* op, Product& p) {
  if (!ReadProduct(op, p)) return false;
  // A product with a vector reads its matrix once, which needs no packing.
  if (p.m < 2 || p.n < 2 || p.k < 1 || p.m * p.n * p.k < kSmallest) return false;
  // Few columns or steps leave panels half empty; so do few rows and columns, for which a loop over k is as good.
  const bool plain = p.columns.joined && p.columns.stride == 1;
  if ((plain && (p.n <= kNarrow || p.k <= kNarrow)) || (p.m <= kNarrow && p.n <= kNarrow)) return false;
  ChooseTiles(p);
  LayOutScratch(p);
  p.tile = BestTile();
  return true;
}

// What only a run needs.
void FillTables(const ricci_op* op, Product& p) {
  Array a, b;
  if (!ReadType(op, op->in_types[0], a) || !ReadType(op, op->in_types[1], b)) return;
  Ints l = Attr(op, "lhs_contract"), r = Attr(op, "rhs_contract");
  SortPairs(l, r);
  if (!p.rows.joined) p.rows_at = OffsetsOf(a, Without(a.dims.size(), l, Attr(op, "lhs_batch")));
  if (!p.columns.joined) p.columns_at = OffsetsOf(b, Without(b.dims.size(), r, Attr(op, "rhs_batch")));
  if (!p.a_steps.joined) p.a_steps_at = OffsetsOf(a, l);
  if (!p.b_steps.joined) p.b_steps_at = OffsetsOf(b, r);
}

// ---- the lowering ----
ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
  return GuardLibrary([&]() -> ricci_status* {
    Product p;
    *accept = Make(op, p);
    return nullptr;
  });
}

ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
  return GuardLibrary([&]() -> ricci_status* {
    auto p = std::make_unique<Product>();
    if (!Make(op, *p)) return ricci_status_make(RICCI_INTERNAL, "dot_general: planned what did not match", 39);
    FillTables(op, *p);
    out->tasks = (p->batch + p->batch_per_task - 1) / p->batch_per_task * p->m_tiles * p->n_tiles;
    out->flops = 2 * static_cast<uint64_t>(p->batch * p->m * p->n * p->k);
    out->scratch_bytes = static_cast<uint64_t>(p->scratch_bytes);
    out->state = p.release();
    return nullptr;
  });
}

// The part of an operand from row or column `first` on, `elements` after its begin.
GemmMatrix From(int64_t first, const void* data, GemmType type, int64_t elements, const Group& outer,
                const Ints& outer_at, const Group& k, const Ints& k_at) {
  if (outer.joined) elements += first * outer.stride;
  return {static_cast<const char*>(data) + elements * SizeOf(type),
          outer.stride,
          k.stride,
          outer.joined ? nullptr : outer_at.data() + first,
          k.joined ? nullptr : k_at.data(),
          type};
}

void RunTile(const Product& p, const ricci_launch& l, int64_t batch, int64_t m0, int64_t n0) {
  int64_t a = 0, b = 0, rest = batch;
  for (size_t i = p.batch_dims.size(); i-- > 0;) {
    const BatchDim& d = p.batch_dims[i];
    a += rest % d.size * d.a_stride;
    b += rest % d.size * d.b_stride;
    rest /= d.size;
  }
  auto* scratch = static_cast<char*>(l.scratch);
  const GemmTile tile{From(m0, l.in[0], p.a_type, a, p.rows, p.rows_at, p.a_steps, p.a_steps_at),
                      From(n0, l.in[1], p.b_type, b, p.columns, p.columns_at, p.b_steps, p.b_steps_at),
                      static_cast<char*>(l.out[0]) + ((batch * p.m + m0) * p.n + n0) * SizeOf(p.c_type),
                      p.n,
                      p.c_type,
                      p.sum,
                      std::min(p.tile_m, p.m - m0),
                      std::min(p.tile_n, p.n - n0),
                      p.k};
  p.tile(tile, {scratch, scratch + p.b_offset, scratch + p.sums_offset});
}

ricci_status* Launch(void* state, const ricci_launch* l) {
  const Product& p = *static_cast<const Product*>(state);
  const int64_t n0 = l->task % p.n_tiles * p.tile_n, m0 = l->task / p.n_tiles % p.m_tiles * p.tile_m,
                first = l->task / p.n_tiles / p.m_tiles * p.batch_per_task;
  for (int64_t i = first; i < std::min(p.batch, first + p.batch_per_task); ++i) RunTile(p, *l, i, m0, n0);
  return nullptr;
}

void DropState(void* state) { delete static_cast<Product*>(state); }

constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, DropState};

}  // namespace

ricci_status* AddGemm(ricci_ctx* ctx) { return AddLibrary(ctx, "dot_general", Match, &kLibrary); }

}  // namespace ricci::cpu
