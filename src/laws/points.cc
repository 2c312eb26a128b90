#include "laws/points.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace ricci { inline namespace v0 { namespace laws {
namespace {

using ir::FactorKind;

bool IsSigned(const Type& t) { return t.dtype >= RICCI_I8 && t.dtype <= RICCI_I64; }
bool IsInteger(const Type& t) { return t.dtype >= RICCI_BOOL && t.dtype <= RICCI_U64; }

uint64_t ToBits(double v) {
  if (v >= 0x1p64) return ~uint64_t{0};
  return v < 0 ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v);
}
// The low bits of `v` as a number of that type.
double FromBits(const Type& t, uint64_t v) {
  const uint32_t unused = 64 - 8 * ricci_dtype_size(t.dtype);
  if (IsSigned(t)) return static_cast<double>(static_cast<int64_t>(v << unused) >> unused);
  return static_cast<double>(v << unused >> unused);
}

double CombineBits(FactorKind kind, const Type& t, uint64_t a, uint64_t b) {
  switch (kind) {
    case FactorKind::kSum:
      return FromBits(t, a + b);
    case FactorKind::kProd:
      return FromBits(t, a * b);
    case FactorKind::kAnd:
      return FromBits(t, a & b);
    case FactorKind::kOr:
      return FromBits(t, a | b);
    default:
      return FromBits(t, a ^ b);
  }
}
double Combine(FactorKind kind, const Type& t, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (kind == FactorKind::kMax) return nan ? a + b : std::max(a, b);
  if (kind == FactorKind::kMin) return nan ? a + b : std::min(a, b);
  if (!t.inexact()) return CombineBits(kind, t, ToBits(a), ToBits(b));
  return kind == FactorKind::kSum ? a + b : a * b;
}

}  // namespace

Points Span(int64_t from, int64_t to) {
  Points out(static_cast<size_t>(to - from));
  std::iota(out.begin(), out.end(), from);
  return out;
}

Bytes Taken(const Type& t, const Bytes& from, const std::vector<uint32_t>& dims, const Points& points) {
  const size_t size = ricci_dtype_size(t.dtype);
  std::vector<int64_t> shape(t.dims, t.dims + t.rank);
  std::vector<uint8_t> taken(t.rank, 0);
  for (uint32_t d : dims) shape[d] = static_cast<int64_t>(points.size()), taken[d] = 1;
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  Bytes out(static_cast<size_t>(n) * size);
  std::vector<int64_t> at(t.rank, 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t position = 0;
    for (uint32_t d = 0; d < t.rank; ++d) {
      position = position * t.dims[d] + (taken[d] != 0 ? points[static_cast<size_t>(at[d])] : at[d]);
    }
    std::memcpy(out.data() + static_cast<size_t>(i) * size, from.data() + static_cast<size_t>(position) * size, size);
    for (uint32_t d = t.rank; d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return out;
}

bool Combines(FactorKind kind, const Type& t) {
  const bool ordered = t.inexact() || IsInteger(t);
  if (kind == FactorKind::kMax || kind == FactorKind::kMin) return ordered;
  if (kind == FactorKind::kSum || kind == FactorKind::kProd) return ordered && t.dtype != RICCI_BOOL;
  return IsInteger(t);
}

namespace {

// The parts of a complex number combined into those at `x`. Numbers are ordered by real, then imaginary parts.
void CombineComplex(FactorKind kind, double* x, const double* y) {
  const double re = x[0] * y[0] - x[1] * y[1], im = x[0] * y[1] + x[1] * y[0];
  const bool greater = std::lexicographical_compare(x, x + 2, y, y + 2);
  if (kind == FactorKind::kSum) x[0] += y[0], x[1] += y[1];
  if (kind == FactorKind::kProd) x[0] = re, x[1] = im;
  if (kind == FactorKind::kMax && greater) x[0] = y[0], x[1] = y[1];
  if (kind == FactorKind::kMin && !greater) x[0] = y[0], x[1] = y[1];
}

}  // namespace

absl::StatusOr<Numbers> Combined(FactorKind kind, const Type& t, const Bytes& a, const Bytes& b) {
  RICCI_ASSIGN(Numbers x, Decode(t, a));
  RICCI_ASSIGN(const Numbers y, Decode(t, b));
  if (t.complex()) {
    for (size_t i = 0; i < x.size(); i += 2) CombineComplex(kind, &x[i], &y[i]);
    return x;
  }
  for (size_t i = 0; i < x.size(); ++i) x[i] = Combine(kind, t, x[i], y[i]);
  return x;
}

std::string Mismatch(const Type& t, const Numbers& got, const Numbers& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (Difference(got[i], want[i]) <= Tolerance(t)) continue;
    return base::Cat(ElementOf(t, i), " is ", ToText(got[i]), ", it must be ", ToText(want[i]));
  }
  return "";
}

absl::StatusOr<std::string> Mismatch(const Type& t, const Bytes& got, const Bytes& want) {
  if (got == want) return std::string();
  if (!t.inexact() && !IsInteger(t)) {
    const auto at = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
    return base::Cat("element ", at / ricci_dtype_size(t.dtype), " is another one");
  }
  RICCI_ASSIGN(const Numbers a, Decode(t, got));
  RICCI_ASSIGN(const Numbers b, Decode(t, want));
  return Mismatch(t, a, b);
}

}}}  // namespace ricci::v0::laws
