// Tridiagonal systems, and their solution if they may be singular: pivots that would make x overflow are moved away
// from 0, as by lagtf and lagts of LAPACK. Inverse iteration, which wants any large solution, needs this.
//
// Rows are compared relative to the sums of their elements. A pivot moves by the rounding error of the largest element,
// twice as far each time, until what it divides does not overflow; this depends on all columns of b, which therefore
// are solved together. What the last step leaves over the diagonal does not count as an element, as in JAX.
#ifndef RICCI_LAX_TRIDIAGONAL_PERTURBED_HPP_
#define RICCI_LAX_TRIDIAGONAL_PERTURBED_HPP_
#include <limits>

#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// What elimination leaves: private arrays of the diagonal and the two above it.
struct UpperDiagonals {
  UpperDiagonals(KernelBuilder& k, const Eqn& e) : pivot(Make(k, e)), first(Make(k, e)), second(Make(k, e)) {}
  void Store(Scalar i, Scalar v, Scalar above, Scalar second_above) const {
    pivot.Store({i}, v);
    first.Store({i}, above);
    second.Store({i}, second_above);
  }
  KernelArray pivot, first, second;

 private:
  static KernelArray Make(KernelBuilder& k, const Eqn& e) {
    const int64_t n = RowsOf(e.in(3));
    return k.Local(e.in(3).WithShape(Dims(&n, 1)));
  }
};

// One system; columns of x are first those of b in the order of the pivots, less what was eliminated.
struct TridiagonalSystem {
  TridiagonalSystem(KernelBuilder& builder, const Eqn& e, const Index& batch)
      : k(builder),
        rows(RowsOf(e.in(3))),
        columns(ColumnsOf(e.in(3))),
        dl(k.Operand(0), batch),
        d(k.Operand(1), batch),
        du(k.Operand(2), batch),
        b(k.Operand(3), batch),
        x(k.Result(), batch) {}

  // Element i above the diagonal, 0 in the last row.
  Scalar Upper(Scalar i) const {
    const Scalar v = du.Load(i);
    return Select(i + 1 < k.At(rows), v, k.Constant(v.dtype(), 0));
  }
  // The first row, before any step.
  void Begin(const UpperDiagonals& u) const {
    const Scalar first = k.At(0);
    u.Store(first, d.Load(first), Upper(first), k.Constant(d.Load(first).dtype(), 0));
    k.Loop(columns, [&](Scalar j) { x.Store(first, j, b.Load(first, j)); });
  }
  // From the last row up: takes the rows below away from row i of x, then divide(i).
  template <typename Divide>
  void SubstituteBack(const UpperDiagonals& u, Divide&& divide) const {
    k.Loop(rows, [&](Scalar step) {
      const Scalar i = rows - 1 - step, n = k.At(rows);
      const auto take_away = [&](const KernelArray& diagonal, int64_t below) {
        k.If(i + below < n, [&] {
          const Scalar v = diagonal.Load({i});
          k.Loop(columns, [&](Scalar j) { x.Store(i, j, x.Load(i, j) - v * x.Load(i + below, j)); });
        });
      };
      take_away(u.first, 1);
      take_away(u.second, 2);
      divide(i);
    });
  }

  KernelBuilder& k;
  int64_t rows, columns;
  KernelList dl, d, du;
  KernelMatrix b, x;
};

class PerturbedSolution {
 public:
  PerturbedSolution(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        s_(k, e, batch),
        real_(RealOf(e.in(0).dtype())),
        u_(k, e),
        pivot_(k.Local(e.in(0).WithShape({}))),
        largest_(k.Local(e.Type(real_, {}))),
        scale_(k.Local(e.Type(real_, {}))),
        move_(k.Local(e.Type(real_, {}))),
        is_done_(k.Local(e.Type(DType::kBool, {}))) {}

  void Solve() const {
    s_.Begin(u_);
    const Scalar d = Size(u_.pivot.Load({k_.At(0)})), above = Size(u_.first.Load({k_.At(0)}));
    scale_.Store({}, d + above);
    largest_.Store({}, d);
    if (s_.rows > 1) Note(above);
    k_.Loop(s_.rows - 1, [&](Scalar i) { Eliminate(i); });
    Note(Size(u_.pivot.Load({k_.At(s_.rows - 1)})));
    const Scalar move = largest_.Load({}) * Epsilon();
    s_.SubstituteBack(u_, [&](Scalar i) { Divide(i, move); });
  }

 private:
  static Scalar Size(Scalar v) { return Apply(RICCI_S_ABS, {v}); }
  bool IsF32() const { return real_ == DType::kF32; }
  Scalar Number(double v) const { return k_.Constant(real_, v); }
  Scalar Epsilon() const {
    return Number(IsF32() ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon());
  }
  // The smallest number with an inverse.
  double Least() const { return IsF32() ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min(); }
  // NaN is larger than nothing.
  void Note(Scalar size) const {
    const Scalar largest = largest_.Load({});
    largest_.Store({}, Select(size > largest, size, largest));
  }

  void Eliminate(Scalar i) const {
    const Scalar d = u_.pivot.Load({i}), u = u_.first.Load({i}), l = s_.dl.Load(i + 1);
    const Scalar next_d = s_.d.Load(i + 1), next_u = s_.Upper(i + 1), zero = k_.Constant(d.dtype(), 0);
    const Scalar scale = scale_.Load({}), next_scale = Size(l) + Size(next_d) + Size(next_u);
    const Scalar here = Select(d == zero, Number(0), Size(d) / scale), there = Size(l) / next_scale;
    const Scalar swapped = (l != zero) & !(there <= here), pivot = Select(swapped, l, d);
    const Scalar factor = Select(l == zero, zero, Select(swapped, d, l) / pivot);
    const Scalar above = Select(swapped, next_d, u), second = Select(swapped, next_u, zero);
    const Scalar left = Select(swapped, u, next_d) - factor * above;
    const Scalar left_above = Select(swapped, -(factor * next_u), next_u);
    u_.Store(i, pivot, above, second);
    u_.Store(i + 1, left, left_above, zero);
    scale_.Store({}, Select(swapped, Size(left) + Size(left_above), next_scale));
    k_.If(i + 2 < k_.At(s_.rows), [&] {
      for (const Scalar& v : {pivot, above, second}) Note(Size(v));
    });
    k_.Loop(s_.columns, [&](Scalar j) {
      const Scalar b = s_.x.Load(i, j), next = s_.b.Load(i + 1, j), first = Select(swapped, next, b);
      s_.x.Store(i, j, first);
      s_.x.Store(i + 1, j, Select(swapped, b, next) - factor * first);
    });
  }

  void Divide(Scalar i, Scalar move) const {
    const Scalar d = u_.pivot.Load({i});
    pivot_.Store({}, d);
    is_done_.Store({}, k_.Constant(DType::kBool, false));
    scale_.Store({}, Number(1));
    const Scalar step = Max(move, Number(Least()));
    move_.Store({}, Select(HasMinus(RealPart(d)), -step, step));
    const Scalar largest = k_.Reduce(RICCI_S_MAX, s_.columns, [&](Scalar j) { return Size(s_.x.Load(i, j)); });
    k_.While([&] { return (!is_done_.Load({})) & (Size(pivot_.Load({})) < 1); }, [&] { MovePivot(largest); });
    const Scalar pivot = pivot_.Load({}), scale = scale_.Load({});
    const Scalar inverse = AsKind(pivot, Number(1)) / pivot;
    k_.Loop(s_.columns, [&](Scalar j) {
      const Scalar v = TimesReal(s_.x.Load(i, j), scale);
      s_.x.Store(i, j, s_.rows == 1 ? v / pivot : v * inverse);
    });
  }
  // Away from 0, unless what it divides stays finite; then it is done, and scaled with its row if it has no inverse.
  void MovePivot(Scalar largest) const {
    const double least = Least(), most = 1 / least;
    const Scalar pivot = pivot_.Load({}), size = Size(pivot), has_inverse = size >= least;
    const Scalar overflows = Select(has_inverse, largest > size * most, (size == 0) | (largest * least > size));
    const Scalar move = move_.Load({}), scale = Select(has_inverse, Number(1), Number(most));
    pivot_.Store({}, Select(overflows, pivot + AsKind(pivot, move), TimesReal(pivot, scale)));
    scale_.Store({}, Select(overflows, Number(1), scale));
    move_.Store({}, move * 2);
    is_done_.Store({}, !overflows);
  }

  KernelBuilder& k_;
  const TridiagonalSystem s_;
  const DType real_;
  const UpperDiagonals u_;
  const KernelArray pivot_, largest_, scale_, move_, is_done_;
};

}}}  // namespace ricci::v0::lax
#endif
