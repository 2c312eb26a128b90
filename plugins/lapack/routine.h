// What the lowerings share: element types, calls of Fortran's routines, and the way into the core.
#ifndef RICCI_LAPACK_ROUTINE_H_
#define RICCI_LAPACK_ROUTINE_H_
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>

#include "blas_library.h"
#include "lax/matrix.hpp"

namespace ricci::lapack {

// ---- elements ----
template <typename T>
struct PartOfElement {
  using Type = T;
};
template <typename R>
struct PartOfElement<std::complex<R>> {
  using Type = R;
};
template <typename T>
using Part = typename PartOfElement<T>::Type;
template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Part<T>>;

template <typename T>
Part<T> RealOf(T z) {
  return std::real(z);
}
template <typename T>
T Conjugate(T z) {
  if constexpr (kIsComplex<T>) return std::conj(z);
  return z;
}
// |z|^2, of numbers whose squares do not overflow.
template <typename T>
Part<T> SquaredMagnitude(T z) {
  return std::norm(z);
}
template <typename T>
bool AreFinite(const T* x, int64_t n) {
  return std::all_of(x, x + n, [](T z) { return std::isfinite(std::real(z)) && std::isfinite(std::imag(z)); });
}
template <typename T>
void FillWithNaN(T* x, int64_t n) {
  constexpr Part<T> kNaN = std::numeric_limits<Part<T>>::quiet_NaN();
  if constexpr (kIsComplex<T>) {
    std::fill(x, x + n, T{kNaN, kNaN});
  } else {
    std::fill(x, x + n, kNaN);
  }
}

// f(T{}) with the C++ type of `dtype`, one of lax::kLapackDTypes.
template <typename F>
auto ForElement(DType dtype, F&& f) {
  if (dtype == DType::kF32) return f(float{});
  if (dtype == DType::kF64) return f(double{});
  if (dtype == DType::kC64) return f(std::complex<float>{});
  return f(std::complex<double>{});
}
// `real` or `complex` with the letter of the dtype before it: `dsyevd`, `zheevd`.
inline std::string RoutineName(DType dtype, std::string_view real, std::string_view complex) {
  const char letter = dtype == DType::kF32 ? 's' : dtype == DType::kF64 ? 'd' : dtype == DType::kC64 ? 'c' : 'z';
  return Text(std::string(1, letter), IsComplex(dtype) ? complex : real);
}

// ---- calls ----
// A routine with the given arguments, all addresses. After them come the lengths of its `Texts` arguments of
// characters, each 1.
template <int Texts, typename... Args>
void Call(void* routine, Args... args) {
  if constexpr (Texts == 0) {
    reinterpret_cast<void (*)(Args...)>(routine)(args...);
  } else if constexpr (Texts == 1) {
    reinterpret_cast<void (*)(Args..., size_t)>(routine)(args..., 1);
  } else {
    reinterpret_cast<void (*)(Args..., size_t, size_t)>(routine)(args..., 1, 1);
  }
}

// Consecutive parts of a thread's scratch memory, each aligned to 64 bytes. Without memory it only counts.
class Scratch {
 public:
  explicit Scratch(void* at) : at_(static_cast<char*>(at)) {}
  template <typename T>
  T* Take(int64_t n) {
    T* const found = at_ == nullptr ? nullptr : reinterpret_cast<T*>(at_ + used_);
    used_ += (n * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return found;
  }
  int64_t used() const { return used_; }

 private:
  char* at_;
  int64_t used_ = 0;
};

// The transpose of a, which has `rows` rows of `columns` elements.
template <typename T>
void Transpose(const T* a, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t kBlock = 16;
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t end = std::min(first + kBlock, rows);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = first; i < end; ++i) out[j * rows + i] = a[i * columns + j];
    }
  }
}

// The number of magnitude 1 that makes the first large element of the unit vector x real and positive: the rule of
// lax/eigen_kernel.hpp.
template <typename T>
T PhaseOf(const T* x, int64_t n, int64_t stride) {
  Part<T> largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, SquaredMagnitude(x[i * stride]));
  int64_t first = 0;
  while (first + 1 < n && SquaredMagnitude(x[first * stride]) < largest * Part<T>(0.09)) ++first;
  const T z = x[first * stride];
  if (z == T{}) return T{1};
  return Conjugate(z) / std::abs(z);
}

// ---- the way into the core ----
// The sizes of the matrices of operand 0.
struct Matrices {
  DType dtype;
  int64_t rows, columns, batch;
  explicit Matrices(const Eqn& e)
      : dtype(e.in(0).dtype()), rows(lax::RowsOf(e.in(0))), columns(lax::ColumnsOf(e.in(0))), batch(1) {
    for (const int64_t size : lax::BatchOf(e.in(0))) batch *= size;  // exact: a type has a number of elements
  }
  int64_t smaller() const { return std::min(rows, columns); }
};

// What is common to lowerings that call one routine for each matrix. `Op` derives from it, calls Plan() when it is
// constructed, and has, with T the type of the elements:
//   Ask<T>(T* work)     the routine, which writes how much work it needs while `work_` is -1
//   Lay<T>(Scratch&)    the memory of one call
//   RunAs<T>(launch)    the matrix of a task
template <typename Op>
class RoutineLowering {
 public:
  int64_t batch() const { return sizes_.batch; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  void Run(const ricci_launch& l) const {
    ForElement(sizes_.dtype, [&](auto zero) { static_cast<const Op*>(this)->template RunAs<decltype(zero)>(l); });
  }

 protected:
  RoutineLowering(const Eqn& e, void* routine) : sizes_(e), routine_(routine) {}
  void Plan() {
    ForElement(sizes_.dtype, [&](auto zero) {
      using T = decltype(zero);
      Op& op = *static_cast<Op*>(this);
      T work{};
      op.template Ask<T>(&work);
      work_ = static_cast<int64_t>(RealOf(work));
      Scratch all(nullptr);
      op.template Lay<T>(all);
      scratch_bytes_ = all.used();
    });
  }
  // Of all matrices, if one of n rows takes `factor` n^3.
  uint64_t CubicFlops(uint64_t factor) const {
    const auto n = static_cast<uint64_t>(sizes_.rows);
    return static_cast<uint64_t>(sizes_.batch) * n * n * n * factor;
  }

  const Matrices sizes_;
  void* const routine_;
  int64_t work_ = -1;

 private:
  int64_t scratch_bytes_ = 0;
};

// The way of such a lowering into the core. Op::Takes(const Eqn&) says whether it takes an equation; an
// Op(const Eqn&, BlasLibrary) has flops() too.
template <typename Op>
struct LibraryOf {
  static ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) noexcept {
    return Guard([&] { *accept = Op::Takes(Eqn(op, nullptr)); });
  }
  static ricci_status* Plan(void* handle, const ricci_op* op, ricci_library_plan* out) noexcept {
    return Guard([&] {
      auto planned = std::make_unique<Op>(Eqn(op, nullptr), BlasLibrary(handle));
      out->tasks = planned->batch();
      out->flops = planned->flops();
      out->scratch_bytes = static_cast<uint64_t>(planned->scratch_bytes());
      out->state = planned.release();
    });
  }
  static ricci_status* Launch(void* state, const ricci_launch* l) noexcept {
    static_cast<const Op*>(state)->Run(*l);
    return nullptr;
  }
  static void DropState(void* state) { delete static_cast<Op*>(state); }
  static constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, DropState};
};

// Adds it to the row `primitive` for `cpu`, before those of the backend.
template <typename Op>
void AddLibrary(ricci_ctx* ctx, std::string_view primitive, BlasLibrary library) {
  ricci_prim prim = 0;
  Check(ricci_prim_find(ctx, primitive.data(), primitive.size(), &prim));
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LIBRARY;
  l.priority = 20;
  l.target = {"cpu", 3};
  l.self = library.handle();
  l.match = LibraryOf<Op>::Match;
  l.library = &LibraryOf<Op>::kLibrary;
  Check(ricci_prim_add_lowering(ctx, prim, &l));
}

}  // namespace ricci::lapack
#endif
