// eig of large matrices: LAPACK's geev, with the order of the eigenvalues and the phases of the built-in lowering.
//
// geev of very large or small matrices gives wrong eigenvalues or lengths of vectors in several versions of OpenBLAS,
// so those are scaled by a power of two before.
#include "lapack_rows.h"
#include "routine.h"

namespace ricci::lapack {
namespace {

constexpr int64_t kSmallest = 48;  // rows below which the generated kernel is as good

class Eig : public RoutineLowering<Eig> {
 public:
  static bool Takes(const Eqn& e) { return Matrices(e).rows >= kSmallest && Matrices(e).batch > 0; }

  Eig(const Eqn& e, BlasLibrary library)
      : RoutineLowering(e, library.Routine(RoutineName(e.in(0).dtype(), "geev", "geev"))),
        left_(e.flag("compute_left_eigenvectors", true)),
        right_(e.flag("compute_right_eigenvectors", true)) {
    Plan();
  }
  uint64_t flops() const { return CubicFlops(25); }

 private:
  friend class RoutineLowering<Eig>;
  template <typename T>
  using Complex = std::complex<Part<T>>;
  template <typename T>
  struct Memory {
    T *x, *left, *right, *work;
    Part<T>*w, *w_im, *real_work;  // w: of a complex matrix pairs of parts, and no w_im
    Complex<T>* vector;
    int64_t* order;
  };
  template <typename T>
  Memory<T> Lay(Scratch& s) const {
    const int64_t n = sizes_.rows;
    return {s.Take<T>(n * n),       s.Take<T>(left_ ? n * n : 0), s.Take<T>(right_ ? n * n : 0),
            s.Take<T>(work_),       s.Take<Part<T>>(2 * n),       s.Take<Part<T>>(n),
            s.Take<Part<T>>(2 * n), s.Take<Complex<T>>(n),        s.Take<int64_t>(n)};
  }
  template <typename T>
  void Ask(T* work) const {
    Part<T> real_work = 0;
    Memory<T> query{};
    query.work = work;
    query.real_work = &real_work;
    Routine(query);
  }
  // Whether it converged.
  template <typename T>
  bool Routine(const Memory<T>& at) const {
    int64_t info = 0;
    const char left = left_ ? 'V' : 'N', right = right_ ? 'V' : 'N';
    const int64_t *n = &sizes_.rows, *size = &work_;
    if constexpr (kIsComplex<T>) {
      Call<2>(routine_, &left, &right, n, at.x, n, at.w, at.left, n, at.right, n, at.work, size, at.real_work, &info);
    } else {
      Call<2>(routine_, &left, &right, n, at.x, n, at.w, at.w_im, at.left, n, at.right, n, at.work, size, &info);
    }
    return info == 0;
  }
  template <typename T>
  Complex<T> Eigenvalue(const Memory<T>& at, int64_t j) const {
    if constexpr (kIsComplex<T>) return {at.w[2 * j], at.w[2 * j + 1]};
    return {at.w[j], at.w_im[j]};
  }
  template <typename T>
  void RunAs(const ricci_launch& l) const {
    const int64_t n = sizes_.rows, size = n * n;
    const T* a = static_cast<const T*>(l.in[0]) + l.task * size;
    Complex<T>* w = static_cast<Complex<T>*>(l.out[0]) + l.task * n;
    Scratch scratch(l.scratch);
    const Memory<T> at = Lay<T>(scratch);
    Transpose(a, n, n, at.x);
    const int exponent = ExponentFor(a, size);
    if (exponent != 0) Scale(at.x, size, -exponent);
    const bool good = AreFinite(a, size) && Routine(at);
    const auto vectors = [&](uint32_t result) { return static_cast<Complex<T>*>(l.out[result]) + l.task * size; };
    if (!good) {
      FillWithNaN(w, n);
      for (uint32_t i = 1; i < l.n_out; ++i) FillWithNaN(vectors(i), size);
      return;
    }
    Sort(at);
    for (int64_t position = 0; position < n; ++position) w[position] = Eigenvalue(at, at.order[position]);
    if (exponent != 0) Scale(w, n, exponent);
    if (left_) StoreVectors(at, at.left, vectors(1));
    if (right_) StoreVectors(at, at.right, vectors(left_ ? 2 : 1));
  }
  // The power of two that is close to the largest part if geev would scale the matrix, else 0.
  template <typename T>
  static int ExponentFor(const T* a, int64_t n) {
    Part<T> largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max({largest, std::abs(std::real(a[i])), std::abs(std::imag(a[i]))});
    if (largest == 0 || !std::isfinite(largest)) return 0;
    const int exponent = std::ilogb(largest);
    return std::abs(exponent) > std::numeric_limits<Part<T>>::max_exponent / 4 ? exponent : 0;
  }
  template <typename T>
  static void Scale(T* x, int64_t n, int exponent) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsComplex<T>) {
        x[i] = {std::scalbn(x[i].real(), exponent), std::scalbn(x[i].imag(), exponent)};
      } else {
        x[i] = std::scalbn(x[i], exponent);
      }
    }
  }
  // By the key of the built-in lowering; equal ones keep their order.
  template <typename T>
  void Sort(const Memory<T>& at) const {
    const auto key = [&](int64_t i) {
      const Complex<T> w = Eigenvalue(at, i);
      return w.real() + (kIsComplex<T> ? w.imag() : std::abs(w.imag())) / 8;
    };
    for (int64_t i = 0; i < sizes_.rows; ++i) at.order[i] = i;
    std::sort(at.order, at.order + sizes_.rows, [&](int64_t i, int64_t j) {
      const Part<T> mine = key(i), other = key(j);
      return mine < other || (mine == other && i < j);
    });
  }
  // Column j of LAPACK's vectors: of a real matrix two columns are the parts of two conjugate ones.
  template <typename T>
  void LoadVector(const Memory<T>& at, const T* v, int64_t j) const {
    const int64_t n = sizes_.rows;
    const Part<T> im = Eigenvalue(at, j).imag();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsComplex<T>) {
        at.vector[i] = v[j * n + i];
      } else if (im == 0) {
        at.vector[i] = v[j * n + i];
      } else {
        const T* pair = v + (im > 0 ? j : j - 1) * n;
        at.vector[i] = {pair[i], im > 0 ? pair[n + i] : -pair[n + i]};
      }
    }
  }
  template <typename T>
  void StoreVectors(const Memory<T>& at, const T* v, Complex<T>* out) const {
    const int64_t n = sizes_.rows;
    for (int64_t position = 0; position < n; ++position) {
      LoadVector(at, v, at.order[position]);
      int64_t top = 0;
      for (int64_t i = 1; i < n; ++i) {
        if (std::norm(at.vector[i]) > std::norm(at.vector[top])) top = i;
      }
      const Complex<T> phase = std::conj(at.vector[top]) / std::abs(at.vector[top]);
      for (int64_t i = 0; i < n; ++i) out[i * n + position] = at.vector[i] * phase;
      out[top * n + position] = out[top * n + position].real();
    }
  }

  const bool left_, right_;
};

}  // namespace

void AddEig(ricci_ctx* ctx, BlasLibrary library) { AddLibrary<Eig>(ctx, "eig", library); }

}  // namespace ricci::lapack
