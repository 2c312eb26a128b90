// Laws of derivatives, in f64: central differences and the dot test, at ordinary points and at corners.
//
// Central differences need values of moderate size; the tolerances separate wrong rules from rounding, with room on
// both sides. Only f64 is used: central differences of f32 say nothing.
//
// The law of jvp takes one operand at a time before all together, so the message names the operand. It gives the ratio
// to the differences if that is constant, as for a lost factor or sign. The results beside the tangents are compared
// too: `value_and_grad` takes them from there.
#include <cmath>

#include "laws/tangent_differences.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr double kDot = 1e-9;

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

// <ct, jvp(t)> = <vjp(ct), t>, where tangents are numbers: next to a pole or beside the domain they are not.
absl::Status DotTest(Trial& t, LawId law, Runnable& f, const Arrays& x, Points points = Points::kOrdinary) {
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
  if (points != Points::kOrdinary && !std::isfinite(forward.size)) return absl::OkStatus();
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

// ---- corners ----
constexpr Points kCorners[] = {Points::kTies, Points::kZeros, Points::kInfinities};
constexpr auto kFiniteCorners = std::span(kCorners).first<2>();

// Where the program takes the operands: a check of its own may refuse infinite ones.
template <typename Check>
absl::Status AtCorners(Trial& t, LawId law, std::span<const Points> corners, const Check& check) {
  for (Points points : corners) {
    const Arrays x = t.DrawAt(points);
    if (!x.empty() && t.Run(law, *t.f(), x).ok()) RICCI_TRY(check(x, points));
  }
  return absl::OkStatus();
}

}  // namespace

// One operand at a time, so that a failure names it, then all together, then at corners.
absl::Status CheckJvp(Trial& t) {
  Runnable& f = *t.f();
  if (!f.differentiable()) return absl::OkStatus();
  const Active all = PreciseParams(f);
  const bool one = std::count(all.begin(), all.end(), 1) == 1;
  RICCI_TRY(EachAlone(t, LawId::kJvp, f, t.x(), kFirstOrder, "operand", one ? Where::kEverywhere : Where::kHere));
  if (!one) RICCI_TRY(Differences(t, LawId::kJvp, f, t.x(), kFirstOrder));
  return AtCorners(t, LawId::kJvp, kCorners, [&](const Arrays& x, Points points) {
    return DifferencesAtCorner(t, LawId::kJvp, f, x, kFirstOrder, points);
  });
}

absl::Status CheckTranspose(Trial& t) {
  RICCI_TRY(DotTest(t, LawId::kTranspose, *t.f(), t.x()));
  return AtCorners(t, LawId::kTranspose, kFiniteCorners,
                   [&](const Arrays& x, Points points) { return DotTest(t, LawId::kTranspose, *t.f(), x, points); });
}

absl::Status CheckJvpOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  const auto with_tangents = [&](const Arrays& x) { return WithTangents(t, *t.f(), x, PreciseParams(*t.f())); };
  RICCI_TRY(Differences(t, LawId::kJvpOfJvp, *jvp, with_tangents(t.x()), kSecondOrder));
  return AtCorners(t, LawId::kJvpOfJvp, kCorners, [&](const Arrays& x, Points points) {
    return DifferencesAtCorner(t, LawId::kJvpOfJvp, *jvp, with_tangents(x), kSecondOrder, points);
  });
}

// By residuals and cotangents: the program that is differentiated is the backward program.
absl::Status CheckJvpOfTranspose(Trial& t) {
  RICCI_ASSIGN(const Pullback vjp, t.f()->Vjp());
  const std::vector<Type>& params = vjp.bwd->params();
  const auto operands = [&](const Arrays& x) -> absl::StatusOr<Arrays> {
    RICCI_ASSIGN(const Arrays kept, t.Run(LawId::kJvpOfTranspose, *vjp.fwd, x));
    Arrays in(kept.begin() + static_cast<int64_t>(t.f()->results().size()), kept.end());
    while (in.size() < params.size()) in.push_back(t.DrawTangent(params[in.size()]));
    return in;
  };
  RICCI_ASSIGN(const Arrays ordinary, operands(t.x()));
  RICCI_TRY(Differences(t, LawId::kJvpOfTranspose, *vjp.bwd, ordinary, kSecondOrder));
  return AtCorners(t, LawId::kJvpOfTranspose, kFiniteCorners, [&](const Arrays& x, Points points) {
    RICCI_ASSIGN(const Arrays in, operands(x));
    return DifferencesAtCorner(t, LawId::kJvpOfTranspose, *vjp.bwd, in, kSecondOrder, points);
  });
}

absl::Status CheckTransposeOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  const auto check = [&](const Arrays& x, Points points) {
    return DotTest(t, LawId::kTransposeOfJvp, *jvp, WithTangents(t, *t.f(), x, PreciseParams(*t.f())), points);
  };
  RICCI_TRY(check(t.x(), Points::kOrdinary));
  return AtCorners(t, LawId::kTransposeOfJvp, kFiniteCorners, check);
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
