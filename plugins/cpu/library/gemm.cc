// dot_general as a Product. If the free dimensions of an operand, or the contracted ones, do not have one common
// stride, a table holds the offsets of the elements; the dimensions of C are always in the order of the operands'.
#include "cpu/library/gemm.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "cpu/library/product.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kNarrow = 8;  // columns or steps for which the generated kernel is as good

// ---- shapes ----
// Some dimensions of an array as one.
struct Group {
  int64_t size = 1, stride = 1;
  bool joined = true;  // their elements are that stride apart
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
    AddDimension(all, x.dims[d], x.strides[d]);
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
// The arrays, and their dimensions by role.
struct Dot {
  Array a, b, c;
  Ints a_steps, b_steps, a_batch, b_batch, rows, columns;
};
bool Read(const ricci_op* op, Dot& d) {
  if (!ReadType(op, op->in_types[0], d.a) || !ReadType(op, op->in_types[1], d.b) ||
      !ReadType(op, op->out_types[0], d.c)) {
    return false;
  }
  d.a_steps = Attr(op, "lhs_contract"), d.b_steps = Attr(op, "rhs_contract");
  d.a_batch = Attr(op, "lhs_batch"), d.b_batch = Attr(op, "rhs_batch");
  SortPairs(d.a_steps, d.b_steps);
  d.rows = Without(d.a.dims.size(), d.a_steps, d.a_batch), d.columns = Without(d.b.dims.size(), d.b_steps, d.b_batch);
  return true;
}

// All but the tables.
bool Make(const Dot& d, Product& p) {
  if (!SetTypes(p, d.a, d.b, d.c)) return false;
  const Group rows = Join(d.a, d.rows), columns = Join(d.b, d.columns), steps = Join(d.a, d.a_steps);
  p.m = rows.size, p.n = columns.size, p.k = steps.size, p.c_stride = p.n;
  p.a.outer.stride = rows.stride, p.a.steps.stride = steps.stride;
  p.b.number = 1;
  p.b.outer.stride = columns.stride, p.b.steps.stride = Join(d.b, d.b_steps).stride;
  for (size_t i = 0; i < d.a_batch.size(); ++i) {
    const auto da = static_cast<size_t>(d.a_batch[i]), db = static_cast<size_t>(d.b_batch[i]);
    p.batch_dims.push_back({d.a.dims[da], d.a.strides[da], d.b.strides[db], d.c.strides[i]});
    p.batch *= d.a.dims[da];
  }
  if (!IsWorthTiles(p)) return false;
  // Few columns or steps leave panels half empty; so do few rows and columns, for which a loop over k is as good.
  const bool plain = columns.joined && columns.stride == 1;
  if ((plain && (p.n <= kNarrow || p.k <= kNarrow)) || (p.m <= kNarrow && p.n <= kNarrow)) return false;
  LayOut(p);
  return true;
}

// What only a run needs.
void FillTables(const Dot& d, Product& p) {
  const auto fill = [](const Array& x, const Ints& dims, Extent& e) {
    if (!Join(x, dims).joined) e.at = OffsetsOf(x, dims);
  };
  fill(d.a, d.rows, p.a.outer);
  fill(d.b, d.columns, p.b.outer);
  fill(d.a, d.a_steps, p.a.steps);
  fill(d.b, d.b_steps, p.b.steps);
}

// ---- the lowering ----
ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
  return GuardLibrary([&]() -> ricci_status* {
    Dot d;
    Product p;
    *accept = Read(op, d) && Make(d, p);
    return nullptr;
  });
}

ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
  return GuardLibrary([&]() -> ricci_status* {
    auto p = std::make_unique<Product>();
    if (!PlanGemm(op, *p)) return ricci_status_make(RICCI_INTERNAL, "dot_general: planned what did not match", 39);
    Describe(std::move(p), out);
    return nullptr;
  });
}

constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, RunProduct, DropProduct};

}  // namespace

bool PlanGemm(const ricci_op* op, Product& p) {
  Dot d;
  if (!Read(op, d) || !Make(d, p)) return false;
  FillTables(d, p);
  return true;
}

ricci_status* AddGemm(ricci_ctx* ctx) { return AddLibrary(ctx, "dot_general", Match, &kLibrary); }

}  // namespace ricci::cpu
