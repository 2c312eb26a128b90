// FftLines: discrete Fourier transforms along one dimension, of as many lines at once as a vector has lanes.
//
// As with GemmTile, the code is templates (fft_kernel.h) compiled once per instruction set. Every element of a line is
// the same lane of some vector, so no pass moves anything from lane to lane; lines whose elements are adjacent in
// memory are transposed in registers, those next to each other are read and written where they are.
#ifndef RICCI_CPU_FFT_LINES_H_
#define RICCI_CPU_FFT_LINES_H_
#include <cstdint>

namespace ricci::cpu {

inline constexpr int kFftPasses = 12;         // at most
inline constexpr int64_t kFftLongest = 2048;  // complex elements of a line; scratch memory holds two lines
inline constexpr int kFftOwnRadix = 8;        // radices up to which each has code of its own
inline constexpr int kFftLargestRadix = 61;   // a prime, whose transform is the sum of its definition

// A complex transform of n elements as passes of small ones.
struct FftLength {
  int64_t n = 1;
  int n_passes = 0;
  int radix[kFftPasses] = {};  // each 2, 3, 4, 5, 7, 8 or a larger prime
  // In the type of the parts, of one pass after the other: of a radix above kFftOwnRadix exp(-2 pi i j / radix), j <
  // radix; of all but the last [p][k - 1], exp(-2 pi i p k / rest), 0 < k < radix, p < rest / radix, where `rest` is
  // what is left of n before the pass.
  const void* rotations = nullptr;
};

// A transform of n elements, for any n, as a convolution (L. Bluestein, "A linear filtering approach to the computation
// of discrete Fourier transform", 1970), which is two transforms of a length of 2 n - 1 or more.
struct FftChirp {
  int64_t n = 0;                 // 0: there is none
  const void* turns = nullptr;   // exp(-pi i j^2 / n), j < n
  const void* filter = nullptr;  // the transform of their conjugates, over its length
};

// Lines in memory: element j of line i begins at data + i * line + j * step, in parts of numbers. Either lines or
// elements are adjacent.
struct FftArray {
  void* data = nullptr;
  int64_t line = 0, step = 0;
};

enum class FftKind : uint8_t { kComplex, kFromReal, kToReal };

struct FftLines {
  FftLength length;  // of real lines of even length half as many elements, each of two of theirs
  FftChirp chirp;    // if there is one, `length` is that of the convolution
  FftKind kind = FftKind::kComplex;
  bool odd = false;  // real lines of odd length, which are transformed as complex ones
  bool inverse = false, f64 = false;
  // The complex side of real lines has, in place of the zero imaginary part of its first element, the last one.
  bool packed = false;
  double scale = 1;
  FftArray in, out;  // may be the same memory
  int64_t lines = 0;
  const void* turns = nullptr;  // of real lines of even length: exp(-pi i k / n), k <= n / 2
  void* scratch = nullptr;      // FftScratch(length.n) parts, aligned to 64

  int64_t n() const { return chirp.n == 0 ? length.n : chirp.n; }
};
constexpr int64_t FftScratch(int64_t n) { return 4 * 16 * (n + 1); }

using FftLinesFn = void (*)(const FftLines& f);
void FftLinesAvx512(const FftLines& f);
void FftLinesAvx2(const FftLines& f);
void FftLinesSse2(const FftLines& f);

}  // namespace ricci::cpu
#endif
