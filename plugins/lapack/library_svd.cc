// svd of large matrices: LAPACK's gesdd (divide and conquer), with the phases of the built-in lowering.
//
// A routine takes columns where we have rows: it sees the transpose x of a = u s vt, and x = p s q with p = vt^T and
// q = u^T, so the memory of its p, column by column, is that of vt, row by row, and that of its q is that of u.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 24;  // the smaller dimension below which the generated kernel is as good

class Svd : public RoutineLowering<Svd> {
 public:
  static bool Takes(const Eqn& e) { return Matrices(e).smaller() >= kSmallest && Matrices(e).batch > 0; }

  Svd(const Eqn& e, BlasLibrary library)
      : RoutineLowering(e, library.Routine(RoutineName(e.in(0).dtype(), "gesdd", "gesdd"))),
        job_(!e.flag("compute_uv", true)     ? 'N'
             : e.flag("full_matrices", true) ? 'A'
                                             : 'S') {
    Plan();
  }
  uint64_t flops() const {
    const auto large = static_cast<uint64_t>(std::max(sizes_.rows, sizes_.columns));
    const auto small = static_cast<uint64_t>(sizes_.smaller());
    return static_cast<uint64_t>(sizes_.batch) * small * small * (4 * large + 8 * small);
  }

 private:
  friend class RoutineLowering<Svd>;
  bool HasVectors() const { return job_ != 'N'; }
  int64_t RowsOfU() const { return sizes_.rows; }
  int64_t ColumnsOfU() const { return job_ == 'A' ? sizes_.rows : sizes_.smaller(); }
  int64_t RowsOfVt() const { return job_ == 'A' ? sizes_.columns : sizes_.smaller(); }

  template <typename T>
  struct Memory {
    T *x, *work;
    Part<T>* real_work;
    int64_t* int_work;
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    const int64_t small = sizes_.smaller(), large = std::max(sizes_.rows, sizes_.columns);
    // The bounds that LAPACK's text gives for rwork.
    const int64_t reals = !kIsComplex<T> ? 0
                          : HasVectors() ? small * std::max(5 * small + 7, 2 * large + 2 * small + 1)
                                         : 7 * small;
    return {s.Take<T>(small * large), s.Take<T>(work_), s.Take<Part<T>>(reals), s.Take<int64_t>(8 * small)};
  }
  template <typename T>
  void Ask(T* work) const {
    Routine<T>(nullptr, nullptr, nullptr, nullptr, work, nullptr, nullptr);
  }
  // Whether it converged. p: columns x RowsOfVt(); q: ColumnsOfU() x rows.
  template <typename T>
  bool Routine(T* x, Part<T>* s, T* p, T* q, T* work, Part<T>* real_work, int64_t* int_work) const {
    int64_t info = 0;
    const int64_t *m = &sizes_.columns, *n = &sizes_.rows, *size = &work_, q_rows = ColumnsOfU();
    if constexpr (kIsComplex<T>) {
      Call<1>(routine_, &job_, m, n, x, m, s, p, m, q, &q_rows, work, size, real_work, int_work, &info);
    } else {
      Call<1>(routine_, &job_, m, n, x, m, s, p, m, q, &q_rows, work, size, int_work, &info);
    }
    return info == 0;
  }
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    const int64_t size = sizes_.rows * sizes_.columns, small = sizes_.smaller();
    const int64_t u_size = RowsOfU() * ColumnsOfU(), vt_size = RowsOfVt() * sizes_.columns;
    const T* a = static_cast<const T*>(l.in[0]) + l.task * size;
    Part<T>* s = static_cast<Part<T>*>(l.out[0]) + l.task * small;
    T* u = HasVectors() ? static_cast<T*>(l.out[1]) + l.task * u_size : nullptr;
    T* vt = HasVectors() ? static_cast<T*>(l.out[2]) + l.task * vt_size : nullptr;
    Scratch scratch(l.scratch);
    const Memory<T> memory = Lay<T>(scratch);
    std::copy(a, a + size, memory.x);
    if (!AreFinite(a, size) || !Routine<T>(memory.x, s, vt, u, memory.work, memory.real_work, memory.int_work)) {
      FillWithNaN(s, small);
      if (HasVectors()) FillWithNaN(u, u_size), FillWithNaN(vt, vt_size);
      return;
    }
    if (HasVectors()) SetPhases(u, vt);
  }
  // Those of the longer vectors decide, as in the built-in lowering.
  template <typename T>
  void SetPhases(T* u, T* vt) const {
    const int64_t m = sizes_.rows, n = sizes_.columns, u_columns = ColumnsOfU();
    const bool is_tall = m >= n;
    for (int64_t j = 0; j < std::max(u_columns, RowsOfVt()); ++j) {
      const T phase = is_tall ? PhaseOf(u + j, m, u_columns) : Conjugate(PhaseOf(vt + j * n, n, 1));
      if (j < u_columns) {
        for (int64_t i = 0; i < m; ++i) u[i * u_columns + j] *= phase;
      }
      if (j < RowsOfVt()) {
        for (int64_t i = 0; i < n; ++i) vt[j * n + i] *= Conjugate(phase);
      }
    }
  }

  const char job_;
};

}  // namespace

void AddSvd(ricci_ctx* ctx, BlasLibrary library) { AddLibrary<Svd>(ctx, "svd", library); }

}  // namespace ricci::lapack
