// Balancing of square matrices before their eigenvalues are computed: b = d^-1 p^T a p d with a permutation p and
// powers of two d, which are exact (Parlett and Reinsch, "Balancing a matrix for calculation of eigenvalues and
// eigenvectors", 1969). Errors are as large as the largest element of b allows, and a badly scaled a has far larger
// ones.
//
// First, rows and columns that have only zeros beside the diagonal are moved to the end and to the beginning: what is
// there is triangular, and its eigenvalues are exact. Then each row and column between them get largest elements of
// about one size. The diagonal counts among these, so that no small elements grow beside it (James, Langou and Lowery,
// "On matrix balancing and eigenvector computation", 2014).
//
// LAPACK's geev balances too, but after it has scaled. In f32 and c64 JAX gives wrong eigenvalues of matrices with
// elements above 1e12 or below 1e-12; ours are those of f64.
#ifndef RICCI_LAX_BALANCING_HPP_
#define RICCI_LAX_BALANCING_HPP_
#include "eigen_kernel.hpp"

namespace ricci { inline namespace v0 { namespace lax {

class Balancing {
 public:
  // m: n x n, finite, of the dtype of the operand; becomes b.
  Balancing(const KernelBuilder& k, const Eqn& e, int64_t n, const KernelMatrix& m)
      : k_(k),
        n_(n),
        m_(m),
        bits_(FloatBits::Of(RealOf(e.in(0).dtype()))),
        first_(k, e, k.At(0)),
        end_(k, e, k.At(n)),
        goes_on_(k, e, k.Constant(DType::kBool, true)),
        left_(k, e, k.At(kSweeps)),
        position_(k.Local(e.Type(DType::kI64, Shape{n}))),
        power_(k.Local(e.Type(bits_.integer, Shape{n}))) {}

  void Balance() const {
    k_.Loop(n_, [&](Scalar i) {
      position_.Store({i}, i);
      power_.Store({i}, k_.Constant(bits_.integer, 0));
    });
    Permute();
    Scale();
  }
  // `out` becomes the eigenvector of a that belongs to the eigenvector x of b, up to a power of two: p d x, or if it is
  // a left one p d^-1 x.
  void Undo(const KernelArray& x, bool left, const KernelArray& out) const {
    const auto power = [&](Scalar i) { return left ? -power_.Load({i}) : power_.Load({i}); };
    const Scalar lowest = k_.Constant(bits_.integer, -16 * bits_.bias);
    const Scalar most = k_.Reduce(RICCI_S_MAX, n_, [&](Scalar i) {
      const Scalar part = LargerPart(x.Load({i}));
      return Select(part == 0, lowest, power(i) + ExponentOf(part));
    });
    k_.Loop(n_, [&](Scalar i) {
      const Scalar v = x.Load({i}), wanted = power(i) - most + bits_.bias;
      out.Store({position_.Load({i})}, TimesReal(v, PowerOf(Clamped(wanted), RealOf(v.dtype()))));
    });
  }

 private:
  static constexpr int64_t kSweeps = 100;  // each makes a sum smaller by a twentieth; few matrices need more than five

  Scalar Part(Scalar i, Scalar j) const { return LargerPart(m_.Load(i, j)); }
  // As the exponent of a normal number.
  Scalar Clamped(Scalar power) const { return Min(Max(power, Like(power, 1 - bits_.bias)), Like(power, bits_.bias)); }
  void Swap(Scalar i, Scalar j) const {
    SwapRows(k_, m_, n_, i, j);
    k_.Loop(n_, [&](Scalar r) {
      const Scalar v = m_.Load(r, i);
      m_.Store(r, i, m_.Load(r, j));
      m_.Store(r, j, v);
    });
    const Scalar position = position_.Load({i});
    position_.Store({i}, position_.Load({j}));
    position_.Store({j}, position);
  }
  // The last row (column) from first_ to end_ that has only zeros beside the diagonal there, or a negative number.
  Scalar Isolated(bool row) const {
    const Scalar first = first_.Get(), end = end_.Get(), zero = k_.At(0), one = k_.At(1);
    return k_.Reduce(RICCI_S_MAX, first, end, [&](Scalar i) {
      const Scalar others = k_.Reduce(RICCI_S_ADD, first, end, [&](Scalar j) {
        return Select((i != j) & ((row ? Part(i, j) : Part(j, i)) != 0), one, zero);
      });
      return Select(others == 0, i, k_.At(-1));
    });
  }
  void Permute() const {
    k_.While([&] { return goes_on_.Get(); },
             [&] {
               const Scalar row = Isolated(/*row=*/true);
               k_.If(
                   row >= 0,
                   [&] {
                     end_.Set(end_.Get() - 1);
                     Swap(row, end_.Get());
                   },
                   [&] { PermuteColumn(); });
             });
  }
  void PermuteColumn() const {
    const Scalar column = Isolated(/*row=*/false);
    k_.If(
        column >= 0,
        [&] {
          Swap(column, first_.Get());
          first_.Set(first_.Get() + 1);
        },
        [&] { goes_on_.Set(k_.Constant(DType::kBool, false)); });
  }

  void Scale() const {
    goes_on_.Set(k_.Constant(DType::kBool, true));
    k_.While([&] { return goes_on_.Get() & (left_.Get() > 0); },
             [&] {
               left_.Set(left_.Get() - 1);
               goes_on_.Set(k_.Constant(DType::kBool, false));
               k_.Loop(first_.Get(), end_.Get(), [&](Scalar i) { ScaleOne(i); });
             });
  }
  // Row i is divided, and column i multiplied, by a power of two that makes them smaller together.
  void ScaleOne(Scalar i) const {
    const auto largest = [&](Scalar from, Scalar to, auto&& part) { return k_.Reduce(RICCI_S_MAX, from, to, part); };
    const auto in_row = [&](Scalar j) { return Part(i, j); };
    const auto in_column = [&](Scalar j) { return Part(j, i); };
    const Scalar first = first_.Get(), end = end_.Get(), zero = k_.At(0), n = k_.At(n_);
    const Scalar r = largest(first, end, in_row), c = largest(first, end, in_column);
    const Scalar highest = Like(ExponentOf(r), 2 * bits_.bias - 1);  // of what is not to overflow
    const Scalar most = highest - ExponentOf(largest(zero, end, in_column));
    const Scalar least = ExponentOf(largest(first, n, in_row)) - highest;
    const Scalar power = Clamped(Max(Min((ExponentOf(r) - ExponentOf(c)) / 2, most), least));
    const Scalar up = PowerOf(power, r.dtype()), down = PowerOf(Clamped(-power), r.dtype());
    const Scalar before = c * 0.25 + r * 0.25, after = c * 0.25 * up + r * 0.25 * down;
    k_.If((r > 0) & (c > 0) & (power != 0) & (after < before * 0.95), [&] {
      k_.Loop(n_, [&](Scalar j) { m_.Store(i, j, TimesReal(m_.Load(i, j), down)); });
      k_.Loop(n_, [&](Scalar j) { m_.Store(j, i, TimesReal(m_.Load(j, i), up)); });
      power_.Store({i}, power_.Load({i}) + power);
      goes_on_.Set(k_.Constant(DType::kBool, true));
    });
  }

  const KernelBuilder& k_;
  const int64_t n_;
  const KernelMatrix m_;
  const FloatBits bits_;
  const Variable first_, end_, goes_on_, left_;
  const KernelArray position_, power_;
};

}}}  // namespace ricci::v0::lax
#endif
