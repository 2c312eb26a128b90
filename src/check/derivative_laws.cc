// Laws of derivatives, in f64: central differences and the dot test.
//
// Central differences need values of moderate size; the tolerances are those at which wrong rules are told from
// rounding with room on both sides.
#include <cmath>

#include "check/trial.h"

namespace ricci::inline v0::check {
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
Active RealParams(const Runnable& f) {
  Active out;
  for (const Type& type : f.params()) out.push_back(type.real());
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

// The tangents that `jvp` gives for the results of `f`, against (f(x + ht) - f(x - ht)) / 2h.
absl::Status Differences(Trial& t, LawId law, Runnable& f, Runnable& jvp, const Active& active,
                         const Arrays& with_tangents, double tolerance, Where where) {
  RICCI_ASSIGN(const Arrays got, t.Run(law, jvp, with_tangents, where));
  RICCI_ASSIGN(const Arrays above, t.Run(law, f, Moved(with_tangents, active, kStep)));
  RICCI_ASSIGN(const Arrays below, t.Run(law, f, Moved(with_tangents, active, -kStep)));
  size_t next = f.results().size();
  for (size_t i = 0; i < f.results().size(); ++i) {
    if (!f.results()[i].floating()) continue;
    const Numbers& tangent = got.at(next++);
    if (!f.results()[i].real()) continue;
    Numbers want(above[i].size());
    for (size_t k = 0; k < want.size(); ++k) want[k] = (above[i][k] - below[i][k]) / (2 * kStep);
    RICCI_TRY(t.Compare(law, i, tangent, want, tolerance, with_tangents));
  }
  return absl::OkStatus();
}
absl::Status Differences(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance) {
  if (!f.differentiable()) return absl::OkStatus();
  RICCI_ASSIGN(const RunnableRef jvp, f.Jvp());
  const Active active = RealParams(f);
  return Differences(t, law, f, *jvp, active, WithTangents(t, f, x, active), tolerance, Where::kEverywhere);
}

struct Product {
  double sum = 0, size = 1;
  void Add(const Numbers& a, const Numbers& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
      size += std::fabs(a[i] * b[i]);
    }
  }
};

// <ct, jvp(t)> = <vjp(ct), t>
absl::Status DotTest(Trial& t, LawId law, Runnable& f, const Arrays& x) {
  RICCI_ASSIGN(const RunnableRef jvp, f.Jvp());
  RICCI_ASSIGN(const Pullback vjp, f.Vjp());
  const Arrays with_tangents = WithTangents(t, f, x, RealParams(f));
  RICCI_ASSIGN(const Arrays pushed, t.Run(law, *jvp, with_tangents));
  RICCI_ASSIGN(const Arrays kept, t.Run(law, *vjp.fwd, x, Where::kEverywhere));
  Arrays in(kept.begin() + static_cast<int64_t>(f.results().size()), kept.end());
  Product forward, backward;
  size_t next = f.results().size();
  for (const Type& type : f.results()) {
    if (!type.floating()) continue;
    in.push_back(type.real() ? t.DrawTangent(type) : Numbers(static_cast<size_t>(type.elements)));
    forward.Add(pushed.at(next++), in.back());
  }
  RICCI_ASSIGN(const Arrays cts, t.Run(law, *vjp.bwd, in, Where::kEverywhere));
  for (size_t i = 0; i < cts.size(); ++i) backward.Add(cts[i], with_tangents.at(x.size() + i));
  // Rounding grows with what cancels in the sums.
  const double rounding = 1e-14 * (forward.size + backward.size) / std::max(1.0, std::fabs(forward.sum));
  return t.Compare(law, 0, {backward.sum}, {forward.sum}, kDot + rounding, with_tangents);
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

// By all operands together, and by each alone: then rules meet tangents that are symbolic zeros.
absl::Status CheckJvp(Trial& t) {
  Runnable& f = *t.f();
  RICCI_TRY(Differences(t, LawId::kJvp, f, t.x(), kFirstOrder));
  const Active all = RealParams(f);
  if (std::count(all.begin(), all.end(), 1) < 2) return absl::OkStatus();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    Active alone(all.size(), 0);
    alone[i] = 1;
    RICCI_ASSIGN(const RunnableRef jvp, f.Jvp(alone));
    RICCI_TRY(Differences(t, LawId::kJvp, f, *jvp, alone, WithTangents(t, f, t.x(), alone), kFirstOrder, Where::kHere));
  }
  return absl::OkStatus();
}

absl::Status CheckTranspose(Trial& t) { return DotTest(t, LawId::kTranspose, *t.f(), t.x()); }

absl::Status CheckJvpOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  const Arrays x = WithTangents(t, *t.f(), t.x(), RealParams(*t.f()));
  return Differences(t, LawId::kJvpOfJvp, *jvp, x, kSecondOrder);
}

// By residuals and cotangents: the program that is differentiated is the backward one.
absl::Status CheckJvpOfTranspose(Trial& t) {
  RICCI_ASSIGN(const Pullback vjp, t.f()->Vjp());
  RICCI_ASSIGN(const Arrays kept, t.Run(LawId::kJvpOfTranspose, *vjp.fwd, t.x()));
  Arrays in(kept.begin() + static_cast<int64_t>(t.f()->results().size()), kept.end());
  while (in.size() < vjp.bwd->params().size()) in.push_back(t.DrawTangent(vjp.bwd->params()[in.size()]));
  return Differences(t, LawId::kJvpOfTranspose, *vjp.bwd, in, kSecondOrder);
}

absl::Status CheckTransposeOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  return DotTest(t, LawId::kTransposeOfJvp, *jvp, WithTangents(t, *t.f(), t.x(), RealParams(*t.f())));
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

}  // namespace ricci::inline v0::check
