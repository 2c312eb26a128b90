// conv_general_dilated without padding as a Product: the windows of lhs are one operand, read where they lie through
// tables of offsets (no array of windows is made), and rhs is the other. (The row pads large ones first.)
//
// The steps of the sum are the elements of a window in the order of their addresses, so that those of a row are
// adjacent. If features are the last dimension of the result, they are the columns, and windows the rows; else the
// dimensions after the features are the columns, features the rows, and the dimensions before them a batch. Groups are
// a batch too.
#include "cpu/library/convolution.h"

#include <algorithm>
#include <limits>
#include <span>

#include "cpu/library/convolution_shape.h"
#include "cpu/library/product.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kNarrow = 8;  // rows, columns or steps for which the generated kernel is as good

using Loop = ConvolutionLoop;
struct Convolution {
  Array lhs, rhs, out;
  Loop group;                   // strides of one group of each
  std::vector<Loop> positions;  // batch and spatial dimensions of the result, and
  Loop features;                // the features of one group, by the strides of the result
  std::vector<Loop> steps;      // input features of one group and the window
};

// As if lhs were padded, where it is not.
Convolution OfPadded(const ConvolutionShape& shape) {
  Convolution c;
  c.group = shape.group;
  c.features = shape.features;
  c.positions = {shape.batch};
  c.steps = {shape.inputs};
  for (const ConvolutionWindow& v : shape.windows) {
    c.positions.push_back({v.out, v.out > 1 ? v.lhs_stride * v.stride : 0, 0, v.out_stride});
    c.steps.push_back({v.rhs, v.rhs > 1 ? v.lhs_stride * v.rhs_dilation : 0, v.rhs_stride, 0});
  }
  const auto later = [](auto member) {
    return [member](const Loop& a, const Loop& b) { return a.*member > b.*member; };
  };
  std::stable_sort(c.positions.begin(), c.positions.end(), later(&Loop::out));
  std::stable_sort(c.steps.begin(), c.steps.end(), later(&Loop::lhs));
  c.lhs = shape.lhs, c.rhs = shape.rhs, c.out = shape.out;
  return c;
}
bool Read(const ricci_op* op, Convolution& c) {
  ConvolutionShape shape;
  if (!ReadShape(op, shape) || IsPadded(shape)) return false;
  c = OfPadded(shape);
  return true;
}

int64_t CountOf(std::span<const Loop> loops) {
  int64_t n = 1;
  for (const Loop& l : loops) n *= l.size;
  return n;
}
// The elements that `loops` visit in one array: a stride if they have one, else their offsets.
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

// Elements of lhs that lie beside each other, of those that `loops` visit.
int64_t AdjacentRun(std::span<const Loop> loops) {
  int64_t run = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    if (loops[i].size == 1) continue;
    if (loops[i].lhs != run) break;
    run *= loops[i].size;
  }
  return run;
}

// Which positions of the result are rows or columns, and which are a batch.
struct Roles {
  bool windows_are_rows;
  std::span<const Loop> windows, batch;
};
Roles RolesOf(const Convolution& c) {
  const auto after = std::find_if(c.positions.begin(), c.positions.end(),
                                  [&](const Loop& l) { return l.size > 1 && l.out < c.features.out; });
  const std::span<const Loop> all(c.positions);
  const auto first = static_cast<size_t>(after - c.positions.begin());
  if (after == c.positions.end()) return {true, all, {}};
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
  p.c_stride = r.windows_are_rows ? c.features.size * c.group.size : c.features.out;
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

// Windows are packed once for each tile of features, vectors where they have runs of adjacent elements.
double TileCycles(const ConvolutionShape& shape) {
  constexpr double kAdjacent = 0.2, kApart = 2.5, kPadded = 4;  // for an element that is packed, or padded first
  constexpr int64_t kShortRun = 8;
  const Convolution c = OfPadded(shape);
  const Roles r = RolesOf(c);
  Product p;
  if (!Make(c, r, p)) return std::numeric_limits<double>::infinity();
  const int64_t run = AdjacentRun(r.windows_are_rows ? c.steps : r.windows);
  const double m = static_cast<double>(p.m), n = static_cast<double>((p.n + 15) / 16 * 16),
               k = static_cast<double>(p.k), tiles = static_cast<double>(r.windows_are_rows ? p.n_tiles : p.m_tiles);
  const double packed = tiles * (r.windows_are_rows ? m : n) * k * (run >= kShortRun ? kAdjacent : kApart);
  double padded = IsPadded(shape) ? kPadded * static_cast<double>(shape.group.size * shape.inputs.size) : 0;
  for (const ConvolutionWindow& v : shape.windows) padded *= static_cast<double>(v.lhs * v.lhs_dilation);
  return static_cast<double>(p.batch) * (1.05 * m * n * k * static_cast<double>(SizeOf(p.sum)) / 64 + packed) +
         padded * static_cast<double>(shape.batch.size);
}

ricci_status* AddConvolution(ricci_ctx* ctx) { return AddLibrary(ctx, "conv_general_dilated", Match, &kLibrary); }

}  // namespace ricci::cpu
