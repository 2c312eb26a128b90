// eigh of large matrices: LAPACK's syevd and heevd (divide and conquer), with the phases of the built-in lowering.
//
// A routine takes columns where we have rows: the matrix that it sees is the transpose of ours, so the triangle changes
// its name, and vectors come out as rows of the conjugate. Both are undone when the results are stored.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 64;  // rows below which the generated kernel is as good

class Eigh : public RoutineLowering<Eigh> {
 public:
  static bool Takes(const Eqn& e) { return Matrices(e).rows >= kSmallest && Matrices(e).batch > 0; }

  Eigh(const Eqn& e, BlasLibrary library)
      : RoutineLowering(e, library.Routine(RoutineName(e.in(0).dtype(), "syevd", "heevd"))),
        uplo_(e.flag("lower", true) ? 'U' : 'L') {
    Plan();
  }
  uint64_t flops() const { return CubicFlops(9); }

 private:
  friend class RoutineLowering<Eigh>;
  template <typename T>
  struct Memory {
    T *m, *work;
    Part<T>* real_work;
    int64_t* int_work;
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    const int64_t n = sizes_.rows;
    return {s.Take<T>(n * n), s.Take<T>(work_), s.Take<Part<T>>(real_work_), s.Take<int64_t>(int_work_)};
  }
  template <typename T>
  void Ask(T* work) {
    Part<T> real_work = 0;
    int64_t int_work = 0;
    Routine<T>(nullptr, nullptr, work, &real_work, &int_work);
    real_work_ = static_cast<int64_t>(real_work);
    int_work_ = int_work;
  }
  // Whether it converged.
  template <typename T>
  bool Routine(T* m, Part<T>* w, T* work, Part<T>* real_work, int64_t* int_work) const {
    int64_t info = 0;
    const char job = 'V';
    const int64_t *n = &sizes_.rows, *size = &work_, *ints = &int_work_;
    if constexpr (kIsComplex<T>) {
      Call<2>(routine_, &job, &uplo_, n, m, n, w, work, size, real_work, &real_work_, int_work, ints, &info);
    } else {
      Call<2>(routine_, &job, &uplo_, n, m, n, w, work, size, int_work, ints, &info);
    }
    return info == 0;
  }
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    const int64_t n = sizes_.rows, size = n * n;
    const T* a = static_cast<const T*>(l.in[0]) + l.task * size;
    T* v = static_cast<T*>(l.out[0]) + l.task * size;
    Part<T>* w = static_cast<Part<T>*>(l.out[1]) + l.task * n;
    Scratch scratch(l.scratch);
    const Memory<T> memory = Lay<T>(scratch);
    if (!CopyTriangle(a, memory.m) || !Routine<T>(memory.m, w, memory.work, memory.real_work, memory.int_work)) {
      FillWithNaN(v, size);
      return FillWithNaN(w, n);
    }
    for (int64_t j = 0; j < n; ++j) {
      T* const column = memory.m + j * n;
      for (int64_t i = 0; i < n; ++i) column[i] = Conjugate(column[i]);
      const T phase = PhaseOf(column, n, 1);
      for (int64_t i = 0; i < n; ++i) column[i] *= phase;
    }
    Transpose(memory.m, n, n, v);
  }
  // Whether all its numbers are finite. The other triangle of m is left alone.
  template <typename T>
  bool CopyTriangle(const T* a, T* m) const {
    const int64_t n = sizes_.rows;
    bool finite = true;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t first = uplo_ == 'U' ? 0 : i, end = uplo_ == 'U' ? i + 1 : n;
      std::copy(a + i * n + first, a + i * n + end, m + i * n + first);
      m[i * n + i] = RealOf(m[i * n + i]);
      finite = finite && AreFinite(m + i * n + first, end - first);
    }
    return finite;
  }

  const char uplo_;
  int64_t real_work_ = -1, int_work_ = -1;
};

}  // namespace

void AddEigh(ricci_ctx* ctx, BlasLibrary library) { AddLibrary<Eigh>(ctx, "eigh", library); }

}  // namespace ricci::lapack
