// geqrf and householder_product of large matrices, of which qr is made: LAPACK's geqrf, and orgqr and ungqr.
//
// Both are LAPACK's in the built-in lowerings too, so only the matrices are transposed on the way in and out.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 32;  // the smaller dimension below which the generated kernel is as good

// Both have a matrix and a list of factors, and the same work.
class Reflectors {
 public:
  static bool Takes(const Eqn& e) {
    return In(e.in(0).dtype(), lax::kLapackDTypes) && Matrices(e).smaller() >= kSmallest && Matrices(e).batch > 0;
  }
  int64_t batch() const { return sizes_.batch; }
  uint64_t flops() const {
    const auto large = static_cast<uint64_t>(std::max(sizes_.rows, sizes_.columns));
    const auto small = static_cast<uint64_t>(sizes_.smaller());
    return static_cast<uint64_t>(sizes_.batch) * small * small * (2 * large - 2 * small / 3);
  }
  int64_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  Reflectors(const Eqn& e, int64_t factors) : sizes_(e), factors_(factors) {}

  template <typename T>
  struct Memory {
    T *x, *taus, *work;
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    return {s.Take<T>(sizes_.rows * sizes_.columns), s.Take<T>(factors_), s.Take<T>(work_)};
  }
  // call(Memory<T>) runs the routine.
  template <typename F>
  void Plan(F&& call) {
    ForElement(sizes_.dtype, [&](auto zero) {
      using T = decltype(zero);
      T work{};
      work_ = -1;
      call(Memory<T>{nullptr, nullptr, &work});
      work_ = static_cast<int64_t>(RealOf(work));
      Scratch all(nullptr);
      Lay<T>(all);
      scratch_bytes_ = all.used();
    });
  }

  const Matrices sizes_;
  const int64_t factors_;
  int64_t work_ = 0, scratch_bytes_ = 0;
};

class Geqrf : public Reflectors {
 public:
  Geqrf(const Eqn& e, BlasLibrary library)
      : Reflectors(e, Matrices(e).smaller()), routine_(library.Routine(RoutineName(sizes_.dtype, "geqrf", "geqrf"))) {
    Plan([&](auto memory) { Routine(memory.x, memory.taus, memory.work); });
  }
  void Run(const ricci_launch& l) const {
    ForElement(sizes_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const int64_t m = sizes_.rows, n = sizes_.columns;
      Scratch scratch(l.scratch);
      const Memory<T> memory = Lay<T>(scratch);
      Transpose(static_cast<const T*>(l.in[0]) + l.task * m * n, m, n, memory.x);
      Routine(memory.x, static_cast<T*>(l.out[1]) + l.task * factors_, memory.work);
      Transpose(memory.x, n, m, static_cast<T*>(l.out[0]) + l.task * m * n);
    });
  }

 private:
  template <typename T>
  void Routine(T* x, T* taus, T* work) const {
    int64_t info = 0;
    const int64_t *m = &sizes_.rows, *size = &work_;
    Call<0>(routine_, m, &sizes_.columns, x, m, taus, work, size, &info);
  }
  void* const routine_;
};

class HouseholderProduct : public Reflectors {
 public:
  HouseholderProduct(const Eqn& e, BlasLibrary library)
      : Reflectors(e, e.in(1).dim(e.in(1).rank() - 1)),
        routine_(library.Routine(RoutineName(sizes_.dtype, "orgqr", "ungqr"))) {
    Plan([&](auto memory) { Routine(memory.x, memory.taus, memory.work); });
  }
  void Run(const ricci_launch& l) const {
    ForElement(sizes_.dtype, [&](auto zero) {
      using T = decltype(zero);
      const int64_t m = sizes_.rows, n = sizes_.columns;
      Scratch scratch(l.scratch);
      const Memory<T> memory = Lay<T>(scratch);
      const T* taus = static_cast<const T*>(l.in[1]) + l.task * factors_;
      std::copy(taus, taus + factors_, memory.taus);
      Transpose(static_cast<const T*>(l.in[0]) + l.task * m * n, m, n, memory.x);
      Routine(memory.x, memory.taus, memory.work);
      Transpose(memory.x, n, m, static_cast<T*>(l.out[0]) + l.task * m * n);
    });
  }

 private:
  template <typename T>
  void Routine(T* x, T* taus, T* work) const {
    int64_t info = 0;
    const int64_t *m = &sizes_.rows, *size = &work_;
    Call<0>(routine_, m, &sizes_.columns, &factors_, x, m, taus, work, size, &info);
  }
  void* const routine_;
};

}  // namespace

void AddQr(ricci_ctx* ctx, BlasLibrary library) {
  AddLibrary<Geqrf>(ctx, "geqrf", library);
  AddLibrary<HouseholderProduct>(ctx, "householder_product", library);
}

}  // namespace ricci::lapack
