// geqrf and householder_product of large matrices, of which qr is made: LAPACK's geqrf, and orgqr and ungqr.
//
// Both are LAPACK's in the built-in lowerings too, so only the matrices are transposed on the way in and out.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 32;  // the smaller dimension below which the generated kernel is as good

// Both take a matrix and a list of factors. Op::Routine(x, factors, work) calls the routine.
template <typename Op>
class Reflectors : public RoutineLowering<Op> {
 public:
  static bool Takes(const Eqn& e) {
    return In(e.in(0).dtype(), lax::kLapackDTypes) && Matrices(e).smaller() >= kSmallest && Matrices(e).batch > 0;
  }
  uint64_t flops() const {
    const auto large = static_cast<uint64_t>(std::max(this->sizes_.rows, this->sizes_.columns));
    const auto small = static_cast<uint64_t>(this->sizes_.smaller());
    return static_cast<uint64_t>(this->sizes_.batch) * small * small * (2 * large - 2 * small / 3);
  }

 protected:
  friend class RoutineLowering<Op>;
  Reflectors(const Eqn& e, void* routine, int64_t factors) : RoutineLowering<Op>(e, routine), factors_(factors) {}

  template <typename T>
  struct Memory {
    T *x, *taus, *work;
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    return {s.Take<T>(this->sizes_.rows * this->sizes_.columns), s.Take<T>(factors_), s.Take<T>(this->work_)};
  }
  template <typename T>
  void Ask(T* work) const {
    op().Routine(static_cast<T*>(nullptr), static_cast<T*>(nullptr), work);
  }
  // The routine on the matrix of operand 0, with the result in result 0.
  template <typename T>
  void RunTransposed(const ricci_launch& l, const Memory<T>& memory, T* taus) const {
    const int64_t m = this->sizes_.rows, n = this->sizes_.columns;
    Transpose(static_cast<const T*>(l.in[0]) + l.task * m * n, m, n, memory.x);
    op().Routine(memory.x, taus, memory.work);
    Transpose(memory.x, n, m, static_cast<T*>(l.out[0]) + l.task * m * n);
  }

  const int64_t factors_;

 private:
  const Op& op() const { return *static_cast<const Op*>(this); }
};

class Geqrf : public Reflectors<Geqrf> {
 public:
  Geqrf(const Eqn& e, BlasLibrary library)
      : Reflectors(e, library.Routine(RoutineName(e.in(0).dtype(), "geqrf", "geqrf")), Matrices(e).smaller()) {
    Plan();
  }

 private:
  friend class RoutineLowering<Geqrf>;
  friend class Reflectors<Geqrf>;
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    Scratch scratch(l.scratch);
    RunTransposed(l, Lay<T>(scratch), static_cast<T*>(l.out[1]) + l.task * factors_);
  }
  template <typename T>
  void Routine(T* x, T* taus, T* work) const {
    int64_t info = 0;
    const int64_t *m = &sizes_.rows, *size = &work_;
    Call<0>(routine_, m, &sizes_.columns, x, m, taus, work, size, &info);
  }
};

class HouseholderProduct : public Reflectors<HouseholderProduct> {
 public:
  HouseholderProduct(const Eqn& e, BlasLibrary library)
      : Reflectors(e, library.Routine(RoutineName(e.in(0).dtype(), "orgqr", "ungqr")),
                   e.in(1).dim(e.in(1).rank() - 1)) {
    Plan();
  }

 private:
  friend class RoutineLowering<HouseholderProduct>;
  friend class Reflectors<HouseholderProduct>;
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    Scratch scratch(l.scratch);
    const Memory<T> memory = Lay<T>(scratch);
    const T* taus = static_cast<const T*>(l.in[1]) + l.task * factors_;
    std::copy(taus, taus + factors_, memory.taus);
    RunTransposed(l, memory, memory.taus);
  }
  template <typename T>
  void Routine(T* x, T* taus, T* work) const {
    int64_t info = 0;
    const int64_t *m = &sizes_.rows, *size = &work_;
    Call<0>(routine_, m, &sizes_.columns, &factors_, x, m, taus, work, size, &info);
  }
};

}  // namespace

void AddQr(ricci_ctx* ctx, BlasLibrary library) {
  AddLibrary<Geqrf>(ctx, "geqrf", library);
  AddLibrary<HouseholderProduct>(ctx, "householder_product", library);
}

}  // namespace ricci::lapack
