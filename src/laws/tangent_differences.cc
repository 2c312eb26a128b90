#include "laws/tangent_differences.h"

#include <cmath>
#include <cstdio>

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr double kStep = 1e-5;
constexpr double kKink = 1e-3;  // slopes that differ by less are of one smooth function, which bends

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

// What one element of a result is at a point and around it.
struct Around {
  double here, above, below, near_above, near_below;  // at 0, `kStep`, half of it

  double Slope() const { return (above - below) / (2 * kStep); }
  // At a kink the slopes of the two sides differ, at a jump or a pole those of the two steps; beside the domain all is
  // NaN.
  bool IsSmooth() const {
    const double up = (near_above - here) / (kStep / 2), down = (here - near_below) / (kStep / 2);
    const double near = (near_above - near_below) / kStep, most = kKink * std::max(1.0, std::fabs(near));
    return std::fabs(up - down) <= most && std::fabs(Slope() - near) <= most;
  }
};

// All tangents of a run of `jvp`, and what they are by differences, one list for each precise result of `f`.
struct Compared {
  std::vector<size_t> result;
  Arrays got, want;
};
// The steps by which operands are moved, in units of kStep: at a corner one needs to know where there is a slope.
constexpr double kSteps[] = {0, 1, -1, 0.5, -0.5};
absl::StatusOr<std::vector<Arrays>> RunsAround(Trial& t, LawId law, Runnable& f, const Active& active,
                                               const Arrays& with_tangents, Points points) {
  std::vector<Arrays> out;
  for (double step : std::span(kSteps).first(points == Points::kOrdinary ? 3 : std::size(kSteps))) {
    RICCI_ASSIGN(out.emplace_back(), t.Run(law, f, Moved(with_tangents, active, step * kStep)));
  }
  return out;
}
Around At(const std::vector<Arrays>& runs, size_t result, size_t k) {
  const auto at = [&](size_t run) { return runs[run][result][k]; };
  const bool corner = runs.size() > 3;
  return {at(0), at(1), at(2), corner ? at(3) : at(1), corner ? at(4) : at(2)};
}

// At a corner, tangents of elements without a slope, and NaN where operands are infinite, count as right.
Numbers SlopesOf(const std::vector<Arrays>& runs, size_t result, const Numbers& tangent, Points points) {
  Numbers out(tangent.size());
  for (size_t k = 0; k < out.size(); ++k) {
    const Around around = At(runs, result, k);
    const bool unknown = points == Points::kInfinities && std::isnan(tangent[k]);
    const bool corner = points != Points::kOrdinary;
    out[k] = corner && (unknown || !around.IsSmooth()) ? tangent[k] : around.Slope();
  }
  return out;
}

absl::StatusOr<Compared> TangentsOf(Trial& t, LawId law, Runnable& f, Runnable& jvp, const Active& active,
                                    const Arrays& with_tangents, Where where, Points points) {
  RICCI_ASSIGN(const Arrays got, t.Run(law, jvp, with_tangents, where));
  RICCI_ASSIGN(const std::vector<Arrays> runs, RunsAround(t, law, f, active, with_tangents, points));
  RICCI_TRY(Unchanged(t.CompareResults(law, f, got, runs[0], with_tangents)));
  Compared out;
  size_t next = f.results().size();
  for (size_t i = 0; i < f.results().size(); ++i) {
    if (!f.results()[i].inexact()) continue;
    const Numbers& tangent = got.at(next++);
    if (!f.results()[i].precise()) continue;
    out.result.push_back(i);
    out.got.push_back(tangent);
    out.want.push_back(SlopesOf(runs, i, tangent, points));
  }
  return out;
}

// ---- where slopes of all directions are those of one linear map ----
// The tangents of which `kept` says so; zeros in the place of the others.
Arrays Masked(const Arrays& with_tangents, const Active& active, const std::vector<uint8_t>& kept, bool which) {
  Arrays out = with_tangents;
  size_t at = 0;
  for (size_t i = active.size(); i < out.size(); ++i) {
    for (double& v : out[i]) v = (kept[at++] != 0) == which ? v : 0;
  }
  return out;
}
// Takes for right what has slopes along the tangents, but not the sum of those along two parts of them: the second
// one of three equal numbers in order.
absl::Status LeaveOutBends(Trial& t, LawId law, Runnable& f, const Active& active, const Arrays& with_tangents,
                           Points points, Compared& c) {
  size_t n = 0;
  for (size_t i = active.size(); i < with_tangents.size(); ++i) n += with_tangents[i].size();
  constexpr int kSplits = 4;
  for (int split = 0; split < kSplits; ++split) {
    std::vector<uint8_t> kept(n);
    for (size_t i = 0; i < n; ++i) kept[i] = (i * 2654435761u >> (8 + split)) & 1;
    std::vector<std::vector<Arrays>> runs;
    for (bool which : {false, true}) {
      const Arrays part = Masked(with_tangents, active, kept, which);
      RICCI_ASSIGN(runs.emplace_back(), RunsAround(t, law, f, active, part, points));
    }
    for (size_t i = 0; i < c.got.size(); ++i) {
      for (size_t k = 0; k < c.got[i].size(); ++k) {
        const Around a = At(runs[0], c.result[i], k), b = At(runs[1], c.result[i], k);
        const double apart = std::fabs(a.Slope() + b.Slope() - c.want[i][k]);
        const bool linear = apart <= kKink * std::max(1.0, std::fabs(c.want[i][k]));
        if (!linear || !a.IsSmooth() || !b.IsSmooth()) c.want[i][k] = c.got[i][k];
      }
    }
  }
  return absl::OkStatus();
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

absl::Status CompareAll(Trial& t, LawId law, const Runnable& f, const Compared& c, double tolerance,
                        const Arrays& with_tangents) {
  for (size_t i = 0; i < c.got.size(); ++i) {
    RICCI_TRY(t.Compare(law, c.result[i], f.results()[c.result[i]], c.got[i], c.want[i], tolerance, with_tangents));
  }
  return absl::OkStatus();
}

// The tangents that `jvp` gives for the results of `f`, against (f(x + ht) - f(x - ht)) / 2h. `what` names what is
// active, if it is one thing.
absl::Status Differences(Trial& t, LawId law, Runnable& f, Runnable& jvp, const Active& active,
                         const Arrays& with_tangents, double tolerance, Where where, std::string_view what = {}) {
  RICCI_ASSIGN(const Compared c, TangentsOf(t, law, f, jvp, active, with_tangents, where, Points::kOrdinary));
  const absl::Status s = CompareAll(t, law, f, c, tolerance, with_tangents);
  if (s.ok() || what.empty()) return s;
  const std::string ratio = Ratio(c);
  const absl::string_view why = s.message();
  return absl::FailedPreconditionError(absl::StrCat(
      "tangent of ", base::ToAbsl(what), ratio.empty() ? " is not the finite difference" : " is ", ratio, ": ", why));
}

}  // namespace

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
absl::Status Unchanged(const absl::Status& s) {
  const absl::string_view why = s.message();
  return absl::IsFailedPrecondition(s) ? absl::FailedPreconditionError(absl::StrCat("it changes the value: ", why)) : s;
}

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
absl::Status DifferencesAtCorner(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance, Points points) {
  if (!f.differentiable()) return absl::OkStatus();
  RICCI_ASSIGN(const RunnableRef jvp, f.Jvp());
  const Active active = PreciseParams(f);
  const Arrays in = WithTangents(t, f, x, active);
  RICCI_ASSIGN(Compared c, TangentsOf(t, law, f, *jvp, active, in, Where::kHere, points));
  const absl::Status s = CompareAll(t, law, f, c, tolerance, in);
  if (s.ok()) return s;
  RICCI_TRY(LeaveOutBends(t, law, f, active, in, points, c));
  return CompareAll(t, law, f, c, tolerance, in);
}

}}}  // namespace ricci::v0::laws
