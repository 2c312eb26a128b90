// Sums are emitted as the callers wrote them if nothing cancels: `x + y` stays one instruction, and a constant moves to
// the outside, where backends fold it into addresses. Everything else is rebuilt term by term, after each prefix is
// looked up.
#include "kernel/index_fold.h"

#include <algorithm>
#include <numeric>

#include "kernel/scalar/scalar_eval.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

int BitsOf(uint32_t dtype) { return dtype == RICCI_I32 ? 32 : 64; }
bool IsMultiple(int64_t v, int64_t of) { return v % of == 0; }
int64_t FloorMod(int64_t v, int64_t m) {  // m > 0
  const int64_t r = v % m;
  return r < 0 ? r + m : r;
}

// The terms of f that are multiples of g, and the rest, with 0 <= constant < g.
void Split(const LinearForm& f, int64_t g, LinearForm* multiple, LinearForm* rest) {
  for (const Term& t : f.terms) (IsMultiple(t.factor, g) ? multiple : rest)->terms.push_back(t);
  rest->constant = FloorMod(f.constant, g);
  // If the constant would go below the least number, the rest stays negative: no quotient is taken of it then.
  if (__builtin_sub_overflow(f.constant, rest->constant, &multiple->constant)) {
    rest->constant = f.constant % g;
    multiple->constant = f.constant - rest->constant;
  }
}

LinearForm DividedExactly(LinearForm f, int64_t g) {
  for (Term& t : f.terms) t.factor /= g;
  f.constant /= g;
  return f;
}

}  // namespace

// ---- sums ----
Val IndexFolder::Known(const LinearForm& f, uint32_t dtype) {
  if (f.terms.empty()) return table_.Integer(dtype, f.constant);
  if (f.IsAtom()) return f.terms[0].atom;
  return table_.FindForm(f, dtype);
}

Val IndexFolder::Emit(uint32_t op, Val a, Val b, const LinearForm& form) {
  bool fresh = false;
  const auto dtype = static_cast<uint16_t>(table_.DType(a));
  const Val v = table_.Unique({static_cast<uint16_t>(op), dtype, a, b, 0, 0}, 0, &fresh);
  if (fresh) table_.SetForm(v, form);
  return v;
}

Val IndexFolder::EmitOpaque(uint32_t op, Val x, Val y, Range range) {
  bool fresh = false;
  const auto dtype = static_cast<uint16_t>(table_.DType(x));
  const Val v = table_.Unique({static_cast<uint16_t>(op), dtype, x, y, 0, 0}, 0, &fresh);
  if (!fresh) return v;
  table_.Narrow(v, range);
  const bool division = op == RICCI_S_DIV || op == RICCI_S_REM;
  table_[v].non_negative_division = division && table_.RangeOf(x).min >= 0 && table_.IntegerOf(y).value_or(0) > 0;
  return v;
}

Val IndexFolder::AddConstant(Val base, int64_t c, const LinearForm& form) {
  return Emit(RICCI_S_ADD, base, table_.Integer(table_.DType(base), c), form);
}

Val IndexFolder::WithoutConstant(Val v) {
  LinearForm f = table_.FormOf(v);
  if (f.constant == 0) return v;
  f.constant = 0;
  return Make(f, table_.DType(v));
}

Val IndexFolder::AddScaled(Val x, Val y, int64_t sign) {
  const uint32_t dtype = table_.DType(x);
  const LinearForm fx = table_.FormOf(x), fy = table_.FormOf(y);
  const LinearForm sum = Combine(fx, fy, sign, BitsOf(dtype));
  const LinearForm f = MergeDigits(sum, dtype);
  const uint32_t op = sign > 0 ? RICCI_S_ADD : RICCI_S_SUB;
  if (f.terms.size() > kMaxTerms) return EmitOpaque(op, x, y, WidestRange(dtype));
  if (const Val v = Known(f, dtype)) return v;
  if (f != sum) return MakeSum(f, dtype);
  if (fx.terms.empty() && sign < 0) return Emit(op, table_.Integer(dtype, f.constant), WithoutConstant(y), f);
  if (f.constant != 0) {
    if (fy.terms.empty()) return AddConstant(WithoutConstant(x), f.constant, f);
    if (fx.terms.empty()) return AddConstant(WithoutConstant(y), f.constant, f);
    return AddConstant(AddScaled(WithoutConstant(x), WithoutConstant(y), sign), f.constant, f);
  }
  const bool plain = fx.constant == 0 && fy.constant == 0 && f.terms.size() == fx.terms.size() + fy.terms.size();
  return plain ? Emit(op, x, y, f) : MakeSum(f, dtype);
}

Val IndexFolder::Make(const LinearForm& f, uint32_t dtype) {
  if (const Val v = Known(f, dtype)) return v;
  return MakeSum(f, dtype);
}

Val IndexFolder::MakeSum(const LinearForm& f, uint32_t dtype) {
  LinearForm rest = f;
  if (f.constant != 0) {
    rest.constant = 0;
    return AddConstant(Make(rest, dtype), f.constant, f);
  }
  if (f.terms.size() == 1) {
    const Term t = f.terms[0];
    if (t.factor == -1) return Emit(RICCI_S_NEG, t.atom, 0, f);
    return Emit(RICCI_S_MUL, t.atom, table_.Integer(dtype, t.factor), f);
  }
  // A subtracted term is split off first, so that no negation is needed.
  auto split = std::find_if(rest.terms.begin(), rest.terms.end(), [](const Term& t) { return t.factor < 0; });
  if (split == rest.terms.end()) split = rest.terms.end() - 1;
  LinearForm last;
  last.terms.push_back(*split);
  rest.terms.erase(split);
  const bool subtract = last.terms[0].factor < 0 && last.terms[0].factor != INT64_MIN;
  if (subtract) last.terms[0].factor = WrapTo(BitsOf(dtype), -last.terms[0].factor);
  return Emit(subtract ? RICCI_S_SUB : RICCI_S_ADD, Make(rest, dtype), Make(last, dtype), f);
}

// Replaces m*c*(q / c) + m*(q % c) by m*q.
LinearForm IndexFolder::MergeDigits(LinearForm f, uint32_t dtype) const {
  if (f.terms.size() > kMaxTerms + 2) return f;
  for (size_t i = 0; i < f.terms.size(); ++i) {
    const Node& rem = table_[f.terms[i].atom];
    if (rem.inst.op != RICCI_S_REM) continue;
    const std::optional<int64_t> c = table_.IntegerOf(rem.inst.b);
    if (!c || *c <= 0) continue;
    for (size_t j = 0; j < f.terms.size(); ++j) {
      const Node& div = table_[f.terms[j].atom];
      if (div.inst.op != RICCI_S_DIV || f.terms[j].factor != WrappedProduct(f.terms[i].factor, *c)) continue;
      const int64_t by = table_.IntegerOf(div.inst.b).value_or(0);
      const Node& q = table_[rem.inst.a];
      const bool same = div.inst.a == rem.inst.a && by == *c;
      const bool nested = q.inst.op == RICCI_S_DIV && q.non_negative_division && div.inst.a == q.inst.a &&
                          by == WrappedProduct(table_.IntegerOf(q.inst.b).value_or(0), *c);
      if (!same && !nested) continue;
      const int64_t factor = f.terms[i].factor;
      const Val whole = rem.inst.a;
      f.terms.erase(f.terms.begin() + std::max(i, j));
      f.terms.erase(f.terms.begin() + std::min(i, j));
      return MergeDigits(Combine(f, table_.FormOf(whole), factor, BitsOf(dtype)), dtype);
    }
  }
  return f;
}

// ---- products ----
Val IndexFolder::MulByConstant(Val x, int64_t c) {
  const uint32_t dtype = table_.DType(x);
  const LinearForm fx = table_.FormOf(x);
  const LinearForm f = Scaled(fx, c, BitsOf(dtype));
  if (const Val v = Known(f, dtype)) return v;
  if (f.terms.size() <= 1 || f.terms.size() != fx.terms.size()) return MakeSum(f, dtype);
  if (fx.constant != 0) {
    const Val base = MulByConstant(WithoutConstant(x), c);
    return f.constant == 0 ? base : AddConstant(base, f.constant, f);
  }
  return c == -1 ? Emit(RICCI_S_NEG, x, 0, f) : Emit(RICCI_S_MUL, x, table_.Integer(dtype, c), f);
}

Val IndexFolder::Mul(Val x, Val y) {
  if (const auto c = table_.IntegerOf(y)) return MulByConstant(x, *c);
  if (const auto c = table_.IntegerOf(x)) return MulByConstant(y, *c);
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y), widest = WidestRange(table_.DType(x));
  using Wide = __int128;
  const Wide p[] = {Wide{a.min} * b.min, Wide{a.min} * b.max, Wide{a.max} * b.min, Wide{a.max} * b.max};
  const Wide min = *std::min_element(p, p + 4), max = *std::max_element(p, p + 4);
  const bool fits = min >= widest.min && max <= widest.max;
  return EmitOpaque(RICCI_S_MUL, x, y, fits ? Range{static_cast<int64_t>(min), static_cast<int64_t>(max)} : widest);
}

// ---- quotients and remainders ----
// The form of v if it does not wrap, else v as an atom.
LinearForm IndexFolder::ExactForm(Val v) const {
  LinearForm f = table_.FormOf(v);
  return table_.ExactRange(f, table_.DType(v)) ? f : LinearForm::Of(v);
}

// The largest g with 1 < g < c that divides c and enough factors of f that the rest of f is in [0, g); 0 if there is
// none.
int64_t IndexFolder::BestDivisor(const LinearForm& f, uint32_t dtype, int64_t c) const {
  int64_t best = 0;
  for (const Term& t : f.terms) {
    const int64_t g = static_cast<int64_t>(std::gcd(static_cast<uint64_t>(c), static_cast<uint64_t>(t.factor)));
    if (t.factor < 0 || g <= std::max<int64_t>(best, 1) || g >= c) continue;
    LinearForm multiple, rest;
    Split(f, g, &multiple, &rest);
    const std::optional<Range> r = table_.ExactRange(rest, dtype);
    if (r && r->min >= 0 && r->max < g) best = g;
  }
  return best;
}

// f / c where f >= 0 does not wrap; 0 if nothing is gained.
Val IndexFolder::DivOfMultiple(const LinearForm& f, uint32_t dtype, int64_t c) {
  LinearForm multiple, rest;
  Split(f, c, &multiple, &rest);
  const std::optional<Range> r = table_.ExactRange(rest, dtype);
  if ((!multiple.terms.empty() || multiple.constant != 0) && r && r->min >= 0) {
    return Add(Make(DividedExactly(multiple, c), dtype), DivByConstant(Make(rest, dtype), c));
  }
  const int64_t g = BestDivisor(f, dtype, c);
  if (g == 0) return 0;
  multiple = rest = {};
  Split(f, g, &multiple, &rest);
  return DivByConstant(Make(DividedExactly(multiple, g), dtype), c / g);
}

// (p / a) / c and (p % a) / c, p >= 0; 0 if x is neither.
Val IndexFolder::DivOfDigits(Val x, int64_t c) {
  const Node n = table_[x];
  if (!n.non_negative_division) return 0;
  const int64_t a = table_.IntegerOf(n.inst.b).value_or(0);
  int64_t product = 0;
  if (n.inst.op == RICCI_S_DIV && !__builtin_mul_overflow(a, c, &product) && product <= WidestRange(n.inst.dtype).max) {
    return DivByConstant(n.inst.a, product);
  }
  if (n.inst.op == RICCI_S_REM && a % c == 0) return RemByConstant(DivByConstant(n.inst.a, c), a / c);
  return 0;
}

Val IndexFolder::DivByConstant(Val x, int64_t c) {
  const uint32_t dtype = table_.DType(x);
  const Val divisor = table_.Integer(dtype, c);
  if (c == 1) return x;
  if (const auto v = table_.IntegerOf(x); v && *v >= 0 && c > 0) return table_.Integer(dtype, *v / c);
  const Range r = table_.RangeOf(x);
  if (c <= 0) return EmitOpaque(RICCI_S_DIV, x, divisor, WidestRange(dtype));
  if (r.min > -c && r.max < c) return table_.Integer(dtype, 0);
  if (r.min >= 0) {
    if (const Val v = DivOfMultiple(ExactForm(x), dtype, c)) return v;
    if (const Val v = DivOfDigits(x, c)) return v;
  }
  return EmitOpaque(RICCI_S_DIV, x, divisor, {r.min / c, r.max / c});
}

// f % c where f >= 0 does not wrap; 0 if nothing is gained.
Val IndexFolder::RemOfMultiple(const LinearForm& f, uint32_t dtype, int64_t c) {
  LinearForm reduced = f;
  for (Term& t : reduced.terms) t.factor = t.factor > 0 || IsMultiple(t.factor, c) ? t.factor % c : t.factor;
  const Term* end =
      std::remove_if(reduced.terms.begin(), reduced.terms.end(), [](const Term& t) { return t.factor == 0; });
  reduced.terms.resize(static_cast<size_t>(end - reduced.terms.begin()));
  reduced.constant = FloorMod(f.constant, c);
  const std::optional<Range> r = table_.ExactRange(reduced, dtype);
  if (reduced != f && r && r->min >= 0) return RemByConstant(Make(reduced, dtype), c);
  const int64_t g = BestDivisor(f, dtype, c);
  if (g == 0) return 0;
  LinearForm multiple, rest;
  Split(f, g, &multiple, &rest);
  const Val digit = RemByConstant(Make(DividedExactly(multiple, g), dtype), c / g);
  return Add(MulByConstant(digit, g), Make(rest, dtype));
}

Val IndexFolder::RemByConstant(Val x, int64_t c) {
  const uint32_t dtype = table_.DType(x);
  const Val divisor = table_.Integer(dtype, c);
  if (c == 1) return table_.Integer(dtype, 0);
  if (const auto v = table_.IntegerOf(x); v && *v >= 0 && c > 0) return table_.Integer(dtype, *v % c);
  const Range r = table_.RangeOf(x);
  if (c <= 0) return EmitOpaque(RICCI_S_REM, x, divisor, WidestRange(dtype));
  if (r.min > -c && r.max < c) return x;
  if (r.min >= 0) {
    if (const Val v = RemOfMultiple(ExactForm(x), dtype, c)) return v;
    const Node n = table_[x];
    if (n.inst.op == RICCI_S_REM && n.non_negative_division && *table_.IntegerOf(n.inst.b) % c == 0) {
      return RemByConstant(n.inst.a, c);
    }
  }
  return EmitOpaque(RICCI_S_REM, x, divisor, {r.min < 0 ? 1 - c : 0, c - 1});
}

Val IndexFolder::Div(Val x, Val y) {
  if (const auto c = table_.IntegerOf(y)) return DivByConstant(x, *c);
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y);
  return EmitOpaque(RICCI_S_DIV, x, y, a.min >= 0 && b.min > 0 ? Range{0, a.max} : WidestRange(table_.DType(x)));
}

Val IndexFolder::Rem(Val x, Val y) {
  if (const auto c = table_.IntegerOf(y)) return RemByConstant(x, *c);
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y);
  if (a.min < 0 || b.min <= 0) return EmitOpaque(RICCI_S_REM, x, y, WidestRange(table_.DType(x)));
  return a.max < b.min ? x : EmitOpaque(RICCI_S_REM, x, y, {0, std::min(a.max, b.max - 1)});
}

// ---- comparisons and the rest ----
namespace {

// The result of the comparison `op` of two integers whose difference x - y is in `r`, if that decides it.
std::optional<bool> DecideByDifference(uint32_t op, Range r) {
  switch (op) {
    case RICCI_S_LT:
      return r.max < 0 ? std::optional(true) : r.min >= 0 ? std::optional(false) : std::nullopt;
    case RICCI_S_LE:
      return r.max <= 0 ? std::optional(true) : r.min > 0 ? std::optional(false) : std::nullopt;
    default:
      break;
  }
  const bool differ = r.min > 0 || r.max < 0, equal = r.min == 0 && r.max == 0;
  if (!differ && !equal) return std::nullopt;
  return (op == RICCI_S_EQ) == equal;
}

int64_t Clamped(__int128 v) { return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : static_cast<int64_t>(v); }

}  // namespace

std::optional<bool> IndexFolder::Decide(uint32_t op, Val x, Val y) const {
  if (x == y) return op == RICCI_S_EQ || op == RICCI_S_LE;
  const uint32_t dtype = table_.DType(x);
  if (dtype == RICCI_U64) return std::nullopt;  // ranges are those of i64
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y);
  using Wide = __int128;
  if (const auto d = DecideByDifference(op, {Clamped(Wide{a.min} - b.max), Clamped(Wide{a.max} - b.min)})) return d;
  if (!HasForms(dtype)) return std::nullopt;
  const LinearForm fx = table_.FormOf(x), fy = table_.FormOf(y);
  const LinearForm difference = Combine(fx, fy, -1, BitsOf(dtype));
  const bool equality = op == RICCI_S_EQ || op == RICCI_S_NE;
  if (equality && difference.terms.empty()) return (op == RICCI_S_EQ) == (difference.constant == 0);
  if (!equality && !(table_.ExactRange(fx, dtype) && table_.ExactRange(fy, dtype))) return std::nullopt;
  const std::optional<Range> r = table_.ExactRange(difference, dtype);
  return r ? DecideByDifference(op, *r) : std::nullopt;
}

Val IndexFolder::MinMax(uint32_t op, Val x, Val y) {
  if (const auto less = Decide(RICCI_S_LE, x, y)) return *less == (op == RICCI_S_MIN) ? x : y;
  if (const auto more = Decide(RICCI_S_LE, y, x)) return *more == (op == RICCI_S_MIN) ? y : x;
  if (table_.DType(x) == RICCI_U64) return EmitOpaque(op, x, y, WidestRange(RICCI_U64));
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y);
  if (op == RICCI_S_MIN) return EmitOpaque(op, x, y, {std::min(a.min, b.min), std::min(a.max, b.max)});
  return EmitOpaque(op, x, y, {std::max(a.min, b.min), std::max(a.max, b.max)});
}

Val IndexFolder::Convert(Val x, uint32_t to) {
  const uint32_t from = table_.DType(x);
  if (from == to) return x;
  const auto fits = [](Range r, uint32_t source, uint32_t target) {
    const Range widest = WidestRange(target);
    if (source == RICCI_U64 || target == RICCI_U64) return source != RICCI_U64 && r.min >= 0;
    return r.min >= widest.min && r.max <= widest.max;
  };
  const ricci_inst inst = table_[x].inst;
  if (inst.op == RICCI_S_CONVERT && !types::IsFloating(table_.DType(inst.a)) &&
      fits(table_.RangeOf(inst.a), table_.DType(inst.a), from)) {
    return Convert(inst.a, to);
  }
  const LinearForm f = table_.FormOf(x);
  if (from == RICCI_I32 && to == RICCI_I64 && table_[x].has_form && table_.ExactRange(f, from)) {
    LinearForm wide = LinearForm::OfConstant(f.constant);
    for (const Term& t : f.terms) {
      if (wide.terms.size() <= kMaxTerms) wide = Combine(wide, table_.FormOf(Convert(t.atom, to)), t.factor, 64);
    }
    if (wide.terms.size() <= kMaxTerms) return Make(MergeDigits(wide, to), to);
  }
  bool fresh = false;
  const Val v = table_.Unique({RICCI_S_CONVERT, static_cast<uint16_t>(to), x, 0, 0, 0}, 0, &fresh);
  const Range r = table_.RangeOf(x);
  if (fresh && fits(r, from, to)) table_.Narrow(v, r);
  return v;
}

}}}  // namespace ricci::v0::kernel
