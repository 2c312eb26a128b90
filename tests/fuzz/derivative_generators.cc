// Functions with a custom derivative or batch, and values with a promise.
//
// The custom derivative or batch equals the function's own, so every law still holds.
//
// Forward mode goes through the plain function, because custom_vjp has none.
#include "fuzz/generators.h"
#include "fuzz/program_transforms.h"
#include "trace/attrs.h"

namespace ricci::testing {
namespace {

// A function of one or two floating values.
struct Function {
  Values in;
  Program body;
};
Function SomeFunction(Draft& d) {
  Function f;
  std::vector<ArrayType> params;
  for (int64_t n = d.dice().Between(1, 2); n > 0; --n) {
    const Value found = d.Find(kFloats, [](const ArrayType& t) { return t.elements() <= 256; });
    f.in.push_back(found.is_none() ? d.Fresh(d.Type(d.SomeDType(kFloats), d.SomeShape(1))) : found);
    params.push_back(f.in.back().type());
  }
  Draft body(d, params);
  body.Grow(d.dice().Between(1, 5));
  Values out;
  for (int64_t n = d.dice().Between(1, 2); n > 0; --n) out.push_back(body.Find(kAny, {}));
  f.body = body.Finish(out);
  return f;
}
// Calls `make`; rows without a derivative are not drawn.
template <typename Make>
void IfDerivable(const Make& make) {
  try {
    make();
  } catch (const Error& e) {
    if (!MayBeRefused(e)) throw;
  }
}

// `rule`, whose first results are those of `f`: sometimes it applies f itself to get them, so its derivatives need
// the rule again.
Program MaybeRecursive(Draft& d, std::string_view primitive, const Function& f, const Program& rule) {
  if (!d.dice().Chance(0.4)) return rule;
  Draft body(d, ParamsOf(d.context(), rule.get()));
  ricci_program *call = f.body.get(), *plain = rule.get();
  const Values params = body.params(), in(params.begin(), params.begin() + static_cast<int64_t>(f.in.size()));
  const Values self = body.Emit(primitive, in, {{"call", call}, {"self", 1}});
  Values out = body.Emit("call", params, {{"body", plain}, {"name", "rule"}});
  if (self.empty() || out.empty()) return rule;
  std::copy(self.begin(), self.end(), out.begin());
  d.Count(Text(primitive, " whose rule applies it"));
  return body.Finish(out);
}

void CustomJvp(Draft& d) {
  const Function f = SomeFunction(d);
  IfDerivable([&] {
    const Program plain = JvpOf(WithoutCustomRules(f.body), Mask(f.in.size(), 1));
    const Program rule = MaybeRecursive(d, "custom_jvp", f, plain);
    ricci_program *call = f.body.get(), *jvp = rule.get();
    d.Emit("custom_jvp", f.in, {{"call", call}, {"jvp", jvp}});
  });
}
void CustomVjp(Draft& d) {
  const Function f = SomeFunction(d);
  IfDerivable([&] {
    const ReverseMode halves = VjpOf(f.body, Mask(f.in.size(), 1));
    const Program forward = MaybeRecursive(d, "custom_vjp", f, halves.fwd);
    ricci_program *call = f.body.get(), *fwd = forward.get(), *bwd = halves.bwd.get();
    d.Emit("custom_vjp", f.in, {{"call", call}, {"fwd", fwd}, {"bwd", bwd}});
  });
}

ricci_status* BatchBody(void*, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  const ricci_program* body = ir::Abi(&trace::ProgramOf(trace::AttrsOf(*op), "body"));
  std::vector<uint8_t> batched, out_batched(op->n_out, 0);
  for (uint32_t i = 0; i < op->n_in; ++i) batched.push_back(a->in_dims[i] >= 0);
  ricci_program* made = nullptr;
  if (ricci_status* s = ricci_batch(body, batched.data(), op->n_in, a->axis_size, nullptr, out_batched.data(), &made))
    return s;
  ricci_status* const s = ricci_builder_inline(b, made, a->in, op->n_in, a->out, op->n_out);
  ricci_program_release(made);
  for (uint32_t i = 0; i < op->n_out; ++i) a->out_dims[i] = out_batched[i] ? 0 : -1;
  return s;
}
void CustomVmap(Draft& d) {
  const Function f = SomeFunction(d);
  ricci_program* body = f.body.get();
  d.Emit("custom_vmap", f.in, {{"rule", kBatchOfBody}, {"body", body}});
}

// A program of one constant and a vector of one array of type `t`.
Program OfVector(Draft& d, const ArrayType& t, const std::function<Value(const Value& c, const Value& x)>& f,
                 bool more = false) {
  Draft body(d, {t, t});
  Values results = {f(body.params()[0], body.params()[1])};
  if (more) results.push_back(lax::lt(results[0], body.params()[0]));
  return body.Finish(results);
}
// A scales elements and reverses them: its transpose does both in the other order.
void LinearSolve(Draft& d) {
  Value x = d.Find(kFloats, [](const ArrayType& t) { return t.elements() <= 256; });
  if (x.is_none()) x = d.Fresh(d.Type(d.SomeDType(kFloats), d.SomeShape(1)));
  const ArrayType t = x.type();
  const Value scale = lax::add(lax::tanh(x), lax::full_like(x, 2.0));
  const auto turned = [](const Value& v) { return lax::rev(v, rules::Range(v.rank())); };
  const Program matvec = OfVector(d, t, [&](const Value& c, const Value& v) { return turned(lax::mul(c, v)); });
  const Program vecmat = OfVector(d, t, [&](const Value& c, const Value& v) { return lax::mul(c, turned(v)); });
  const bool more = d.dice().Chance(0.3);  // results of the solver besides the solution
  const Program solve = OfVector(
      d, t, [&](const Value& c, const Value& v) { return lax::div(turned(v), c); }, more);
  const Program back = OfVector(
      d, t, [&](const Value& c, const Value& v) { return turned(lax::div(v, c)); }, more);
  ricci_program* const programs[] = {matvec.get(), vecmat.get(), solve.get(), back.get()};
  d.Emit("custom_linear_solve", {scale, scale, scale, scale, d.Of(t)},
         {{"matvec", programs[0]}, {"vecmat", programs[1]}, {"solve", programs[2]}, {"transpose_solve", programs[3]}});
}

// The same map with its transpose, as it is; its constant has no tangent.
void LinearCall(Draft& d) {
  const Value x = d.Any(kFloats);
  const ArrayType t = x.type();
  const Value scale = d.palette().smooth ? lax::full_like(x, 0.5) : lax::stop_gradient(lax::tanh(d.Of(t)));
  const auto turned = [](const Value& v) { return lax::rev(v, rules::Range(v.rank())); };
  const Program map = OfVector(d, t, [&](const Value& c, const Value& v) { return turned(lax::mul(c, v)); });
  const Program back = OfVector(d, t, [&](const Value& c, const Value& v) { return lax::mul(c, turned(v)); });
  ricci_program *call = map.get(), *transpose = back.get();
  d.Emit("linear_call", {scale, x}, {{"call", call}, {"transpose", transpose}, {"num_residuals", 1}});
}

// Most promises hold; the compiler cannot know.
void Checked(Draft& d) {
  Value promise = d.Of(DType::kBool, {});
  if (d.palette().smooth || d.dice().Chance(0.97)) {
    const Values no = d.Emit("not", {promise});
    promise = d.Emit("or", {promise, no[0]})[0];
  }
  d.Emit("check", {promise, d.Any()},
         {{"code", static_cast<int64_t>(kBrokenPromise)}, {"message", "a promise was drawn that does not hold"}});
}

constexpr Generator kDerivatives[] = {
    {3, true, CustomJvp}, {1, true, CustomVjp}, {1, true, CustomVmap}, {1, true, LinearSolve}, {1, true, LinearCall}};
constexpr Generator kChecks[] = {{1, true, Checked}};

}  // namespace

void AddBatchRule(ricci_ctx* ctx) {
  ricci_callback rule{};
  rule.hdr.size = sizeof rule;
  rule.batch = BatchBody;
  Check(ricci_context_add_callback(ctx, kBatchOfBody.data(), kBatchOfBody.size(), &rule));
}
std::span<const Generator> DerivativeGenerators() { return kDerivatives; }
std::span<const Generator> CheckGenerators() { return kChecks; }

}  // namespace ricci::testing
