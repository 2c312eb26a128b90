// lu_pivots_to_permutation: the permutation of 0 .. permutation_size - 1 that swapping elements i and pivots[i], one i
// after another, gives.
//
// An invalid pivot is treated as in jax.lax: a negative one counts from the end, then the nearest index is read and
// nothing is written.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"permutation_size", AttrKind::kInt}};
constexpr int64_t kMaxSize = int64_t{1} << 31;

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType pivots = e.in(0);
  if (pivots.dtype() != DType::kI32 || pivots.rank() == 0) {
    e.Fail("operand 0 is ", pivots, "; it takes lists of i32");
  }
  const int64_t size = e.integer("permutation_size"), n = pivots.dim(pivots.rank() - 1);
  if (size < n || size > kMaxSize) {
    e.Fail("permutation_size ", size, " must be at least ", n, ", the last dimension of ", pivots, ", and at most ",
           kMaxSize);
  }
  Shape shape(pivots.shape().begin(), pivots.shape().end());
  shape.back() = size;
  return pivots.WithShape(shape);
}

Batched BatchRule(const Eqn& e, const Batched& x) { return {e.Emit({rules::MoveDim(x.value, x.dim, 0)}), 0}; }

void Loops(KernelBuilder& k, const Eqn& e) {
  const int64_t size = e.integer("permutation_size"), n = e.in(0).shape().back();
  if (e.out().elements() == 0) return;
  k.Parallel(e.out().shape().first(e.out().shape().size() - 1), [&](const Index& batch) {
    const auto at = [&](Scalar i) {
      Index index = batch;
      index.push_back(i);
      return index;
    };
    const KernelArray permutation = k.Result();
    k.Loop(size, [&](Scalar i) { permutation.Store(at(i), Convert(i, DType::kI32)); });
    k.Loop(n, [&](Scalar i) {
      const Scalar pivot = Convert(k.Operand(0).Load(at(i)), DType::kI64);
      const Scalar from_end = pivot + size;  // exact: |pivot| and size are below 2^32
      const Scalar other = Select(pivot < 0, from_end, pivot);
      const Scalar nearest = Max(Min(other, k.At(size - 1)), k.At(0));  // exact: size is positive
      const Scalar first = permutation.Load(at(i));
      permutation.Store(at(i), permutation.Load(at(nearest)));
      k.If(nearest == other, [&] { permutation.Store(at(nearest), first); });
    });
  });
}

std::string Factors(const Eqn& e) {
  const int64_t rank = e.in(0).rank();
  Shape out = rules::Range(rank);
  out.back() = rank;  // the permutation is a factor of its own
  const std::string all = rules::Letters(rules::Range(rank));
  return Text(all, " -> ", rules::Letters(out), "; whole ", rules::Letter(rank - 1), " ", rules::Letter(rank));
}

constexpr Row kRows[] = {{.name = "lu_pivots_to_permutation",
                          .doc = "permutation = lu_pivots_to_permutation(pivots): the order of `permutation_size` rows "
                                 "after swapping row i with row pivots[i], one after another",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::ZeroTangent,
                          .batch = rules::BatchFirstOperand<BatchRule>,
                          .factors_of = Factors,
                          .lowerings = lower::Loops<Loops>,
                          .missing = rules::kDiscrete,
                          .examples = "(i32[3] in 0..5) permutation_size=5; "
                                      "(i32[2,4] in -5..6) permutation_size=4"}};

}  // namespace

RowList lu_pivots_to_permutation_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
