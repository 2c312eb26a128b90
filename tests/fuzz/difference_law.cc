// The difference law: jvp against central differences, element by element, in f64.
//
// Differences at two steps show how exact they are: if they disagree, or if one-sided slopes do (a kink at the point
// itself), the case is undecided. So it is if smaller steps give another slope: on stairs so narrow that a step climbs
// many (ceil of something steep), or on waves so short that two steps agree by chance (sin of 1e9). The size of
// rounding errors is known from noise.
//
// NaN tangents are counted as undecided too. Smooth programs have no stop_gradient, and clamp between constants only.
#include <cmath>
#include <cstdio>

#include "fuzz/whole_program_laws.h"

namespace ricci::testing {
namespace {

constexpr double kStep = 1e-4;

// x + step v, for parameters with a tangent.
std::vector<Bytes> Moved(const std::vector<Bytes>& with_tangents, const Mask& active, double step) {
  std::vector<Bytes> out(with_tangents.begin(), with_tangents.begin() + static_cast<int64_t>(active.size()));
  size_t next = active.size();
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i] == 0) continue;
    const Bytes& tangent = with_tangents[next++];
    for (size_t at = 0; at < tangent.size(); at += sizeof(double)) {
      const double v = ReadFloat(DType::kF64, &out[i][at]) + step * ReadFloat(DType::kF64, &tangent[at]);
      std::memcpy(&out[i][at], &v, sizeof v);
    }
  }
  return out;
}

std::string Digits(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", v);
  return text;
}

struct Sample {
  double at, above, below, near_above, near_below;

  double Slope() const { return (above - below) / (2 * kStep); }
  double NearSlope() const { return (near_above - near_below) / kStep; }
  double Extrapolated() const { return (4 * NearSlope() - Slope()) / 3; }
  // Whether the two steps give the same slope; they do not across the jumps of a remainder.
  bool Agree() const {
    return std::fabs(Slope() - NearSlope()) <= 0.1 * std::max(std::fabs(Slope()), std::fabs(NearSlope()));
  }
  // One-sided slopes come together with the step, unless there is a kink.
  bool Kink(double tolerance) const {
    const double far = std::fabs(above - 2 * at + below) / kStep,
                 near = std::fabs(near_above - 2 * at + near_below) / (kStep / 2);
    return near > 0.75 * far && near > tolerance;
  }
};

class Differences {
 public:
  Differences(ricci_ctx* ctx, const Program& f, LawCounts& counts) : ctx_(ctx), f_(f), counts_(counts) {}

  Complaint Check(uint64_t seed) {
    const std::vector<ArrayType> params = ParamsOf(ctx_, f_.get()), results = ResultsOf(ctx_, f_.get());
    const Mask active = FloatingOf(params);
    for (size_t i = 0; i < params.size(); ++i) {
      if (active[i] != 0 && params[i].dtype() != DType::kF64) return {};  // too coarse
    }
    const Program jvp = JvpOf(f_, active);
    const std::vector<Bytes> in = DrawInputs(ctx_, jvp.get(), seed, /*special=*/false);
    Reference center(ctx_, f_, Moved(in, active, 0), counts_.loops);
    const RunResult got = Compiled(ctx_, jvp.get(), "ref").Run(in);
    std::vector<RunResult> runs;
    for (double step : {1.0, -1.0, 0.5, -0.5})
      runs.push_back(Reference(center, Moved(in, active, step * kStep)).want());
    runs.push_back(center.want());
    runs.push_back(got);
    for (const RunResult& r : runs) {
      if (IsBrokenPromise(r) || IsRefusedCall(f_, r)) return {};
      if (r.error) return r.error;
    }
    size_t next = results.size();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!IsFloat(results[i].dtype())) continue;
      const Bytes& tangent = got.arrays[next++];
      if (results[i].dtype() != DType::kF64) continue;
      for (size_t at = 0; at < tangent.size(); at += sizeof(double)) {
        const auto read = [&](size_t run) { return ReadFloat(DType::kF64, &runs[run].arrays[i][at]); };
        const Sample s = {read(4), read(0), read(1), read(2), read(3)};
        Complaint c = Judge(center, s, ReadFloat(DType::kF64, &tangent[at]), i, at / sizeof(double));
        if (c && IsFiner(center, in, active, s, ReadFloat(DType::kF64, &tangent[at]), i, at)) {
          ++counts_.undecided;
          c.reset();
        }
        if (c) return c;
      }
    }
    return {};
  }

 private:
  // Whether differences over smaller steps, as long as rounding allows, contradict `s`.
  static bool IsFiner(Reference& center, const std::vector<Bytes>& in, const Mask& active, const Sample& s, double got,
                      size_t result, size_t at) {
    const double apart = std::fabs(got - s.Extrapolated());
    const double noise = 4 * center.Spread(result, at / sizeof(double)).value_or(0) + 0x1p-48 * std::fabs(s.at);
    for (double step = kStep / 3; step > SmallestStep(in, active) && noise / step < apart; step /= 3) {
      const RunResult above = Reference(center, Moved(in, active, step)).want(),
                      below = Reference(center, Moved(in, active, -step)).want();
      if (above.error || below.error) return true;
      const auto read = [&](const RunResult& run) { return ReadFloat(DType::kF64, &run.arrays[result][at]); };
      if (!(std::fabs((read(above) - read(below)) / (2 * step) - s.Extrapolated()) <= apart / 2)) return true;
    }
    return false;
  }
  // The smallest step by which all parameters can be moved with an error of at most a hundredth.
  static double SmallestStep(const std::vector<Bytes>& in, const Mask& active) {
    double largest = 1;
    for (size_t i = 0; i < active.size(); ++i)
      for (size_t at = 0; active[i] != 0 && at < in[i].size(); at += sizeof(double))
        largest = std::max(largest, std::fabs(ReadFloat(DType::kF64, &in[i][at])));
    return largest * 0x1p-46;
  }
  Complaint Judge(Reference& center, const Sample& s, double got, size_t result, size_t element) {
    ++counts_.elements;
    const double want = s.Extrapolated(), size = std::max(std::fabs(want), std::fabs(got));
    // A tangent of NaN comes from a singular point, such as that of atan2(0, 0).
    if (!std::isfinite(want) || std::isnan(got)) return ++counts_.undecided, Complaint();
    double tolerance = 1e-6 * size + 4 * std::fabs(s.Slope() - s.NearSlope());
    if (std::fabs(got - want) <= tolerance) return {};
    if (!s.Agree()) return ++counts_.undecided, Complaint();
    const std::optional<double> spread = center.Spread(result, element);
    if (!spread) return ++counts_.undecided, Complaint();
    tolerance += (16 * *spread + 0x1p-50 * std::fabs(s.at)) / kStep;
    if (std::fabs(got - want) <= tolerance || s.Kink(tolerance)) return ++counts_.undecided, Complaint();
    return Text("tangent of result ", result, " element ", element, " is ", Digits(got), ", differences say ",
                Digits(want));
  }

  ricci_ctx* ctx_;
  const Program& f_;
  LawCounts& counts_;
};

}  // namespace

Complaint CheckDifference(ricci_ctx* ctx, const Program& f, Dice&, uint64_t seed, LawCounts& counts) {
  return Differences(ctx, f, counts).Check(seed);
}

}  // namespace ricci::testing
