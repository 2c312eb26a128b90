#include "fuzz/shrink.h"

#include <chrono>

#include "base/status_abi.h"
#include "ir/program.h"
#include "pass/pass.h"

namespace ricci::testing {
namespace {

using trace::Builder;
using trace::Val;
using trace::Vals;
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
  return pass::Rebuild(
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
  return pass::Rebuild(f,
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
  return pass::Rebuild(f,
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
  return pass::Rebuild(f,
                       [&](Builder& b, const ir::Program& from, const ir::Equation& eqn,
                           std::span<const Val> in) -> absl::StatusOr<Vals> {
                         if (&eqn != changed) return b.Copy(from, eqn, in);
                         return pass::CopyWithNested(b, from, eqn, in, change);
                       });
}

// ---- dimensions ----
// Every dimension and integer attribute that is `from` becomes `to`; constants become splats of their first element.
Candidate Resized(const ir::Program& f, int64_t from, int64_t to) {
  auto& types = prim::Registry::Of(f).vocabulary().types;
  const auto resize = [&](ir::TypeId id) -> absl::StatusOr<ir::TypeId> {
    const ir::ArrayType& t = types.Get(id);
    std::vector<int64_t> dims(t.shape.begin(), t.shape.end());
    for (int64_t& d : dims) d = d == from ? to : d;
    return types.WithShape(t, dims);
  };
  std::vector<ir::TypeId> params;
  for (ir::TypeId t : f.param_types) {
    RICCI_ASSIGN(params.emplace_back(), resize(t));
  }
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, params));
  Vals env(f.values.size(), trace::kNone), in, results;
  for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
  for (const ir::Constant& c : f.constants) {
    RICCI_ASSIGN(const ir::TypeId type, resize(f.type_id(c.value)));
    const bool same = type == f.type_id(c.value);
    const auto element = std::span(c.data->bytes.data(), c.data->bytes.size())
                             .first(static_cast<size_t>(ricci_dtype_size(f.type(c.value).dtype)));
    if (same) {
      RICCI_ASSIGN(env[c.value], b->Constant(type, c.splat, c.data));
    } else {
      RICCI_ASSIGN(env[c.value], b->Constant(type, element));
    }
  }
  for (const ir::Equation& eqn : f.equations) {
    in.clear();
    for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
    std::vector<ricci_attr> attrs(eqn.attrs.begin(), eqn.attrs.end());
    std::vector<std::vector<int64_t>> lists;
    std::vector<std::vector<ricci_program*>> programs;
    std::vector<ir::ProgramRef> keep;
    for (ricci_attr& a : attrs) {
      if (a.kind == RICCI_ATTR_INT && a.i == from) a.i = to;
      if (a.kind == RICCI_ATTR_INTS) {
        const auto* data = static_cast<const int64_t*>(a.data);
        std::vector<int64_t>& list = lists.emplace_back(data, data + a.count);
        for (int64_t& v : list) v = v == from ? to : v;
        a.data = list.data();
      }
      if (ir::Programs(a).empty()) continue;
      std::vector<ricci_program*>& list = programs.emplace_back();
      for (ricci_program* p : ir::Programs(a)) {
        RICCI_ASSIGN(ir::ProgramRef q, Resized(*ir::FromAbi(p), from, to));
        list.push_back(ir::Abi(q.get()));
        keep.push_back(std::move(q));
      }
      a.data = list.data();
    }
    RICCI_ASSIGN(Vals out, b->Emit(eqn.prim, attrs, in));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
  }
  for (ir::ValueId r : f.results) results.push_back(env[r]);
  return b->Finish(results);
}

void CollectSizes(const ir::Program& f, std::vector<int64_t>& sizes) {
  for (uint32_t v = 0; v < f.values.size(); ++v) {
    for (int64_t d : f.type(v).shape) {
      if (d > 1 && std::find(sizes.begin(), sizes.end(), d) == sizes.end()) sizes.push_back(d);
    }
  }
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
  return pass::Dce(*made, {});
}

using Step = std::function<Candidate(const ir::Program&)>;

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

std::vector<Step> Steps(const ir::Program& f, bool nested) {
  std::vector<Step> out;
  using P = const ir::Program&;
  if (!nested) {
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
  AddRuns(f, StandIn::kZero, out);
  for (size_t i = f.equations.size(); i-- > 0;) {
    for (StandIn kind : {StandIn::kOperand, nested ? StandIn::kZero : StandIn::kParameter})
      out.push_back([i, kind](P p) { return Without(p, i, i + 1, kind); });
  }
  for (size_t i = 0; i < f.equations.size(); ++i) {
    for (const ricci_attr& a : f.equations[i].attrs) {
      for (ricci_program* inner : ir::Programs(a)) {
        out.push_back([i, inner](P p) { return BodyOnce(p, i, inner); });
        const ir::Program* target = ir::FromAbi(inner);
        for (auto& step : Steps(*target, true)) {
          out.push_back([i, step, target](P p) {
            return WithNested(p, i,
                              [&](P q) -> Candidate { return &q == target ? step(q) : Candidate(ir::ProgramRef(&q)); });
          });
        }
      }
    }
  }
  for (size_t i = 0; i < f.equations.size(); ++i) {
    for (size_t a = 0; a < f.equations[i].attrs.size(); ++a)
      out.push_back([i, a](P p) { return WithoutAttribute(p, i, a); });
  }
  if (!nested) {
    std::vector<int64_t> sizes;
    CollectSizes(f, sizes);
    for (int64_t n : sizes) {
      for (int64_t to : {int64_t{1}, int64_t{2}, n / 2, n - 1}) {
        if (to < n && to > 0) out.push_back([=](P p) { return Resized(p, n, to); });
      }
    }
  }
  return out;
}

size_t TotalSize(const ir::Program& f) {
  size_t n = f.equations.size() * 1000 + f.n_results() * 10 + f.n_params() * 10;
  for (uint32_t v = 0; v < f.values.size(); ++v) {
    size_t elements = 1;
    for (int64_t d : f.type(v).shape) elements *= static_cast<size_t>(d);
    n += std::min<size_t>(elements, 900) / 4 + f.type(v).shape.size();
  }
  for (const ir::Equation& eqn : f.equations) {
    n += eqn.attrs.size() * 20;
    for (const ricci_attr& a : eqn.attrs) {
      for (ricci_program* p : ir::Programs(a)) n += TotalSize(*ir::FromAbi(p)) + 500;
    }
  }
  return n;
}

}  // namespace

Program Shrink(Program p, const std::function<bool(const Program&)>& fails, int tries, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
  };
  for (bool smaller = true; smaller && tries > 0 && !late();) {
    smaller = false;
    const ir::Program& f = *ir::FromAbi(p.get());
    for (const auto& step : Steps(f, /*nested=*/false)) {
      if (tries <= 0 || late()) break;
      Candidate c = step(f);
      if (!c.ok()) continue;
      c = pass::Dce(**c, {});
      if (!c.ok() || TotalSize(**c) >= TotalSize(f)) continue;
      --tries;
      const Program candidate = Own(ir::Abi(c->Detach()));
      if (!fails(candidate)) continue;
      p = candidate;
      smaller = true;
      break;
    }
  }
  return p;
}

}  // namespace ricci::testing
