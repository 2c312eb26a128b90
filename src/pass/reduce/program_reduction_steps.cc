// The steps by which a failing program is made smaller, those that drop most first.
//
// A step that a program does not allow is an error and is passed over: steps need not foresee what rules refuse.
#include <algorithm>
#include <bit>

#include "pass/program/pass.h"
#include "pass/reduce/program_reduction.h"
#include "pass/reduce/resizing.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

using trace::Val;
using Candidate = absl::StatusOr<ir::ProgramRef>;

// ---- results ----
Candidate WithResults(const ir::Program& f, const std::function<bool(size_t)>& keeps) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  const Vals params = b->params();
  RICCI_ASSIGN(const Vals results, b->Inline(f, params));
  Vals kept;
  for (size_t i = 0; i < results.size(); ++i) {
    if (keeps(i)) kept.push_back(results[i]);
  }
  return b->Finish(kept);
}
// Makes the operands of equation `at` the results: the failure may be before it.
Candidate StopAt(const ir::Program& f, size_t at) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  Vals env(f.values.size(), trace::kNone), in, out;
  for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
  for (const ir::Constant& c : f.constants) {
    RICCI_ASSIGN(env[c.value], b->Constant(f.type_id(c.value), c.splat, c.data));
  }
  for (size_t i = 0; i <= at; ++i) {
    const ir::Equation& eqn = f.equations[i];
    in.clear();
    for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
    RICCI_ASSIGN(out, b->Copy(f, eqn, in));
    for (uint32_t k = 0; k < eqn.n_results; ++k) env[eqn.result(k)] = out[k];
  }
  return b->Finish(out);
}

// ---- equations ----
enum class StandIn : uint8_t { kOperand, kParameter, kZero };

// A substitute for a result of type `type` of a dropped equation on `in`.
absl::StatusOr<Val> InPlaceOf(Builder& b, std::span<const Val> in, ir::TypeId type, StandIn kind) {
  if (kind == StandIn::kParameter) return b.AddParam(type);
  if (kind == StandIn::kZero) return b.Zero(type);
  for (Val operand : in) {
    if (b.type_id(operand) == type) return operand;
  }
  return absl::NotFoundError("no operand of that type");
}
// Drops equations from .. to.
Candidate Without(const ir::Program& f, size_t from, size_t to, StandIn kind) {
  const ir::Equation *first = &f.equations[from], *end = f.equations.data() + to;
  return Rebuild(
      f,
      [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> in) -> absl::StatusOr<Vals> {
        if (&eqn < first || &eqn >= end) return b.Copy(p, eqn, in);
        Vals out;
        for (uint32_t i = 0; i < eqn.n_results; ++i) {
          RICCI_ASSIGN(out.emplace_back(), InPlaceOf(b, in, p.type_id(eqn.result(i)), kind));
        }
        return out;
      });
}
// Equation `at` without its attribute `attr`.
Candidate WithoutAttribute(const ir::Program& f, size_t at, size_t attr) {
  const ir::Equation* changed = &f.equations[at];
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& from, const ir::Equation& eqn,
                     std::span<const Val> in) -> absl::StatusOr<Vals> {
                   if (&eqn != changed) return b.Copy(from, eqn, in);
                   std::vector<ricci_attr> attrs(eqn.attrs.begin(), eqn.attrs.end());
                   attrs.erase(attrs.begin() + static_cast<int64_t>(attr));
                   return b.Emit(eqn.prim, attrs, in);
                 });
}
// Replaces an equation that holds a program by that program, run once on the last operands: a branch of cond, the body
// of call, checkpoint and custom derivatives, and of loops that carry everything.
Candidate BodyOnce(const ir::Program& f, size_t at, const ricci_program* held) {
  const ir::Equation* changed = &f.equations[at];
  const ir::Program& body = *ir::FromAbi(held);
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& from, const ir::Equation& eqn,
                     std::span<const Val> in) -> absl::StatusOr<Vals> {
                   if (&eqn != changed) return b.Copy(from, eqn, in);
                   if (body.n_params() > in.size() || body.n_results() != eqn.n_results)
                     return absl::NotFoundError("other operands or results");
                   for (uint32_t i = 0; i < eqn.n_results; ++i) {
                     if (body.result_types[i] != from.type_id(eqn.result(i)))
                       return absl::NotFoundError("other results");
                   }
                   return b.Inline(body, in.last(body.n_params()));
                 });
}

// Only the body of an equation that holds one program (call, vmap, ...).
Candidate Unwrapped(const ir::Program& f, size_t at) {
  for (const ricci_attr& a : f.equations[at].attrs) {
    for (ricci_program* p : ir::Programs(a)) return ir::ProgramRef(ir::FromAbi(p));
  }
  return absl::NotFoundError("no nested program");
}

// A smaller nested program in place of one.
Candidate WithNested(const ir::Program& f, size_t at, const std::function<Candidate(const ir::Program&)>& change) {
  const ir::Equation* changed = &f.equations[at];
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& from, const ir::Equation& eqn,
                     std::span<const Val> in) -> absl::StatusOr<Vals> {
                   if (&eqn != changed) return b.Copy(from, eqn, in);
                   return CopyWithNested(b, from, eqn, in, change);
                 });
}

// ---- parameters ----
Candidate WithoutUnusedParams(const ir::Program& f) {
  std::vector<bool> used(f.n_params());
  const auto use = [&](ir::ValueId v) {
    if (v < f.n_params()) used[v] = true;
  };
  for (const ir::Equation& eqn : f.equations) std::for_each(eqn.operands.begin(), eqn.operands.end(), use);
  std::for_each(f.results.begin(), f.results.end(), use);
  std::vector<ir::TypeId> types;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (used[i]) types.push_back(f.param_types[i]);
  }
  if (types.size() == f.n_params()) return absl::NotFoundError("all are used");
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, types));
  Vals in;
  uint32_t next = 0;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (used[i]) {
      in.push_back(b->param(next++));
    } else {
      RICCI_ASSIGN(in.emplace_back(), b->Zero(f.param_types[i]));
    }
  }
  RICCI_ASSIGN(const Vals out, b->Inline(f, in));
  RICCI_ASSIGN(ir::ProgramRef made, b->Finish(out));
  return Dce(*made, {});
}

using Step = ReductionStep;

// Runs of equations at once, the longest first.
void AddRuns(const ir::Program& f, StandIn kind, std::vector<Step>& out) {
  const size_t n = f.equations.size();
  for (size_t run = n / 2; run > 1; run /= 2) {
    for (size_t from = 0; from < n; from += run) {
      const size_t to = std::min(n, from + run);
      out.push_back([=](const ir::Program& p) { return Without(p, from, to, kind); });
    }
  }
}

using P = const ir::Program&;

// Results, equations and parameters of the outermost program.
void AddOuterSteps(P f, std::vector<Step>& out) {
  for (size_t i = 0; f.n_results() > 1 && i < f.n_results(); ++i) {
    out.push_back([i](P p) { return WithResults(p, [i](size_t k) { return k == i; }); });
    out.push_back([i](P p) { return WithResults(p, [i](size_t k) { return k != i; }); });
  }
  for (size_t at = f.equations.size() / 2; at > 0; at /= 2) out.push_back([at](P p) { return StopAt(p, at); });
  AddRuns(f, StandIn::kParameter, out);
  for (size_t i = 0; i < f.equations.size(); ++i) {
    out.push_back([i](P p) { return StopAt(p, i); });
    out.push_back([i](P p) { return Unwrapped(p, i); });
  }
  out.push_back([](P p) { return WithoutUnusedParams(p); });
}

std::vector<Step> Steps(P f, bool nested);

// Of the programs that equation `i` holds.
void AddNestedSteps(P f, size_t i, std::vector<Step>& out) {
  for (const ricci_attr& a : f.equations[i].attrs) {
    for (ricci_program* inner : ir::Programs(a)) {
      out.push_back([i, inner](P p) { return BodyOnce(p, i, inner); });
      const ir::Program* target = ir::FromAbi(inner);
      for (const Step& step : Steps(*target, /*nested=*/true)) {
        out.push_back([i, step, target](P p) {
          return WithNested(p, i,
                            [&](P q) -> Candidate { return &q == target ? step(q) : Candidate(ir::ProgramRef(&q)); });
        });
      }
    }
  }
}

void AddSizes(P f, std::vector<Step>& out) {
  for (int64_t n : SizesOf(f)) {
    for (int64_t to : {int64_t{1}, int64_t{2}, n / 2, n - 1}) {
      if (to < n && to > 0) out.push_back([=](P p) { return Resized(p, n, to); });
    }
  }
  out.push_back([](P p) { return Resized(p, 0, 0, /*splat=*/true); });
}

std::vector<Step> Steps(P f, bool nested) {
  std::vector<Step> out;
  if (!nested) AddOuterSteps(f, out);
  AddRuns(f, StandIn::kZero, out);
  for (size_t i = f.equations.size(); i-- > 0;) {
    for (StandIn kind : {StandIn::kOperand, nested ? StandIn::kZero : StandIn::kParameter})
      out.push_back([i, kind](P p) { return Without(p, i, i + 1, kind); });
  }
  for (size_t i = 0; i < f.equations.size(); ++i) AddNestedSteps(f, i, out);
  for (size_t i = 0; i < f.equations.size(); ++i) {
    for (size_t a = 0; a < f.equations[i].attrs.size(); ++a)
      out.push_back([i, a](P p) { return WithoutAttribute(p, i, a); });
  }
  if (!nested) AddSizes(f, out);
  return out;
}

uint64_t SizeOf(const ricci_attr& a) {
  uint64_t n = 20;
  if (a.kind == RICCI_ATTR_INT && a.i > 0) n += std::bit_width(static_cast<uint64_t>(a.i));
  for (ricci_program* p : ir::Programs(a)) n += ReductionSize(*ir::FromAbi(p)) + 500;
  return n;
}

}  // namespace

std::vector<ReductionStep> ReductionSteps(const ir::Program& f) { return Steps(f, /*nested=*/false); }

// Equations count most, then what they hold, then results, parameters and elements.
uint64_t ReductionSize(const ir::Program& f) {
  uint64_t n = f.equations.size() * 1000 + f.n_results() * 10 + f.n_params() * 10;
  for (uint32_t v = 0; v < f.values.size(); ++v) {
    const ir::ArrayType& t = f.type(v);
    n += std::min<uint64_t>(static_cast<uint64_t>(t.elements), 900) / 4 + t.shape.size();
    n += static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(t.elements)));
  }
  for (const ir::Constant& c : f.constants) n += c.splat ? 0 : 5;
  for (const ir::Equation& eqn : f.equations) {
    for (const ricci_attr& a : eqn.attrs) n += SizeOf(a);
  }
  return n;
}

}}}  // namespace ricci::v0::pass
