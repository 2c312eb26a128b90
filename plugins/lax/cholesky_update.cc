// cholesky_update: the upper triangular s with s^T s = r^T r + w w^T, where r is upper triangular too.
//
// Plane rotations of one row of r and w after the other turn w into zeros. As in jax.lax they take whole rows; below
// the diagonal of s is what they make of what is there.
#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  WantSquare(e, 0, kFloats);
  WantOneBatch(e, {2, 1});
  const ArrayType r = e.in(0), w = e.in(1);
  if (w.dim(w.rank() - 1) != RowsOf(r)) {
    e.Fail("operands are ", r, " and ", w, "; w must have ", RowsOf(r), " elements, one for each row of r");
  }
  return r;
}

// ---- lowering ----
struct Rotation {
  Scalar cos, sin;
};
// That which takes (x, y) to (r, 0). Both are divided by the larger one first, so that squares stay finite.
Rotation RotationOf(Scalar x, Scalar y) {
  const Scalar larger = Select(Magnitude(x) > Magnitude(y), Magnitude(x), Magnitude(y));
  const Scalar u = x / larger, v = y / larger, inverse = 1 / SquareRoot(u * u + v * v), is_done = y == 0;
  return {Select(is_done, Like(x, 1), u * inverse), Select(is_done, Like(x, 0), -(v * inverse))};
}

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  const int64_t n = RowsOf(e.in(0));
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) {
    const KernelMatrix r(k.Operand(0), batch), s(k.Result(), batch);
    const KernelList w(k.Operand(1), batch);
    const KernelArray rest = k.Local(e.in(0).WithShape(Dims(&n, 1)));
    k.Loop(n, [&](Scalar j) { rest.Store({j}, w.Load(j)); });
    k.Loop(n, [&](Scalar i) {
      const Rotation t = RotationOf(r.Load(i, i), rest.Load({i}));
      k.Loop(n, [&](Scalar j) {
        const Scalar x = r.Load(i, j), y = rest.Load({j});
        s.Store(i, j, t.cos * x - t.sin * y);
        rest.Store({j}, t.cos * y + t.sin * x);
      });
    });
  });
}

constexpr Row kRows[] = {{.name = "cholesky_update",
                          .doc =
                              "s = cholesky_update(r, w): the upper triangular s with s^T s = r^T r + w w^T, where r "
                              "is upper triangular",
                          .flags = RICCI_PRIM_EXPENSIVE,
                          .type = Type,
                          .batch = rules::BatchAllFirst<EmitBatched>,
                          .factors_of = BatchFactors,
                          .lowerings = kWideLoops<Loops>,
                          .missing = "jvp: jax.lax has none; transpose: not linear",
                          .examples = "(f64[3,3] in 1..2, f64[3]); (f64[2,4,4] in 1..2, f64[2,4]); "
                                      "(f64[10,10] in 1..2, f64[10])"}};

}  // namespace

RowList cholesky_update_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
