// broadcast_in_dim: dimension i of x becomes dimension broadcast_dimensions[i] of `shape`; sizes of 1 are stretched.
//
// Linear; the transpose sums over the dimensions that are new or stretched. An INDEX lowering, so it is never stored.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"shape", AttrKind::kInts}, {"broadcast_dimensions", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims shape = e.ints("shape"), dims = e.ints("broadcast_dimensions");
  if (static_cast<int64_t>(dims.size()) != x.rank()) {
    e.Fail("broadcast_dimensions ", dims, " must have one entry for each dimension of ", x);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(shape.size()) || (i > 0 && dims[i] <= dims[i - 1])) {
      e.Fail("broadcast_dimensions ", dims, " must increase and lie inside shape ", shape);
    }
    const int64_t to = shape[static_cast<size_t>(dims[i])], from = x.shape()[i];
    if (from != to && from != 1) e.Fail("dimension ", i, " of ", x, " cannot become ", to, " of shape ", shape);
  }
  return x.WithShape(shape);
}

bool IsStretched(const Eqn& e, size_t i) {
  return e.in(0).shape()[i] != e.ints("shape")[static_cast<size_t>(e.ints("broadcast_dimensions")[i])];
}

Value Transposed(const Eqn& e, const Value& ct) {
  const Dims dims = e.ints("broadcast_dimensions");
  Shape kept;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!IsStretched(e, i)) kept.push_back(dims[i]);
  }
  const Shape summed = rules::Complement(kept, e.out().rank());
  const Value sum = summed.empty() ? ct : reduce_sum(ct, summed);
  return reshape(sum, e.in(0).shape());
}

// The batch stays where it is in x; in the result it follows the dimension that precedes it.
Batched BatchRule(const Eqn& e, const Batched& x) {
  const Dims shape = e.ints("shape"), dims = e.ints("broadcast_dimensions");
  const auto at = static_cast<size_t>(x.dim);
  const int64_t to = at == 0 ? 0 : dims[at - 1] + 1;  // exact: dimensions of the result
  Shape new_shape(shape.begin(), shape.end()), new_dims;
  new_shape.insert(new_shape.begin() + to, x.value.dim(x.dim));
  for (int64_t d : dims) new_dims.push_back(d >= to ? d + 1 : d);
  new_dims.insert(new_dims.begin() + static_cast<int64_t>(at), to);
  return {e.Emit({x.value}, {{"shape", new_shape}, {"broadcast_dimensions", new_dims}}), to};
}

Index FromIndex(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  const Dims dims = e.ints("broadcast_dimensions");
  Index from;
  for (size_t i = 0; i < dims.size(); ++i) {
    from.push_back(IsStretched(e, i) ? k.At(0) : at[static_cast<size_t>(dims[i])]);
  }
  return from;
}

// Nothing to repeat, or a broadcast of a broadcast.
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (e.in(0) == e.out()) return in[0];
  const Producer p(in[0]);
  if (!p.Is("broadcast_in_dim")) return {};
  const Shape dims = rules::Pick(e.ints("broadcast_dimensions"), p.eqn().ints("broadcast_dimensions"));
  return broadcast_in_dim(p.operand(0), e.out().shape(), dims);
}

// A stretched dimension of x is a factor of its own, of size 1.
std::string Factors(const Eqn& e) {
  const Dims dims = e.ints("broadcast_dimensions");
  const int64_t rank = e.out().rank();
  Shape from;
  int64_t next = rank;
  for (size_t i = 0; i < dims.size(); ++i) from.push_back(IsStretched(e, i) ? next++ : dims[i]);
  const std::string text = Text(rules::Letters(from), " -> ", rules::Letters(rules::Range(rank)));
  const Shape stretched = rules::Complement(rules::Range(rank), next);
  return stretched.empty() ? text : Text(text, "; whole ", rules::Letters(stretched));
}

constexpr Row kRows[] = {rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>(
    {.name = "broadcast_in_dim",
     .doc =
         "y = broadcast_in_dim(x): x repeated to `shape`; its dimension i becomes dimension `broadcast_dimensions`[i]",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_VIEW,
     .type = Type,
     .factors_of = Factors,
     .examples = "(f64[3,1]) shape=[2,3,4] broadcast_dimensions=[1,2]; "
                 "(f64[]) shape=[2,3] broadcast_dimensions=[]"})};

}  // namespace

RowList broadcast_in_dim_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
