// split: x cut along `axis` into pieces of the given sizes; unstack: every slice along `axis`, which is dropped.
//
// Both decompose into slices, which fuse into whatever reads a piece.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kSplitAttrs[] = {{"sizes", AttrKind::kInts}, {"axis", AttrKind::kInt}};
constexpr AttrSpec kUnstackAttrs[] = {{"axis", AttrKind::kInt}};

int64_t AxisOf(const Eqn& e) {
  e.WantOperands(1);
  const int64_t axis = e.integer("axis");
  if (axis < 0 || axis >= e.in(0).rank()) e.Fail("axis ", axis, " is out of range for ", e.in(0));
  return axis;
}

// Cotangents of all pieces, zeros if there is none.
Values Pieces(const Eqn& e, const Transpose& a) {
  Values cts;
  for (uint32_t i = 0; i < e.n_out(); ++i) cts.push_back(instantiate(a.cts[i], e.out(i)));
  return cts;
}

// ---- split ----
ArrayTypes SplitType(const Eqn& e) {
  const int64_t axis = AxisOf(e);
  const ArrayType x = e.in(0);
  const Dims sizes = e.ints("sizes");
  ricci_exact sum = Exact(0);
  for (int64_t size : sizes) {
    if (size < 0 || size > x.dim(axis))
      e.Fail("sizes ", sizes, " must be from 0 to the size of dimension ", axis, " of ", x);
    sum = sum + size;
  }
  if (Narrow(sum) != x.dim(axis)) {
    e.Fail("sizes ", sizes, " add up to ", sum, ", dimension ", axis, " of ", x, " is ", x.dim(axis));
  }
  Shape shape(x.shape().begin(), x.shape().end());
  ArrayTypes out;
  for (int64_t size : sizes) {
    shape[static_cast<size_t>(axis)] = size;
    out.push_back(x.WithShape(shape));
  }
  return out;
}
void SplitTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = concatenate(Pieces(e, a), e.integer("axis"));
}
void SplitBatch(const Eqn& e, Batch& a) {
  const Values in{a.in[0].value};
  const Values out = e.EmitN(in, {{"axis", rules::Shifted(e.integer("axis"), a.in[0].dim)}});
  for (size_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], a.in[0].dim};
}
Values SplitDecompose(const Eqn& e, std::span<const Value> in) {
  Values out;
  int64_t start = 0;
  for (int64_t size : e.ints("sizes")) {
    const int64_t end = start + size;  // exact: the sizes add up to the dimension
    out.push_back(slice_in_dim(in[0], start, end, e.integer("axis")));
    start = end;
  }
  return out;
}
std::string SplitFactors(const Eqn& e) {
  Shape from = rules::Range(e.in(0).rank());
  from[static_cast<size_t>(e.integer("axis"))] = -1;
  return ViewFactors(e, from);
}

// ---- unstack ----
ArrayTypes UnstackType(const Eqn& e) {
  const int64_t axis = AxisOf(e), n = e.in(0).dim(axis);
  if (n > int64_t{RICCI_MAX_RESULTS}) {
    e.Fail("dimension ", axis, " of ", e.in(0), " gives ", n, " results, at most ", RICCI_MAX_RESULTS, " are allowed");
  }
  const ArrayType slice = e.in(0).WithShape(rules::Without(e.in(0).shape(), {&axis, 1}));
  return ArrayTypes(static_cast<size_t>(n), slice);
}
void UnstackTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = Emit1("stack", Pieces(e, a), {{"axis", e.integer("axis")}});
}
void UnstackBatch(const Eqn& e, Batch& a) {
  const int64_t axis = e.integer("axis"), at = a.in[0].dim;
  const Values in{a.in[0].value};
  const Values out = e.EmitN(in, {{"axis", rules::Shifted(axis, at)}});
  for (size_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], axis < at ? at - 1 : at};
}
Values UnstackDecompose(const Eqn& e, std::span<const Value> in) {
  const int64_t axis = e.integer("axis");
  Values out;
  for (int64_t i = 0; i < in[0].dim(axis); ++i) out.push_back(squeeze(slice_in_dim(in[0], i, i + 1, axis), {&axis, 1}));
  return out;
}
std::string UnstackFactors(const Eqn& e) {
  const int64_t axis = e.integer("axis");
  return ViewFactors(e, rules::Complement({&axis, 1}, e.in(0).rank()));
}

constexpr Row kRows[] = {
    {.name = "split",
     .doc = "ys... = split(x): x cut along `axis` into pieces of `sizes`",
     .attrs = kSplitAttrs,
     .type = SplitType,
     .jvp = rules::kLinear,
     .transpose = SplitTranspose,
     .batch = SplitBatch,
     .factors_of = SplitFactors,
     .lowerings = lower::Decompose<SplitDecompose>,
     .examples = "(f64[2,6]) sizes=[1,3,2] axis=1"},
    {.name = "unstack",
     .doc = "ys... = unstack(x): the slices of x along `axis`, without that dimension",
     .attrs = kUnstackAttrs,
     .type = UnstackType,
     .jvp = rules::kLinear,
     .transpose = UnstackTranspose,
     .batch = UnstackBatch,
     .factors_of = UnstackFactors,
     .lowerings = lower::Decompose<UnstackDecompose>,
     .examples = "(f64[3,2]) axis=0"},
};

}  // namespace

RowList split_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
