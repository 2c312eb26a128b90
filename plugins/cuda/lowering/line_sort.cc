#include "cuda/lowering/line_sort.h"

#include <algorithm>
#include <optional>

#include "cuda/device/types.h"
#include "cuda/driver/gpu.h"
#include "ricci/attr.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kShortLine = 48;  // up to here the row's own lowering counts, in registers, and fuses
constexpr int64_t kMostTile = 2048, kLeastTile = 256;
constexpr int64_t kMostShared = 46 << 10;  // of 48 KB, which every block has
constexpr int64_t kMostBlocks = INT32_MAX;

int64_t KeyBytes(uint32_t dtype) {
  const int64_t word = BitsOf(PartOf(dtype)) > 32 ? 8 : 4;
  return IsComplex(dtype) ? 2 * word : word;
}

// ---- the operation ----
std::optional<ricci_type_desc> TypeOf(const ricci_op* op, uint32_t operand) {
  ricci_type_desc desc = ricci_type_desc_default();
  ricci_status* const failed = ricci_type_get(op->ctx, op->in_types[operand], &desc);
  if (failed == nullptr) return desc;
  ricci_status_free(failed);
  return std::nullopt;
}

// Nothing: the row's own lowering serves.
std::optional<LineSort> SortOf(const ricci_op* op) {
  LineSort s;
  const int64_t dimension = ricci_op_int(op, "dimension", 0);
  s.keys = static_cast<size_t>(ricci_op_int(op, "num_keys", 1));
  for (uint32_t i = 0; i < op->n_in; ++i) {
    const std::optional<ricci_type_desc> type = TypeOf(op, i);
    if (!type) return std::nullopt;
    s.dtypes.push_back(type->dtype);
    if (i != 0) continue;
    for (int64_t d = 0; d < type->rank; ++d) {
      (d < dimension ? s.outer : d == dimension ? s.n : s.inner) *= d == dimension ? 1 : type->dims[d];
    }
    s.n = type->dims[dimension];
  }
  if (s.n <= kShortLine || s.outer * s.inner == 0 || !CutLines(s)) return std::nullopt;
  return s;
}

ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
  return Guard([&]() -> ricci_status* {
    *accept = SortOf(op) ? 1 : 0;
    return nullptr;
  });
}

// ---- the launches ----
ricci_source_scalar Scalar(int64_t v) { return {RICCI_I64, 0, static_cast<uint64_t>(v)}; }

ricci_status* GiveLaunches(void*, const ricci_op* op, const ricci_source_args* a) {
  return Guard([&]() -> ricci_status* {
    const LineSort sort = *SortOf(op);
    DeviceText device;
    const std::string functions = PrintLineSort(sort, FrameOf(sort), device), text = device.Text() + functions;
    ricci_source s = ricci_source_default();
    s.text = {text.data(), text.size()};
    s.workspace_bytes = sort.workspace_bytes();
    return GiveLineSort(sort, s, *a);
  });
}

}  // namespace

bool CutLines(LineSort& s) {
  const auto round_up = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  int64_t bytes = 0, widest = 1;  // as the compiler lays out the words of a key
  for (size_t k = 0; k < s.keys; ++k) {
    const int64_t words = IsComplex(s.dtypes[k]) ? 2 : 1, word = KeyBytes(s.dtypes[k]) / words;
    bytes = round_up(bytes, word) + words * word;
    widest = std::max(widest, word);
  }
  bytes = round_up(bytes, widest) + 2;  // and of the order
  s.tile = kLeastTile;
  while (s.tile < std::min(s.n, kMostTile) && 2 * s.tile * bytes <= kMostShared) s.tile *= 2;
  if (s.tile * bytes > kMostShared) return false;
  for (int64_t run = s.tile; run < s.n; run *= 2) ++s.merges;
  return s.tiles() <= kMostBlocks / (s.outer * s.inner);
}

// The last launch writes the results; those before it the other arrays and the results in turn.
ricci_status* GiveLineSort(const LineSort& sort, ricci_source s, const ricci_source_args& a) {
  ricci_source_scalar scalars[] = {Scalar(sort.merges % 2 == 0), Scalar(0)};
  s.entry = ricci_str_of("sort_tiles");
  s.grid[0] = sort.blocks();
  s.block[0] = sort.tile / LineSort::kItems;
  s.scalars = scalars;
  s.n_scalars = 1;
  if (ricci_status* failed = a.give(a.sink, &s)) return failed;
  s.entry = ricci_str_of("sort_merge");
  s.n_scalars = 2;
  for (int64_t merge = 0; merge < sort.merges; ++merge) {
    scalars[0] = Scalar((sort.merges - merge) % 2);
    scalars[1] = Scalar(sort.tile << merge);
    if (ricci_status* failed = a.give(a.sink, &s)) return failed;
  }
  return nullptr;
}

uint64_t LineSort::OffsetOf(size_t operand) const {
  uint64_t offset = 0;
  for (size_t i = 0; i < operand; ++i) {
    offset += Aligned(static_cast<uint64_t>(outer * n * inner) * ricci_dtype_size(dtypes[i]));
  }
  return offset;
}

ricci_status* AddLineSort(ricci_ctx* ctx) {
  ricci_prim sort = 0;
  if (ricci_status* none = ricci_prim_find(ctx, "sort", 4, &sort)) {
    ricci_status_free(none);
    return nullptr;
  }
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_SOURCE;
  l.priority = 10;
  l.target = ricci_str_of("cuda");
  l.match = Match;
  l.source = GiveLaunches;
  return ricci_prim_add_lowering(ctx, sort, &l);
}

}  // namespace ricci::cuda
