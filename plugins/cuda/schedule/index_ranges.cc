#include "cuda/schedule/index_ranges.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

using Range = std::optional<IndexRange>;

// From the results of an operation at the ends of its operands; nothing if one of them overflows.
template <typename Op>
Range AtEnds(const IndexRange& a, const IndexRange& b, Op op) {
  IndexRange r{INT64_MAX, INT64_MIN};
  for (const int64_t x : {a.lo, a.hi}) {
    for (const int64_t y : {b.lo, b.hi}) {
      int64_t z;
      if (op(x, y, &z)) return {};
      r = {std::min(r.lo, z), std::max(r.hi, z)};
    }
  }
  return r;
}

// Those of a type that is converted to i64.
Range OfType(uint32_t dtype) {
  switch (dtype) {
    case RICCI_BOOL:
      return IndexRange{0, 1};
    case RICCI_I8:
      return IndexRange{INT8_MIN, INT8_MAX};
    case RICCI_U8:
      return IndexRange{0, UINT8_MAX};
    case RICCI_I16:
      return IndexRange{INT16_MIN, INT16_MAX};
    case RICCI_U16:
      return IndexRange{0, UINT16_MAX};
    case RICCI_I32:
      return IndexRange{INT32_MIN, INT32_MAX};
    case RICCI_U32:
      return IndexRange{0, UINT32_MAX};
    default:
      return {};
  }
}

}  // namespace

IndexRanges::IndexRanges(const ricci_kernel_table& k) : k_(k), ranges_(k.n_insts) {
  for (uint32_t v = 1; v < k.n_insts; ++v) ranges_[v] = Find(v);
}

Range IndexRanges::Find(uint32_t v) const {
  const ricci_inst& q = k_.insts[v];
  if (q.dtype != RICCI_I64) return {};
  switch (q.op) {
    case RICCI_K_CONST:
      return IndexRange{q.imm, q.imm};
    case RICCI_K_DOMAIN:
      return IndexRange{0, std::max<int64_t>(k_.domain[q.imm] - 1, 0)};
    case RICCI_K_FOR:
    case RICCI_K_REDUCE:
    case RICCI_K_SCAN: {  // the index; it ends at the bound, which is no longer an index
      const Range &lo = ranges_[q.a], &hi = ranges_[q.b];
      return lo && hi ? Range(IndexRange{lo->lo, std::max(lo->hi, hi->hi)}) : Range();
    }
    case RICCI_S_CONVERT:
      return OfType(k_.insts[q.a].dtype);
    case RICCI_S_SELECT: {
      const Range &b = ranges_[q.b], &c = ranges_[q.c];
      return b && c ? Range(IndexRange{std::min(b->lo, c->lo), std::max(b->hi, c->hi)}) : Range();
    }
    case RICCI_S_NEG: {
      const Range& a = ranges_[q.a];
      return a && a->lo != INT64_MIN ? Range(IndexRange{-a->hi, -a->lo}) : Range();
    }
    default:
      return q.op < RICCI_S_COUNT && q.b != 0 && ranges_[q.a] && ranges_[q.b] ? Arithmetic(q) : Range();
  }
}

Range IndexRanges::Arithmetic(const ricci_inst& q) const {
  const IndexRange a = *ranges_[q.a], b = *ranges_[q.b];
  const bool by_constant = a.lo >= 0 && b.lo == b.hi && b.lo > 0;
  switch (q.op) {
    case RICCI_S_ADD:
      return AtEnds(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_add_overflow(x, y, z); });
    case RICCI_S_SUB:
      return AtEnds(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_sub_overflow(x, y, z); });
    case RICCI_S_MUL:
      return AtEnds(a, b, [](int64_t x, int64_t y, int64_t* z) { return __builtin_mul_overflow(x, y, z); });
    case RICCI_S_MIN:
      return IndexRange{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case RICCI_S_MAX:
      return IndexRange{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case RICCI_S_DIV:
      return by_constant ? Range(IndexRange{a.lo / b.lo, a.hi / b.lo}) : Range();
    case RICCI_S_REM:
      return by_constant ? Range(IndexRange{0, std::min(a.hi, b.lo - 1)}) : Range();
    case RICCI_S_AND:
      return a.lo >= 0 && b.lo >= 0 ? Range(IndexRange{0, std::min(a.hi, b.hi)}) : Range();
    case RICCI_S_SHR:
    case RICCI_S_SAR:
      return by_constant && b.lo < 63 ? Range(IndexRange{a.lo >> b.lo, a.hi >> b.lo}) : Range();
    default:
      return {};
  }
}

}  // namespace ricci::cuda
