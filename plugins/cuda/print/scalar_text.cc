// Scalar operations as text: one table, with a form for the dtypes that share it. A form with `return` in it becomes a
// function.
#include <cmath>
#include <cstdio>
#include <vector>

#include "codegen/by_operation.h"
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "ricci/float_format.h"

namespace ricci::cuda {
namespace {

// $a $b $c: operands. $T: their type, $U: the unsigned one, $W: unsigned and at least 32 bits, so that arithmetic
// wraps; $B: bits; $s: suffix of functions of f32; $m: bits of the least number.
struct Forms {
  std::string_view any = {}, floating = {}, is_signed = {}, is_unsigned = {};
};
constexpr std::string_view kMin =
    "if (a != a) return a; if (b != b) return b; if (a == b) return copysign$s(($T)1, a) < 0 ? a : b; return a < b ? a "
    ": "
    "b;";
constexpr std::string_view kMax =
    "if (a != a) return a; if (b != b) return b; if (a == b) return copysign$s(($T)1, a) < 0 ? b : a; return a < b ? b "
    ": "
    "a;";
constexpr std::string_view kShiftLeft = "($U)$b >= $B ? ($T)0 : ($T)(($W)$a << $b)";
constexpr std::string_view kShiftRight = "($U)$b >= $B ? ($T)0 : ($T)(($U)$a >> $b)";

constexpr std::array<Forms, RICCI_S_COUNT> kForms = codegen::ByOperation<Forms>({
    {RICCI_S_ADD, {{}, "$a + $b", "($T)(($W)$a + ($W)$b)", "($T)(($W)$a + ($W)$b)"}},
    {RICCI_S_SUB, {{}, "$a - $b", "($T)(($W)$a - ($W)$b)", "($T)(($W)$a - ($W)$b)"}},
    {RICCI_S_MUL, {{}, "$a * $b", "($T)(($W)$a * ($W)$b)", "($T)(($W)$a * ($W)$b)"}},
    {RICCI_S_DIV,
     {{},
      "$a / $b",
      "if (b == 0) return ($T)-1; if (b == -1) return ($T)(($W)0 - ($W)a); return ($T)(a / b);",
      "return b == 0 ? ($T)-1 : ($T)(a / b);"}},
    {RICCI_S_REM, {{}, {}, "return b == 0 ? a : b == -1 ? ($T)0 : ($T)(a % b);", "return b == 0 ? a : ($T)(a % b);"}},
    {RICCI_S_NEG, {{}, "-$a", "($T)(($W)0 - ($W)$a)", "($T)(($W)0 - ($W)$a)"}},
    {RICCI_S_ABS, {{}, "fabs$s($a)", "$a < 0 ? ($T)(($W)0 - ($W)$a) : $a", "$a"}},
    {RICCI_S_SIGN,
     {{}, "return a == 0 || a != a ? a : copysign$s(($T)1, a);", "($T)(($a > 0) - ($a < 0))", "($T)($a != 0)"}},
    {RICCI_S_MIN, {{}, kMin, "$b < $a ? $b : $a", "$b < $a ? $b : $a"}},
    {RICCI_S_MAX, {{}, kMax, "$a < $b ? $b : $a", "$a < $b ? $b : $a"}},
    {RICCI_S_AND, {"($T)($a & $b)"}},
    {RICCI_S_OR, {"($T)($a | $b)"}},
    {RICCI_S_XOR, {"($T)($a ^ $b)"}},
    {RICCI_S_NOT, {{}, {}, "($T)~$a", "($T)~$a"}},
    {RICCI_S_SHL, {{}, {}, kShiftLeft, kShiftLeft}},
    {RICCI_S_SHR, {{}, {}, kShiftRight, kShiftRight}},
    {RICCI_S_SAR,
     {{}, {}, "($T)($a >> (($U)$b >= $B ? $B - 1 : $b))", "($T)(($V)$a >> (($U)$b >= $B ? ($T)($B - 1) : $b))"}},
    {RICCI_S_EQ, {"$a == $b"}},
    {RICCI_S_NE, {"$a != $b"}},
    {RICCI_S_LT, {"$a < $b"}},
    {RICCI_S_LE, {"$a <= $b"}},
    {RICCI_S_GT, {"$a > $b"}},
    {RICCI_S_GE, {"$a >= $b"}},
    {RICCI_S_FMA, {{}, "fma$s($a, $b, $c)", "($T)(($W)$a * ($W)$b + ($W)$c)", "($T)(($W)$a * ($W)$b + ($W)$c)"}},
    {RICCI_S_SQRT, {{}, "sqrt$s($a)"}},
    {RICCI_S_RSQRT, {{}, "1 / sqrt$s($a)"}},
    {RICCI_S_FLOOR, {{}, "floor$s($a)"}},
    {RICCI_S_CEIL, {{}, "ceil$s($a)"}},
    {RICCI_S_ROUND, {{}, "round$s($a)"}},
    {RICCI_S_ROUND_EVEN, {{}, "rint$s($a)"}},
    {RICCI_S_TRUNC, {{}, "trunc$s($a)"}},
    {RICCI_S_IS_FINITE, {{}, "$a - $a == 0"}},
});

// Empty if there is none for operands of that dtype.
std::string_view FormOf(uint32_t op, uint32_t dtype) {
  const Forms& forms = kForms[op];
  if (!forms.any.empty()) return forms.any;
  if (IsFloat(dtype)) return forms.floating;
  return IsSigned(dtype) ? forms.is_signed : forms.is_unsigned;
}

bool IsComparison(uint32_t op) { return op >= RICCI_S_EQ && op <= RICCI_S_GE; }

std::string_view SignedName(uint32_t dtype) {
  switch (BitsOf(dtype)) {
    case 64:
      return "i64";
    case 32:
      return "i32";
    case 16:
      return "i16";
    default:
      return "i8";
  }
}

std::string Filled(std::string_view form, uint32_t dtype, const std::string* in, uint32_t n) {
  const std::string bits = std::to_string(BitsOf(dtype));
  return Fill(form, {{'a', in[0]},
                     {'b', n > 1 ? in[1] : std::string_view()},
                     {'c', n > 2 ? in[2] : std::string_view()},
                     {'T', TypeName(dtype)},
                     {'U', UnsignedName(dtype)},
                     {'V', SignedName(dtype)},
                     {'W', BitsOf(dtype) == 64 ? "u64" : "u32"},
                     {'B', bits},
                     {'s', dtype == RICCI_F32 ? "f" : ""}});
}

// Of a body, one statement each, but for the end of the last one.
std::string Lines(const std::string& body) {
  std::string text;
  for (const char c : body) text += c == ';' ? ";\n  " : std::string(1, c);
  while (text.back() == ' ' || text.back() == '\n') text.pop_back();
  return text;
}

// A call of the function with that body, for operands of one type.
std::string Call(DeviceText& d, std::string_view body, uint32_t op, uint32_t dtype, const std::string* in, uint32_t n) {
  const std::string type(TypeName(dtype)), name = "ricci_dev_" + OperationName(op) + "_" + type;
  const std::string names[] = {"a", "b", "c"};
  d.Function(name, [&] {
    std::string text = type + " " + name + "(" + type + " a" + (n > 1 ? ", " + type + " b" : "") + ") {\n  ";
    return text + Lines(Filled(body, dtype, names, n)) + "\n}";
  });
  return name + "(" + in[0] + (n > 1 ? ", " + in[1] : "") + ")";
}

// ---- operations of more than one form ----

// Of f32, where any NaN gives NaN and -0 is less than 0, as the instruction has it.
std::string ExtremumOfF32(DeviceText& d, uint32_t op, const std::string* in) {
  const std::string operation = OperationName(op), name = "ricci_dev_" + operation + "_f32", names[] = {"a", "b"};
  d.Function(name, [&] {
    const std::string instruction = "\"" + operation + ".NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(a), \"f\"(b)";
    return "f32 " + name + "(f32 a, f32 b) {\n" + ByInstruction(d, "f32", 800, instruction, [&] {
             return "  " + Lines(Filled(op == RICCI_S_MIN ? kMin : kMax, RICCI_F32, names, 2)) + "\n";
           });
  });
  return name + "(" + in[0] + ", " + in[1] + ")";
}

// By bits: it keeps every NaN as it is.
std::string SignOfNarrow(uint32_t op, uint32_t dtype, const std::string& a) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  const std::string type(TypeName(dtype)), sign = std::to_string(f.sign);
  if (op == RICCI_S_ABS) return "(" + type + ")(" + a + " & ~" + sign + "u)";
  return f.sign == 0 ? std::to_string(f.nan) : "(" + type + ")(" + a + " ^ " + sign + "u)";
}

// The bits of the number next to x towards y; `d`: their numbers are f32 or f64, or narrow ones in f32.
std::string NextAfter(DeviceText& d, uint32_t dtype, const std::string* in) {
  const std::string type(TypeName(dtype)), bits(UnsignedName(dtype)),
      name = "ricci_dev_nextafter_" + std::string(DTypeName(dtype));
  const std::string sign = std::to_string(ricci_float_format_of(dtype).sign) + "u";
  const auto number = [&](const std::string& v) { return IsNarrow(dtype) ? Widened(d, dtype, v) : v; };
  const auto bits_of = [&](const std::string& v) { return IsNarrow(dtype) ? v : BitsOfReal(d, dtype, v); };
  const auto of_bits = [&](const std::string& v) {
    return IsNarrow(dtype) ? "(" + type + ")(" + v + ")" : RealOfBits(d, dtype, v);
  };
  const std::string x = number("x"), y = number("y"), xb = bits_of("x"), yb = bits_of("y");
  const std::string not_a_number = IsNarrow(dtype) ? Narrowed(d, dtype, x + " + " + y) : "x + y";
  const std::string near = of_bits("(" + yb + " & " + sign + ") | 1u");
  const std::string next = of_bits("bits + (shrinks ? (" + bits + ")-1 : (" + bits + ")1)");
  d.Function(name, [&] {
    return Fill(
        "$t $n($t x, $t y) {\n  const $b bits = $x;\n  if ($p != $p || $q != $q) return $z;\n  if ($p == $q) return "
        "y;\n"
        "  if ($p == 0) return $e;\n  const bool shrinks = ($p > $q) != ((bits & $s) != 0);\n  return $w;\n}",
        {{'t', type},
         {'n', name},
         {'b', bits},
         {'x', xb},
         {'p', x},
         {'q', y},
         {'z', not_a_number},
         {'e', near},
         {'s', sign},
         {'w', next}});
  });
  return name + "(" + in[0] + ", " + in[1] + ")";
}

std::string BitCount(uint32_t op, uint32_t dtype, const std::string& a) {
  const std::string type(TypeName(dtype)), cast = "(" + type + ")";
  const bool is_long = BitsOf(dtype) == 64;
  const std::string value = "(" + std::string(UnsignedName(dtype)) + ")" + a;
  if (op == RICCI_S_POPCOUNT) return cast + (is_long ? "__popcll(" : "__popc(") + value + ")";
  if (is_long) return cast + "__clzll((i64)" + a + ")";
  return cast + "(__clz((i32)" + value + ") - " + std::to_string(32 - BitsOf(dtype)) + ")";
}

std::string HighProduct(uint32_t dtype, const std::string* in) {
  if (BitsOf(dtype) == 64) {
    return std::string(IsSigned(dtype) ? "__mul64hi(" : "__umul64hi(") + in[0] + ", " + in[1] + ")";
  }
  const std::string wide = IsSigned(dtype) ? "(i64)" : "(u64)";
  return "(" + std::string(TypeName(dtype)) + ")(" + wide + in[0] + " * " + wide + in[1] + " >> " +
         std::to_string(BitsOf(dtype)) + ")";
}

std::string InF32(DeviceText& d, uint32_t op, uint32_t from, uint32_t to, const std::string* in, uint32_t n) {
  std::vector<std::string> wide;
  for (uint32_t i = 0; i < n; ++i) wide.push_back(Widened(d, from, in[i]));
  return PrintScalar(d, op, RICCI_F32, to, wide.data(), n);
}

std::string OfNarrow(DeviceText& d, uint32_t op, uint32_t from, uint32_t to, const std::string* in, uint32_t n) {
  if (op == RICCI_S_NEG || op == RICCI_S_ABS) return SignOfNarrow(op, from, in[0]);
  if (op == RICCI_S_NEXTAFTER) return NextAfter(d, from, in);
  const bool to_bool = IsComparison(op) || to == RICCI_BOOL;
  const std::string r = InF32(d, op, from, to_bool ? RICCI_BOOL : RICCI_F32, in, n);
  return r.empty() || to_bool ? r : Narrowed(d, to, r);
}

}  // namespace

std::string PrintScalar(DeviceText& d, uint32_t op, uint32_t from, uint32_t to, const std::string* in, uint32_t n) {
  if (op >= RICCI_S_COUNT) return {};
  if (op == RICCI_S_CONVERT) return Convert(d, from, to, in[0]);
  if (op == RICCI_S_BITCAST) return Bitcast(d, from, to, in[0]);
  if (op == RICCI_S_SELECT) return in[0] + " ? " + in[1] + " : " + in[2];
  if (op == RICCI_S_NOT && from == RICCI_BOOL) return "!" + in[0];
  if (IsNarrow(from)) return OfNarrow(d, op, from, to, in, n);
  const bool is_float = IsFloat(from);
  if (is_float && op == RICCI_S_NEXTAFTER) return NextAfter(d, from, in);
  if (!is_float && (op == RICCI_S_POPCOUNT || op == RICCI_S_CLZ)) return BitCount(op, from, in[0]);
  if (!is_float && op == RICCI_S_MULHI) return HighProduct(from, in);
  if (from == RICCI_F32 && (op == RICCI_S_MIN || op == RICCI_S_MAX)) return ExtremumOfF32(d, op, in);
  const std::string_view form = FormOf(op, from);
  if (form.find("return") != form.npos) return Call(d, form, op, from, in, n);
  if (!form.empty() || !is_float) return Filled(form, from, in, n);
  const std::string f = MathFunction(d, op, from, n);
  return f.empty() ? f : f + "(" + in[0] + (n > 1 ? ", " + in[1] : "") + ")";
}

std::string PrintWide(DeviceText& d, uint32_t op, uint32_t dtype, const std::string* in, uint32_t n) {
  const bool is_other = op == RICCI_S_CONVERT || op == RICCI_S_BITCAST || op == RICCI_S_SELECT ||
                        op == RICCI_S_NEXTAFTER || op == RICCI_S_NEG || op == RICCI_S_ABS || op == RICCI_S_IS_FINITE;
  if (is_other || IsComparison(op) || !IsNarrow(dtype)) return {};
  return InF32(d, op, dtype, RICCI_F32, in, n);
}

std::string PrintConstant(DeviceText& d, uint32_t dtype, uint64_t bits) {
  if (dtype == RICCI_BOOL) return bits != 0 ? "true" : "false";
  const auto real = [&](double v, const char* form, const char* suffix) -> std::string {
    if (!std::isfinite(v)) return RealOfBits(d, dtype, std::to_string(bits) + (dtype == RICCI_F64 ? "ull" : "u"));
    char text[40];
    std::snprintf(text, sizeof text, form, v);
    const std::string digits(text);
    const std::string number = digits.find_first_of(".e") == digits.npos ? digits + ".0" : digits;
    return (number[0] == '-' ? "(" + number + suffix + ")" : number + suffix);
  };
  if (dtype == RICCI_F32) return real(ricci_f32_of_bits(static_cast<uint32_t>(bits)), "%.9g", "f");
  if (dtype == RICCI_F64) return real(ricci_f64_of_bits(bits), "%.17g", "");
  if (IsSigned(dtype)) {
    const uint32_t unused = 64 - BitsOf(dtype);
    const int64_t v = static_cast<int64_t>(bits << unused) >> unused;
    if (v == INT64_MIN) return "(i64)9223372036854775808ull";
    const std::string text = std::to_string(v) + (dtype == RICCI_I64 ? "ll" : "");
    const std::string cast = dtype == RICCI_I64 || dtype == RICCI_I32 ? "" : "(" + std::string(TypeName(dtype)) + ")";
    return v == INT32_MIN && dtype == RICCI_I32 ? "(i32)2147483648u" : v < 0 ? cast + "(" + text + ")" : cast + text;
  }
  const std::string suffix = BitsOf(dtype) == 64 ? "ull" : "u";
  const std::string cast = BitsOf(dtype) < 32 ? "(" + std::string(TypeName(dtype)) + ")" : "";
  return cast + std::to_string(bits) + suffix;
}

}  // namespace ricci::cuda
