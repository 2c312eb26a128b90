// One table of functions per element type, made at compile time: floats from lists of double -> double functions,
// integers from a list of functions on the native type. A new scalar operation is a line in one of the lists.
#include "kernel/scalar/scalar_eval.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/status.h"
#include "kernel/scalar/scalar_convert.h"
#include "kernel/scalar/scalar_element.h"
#include "kernel/scalar/scalar_special.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// ---- floats ----
double Minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double Maximum(double a, double b) { return -Minimum(-a, -b); }

struct FloatUnary {
  uint32_t op;
  double (*fn)(double);
};
constexpr FloatUnary kFloatUnary[] = {
    {RICCI_S_SIGN, SignOf},
    {RICCI_S_EXP, [](double x) { return std::exp(x); }},
    {RICCI_S_EXP2, [](double x) { return std::exp2(x); }},
    {RICCI_S_EXPM1, [](double x) { return std::expm1(x); }},
    {RICCI_S_LOG, [](double x) { return std::log(x); }},
    {RICCI_S_LOG1P, [](double x) { return std::log1p(x); }},
    {RICCI_S_LOG2, [](double x) { return std::log2(x); }},
    {RICCI_S_SIN, [](double x) { return std::sin(x); }},
    {RICCI_S_COS, [](double x) { return std::cos(x); }},
    {RICCI_S_TAN, [](double x) { return std::tan(x); }},
    {RICCI_S_ASIN, [](double x) { return std::asin(x); }},
    {RICCI_S_ACOS, [](double x) { return std::acos(x); }},
    {RICCI_S_ATAN, [](double x) { return std::atan(x); }},
    {RICCI_S_SINH, [](double x) { return std::sinh(x); }},
    {RICCI_S_COSH, [](double x) { return std::cosh(x); }},
    {RICCI_S_TANH, [](double x) { return std::tanh(x); }},
    {RICCI_S_ASINH, [](double x) { return std::asinh(x); }},
    {RICCI_S_ACOSH, [](double x) { return std::acosh(x); }},
    {RICCI_S_ATANH, [](double x) { return std::atanh(x); }},
    {RICCI_S_SQRT, [](double x) { return std::sqrt(x); }},
    {RICCI_S_RSQRT, [](double x) { return 1 / std::sqrt(x); }},
    {RICCI_S_CBRT, Cbrt},
    {RICCI_S_FLOOR, [](double x) { return std::floor(x); }},
    {RICCI_S_CEIL, [](double x) { return std::ceil(x); }},
    {RICCI_S_ROUND, [](double x) { return std::round(x); }},
    {RICCI_S_ROUND_EVEN, [](double x) { return std::nearbyint(x); }},
    {RICCI_S_TRUNC, [](double x) { return std::trunc(x); }},
    {RICCI_S_ERF, [](double x) { return std::erf(x); }},
    {RICCI_S_ERFC, [](double x) { return std::erfc(x); }},
    {RICCI_S_ERF_INV, ErfInv},
    {RICCI_S_LOGISTIC, Logistic},
    {RICCI_S_LGAMMA, LogGamma},
    {RICCI_S_DIGAMMA, Digamma},
};

struct FloatBinary {
  uint32_t op;
  double (*fn)(double, double);
};
constexpr FloatBinary kFloatBinary[] = {
    {RICCI_S_ADD, [](double a, double b) { return a + b; }},
    {RICCI_S_SUB, [](double a, double b) { return a - b; }},
    {RICCI_S_MUL, [](double a, double b) { return a * b; }},
    {RICCI_S_DIV, [](double a, double b) { return a / b; }},
    {RICCI_S_REM, [](double a, double b) { return std::fmod(a, b); }},
    {RICCI_S_MIN, Minimum},
    {RICCI_S_MAX, Maximum},
    {RICCI_S_ATAN2, [](double a, double b) { return std::atan2(a, b); }},
    {RICCI_S_POW, [](double a, double b) { return std::pow(a, b); }},
};

// Sign operations work on bits, so that they keep every NaN as it is.
template <uint32_t kDType>
constexpr void AddFloatBitOps(std::array<ScalarFn, RICCI_S_COUNT>& table) {
  using E = ElementOf<kDType>;
  table[RICCI_S_NEG] = [](uint64_t a, uint64_t, uint64_t) {
    return E::kFormat.sign != 0 ? a ^ E::kFormat.sign : E::kFormat.nan;
  };
  table[RICCI_S_ABS] = [](uint64_t a, uint64_t, uint64_t) { return a & ~E::kFormat.sign; };
  table[RICCI_S_NEXTAFTER] = [](uint64_t a, uint64_t b, uint64_t) { return NextAfter(E::kFormat, a, b); };
  table[RICCI_S_IS_FINITE] = [](uint64_t a, uint64_t, uint64_t) -> uint64_t { return std::isfinite(E::Decode(a)); };
  table[RICCI_S_FMA] = [](uint64_t a, uint64_t b, uint64_t c) {
    if constexpr (kDType == RICCI_F32) {  // rounded once: not to double before
      const auto narrow = [](uint64_t bits) { return static_cast<float>(E::Decode(bits)); };
      return E::Rounded(std::fma(narrow(a), narrow(b), narrow(c)));
    }
    return E::Rounded(std::fma(E::Decode(a), E::Decode(b), E::Decode(c)));
  };
}

template <uint32_t kDType, size_t... kUnary, size_t... kBinary>
constexpr void AddFloatOps(std::array<ScalarFn, RICCI_S_COUNT>& table, std::index_sequence<kUnary...>,
                           std::index_sequence<kBinary...>) {
  using E = ElementOf<kDType>;
  ((table[kFloatUnary[kUnary].op] = [](uint64_t a, uint64_t,
                                       uint64_t) { return E::Rounded(kFloatUnary[kUnary].fn(E::Decode(a))); }),
   ...);
  ((table[kFloatBinary[kBinary].op] =
        [](uint64_t a, uint64_t b, uint64_t) {
          return E::Rounded(kFloatBinary[kBinary].fn(E::Decode(a), E::Decode(b)));
        }),
   ...);
  AddFloatBitOps<kDType>(table);
}

// ---- integers ----
template <typename T>
using Unsigned = std::make_unsigned_t<T>;
// Wide enough for wrapping arithmetic without promotion to a signed int.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, Unsigned<T>>;

template <typename T>
T Quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <typename T>
T Remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <typename T>
T HighProduct(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}
template <typename T>
constexpr bool ShiftsOut(T count) {
  return static_cast<Unsigned<T>>(count) >= 8 * sizeof(T);
}
template <typename T>
T ShiftArithmetic(T a, T count) {
  const int by = ShiftsOut(count) ? static_cast<int>(8 * sizeof(T)) - 1 : static_cast<int>(count);
  return static_cast<T>(static_cast<std::make_signed_t<T>>(a) >> by);
}
template <typename T>
T SignOfInteger(T a) {
  return a == 0 ? T{0} : (a > 0 ? T{1} : static_cast<T>(-1));
}
template <typename T>
T AbsoluteInteger(T a) {
  return a < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)) : a;
}

template <typename T>
struct IntegerBinary {
  uint32_t op;
  T (*fn)(T, T);
};
template <typename T>
constexpr IntegerBinary<T> kIntegerBinary[] = {
    {RICCI_S_ADD, [](T a, T b) { return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b)); }},
    {RICCI_S_SUB, [](T a, T b) { return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b)); }},
    {RICCI_S_MUL, [](T a, T b) { return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b)); }},
    {RICCI_S_DIV, Quotient<T>},
    {RICCI_S_REM, Remainder<T>},
    {RICCI_S_MIN, [](T a, T b) { return a < b ? a : b; }},
    {RICCI_S_MAX, [](T a, T b) { return a < b ? b : a; }},
    {RICCI_S_AND, [](T a, T b) { return static_cast<T>(a & b); }},
    {RICCI_S_OR, [](T a, T b) { return static_cast<T>(a | b); }},
    {RICCI_S_XOR, [](T a, T b) { return static_cast<T>(a ^ b); }},
    {RICCI_S_SHL, [](T a, T b) { return ShiftsOut(b) ? T{0} : static_cast<T>(static_cast<Wrapping<T>>(a) << b); }},
    {RICCI_S_SHR, [](T a, T b) { return ShiftsOut(b) ? T{0} : static_cast<T>(static_cast<Unsigned<T>>(a) >> b); }},
    {RICCI_S_SAR, ShiftArithmetic<T>},
    {RICCI_S_MULHI, HighProduct<T>},
    {RICCI_S_NEG, [](T a, T) { return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)); }},
    {RICCI_S_ABS, [](T a, T) { return AbsoluteInteger(a); }},
    {RICCI_S_SIGN, [](T a, T) { return SignOfInteger(a); }},
    {RICCI_S_NOT, [](T a, T) { return static_cast<T>(~a); }},
    {RICCI_S_POPCOUNT, [](T a, T) { return static_cast<T>(std::popcount(static_cast<Unsigned<T>>(a))); }},
    {RICCI_S_CLZ, [](T a, T) { return static_cast<T>(std::countl_zero(static_cast<Unsigned<T>>(a))); }},
};

template <uint32_t kDType, size_t... kIndex>
constexpr void AddIntegerOps(std::array<ScalarFn, RICCI_S_COUNT>& table, std::index_sequence<kIndex...>) {
  using E = ElementOf<kDType>;
  using T = typename E::T;
  ((table[kIntegerBinary<T>[kIndex].op] =
        [](uint64_t a, uint64_t b, uint64_t) {
          return E::Encode(kIntegerBinary<T>[kIndex].fn(E::Decode(a), E::Decode(b)));
        }),
   ...);
  table[RICCI_S_FMA] = [](uint64_t a, uint64_t b, uint64_t c) {
    using W = Wrapping<T>;
    return E::Encode(
        static_cast<T>(static_cast<W>(E::Decode(a)) * static_cast<W>(E::Decode(b)) + static_cast<W>(E::Decode(c))));
  };
}

constexpr void AddBoolOps(std::array<ScalarFn, RICCI_S_COUNT>& table) {
  table[RICCI_S_AND] = table[RICCI_S_MIN] = [](uint64_t a, uint64_t b, uint64_t) { return a & b; };
  table[RICCI_S_OR] = table[RICCI_S_MAX] = [](uint64_t a, uint64_t b, uint64_t) { return a | b; };
  table[RICCI_S_XOR] = [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; };
  table[RICCI_S_NOT] = [](uint64_t a, uint64_t, uint64_t) { return a ^ 1; };
}

// ---- all element types ----
template <uint32_t kDType>
constexpr void AddComparisons(std::array<ScalarFn, RICCI_S_COUNT>& table) {
  using E = ElementOf<kDType>;
  table[RICCI_S_EQ] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) == E::Decode(b); };
  table[RICCI_S_NE] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) != E::Decode(b); };
  table[RICCI_S_LT] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) < E::Decode(b); };
  table[RICCI_S_LE] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) <= E::Decode(b); };
  table[RICCI_S_GT] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) > E::Decode(b); };
  table[RICCI_S_GE] = [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return E::Decode(a) >= E::Decode(b); };
}

template <uint32_t kDType>
constexpr std::array<ScalarFn, RICCI_S_COUNT> MakeTable() {
  using T = typename ElementOf<kDType>::T;
  std::array<ScalarFn, RICCI_S_COUNT> table{};
  AddComparisons<kDType>(table);
  if constexpr (std::is_same_v<T, double>) {
    AddFloatOps<kDType>(table, std::make_index_sequence<std::size(kFloatUnary)>(),
                        std::make_index_sequence<std::size(kFloatBinary)>());
  } else if constexpr (std::is_same_v<T, bool>) {
    AddBoolOps(table);
  } else {
    AddIntegerOps<kDType>(table, std::make_index_sequence<std::size(kIntegerBinary<T>)>());
  }
  return table;
}

template <uint32_t kDType>
constexpr std::array<ScalarFn, RICCI_S_COUNT> kTable = MakeTable<kDType>();

constexpr const std::array<ScalarFn, RICCI_S_COUNT>* kTables[] = {
    nullptr,
    &kTable<RICCI_BOOL>,
    &kTable<RICCI_I8>,
    &kTable<RICCI_I16>,
    &kTable<RICCI_I32>,
    &kTable<RICCI_I64>,
    &kTable<RICCI_U8>,
    &kTable<RICCI_U16>,
    &kTable<RICCI_U32>,
    &kTable<RICCI_U64>,
    &kTable<RICCI_F16>,
    &kTable<RICCI_BF16>,
    &kTable<RICCI_F32>,
    &kTable<RICCI_F64>,
    nullptr,  // c64
    nullptr,  // c128
    &kTable<RICCI_F8E4M3FN>,
    &kTable<RICCI_F8E5M2>,
    &kTable<RICCI_F8E8M0FNU>,
    &kTable<RICCI_F4E2M1FN>,
};

constexpr ScalarOpInfo kInfos[] = {{"", 0},
#define RICCI_X(NAME, number, arity, text) {text, arity},
                                   RICCI_SCALAR_OPS(RICCI_X)
#undef RICCI_X
};
static_assert(std::size(kInfos) == RICCI_S_COUNT);

uint64_t SameBits(uint64_t a, uint64_t, uint64_t) { return a; }
uint64_t Choose(uint64_t a, uint64_t b, uint64_t c) { return a ? b : c; }

bool GivesBool(uint32_t op) { return (op >= RICCI_S_EQ && op <= RICCI_S_GE) || op == RICCI_S_IS_FINITE; }

std::string_view Name(uint32_t dtype) { return dtype == 0 ? "nothing" : types::Info(dtype).name; }

absl::Status NoSuch(uint32_t op, std::span<const uint32_t> operands) {
  std::string text = base::Cat(kInfos[op].name, ": no scalar operation on ");
  for (size_t i = 0; i < operands.size(); ++i) text += base::Cat(i ? ", " : "", Name(operands[i]));
  return base::InvalidArgument(text, "; convert the operands");
}

absl::StatusOr<uint32_t> BitcastResult(uint32_t from, uint32_t to) {
  const bool legal = types::InKernels(to) && types::InKernels(from) && types::Info(to).size == types::Info(from).size &&
                     (to != RICCI_BOOL || from == RICCI_BOOL);
  if (!legal) return base::InvalidArgument("bitcast: ", Name(from), " and ", Name(to), " differ in width or values");
  return to;
}

}  // namespace

bool IsApproximated(uint32_t op) {
  static_assert(RICCI_S_COUNT == 67, "a new operation belongs to one of the two kinds");
  return (op >= RICCI_S_EXP && op <= RICCI_S_POW) || op == RICCI_S_RSQRT || op == RICCI_S_CBRT ||
         (op >= RICCI_S_ERF && op <= RICCI_S_DIGAMMA);
}

const ScalarOpInfo& InfoOf(uint32_t op) { return kInfos[op < RICCI_S_COUNT ? op : 0]; }

ScalarFn FindScalarFn(uint32_t op, uint32_t operand, uint32_t result) {
  if (op == RICCI_S_SELECT) return Choose;
  if (op == RICCI_S_BITCAST) return SameBits;
  if (op == RICCI_S_CONVERT) return FindConversion(operand, result);
  const bool has_table = operand < std::size(kTables) && kTables[operand] != nullptr;
  return has_table && op < RICCI_S_COUNT ? (*kTables[operand])[op] : nullptr;
}

absl::StatusOr<uint32_t> ResultDType(uint32_t op, uint32_t requested, std::span<const uint32_t> operands) {
  const ScalarOpInfo& info = InfoOf(op);
  if (info.arity == 0) return base::InvalidArgument("there is no scalar operation with number ", op);
  if (operands.size() != info.arity) {
    return base::InvalidArgument(info.name, ": takes ", base::Count(info.arity, "operand"), " but got ",
                                 operands.size());
  }
  if (op == RICCI_S_BITCAST) return BitcastResult(operands[0], requested);
  if (op == RICCI_S_CONVERT) {
    if (FindConversion(operands[0], requested)) return requested;
    return base::InvalidArgument("convert: no conversion from ", Name(operands[0]), " to ", Name(requested));
  }
  const uint32_t last = operands.back();
  const bool select = op == RICCI_S_SELECT;
  if (select && (operands[0] != RICCI_BOOL || !types::InKernels(last))) return NoSuch(op, operands);
  for (size_t i = select; i < operands.size(); ++i) {
    if (operands[i] != last) return NoSuch(op, operands);
  }
  if (requested != 0 && requested != (GivesBool(op) ? uint32_t{RICCI_BOOL} : last)) return NoSuch(op, operands);
  if (FindScalarFn(op, last, last) == nullptr) return NoSuch(op, operands);
  return GivesBool(op) ? uint32_t{RICCI_BOOL} : last;
}

bool IsUpdater(uint32_t op) { return op == RICCI_S_ADD || op == RICCI_S_MUL || op == RICCI_S_MAX || op == RICCI_S_MIN; }

bool IsCombiner(uint32_t op) {
  return op == RICCI_S_ADD || op == RICCI_S_MUL || op == RICCI_S_MAX || op == RICCI_S_MIN || op == RICCI_S_AND ||
         op == RICCI_S_OR || op == RICCI_S_XOR;
}

int64_t DecodeInteger(uint32_t dtype, uint64_t bits) {
  const types::DTypeInfo& info = types::Info(dtype);
  if (info.cls != types::DTypeClass::kSigned || info.size == 8) return static_cast<int64_t>(bits);
  const uint32_t unused = 64 - 8 * info.size;
  return static_cast<int64_t>(bits << unused) >> unused;
}

uint64_t EncodeInteger(uint32_t dtype, int64_t v) {
  const uint32_t size = types::Info(dtype).size;
  if (dtype == RICCI_BOOL) return v & 1;
  return size == 8 ? static_cast<uint64_t>(v) : static_cast<uint64_t>(v) & ((uint64_t{1} << (8 * size)) - 1);
}

namespace {

// Of infinity, or of the largest number where there is none.
uint64_t GreatestMagnitude(uint32_t dtype) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  return f.infinity != 0 ? f.infinity : f.largest;
}
uint64_t LeastOf(uint32_t dtype) {
  const types::DTypeInfo& info = types::Info(dtype);
  const ricci_float_format f = ricci_float_format_of(dtype);
  if (types::IsFloating(dtype)) return f.sign != 0 ? f.sign | GreatestMagnitude(dtype) : 0;
  return info.cls == types::DTypeClass::kSigned ? uint64_t{1} << (8 * info.size - 1) : 0;
}
uint64_t GreatestOf(uint32_t dtype) {
  if (types::IsFloating(dtype)) return GreatestMagnitude(dtype);
  return EncodeInteger(dtype, -1) & ~LeastOf(dtype);
}

}  // namespace

uint64_t IdentityOf(uint32_t op, uint32_t dtype) {
  switch (op) {
    case RICCI_S_MUL:
      return types::IsFloating(dtype) ? EncodeFloat(dtype, 1) : 1;
    case RICCI_S_MAX:
      return LeastOf(dtype);
    case RICCI_S_MIN:
      return GreatestOf(dtype);
    case RICCI_S_AND:
      return EncodeInteger(dtype, -1);
    default:
      return types::IsFloating(dtype) ? EncodeFloat(dtype, 0) : 0;  // ADD, OR, XOR
  }
}

}}}  // namespace ricci::v0::kernel
