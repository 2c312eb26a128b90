// concatenate: operands one after another along `dimension`; stack: operands of one shape along a new dimension `axis`.
//
// Lowered by index: every operand is loaded at a clamped index and the one that the index falls into is selected. A
// backend may cut its loops where the selection changes. The work is operands times elements, so many operands are
// copied individually instead.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kConcatenateAttrs[] = {{"dimension", AttrKind::kInt}};
constexpr AttrSpec kStackAttrs[] = {{"axis", AttrKind::kInt}};

constexpr uint32_t kFewOperands = 32;
bool HasFewOperands(const Eqn& e) { return e.n_in() <= kFewOperands; }

// ---- concatenate ----
ArrayTypes ConcatenateType(const Eqn& e) {
  if (e.n_in() == 0) e.Fail("takes at least one operand");
  const ArrayType first = e.in(0);
  const int64_t along = e.integer("dimension");
  if (along < 0 || along >= first.rank()) e.Fail("dimension ", along, " is out of range for ", first);
  ricci_exact sum = Exact(first.dim(along));
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    const ArrayType x = e.in(i);
    const bool same = x.dtype() == first.dtype() && x.rank() == first.rank() &&
                      SameDims(rules::Without(x.shape(), {&along, 1}), rules::Without(first.shape(), {&along, 1}));
    if (!same)
      e.Fail("operands 0 and ", i, " are ", first, " and ", x, "; they may differ in dimension ", along, " only");
    sum = sum + x.dim(along);
  }
  Shape shape(first.shape().begin(), first.shape().end());
  shape[static_cast<size_t>(along)] =
      AsDimension(sum, "concatenate: dimension ", along, " of ", first, " and the operands after it becomes ");
  return first.WithShape(shape);
}

void ConcatenateTranspose(const Eqn& e, Transpose& a) {
  const int64_t along = e.integer("dimension");
  int64_t start = 0;
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    const int64_t limit = start + e.in(i).dim(along);
    if (a.linear[i]) a.in_cts[i] = slice_in_dim(a.cts[0], start, limit, along);
    start = limit;
  }
}

void ConcatenateBatch(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(rules::BatchFirst(x, a.size));
  a.out[0] = {e.Emit(in, {{"dimension", rules::Shifted(e.integer("dimension"), 0)}}), 0};
}

// Drops empty operands; a single one left is the result.
Value SimplerConcatenate(const Eqn& e, std::span<const Value> in) {
  Values kept;
  for (const Value& x : in) {
    if (x.dim(e.integer("dimension")) != 0) kept.push_back(x);
  }
  if (kept.size() == in.size() && in.size() > 1) return {};
  return concatenate(kept.empty() ? in.first(1) : std::span<const Value>(kept), e.integer("dimension"));
}

Scalar ConcatenateIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const auto along = static_cast<size_t>(e.integer("dimension"));
  Index from(at.begin(), at.end());
  Scalar out;
  int64_t start = e.out().shape()[along];
  for (uint32_t i = e.n_in(); i-- > 0;) {  // from the last: each later one is a case of the select before it
    const int64_t n = e.in(i).shape()[along];
    start -= n;
    if (n == 0) continue;
    from[along] = Min(Max(at[along] - start, k.At(0)), k.At(n - 1));
    const Scalar x = k.Operand(i).Load(from);
    out = out.id == 0 ? x : Select(at[along] < start + n, x, out);
  }
  return out.id == 0 ? k.Constant(e.out().dtype(), 0) : out;
}

void ConcatenateLoops(KernelBuilder& k, const Eqn& e) {
  const auto along = static_cast<size_t>(e.integer("dimension"));
  int64_t start = 0;
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    k.Parallel(e.in(i).shape(), [&](const Index& at) {
      Index to = at;
      to[along] = at[along] + start;
      k.Result().Store(to, k.Operand(i).Load(at));
    });
    start += e.in(i).dim(static_cast<int64_t>(along));  // exact: at most the result's dimension
  }
}

std::string ConcatenateFactors(const Eqn& e) {
  FactorText text;
  Shape shared;
  for (int64_t i = 0; i < e.out().rank(); ++i) shared.push_back(text.Shared());
  const auto with = [&](int64_t factor) {
    Shape out = shared;
    out[static_cast<size_t>(e.integer("dimension"))] = factor;
    return out;
  };
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(with(text.Whole()));
  text.AddOut(with(text.Whole()));
  return text.Done();
}

std::optional<ViewMap> ConcatenateViewMap(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  map.from = rules::Range(e.out().rank());
  int64_t& start = map.shift[static_cast<size_t>(e.integer("dimension"))];
  for (uint32_t i = 0; i < operand; ++i) start += e.in(i).dim(e.integer("dimension"));  // exact: within the result
  return map;
}

// ---- stack ----
ArrayTypes StackType(const Eqn& e) {
  if (e.n_in() == 0) e.Fail("takes at least one operand");
  const ArrayType first = e.in(0);
  const int64_t axis = e.integer("axis");
  if (axis < 0 || axis > first.rank()) e.Fail("axis ", axis, " is out of range for operands of ", first);
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    if (e.in(i) != first) {
      e.Fail("operands 0 and ", i, " are ", first, " and ", e.in(i), "; they must have one type");
    }
  }
  Shape shape(first.shape().begin(), first.shape().end());
  shape.insert(shape.begin() + axis, e.n_in());  // exact: the axis is a position of the result
  return first.WithShape(shape);
}

void StackTranspose(const Eqn& e, Transpose& a) {
  const int64_t axis = e.integer("axis");
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (a.linear[i]) a.in_cts[i] = squeeze(slice_in_dim(a.cts[0], i, i + 1, axis), {&axis, 1});
  }
}

void StackBatch(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(rules::BatchFirst(x, a.size));
  a.out[0] = {e.Emit(in, {{"axis", rules::Shifted(e.integer("axis"), 0)}}), 0};
}

Scalar StackIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const int64_t axis = e.integer("axis");
  const Scalar which = at[static_cast<size_t>(axis)];
  Index from(at.begin(), at.end());
  from.erase(from.begin() + axis);  // exact: a dimension
  Scalar out = k.Operand(e.n_in() - 1).Load(from);
  for (uint32_t i = e.n_in() - 1; i-- > 0;) {
    const Scalar x = k.Operand(i).Load(from);
    out = Select(which <= static_cast<int64_t>(i), x, out);
  }
  return out;
}

void StackLoops(KernelBuilder& k, const Eqn& e) {
  const int64_t axis = e.integer("axis");
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    k.Parallel(e.in(i).shape(), [&](const Index& at) {
      Index to = at;
      to.insert(to.begin() + axis, k.At(i));  // exact: a dimension of the result
      k.Result().Store(to, k.Operand(i).Load(at));
    });
  }
}

std::string StackFactors(const Eqn& e) {
  FactorText text;
  Shape shared;
  for (int64_t i = 0; i < e.in(0).rank(); ++i) shared.push_back(text.Shared());
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(shared);
  shared.insert(shared.begin() + e.integer("axis"), text.Whole());  // exact: a dimension of the result
  text.AddOut(shared);
  return text.Done();
}

std::optional<ViewMap> StackViewMap(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  map.from = rules::Range(e.in(0).rank());
  map.from.insert(map.from.begin() + e.integer("axis"), -1);  // exact: a dimension of the result
  map.shift[static_cast<size_t>(e.integer("axis"))] = operand;
  return map;
}

template <IndexRule index, LoopsRule loops>
constexpr Lowering kPutTogether[] = {{.index = index, .match = HasFewOperands}, {.loops = loops}};

constexpr Row kRows[] = {
    {.name = "concatenate",
     .doc = "y = concatenate(xs...): the operands joined along `dimension`",
     .attrs = kConcatenateAttrs,
     .type = ConcatenateType,
     .jvp = rules::kLinear,
     .transpose = ConcatenateTranspose,
     .batch = ConcatenateBatch,
     .simplify = rules::One<SimplerConcatenate>,
     .factors_of = ConcatenateFactors,
     .view_map = ConcatenateViewMap,
     .lowerings = kPutTogether<ConcatenateIndex, ConcatenateLoops>,
     .examples = "(f64[2,3], f64[1,3], f64[4,3]) dimension=0; "
                 "(f64[0,3], f64[2,3]) dimension=0; "
                 "(f64[2,3], f64[2,1]) dimension=1; "
                 "(f64[2,1], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], "
                 "f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], "
                 "f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], "
                 "f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2], "
                 "f64[2,2], f64[2,2], f64[2,2], f64[2,2], f64[2,2]) dimension=1"},
    {.name = "stack",
     .doc = "y = stack(xs...): the operands joined along a new dimension `axis`",
     .attrs = kStackAttrs,
     .type = StackType,
     .jvp = rules::kLinear,
     .transpose = StackTranspose,
     .batch = StackBatch,
     .factors_of = StackFactors,
     .view_map = StackViewMap,
     .lowerings = kPutTogether<StackIndex, StackLoops>,
     .examples = "(f64[2,3], f64[2,3]) axis=1; "
                 "(f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], "
                 "f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], "
                 "f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], f64[2], "
                 "f64[2], f64[2], f64[2], f64[2], f64[2], f64[2]) axis=1"},
};

}  // namespace

RowList concatenate_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
