// Laws of batching: one run over a batch against a loop of runs over its elements.
//
// Nested orders are checked twice: on the structural `vmap`, which `ref` runs in lanes, and on the batching rules. A
// batch changes no value, so NaN and infinities are among the operands too.
#include "laws/trial.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr double kLoop = 1e-12;
constexpr int64_t kBatch = Trial::kBatch;
constexpr size_t kMostOperands = 6;  // every choice of batched operands is tried for up to this many

using Axes = std::vector<int32_t>;

// ---- where a batch lies ----
enum Position { kFirst, kLast, kMiddle, kAlternating, kPositions };
int32_t AxisAt(const Type& t, int position, size_t operand) {
  const auto rank = static_cast<int32_t>(t.rank);
  if (position == kAlternating) position = operand % 2 == 0 ? kLast : kFirst;
  return position == kFirst ? 0 : position == kLast ? rank : (rank + 1) / 2;
}
// `chosen`: bit i is set if operand i is batched.
Axes AxesAt(const std::vector<Type>& types, int position, uint32_t chosen = ~0u) {
  Axes out;
  for (size_t i = 0; i < types.size(); ++i) {
    out.push_back(i < 32 && (chosen >> i & 1) != 0 ? AxisAt(types[i], position, i) : -1);
  }
  return out;
}

// The position of element `at` of one lane in an array whose batch is dimension `axis`; `one` is the type of the lane.
size_t FlatPosition(const Type& one, int32_t axis, size_t at, int64_t lane) {
  int64_t inner = one.parts();
  for (uint32_t d = static_cast<uint32_t>(axis); d < one.rank; ++d) inner *= one.dims[d];
  const auto i = static_cast<int64_t>(at);
  return static_cast<size_t>((i / inner * kBatch + lane) * inner + i % inner);
}
Numbers Lane(const Numbers& all, const Type& one, int32_t axis, int64_t lane) {
  if (axis < 0) return all;
  Numbers out(one.numbers());
  for (size_t i = 0; i < out.size(); ++i) out[i] = all[FlatPosition(one, axis, i, lane)];
  return out;
}

// ---- the comparison ----
struct Batched {
  Runnable& one;
  Runnable& many;
  const Axes &in, &out;
};
absl::Status CompareWithLoop(Trial& t, LawId law, const Batched& b, const Arrays& x, Where where) {
  RICCI_ASSIGN(const Arrays got, t.Run(law, b.many, x, where));
  for (int64_t lane = 0; lane < kBatch; ++lane) {
    Arrays inputs;
    for (size_t i = 0; i < x.size(); ++i) inputs.push_back(Lane(x[i], b.one.params()[i], b.in[i], lane));
    RICCI_ASSIGN(const Arrays want, t.Run(law, b.one, inputs));
    for (size_t i = 0; i < want.size(); ++i) {
      RICCI_TRY(t.Compare(law, i, b.one.results()[i], Lane(got[i], b.one.results()[i], b.out[i], lane), want[i], kLoop,
                          inputs));
    }
  }
  return absl::OkStatus();
}

uint32_t Choices(const Runnable& f) { return 1u << std::min(f.params().size(), kMostOperands); }
// Devices run only the batch of all operands: the other choices differ in their rules, not in what is lowered.
Where WhereOf(const Runnable& f, uint32_t chosen) {
  return chosen + 1 == Choices(f) ? Where::kEverywhere : Where::kHere;
}

// Where elements are equal a factorization may be that of a singular matrix, which devices round to different ones; the
// batch and the loop are then compared on `ref` alone.
struct Drawn {
  Arrays operands;
  Where where;
};

// As one vmap equation, which `ref` runs as a loop of lanes, and by the batching rules; for each of `draws`.
absl::Status VmapOfAll(Trial& t, LawId law, Runnable& f, std::span<const Drawn> draws) {
  const Axes in(f.params().size(), 0), out(f.results().size(), 0);
  RICCI_ASSIGN(const RunnableRef many, f.Vmap(in, out, kBatch));
  for (const Drawn& d : draws) RICCI_TRY(CompareWithLoop(t, law, {f, *many, in, out}, d.operands, d.where));
  RICCI_ASSIGN(const RunnableRef by_rules, f.Batch(in, kBatch));
  for (const Drawn& d : draws) RICCI_TRY(CompareWithLoop(t, law, {f, *by_rules, in, out}, d.operands, Where::kHere));
  return absl::OkStatus();
}
// The arrays of all lanes in sequence.
Arrays Stacked(const std::vector<Arrays>& lanes) {
  Arrays out = lanes[0];
  for (size_t lane = 1; lane < lanes.size(); ++lane) {
    for (size_t i = 0; i < out.size(); ++i) out[i].insert(out[i].end(), lanes[lane][i].begin(), lanes[lane][i].end());
  }
  return out;
}

// The operands of `f` for each lane, by `operands` of what is drawn. None if nothing is, or if `f` refuses special
// ones.
template <typename Operands>
absl::StatusOr<Arrays> DrawLanes(Trial& t, LawId law, Runnable& f, Points points, const Operands& operands) {
  std::vector<Arrays> lanes;
  for (int64_t lane = 0; lane < kBatch; ++lane) {
    const bool ordinary = points == Points::kOrdinary;
    const Arrays x = ordinary ? t.Draw(t.f()->params()) : t.DrawAt(points, static_cast<uint64_t>(lane));
    if (x.empty() || (!ordinary && !t.Run(law, *t.f(), x).ok())) return Arrays();
    RICCI_ASSIGN(lanes.emplace_back(), operands(x));
    if (!ordinary && !t.Run(law, f, lanes.back()).ok()) return Arrays();
  }
  return Stacked(lanes);
}
// Law `law` of `f` at ordinary operands, then with NaN and infinities among them: a batch changes no value.
template <typename Operands>
absl::Status VmapOfLanes(Trial& t, LawId law, Runnable& f, std::span<const Points> points, const Operands& operands) {
  std::vector<Drawn> draws;
  for (Points at : points) {
    RICCI_ASSIGN(Arrays x, DrawLanes(t, law, f, at, operands));
    if (!x.empty()) draws.push_back({std::move(x), at == Points::kTies ? Where::kHere : Where::kEverywhere});
  }
  return VmapOfAll(t, law, f, draws);
}
constexpr Points kOrdinaryAndAny[] = {Points::kOrdinary, Points::kAny}, kTiesAndAny[] = {Points::kTies, Points::kAny};

}  // namespace

absl::Status CheckVmap(Trial& t) {
  Runnable& f = *t.f();
  for (uint32_t chosen = 1; chosen < Choices(f); ++chosen) {
    std::vector<Axes> tried;
    for (int position = 0; position < kAlternating; ++position) {
      const Axes in = AxesAt(f.params(), position, chosen), out = AxesAt(f.results(), position);
      Axes both = in;
      both.insert(both.end(), out.begin(), out.end());
      if (std::find(tried.begin(), tried.end(), both) != tried.end()) continue;
      tried.push_back(std::move(both));
      RICCI_ASSIGN(const RunnableRef many, f.Vmap(in, out, kBatch));
      RICCI_TRY(CompareWithLoop(t, LawId::kVmap, {f, *many, in, out}, t.Draw(many->params()), WhereOf(f, chosen)));
    }
  }
  const auto as_drawn = [](const Arrays& x) -> absl::StatusOr<Arrays> { return x; };
  return VmapOfLanes(t, LawId::kVmap, f, kTiesAndAny, as_drawn);
}

absl::Status CheckBatch(Trial& t) {
  Runnable& f = *t.f();
  const Axes out(f.results().size(), 0);
  for (uint32_t chosen = 1; chosen < Choices(f); ++chosen) {
    std::vector<Axes> tried;
    for (int position = 0; position < kPositions; ++position) {
      const Axes in = AxesAt(f.params(), position, chosen);
      if (std::find(tried.begin(), tried.end(), in) != tried.end()) continue;
      tried.push_back(in);
      RICCI_ASSIGN(const RunnableRef many, f.Batch(in, kBatch));
      const Where where = position == kFirst ? WhereOf(f, chosen) : Where::kHere;
      RICCI_TRY(CompareWithLoop(t, LawId::kBatch, {f, *many, in, out}, t.Draw(many->params()), where));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVmapOfJvp(Trial& t) {
  RICCI_ASSIGN(const RunnableRef jvp, t.f()->Jvp());
  return VmapOfLanes(t, LawId::kVmapOfJvp, *jvp, kOrdinaryAndAny, [&](const Arrays& x) -> absl::StatusOr<Arrays> {
    Arrays in = x;
    while (in.size() < jvp->params().size()) in.push_back(t.DrawTangent(jvp->params()[in.size()]));
    return in;
  });
}

// The backward program, on residuals of different operands.
absl::Status CheckVmapOfTranspose(Trial& t) {
  RICCI_ASSIGN(const Pullback vjp, t.f()->Vjp());
  const std::vector<Type>& params = vjp.bwd->params();
  return VmapOfLanes(t, LawId::kVmapOfTranspose, *vjp.bwd, kOrdinaryAndAny,
                     [&](const Arrays& x) -> absl::StatusOr<Arrays> {
                       RICCI_ASSIGN(const Arrays kept, t.Run(LawId::kVmapOfTranspose, *vjp.fwd, x));
                       Arrays in(kept.begin() + static_cast<int64_t>(t.f()->results().size()), kept.end());
                       while (in.size() < params.size()) in.push_back(t.DrawTangent(params[in.size()]));
                       return in;
                     });
}

}}}  // namespace ricci::v0::laws
