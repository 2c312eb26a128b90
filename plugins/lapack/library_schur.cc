// schur of large matrices: LAPACK's gees. Blocks of 2 x 2 have the form that the built-in lowering gives them.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 160;  // rows below which the generated kernel is as good

class Schur : public RoutineLowering<Schur> {
 public:
  static bool Takes(const Eqn& e) { return Matrices(e).rows >= kSmallest && Matrices(e).batch > 0; }

  Schur(const Eqn& e, BlasLibrary library)
      : RoutineLowering(e, library.Routine(RoutineName(e.in(0).dtype(), "gees", "gees"))),
        has_vectors_(e.flag("compute_schur_vectors", true)) {
    Plan();
  }
  uint64_t flops() const { return CubicFlops(25); }

 private:
  friend class RoutineLowering<Schur>;
  template <typename T>
  struct Memory {
    T *x, *q, *work;
    Part<T>*w, *w_im;  // w: of a complex matrix pairs of parts, and w_im more work
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    const int64_t n = sizes_.rows;
    return {s.Take<T>(n * n), s.Take<T>(has_vectors_ ? n * n : 0), s.Take<T>(work_), s.Take<Part<T>>(2 * n),
            s.Take<Part<T>>(n)};
  }
  template <typename T>
  void Ask(T* work) const {
    Memory<T> query{};
    query.work = work;
    Routine(query);
  }
  // Whether it converged.
  template <typename T>
  bool Routine(const Memory<T>& at) const {
    int64_t info = 0, sorted = 0;
    const char job = has_vectors_ ? 'V' : 'N', sort = 'N';
    void* const nothing = nullptr;  // what sorts
    const int64_t *n = &sizes_.rows, *size = &work_;
    if constexpr (kIsComplex<T>) {
      Call<2>(routine_, &job, &sort, nothing, n, at.x, n, &sorted, at.w, at.q, n, at.work, size, at.w_im, nothing,
              &info);
    } else {
      Call<2>(routine_, &job, &sort, nothing, n, at.x, n, &sorted, at.w, at.w_im, at.q, n, at.work, size, nothing,
              &info);
    }
    return info == 0;
  }
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    const int64_t n = sizes_.rows, size = n * n;
    const T* a = static_cast<const T*>(l.in[0]) + l.task * size;
    Scratch scratch(l.scratch);
    const Memory<T> at = Lay<T>(scratch);
    const auto result = [&](uint32_t i) { return static_cast<T*>(l.out[i]) + l.task * size; };
    Transpose(a, n, n, at.x);
    if (!AreFinite(a, size) || !Routine(at)) {
      for (uint32_t i = 0; i < l.n_out; ++i) FillWithNaN(result(i), size);
      return;
    }
    Transpose(at.x, n, n, result(0));
    if (has_vectors_) Transpose(at.q, n, n, result(1));
  }

  const bool has_vectors_;
};

}  // namespace

void AddSchur(ricci_ctx* ctx, BlasLibrary library) { AddLibrary<Schur>(ctx, "schur", library); }

}  // namespace ricci::lapack
