#include "cpu/library/convolution_shape.h"

#include <algorithm>
#include <numeric>

namespace ricci::cpu {
namespace {

Ints Spec(const ricci_op* op, std::string_view name, size_t rank) {
  Ints spec = Attr(op, name);
  if (spec.empty()) {
    spec.resize(rank);
    std::iota(spec.begin(), spec.end(), 0);
  }
  return spec;
}
// Entry `i` of a list whose entries are `otherwise` if it is empty.
int64_t Entry(const Ints& list, size_t i, int64_t otherwise) { return list.empty() ? otherwise : list[i]; }

// An array and its dimensions by role.
struct Side {
  const Array& array;
  const Ints spec;

  int64_t dim(size_t role) const { return array.dims[static_cast<size_t>(spec[role])]; }
  int64_t stride(size_t role) const { return array.strides[static_cast<size_t>(spec[role])]; }
};

// Steps that are never made may be any number: they are 1.
void ReadWindows(const ricci_op* op, const Side& x, const Side& w, const Side& y, ConvolutionShape& c) {
  const Ints strides = Attr(op, "window_strides"), padding = Attr(op, "padding"), lhs = Attr(op, "lhs_dilation"),
             rhs = Attr(op, "rhs_dilation");
  for (size_t i = 0; i + 2 < c.lhs.dims.size(); ++i) {
    ConvolutionWindow v{x.dim(i + 2), w.dim(i + 2), y.dim(i + 2), x.stride(i + 2), w.stride(i + 2), y.stride(i + 2)};
    if (v.out > 1) v.stride = Entry(strides, i, 1);
    if (v.lhs > 1) v.lhs_dilation = Entry(lhs, i, 1);
    if (v.rhs > 1) v.rhs_dilation = Entry(rhs, i, 1);
    v.low = Entry(padding, 2 * i, 0);
    v.high = Entry(padding, 2 * i + 1, 0);
    c.windows.push_back(v);
  }
}

}  // namespace

bool ReadShape(const ricci_op* op, ConvolutionShape& c) {
  if (!ReadType(op, op->in_types[0], c.lhs) || !ReadType(op, op->in_types[1], c.rhs) ||
      !ReadType(op, op->out_types[0], c.out)) {
    return false;
  }
  const size_t rank = c.lhs.dims.size();
  const Side x{c.lhs, Spec(op, "lhs_spec", rank)}, w{c.rhs, Spec(op, "rhs_spec", rank)},
      y{c.out, Spec(op, "out_spec", rank)};
  const int64_t by_feature = IntOr(op, "feature_group_count", 1), by_batch = IntOr(op, "batch_group_count", 1);
  const int64_t groups = std::max(by_feature, by_batch);
  c.batch = {y.dim(0), x.stride(0), 0, y.stride(0)};
  c.inputs = {w.dim(1), x.stride(1), w.stride(1), 0};
  c.features = {w.dim(0) / groups, 0, w.stride(0), y.stride(1)};
  c.group = {groups, by_batch > 1 ? c.batch.size * c.batch.lhs : c.inputs.size * c.inputs.lhs,
             c.features.size * c.features.rhs, c.features.size * c.features.out};
  ReadWindows(op, x, w, y, c);
  return true;
}

}  // namespace ricci::cpu
