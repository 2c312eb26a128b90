// vjp and linearize over lists of leaves, inside of a trace and outside.
#include "ricci/linear_map.hpp"

#include <algorithm>
#include <utility>

#include "host/core/tracing.h"
#include "ricci/lax.hpp"

namespace ricci { inline namespace v0 {

namespace {

// A map made outside of a trace runs often: it is compiled once.
void Prepare(const CallSite&, LeafMap<Value>&) {}
void Prepare(const CallSite& site, LeafMap<Array>& map) {
  map.executable = Executable::compile(map.program, CommittedDevice(map.residuals), {}, site.at);
}

template <typename L>
LinearParts<L> Finish(const CallSite& site, LinearParts<L> parts, const std::vector<L>& all, size_t n) {
  parts.value = Part(all, 0, n);
  parts.map.name = site.name;
  parts.map.ctx = site.context();
  parts.map.residuals = Part(all, n, all.size() - n);
  Prepare(site, parts.map);
  return parts;
}

// The results of f, then the tangents of all but the auxiliary results.
template <typename L>
Program Tangents(const CallSite& site, const Closed<L>& f, const std::vector<uint8_t>& active, size_t n) {
  const Program j = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_jvp(f.program.handle(), active.data(), static_cast<uint32_t>(active.size()), out);
  });
  const std::span<const ricci_type> results = f.program.results();
  if (n == results.size()) return j;
  const auto mask = FloatMask(site.context(), results, n);
  const size_t kept = results.size() + static_cast<size_t>(std::count(mask.begin(), mask.end(), 1));
  auto first = [&](const CallSite&, const Values& params) { return Part(Inline(j, params), 0, kept); };
  return Close<L>(site, first, j.params()).program;
}

// f split into what the point determines and a linear function of tangents.
struct Split {
  Program known;   // operands of f -> results of f, residuals
  Program linear;  // residuals, tangents of the floating leaves -> tangents
  size_t n_residuals;
};
// The first `n` results of f have tangents.
template <typename L>
Split SplitOf(const CallSite& site, const Closed<L>& f, const std::vector<uint8_t>& active, size_t n) {
  const Program j = Tangents(site, f, active, n);
  // The primals, and what follows from them, are known; tangents are not.
  std::vector<uint8_t> known(j.params().size(), 0), force(j.results().size(), 1), out_known(j.results().size(), 0);
  std::fill_n(known.begin(), active.size(), 1);
  std::fill_n(force.begin(), f.program.results().size(), 0);
  uint32_t n_residuals = 0;
  ricci_program *primal = nullptr, *linear = nullptr;
  ricci_partial_eval_opts options = ricci_partial_eval_opts_default();
  options.force_unknown = force.data();
  CheckAt(site.at, ricci_partial_eval(j.handle(), known.data(), static_cast<uint32_t>(known.size()), &options,
                                      out_known.data(), &n_residuals, &primal, &linear));
  return {Program(primal), Program(linear), n_residuals};
}

// The results of f and residuals, and a linear function of residuals and either cotangents or tangents.
struct Halves {
  Program known, linear;
};
// The first `n` results of f have tangents.
template <typename L>
Halves ForwardHalvesOf(const CallSite& site, const Closed<L>& f, const std::vector<uint8_t>& active, size_t n) {
  const Split split = SplitOf(site, f, active, n);
  return {split.known, split.linear};
}
// The first `n` results of f have cotangents.
template <typename L>
Halves ReverseHalvesOf(const CallSite& site, const Closed<L>& f, const std::vector<uint8_t>& wanted, size_t n) {
  if (n == f.program.results().size()) {
    ricci_program *fwd = nullptr, *bwd = nullptr;
    CheckAt(site.at, ricci_vjp(f.program.handle(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd));
    return {Program(fwd), Program(bwd)};
  }
  const Split split = SplitOf(site, f, wanted, n);
  std::vector<uint8_t> linear(split.linear.params().size(), 1);
  std::fill_n(linear.begin(), split.n_residuals, 0);
  const Program back = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_linear_transpose(split.linear.handle(), linear.data(), static_cast<uint32_t>(linear.size()), nullptr,
                                  nullptr, out);
  });
  return {split.known, back};
}

enum class Mode { kReverse, kForward };
template <typename L>
LinearParts<L> Linear(const CallSite& site, LeafFunction f, const std::vector<L>& x, const size_t* n_main, Mode mode) {
  const Closed<L> closed = Close<L>(site, f, TypesOf(x));
  const auto active = FloatMask(site.context(), closed.program.params(), x.size());
  const std::span<const ricci_type> results = closed.program.results();
  const size_t n = n_main == nullptr ? results.size() : *n_main;
  std::vector<ricci_type> from = TypesOf(x), to(results.begin(), results.begin() + n);
  const bool reverse = mode == Mode::kReverse;
  if (reverse) std::swap(from, to);
  const Halves halves = reverse ? ReverseHalvesOf(site, closed, active, n) : ForwardHalvesOf(site, closed, active, n);
  LinearParts<L> parts;
  parts.map = {{}, reverse ? "cotangent" : "tangent", nullptr, halves.linear, {}, {}, from, to};
  return Finish(site, std::move(parts), Apply(site, halves.known, Joined(x, closed.captured)), results.size());
}

// Of pending values the map is made outside of a trace, so that it keeps the elements of what the point determines and
// does not compute them again whenever it is applied.
LinearParts<Value> LinearOfValues(const CallSite& site, LeafFunction f, const Values& x, const size_t* n_main,
                                  Mode mode) {
  if (!site.is_outside()) return Linear(site, f, x, n_main, mode);
  const CallSite outside{site.name, site.at, nullptr, nullptr, site.context()};
  ComputeAll(outside, x);
  LinearParts<Array> arrays = Linear(outside, f, Arrays(x.begin(), x.end()), n_main, mode);
  const auto lifted = [&](const Arrays& from) {
    Values out;
    for (const Array& a : from) out.push_back(LiftLeaf(site, a));
    return out;
  };
  LeafMap<Array>& map = arrays.map;
  return {lifted(arrays.value), {map.name, map.what, map.ctx, map.program, {}, lifted(map.residuals), map.in, map.out}};
}

// Throws unless the leaves given are of the types that the map takes.
template <typename L>
void WantTypes(const Location& at, const LeafMap<L>& map, const std::vector<ricci_type>& given) {
  if (given.size() != map.in.size()) {
    FailAt(at, map.name, ": the ", map.what, " has ", Count(given.size(), "array"), ", not ", map.in.size());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == map.in[i]) continue;
    FailAt(at, map.name, ": leaf ", i, " of the ", map.what, " is ", ArrayType(map.ctx, given[i]), "; it must be ",
           ArrayType(map.ctx, map.in[i]));
  }
}
// The residuals, then the floating leaves of `given`.
template <typename L>
std::vector<L> Operation(std::vector<L> residuals, const std::vector<L>& given) {
  for (const L& v : given) {
    if (IsInexact(v.dtype())) residuals.push_back(v);
  }
  return residuals;
}
// The floating results in their places, `zero(type)` elsewhere.
template <typename L, typename Zero>
std::vector<L> Spread(const std::vector<L>& some, ricci_ctx* ctx, const std::vector<ricci_type>& types, Zero&& zero) {
  std::vector<L> out;
  size_t next = 0;
  for (ricci_type id : types) {
    const ArrayType t(ctx, id);
    out.push_back(IsInexact(t.dtype()) ? some[next++] : zero(t));
  }
  return out;
}
CallSite SiteOfLeaves(std::string_view name, const Location& at, const Values& a, const Values& b) {
  std::vector<Operand> all;
  for (const Value& v : Joined(a, b)) all.emplace_back(v, at);
  if (all.empty()) FailAt(at, name, ": the function has no arrays");
  return SiteOf(name, all);
}
Values ApplyAt(const CallSite& site, const Program& f, const Values& residuals, const Values& given,
               const std::vector<ricci_type>& types) {
  return Spread(Apply(site, f, Operation(residuals, given)), site.context(), types, [&](const ArrayType& t) {
    Value zero = lax::zeros(site.builder, t);
    zero.scope = site.scope;
    return zero;
  });
}

}  // namespace

LinearParts<Value> VjpLeaves(const CallSite& site, LeafFunction f, const Values& x, const size_t* n_main) {
  return LinearOfValues(site, f, x, n_main, Mode::kReverse);
}
LinearParts<Array> VjpLeaves(const CallSite& site, LeafFunction f, const Arrays& x, const size_t* n_main) {
  return Linear(site, f, x, n_main, Mode::kReverse);
}
LinearParts<Value> LinearizeLeaves(const CallSite& site, LeafFunction f, const Values& x, const size_t* n_main) {
  return LinearOfValues(site, f, x, n_main, Mode::kForward);
}
LinearParts<Array> LinearizeLeaves(const CallSite& site, LeafFunction f, const Arrays& x, const size_t* n_main) {
  return Linear(site, f, x, n_main, Mode::kForward);
}

Values ApplyMap(const Location& at, const LeafMap<Value>& map, const Values& given) {
  const CallSite site = SiteOfLeaves(map.name, at, map.residuals, given);
  WantTypes(at, map, TypesOf(given));
  return ApplyAt(site, map.program, map.residuals, given, map.out);
}
Values ApplyMap(const Location& at, const LeafMap<Array>& map, const Values& given) {
  const CallSite site = SiteOfLeaves(map.name, at, {}, given);
  WantTypes(at, map, TypesOf(given));
  Values residuals;
  for (const Array& a : map.residuals) residuals.push_back(LiftLeaf(site, a));
  return ApplyAt(site, map.program, residuals, given, map.out);
}
Arrays ApplyMap(const Location& at, const LeafMap<Array>& map, const Arrays& given) {
  WantTypes(at, map, TypesOf(given));
  const Arrays some = RunOn(at, map.ctx, map.executable, Operation(map.residuals, given));
  return Spread(some, map.ctx, map.out, [&](const ArrayType& t) {
    const std::vector<std::byte> bytes(static_cast<size_t>(t.elements() * SizeOf(t.dtype())));
    return Array(Context(map.ctx), t.dtype(), Shape(t.shape().begin(), t.shape().end()), bytes.data());
  });
}

}}  // namespace ricci::v0
