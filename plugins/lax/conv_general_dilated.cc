// conv_general_dilated: windows of lhs times rhs, summed over the window and the input features.
//
// Bilinear, and each cotangent is a convolution again (the rules of JAX): with the dilation of lhs and the strides
// exchanged for lhs; with batch and feature exchanged, and rhs dilation and strides, for rhs. A batch of lhs joins its
// batch, a batch of rhs the output features, and one of both the groups. Large ones with padding or dilation of lhs are
// padded first if no library takes them as they are, so that one may read windows where they lie.
#include "conv_dims.hpp"
#include "reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"window_strides", AttrKind::kInts, "all 1"}, {"padding", AttrKind::kInts, "all 0"},
    {"lhs_dilation", AttrKind::kInts, "all 1"},   {"rhs_dilation", AttrKind::kInts, "all 1"},
    {"lhs_spec", AttrKind::kInts, "[0,1,2,...]"}, {"rhs_spec", AttrKind::kInts, "[0,1,2,...]"},
    {"out_spec", AttrKind::kInts, "[0,1,2,...]"}, {"feature_group_count", AttrKind::kInt, "1"},
    {"batch_group_count", AttrKind::kInt, "1"},   {"preferred_element_type", AttrKind::kDType, "that of the operands"}};

DType PreferredOf(const Eqn& e) { return e.dtype("preferred_element_type", DType::kNone); }

// ---- type ----
void CheckSpec(const Eqn& e, std::string_view name, Dims spec) {
  if (static_cast<int64_t>(spec.size()) != e.in(0).rank()) {
    e.Fail(name, " ", spec, " must list each dimension of ", e.in(0), " once");
  }
  rules::WantAxes(e, 0, name, spec);
}
void WantDivides(const Eqn& e, std::string_view groups, int64_t n, std::string_view what, const ArrayType& x,
                 int64_t size) {
  if (n < 1) e.Fail(groups, " is ", n, "; it must be positive");
  if (size % n != 0) e.Fail(groups, " ", n, " does not divide ", size, ", the ", what, " of ", x);
}
void CheckGroups(const Eqn& e, const ConvDims& d) {
  const ArrayType x = e.in(0), w = e.in(1);
  const int64_t features = x.dim(d.lhs[1]), outputs = w.dim(d.rhs[0]);
  WantDivides(e, "feature_group_count", d.feature_groups, "input features", x, features);
  WantDivides(e, "feature_group_count", d.feature_groups, "output features", w, outputs);
  WantDivides(e, "batch_group_count", d.batch_groups, "batch", x, x.dim(d.lhs[0]));
  WantDivides(e, "batch_group_count", d.batch_groups, "output features", w, outputs);
  if (d.feature_groups > 1 && d.batch_groups > 1) {
    e.Fail("feature_group_count ", d.feature_groups, " and batch_group_count ", d.batch_groups,
           "; only one of them may be more than 1");
  }
  if (features / d.feature_groups != w.dim(d.rhs[1])) {
    e.Fail("lhs has ", features, " input features in ", Count(d.feature_groups, "group"), ", rhs has ", w.dim(d.rhs[1]),
           "; operands are ", x, " and ", w);
  }
}
// The size of spatial dimension `i` of the result.
int64_t SizeOf(const Eqn& e, const SlidingLists& lists, size_t i, int64_t size, int64_t window) {
  const std::string text = Text(e.name(), ": spatial dimension ", i, ": ");
  const int64_t padded = AsDimension(lists.Padded(i, size), text, e.in(0), ", dilated and padded by ",
                                     lists.padding[2 * i], " and ", lists.padding[2 * i + 1], ", has size ");
  const int64_t reach = AsDimension(ExactDilated(window, lists.window_dilation[i]), text, "the window of ", e.in(1),
                                    ", dilated, has size ");
  return lists.OutSize(i, padded, reach);
}
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  const ArrayType x = e.in(0), w = e.in(1);
  rules::WantDType(e, 0, kNumbers);
  rules::WantDType(e, 1, kNumbers);
  const DType preferred = PreferredOf(e);
  if (preferred == DType::kNone && x.dtype() != w.dtype()) {
    e.Fail("operands are ", x, " and ", w, "; they must have one dtype or preferred_element_type be given");
  }
  if (x.rank() < 2 || x.rank() != w.rank()) {
    e.Fail("operands are ", x, " and ", w, "; they must have one rank, at least 2");
  }
  const ConvDims d(e);
  CheckSpec(e, "lhs_spec", d.lhs);
  CheckSpec(e, "rhs_spec", d.rhs);
  CheckSpec(e, "out_spec", d.out);
  const size_t n = d.n_spatial();
  WantSliding(e, kConvNames, n);
  CheckGroups(e, d);
  Shape shape(static_cast<size_t>(x.rank()));
  const auto put = [&](size_t role, int64_t size) { shape[static_cast<size_t>(d.out[role])] = size; };
  put(0, x.dim(d.lhs[0]) / d.batch_groups);
  put(1, w.dim(d.rhs[0]));
  const SlidingLists lists(e, kConvNames, n);
  for (size_t i = 0; i < n; ++i) put(i + 2, SizeOf(e, lists, i, x.dim(d.lhs[i + 2]), w.dim(d.rhs[i + 2])));
  return preferred == DType::kNone ? x.WithShape(shape) : e.Type(preferred, shape);
}

// ---- groups as dimensions ----
// Dimension `dim` as two, the outer of size `outer`.
Value Split(const Value& x, int64_t dim, int64_t outer) {
  Shape sizes(x.shape().begin(), x.shape().end());
  sizes[static_cast<size_t>(dim)] /= outer;
  sizes.insert(sizes.begin() + dim, outer);
  return reshape(x, sizes);
}
// Dimensions `dim` and dim + 1 as one.
Value Join(const Value& x, int64_t dim) {
  Shape sizes(x.shape().begin(), x.shape().end());
  sizes[static_cast<size_t>(dim)] *= sizes[static_cast<size_t>(dim) + 1];
  sizes.erase(sizes.begin() + dim + 1);
  return reshape(x, sizes);
}
// Dimension `from` becomes the outer part of dimension `to`, which is counted without it.
Value MergeInto(const Value& x, int64_t from, int64_t to) { return Join(rules::MoveDim(x, from, to), to); }
// The same inside of each of `groups` parts of `to`.
Value MergeIntoGroups(const Value& x, int64_t from, int64_t to, int64_t groups) {
  if (groups == 1) return MergeInto(x, from, to);
  const Value apart = Split(rules::MoveDim(x, from, to), to + 1, groups);  // exact: a dimension
  return Join(Join(rules::MoveDim(apart, to, to + 1), to), to);            // exact: a dimension
}
// Undoes it, with the dimension that was merged at `dim`.
Value SplitOfGroups(const Value& x, int64_t dim, int64_t size, int64_t groups) {
  if (groups == 1) return Split(x, dim, size);
  const Value apart = Split(Split(x, dim, groups), dim + 1, size);  // exact: a dimension
  return Join(rules::MoveDim(apart, dim + 1, dim), dim + 1);        // exact: a dimension
}

// ---- batch ----
void BatchRule(const Eqn& e, Batch& a) {
  const ConvDims d(e);
  const Batched &x = a.in[0], &w = a.in[1];
  if (a.size == 0) {
    Shape shape(e.out().shape().begin(), e.out().shape().end());
    shape.insert(shape.begin(), 0);
    a.out[0] = {zeros(x.value.builder, e.out().WithShape(shape)), 0};
    return;
  }
  if (x.is_batched() && w.is_batched()) {
    const bool by_batch = d.batch_groups > 1;
    const int64_t count = d.groups() * a.size;  // exact: at most the elements of a dimension
    const Value y =
        e.Emit({MergeInto(x.value, x.dim, by_batch ? d.lhs[0] : d.lhs[1]), MergeInto(w.value, w.dim, d.rhs[0])},
               {by_batch ? Attr("batch_group_count", count) : Attr("feature_group_count", count)});
    a.out[0] = {Split(y, d.out[1], a.size), d.out[1]};
  } else if (x.is_batched()) {
    const Value y = e.Emit({MergeIntoGroups(x.value, x.dim, d.lhs[0], d.batch_groups), w.value});
    a.out[0] = {Split(y, d.out[0], a.size), d.out[0]};
  } else {
    const Value y = e.Emit({x.value, MergeIntoGroups(w.value, w.dim, d.rhs[0], d.groups())});
    a.out[0] = {SplitOfGroups(y, d.out[1], a.size, d.groups()), d.out[1]};
  }
}

// ---- derivatives ----
Shape Swapped(Shape spec) {
  std::swap(spec[0], spec[1]);
  return spec;
}
Value LhsCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  if (e.in(1).elements() == 0 || e.out().elements() == 0) return zeros(ct.builder, e.in(0));
  const ConvDims d = ConvDims::Checked(e);
  Value w = in[1];
  if (d.groups() > 1) w = MergeInto(Split(w, d.rhs[0], d.groups()), d.rhs[0], d.rhs[1]);
  w = convert_element_type(rev(w, Dims(d.rhs).subspan(2)), ct.dtype());
  ConvOptions o{.dimension_numbers = {d.out, Swapped(d.rhs), d.lhs},
                .feature_group_count = d.groups(),
                .preferred_element_type = PreferredOf(e)};
  Shape strides, padding;
  for (const SlidingWindow& v : d.windows) {
    strides.push_back(v.base_dilation);
    o.lhs_dilation.push_back(v.stride);
    o.rhs_dilation.push_back(v.window_dilation);
    const int64_t low = v.reach() - v.low - 1;  // exact: sizes of arrays and paddings
    padding.push_back(low);
    padding.push_back(v.dilated() + v.reach() - 1 - Dilated(v.out, v.stride) - low);  // exact: likewise
  }
  Value x = convert_element_type(conv_general_dilated(ct, w, strides, padding, o), e.in(0).dtype());
  if (d.batch_groups > 1) x = MergeInto(Split(x, d.lhs[1], d.batch_groups), d.lhs[1], d.lhs[0]);
  return x;
}
Value RhsCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  if (e.in(0).elements() == 0 || e.in(1).elements() == 0 || e.out().elements() == 0) {
    return zeros(ct.builder, e.in(1));
  }
  const ConvDims d = ConvDims::Checked(e);
  ConvOptions o{.dimension_numbers = {Swapped(d.lhs), Swapped(d.out), Swapped(d.rhs)},
                .feature_group_count = d.batch_groups,
                .batch_group_count = d.feature_groups,
                .preferred_element_type = PreferredOf(e)};
  Shape strides, padding;
  for (const SlidingWindow& v : d.windows) {
    strides.push_back(v.window_dilation);
    o.lhs_dilation.push_back(v.base_dilation);
    o.rhs_dilation.push_back(v.stride);
    padding.push_back(v.low);
    padding.push_back(Dilated(v.out, v.stride) - v.dilated() + v.reach() - v.low - 1);  // exact: sizes and paddings
  }
  const Value w = conv_general_dilated(convert_element_type(in[0], ct.dtype()), ct, strides, padding, o);
  return convert_element_type(w, e.in(1).dtype());
}

// ---- lowering ----
void Loops(KernelBuilder& k, const Eqn& e) {
  const ConvDims d = ConvDims::Checked(e);
  const size_t n = d.n_spatial();
  const DType out = e.out().dtype(), sum_dtype = SumDType(out);
  const int64_t features = e.in(1).dim(d.rhs[1]);
  const bool nothing = e.in(0).elements() == 0 || e.in(1).elements() == 0;
  Shape box = {features};  // of the sum
  for (const SlidingWindow& v : d.windows) box.push_back(v.window);
  const auto put = [](Index& to, int64_t dim, Scalar v) { to[static_cast<size_t>(dim)] = v; };
  k.Parallel(e.out().shape(), [&](const Index& to) {
    if (nothing) return k.Result().Store(to, k.Constant(out, 0));
    const Scalar batch = to[static_cast<size_t>(d.out[0])], feature = to[static_cast<size_t>(d.out[1])];
    Index x(to.size()), w(to.size());
    put(w, d.rhs[0], feature);
    const Scalar group = d.groups() == 1 ? k.At(0) : feature / (e.in(1).dim(d.rhs[0]) / d.groups());
    put(x, d.lhs[0], d.batch_groups == 1 ? batch : group * e.out().dim(d.out[0]) + batch);
    const Scalar sum = k.ReduceBox(RICCI_S_ADD, box, [&](const Index& inner) {
      put(w, d.rhs[1], inner[0]);
      put(x, d.lhs[1], d.feature_groups == 1 ? inner[0] : group * features + inner[0]);
      Scalar inside;
      for (size_t i = 0; i < n; ++i) {
        const UnderWindow under(k, d.windows[i], to[static_cast<size_t>(d.out[i + 2])], inner[i + 1]);
        put(x, d.lhs[i + 2], under.at);
        put(w, d.rhs[i + 2], inner[i + 1]);
        if (under.inside.id != 0) inside = inside.id == 0 ? under.inside : inside & under.inside;
      }
      Scalar v = Convert(k.Operand(0).Load(x), sum_dtype);
      if (inside.id != 0) v = Select(inside, v, k.Constant(sum_dtype, 0));
      return v * Convert(k.Operand(1).Load(w), sum_dtype);
    });
    k.Result().Store(to, Convert(sum, out));
  });
}

constexpr int64_t kManyProducts = int64_t{1} << 16;
// Is padding a small part of the work, and is there any?
bool IsLargeAndPadded(const Eqn& e) {
  if (!IsFloat(e.out().dtype())) return false;
  const ConvDims d = ConvDims::Checked(e);
  ricci_exact products = Exact(e.out().elements()) * e.in(1).dim(d.rhs[1]);
  bool padded = false, whole = true;
  for (const SlidingWindow& v : d.windows) {
    products = products * v.window;
    padded |= v.low != 0 || v.high != 0 || v.base_dilation != 1;
    whole &= v.padded() <= 4 * v.size;  // exact: dimensions
  }
  return padded && whole && Clamped(products, 0, kManyProducts) == kManyProducts;
}
Values PaddedFirst(const Eqn& e, std::span<const Value> in) {
  const ConvDims d = ConvDims::Checked(e);
  Shape low(d.lhs.size(), 0), high = low, interior = low;
  for (size_t i = 0; i < d.n_spatial(); ++i) {
    const auto dim = static_cast<size_t>(d.lhs[i + 2]);
    low[dim] = d.windows[i].low;
    high[dim] = d.windows[i].high;
    interior[dim] = d.windows[i].base_dilation - 1;  // exact: positive
  }
  const Value zero = full(in[0].builder, in[0].type().WithShape({}), 0);
  const Shape none, unit(d.n_spatial(), 1);
  return {e.Emit({pad(in[0], zero, low, high, interior), in[1]}, {{"padding", none}, {"lhs_dilation", unit}})};
}
constexpr Lowering kLowerings[] = {{.decompose = PaddedFirst, .match = IsLargeAndPadded, .priority = 1},
                                   {.loops = Loops}};

// ---- factors: the batch, the features of the result, those that are summed ----
std::string Factors(const Eqn& e) {
  const ConvDims d(e);
  const bool grouped = d.groups() > 1;
  FactorText text;
  Shape x(d.lhs.size()), w = x, y = x;
  const auto put = [](Shape& to, int64_t dim, int64_t factor) { to[static_cast<size_t>(dim)] = factor; };
  const int64_t batch = grouped ? text.Whole() : text.Shared(), feature = grouped ? text.Whole() : text.Shared(),
                summed = grouped ? text.Whole() : text.Shared();
  put(x, d.lhs[0], batch);
  put(y, d.out[0], grouped ? text.Whole() : batch);
  put(w, d.rhs[0], feature);
  put(y, d.out[1], grouped ? text.Whole() : feature);
  put(x, d.lhs[1], summed);
  put(w, d.rhs[1], grouped ? text.Whole() : summed);
  for (size_t i = 2; i < d.lhs.size(); ++i) {
    put(x, d.lhs[i], text.Whole());
    put(w, d.rhs[i], text.Whole());
    put(y, d.out[i], text.Whole());
  }
  if (!grouped) text.Mark("sum", summed);
  text.AddIn(x);
  text.AddIn(w);
  text.AddOut(y);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "conv_general_dilated",
     .doc = "z = conv_general_dilated(lhs, rhs): windows of lhs times rhs, summed over the window and the input "
            "features; specs list [batch, feature, spatial...] of lhs and z, [output feature, input feature, "
            "spatial...] of rhs; `padding` is low and high of each spatial dimension",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = rules::kBilinear,
     .transpose = rules::TransposeEach<LhsCt, RhsCt>,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .examples = "(f64[2,3,5], f64[4,3,2]); "
                 "(f64[1,2,5,4], f64[3,2,3,2]) window_strides=[2,1] padding=[1,2,-1,1]; "
                 "(f64[1,4,5,2], f64[2,3,2,2]) lhs_spec=[0,3,1,2] rhs_spec=[3,2,0,1] out_spec=[0,3,1,2] "
                 "lhs_dilation=[1,2] rhs_dilation=[2,1] padding=[0,1,1,0]; "
                 "(f64[2,4,5], f64[6,2,3]) feature_group_count=2 padding=[1,1]; "
                 "(f64[4,2,5], f64[6,2,3]) batch_group_count=2; "
                 "(c128[1,2,4], c128[2,2,2]) padding=[1,0]; "
                 "(f64[2,3], f64[4,3])"}};

}  // namespace

RowList conv_general_dilated_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
