#include "cpu/library/library_op.h"

#include <optional>
#include <string>

namespace ricci::cpu {
namespace {

bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

// By dtype: none, bool, four signed and four unsigned integers, then floats.
constexpr std::optional<GemmType> kTypes[] = {
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, GemmType::kF16, GemmType::kBF16, GemmType::kF32, GemmType::kF64};
static_assert(std::size(kTypes) == RICCI_F64 + 1);

}  // namespace

const ricci_attr* FindAttr(const ricci_op* op, std::string_view name) {
  for (uint32_t i = 0; i < op->n_attrs; ++i) {
    const ricci_str its = op->attrs[i].name;
    if (std::string_view(its.ptr, its.len) == name) return &op->attrs[i];
  }
  return nullptr;
}

Ints Attr(const ricci_op* op, std::string_view name) {
  const ricci_attr* a = FindAttr(op, name);
  if (a == nullptr) return {};
  const auto* at = static_cast<const int64_t*>(a->data);
  return {at, at + a->count};
}

int64_t IntOr(const ricci_op* op, std::string_view name, int64_t otherwise) {
  const ricci_attr* a = FindAttr(op, name);
  return a == nullptr ? otherwise : a->i;
}

void AddDimension(Ints& all, int64_t size, int64_t stride) {
  Ints next;
  next.reserve(all.size() * static_cast<size_t>(size));
  for (const int64_t from : all) {
    for (int64_t i = 0; i < size; ++i) next.push_back(from + i * stride);
  }
  all = std::move(next);
}

bool ReadType(const ricci_op* op, ricci_type type, Array& out) {
  ricci_type_desc desc = ricci_type_desc_default();
  if (ricci_status* s = ricci_type_get(op->ctx, type, &desc)) {
    ricci_status_free(s);
    return false;
  }
  out.dtype = desc.dtype;
  out.dims.assign(desc.dims, desc.dims + desc.rank);
  out.strides.assign(desc.rank, 1);
  for (size_t d = desc.rank; d-- > 1;) out.strides[d - 1] = out.strides[d] * out.dims[d];
  return true;
}

bool TypeOf(uint32_t dtype, GemmType& out) {
  if (dtype >= std::size(kTypes) || !kTypes[dtype]) return false;
  out = *kTypes[dtype];
  return true;
}
int64_t SizeOf(GemmType t) { return t == GemmType::kF64 ? 8 : t == GemmType::kF32 ? 4 : 2; }

GemmTileFn BestTile() {
  if (HasAvx512() && __builtin_cpu_supports("avx512bf16")) return GemmTileAvx512Bf16;
  return HasAvx512() ? GemmTileAvx512 : HasAvx2() ? GemmTileAvx2 : GemmTileSse2;
}
FactorRowsFn BestFactorRows() { return HasAvx512() ? FactorRowsAvx512 : HasAvx2() ? FactorRowsAvx2 : FactorRowsSse2; }
SolveBlockFn BestSolveBlock() { return HasAvx512() ? SolveBlockAvx512 : HasAvx2() ? SolveBlockAvx2 : SolveBlockSse2; }
PlaneTileFn BestPlaneTile() { return HasAvx512() ? PlaneTileAvx512 : HasAvx2() ? PlaneTileAvx2 : PlaneTileSse2; }
LuPanelFn BestLuPanel() { return HasAvx512() ? LuPanelAvx512 : HasAvx2() ? LuPanelAvx2 : LuPanelSse2; }
FftLinesFn BestFftLines() { return HasAvx512() ? FftLinesAvx512 : HasAvx2() ? FftLinesAvx2 : FftLinesSse2; }

ricci_status* AddLibrary(ricci_ctx* ctx, std::string_view primitive, decltype(ricci_lowering::match) match,
                         const ricci_library* library, int32_t priority) {
  ricci_prim prim = 0;
  if (ricci_status* s = ricci_prim_find(ctx, primitive.data(), primitive.size(), &prim)) {
    ricci_status_free(s);
    const std::string what =
        "cpu: primitive " + std::string(primitive) + " is not registered; add the plugin lax first";
    return ricci_status_make(RICCI_FAILED_PRECONDITION, what.data(), what.size());
  }
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LIBRARY;
  l.priority = priority;
  l.target = {"cpu", 3};
  l.match = match;
  l.library = library;
  return ricci_prim_add_lowering(ctx, prim, &l);
}

}  // namespace ricci::cpu
