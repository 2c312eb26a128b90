// fft: discrete Fourier transforms along the last dimensions, as NumPy's fft, ifft, rfft and irfft.
//
// A transform of few elements is straight-line code; longer ones, and several dimensions, are programs of those
// (fft_program.hpp). Real ones are complex ones of which half is left out or made up. All are linear; the transposes
// are those of JAX.
#include "factor_text.hpp"
#include "fft_program.hpp"
#include "fft_scalars.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"fft_type", AttrKind::kString}, {"fft_lengths", AttrKind::kInts}};

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

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Kind kind = KindOf(e);
  const Dims lengths = e.ints("fft_lengths");
  const auto rank = static_cast<int64_t>(lengths.size());
  if (rank < 1 || rank > 3 || rank > x.rank()) {
    e.Fail("fft_lengths ", lengths, " must have 1 to 3 numbers, at most the rank of ", x);
  }
  rules::WantDType(e, 0, kind == Kind::kRfft ? SetOf(DType::kF32) | SetOf(DType::kF64) : kComplexes);
  Shape given(x.shape().end() - rank, x.shape().end()), wanted(lengths.begin(), lengths.end());  // exact: at most rank
  const int64_t half = lengths.back() / 2 + 1;                                                   // exact: a half
  if (kind == Kind::kIrfft) wanted.back() = half;
  for (int64_t n : lengths) CheckLength(e, n);
  if (given != wanted)
    e.Fail("the last dimensions of ", x, " are ", given, "; ", e.str("fft_type"), " of fft_lengths ", lengths,
           " takes ", wanted);
  Shape shape(x.shape().begin(), x.shape().end());
  if (kind == Kind::kRfft) shape.back() = half;
  if (kind == Kind::kIrfft) shape.back() = lengths.back();
  const bool real = kind == Kind::kIrfft;
  return e.Type(kind == Kind::kRfft ? ComplexOf(x.dtype()) : real ? PartOf(x.dtype()) : x.dtype(), shape);
}

// ---- transpose ----
// Of the elements that an array of a real transform holds, all but the first, and the middle one, stand for two.
Value Mask(const Value& like, int64_t n, double two) {
  const int64_t m = n / 2 + 1;  // exact: a half
  const Shape shape = {m};
  const Value at = iota(like.builder, DType::kI64, shape, 0);
  const Value once = bitwise_or(eq(at, full_like(at, 0)), eq(mul(at, full_like(at, 2)), full_like(at, n)));
  const ArrayType type = like.type().WithShape(shape);
  const Value mask = select(once, full(like.builder, type, 1.0), full(like.builder, type, two));
  return broadcast_in_dim(mask, like.shape(), Shape{like.rank() - 1});
}
double Product(Dims lengths) {
  double out = 1;
  for (int64_t n : lengths) out *= static_cast<double>(n);
  return out;
}
Value Transposed(const Eqn& e, const Value& ct) {
  const Dims lengths = e.ints("fft_lengths");
  switch (KindOf(e)) {
    case Kind::kRfft:
      return mul(fft(mul(conj(ct), Mask(ct, lengths.back(), 0.5)), "IRFFT", lengths), Product(lengths));
    case Kind::kIrfft: {
      const Value x = fft(ct, "RFFT", lengths);
      return conj(mul(mul(x, Mask(x, lengths.back(), 2.0)), 1 / Product(lengths)));
    }
    default:
      return e.Emit({ct});
  }
}

Batched BatchRule(const Eqn& e, const Batched& x) { return {e.Emit({rules::MoveDim(x.value, x.dim, 0)}), 0}; }

// ---- lowering ----
bool IsSmall(const Eqn& e) {
  const Kind kind = KindOf(e);
  return e.ints("fft_lengths").size() == 1 && e.ints("fft_lengths")[0] <= kFftInRegisters &&
         (kind == Kind::kFft || kind == Kind::kIfft);
}
void InRegisters(KernelBuilder& k, const Eqn& e) {
  const int64_t n = e.ints("fft_lengths")[0];
  const bool inverse = KindOf(e) == Kind::kIfft;
  Shape batch(e.in(0).shape().begin(), e.in(0).shape().end());
  batch.pop_back();
  k.Parallel(batch, [&](Index at) {
    at.push_back({});
    Pairs x;
    for (int64_t j = 0; j < n; ++j) {
      at.back() = k.At(j);
      const Scalar v = k.Operand(0).Load(at);
      x.push_back({Real(v), Imag(v)});
    }
    const Pairs y = lax::Transform(x, inverse);
    for (int64_t j = 0; j < n; ++j) {
      const ScalarPair v =
          inverse ? y[static_cast<size_t>(j)] * (1 / static_cast<double>(n)) : y[static_cast<size_t>(j)];
      at.back() = k.At(j);
      k.Result().Store(at, Complex(v.re, v.im));
    }
  });
}

// The complex transform along the dimension that is `from_last` before the last.
Value Along(const Value& x, int64_t from_last, bool inverse) {
  const int64_t last = x.rank() - 1, dim = last - from_last;  // exact: a dimension
  return rules::MoveDim(fourier::AlongLast(rules::MoveDim(x, dim, last), inverse), last, dim);
}
// The elements that a real inverse transform of n leaves out: conjugates of those in the middle, in reverse.
Value Completed(const Value& x, int64_t n) {
  const int64_t last = x.rank() - 1, dims[] = {last};
  const Value middle = slice_in_dim(x, 1, n - n / 2, last);  // exact: at most the dimension
  if (middle.dim(last) == 0) return x;
  return concatenate(Values{x, conj(rev(middle, dims))}, last);
}
Values ByDimensions(const Eqn& e, std::span<const Value> in) {
  const Kind kind = KindOf(e);
  const bool inverse = kind == Kind::kIfft || kind == Kind::kIrfft;
  const Dims lengths = e.ints("fft_lengths");
  const auto others = [&](Value x) {
    for (size_t i = 1; i < lengths.size(); ++i) x = Along(x, static_cast<int64_t>(i), inverse);
    return x;
  };
  const int64_t last = e.in(0).rank() - 1;
  switch (kind) {
    case Kind::kRfft: {
      const Value y = fourier::AlongLast(complex(in[0], zeros_like(in[0])), false);
      return {others(slice_in_dim(y, 0, lengths.back() / 2 + 1, last))};  // exact: a half
    }
    case Kind::kIrfft:
      return {real(fourier::AlongLast(Completed(others(in[0]), lengths.back()), true))};
    default:
      return {others(fourier::AlongLast(in[0], inverse))};
  }
}
constexpr Lowering kLowerings[] = {{.loops = InRegisters, .match = IsSmall}, {.decompose = ByDimensions}};

std::string Factors(const Eqn& e) {
  FactorText text;
  Shape x, y;
  const int64_t shared = e.in(0).rank() - static_cast<int64_t>(e.ints("fft_lengths").size());
  for (int64_t i = 0; i < e.in(0).rank(); ++i) {
    x.push_back(i < shared ? text.Shared() : text.Whole());
    y.push_back(i < shared ? x.back() : text.Whole());
  }
  text.AddIn(x);
  text.AddOut(y);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "fft",
     .doc = "y = fft(x): the discrete Fourier transform `fft_type`, FFT, IFFT, RFFT or IRFFT, along the last "
            "dimensions, which have, where they are not halved, `fft_lengths` elements",
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
                 "(f64[2,18]) fft_type=\"RFFT\" fft_lengths=[18]; "
                 "(f64[3,7]) fft_type=\"RFFT\" fft_lengths=[3,7]; "
                 "(c128[10]) fft_type=\"IRFFT\" fft_lengths=[18]; "
                 "(c128[3,2,4]) fft_type=\"IRFFT\" fft_lengths=[3,2,7]"}};

}  // namespace

RowList fft_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
