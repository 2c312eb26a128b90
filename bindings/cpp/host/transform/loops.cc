// Loops over lists of leaves.
#include "ricci/loops.hpp"

#include <algorithm>

#include "host/core/holding_equation.h"
#include "ricci/lax.hpp"

namespace ricci { inline namespace v0 {
namespace {

// `skipped`: the first leaves are not the user's.
void WantSameCarry(const CallSite& site, std::span<const ricci_type> in, std::span<const ricci_type> out, size_t n_out,
                   size_t skipped) {
  if (in.size() != n_out) {
    site.Fail("the body takes a carry of ", Count(in.size() - skipped, "array"), " and gives one of ", n_out - skipped);
  }
  for (size_t i = skipped; i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    site.Fail("leaf ", i - skipped, " of the carry enters as ", ArrayType(site.context(), in[i]), " and ends as ",
              ArrayType(site.context(), out[i]));
  }
}

}  // namespace

void FailOnCarry(const CallSite& site) {
  site.Fail(
      "the carry leaves with other sizes, keys or numbers in its tree than it entered with; keep what changes in a "
      "Value");
}

namespace {

// The types of the carry and of one slice of the inputs; sets options.length.
std::vector<ricci_type> ScanTypes(const CallSite& site, const Values& carry, const Values& inputs,
                                  ScanOptions& options) {
  std::vector<ricci_type> types = TypesOf(carry);
  for (const Value& v : inputs) {
    const ArrayType t = v.type();
    if (t.rank() == 0) site.Fail("input ", t, " has no dimension to run over");
    if (options.length >= 0 && t.dim(0) != options.length) {
      site.Fail("input ", t, " has ", Count(t.dim(0), "slice"), ", not ", options.length);
    }
    options.length = t.dim(0);
    types.push_back(t.WithShape(t.shape().subspan(1)).id());
  }
  if (options.length < 0) site.Fail("without inputs it needs a length");
  return types;
}

// `skipped`: leaves of the carry that are not the user's.
Values EmitScan(const CallSite& site, const Closed<Value>& body, const Values& carry, const Values& inputs,
                size_t n_carry, size_t skipped, const ScanOptions& options) {
  WantSameCarry(site, TypesOf(carry), body.program.results(), n_carry, skipped);
  const Program program = LastFirst(site, body.program, carry.size() + inputs.size());
  return EmitHolding(site, "scan", Joined(Joined(body.captured, carry), inputs), program.results().size(),
                     {{"body", program.handle()},
                      {"length", options.length},
                      {"reverse", options.reverse},
                      {"num_consts", body.captured.size()},
                      {"num_carry", n_carry},
                      {"unroll", options.unroll}});
}

}  // namespace

Values ScanLeaves(const CallSite& site, LeafFunction body, const size_t& n_carry, const Values& carry,
                  const Values& inputs, const ScanOptions& wanted) {
  ScanOptions options = wanted;
  const std::vector<ricci_type> types = ScanTypes(site, carry, inputs, options);
  const Closed<Value> closed = Close(site, body, types);
  return EmitScan(site, closed, carry, inputs, n_carry, /*skipped=*/0, options);
}

namespace {

Values EmitWhile(const CallSite& site, LeafFunction condition, LeafFunction body, const Values& carry, size_t skipped,
                 const WhileOptions& options) {
  const std::vector<ricci_type> types = TypesOf(carry);
  const Closed<Value> test = Close(site, condition, types), step = Close(site, body, types);
  const ArrayType flag(site.context(), test.program.results()[0]);
  if (flag.rank() != 0 || flag.dtype() != DType::kBool) site.Fail("the condition gives ", flag, ", not a bool scalar");
  WantSameCarry(site, types, step.program.results(), step.program.results().size(), skipped);
  const Program cond = LastFirst(site, test.program, types.size()), next = LastFirst(site, step.program, types.size());
  const Values in = Joined(Joined(test.captured, step.captured), carry);
  ricci_program *const cond_handle = cond.handle(), *const body_handle = next.handle();
  const Attr conds("cond", cond_handle), bodies("body", body_handle);
  const Attr n_cond("cond_nconsts", test.captured.size()), n_body("body_nconsts", step.captured.size());
  if (options.max_trips < 0) return EmitHolding(site, "while", in, carry.size(), {conds, bodies, n_cond, n_body});
  return EmitHolding(site, "while", in, carry.size(),
                     {conds, bodies, n_cond, n_body, {"max_trips", options.max_trips}});
}

// A bound of fori_loop as a scalar here; both get the dtype of the other.
std::pair<Value, Value> LoopBounds(const CallSite& site, const Operand& lower, const Operand& upper) {
  const Operand both[] = {lower, upper};
  for (const Operand& x : both) {
    const bool integer = x.weak == Weak::kInt || IsInt(x.dtype());
    if (integer && x.shape().empty()) continue;
    site.Fail("a bound is ", x.weak == Weak::kNone ? Text(x.dtype(), x.shape()) : "a number",
              ", not an integer scalar");
  }
  const DType dtype = PromotedDType(site, both);
  const auto use = [&](const Operand& x) { return lax::convert_element_type(site.Lift(x, dtype), dtype); };
  return {use(lower), use(upper)};
}

// The counter and the carry after one step of f.
Values CountStep(const LeafFunction& f, const CallSite& inside, const Values& s) {
  Values out{lax::add(s[0], lax::ones_like(s[0]))};
  for (const Value& v : f(inside, s)) out.push_back(v);
  return out;
}

}  // namespace

Values WhileLeaves(const CallSite& site, LeafFunction condition, LeafFunction body, const Values& carry,
                   const WhileOptions& options) {
  return EmitWhile(site, condition, body, carry, /*skipped=*/0, options);
}

Values CountLeaves(const CallSite& site, LeafFunction f, const Operand& first, const Operand& last,
                   const Values& carry) {
  auto step = [&](const CallSite& inside, const Values& s) { return CountStep(f, inside, s); };
  Values all;
  if (first.weak == Weak::kInt && last.weak == Weak::kInt) {
    const Values state = Joined({site.Constant(first, kDefaultInt, {})}, carry);
    const int64_t from = first.int64(site.name), to = last.int64(site.name);
    int64_t trips = 0;
    if (to > from && __builtin_sub_overflow(to, from, &trips)) {
      site.Fail("from ", from, " to ", to, " is too many trips");
    }
    const Closed<Value> closed = Close(site, step, TypesOf(state));
    all = EmitScan(site, closed, state, {}, closed.program.results().size(), /*skipped=*/1, {trips, false, 1});
  } else {
    const auto [from, to] = LoopBounds(site, first, last);
    auto more = [&, &to = to](const CallSite&, const Values& s) { return Values{lax::lt(s[0], to)}; };
    all = EmitWhile(site, more, step, Joined({from}, carry), /*skipped=*/1, {});
  }
  return Part(all, 1, all.size() - 1);
}

}}  // namespace ricci::v0
