// fft along one dimension, or the last two of moderate size, of lengths without large prime factors (fft_lines.h).
// Others are programs of such ones (plugins/lax), and so are small transforms of complex numbers, which fuse there.
//
// A task is some lines, or one transform of two dimensions, by shape alone, so bits do not depend on the thread count.
// Of a real transform of two dimensions the two columns that come from the real ends of rows are transformed as one, so
// the columns fill vectors.
#include "fourier.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "library_op.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kShortest = 17;           // complex elements of one dimension: fewer stay in registers, and fuse
constexpr int64_t kFewest = 4;              // lines: vectors of fewer are too empty
constexpr int64_t kSmallest = 256;          // elements of two dimensions, or of all lines: fewer fuse in loops
constexpr int64_t kLargest = 1 << 15;       // of two dimensions: more are worth more than one thread
constexpr int64_t kTaskElements = 1 << 14;  // of lines, about
constexpr int64_t kMostLines = 16;          // in a vector

// ---- one length ----
struct Length {
  FftLength passes;
  std::vector<double> rotations;
  std::vector<float> narrow;
};

// The factors, with as few passes as can be: eights and fours.
bool Factor(int64_t n, FftLength& out) {
  const auto add = [&](int radix) { out.radix[out.n_passes++] = radix; };
  out.n = n;
  if (n < 2 || n > kFftLongest) return false;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  const int fours = twos == 1 ? 0 : (3 - twos % 3) % 3;
  for (int i = 2 * fours; i + 3 <= twos; i += 3) add(8);
  for (int i = 0; i < fours; ++i) add(4);
  if (twos == 1) add(2);
  for (const int odd : {7, 5, 3}) {
    for (; n % odd == 0; n /= odd) add(odd);
  }
  return n == 1;
}

// exp(-2 pi i j / n), exact at quarters and as exact as sine and cosine of small angles elsewhere.
void AddRotation(int64_t j, int64_t n, std::vector<double>& out) {
  constexpr double kTurn = 6.283185307179586476925;
  const int64_t quarter = (4 * (j % n) + n / 2) / n;
  const double angle = kTurn * static_cast<double>(4 * (j % n) - quarter * n) / (4 * static_cast<double>(n));
  const double c = std::cos(angle), s = std::sin(angle);
  const double re[] = {c, -s, -c, s}, im[] = {-s, -c, s, c};
  out.push_back(re[quarter % 4]);
  out.push_back(im[quarter % 4]);
}
void AddRotations(Length& l) {
  int64_t rest = l.passes.n;
  for (int i = 0; i + 1 < l.passes.n_passes; ++i) {
    const int64_t radix = l.passes.radix[i];
    for (int64_t p = 0; p < rest / radix; ++p) {
      for (int64_t k = 1; k < radix; ++k) AddRotation(p * k, rest, l.rotations);
    }
    rest /= radix;
  }
}

// ---- the plan ----
struct Fourier {
  FftLines lines;    // of the last dimension that is transformed
  FftLines columns;  // of the one before it; no lines: there is only one
  Length of_lines, of_columns;
  std::vector<double> turns;
  std::vector<float> narrow_turns;
  // Lines after each other in one dimension: `batch` times `inner` adjacent ones, of which a task has `lines.lines`.
  // Of two dimensions: `batch` transforms.
  int64_t batch = 1, inner = 1, tasks = 0;
  int64_t in_size = 0, out_size = 0;  // parts of what a batch has once
  int64_t spectrum_offset = 0, scratch_bytes = 0, flops = 0;
  FftLinesFn run = nullptr;

  int64_t part_bytes() const { return lines.f64 ? 8 : 4; }
};

// By its attribute.
void SetKind(const ricci_op* op, FftLines& lines) {
  const ricci_attr* a = FindAttr(op, "fft_type");
  const std::string_view kind(static_cast<const char*>(a->data), static_cast<size_t>(a->count));
  lines.kind = kind == "RFFT" ? FftKind::kFromReal : kind == "IRFFT" ? FftKind::kToReal : FftKind::kComplex;
  lines.inverse = kind == "IFFT" || kind == "IRFFT";
}

bool SetLength(int64_t n, Length& l) {
  if (!Factor(n, l.passes)) return false;
  AddRotations(l);
  l.narrow.assign(l.rotations.begin(), l.rotations.end());
  return true;
}

// Lines of `n` elements, of which the complex side has n / 2 + 1 if they are real.
bool SetLines(int64_t n, Fourier& f) {
  const bool real = f.lines.kind != FftKind::kComplex;
  if (real && n % 2 != 0) return false;
  const int64_t half = real ? n / 2 : n;
  if (!SetLength(half, f.of_lines)) return false;
  if (!real) return true;
  for (int64_t k = 0; k <= half / 2; ++k) AddRotation(k, n, f.turns);
  f.narrow_turns.assign(f.turns.begin(), f.turns.end());
  return true;
}

// Where the lines of one dimension lie: `inner` numbers are between the elements of each.
FftArray ArrayOf(bool real, int64_t elements, int64_t inner) {
  const int64_t parts = real ? 1 : 2;
  return inner == 1 ? FftArray{nullptr, parts * elements, parts} : FftArray{nullptr, parts, parts * inner};
}

struct Sizes {
  int64_t n, in, out;  // elements of the last dimension that is transformed: of all, and as it is on both sides
};

bool SetOneDimension(const Sizes& s, Fourier& f) {
  const bool real = f.lines.kind != FftKind::kComplex;
  const int64_t all = f.batch * f.inner;
  if ((!real && s.n < kShortest) || all < kFewest || all * s.n < kSmallest) return false;
  f.lines.in = ArrayOf(f.lines.kind == FftKind::kFromReal, s.in, f.inner);
  f.lines.out = ArrayOf(f.lines.kind == FftKind::kToReal, s.out, f.inner);
  if (f.inner == 1) std::swap(f.inner, f.batch);
  const int64_t wanted = std::max<int64_t>(kTaskElements / s.n / kMostLines, 1) * kMostLines;
  f.lines.lines = std::min(f.inner, wanted);
  f.tasks = f.batch * ((f.inner + f.lines.lines - 1) / f.lines.lines);
  return true;
}

bool SetTwoDimensions(const Sizes& s, int64_t rows, Fourier& f) {
  if (f.inner != 1 || rows * s.n < kSmallest || rows * s.n > kLargest || !SetLength(rows, f.of_columns)) return false;
  const bool real = f.lines.kind != FftKind::kComplex;
  f.lines.in = ArrayOf(f.lines.kind == FftKind::kFromReal, s.in, 1);
  f.lines.out = ArrayOf(f.lines.kind == FftKind::kToReal, s.out, 1);
  f.lines.lines = rows;
  f.lines.packed = real;
  f.columns.lines = real ? s.n / 2 : s.n;
  f.columns.inverse = f.lines.inverse;
  f.columns.f64 = f.lines.f64;
  f.columns.scale = f.lines.inverse ? 1 / static_cast<double>(rows) : 1;
  f.in_size *= rows;
  f.out_size *= rows;
  f.tasks = f.batch;
  return true;
}

void LayOut(Fourier& f) {
  const auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  const auto pointer = [&](const std::vector<double>& wide, const std::vector<float>& narrow) {
    return f.lines.f64 ? static_cast<const void*>(wide.data()) : static_cast<const void*>(narrow.data());
  };
  f.lines.length = f.of_lines.passes;
  f.lines.length.rotations = pointer(f.of_lines.rotations, f.of_lines.narrow);
  f.lines.turns = pointer(f.turns, f.narrow_turns);
  f.columns.length = f.of_columns.passes;
  f.columns.length.rotations = pointer(f.of_columns.rotations, f.of_columns.narrow);
  f.spectrum_offset = aligned(FftScratch(std::max(f.lines.length.n, f.columns.length.n)) * f.part_bytes());
  const bool stored = f.columns.lines != 0 && f.lines.kind == FftKind::kToReal;
  f.scratch_bytes = f.spectrum_offset + (stored ? aligned(2 * f.columns.lines * f.lines.lines * f.part_bytes()) : 0);
}

bool Make(const ricci_op* op, Fourier& f) {
  Array in, out;
  if (!ReadType(op, op->in_types[0], in) || !ReadType(op, op->out_types[0], out)) return false;
  SetKind(op, f.lines);
  f.lines.f64 = in.dtype == RICCI_F64 || in.dtype == RICCI_C128;
  const Ints lengths = Attr(op, "fft_lengths");
  const size_t last = in.dims.size() - 1 - static_cast<size_t>(IntOr(op, "trailing", 0));
  if (lengths.size() > 2) return false;
  for (size_t i = 0; i < in.dims.size(); ++i) {
    if (i > last) f.inner *= in.dims[i];
    if (i + lengths.size() <= last) f.batch *= in.dims[i];
  }
  const Sizes s{lengths.back(), in.dims[last], out.dims[last]};
  if (f.batch * f.inner == 0 || !SetLines(s.n, f)) return false;
  f.lines.scale = f.lines.inverse ? 1 / static_cast<double>(s.n) : 1;
  f.in_size = s.in * f.inner * (f.lines.kind == FftKind::kFromReal ? 1 : 2);
  f.out_size = s.out * f.inner * (f.lines.kind == FftKind::kToReal ? 1 : 2);
  if (!(lengths.size() == 1 ? SetOneDimension(s, f) : SetTwoDimensions(s, lengths[0], f))) return false;
  int64_t all = f.batch * f.inner;
  for (const int64_t n : lengths) all *= n;
  f.flops = static_cast<int64_t>(5 * static_cast<double>(all) * std::log2(static_cast<double>(all)));
  LayOut(f);
  f.run = BestFftLines();
  return true;
}

// ---- one task ----
template <typename T>
class Task {
 public:
  Task(const Fourier& f, const ricci_launch& l)
      : f_(f), l_(l), in_(static_cast<const T*>(l.in[0])), out_(static_cast<T*>(l.out[0])) {}

  void Run() const {
    if (f_.columns.lines == 0) return Lines();
    const T* in = in_ + l_.task * f_.in_size;
    T* out = out_ + l_.task * f_.out_size;
    switch (f_.lines.kind) {
      case FftKind::kFromReal:
        return FromReal(in, out);
      case FftKind::kToReal:
        return ToReal(in, out);
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

  void Complex(const T* in, T* out) const {
    Run(f_.lines, in, out);
    Columns(out, 2 * f_.columns.lines, out, 2 * f_.columns.lines, 0, f_.columns.lines);
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
    T* spectrum = reinterpret_cast<T*>(static_cast<char*>(l_.scratch) + f_.spectrum_offset);
    const int64_t copied = std::min(f_.columns.lines, kMostLines);
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

ricci_status* AddFourier(ricci_ctx* ctx) { return PlannedLibrary<Fourier, Make, Describe, Run>::Add(ctx, "fft"); }

}  // namespace ricci::cpu
