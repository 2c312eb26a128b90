// The code of FftLines as a template over the vector's bytes; each instruction set's file instantiates its own, as with
// gemm_kernel.h.
//
// Passes follow each other so that results come in order (Stockham, "High-speed convolution and correlation", 1966);
// all but the first and the last go from one half of the scratch memory to the other. An inverse transform is one whose
// results come in reverse. Real lines are complex ones of half the length, which are taken apart after it, or put
// together before it (Cooley, Lewis and Welch, "The fast Fourier transform algorithm", 1970), so that lines never mix;
// those of odd length are complex ones with imaginary parts of zero, or with the conjugates that are left out.
//
// A real line is not the half of a pair of lines in one transform, because NaN or large numbers would reach its
// neighbour.
#ifndef RICCI_CPU_FFT_KERNEL_H_
#define RICCI_CPU_FFT_KERNEL_H_
#include <utility>

#include "cpu/tiles/fft_butterfly.h"
#include "cpu/tiles/fft_lines.h"
#include "cpu/tiles/transpose_kernel.h"

namespace ricci::cpu {

template <int kBytes, typename T>
struct FftKernel {
  using Vectors = VectorKernel<kBytes>;
  using Butterfly = FftButterfly<kBytes, T>;
  using Number = typename Butterfly::Number;
  using V = typename Butterfly::V;
  static constexpr int kLanes = Vectors::template kLanes<T>;

  // ---- where the elements of kLanes lines are ----
  // Vectors of parts, the imaginary ones `part` after the real ones.
  struct Planes {
    T* data;
    int64_t step, part;

    Number Load(int64_t i) const { return {Vectors::Load(data + i * step), Vectors::Load(data + i * step + part)}; }
    void Store(int64_t i, const Number& v) const {
      Vectors::Store(data + i * step, v.re);
      Vectors::Store(data + i * step + part, v.im);
    }
  };
  static Planes WorkAt(T* data) { return {data, 2 * kLanes, kLanes}; }
  // Complex numbers of adjacent lines, which are sorted into parts.
  struct Pairs {
    T* data;
    int64_t step;

    Number Load(int64_t i) const {
      const T* at = data + i * step;
      return Sorted(Vectors::Load(at), Vectors::Load(at + kLanes), std::make_integer_sequence<int, kLanes>());
    }
    void Store(int64_t i, const Number& v) const { Mix(data + i * step, v, std::make_integer_sequence<int, kLanes>()); }

   private:
    template <int... kLane>
    static Number Sorted(V a, V b, std::integer_sequence<int, kLane...>) {
      return {__builtin_shufflevector(a, b, (2 * kLane)...), __builtin_shufflevector(a, b, (2 * kLane + 1)...)};
    }
    template <int... kLane>
    static void Mix(T* at, const Number& v, std::integer_sequence<int, kLane...>) {
      Vectors::Store(at, __builtin_shufflevector(v.re, v.im, (kLane / 2 + kLane % 2 * kLanes)...));
      Vectors::Store(at + kLanes, __builtin_shufflevector(v.re, v.im, ((kLanes + kLane) / 2 + kLane % 2 * kLanes)...));
    }
  };

  // ---- one pass ----
  struct Step {
    int64_t parts, done;  // elements of what is left after the pass; product of the radices before it
    const T* rotations;   // of the last pass: none
    int64_t reversed;     // of the last pass of an inverse transform its length, else 0
    T scale;              // of the last pass
  };
  template <bool kLast, typename To>
  [[gnu::always_inline]] static void Put(const To& to, const Step& s, int64_t i, const Number& x, const T* w) {
    if constexpr (kLast) {
      to.Store(s.reversed == 0 || i == 0 ? i : s.reversed - i, {x.re * s.scale, x.im * s.scale});
    } else {
      to.Store(i, w == nullptr ? x : Butterfly::Rotated(x, w[0], w[1]));
    }
  }
  template <int kRadix, bool kLast, typename From, typename To>
  static void Pass(const From& from, const To& to, const Step& s) {
    const T* w = s.rotations;
    for (int64_t p = 0; p < s.parts; ++p, w += 2 * (kRadix - 1)) {
      for (int64_t q = 0; q < s.done; ++q) {
        Number x[kRadix];
#pragma GCC unroll 8
        for (int j = 0; j < kRadix; ++j) x[j] = from.Load(q + s.done * (p + s.parts * j));
        Butterfly::template Run<kRadix>(x);
        const int64_t at = q + s.done * kRadix * p;
#pragma GCC unroll 8
        for (int k = 0; k < kRadix; ++k) Put<kLast>(to, s, at + s.done * k, x[k], k == 0 ? nullptr : w + 2 * k - 2);
      }
    }
  }
  // Of a larger radix, a prime.
  template <bool kLast, typename From, typename To>
  static void PrimePass(int radix, const From& from, const To& to, const Step& s) {
    const T* w = s.rotations + 2 * radix;
    for (int64_t p = 0; p < s.parts; ++p, w += 2 * (radix - 1)) {
      for (int64_t q = 0; q < s.done; ++q) {
        Number x[kFftLargestRadix];
        for (int j = 0; j < radix; ++j) x[j] = from.Load(q + s.done * (p + s.parts * j));
        Butterfly::Prime(radix, s.rotations, x);
        const int64_t at = q + s.done * radix * p;
        for (int k = 0; k < radix; ++k) Put<kLast>(to, s, at + s.done * k, x[k], k == 0 ? nullptr : w + 2 * k - 2);
      }
    }
  }
  template <bool kLast, typename From, typename To>
  static void PassOf(int radix, const From& from, const To& to, const Step& s) {
    switch (radix) {
      case 2:
        return Pass<2, kLast>(from, to, s);
      case 3:
        return Pass<3, kLast>(from, to, s);
      case 4:
        return Pass<4, kLast>(from, to, s);
      case 5:
        return Pass<5, kLast>(from, to, s);
      case 7:
        return Pass<7, kLast>(from, to, s);
      case 8:
        return Pass<8, kLast>(from, to, s);
      default:
        return PrimePass<kLast>(radix, from, to, s);
    }
  }
  // All passes, from `work` to `other`, each of which may end up in the other's place; `first` and `last` are those
  // that may read and write elsewhere.
  template <typename First, typename Last>
  static void Passes(const FftLength& length, Step s, T*& work, T*& other, const First& first, const Last& last) {
    for (int i = 0; i + 1 < length.n_passes; ++i) {
      const int radix = length.radix[i];
      s.parts /= radix;
      i == 0 ? first(radix, s) : PassOf<false>(radix, WorkAt(work), WorkAt(other), s);
      s.rotations += 2 * ((radix - 1) * s.parts + (radix > kFftOwnRadix ? radix : 0));
      s.done *= radix;
      std::swap(work, other);
    }
    s.parts = 1;
    last(length.radix[length.n_passes - 1], s);
  }
  static Step StepOf(const FftLength& length, bool reversed, double scale) {
    return {length.n, 1, static_cast<const T*>(length.rotations), reversed ? length.n : 0, static_cast<T>(scale)};
  }
  static void PassesHere(const FftLength& length, bool reversed, T*& work, T*& other) {
    Passes(
        length, StepOf(length, reversed, 1), work, other,
        [&](int radix, const Step& s) { PassOf<false>(radix, WorkAt(work), WorkAt(other), s); },
        [&](int radix, const Step& s) { PassOf<true>(radix, WorkAt(work), WorkAt(other), s); });
  }

  // ---- a transform as a convolution ----
  // The first elements of `work`, times the numbers, are those of `to`, in reverse if it has a length for that.
  static void Multiply(T* work, T* to, const void* numbers, int64_t n, int64_t reversed, T scale) {
    const T* w = static_cast<const T*>(numbers);
    for (int64_t j = 0; j < n; ++j, w += 2) {
      const Number x = Butterfly::Rotated(WorkAt(work).Load(j), w[0] * scale, w[1] * scale);
      WorkAt(to).Store(reversed == 0 || j == 0 ? j : reversed - j, x);
    }
  }
  static void Convolve(const FftLines& f, double scale, T*& work, T*& other) {
    const FftChirp& c = f.chirp;
    Multiply(work, work, c.turns, c.n, 0, 1);
    for (int64_t j = c.n; j < f.length.n; ++j) WorkAt(work).Store(j, {V{}, V{}});
    PassesHere(f.length, false, work, other);
    Multiply(other, other, c.filter, f.length.n, 0, 1);
    std::swap(work, other);
    PassesHere(f.length, true, work, other);
    std::swap(work, other);
    Multiply(work, other, c.turns, c.n, f.inverse ? c.n : 0, static_cast<T>(scale));
  }

  // ---- the two sides ----
  static bool IsReal(const FftLines& f, bool input) {
    return f.kind == (input ? FftKind::kFromReal : FftKind::kToReal);
  }
  static bool HasAdjacentLines(const FftLines& f, bool input) {
    return (input ? f.in : f.out).line == (IsReal(f, input) ? 1 : 2);
  }
  // Vectors that a side has in work memory.
  static int64_t PlanesOf(const FftLines& f, bool input) {
    const bool half = f.kind == (input ? FftKind::kToReal : FftKind::kFromReal);
    if (f.odd) return half ? f.n() + 1 : f.n();
    return 2 * (f.n() + (half && !f.packed ? 1 : 0));
  }
  // How far these are apart: of real lines that are complex ones, each is the real part of an element.
  static int64_t PlaneStep(const FftLines& f, bool input) {
    return f.odd && IsReal(f, input) ? int64_t{2 * kLanes} : int64_t{kLanes};
  }
  // The parts of lines that are adjacent: plane j at data + (j / 2) step + (j % 2), or real ones at data + j step.
  static int64_t OffsetOf(const FftLines& f, bool input, int64_t plane) {
    const int64_t step = (input ? f.in : f.out).step;
    return IsReal(f, input) ? plane * step : plane / 2 * step + plane % 2;
  }
  static void Gather(const FftLines& f, int64_t first, int64_t count, T* work) {
    const T* from = static_cast<const T*>(f.in.data) + first * f.in.line;
    const int64_t planes = PlanesOf(f, /*input=*/true), step = PlaneStep(f, /*input=*/true);
    // Empty lanes compute too, and with whatever is in memory they may take a hundred times as long.
    const bool clears = count != kLanes || step != kLanes;
    for (int64_t j = 0; clears && j < planes * step; j += kLanes) Vectors::Store(work + j, V{});
    if (!HasAdjacentLines(f, true)) {
      TransposeKernel<kBytes>::Copy(from, f.in.line, count, planes, work, step);
    } else if (count == kLanes && !IsReal(f, true)) {
      const Pairs pairs{const_cast<T*>(from), f.in.step};
      for (int64_t j = 0; j < planes / 2; ++j) WorkAt(work).Store(j, pairs.Load(j));
    } else {
      for (int64_t j = 0; j < planes; ++j) {
        const T* at = from + OffsetOf(f, true, j);
        for (int64_t i = 0; i < count; ++i) work[j * step + i] = at[i * f.in.line];
      }
    }
  }
  static void Scatter(const FftLines& f, int64_t first, int64_t count, const T* work) {
    T* to = static_cast<T*>(f.out.data) + first * f.out.line;
    const int64_t planes = PlanesOf(f, /*input=*/false), step = PlaneStep(f, /*input=*/false);
    if (!HasAdjacentLines(f, false)) {
      TransposeKernel<kBytes>::Copy(work, step, planes, count, to, f.out.line);
    } else if (count == kLanes && !IsReal(f, false)) {
      const Pairs pairs{to, f.out.step};
      for (int64_t j = 0; j < planes / 2; ++j) pairs.Store(j, WorkAt(const_cast<T*>(work)).Load(j));
    } else {
      for (int64_t j = 0; j < planes; ++j) {
        T* at = to + OffsetOf(f, false, j);
        for (int64_t i = 0; i < count; ++i) at[i * f.out.line] = work[j * step + i];
      }
    }
  }

  // ---- real lines ----
  // From the transform, times a half, of pairs of real elements to that of the elements.
  static void TakeApart(const FftLines& f, T* work) {
    const int64_t n = f.n();
    const Planes at = WorkAt(work);
    const T* w = static_cast<const T*>(f.turns) + 2;
    const Number first = at.Load(0);
    const V sum = T{2} * (first.re + first.im), difference = T{2} * (first.re - first.im);
    at.Store(0, {sum, f.packed ? difference : V{}});
    if (!f.packed) at.Store(n, {difference, V{}});
    for (int64_t k = 1; k <= n / 2; ++k, w += 2) {
      const Number a = at.Load(k), b = at.Load(n - k);
      const Number even = {a.re + b.re, a.im - b.im};
      const Number odd = Butterfly::Rotated({a.im + b.im, b.re - a.re}, w[0], w[1]);
      at.Store(k, Butterfly::Sum(even, odd));
      at.Store(n - k, {even.re - odd.re, odd.im - even.im});
    }
  }
  // The other way round, times two.
  static void PutTogether(const FftLines& f, T* work) {
    const int64_t n = f.n();
    const Planes at = WorkAt(work);
    const T* w = static_cast<const T*>(f.turns) + 2;
    const Number first = at.Load(0);
    const V last = f.packed ? first.im : at.Load(n).re;
    at.Store(0, {first.re + last, first.re - last});
    for (int64_t k = 1; k <= n / 2; ++k, w += 2) {
      const Number a = at.Load(k), b = at.Load(n - k);
      const Number even = {a.re + b.re, a.im - b.im};
      const Number odd = Butterfly::Rotated({a.re - b.re, a.im + b.im}, w[0], -w[1]);
      at.Store(k, {even.re - odd.im, even.im + odd.re});
      at.Store(n - k, {even.re + odd.im, odd.re - even.im});
    }
  }

  // The conjugates that are left out of the transform of a real line of odd length.
  static void Complete(const FftLines& f, T* work) {
    const Planes at = WorkAt(work);
    at.Store(0, {at.Load(0).re, V{}});
    for (int64_t k = 1; k <= f.n() / 2; ++k) {
      const Number x = at.Load(k);
      at.Store(f.n() - k, {x.re, -x.im});
    }
  }

  // ---- kLanes lines, or the `count` last ones ----
  static void PassFrom(const FftLines& f, int64_t first, bool direct, int radix, T* from, T* to, const Step& s) {
    T* at = static_cast<T*>(f.in.data) + first * f.in.line;
    if (!direct) return PassOf<false>(radix, WorkAt(from), WorkAt(to), s);
    if (IsReal(f, true)) return PassOf<false>(radix, Planes{at, 2 * f.in.step, f.in.step}, WorkAt(to), s);
    PassOf<false>(radix, Pairs{at, f.in.step}, WorkAt(to), s);
  }
  template <typename From>
  static void LastPass(const FftLines& f, int64_t first, bool direct, int radix, const From& from, T* to,
                       const Step& s) {
    T* at = static_cast<T*>(f.out.data) + first * f.out.line;
    if (!direct) return PassOf<true>(radix, from, WorkAt(to), s);
    if (IsReal(f, false)) return PassOf<true>(radix, from, Planes{at, 2 * f.out.step, f.out.step}, s);
    PassOf<true>(radix, from, Pairs{at, f.out.step}, s);
  }
  static void Group(const FftLines& f, int64_t first, int64_t count) {
    T* work = static_cast<T*>(f.scratch);
    T* other = work + 2 * kLanes * (f.length.n + 1);
    // A single pass has its input in work memory.
    const bool direct = count == kLanes && f.chirp.n == 0 && !f.odd, one = f.length.n_passes == 1;
    const bool reads = direct && !one && HasAdjacentLines(f, true) && f.kind != FftKind::kToReal;
    const bool writes = direct && HasAdjacentLines(f, false) && f.kind != FftKind::kFromReal;
    if (!reads) Gather(f, first, count, work);
    if (f.kind == FftKind::kToReal) f.odd ? Complete(f, work) : PutTogether(f, work);
    const bool apart = f.kind == FftKind::kFromReal && !f.odd;
    const double scale = apart ? f.scale / 2 : f.scale;
    if (f.chirp.n != 0) {
      Convolve(f, scale, work, other);
    } else {
      Passes(
          f.length, StepOf(f.length, f.inverse, scale), work, other,
          [&](int radix, const Step& s) { PassFrom(f, first, reads, radix, work, other, s); },
          [&](int radix, const Step& s) { LastPass(f, first, writes, radix, WorkAt(work), other, s); });
    }
    if (apart) TakeApart(f, other);
    if (!writes) Scatter(f, first, count, other);
  }
  static void Run(const FftLines& f) {
    for (int64_t i = 0; i < f.lines; i += kLanes) Group(f, i, GemmKernel<kBytes>::Min(kLanes, f.lines - i));
  }
};

}  // namespace ricci::cpu
#endif
