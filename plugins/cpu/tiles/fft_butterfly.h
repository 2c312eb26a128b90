// Transforms of a few complex numbers in registers, each in a lane of its own, as a template over the vector's bytes,
// as in gemm_kernel.h.
#ifndef RICCI_CPU_FFT_BUTTERFLY_H_
#define RICCI_CPU_FFT_BUTTERFLY_H_
#include "cpu/tiles/fft_lines.h"
#include "cpu/tiles/vector_kernel.h"

namespace ricci::cpu {

template <int kBytes, typename T>
struct FftButterfly {
  using V = typename VectorKernel<kBytes>::template Vector<T>;
  struct Number {
    V re, im;
  };
  static Number Sum(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
  static Number Difference(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
  // -i a
  static Number Turned(const Number& a) { return {a.im, -a.re}; }
  static Number Rotated(const Number& a, T re, T im) { return {a.re * re - a.im * im, a.re * im + a.im * re}; }

  // In place, with the results in order. All of it is part of the pass that calls it, or its numbers would go through
  // memory.
  template <int kRadix>
  [[gnu::always_inline]] static void Run(Number* x) {
    if constexpr (kRadix == 2) {
      Two(x[0], x[1]);
    } else if constexpr (kRadix == 4) {
      Four(x[0], x[1], x[2], x[3]);
    } else if constexpr (kRadix == 8) {
      Eight(x);
    } else {
      Odd<kRadix>(x);
    }
  }
  // Of a prime number of elements, with exp(-2 pi i j / n) as its turns.
  static void Prime(int n, const T* turns, Number* x) {
    Number sums[kFftLargestRadix / 2], differences[kFftLargestRadix / 2], total = x[0];
    const int half = n / 2;
    for (int j = 0; j < half; ++j) {
      sums[j] = Sum(x[j + 1], x[n - 1 - j]);
      differences[j] = Difference(x[j + 1], x[n - 1 - j]);
      total = Sum(total, sums[j]);
    }
    const Number first = x[0];
    x[0] = total;
    int k = 1;
    for (; k + 1 <= half; k += 2) PrimeResults<2>(n, k, turns, first, sums, differences, x);
    if (k <= half) PrimeResults<1>(n, k, turns, first, sums, differences, x);
  }

 private:
  // Results k and n - k, and those of the numbers after k.
  template <int kCount>
  static void PrimeResults(int n, int k, const T* turns, const Number& first, const Number* sums,
                           const Number* differences, Number* x) {
    Number even[kCount], odd[kCount];
    int at[kCount];
#pragma GCC unroll 2
    for (int i = 0; i < kCount; ++i) {
      even[i] = first;
      odd[i] = {V{}, V{}};
      at[i] = 0;
    }
    for (int j = 0; j < n / 2; ++j) {
#pragma GCC unroll 2
      for (int i = 0; i < kCount; ++i) {
        at[i] += k + i - (at[i] + k + i >= n ? n : 0);
        const T cosine = turns[2 * at[i]], sine = turns[2 * at[i] + 1];
        even[i].re += sums[j].re * cosine;
        even[i].im += sums[j].im * cosine;
        odd[i].re += differences[j].re * sine;
        odd[i].im += differences[j].im * sine;
      }
    }
#pragma GCC unroll 2
    for (int i = 0; i < kCount; ++i) {
      x[k + i] = Difference(even[i], Turned(odd[i]));
      x[n - k - i] = Sum(even[i], Turned(odd[i]));
    }
  }
  [[gnu::always_inline]] static void Two(Number& a, Number& b) {
    const Number sum = Sum(a, b);
    b = Difference(a, b);
    a = sum;
  }
  [[gnu::always_inline]] static void Four(Number& a, Number& b, Number& c, Number& d) {
    Two(a, c);
    Two(b, d);
    const Number turned = Turned(d), first = a, second = c;
    a = Sum(first, b);
    c = Difference(first, b);
    b = Sum(second, turned);
    d = Difference(second, turned);
  }
  [[gnu::always_inline]] static void Eight(Number* x) {
    constexpr T kHalf = static_cast<T>(0.70710678118654752440);
    Four(x[0], x[2], x[4], x[6]);
    Four(x[1], x[3], x[5], x[7]);
    const Number odd[] = {x[1],
                          {(x[3].re + x[3].im) * kHalf, (x[3].im - x[3].re) * kHalf},
                          Turned(x[5]),
                          {(x[7].im - x[7].re) * kHalf, -(x[7].re + x[7].im) * kHalf}};
    const Number even[] = {x[0], x[2], x[4], x[6]};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      x[k] = Sum(even[k], odd[k]);
      x[k + 4] = Difference(even[k], odd[k]);
    }
  }

  // cos and sin of a turn times j / 3, 5, 7.
  template <int kRadix>
  static constexpr T Cosine(int j) {
    constexpr double k3[] = {-0.5};
    constexpr double k5[] = {0.30901699437494742410, -0.80901699437494742410};
    constexpr double k7[] = {0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624};
    const int near = j <= kRadix / 2 ? j : kRadix - j;
    return static_cast<T>(near == 0 ? 1.0 : kRadix == 3 ? k3[near - 1] : kRadix == 5 ? k5[near - 1] : k7[near - 1]);
  }
  template <int kRadix>
  static constexpr T Sine(int j) {
    constexpr double k3[] = {0.86602540378443864676};
    constexpr double k5[] = {0.95105651629515357212, 0.58778525229247312917};
    constexpr double k7[] = {0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
    const int near = j <= kRadix / 2 ? j : kRadix - j;
    const double sine = near == 0 ? 0.0 : kRadix == 3 ? k3[near - 1] : kRadix == 5 ? k5[near - 1] : k7[near - 1];
    return static_cast<T>(near == j ? sine : -sine);
  }
  // Elements that lie symmetrically share their products.
  template <int kRadix>
  [[gnu::always_inline]] static void Odd(Number* x) {
    constexpr int kHalf = kRadix / 2;
    Number sums[kHalf], differences[kHalf], total = x[0];
#pragma GCC unroll 3
    for (int j = 0; j < kHalf; ++j) {
      sums[j] = Sum(x[j + 1], x[kRadix - 1 - j]);
      differences[j] = Difference(x[j + 1], x[kRadix - 1 - j]);
      total = Sum(total, sums[j]);
    }
    const Number first = x[0];
    x[0] = total;
#pragma GCC unroll 3
    for (int k = 1; k <= kHalf; ++k) {
      Number even = first, odd = {V{}, V{}};
#pragma GCC unroll 3
      for (int j = 1; j <= kHalf; ++j) {
        const int at = j * k % kRadix;
        even.re += sums[j - 1].re * Cosine<kRadix>(at);
        even.im += sums[j - 1].im * Cosine<kRadix>(at);
        odd.re += differences[j - 1].re * Sine<kRadix>(at);
        odd.im += differences[j - 1].im * Sine<kRadix>(at);
      }
      x[k] = Sum(even, Turned(odd));
      x[kRadix - k] = Difference(even, Turned(odd));
    }
  }
};

}  // namespace ricci::cpu
#endif
