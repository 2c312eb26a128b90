// Special functions as text: the formulas of plugins/codegen, written out as one function for each width, and what they
// need where they do not hold.
//
// They are not libdevice's, whose rare cases are inlined into loops. Arguments that no formula takes are reduced here:
// sin and cos of any f64 by Payne and Hanek's method. Or a function of the compiler takes them: fmod, tan and lgamma of
// f64.
#include "codegen/math/math_functions.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <vector>

#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "ricci/float_format.h"

namespace ricci::cuda {
namespace {

using codegen::MathOp;

enum class Kind : uint8_t { kF32, kF64, kI32, kI64, kMask };
constexpr std::string_view kKindNames[] = {"f32", "f64", "u32", "u64", "bool"};

std::string Literal(DeviceText& d, Kind kind, double c) {
  if (kind == Kind::kF64) return PrintConstant(d, RICCI_F64, ricci_f64_bits(c));
  return PrintConstant(d, RICCI_F32, ricci_f32_bits(static_cast<float>(c)));
}

class TextMath final : public codegen::MathEmitter {
 public:
  explicit TextMath(DeviceText& d) : d_(d) { values_.push_back({}); }

  Value Argument(const std::string& name, bool f64) const { return Keep(name, f64 ? Kind::kF64 : Kind::kF32); }
  const std::string& NameOf(Value v) const { return values_[v].text; }
  const std::string& statements() const { return statements_; }

  bool IsF64(Value real) const override { return values_[real].kind == Kind::kF64; }
  bool Contracts() const override { return true; }
  Value RealLike(Value like, double c) const override {
    const Kind kind = values_[like].kind;
    return Keep(Literal(d_, kind, c), kind);
  }
  Value BitsLike(Value like, uint64_t c) const override {
    const Kind kind = values_[like].kind;
    return Keep(kind == Kind::kI64 ? std::to_string(c) + "ull" : std::to_string(static_cast<uint32_t>(c)) + "u", kind);
  }
  Value Emit(MathOp op, std::initializer_list<Value> in) const override;
  Value IfAny(Value mask, Value otherwise, const std::function<Value()>& then) const override;
  Value Exact(uint32_t op, std::span<const Value> in) const override;
  Value ScaleBy(Value, Value) const override { return 0; }

 private:
  struct Named {
    std::string text;
    Kind kind = Kind::kMask;
  };
  Value Keep(std::string text, Kind kind) const {
    values_.push_back({std::move(text), kind});
    return values_.size() - 1;
  }
  std::string NewName() const { return "t" + std::to_string(++names_); }
  // A new variable of that type.
  Value Name(const std::string& expression, Kind kind) const {
    const std::string name = NewName();
    statements_ += indent_ + "const " + std::string(kKindNames[static_cast<size_t>(kind)]) + " " + name + " = " +
                   expression + ";\n";
    return Keep(name, kind);
  }

  DeviceText& d_;
  mutable std::vector<Named> values_;
  mutable std::string statements_, indent_ = "  ";
  mutable uint32_t names_ = 0;
};

// Without the variables that nothing reads, of which NVRTC warns: formulas leave some.
std::string WithoutUnread(const std::string& statements, const std::string& result) {
  const auto reads = [](const std::string& text, const std::string& name) {
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const size_t end = at + name.size();
      const bool is_part = (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) ||
                           (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0);
      if (!is_part) return true;
    }
    return false;
  };
  std::string kept = result;
  for (size_t end = statements.size(), begin; end > 0; end = begin) {  // from the last line
    begin = statements.rfind('\n', end - 2) + 1;
    const std::string line = statements.substr(begin, end - begin);
    const size_t equals = line.find(" = "), name = line.rfind(' ', equals - 1) + 1;
    const bool defines = line.find("const ") == line.find_first_not_of(' ');
    if (!defines || reads(kept, line.substr(name, equals - name))) kept = line + kept;
  }
  return kept;
}

// How an operation is written, with $s for the suffix of functions of f32; empty where that depends on the types.
std::string_view Form(MathOp op) {
  switch (op) {
    case MathOp::kAdd:
    case MathOp::kBitsAdd:
      return "$a + $b";
    case MathOp::kSub:
    case MathOp::kBitsSub:
      return "$a - $b";
    case MathOp::kMul:
      return "$a * $b";
    case MathOp::kDiv:
      return "$a / $b";
    case MathOp::kNeg:
      return "-$a";
    case MathOp::kFma:
      return "fma$s($a, $b, $c)";
    case MathOp::kAbs:
      return "fabs$s($a)";
    case MathOp::kSqrt:
      return "sqrt$s($a)";
    case MathOp::kTrunc:
      return "trunc$s($a)";
    case MathOp::kRoundEven:
      return "rint$s($a)";
    case MathOp::kCopySign:
      return "copysign$s($a, $b)";
    case MathOp::kEqual:
    case MathOp::kBitsEqual:
      return "$a == $b";
    case MathOp::kLess:
      return "$a < $b";
    case MathOp::kGreater:
      return "$a > $b";
    case MathOp::kGreaterEqual:
      return "$a >= $b";
    case MathOp::kLessOrNan:
      return "!($a >= $b)";
    case MathOp::kGreaterOrNan:
      return "!($a <= $b)";
    case MathOp::kIsNan:
      return "$a != $a";
    case MathOp::kMaskAnd:
    case MathOp::kBitsAnd:
      return "$a & $b";
    case MathOp::kMaskOr:
      return "$a | $b";
    case MathOp::kMaskXor:
    case MathOp::kBitsXor:
      return "$a ^ $b";
    case MathOp::kMaskNot:
      return "!$a";
    case MathOp::kBitsShiftLeft:
      return "$a << $b";
    case MathOp::kSelect:
      return "$a ? $b : $c";
    default:
      return {};
  }
}

Kind ResultKind(MathOp op, Kind a, Kind b) {
  if (op == MathOp::kWiden) return Kind::kF64;
  if (op == MathOp::kNarrow) return Kind::kF32;
  if (op == MathOp::kBitsOf) return a == Kind::kF64 ? Kind::kI64 : Kind::kI32;
  if (op == MathOp::kRealOf) return a == Kind::kI64 ? Kind::kF64 : Kind::kF32;
  if (op >= MathOp::kEqual && op <= MathOp::kIsNan) return Kind::kMask;
  if (op == MathOp::kBitsEqual) return Kind::kMask;
  return op == MathOp::kSelect ? b : a;
}

codegen::MathEmitter::Value TextMath::Emit(MathOp op, std::initializer_list<Value> in) const {
  const Value* const v = in.begin();
  const Named a = values_[v[0]], b = in.size() > 1 ? values_[v[1]] : Named{},
              c = in.size() > 2 ? values_[v[2]] : Named{};
  const Kind kind = ResultKind(op, a.kind, b.kind);
  const std::string_view form = Form(op), suffix = a.kind == Kind::kF32 ? "f" : "";
  if (!form.empty()) return Name(Fill(form, {{'a', a.text}, {'b', b.text}, {'c', c.text}, {'s', suffix}}), kind);
  const uint32_t width = a.kind == Kind::kF64 || a.kind == Kind::kI64 ? RICCI_F64 : RICCI_F32;
  if (op == MathOp::kBitsOf) return Name(BitsOfReal(d_, width, a.text), kind);
  if (op == MathOp::kRealOf) return Name(RealOfBits(d_, width, a.text), kind);
  if (op == MathOp::kBitsShiftRight) {
    return Name(
        Fill(width == RICCI_F64 ? "(u64)((i64)$a >> $b)" : "(u32)((i32)$a >> $b)", {{'a', a.text}, {'b', b.text}}),
        kind);
  }
  return Name("(" + std::string(kKindNames[static_cast<size_t>(kind)]) + ")" + a.text, kind);  // kWiden, kNarrow
}

codegen::MathEmitter::Value TextMath::IfAny(Value mask, Value otherwise, const std::function<Value()>& then) const {
  const std::string name = NewName();
  const Kind kind = values_[otherwise].kind;
  statements_ += indent_ + std::string(kKindNames[static_cast<size_t>(kind)]) + " " + name + " = " + NameOf(otherwise) +
                 ";\n" + indent_ + "if (" + NameOf(mask) + ") {\n";
  indent_ += "  ";
  const std::string result = NameOf(then());
  statements_ += indent_ + name + " = " + result + ";\n";
  indent_.resize(indent_.size() - 2);
  statements_ += indent_ + "}\n";
  return Keep(name, kind);
}

// ---- where no formula holds ----

// x = n pi + r with |r| <= pi / 2, for the sine of x or (with half a turn) its cosine: r, with the sign of the sine's
// or cosine's (-1)^n (Payne and Hanek, 1983). `words` are the bits of 1 / pi: as many as the exponents of f64 need, and
// 224 more. Of the product what makes whole pairs of turns is left out.
constexpr std::string_view kReduceTurns = R"(__noinline__ f64 ricci_dev_reduce_turns(f64 x, bool half) {
  static const u32 words[38] = {
      0x517cc1b7u, 0x27220a94u, 0xfe13abe8u, 0xfa9a6ee0u, 0x6db14accu, 0x9e21c820u, 0xff28b1d5u, 0xef5de2b0u,
      0xdb92371du, 0x2126e970u, 0x03249775u, 0x04e8c90eu, 0x7f0ef58eu, 0x5894d39fu, 0x74411afau, 0x975da242u,
      0x74ce3813u, 0x5a2fbf20u, 0x9cc8eb1cu, 0xc1a99cfau, 0x4e422fc5u, 0xdefc941du, 0x8ffc4bffu, 0xef02cc07u,
      0xf79788c5u, 0xad05368fu, 0xb69b3f67u, 0x93e584dbu, 0xa7a31fb3u, 0x4f2ff516u, 0xba93dd63u, 0xf5f2f8bdu,
      0x9e839cfbu, 0xc5294975u, 0x35fdafd8u, 0x8fc6ae84u, 0x2b019823u, 0x7e3db5d5u};
  const u64 bits = $b, size = bits & 9223372036854775807ull;
  if (size >= 9218868437227405312ull) return x - x;
  const u64 m = (size & 4503599627370495ull) | 4503599627370496ull;
  const i32 e = (i32)(size >> 52) - 1075, first = e > 0 ? (e - 1) / 32 : 0;
  u32 p[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (i32 i = 0; i < 7; ++i) {
    const u64 w = words[first + 6 - i], low = w * (m & 4294967295ull) + p[i];
    const u64 high = w * (m >> 32) + (low >> 32) + p[i + 1];
    p[i] = (u32)low;
    p[i + 1] = (u32)high;
    p[i + 2] = (u32)(high >> 32);
  }
  const i32 point = 32 * (first + 7) - e;
  if (half) {
    u64 sum = (u64)p[(point - 1) / 32] + (1ull << (point - 1) % 32);
    p[(point - 1) / 32] = (u32)sum;
    if (sum >> 32 != 0 && (point - 1) / 32 < 8) p[(point - 1) / 32 + 1] += 1;
  }
  const bool up = (p[(point - 1) / 32] >> (point - 1) % 32 & 1) != 0;
  const bool odd = ((p[point / 32] >> point % 32 & 1) != 0) != up;
  f64 r = 0, unit = ldexp(1.0, -point);
  for (i32 i = 0; 32 * i < point; ++i) {
    u32 word = up ? ~p[i] : p[i];
    if (32 * i + 32 > point) word &= (1u << point % 32) - 1;
    r += word * unit;
    unit *= 4294967296.0;
  }
  r *= 3.141592653589793;
  return up != odd != (bits != size && !half) ? -r : r;
})";

// The same for f32 of 2^15 or more, without f64: 24 bits of x times 96 of 1 / pi leave a fraction of 64.
constexpr std::string_view kReduceTurnsOfF32 = R"(__noinline__ f32 ricci_dev_reduce_turns_f32(f32 x, bool half) {
  static const u32 words[7] = {0x517cc1b7u, 0x27220a94u, 0xfe13abe8u, 0xfa9a6ee0u,
                               0x6db14accu, 0x9e21c820u, 0xff28b1d5u};
  const u32 bits = $b, size = bits & 2147483647u;
  if (size >= 2139095040u) return x - x;
  const u64 m = (size & 8388607u) | 8388608u;
  const i32 e = (i32)(size >> 23) - 150, first = e > 1 ? e - 1 : 0, word = first / 32, unused = 32 - first % 32;
  const u64 w0 = (u32)(((u64)words[word] << 32 | words[word + 1]) >> unused);
  const u64 w1 = (u32)(((u64)words[word + 1] << 32 | words[word + 2]) >> unused);
  const u64 w2 = (u32)(((u64)words[word + 2] << 32 | words[word + 3]) >> unused);
  const u64 p0 = m * w2, p1 = m * w1 + (p0 >> 32), high = m * w0 + (p1 >> 32), low = p1 << 32 | (u32)p0;
  const i32 below = 32 + first - e;
  u64 fraction = high << (64 - below) | low >> below;
  bool odd = (high >> below & 1) != 0;
  if (half) {
    fraction += 9223372036854775808ull;
    odd = odd != (fraction < 9223372036854775808ull);
  }
  const bool up = fraction >= 9223372036854775808ull;
  odd = odd != up;
  const f32 turns = (f32)(up ? ~fraction : fraction), unit = 5.42101086e-20f;
  const f32 r = fmaf(turns * unit, -8.74227766e-8f, turns * unit * 3.14159274f);
  return up != odd != (bits != size && !half) ? -r : r;
})";

// Recurrence up to 16, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0. Sums carry what
// they lose, because terms cancel near the zeros, of which there is one between each two poles.
constexpr std::string_view kUpperDigamma = R"(__noinline__ f64 ricci_dev_upper_digamma(f64 x, f64 more) {
  f64 sum = more, lost = 0;
  for (; x < 16; x += 1) {
    const f64 q = -1 / x, s = sum + q, t = s - sum;
    lost += (sum - (s - t)) + (q - t) - fma(q, x, 1.0) / x;
    sum = s;
  }
  const f64 i = 1 / (x * x);
  f64 series = -3617.0 / 8160;
  series = series * i + 1.0 / 12;
  series = series * i - 691.0 / 32760;
  series = series * i + 1.0 / 132;
  series = series * i - 1.0 / 240;
  series = series * i + 1.0 / 252;
  series = series * i - 1.0 / 120;
  series = series * i + 1.0 / 12;
  return $l(x) + sum + (lost - 0.5 / x - series * i);
})";
constexpr std::string_view kDigamma = R"(f64 ricci_dev_digamma(f64 x) {
  if (x > 0) return x - x == 0 ? $u(x, 0) : x;
  const f64 f = x - rint(x);
  return f == 0 || f != f ? $n : $u(1 - x, -3.141592653589793 / tan(3.141592653589793 * f));
})";

std::string Digamma(DeviceText& d) {
  return d.Function("ricci_dev_digamma", [&] {
    const std::string log = MathFunction(d, RICCI_S_LOG, RICCI_F64, 1);
    const std::string upper = d.Function("ricci_dev_upper_digamma", [&] { return Fill(kUpperDigamma, {{'l', log}}); });
    return Fill(kDigamma, {{'u', upper}, {'n', Literal(d, Kind::kF64, NAN)}});
  });
}

// It is rare, so its registers and its code are kept out of the loops that call it.
std::string ReducedTurns(DeviceText& d, Kind kind, bool cosine) {
  const bool is_f32 = kind == Kind::kF32;
  const std::string name = is_f32 ? "ricci_dev_reduce_turns_f32" : "ricci_dev_reduce_turns";
  d.Function(name, [&] {
    return Fill(is_f32 ? kReduceTurnsOfF32 : kReduceTurns, {{'b', BitsOfReal(d, is_f32 ? RICCI_F32 : RICCI_F64, "x")}});
  });
  return name + (cosine ? "($a, true)" : "($a, false)");
}

codegen::MathEmitter::Value TextMath::Exact(uint32_t op, std::span<const Value> in) const {
  const Named x = values_[in[0]];
  const std::string_view suffix = x.kind == Kind::kF32 ? "f" : "";
  const auto call = [&](std::string_view form) {
    const std::string y = in.size() > 1 ? values_[in[1]].text : "";
    return Name(Fill(form, {{'s', suffix}, {'a', x.text}, {'b', y}}), x.kind);
  };
  switch (op) {
    case RICCI_S_REM:
      return call("fmod$s($a, $b)");
    case RICCI_S_TAN:
      return call("tan$s($a)");
    case RICCI_S_LGAMMA:
      return call("lgamma$s($a)");
    case RICCI_S_DIGAMMA:
      return call(Digamma(d_) + "($a)");
    case codegen::kReduceSine:
      return call(ReducedTurns(d_, x.kind, false));
    case codegen::kReduceCosine:
      return call(ReducedTurns(d_, x.kind, true));
    default:
      return 0;
  }
}

}  // namespace

std::string MathFunction(DeviceText& d, uint32_t op, uint32_t dtype, uint32_t arity) {
  const std::string type(TypeName(dtype)), name = "ricci_dev_" + OperationName(op) + "_" + type;
  bool made = true;
  d.Function(name, [&] {
    const TextMath math(d);
    const codegen::MathEmitter::Value in[] = {math.Argument("x", dtype == RICCI_F64),
                                              math.Argument("y", dtype == RICCI_F64)};
    const codegen::MathEmitter::Value result = codegen::EmitFormula(math, op, std::span(in).first(arity));
    made = result != 0;
    return type + " " + name + "(" + type + " x" + (arity > 1 ? ", " + type + " y" : "") + ") {\n" +
           WithoutUnread(math.statements(), "  return " + (made ? math.NameOf(result) : "x") + ";\n}");
  });
  return made ? name : "";
}

}  // namespace ricci::cuda
