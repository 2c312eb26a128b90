// fft: discrete Fourier transforms along the last dimensions, or those before the last, as NumPy's fft, ifft, rfft and
// irfft.
//
// A transform of few elements is straight-line code; longer ones, and several dimensions, are programs of those
// (fft_program.hpp). Real ones are complex ones of which half is left out or made up. All are linear; the transposes
// are those of JAX.
//
// Several dimensions are transforms of one each, so that a backend can take these (plugins/cpu, fourier_library).
#include "factor_text.hpp"
#include "fft_program.hpp"
#include "fft_scalars.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"fft_type", AttrKind::kString}, {"fft_lengths", AttrKind::kInts}, {"trailing", AttrKind::kInt, "0"}};

enum class Kind : uint8_t { kFft, kIfft, kRfft, kIrfft };
constexpr std::string_view kKinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

Kind KindOf(const Eqn& e) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (e.str("fft_type") == kKinds[i]) return static_cast<Kind>(i);
  }
  e.Fail("fft_type is `", e.str("fft_type"), "`; it must be FFT, IFFT, RFFT or IRFFT");
}

// ---- type ----
constexpr int64_t kLongest = int64_t{1} << 30;
constexpr int64_t kLargestPrime = int64_t{1} << 22;  // its convolution needs tables of eight times as many elements

void CheckLength(const Eqn& e, int64_t n) {
  if (n < 1 || n > kLongest) e.Fail("fft_lengths ", e.ints("fft_lengths"), " must be from 1 to ", kLongest);
  const int64_t length = n;
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    while (n % factor == 0) n /= factor;
  }
  if (n > kLargestPrime) {
    e.Fail("fft_lengths ", e.ints("fft_lengths"), ": ", length, " has the prime factor ", n, "; at most ",
           kLargestPrime, " is supported, so pad x to another length");
  }
}

// The dimensions that are transformed: `rank` from `first` on.
struct Transformed {
  explicit Transformed(const Eqn& e)
      : lengths(e.ints("fft_lengths")),
        rank(static_cast<int64_t>(lengths.size())),
        trailing(e.integer("trailing", 0)),
        first(trailing < 0 || trailing > e.in(0).rank() ? -1 : e.in(0).rank() - trailing - rank) {
    if (rank < 1 || rank > 3 || first < 0) {
      const std::string given = trailing == 0 ? "" : Text("with trailing ", trailing, " ");
      e.Fail("fft_lengths ", lengths, " must have 1 to 3 numbers, ", given, "at most the rank of ", e.in(0));
    }
  }
  int64_t last() const { return first + rank - 1; }  // exact: a dimension

  Dims lengths;
  int64_t rank, trailing, first;
};

// `shape` with `sizes` as its dimensions from `first` on.
Shape With(Dims shape, int64_t first, Dims sizes) {
  Shape out(shape.begin(), shape.end());
  std::copy(sizes.begin(), sizes.end(), out.begin() + first);
  return out;
}

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Kind kind = KindOf(e);
  const Transformed d(e);
  rules::WantDType(e, 0, kind == Kind::kRfft ? SetOf(DType::kF32) | SetOf(DType::kF64) : kComplexes);
  for (int64_t n : d.lengths) CheckLength(e, n);
  Shape half(d.lengths.begin(), d.lengths.end());  // exact: at most rank
  half.back() = half.back() / 2 + 1;
  const Dims wanted = kind == Kind::kIrfft ? Dims(half) : d.lengths, given = x.shape().subspan(d.first, d.rank);
  if (!std::equal(given.begin(), given.end(), wanted.begin(), wanted.end()))
    e.Fail(d.trailing == 0 ? "the last dimensions of " : "the transformed dimensions of ", x, " are ", given, "; ",
           e.str("fft_type"), " of fft_lengths ", d.lengths, " takes ", wanted);
  const Shape shape = With(x.shape(), d.first, kind == Kind::kRfft ? Dims(half) : d.lengths);
  const bool real = kind == Kind::kIrfft;
  return e.Type(kind == Kind::kRfft ? ComplexOf(x.dtype()) : real ? PartOf(x.dtype()) : x.dtype(), shape);
}

// ---- transpose ----
// Of the elements that an array of a real transform holds, all but the first, and the middle one, stand for two.
Value Mask(const Value& like, int64_t dim, int64_t n, double two) {
  const int64_t m = n / 2 + 1;  // exact: a half
  const Shape shape = {m};
  const Value at = iota(like.builder, DType::kI64, shape, 0);
  const Value all = full_like(at, n), is_middle = eq(mul(at, full_like(at, 2)), all);
  const Value once = bitwise_or(eq(at, full_like(at, 0)), is_middle);
  const ArrayType type = like.type().WithShape(shape);
  const Value twice = full(like.builder, type, two), mask = select(once, full(like.builder, type, 1.0), twice);
  return broadcast_in_dim(mask, like.shape(), Shape{dim});
}
double Product(Dims lengths) {
  double out = 1;
  for (int64_t n : lengths) out *= static_cast<double>(n);
  return out;
}
Value Transposed(const Eqn& e, const Value& ct) {
  const Transformed d(e);
  switch (KindOf(e)) {
    case Kind::kRfft: {
      const Value mask = Mask(ct, d.last(), d.lengths.back(), 0.5), half = mul(conj(ct), mask);
      return mul(fft(half, "IRFFT", d.lengths, d.trailing), Product(d.lengths));
    }
    case Kind::kIrfft: {
      const Value x = fft(ct, "RFFT", d.lengths, d.trailing);
      return conj(mul(mul(x, Mask(x, d.last(), d.lengths.back(), 2.0)), 1 / Product(d.lengths)));
    }
    default:
      return e.Emit({ct});
  }
}

Batched BatchRule(const Eqn& e, const Batched& x) { return {e.Emit({rules::MoveDim(x.value, x.dim, 0)}), 0}; }

// ---- lowering ----
bool IsSmall(const Eqn& e) {
  const Kind kind = KindOf(e);
  const Transformed d(e);
  return d.rank == 1 && d.lengths[0] <= kFftInRegisters && (kind == Kind::kFft || kind == Kind::kIfft);
}
void InRegisters(KernelBuilder& k, const Eqn& e) {
  const Transformed d(e);
  const int64_t n = d.lengths[0];
  const bool inverse = KindOf(e) == Kind::kIfft;
  Shape others(e.in(0).shape().begin(), e.in(0).shape().end());
  others.erase(others.begin() + d.first);
  k.Parallel(others, [&](Index at) {
    at.insert(at.begin() + d.first, Scalar());
    const auto point = static_cast<size_t>(d.first);
    Pairs x;
    for (int64_t j = 0; j < n; ++j) {
      at[point] = k.At(j);
      const Scalar v = k.Operand(0).Load(at);
      x.push_back({Real(v), Imag(v)});
    }
    const Pairs y = lax::Transform(x, inverse);
    for (int64_t j = 0; j < n; ++j) {
      const ScalarPair v =
          inverse ? y[static_cast<size_t>(j)] * (1 / static_cast<double>(n)) : y[static_cast<size_t>(j)];
      at[point] = k.At(j);
      k.Result().Store(at, Complex(v.re, v.im));
    }
  });
}

// The elements that a real inverse transform of n leaves out: conjugates of those in the middle, in reverse.
Value Completed(const Value& x, int64_t dim, int64_t n) {
  const int64_t dims[] = {dim};
  const Value middle = slice_in_dim(x, 1, n - n / 2, dim);  // exact: at most the dimension
  if (middle.dim(dim) == 0) return x;
  return concatenate(Values{x, conj(rev(middle, dims))}, dim);
}
// One dimension after the other; a real one on the side of the real numbers.
Values ByDimensions(const Eqn& e, std::span<const Value> in) {
  const Kind kind = KindOf(e);
  const bool inverse = kind == Kind::kIfft || kind == Kind::kIrfft;
  const Transformed d(e);
  const auto along = [&](const Value& x, int64_t dim, std::string_view type) {
    return fft(x, type, d.lengths.subspan(static_cast<size_t>(dim - d.first), 1), d.last() - dim + d.trailing);
  };
  Value x = kind == Kind::kIrfft ? in[0] : along(in[0], d.last(), e.str("fft_type"));
  for (int64_t dim = d.last(); dim-- > d.first;) x = along(x, dim, inverse ? "IFFT" : "FFT");
  return {kind == Kind::kIrfft ? along(x, d.last(), "IRFFT") : x};
}
Values ByPasses(const Eqn& e, std::span<const Value> in) {
  const Transformed d(e);
  if (d.rank > 1) return ByDimensions(e, in);
  const int64_t n = d.lengths[0];
  switch (KindOf(e)) {
    case Kind::kRfft: {
      const Value y = fourier::Alone(complex(in[0], zeros_like(in[0])), d.first, false);
      return {slice_in_dim(y, 0, n / 2 + 1, d.first)};  // exact: a half
    }
    case Kind::kIrfft:
      return {real(fourier::Alone(Completed(in[0], d.first, n), d.first, true))};
    default:
      return {fourier::Along(in[0], d.first, KindOf(e) == Kind::kIfft)};
  }
}
constexpr Lowering kLowerings[] = {{.loops = InRegisters, .match = IsSmall}, {.decompose = ByPasses}};

std::string Factors(const Eqn& e) {
  FactorText text;
  Shape x, y;
  const Transformed d(e);
  for (int64_t i = 0; i < e.in(0).rank(); ++i) {
    const bool shared = i < d.first || i > d.last();
    x.push_back(shared ? text.Shared() : text.Whole());
    y.push_back(shared ? x.back() : text.Whole());
  }
  text.AddIn(x);
  text.AddOut(y);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "fft",
     .doc = "y = fft(x): the discrete Fourier transform `fft_type`, FFT, IFFT, RFFT or IRFFT, along the last "
            "dimensions but `trailing` ones, which have, where they are not halved, `fft_lengths` elements",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<Transposed>,
     .batch = rules::BatchFirstOperand<BatchRule>,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .examples = "(c128[2,5]) fft_type=\"FFT\" fft_lengths=[5]; "
                 "(c128[12]) fft_type=\"IFFT\" fft_lengths=[12]; "
                 "(c128[34]) fft_type=\"FFT\" fft_lengths=[34]; "
                 "(c128[2,3,4]) fft_type=\"IFFT\" fft_lengths=[3,4]; "
                 "(c128[2,6,3]) fft_type=\"FFT\" fft_lengths=[6] trailing=1; "
                 "(c128[18,2]) fft_type=\"IFFT\" fft_lengths=[18] trailing=1; "
                 "(f64[3,4,2]) fft_type=\"RFFT\" fft_lengths=[3,4] trailing=1; "
                 "(c128[4,1,2]) fft_type=\"IRFFT\" fft_lengths=[6] trailing=2; "
                 "(f64[2,18]) fft_type=\"RFFT\" fft_lengths=[18]; "
                 "(f64[3,7]) fft_type=\"RFFT\" fft_lengths=[3,7]; "
                 "(c128[10]) fft_type=\"IRFFT\" fft_lengths=[18]; "
                 "(c128[3,2,4]) fft_type=\"IRFFT\" fft_lengths=[3,2,7]"}};

}  // namespace

RowList fft_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
