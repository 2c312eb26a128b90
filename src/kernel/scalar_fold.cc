#include "kernel/scalar_fold.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel/scalar/scalar_eval.h"
#include "kernel/scalar/scalar_float.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

bool IsComparison(uint32_t op) { return op >= RICCI_S_EQ && op <= RICCI_S_GE; }
bool IsIntegerOrBool(uint32_t dtype) { return types::IsInteger(dtype) || dtype == RICCI_BOOL; }

}  // namespace

Val ScalarFolder::Fold(uint32_t op, uint32_t result, const Val* operands, uint32_t n) {
  Val in[3] = {operands[0], n > 1 ? operands[1] : 0, n > 2 ? operands[2] : 0};
  // Functions are left to those who approximate them: whether an operand is known here depends on the schedule (a loop
  // that is unrolled), and bits must not.
  bool constant = !IsApproximated(op) || !types::IsFloating(table_.DType(in[0]));
  for (uint32_t i = 0; i < n; ++i) constant = constant && table_.IsConstant(in[i]);
  if (constant) {
    const ScalarFn fn = FindScalarFn(op, table_.DType(in[n - 1]), result);
    return table_.Constant(result, fn(table_.Bits(in[0]), table_.Bits(in[1]), table_.Bits(in[2])));
  }
  if (op == RICCI_S_GT || op == RICCI_S_GE) {
    op = op == RICCI_S_GT ? RICCI_S_LT : RICCI_S_LE;
    std::swap(in[0], in[1]);
  }
  if (const Val v = Simplify(op, result, in)) return v;
  return Emit(op, result, in, n);
}

Val ScalarFolder::FoldTwo(uint32_t op, Val x, Val y) {
  const Val in[] = {x, y};
  return Fold(op, RICCI_BOOL, in, 2);
}

Val ScalarFolder::Emit(uint32_t op, uint32_t result, const Val* in, uint32_t n) {
  const ricci_inst inst{
      static_cast<uint16_t>(op), static_cast<uint16_t>(result), in[0], n > 1 ? in[1] : 0, n > 2 ? in[2] : 0, 0};
  bool fresh = false;
  const Val v = table_.Unique(inst, 0, &fresh);
  if (fresh && IsIntegerOrBool(result)) table_.Narrow(v, RangeAfter(inst));
  return v;
}

Range ScalarFolder::RangeAfter(const ricci_inst& inst) const {
  const Range widest = WidestRange(inst.dtype);
  if (inst.dtype == RICCI_U64) return widest;
  const Range a = table_.RangeOf(inst.a), b = inst.b ? table_.RangeOf(inst.b) : a;
  switch (inst.op) {
    case RICCI_S_AND:
      if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
      return a.min >= 0 ? Range{0, a.max} : b.min >= 0 ? Range{0, b.max} : widest;
    case RICCI_S_SIGN:
      return {a.min > 0 ? 1 : a.min < 0 ? -1 : 0, a.max > 0 ? 1 : a.max < 0 ? -1 : 0};
    case RICCI_S_POPCOUNT:
    case RICCI_S_CLZ:
      return {0, 8 * static_cast<int64_t>(types::Info(inst.dtype).size)};
    case RICCI_S_SELECT: {
      const Range c = table_.RangeOf(inst.c);
      return {std::min(b.min, c.min), std::max(b.max, c.max)};
    }
    default:
      return widest;
  }
}

Val ScalarFolder::Simplify(uint32_t op, uint32_t result, const Val* in) {
  const uint32_t dtype = table_.DType(in[0]);
  if (op == RICCI_S_SELECT) return SimplifySelect(in[0], in[1], in[2]);
  if (op == RICCI_S_CONVERT) return SimplifyConvert(in[0], result);
  if (op == RICCI_S_NOT) return SimplifyNot(in[0]);
  if (op == RICCI_S_BITCAST) {
    if (table_.Is(in[0], RICCI_S_BITCAST)) return Fold(op, result, &table_[in[0]].inst.a, 1);
    return dtype == result ? in[0] : 0;
  }
  if (in[1] == 0) return SimplifyUnary(op, in[0]);
  if (in[2] != 0) return 0;
  if (IsComparison(op)) return SimplifyComparison(op, in[0], in[1]);
  if (types::IsFloating(dtype)) return SimplifyFloat(op, in[0], in[1]);
  if (op == RICCI_S_AND || op == RICCI_S_OR || op == RICCI_S_XOR) return SimplifyLogic(op, in[0], in[1]);
  if (dtype == RICCI_BOOL) return SimplifyLogic(op == RICCI_S_MIN ? RICCI_S_AND : RICCI_S_OR, in[0], in[1]);
  return HasForms(dtype) ? SimplifyForms(op, in[0], in[1]) : SimplifyInteger(op, in[0], in[1]);
}

// ---- logic, on bool and on bits of integers ----
Val ScalarFolder::SimplifyLogic(uint32_t op, Val x, Val y) {
  const uint32_t dtype = table_.DType(x);
  if (x == y) return op == RICCI_S_XOR ? table_.Constant(dtype, 0) : x;
  for (int turn = 0; turn < 2; ++turn, std::swap(x, y)) {
    std::optional<uint64_t> bits;
    if (table_.IsConstant(y)) bits = table_.Bits(y);
    if (const auto t = dtype == RICCI_BOOL ? Truth(y) : std::nullopt) bits = *t;
    if (!bits) continue;
    if (*bits == 0) return op == RICCI_S_AND ? table_.Constant(dtype, 0) : x;
    if (*bits != IdentityOf(RICCI_S_AND, dtype)) continue;
    if (op == RICCI_S_AND) return x;
    if (op == RICCI_S_OR) return table_.Constant(dtype, *bits);
    return Fold(RICCI_S_NOT, dtype, &x, 1);
  }
  if (dtype != RICCI_BOOL) return 0;
  const Val in[] = {x, y};
  return Emit(op, RICCI_BOOL, in, 2);  // MIN and MAX of bool become AND and OR
}

Val ScalarFolder::SimplifyNot(Val x) {
  const ricci_inst inst = table_[x].inst;
  if (inst.op == RICCI_S_NOT) return inst.a;
  if (inst.dtype != RICCI_BOOL) return 0;
  if (const auto t = Truth(x)) return Truthful(!*t);
  const bool ordered = !types::IsFloating(table_.DType(inst.a));
  switch (inst.op) {
    case RICCI_S_EQ:
      return FoldTwo(RICCI_S_NE, inst.a, inst.b);
    case RICCI_S_NE:
      return FoldTwo(RICCI_S_EQ, inst.a, inst.b);
    case RICCI_S_LT:
      return ordered ? FoldTwo(RICCI_S_LE, inst.b, inst.a) : 0;
    case RICCI_S_LE:
      return ordered ? FoldTwo(RICCI_S_LT, inst.b, inst.a) : 0;
    default:
      return 0;
  }
}

Val ScalarFolder::SimplifySelect(Val condition, Val yes, Val no) {
  if (yes == no) return yes;
  if (const auto t = Truth(condition)) return *t ? yes : no;
  if (table_.Is(condition, RICCI_S_NOT)) {
    const Val in[] = {table_[condition].inst.a, no, yes};
    return Fold(RICCI_S_SELECT, table_.DType(yes), in, 3);
  }
  if (const Val merged = MergeSelects(condition, yes, no)) return merged;
  if (table_.DType(yes) != RICCI_BOOL) return 0;
  const auto a = Truth(yes), b = Truth(no);
  if (a && b) return *a ? condition : Fold(RICCI_S_NOT, RICCI_BOOL, &condition, 1);
  if (a == true) return FoldTwo(RICCI_S_OR, condition, no);
  return b == false ? FoldTwo(RICCI_S_AND, condition, yes) : 0;
}

// c ? v : (d ? v : x) is (c | d) ? v : x, and c ? (d ? x : v) : v is (c & d) ? x : v: so a chain of updates with the
// same value is one choice.
Val ScalarFolder::MergeSelects(Val condition, Val yes, Val no) {
  const ricci_inst other = table_[no].inst, inner = table_[yes].inst;
  if (table_.Is(no, RICCI_S_SELECT) && other.b == yes) {
    const Val in[] = {FoldTwo(RICCI_S_OR, condition, other.a), yes, other.c};
    return Fold(RICCI_S_SELECT, table_.DType(yes), in, 3);
  }
  if (table_.Is(yes, RICCI_S_SELECT) && inner.c == no) {
    const Val in[] = {FoldTwo(RICCI_S_AND, condition, inner.a), inner.b, no};
    return Fold(RICCI_S_SELECT, table_.DType(yes), in, 3);
  }
  return 0;
}

Val ScalarFolder::SimplifyComparison(uint32_t op, Val x, Val y) {
  const uint32_t dtype = table_.DType(x);
  if (!IsIntegerOrBool(dtype)) return 0;
  if (const auto known = index_.Decide(op, x, y)) return Truthful(*known);
  if (dtype != RICCI_BOOL || (op != RICCI_S_EQ && op != RICCI_S_NE)) return 0;
  for (int turn = 0; turn < 2; ++turn, std::swap(x, y)) {
    if (const auto t = Truth(y)) return (*t == (op == RICCI_S_EQ)) ? x : Fold(RICCI_S_NOT, RICCI_BOOL, &x, 1);
  }
  return 0;
}

// ---- floats ----
bool ScalarFolder::IsFloat(Val v, double value) const {
  if (!table_.IsConstant(v)) return false;
  const double its = DecodeFloat(table_.DType(v), table_.Bits(v));
  return its == value && std::signbit(its) == std::signbit(value);
}

Val ScalarFolder::SimplifyFloat(uint32_t op, Val x, Val y) {
  switch (op) {
    case RICCI_S_ADD:
      return IsFloat(y, -0.0) ? x : IsFloat(x, -0.0) ? y : 0;
    case RICCI_S_SUB:
      return IsFloat(y, 0.0) ? x : 0;
    case RICCI_S_MUL:
      return IsFloat(y, 1) ? x : IsFloat(x, 1) ? y : 0;
    case RICCI_S_DIV:
      return IsFloat(y, 1) ? x : 0;
    case RICCI_S_MIN:
    case RICCI_S_MAX:
      return x == y ? x : 0;
    default:
      return 0;
  }
}

Val ScalarFolder::SimplifyUnary(uint32_t op, Val x) {
  const ricci_inst inst = table_[x].inst;
  const bool same = inst.op == op;
  if (inst.dtype == RICCI_F8E8M0FNU && inst.op == RICCI_S_NEG) return 0;  // NaN: it has no negative numbers
  if (op == RICCI_S_NEG && HasForms(inst.dtype)) return index_.MulByConstant(x, -1);
  if (op == RICCI_S_NEG) return same ? inst.a : 0;
  if (op == RICCI_S_ABS && types::IsInteger(inst.dtype)) {
    return inst.dtype != RICCI_U64 && table_.RangeOf(x).min >= 0 ? x : 0;
  }
  if (op == RICCI_S_ABS && inst.op == RICCI_S_NEG) return Fold(op, inst.dtype, &inst.a, 1);
  const bool idempotent = op == RICCI_S_ABS || op == RICCI_S_SIGN || op == RICCI_S_FLOOR || op == RICCI_S_CEIL ||
                          op == RICCI_S_ROUND || op == RICCI_S_ROUND_EVEN || op == RICCI_S_TRUNC;
  return same && idempotent ? x : 0;
}

Val ScalarFolder::SimplifyConvert(Val x, uint32_t to) {
  const ricci_inst inst = table_[x].inst;
  if (inst.dtype == to) return x;
  if (inst.op == RICCI_S_CONVERT && table_.DType(inst.a) == to) {
    const bool widened = types::IsFloating(to) && types::IsFloating(inst.dtype) &&
                         (inst.dtype == RICCI_F64 || (inst.dtype == RICCI_F32 && types::IsNarrowFloat(to)));
    if (widened || to == RICCI_BOOL) return inst.a;
  }
  return IsIntegerOrBool(inst.dtype) && types::IsInteger(to) ? index_.Convert(x, to) : 0;
}

// ---- integers ----
Val ScalarFolder::SimplifyForms(uint32_t op, Val x, Val y) {
  switch (op) {
    case RICCI_S_ADD:
      return index_.Add(x, y);
    case RICCI_S_SUB:
      return index_.Sub(x, y);
    case RICCI_S_MUL:
      return index_.Mul(x, y);
    case RICCI_S_DIV:
      return index_.Div(x, y);
    case RICCI_S_REM:
      return index_.Rem(x, y);
    case RICCI_S_MIN:
    case RICCI_S_MAX:
      return index_.MinMax(op, x, y);
    default:
      return SimplifyShift(op, x, y);
  }
}

Val ScalarFolder::SimplifyShift(uint32_t op, Val x, Val y) {
  const auto count = table_.IntegerOf(y);
  const int64_t bits = 8 * static_cast<int64_t>(types::Info(table_.DType(x)).size);
  const bool shift = op == RICCI_S_SHL || op == RICCI_S_SHR || op == RICCI_S_SAR;
  if (!shift || !count) return 0;
  if (*count == 0) return x;
  if (*count < 0 || *count >= bits - 1 || !HasForms(table_.DType(x))) return 0;
  const int64_t power = int64_t{1} << *count;
  if (op == RICCI_S_SHL) return index_.MulByConstant(x, power);
  return table_.RangeOf(x).min >= 0 ? index_.Div(x, table_.Integer(table_.DType(x), power)) : 0;
}

Val ScalarFolder::SimplifyInteger(uint32_t op, Val x, Val y) {
  const auto a = table_.IntegerOf(x), b = table_.IntegerOf(y);
  switch (op) {
    case RICCI_S_ADD:
      return b == 0 ? x : a == 0 ? y : 0;
    case RICCI_S_SUB:
      return b == 0 ? x : x == y ? table_.Integer(table_.DType(x), 0) : 0;
    case RICCI_S_MUL:
      if (a == 0 || b == 0) return a == 0 ? x : y;
      return b == 1 ? x : a == 1 ? y : 0;
    case RICCI_S_DIV:
      return b == 1 ? x : 0;
    case RICCI_S_MIN:
    case RICCI_S_MAX:
      return x == y ? x : index_.MinMax(op, x, y);
    default:
      return SimplifyShift(op, x, y);
  }
}

// ---- facts ----
std::optional<bool> ScalarFolder::Truth(Val condition) const {
  const Range r = table_[condition].range;
  return r.min == r.max ? std::optional(r.min != 0) : std::nullopt;
}

void ScalarFolder::AssumeRange(Val v, Range r, FactLog* log) {
  if (table_.IsConstant(v)) return;
  log->push_back({v, table_[v].range});
  table_.Narrow(v, r);
  const LinearForm f = table_.FormOf(v);
  const bool shifted = table_[v].has_form && f.terms.size() == 1 && f.terms[0].factor == 1;
  if (!shifted || !table_.ExactRange(f, table_.DType(v))) return;
  const auto less = [&](int64_t bound) {
    int64_t d = 0;
    if (!__builtin_sub_overflow(bound, f.constant, &d)) return d;
    return f.constant > 0 ? INT64_MIN : INT64_MAX;
  };
  AssumeRange(f.terms[0].atom, {less(r.min), less(r.max)}, log);
}

void ScalarFolder::AssumeOrder(uint32_t op, Val x, Val y, FactLog* log) {
  const uint32_t dtype = table_.DType(x);
  if (!types::IsInteger(dtype) || dtype == RICCI_U64) return;
  const Range a = table_.RangeOf(x), b = table_.RangeOf(y);
  const int64_t gap = op == RICCI_S_LT ? 1 : 0;
  if (op == RICCI_S_EQ) {
    AssumeRange(x, b, log);
    return AssumeRange(y, a, log);
  }
  if (b.max != INT64_MIN) AssumeRange(x, {INT64_MIN, b.max - gap}, log);
  if (a.min != INT64_MAX) AssumeRange(y, {a.min + gap, INT64_MAX}, log);
}

void ScalarFolder::Assume(Val condition, bool truth, FactLog* log) {
  if (table_.IsConstant(condition)) return;
  const ricci_inst inst = table_[condition].inst;
  log->push_back({condition, table_[condition].range});
  table_.Narrow(condition, {truth, truth});
  switch (inst.op) {
    case RICCI_S_NOT:
      return Assume(inst.a, !truth, log);
    case RICCI_S_AND:
    case RICCI_S_OR:
      if (truth != (inst.op == RICCI_S_AND)) return;
      Assume(inst.a, truth, log);
      return Assume(inst.b, truth, log);
    case RICCI_S_LT:
      return truth ? AssumeOrder(RICCI_S_LT, inst.a, inst.b, log) : AssumeOrder(RICCI_S_LE, inst.b, inst.a, log);
    case RICCI_S_LE:
      return truth ? AssumeOrder(RICCI_S_LE, inst.a, inst.b, log) : AssumeOrder(RICCI_S_LT, inst.b, inst.a, log);
    case RICCI_S_EQ:
    case RICCI_S_NE:
      if (truth == (inst.op == RICCI_S_EQ)) AssumeOrder(RICCI_S_EQ, inst.a, inst.b, log);
      return;
    default:
      return;
  }
}

void ScalarFolder::Forget(FactLog* log) {
  for (auto it = log->rbegin(); it != log->rend(); ++it) table_[it->first].range = it->second;
  log->clear();
}

}}}  // namespace ricci::v0::kernel
