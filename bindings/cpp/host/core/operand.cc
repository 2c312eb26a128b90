// Operands of numpy-like functions brought into one program, one dtype and one shape.
#include "ricci/operand.hpp"

#include "host/core/tracing.h"
#include "ricci/lax.hpp"

namespace ricci { inline namespace v0 {

Operand::Operand(const Value& v, Location at) : at(at), value(v) {}
Operand::Operand(const Array& a, Location at) : at(at), array(&a) {}
Operand::Operand(const Context& c, Location at) : at(at), ctx(c.handle()) {}
Operand::Operand(Weak kind, double real, int64_t integer, const Location& at, double imag)
    : at(at), weak(kind), real(real), imag(imag), integer(integer) {}
Operand::Operand(const Operand& o) = default;
Operand& Operand::operator=(const Operand& o) = default;
Operand::~Operand() = default;

DType Operand::dtype() const {
  if (is_number() || ctx != nullptr) return DType::kNone;
  return array != nullptr ? array->dtype() : value.dtype();
}
Dims Operand::shape() const {
  if (is_number() || ctx != nullptr) return {};
  return array != nullptr ? array->shape() : value.shape();
}

int64_t Operand::int64(std::string_view name) const {
  if (is_above_int64()) {
    FailAt(at, name, ": the number ", static_cast<uint64_t>(integer), " is too large; the largest is ", INT64_MAX);
  }
  return integer;
}

namespace {

Element ElementOf(const Operand& number, DType dtype) {
  if (number.weak == Weak::kComplex) return Encode(dtype, std::complex<double>(number.real, number.imag));
  if (number.is_above_int64()) {
    const auto exact = static_cast<uint64_t>(number.integer);
    if (IsInt(dtype) && dtype != DType::kU64) {
      FailAt(number.at, "the number ", exact, " does not fit ", dtype,
             "; convert the operand to u64 or a floating dtype");
    }
    return dtype == DType::kU64 ? Encode(dtype, exact) : EncodeFloat(dtype, number.real);
  }
  return number.weak == Weak::kFloat ? Encode(dtype, number.real) : Encode(dtype, number.integer);
}

}  // namespace

Array ConcreteNumber(ricci_ctx* ctx, const Operand& number, DType dtype) {
  return Array(Context(ctx), dtype, {}, ElementOf(number, dtype).bytes.data(), number.at);
}

Value CallSite::Constant(const Operand& number, DType dtype, Dims shape) const {
  const ArrayType type = MakeTypeAt(at, context(), dtype, shape);
  const Element e = ElementOf(number, dtype);
  Value v{builder, RICCI_VAL_NONE, scope};
  Check(ricci_builder_const(builder, type.id(), e.bytes.data(), e.size, &v.id));
  return v;
}

bool CallSite::is_outside() const {
  const Trace* const t = scope == nullptr ? nullptr : TraceOf(scope);
  return t != nullptr && t->parent() == nullptr && t->is_deferred();
}

namespace {

// A number of the host as an operand of an operation on Arrays alone: for another number the same program runs again.
Value NumberOperand(const CallSite& site, const Operand& number, DType dtype, Dims shape) {
  const Array scalar = ConcreteNumber(site.context(), number, dtype);
  return BroadcastValue(site.scope->Capture(TraceOf(site.scope)->CaptureArray(site, scalar)), shape);
}

}  // namespace

Value CallSite::Lift(const Operand& x, DType dtype, Dims shape) const {
  if (x.weak != Weak::kNone) return is_outside() ? NumberOperand(*this, x, dtype, shape) : Constant(x, dtype, shape);
  if (x.ctx != nullptr) Fail("a context holds no elements; it can only be where an array is made");
  if (x.array == nullptr) return x.value.builder != builder && scope != nullptr ? scope->Capture(x.value) : x.value;
  if (scope == nullptr) Fail("an array cannot be used in a rule; make it a constant");
  if (x.array->context() != context()) {
    Fail("the array ", x.array->type(), " belongs to another context; make all arrays of a call in one");
  }
  return scope->Capture(TraceOf(scope)->CaptureArray(*this, *x.array));
}

namespace {

void WantReach(const CallSite& site, const Value& v) {
  if (v.builder == site.builder || site.scope == nullptr || TraceOf(site.scope)->Reaches(v.builder)) return;
  if (IsPending(v) && v.context() == site.context()) return;
  const bool same = v.context() == site.context();
  site.Fail("operands belong to two ", same ? "functions, neither nested in the other" : "contexts", ": ", v.type(),
            " and a value of ", same ? "the one being traced; pass it as an argument" : "another; use one for all");
}

// The depth of a program; those that operations on Arrays began come last, because their values can be computed.
int64_t NearnessOf(Scope* scope) {
  constexpr int64_t kDeferred = int64_t{1} << 40;
  if (scope == nullptr) return 0;
  return static_cast<int64_t>(scope->depth()) - (TraceOf(scope)->is_deferred() ? kDeferred : 0);
}

// Where an operation on no traced values goes: a new program of the context of its arrays.
void Defer(CallSite& site, std::span<const Operand> xs) {
  for (const Operand& x : xs) {
    if (site.ctx == nullptr && x.array != nullptr) site.ctx = x.array->context();
    if (site.ctx == nullptr && x.is_value()) site.ctx = x.value.context();
    if (site.ctx == nullptr && x.ctx != nullptr) site.ctx = x.ctx;
  }
  if (site.ctx == nullptr) site.Fail("no operand is an array or a traced value; make one of a context");
  site = DeferredSite({site.name, site.at, nullptr, nullptr, site.ctx});
}
// A pending program of this many operations, or operands, is left to itself, so that a host's loop does not make it
// longer and longer: its values are computed, and the next operation begins another one. A kernel of many operands
// takes long to compile.
constexpr uint32_t kLongestDeferred = 1024;
constexpr size_t kMostOperands = 128;
bool IsLong(const CallSite& site) {
  if (!site.is_outside()) return false;
  Trace& t = *TraceOf(site.scope);
  return ++t.operations > kLongestDeferred || t.array_count() > kMostOperands;
}
void ComputeOperands(const CallSite& site, std::span<const Operand> xs) {
  const CallSite outside{site.name, site.at, nullptr, nullptr, site.context()};
  Values pending;
  for (const Operand& x : xs) {
    if (x.is_value() && IsPending(x.value) && x.value.context() == outside.ctx) pending.push_back(x.value);
  }
  ComputeAll(outside, pending);
}

}  // namespace

CallSite SiteOf(std::string_view name, std::span<const Operand> xs) {
  CallSite site{name, xs[0].at, nullptr, nullptr};
  for (const Operand& x : xs) {
    if (x.array != nullptr && x.array->empty()) site.Fail("an array was never set");
    if (!x.is_value()) continue;
    CheckOpen(x.value, site.at, name);
    if (site.builder != nullptr && NearnessOf(x.value.scope) <= NearnessOf(site.scope)) continue;
    site.builder = x.value.builder;
    site.scope = x.value.scope;
  }
  if (site.builder == nullptr) {
    Defer(site, xs);
  } else if (IsLong(site)) {
    ComputeOperands(site, xs);
    Defer(site, xs);
  }
  for (const Operand& x : xs) {
    if (x.is_value()) WantReach(site, x.value);
  }
  SetLocation(site.builder, site.at);
  return site;
}

Value Use(std::string_view name, const Operand& x) { return SiteOf(name, {&x, 1}).Lift(x, DType::kNone); }

Value UseInexact(std::string_view name, const Operand& x) {
  const Value v = Use(name, x);
  return lax::convert_element_type(v, ToInexact(v.dtype()));
}

DType PromotedDType(const CallSite& site, std::span<const Operand> xs) {
  DType d = DType::kNone;
  for (const Operand& x : xs) {
    if (x.weak != Weak::kNone) continue;
    if (x.ctx != nullptr) site.Fail("a context holds no elements; it can only be where an array is made");
    const DType next = Promote(d, x.dtype());
    if (next == DType::kNone) site.Fail("dtypes ", d, " and ", x.dtype(), " have no common dtype");
    d = next;
  }
  for (const Operand& x : xs) d = PromoteWeak(d, x.weak);
  return d;
}

Shape BroadcastShape(const CallSite& site, std::span<const Operand> xs) {
  Shape shape;
  for (const Operand& x : xs) {
    const Shape before = shape;
    if (!BroadcastInto(shape, x.shape())) site.Fail("shapes ", before, " and ", x.shape(), " do not broadcast");
  }
  return shape;
}

Value BroadcastValue(const Value& x, Dims shape) {
  if (SameDims(x.shape(), shape)) return x;
  return lax::broadcast_in_dim(x, shape, CountFrom(static_cast<int64_t>(shape.size()) - x.rank(), x.rank()));
}

Values UseTogether(std::string_view name, std::span<const Operand> xs, bool inexact) {
  const CallSite site = SiteOf(name, xs);
  DType dtype = PromotedDType(site, xs);
  if (inexact) dtype = ToInexact(dtype);
  const Shape shape = BroadcastShape(site, xs);
  Values out;
  for (const Operand& x : xs) {
    const Value v = lax::convert_element_type(site.Lift(x, dtype, shape), dtype);
    out.push_back(BroadcastValue(v, shape));
  }
  return out;
}

Value Binary(std::string_view name, std::string_view prim, const Operand& a, const Operand& b, bool inexact) {
  const Operand in[] = {a, b};
  return Emit1(prim, UseTogether(name, in, inexact));
}

int64_t Axis(std::string_view name, const Location& at, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    FailAt(at, name, ": axis ", axis, " is out of range for ", Count(rank, "dimension"));
  return axis < 0 ? axis + rank : axis;
}

}}  // namespace ricci::v0
