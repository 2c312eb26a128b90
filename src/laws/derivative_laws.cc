// Laws of derivatives, in f64: central differences and the dot test.
//
// Central differences need values of moderate size; the tolerances separate wrong rules from rounding, with room on
// both sides.
#include <cmath>
#include <cstdio>

#include "laws/trial.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr double kStep = 1e-5, kFirstOrder = 1e-6, kSecondOrder = 1e-4, kDot = 1e-9;

using Active = std::vector<uint8_t>;

// x, then a tangent for each active operand.
Arrays WithTangents(Trial& t, const Runnable& f, const Arrays& x, const Active& active) {
  Arrays out = x;
  for (size_t i = 0; i < x.size(); ++i) {
    if (active[i] != 0) out.push_back(t.DrawTangent(f.params()[i]));
  }
  return out;
}
Active PreciseParams(const Runnable& f) {
  Active out;
  for (const Type& type : f.params()) out.push_back(type.precise());
  return out;
}

// x + step * tangent
Arrays Moved(const Arrays& with_tangents, const Active& active, double step) {
  Arrays out(with_tangents.begin(), with_tangents.begin() + static_cast<int64_t>(active.size()));
  size_t next = active.size();
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i] == 0) continue;
    const Numbers& tangent = with_tangents[next++];
    for (size_t k = 0; k < tangent.size(); ++k) out[i][k] += step * tangent[k];
  }
  return out;
}

// Beside the derivative there are the results, of which `value_and_grad` takes the value.
absl::Status Unchanged(const absl::Status& s) {
  const absl::string_view why = s.message();
  return absl::IsFailedPrecondition(s) ? absl::FailedPreconditionError(absl::StrCat("it changes the value: ", why)) : s;
}

// All tangents of a run of `jvp`, and what they are by differences, one list for each precise result of `f`.
struct Compared {
  std::vector<size_t> result;
  Arrays got, want;
};
absl::StatusOr<Compared> TangentsOf(Trial& t, LawId law, Runnable& f, Runnable& jvp, const Active& active,
                                    const Arrays& with_tangents, Where where) {
  RICCI_ASSIGN(const Arrays got, t.Run(law, jvp, with_tangents, where));
  RICCI_ASSIGN(const Arrays here, t.Run(law, f, Moved(with_tangents, active, 0)));
  RICCI_TRY(Unchanged(t.CompareResults(law, f, got, here, with_tangents)));
  RICCI_ASSIGN(const Arrays above, t.Run(law, f, Moved(with_tangents, active, kStep)));
  RICCI_ASSIGN(const Arrays below, t.Run(law, f, Moved(with_tangents, active, -kStep)));
  Compared out;
  size_t next = f.results().size();
  for (size_t i = 0; i < f.results().size(); ++i) {
    if (!f.results()[i].inexact()) continue;
    const Numbers& tangent = got.at(next++);
    if (!f.results()[i].precise()) continue;
    Numbers want(above[i].size());
    for (size_t k = 0; k < want.size(); ++k) want[k] = (above[i][k] - below[i][k]) / (2 * kStep);
    out.result.push_back(i);
    out.got.push_back(tangent);
    out.want.push_back(std::move(want));
  }
  return out;
}

// `2.0 times the finite difference`, if the tangents are one multiple of the differences; empty otherwise.
std::string Ratio(const Compared& c) {
  double ratio = 0, largest = 0;
  for (size_t i = 0; i < c.got.size(); ++i) {
    for (size_t k = 0; k < c.got[i].size(); ++k) {
      if (std::fabs(c.want[i][k]) <= largest) continue;
      largest = std::fabs(c.want[i][k]);
      ratio = c.got[i][k] / c.want[i][k];
    }
  }
  if (!(largest > 1e-3) || !std::isfinite(ratio)) return "";
  for (size_t i = 0; i < c.got.size(); ++i) {
    for (size_t k = 0; k < c.got[i].size(); ++k) {
      if (!(std::fabs(c.got[i][k] - ratio * c.want[i][k]) <= 1e-5 + 1e-4 * largest)) return "";
    }
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", ratio);
  const bool whole = std::string_view(text).find_first_of(".en") == std::string_view::npos;
  return base::Cat(text, whole ? ".0" : "", " times the finite difference");
}

// The tangents that `jvp` gives for the results of `f`, against (f(x + ht) - f(x - ht)) / 2h. `what` names what is
// active, if it is one thing.
absl::Status Differences(Trial& t, LawId law, Runnable& f, Runnable& jvp, const Active& active,
                         const Arrays& with_tangents, double tolerance, Where where, std::string_view what = {}) {
  RICCI_ASSIGN(const Compared c, TangentsOf(t, law, f, jvp, active, with_tangents, where));
  for (size_t i = 0; i < c.got.size(); ++i) {
    const absl::Status s =
        t.Compare(law, c.result[i], f.results()[c.result[i]], c.got[i], c.want[i], tolerance, with_tangents);
    if (s.ok() || what.empty()) {
      RICCI_TRY(s);
      continue;
    }
    const std::string ratio = Ratio(c);
    const absl::string_view why = s.message();
    return absl::FailedPreconditionError(absl::StrCat(
        "tangent of ", base::ToAbsl(what), ratio.empty() ? " is not the finite difference" : " is ", ratio, ": ", why));
  }
  return absl::OkStatus();
}

// By each precise parameter alone, so that rules see tangents that are symbolic zeros; messages call it a `noun`.
absl::Status EachAlone(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance, std::string_view noun,
                       Where where) {
  const Active all = PreciseParams(f);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    Active alone(all.size(), 0);
    alone[i] = 1;
    RICCI_ASSIGN(const RunnableRef jvp, alone == all ? f.Jvp() : f.Jvp(alone));
    RICCI_TRY(
        Differences(t, law, f, *jvp, alone, WithTangents(t, f, x, alone), tolerance, where, base::Cat(noun, " ", i)));
  }
  return absl::OkStatus();
}

// By all precise parameters together; if that fails, by each alone, to name the one at fault.
absl::Status Differences(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance) {
  if (!f.differentiable()) return absl::OkStatus();
  RICCI_ASSIGN(const RunnableRef jvp, f.Jvp());
  const Active active = PreciseParams(f);
  const absl::Status all =
      Differences(t, law, f, *jvp, active, WithTangents(t, f, x, active), tolerance, Where::kEverywhere);
  if (!absl::IsFailedPrecondition(all)) return all;
  RICCI_TRY(EachAlone(t, law, f, x, tolerance, "parameter", Where::kHere));
  return all;
}

// For complex numbers, the real part: without a conjugate, as cotangents are defined.
struct Product {
  double sum = 0, size = 1;
  void Add(const Type& t, const Numbers& a, const Numbers& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      const bool imaginary = t.complex() && i % 2 != 0;
      sum += imaginary ? -a[i] * b[i] : a[i] * b[i];
      size += std::fabs(a[i] * b[i]);
    }
  }
};

// <ct, jvp(t)> = <vjp(ct), t>
absl::Status DotTest(Trial& t, LawId law, Runnable& f, const Arrays& x) {
  RICCI_ASSIGN(const RunnableRef jvp, f.Jvp());
  RICCI_ASSIGN(const Pullback vjp, f.Vjp());
  const Arrays with_tangents = WithTangents(t, f, x, PreciseParams(f));
  RICCI_ASSIGN(const Arrays pushed, t.Run(law, *jvp, with_tangents));
  RICCI_ASSIGN(const Arrays kept, t.Run(law, *vjp.fwd, x, Where::kEverywhere));
  RICCI_ASSIGN(const Arrays here, t.Run(law, f, x));
  RICCI_TRY(Unchanged(t.CompareResults(law, f, kept, here, x)));
  Arrays in(kept.begin() + static_cast<int64_t>(f.results().size()), kept.end());
  Product forward, backward;
  size_t next = f.results().size();
  for (const Type& type : f.results()) {
    if (!type.inexact()) continue;
    in.push_back(type.precise() ? t.DrawTangent(type) : Numbers(type.numbers()));
    forward.Add(type, pushed.at(next++), in.back());
  }
  RICCI_ASSIGN(const Arrays cts, t.Run(law, *vjp.bwd, in, Where::kEverywhere));
  for (size_t i = 0; i < cts.size(); ++i) backward.Add(vjp.bwd->results()[i], cts[i], with_tangents.at(x.size() + i));
  // Rounding errors grow with the terms that cancel in the sums.
  const double rounding = 1e-14 * (forward.size + backward.size) / std::max(1.0, std::fabs(forward.sum));
  const Type number{0, RICCI_F64, 0, nullptr, 1};
  return t.Compare(law, 0, number, {backward.sum}, {forward.sum}, kDot + rounding, with_tangents);
}

// The batch of all operands as one vmap equation, and by the batching rules.
absl::StatusOr<std::vector<RunnableRef>> Many(const Runnable& f) {
  const std::vector<int32_t> in(f.params().size(), 0), out(f.results().size(), 0);
  std::vector<RunnableRef> many(2);
  RICCI_ASSIGN(many[0], f.Vmap(in, out, Trial::kBatch));
  RICCI_ASSIGN(many[1], f.Batch(in, Trial::kBatch));
  return many;
}

}  // namespace

// One operand at a time, so that a failure names it, then all together.
absl::Status CheckJvp(Trial& t) {
  Runnable& f = *t.f();
  if (!f.differentiable()) return absl::OkStatus();
  const Active all = PreciseParams(f);
  const bool one = std::count(all.begin(), all.end(), 1) == 1;
  RICCI_TRY(EachAlone(t, LawId::kJvp, f, t.x(), kFirstOrder, "operand", one ? Where::kEverywhere : Where::kHere));
  return one ? absl::OkStatus() : Differences(t, LawId::kJvp, f, t.x(), kFirstOrder);
}

absl::Status CheckTranspose(Trial& t) { return DotTest(t, LawId::kTranspose, *t.f(), t.x()); }

absl::Status CheckJvpOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  const Arrays x = WithTangents(t, *t.f(), t.x(), PreciseParams(*t.f()));
  return Differences(t, LawId::kJvpOfJvp, *jvp, x, kSecondOrder);
}

// By residuals and cotangents: the program that is differentiated is the backward program.
absl::Status CheckJvpOfTranspose(Trial& t) {
  RICCI_ASSIGN(const Pullback vjp, t.f()->Vjp());
  RICCI_ASSIGN(const Arrays kept, t.Run(LawId::kJvpOfTranspose, *vjp.fwd, t.x()));
  Arrays in(kept.begin() + static_cast<int64_t>(t.f()->results().size()), kept.end());
  while (in.size() < vjp.bwd->params().size()) in.push_back(t.DrawTangent(vjp.bwd->params()[in.size()]));
  return Differences(t, LawId::kJvpOfTranspose, *vjp.bwd, in, kSecondOrder);
}

absl::Status CheckTransposeOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  return DotTest(t, LawId::kTransposeOfJvp, *jvp, WithTangents(t, *t.f(), t.x(), PreciseParams(*t.f())));
}

absl::Status CheckJvpOfVmap(Trial& t) {
  RICCI_ASSIGN(const std::vector<RunnableRef> both, Many(*t.f()));
  for (const RunnableRef& many : both) {
    RICCI_TRY(Differences(t, LawId::kJvpOfVmap, *many, t.Draw(many->params()), kFirstOrder));
  }
  return absl::OkStatus();
}

absl::Status CheckTransposeOfVmap(Trial& t) {
  RICCI_ASSIGN(const std::vector<RunnableRef> both, Many(*t.f()));
  for (const RunnableRef& many : both) {
    RICCI_TRY(DotTest(t, LawId::kTransposeOfVmap, *many, t.Draw(many->params())));
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::laws
