#include "cpu/library/fourier_plan.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace ricci::cpu {
namespace {

constexpr int64_t kShortest = 17;           // complex elements of one dimension: fewer stay in registers, and fuse
constexpr int64_t kShortestLine = 32;       // of a line that is alone
constexpr int64_t kLongestLine = 1 << 14;   // of such a line: more are worth more than one thread
constexpr int64_t kFewest = 4;              // lines: vectors of fewer are too empty
constexpr int64_t kSmallest = 256;          // elements of all lines or of a plane: fewer fuse in loops
constexpr int64_t kSmallestPlane = 64;      // of two dimensions, of which there are fewer than kFewest
constexpr int64_t kLargest = 1 << 15;       // of two dimensions: more are worth more than one thread
constexpr int64_t kTaskElements = 1 << 14;  // of lines, about

// ---- one length ----
// The factors up to `largest`, with as few passes as can be: eights and fours.
bool Factor(int64_t n, FftLength& out, int largest = kFftLargestRadix) {
  const auto add = [&](int radix) { out.radix[out.n_passes++] = radix; };
  out = {};
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
  for (int prime = 11; prime <= largest; prime += 2) {
    for (; n % prime == 0; n /= prime) add(prime);
  }
  return n == 1;
}
bool HasFactors(int64_t n) {
  FftLength length;
  return Factor(n, length);
}

void AddRotations(const FftLength& length, Rotations& rotations) {
  int64_t rest = length.n;
  for (int i = 0; i < length.n_passes; ++i) {
    const int64_t radix = length.radix[i];
    for (int64_t j = 0; j < radix && radix > kFftOwnRadix; ++j) rotations.Add(j, radix);
    for (int64_t p = 0; p < rest / radix && radix < rest; ++p) {
      for (int64_t k = 1; k < radix; ++k) rotations.Add(p * k, rest);
    }
    rest /= radix;
  }
}

// The quickest length of two or more times n elements, less one, without large factors.
bool ConvolutionOf(int64_t n, FftLength& out) {
  int64_t least = 0;
  for (int64_t m = 2 * n - 1; m < 4 * n && m <= kFftLongest; ++m) {
    FftLength length;
    if (!Factor(m, length, kFftOwnRadix) || (least != 0 && m * length.n_passes >= least)) continue;
    least = m * length.n_passes;
    out = length;
  }
  return least != 0;
}
// The transform of the conjugate turns, over its length, as FftChirp has it.
void AddFilter(const FftLines& lines, FourierTables& t) {
  const auto m = static_cast<size_t>(lines.length.n), n = static_cast<size_t>(lines.chirp.n);
  std::vector<double> scratch(static_cast<size_t>(FftScratch(lines.length.n)) + 8);
  t.filter.wide.assign(2 * m, 0);
  for (size_t j = 0; j < n; ++j) {
    for (const size_t at : {j, (m - j) % m}) {
      t.filter.wide[2 * at] = t.turns.wide[2 * j];
      t.filter.wide[2 * at + 1] = -t.turns.wide[2 * j + 1];
    }
  }
  FftLines one;
  one.length = lines.length;
  one.length.rotations = t.rotations.wide.data();
  one.f64 = true;
  one.scale = 1 / static_cast<double>(m);
  one.in = one.out = {t.filter.wide.data(), 0, 2};
  one.lines = 1;
  void* at = scratch.data();
  size_t bytes = scratch.size() * sizeof(double);
  one.scratch = std::align(64, bytes - 64, at, bytes);
  BestFftLines()(one);
}
bool SetLength(int64_t n, FftLines& lines, FourierTables& t) {
  const bool prime = !Factor(n, lines.length);
  if (prime && (n < 2 || !ConvolutionOf(n, lines.length))) return false;
  AddRotations(lines.length, t.rotations);
  if (!prime) return true;
  lines.chirp.n = n;
  for (int64_t j = 0; j < n; ++j) t.turns.Add(j * j % (2 * n), 2 * n);
  AddFilter(lines, t);
  return true;
}

// ---- lines ----
struct Sizes {
  int64_t n, in, out;  // elements of the last dimension that is transformed: of all, and as it is on both sides
  int64_t complex;     // of the complex transform that makes it
};

// Where the lines of one dimension lie: `inner` numbers are between the elements of each.
FftArray ArrayOf(bool real, int64_t elements, int64_t inner) {
  const int64_t parts = real ? 1 : 2;
  return inner == 1 ? FftArray{nullptr, parts * elements, parts} : FftArray{nullptr, parts, parts * inner};
}
void SetArrays(const Sizes& s, Fourier& f) {
  f.lines.kind = f.kind;
  f.lines.odd = f.odd;
  f.lines.in = ArrayOf(f.kind == FftKind::kFromReal, s.in, f.inner);
  f.lines.out = ArrayOf(f.kind == FftKind::kToReal, s.out, f.inner);
}

bool SetLines(const Sizes& s, Fourier& f) {
  const int64_t all = f.batch * f.inner;
  if (all < kFewest || all * s.n < kSmallest || !SetLength(s.complex, f.lines, f.of_lines)) return false;
  SetArrays(s, f);
  if (f.inner == 1) std::swap(f.inner, f.batch);
  const int64_t wanted = std::max<int64_t>(kTaskElements / s.n / kFftVector, 1) * kFftVector;
  f.lines.lines = std::min(f.inner, wanted);
  f.tasks = f.batch * ((f.inner + f.lines.lines - 1) / f.lines.lines);
  return true;
}

// The number of rows of a line that fill vectors best, as its columns do; 0: there is none.
int64_t RowsOf(int64_t n) {
  const auto vectors = [](int64_t lines) { return (lines + kFftVector - 1) / kFftVector; };
  int64_t best = 0, least = 0;
  for (int64_t rows = 2; rows <= std::min(n / 2, kFftLongest); ++rows) {
    const int64_t columns = n / rows, cost = vectors(columns) * rows + vectors(rows) * columns;
    if (n % rows != 0 || (best != 0 && cost >= least) || !HasFactors(rows) || !HasFactors(columns)) continue;
    best = rows;
    least = cost;
  }
  return best;
}

bool SetLine(const Sizes& s, Fourier& f) {
  if (f.inner != 1 || s.complex < kShortestLine || s.complex > kLongestLine) return false;
  const int64_t rows = RowsOf(s.complex), columns = rows == 0 ? 0 : s.complex / rows;
  if (rows == 0 || !SetLength(rows, f.columns, f.of_columns) || !SetLength(columns, f.lines, f.of_lines)) return false;
  f.way = Fourier::Way::kLine;
  f.columns.in = f.columns.out = {nullptr, 2, 2 * columns};
  f.columns.lines = columns;
  f.lines.in = {nullptr, 2 * columns, 2};
  f.lines.out = {nullptr, 2, 2 * rows};
  f.lines.lines = rows;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) f.between.Add(f.lines.inverse ? s.complex - i * j : i * j, s.complex);
  }
  f.tasks = f.batch;
  return true;
}

bool SetPlane(const Sizes& s, int64_t rows, Fourier& f) {
  const int64_t smallest = f.batch < kFewest ? kSmallestPlane : kSmallest;
  if (f.inner != 1 || rows * s.n < smallest || rows * s.n > kLargest) return false;
  if (!SetLength(s.complex, f.lines, f.of_lines) || !SetLength(rows, f.columns, f.of_columns)) return false;
  f.way = Fourier::Way::kPlane;
  SetArrays(s, f);
  f.lines.lines = rows;
  f.lines.packed = f.kind != FftKind::kComplex && !f.odd;
  f.columns.lines = f.odd ? s.n / 2 + 1 : s.complex;
  f.columns.scale = f.lines.inverse ? 1 / static_cast<double>(rows) : 1;
  f.in_size *= rows;
  f.out_size *= rows;
  f.tasks = f.batch;
  return true;
}

// ---- the plan ----
void SetKind(const ricci_op* op, const Array& in, Fourier& f) {
  const ricci_attr* a = FindAttr(op, "fft_type");
  const std::string_view kind(static_cast<const char*>(a->data), static_cast<size_t>(a->count));
  f.kind = kind == "RFFT" ? FftKind::kFromReal : kind == "IRFFT" ? FftKind::kToReal : FftKind::kComplex;
  f.lines.inverse = f.columns.inverse = kind == "IFFT" || kind == "IRFFT";
  f.lines.f64 = f.columns.f64 = in.dtype == RICCI_F64 || in.dtype == RICCI_C128;
}

void LayOut(int64_t n, Fourier& f) {
  const auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  for (Rotations* r : {&f.turns, &f.between}) r->Narrow();
  f.of_lines.Set(f.lines);
  f.of_columns.Set(f.columns);
  f.lines.turns = f.turns.data(f.lines.f64);
  f.spectrum_offset = aligned(FftScratch(std::max(f.lines.length.n, f.columns.length.n)) * f.part_bytes());
  const int64_t spectra = f.way == Fourier::Way::kLines ? 0 : f.way == Fourier::Way::kLine ? 2 : f.lines.lines;
  f.scratch_bytes = f.spectrum_offset + aligned(2 * n * spectra * f.part_bytes());
}

}  // namespace

void Rotations::Add(int64_t j, int64_t n) {
  constexpr double kTurn = 6.283185307179586476925;
  // From the nearest quarter, where sine and cosine of small angles are as exact as they can be.
  const int64_t quarter = (4 * (j % n) + n / 2) / n;
  const double angle = kTurn * static_cast<double>(4 * (j % n) - quarter * n) / (4 * static_cast<double>(n));
  const double c = std::cos(angle), s = std::sin(angle);
  const double re[] = {c, -s, -c, s}, im[] = {-s, -c, s, c};
  wide.push_back(re[quarter % 4]);
  wide.push_back(im[quarter % 4]);
}

void FourierTables::Set(FftLines& lines) {
  for (Rotations* r : {&rotations, &turns, &filter}) r->Narrow();
  lines.length.rotations = rotations.data(lines.f64);
  lines.chirp.turns = turns.data(lines.f64);
  lines.chirp.filter = filter.data(lines.f64);
}

bool PlanFourier(const ricci_op* op, Fourier& f) {
  Array in, out;
  if (!ReadType(op, op->in_types[0], in) || !ReadType(op, op->out_types[0], out)) return false;
  SetKind(op, in, f);
  const Ints lengths = Attr(op, "fft_lengths");
  const size_t last = in.dims.size() - 1 - static_cast<size_t>(IntOr(op, "trailing", 0));
  if (lengths.size() > 2) return false;
  for (size_t i = 0; i < in.dims.size(); ++i) {
    if (i > last) f.inner *= in.dims[i];
    if (i + lengths.size() <= last) f.batch *= in.dims[i];
  }
  const bool real = f.kind != FftKind::kComplex, line = lengths.size() == 1;
  f.odd = real && lengths.back() % 2 != 0;
  const bool halves = real && !f.odd;
  const Sizes s{lengths.back(), in.dims[last], out.dims[last], halves ? lengths.back() / 2 : lengths.back()};
  if (f.batch * f.inner == 0 || (line && !halves && s.n < kShortest)) return false;
  f.lines.scale = f.lines.inverse ? 1 / static_cast<double>(s.n) : 1;
  f.in_size = s.in * f.inner * (f.kind == FftKind::kFromReal ? 1 : 2);
  f.out_size = s.out * f.inner * (f.kind == FftKind::kToReal ? 1 : 2);
  if (!(line ? SetLines(s, f) || SetLine(s, f) : SetPlane(s, lengths[0], f))) return false;
  for (int64_t k = 0; halves && k <= s.complex / 2; ++k) f.turns.Add(k, s.n);
  const double all =
      static_cast<double>(f.batch * f.inner) * static_cast<double>(s.n) * static_cast<double>(line ? 1 : lengths[0]);
  f.flops = static_cast<int64_t>(5 * all * std::log2(all));
  LayOut(s.complex, f);
  f.run = BestFftLines();
  return true;
}

}  // namespace ricci::cpu
