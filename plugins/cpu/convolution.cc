// conv_general_dilated without padding as a Product: the windows of lhs are one operand, read where they lie through
// tables of offsets (no array of windows is made), and rhs is the other. (The row pads large ones first.)
//
// The steps of the sum are the elements of a window in the order of their addresses, so that those of a row are
// adjacent. If features are the last dimension of the result, they are the columns, and windows the rows; else the
// dimensions after the features are the columns, features the rows, and the dimensions before them a batch. Groups are
// a batch too.
#include "convolution.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "product.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kNarrow = 8;  // rows, columns or steps for which the generated kernel is as good

// One dimension that the loops of a convolution run over: its size, and the strides of the arrays.
struct Loop {
  int64_t size, lhs, rhs, out;
};
struct Convolution {
  Array lhs, rhs, out;
  int64_t groups = 1;
  Loop group;                // strides of one group of each
  std::vector<Loop> places;  // batch and spatial dimensions of the result, and
  Loop features;             // the features of one group, by the strides of the result
  std::vector<Loop> steps;   // input features of one group and the window
};

Ints Spec(const ricci_op* op, std::string_view name, size_t rank) {
  Ints spec = Attr(op, name);
  if (spec.empty()) {
    spec.resize(rank);
    std::iota(spec.begin(), spec.end(), 0);
  }
  return spec;
}
int64_t IntOr(const ricci_op* op, std::string_view name, int64_t otherwise) {
  const ricci_attr* a = FindAttr(op, name);
  return a == nullptr ? otherwise : a->i;
}
// Entry `i` of a list whose entries are 1 if it is empty.
int64_t Step(const Ints& list, size_t i) { return list.empty() ? 1 : list[i]; }
bool AllAre(const Ints& list, int64_t v) {
  return std::all_of(list.begin(), list.end(), [v](int64_t x) { return x == v; });
}

bool Read(const ricci_op* op, Convolution& c) {
  if (!ReadType(op, op->in_types[0], c.lhs) || !ReadType(op, op->in_types[1], c.rhs) ||
      !ReadType(op, op->out_types[0], c.out)) {
    return false;
  }
  if (!AllAre(Attr(op, "padding"), 0) || !AllAre(Attr(op, "lhs_dilation"), 1)) return false;
  const size_t rank = c.lhs.dims.size();
  const Ints x = Spec(op, "lhs_spec", rank), w = Spec(op, "rhs_spec", rank), y = Spec(op, "out_spec", rank);
  const Ints strides = Attr(op, "window_strides"), dilation = Attr(op, "rhs_dilation");
  const auto dim = [](const Array& a, const Ints& spec, size_t role) {
    return a.dims[static_cast<size_t>(spec[role])];
  };
  const auto stride = [](const Array& a, const Ints& spec, size_t role) {
    return a.strides[static_cast<size_t>(spec[role])];
  };
  const int64_t by_feature = IntOr(op, "feature_group_count", 1), by_batch = IntOr(op, "batch_group_count", 1);
  c.groups = std::max(by_feature, by_batch);
  const int64_t inputs = dim(c.rhs, w, 1), outputs = dim(c.rhs, w, 0) / c.groups, batch = dim(c.out, y, 0);
  c.group = {c.groups, by_batch > 1 ? batch * stride(c.lhs, x, 0) : inputs * stride(c.lhs, x, 1),
             outputs * stride(c.rhs, w, 0), outputs * stride(c.out, y, 1)};
  c.features = {outputs, 0, stride(c.rhs, w, 0), stride(c.out, y, 1)};
  c.places.push_back({batch, stride(c.lhs, x, 0), 0, stride(c.out, y, 0)});
  c.steps.push_back({inputs, stride(c.lhs, x, 1), stride(c.rhs, w, 1), 0});
  for (size_t i = 2; i < rank; ++i) {
    const int64_t along = stride(c.lhs, x, i), out = dim(c.out, y, i), window = dim(c.rhs, w, i);
    // A step that is never made may be any number.
    c.places.push_back({out, out > 1 ? along * Step(strides, i - 2) : 0, 0, stride(c.out, y, i)});
    c.steps.push_back({window, window > 1 ? along * Step(dilation, i - 2) : 0, stride(c.rhs, w, i), 0});
  }
  const auto later = [](auto member) {
    return [member](const Loop& a, const Loop& b) { return a.*member > b.*member; };
  };
  std::stable_sort(c.places.begin(), c.places.end(), later(&Loop::out));
  std::stable_sort(c.steps.begin(), c.steps.end(), later(&Loop::lhs));
  return true;
}

int64_t CountOf(std::span<const Loop> loops) {
  int64_t n = 1;
  for (const Loop& l : loops) n *= l.size;
  return n;
}
// The elements that `loops` visit in one array: a stride if they lie at one, else their offsets.
Extent Visited(std::span<const Loop> loops, int64_t Loop::*stride) {
  Extent e;
  e.at = {0};
  for (const Loop& l : loops) AddDimension(e.at, l.size, l.*stride);
  e.stride = e.at.size() > 1 ? e.at[1] : 1;
  bool even = true;
  e.runs = true;
  for (size_t i = 1; i < e.at.size(); ++i) {
    even &= e.at[i] - e.at[i - 1] == e.stride;
    e.runs &= e.at[i] > e.at[i - 1];
  }
  if (even) {
    e.at.clear();
    e.runs = false;
  }
  return e;
}

// Which places of the result are rows or columns, and which are a batch.
struct Roles {
  bool windows_are_rows;
  std::span<const Loop> windows, batch;
};
Roles RolesOf(const Convolution& c) {
  const auto after = std::find_if(c.places.begin(), c.places.end(),
                                  [&](const Loop& l) { return l.size > 1 && l.out < c.features.out; });
  const std::span<const Loop> all(c.places);
  const auto first = static_cast<size_t>(after - c.places.begin());
  if (after == c.places.end()) return {true, all, {}};
  return {false, all.subspan(first), all.first(first)};
}

// All but the tables.
bool Make(const Convolution& c, const Roles& r, Product& p) {
  if (!SetTypes(p, r.windows_are_rows ? c.lhs : c.rhs, r.windows_are_rows ? c.rhs : c.lhs, c.out)) return false;
  const int64_t windows = CountOf(r.windows);
  p.k = CountOf(c.steps);
  p.m = r.windows_are_rows ? windows : c.features.size;
  p.n = r.windows_are_rows ? c.features.size : windows;
  p.a.number = r.windows_are_rows ? 0 : 1;
  p.b.number = 1 - p.a.number;
  // Rows of windows are the dimensions before the features, all of which join.
  p.c_stride = r.windows_are_rows ? c.features.size * c.groups : c.features.out;
  const auto add = [&](const Loop& l) {
    p.batch_dims.push_back({l.size, r.windows_are_rows ? l.lhs : l.rhs, r.windows_are_rows ? l.rhs : l.lhs, l.out});
    p.batch *= l.size;
  };
  for (const Loop& l : r.batch) add(l);
  add(c.group);
  if (!IsWorthTiles(p) || p.m <= kNarrow || p.n <= kNarrow || p.k <= kNarrow) return false;
  LayOut(p);
  return true;
}

void FillTables(const Convolution& c, const Roles& r, Product& p) {
  ProductOperand &windows = r.windows_are_rows ? p.a : p.b, &weights = r.windows_are_rows ? p.b : p.a;
  windows.outer = Visited(r.windows, &Loop::lhs);
  windows.steps = Visited(c.steps, &Loop::lhs);
  weights.outer = Visited({&c.features, 1}, &Loop::rhs);
  weights.steps = Visited(c.steps, &Loop::rhs);
}

// ---- the lowering ----
ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
  return GuardLibrary([&]() -> ricci_status* {
    Convolution c;
    Product p;
    *accept = Read(op, c) && Make(c, RolesOf(c), p);
    return nullptr;
  });
}

ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
  return GuardLibrary([&]() -> ricci_status* {
    auto p = std::make_unique<Product>();
    if (!PlanConvolution(op, *p)) {
      return ricci_status_make(RICCI_INTERNAL, "conv_general_dilated: planned what did not match", 48);
    }
    Describe(std::move(p), out);
    return nullptr;
  });
}

constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, RunProduct, DropProduct};

}  // namespace

bool PlanConvolution(const ricci_op* op, Product& p) {
  Convolution c;
  if (!Read(op, c) || !Make(c, RolesOf(c), p)) return false;
  FillTables(c, RolesOf(c), p);
  return true;
}

ricci_status* AddConvolution(ricci_ctx* ctx) { return AddLibrary(ctx, "conv_general_dilated", Match, &kLibrary); }

}  // namespace ricci::cpu
