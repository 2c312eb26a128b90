// fft along one dimension, or the last two of moderate size (fft_lines.h): of any length up to 1024 and of longer ones
// without large prime factors. Others are programs of such ones (plugins/lax), and so are small transforms of complex
// numbers, which fuse there.
//
// A task is some lines, one line that is alone or one plane, by shape alone, so bits do not depend on the thread count.
// A line that is alone is transformed as a matrix, so that its columns and rows fill vectors. Of a real plane the two
// columns that come from the real ends of rows are transformed as one, so the columns fill vectors.
//
// It is a library call because generated passes are separate kernels in every place where a program transforms. The
// gradient of 20 steps of a turbulent flow of 64 x 64 points compiled in 0.9 s and now in 0.07 (XLA 0.5). Steps of such
// flows (f32, 32 to 128 points a side) took 1.9 to 2.8 times JAX's time and take 0.2 to 0.4; gradients take 0.35 to
// 0.5. Lengths with prime factors above 7 (34 programs) took up to 4 times JAX's time to run, and up to 2.5 times XLA's
// to compile. They take at most 0.84 of both, but for one line of 1009 reals (1.1). All on one thread of a shared AMD
// EPYC. Flows of 11 and 13 points a side took 0.7 to 1.03 times XLA's time to compile as kernels, and take 0.16 to 0.29
// as calls. Few lines stay kernels, though those of 31 to 134 real elements take 0.8 to 5.8 times XLA's time to
// compile.
#include "cpu/library/fourier_library.h"

#include <algorithm>

#include "cpu/library/fourier_plan.h"

namespace ricci::cpu {
namespace {

// ---- one task ----
template <typename T>
class Task {
 public:
  Task(const Fourier& f, const ricci_launch& l)
      : f_(f), l_(l), in_(static_cast<const T*>(l.in[0])), out_(static_cast<T*>(l.out[0])) {}

  void Run() const {
    if (f_.way == Fourier::Way::kLines) return Lines();
    const T* in = in_ + l_.task * f_.in_size;
    T* out = out_ + l_.task * f_.out_size;
    if (f_.way == Fourier::Way::kLine) return Line(in, out);
    switch (f_.kind) {
      case FftKind::kFromReal:
        return f_.odd ? Complex(in, out) : FromReal(in, out);
      case FftKind::kToReal:
        return f_.odd ? OddToReal(in, out) : ToReal(in, out);
      case FftKind::kComplex:
        return Complex(in, out);
    }
  }

 private:
  void Lines() const {
    const int64_t each = (f_.inner + f_.lines.lines - 1) / f_.lines.lines;
    const int64_t batch = l_.task / each, first = l_.task % each * f_.lines.lines;
    FftLines lines = f_.lines;
    lines.lines = std::min(lines.lines, f_.inner - first);
    const T* in = in_ + batch * f_.in_size + first * lines.in.line;
    Run(lines, in, out_ + batch * f_.out_size + first * lines.out.line);
  }

  // ---- a line that is alone ----
  void Line(const T* in, T* out) const {
    T* pairs = Spectrum() + 2 * f_.lines.lines * f_.columns.lines;
    if (f_.odd) return OddLine(in, pairs, out);
    switch (f_.kind) {
      case FftKind::kFromReal:
        AsMatrix(in, pairs);
        return TakeApart(pairs, out);
      case FftKind::kToReal:
        PutTogether(in, pairs);
        return AsMatrix(pairs, out);
      case FftKind::kComplex:
        return AsMatrix(in, out);
    }
  }
  // D. H. Bailey, "FFTs in external or hierarchical memory", 1990.
  void AsMatrix(const T* in, T* out) const {
    T* matrix = Spectrum();
    const auto* w = static_cast<const T*>(f_.between.data(f_.lines.f64));
    Run(f_.columns, in, matrix);
    for (int64_t i = 0; i < 2 * f_.lines.lines * f_.columns.lines; i += 2) {
      const T re = matrix[i] * w[i] - matrix[i + 1] * w[i + 1], im = matrix[i] * w[i + 1] + matrix[i + 1] * w[i];
      Set(matrix + i, re, im);
    }
    Run(f_.lines, matrix, out);
  }
  // From the transform z of pairs of real elements to that of the elements, and the other way round, times two, as in
  // fft_kernel.h.
  void TakeApart(const T* z, T* x) const {
    const int64_t n = f_.lines.lines * f_.columns.lines;
    const auto* w = static_cast<const T*>(f_.lines.turns);
    Set(x, z[0] + z[1], 0);
    Set(x + 2 * n, z[0] - z[1], 0);
    for (int64_t k = 1; k <= n / 2; ++k) {
      const T *a = z + 2 * k, *b = z + 2 * (n - k);
      const T even_re = (a[0] + b[0]) / 2, even_im = (a[1] - b[1]) / 2, re = (a[1] + b[1]) / 2, im = (b[0] - a[0]) / 2;
      const T odd_re = re * w[2 * k] - im * w[2 * k + 1], odd_im = re * w[2 * k + 1] + im * w[2 * k];
      Set(x + 2 * k, even_re + odd_re, even_im + odd_im);
      Set(x + 2 * (n - k), even_re - odd_re, odd_im - even_im);
    }
  }
  void PutTogether(const T* x, T* z) const {
    const int64_t n = f_.lines.lines * f_.columns.lines;
    const auto* w = static_cast<const T*>(f_.lines.turns);
    Set(z, x[0] + x[2 * n], x[0] - x[2 * n]);
    for (int64_t k = 1; k <= n / 2; ++k) {
      const T *a = x + 2 * k, *b = x + 2 * (n - k);
      const T even_re = a[0] + b[0], even_im = a[1] - b[1], re = a[0] - b[0], im = a[1] + b[1];
      const T odd_re = re * w[2 * k] + im * w[2 * k + 1], odd_im = im * w[2 * k] - re * w[2 * k + 1];
      Set(z + 2 * k, even_re - odd_im, even_im + odd_re);
      Set(z + 2 * (n - k), even_re + odd_im, odd_re - even_im);
    }
  }

  // Real elements as complex ones.
  void OddLine(const T* in, T* pairs, T* out) const {
    const int64_t n = f_.lines.lines * f_.columns.lines;
    if (f_.kind == FftKind::kFromReal) {
      for (int64_t j = 0; j < n; ++j) Set(pairs + 2 * j, in[j], 0);
      AsMatrix(pairs, pairs);
      std::copy(pairs, pairs + n + 1, out);
      return;
    }
    Set(pairs, in[0], 0);
    for (int64_t k = 1; k <= n / 2; ++k) {
      Set(pairs + 2 * k, in[2 * k], in[2 * k + 1]);
      Set(pairs + 2 * (n - k), in[2 * k], -in[2 * k + 1]);
    }
    AsMatrix(pairs, pairs);
    for (int64_t j = 0; j < n; ++j) out[j] = pairs[2 * j];
  }

  // ---- a plane ----
  void Complex(const T* in, T* out) const {
    Run(f_.lines, in, out);
    Columns(out, 2 * f_.columns.lines, out, 2 * f_.columns.lines, 0, f_.columns.lines);
  }
  void OddToReal(const T* in, T* out) const {
    T* spectrum = Spectrum();
    Columns(in, 2 * f_.columns.lines, spectrum, 2 * f_.columns.lines, 0, f_.columns.lines);
    Run(f_.lines, spectrum, out);
  }
  // The columns of both real ends of rows are one, in place of the first; the transform of each is symmetrical, which
  // takes them apart.
  void FromReal(const T* in, T* out) const {
    const int64_t step = f_.lines.out.line, rows = f_.lines.lines, last = step - 2;
    Run(f_.lines, in, out);
    Columns(out, step, out, step, 0, f_.columns.lines);
    for (int64_t i = 0; 2 * i <= rows; ++i) {
      T *a = out + i * step, *b = out + (rows - i) % rows * step;
      const T re = (a[0] + b[0]) / 2, im = (a[1] - b[1]) / 2;
      const T other_re = (a[1] + b[1]) / 2, other_im = (b[0] - a[0]) / 2;
      Set(a, re, im), Set(b, re, -im);
      Set(a + last, other_re, other_im), Set(b + last, other_re, -other_im);
    }
  }
  // Of those columns only what has that symmetry counts, since the imaginary parts of the ends of rows do not.
  void ToReal(const T* in, T* out) const {
    const int64_t step = f_.lines.in.line, rows = f_.lines.lines, last = step - 2, packed = 2 * f_.columns.lines;
    T* spectrum = Spectrum();
    const int64_t copied = std::min(f_.columns.lines, kFftVector);
    for (int64_t i = 0; i < rows; ++i) {
      const T *a = in + i * step, *b = in + (rows - i) % rows * step;
      T* to = spectrum + i * packed;
      std::copy(a + 2, a + 2 * copied, to + 2);
      const T re = (a[0] + b[0]) / 2, im = (a[1] - b[1]) / 2;
      const T other_re = (a[last] + b[last]) / 2, other_im = (a[last + 1] - b[last + 1]) / 2;
      Set(to, re - other_im, im + other_re);
    }
    Columns(spectrum, packed, spectrum, packed, 0, copied);
    Columns(in, step, spectrum, packed, copied, f_.columns.lines - copied);
    FftLines lines = f_.lines;
    lines.in.line = packed;
    Run(lines, spectrum, out);
  }
  T* Spectrum() const { return reinterpret_cast<T*>(static_cast<char*>(l_.scratch) + f_.spectrum_offset); }
  static void Set(T* at, T re, T im) {
    at[0] = re;
    at[1] = im;
  }

  // `count` columns from `first` on, of rows that are so many parts apart.
  void Columns(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t first, int64_t count) const {
    FftLines columns = f_.columns;
    columns.in = {nullptr, 2, in_step};
    columns.out = {nullptr, 2, out_step};
    columns.lines = count;
    Run(columns, in + 2 * first, out + 2 * first);
  }
  void Run(FftLines lines, const T* in, T* out) const {
    lines.in.data = const_cast<T*>(in);
    lines.out.data = out;
    lines.scratch = l_.scratch;
    f_.run(lines);
  }

  const Fourier& f_;
  const ricci_launch& l_;
  const T* in_;
  T* out_;
};

// ---- the lowering ----
void Describe(const Fourier& f, ricci_library_plan& out) {
  out.tasks = f.tasks;
  out.flops = static_cast<uint64_t>(f.flops);
  out.scratch_bytes = static_cast<uint64_t>(f.scratch_bytes);
}
void Run(const Fourier& f, const ricci_launch& l) { f.lines.f64 ? Task<double>(f, l).Run() : Task<float>(f, l).Run(); }

}  // namespace

ricci_status* AddFourier(ricci_ctx* ctx) {
  return PlannedLibrary<Fourier, PlanFourier, Describe, Run>::Add(ctx, "fft");
}

}  // namespace ricci::cpu
