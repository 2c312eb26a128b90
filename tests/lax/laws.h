// The laws of differentiation and batching, checked for one function on `ref` in f64.
//
// jvp against central differences, vjp against jvp by the dot test, both again for the jvp program itself (second
// order), factor texts, batching rules and structural vmap against a loop over the batch, with the batch at dimension 0
// and inside.
#ifndef RICCI_TESTS_LAX_LAWS_H_
#define RICCI_TESTS_LAX_LAWS_H_
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lax/factor_check.h"
#include "lax/traced_function.h"

namespace ricci::testing {

// One function to check, with inputs drawn evenly from [low, high]; integers and bool are rounded down.
struct Case {
  std::string name;
  std::vector<std::pair<DType, Shape>> inputs;
  Function f;
  double low = -2, high = 2;
  bool differentiable = true;
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Laws {
 public:
  explicit Laws(const Case& c) : case_(c), random_(std::hash<std::string>()(c.name)) {}

  void CheckAll() {
    std::vector<ArrayType> params;
    for (const auto& [dtype, shape] : case_.inputs) params.push_back(bench_.Type(dtype, shape));
    const Program f = bench_.Trace(params, case_.f);
    const std::vector<Numbers> x = Draw(params);
    CheckFactors(bench_, f);
    if (case_.differentiable) {
      const Program tangent = CheckJvp(f, x, 1e-6);
      CheckTranspose(f, tangent, x);
      std::vector<Numbers> with_tangents = x;
      const std::vector<ArrayType> all = bench_.Params(tangent);
      for (size_t i = x.size(); i < all.size(); ++i) with_tangents.push_back(Draw({all[i]})[0]);
      CheckJvp(tangent, with_tangents, 1e-4);
    }
    CheckBatch(params, case_.f);
    CheckBatch(params, [&](const Values& in) { return case_.f(BatchInside(in)); });
  }

 private:
  static bool IsReal(const ArrayType& t) { return t.dtype() == DType::kF64; }
  std::vector<uint8_t> RealMask(const std::vector<ArrayType>& types) const {
    std::vector<uint8_t> mask;
    for (const ArrayType& t : types) mask.push_back(IsReal(t));
    return mask;
  }

  std::vector<Numbers> Draw(const std::vector<ArrayType>& types) {
    std::uniform_real_distribution<double> uniform(case_.low, case_.high);
    std::vector<Numbers> out;
    for (const ArrayType& t : types) {
      Numbers& numbers = out.emplace_back(static_cast<size_t>(t.elements()));
      for (double& v : numbers) v = IsReal(t) ? uniform(random_) : std::floor(std::fabs(uniform(random_)));
    }
    return out;
  }

  static void ExpectNear(const Numbers& got, const Numbers& want, double tolerance, const std::string& what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(want[i]) && std::isnan(got[i])) continue;
      EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << what << ", element " << i;
    }
  }

  // Returns the jvp program.
  Program CheckJvp(const Program& f, const std::vector<Numbers>& x, double tolerance) {
    const std::vector<ArrayType> params = bench_.Params(f), results = bench_.Results(f);
    const std::vector<uint8_t> active = RealMask(params);
    ricci_program* raw = nullptr;
    Check(ricci_jvp(f.get(), active.data(), static_cast<uint32_t>(active.size()), &raw));
    const Program jvp = Own(raw);
    std::vector<Numbers> in = x, up = x, down = x;
    constexpr double kStep = 1e-5;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!active[i]) continue;
      in.push_back(Draw({params[i]})[0]);
      for (size_t k = 0; k < x[i].size(); ++k) {
        up[i][k] += kStep * in.back()[k];
        down[i][k] -= kStep * in.back()[k];
      }
    }
    const std::vector<Numbers> got = bench_.Run(jvp, in), above = bench_.Run(f, up), below = bench_.Run(f, down);
    size_t tangent = results.size();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!IsReal(results[i])) continue;
      Numbers want(above[i].size());
      for (size_t k = 0; k < want.size(); ++k) want[k] = (above[i][k] - below[i][k]) / (2 * kStep);
      ExpectNear(got.at(tangent++), want, tolerance, "jvp of result " + std::to_string(i));
    }
    return jvp;
  }

  void CheckTranspose(const Program& f, const Program& jvp, const std::vector<Numbers>& x) {
    const std::vector<ArrayType> params = bench_.Params(f), results = bench_.Results(f);
    const std::vector<uint8_t> wanted = RealMask(params);
    ricci_program *fwd_raw = nullptr, *bwd_raw = nullptr;
    Check(ricci_vjp(f.get(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd_raw, &bwd_raw));
    const Program fwd = Own(fwd_raw), bwd = Own(bwd_raw);
    std::vector<Numbers> tangents, in = x;
    for (const ArrayType& t : params) {
      if (IsReal(t)) in.push_back(tangents.emplace_back(Draw({t})[0]));
    }
    const std::vector<Numbers> with_tangents = bench_.Run(jvp, in), kept = bench_.Run(fwd, x);
    std::vector<Numbers> bwd_in(kept.begin() + static_cast<int64_t>(results.size()), kept.end());
    double forward = 0, backward = 0;
    size_t next = results.size();
    for (const ArrayType& t : results) {
      if (!IsReal(t)) continue;
      bwd_in.push_back(Draw({t})[0]);
      forward += Dot(with_tangents.at(next++), bwd_in.back());
    }
    const std::vector<Numbers> cts = bench_.Run(bwd, bwd_in);
    for (size_t i = 0; i < tangents.size(); ++i) backward += Dot(cts.at(i), tangents[i]);
    EXPECT_NEAR(forward, backward, 1e-9 * std::max(1.0, std::fabs(forward))) << "dot test";
  }
  static double Dot(const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  // Real operands multiplied by the unit matrix from the left: their batch then lies behind dimension 0.
  static Values BatchInside(Values in) {
    for (Value& v : in) {
      if (v.rank() == 0 || v.dtype() != DType::kF64) continue;
      const int64_t n = v.dim(0), unit_shape[] = {n, n};
      const Value row = lax::iota(v.builder, DType::kI32, unit_shape, 0);
      const Value column = lax::iota(v.builder, DType::kI32, unit_shape, 1);
      const Value unit = lax::convert_element_type(lax::eq(row, column), DType::kF64);
      v = lax::dot_general(unit, v, {{1}, {0}, {}, {}});
    }
    return in;
  }

  // Every choice of batched operands; batch axis 0 for the rules, also the last axis for structural vmap.
  void CheckBatch(const std::vector<ArrayType>& params, const Function& function) {
    const Program f = bench_.Trace(params, function);
    for (uint32_t chosen = 1; chosen < (1u << params.size()); ++chosen) {
      CheckBatchRules(f, params, chosen);
      CheckVmap(f, params, chosen);
    }
  }
  static constexpr int64_t kBatch = 3;

  void CheckBatchRules(const Program& f, const std::vector<ArrayType>& params, uint32_t chosen) {
    std::vector<uint8_t> batched;
    std::vector<int32_t> axes;
    for (size_t i = 0; i < params.size(); ++i) {
      batched.push_back(chosen >> i & 1);
      axes.push_back(batched.back() ? 0 : -1);
    }
    std::vector<uint8_t> out_batched(bench_.Results(f).size(), 1);
    ricci_program* raw = nullptr;
    Check(ricci_batch(f.get(), batched.data(), static_cast<uint32_t>(batched.size()), kBatch, "", 0, out_batched.data(),
                      &raw));
    CompareWithLoop(f, Own(raw), params, axes, std::vector<int32_t>(out_batched.size(), 0), "batch");
  }
  void CheckVmap(const Program& f, const std::vector<ArrayType>& params, uint32_t chosen) {
    std::vector<int32_t> in_axes, out_axes;
    for (size_t i = 0; i < params.size(); ++i) {
      in_axes.push_back(chosen >> i & 1 ? static_cast<int32_t>(params[i].rank()) : -1);
    }
    for (const ArrayType& t : bench_.Results(f)) out_axes.push_back(static_cast<int32_t>(t.rank()));
    ricci_program* raw = nullptr;
    Check(ricci_vmap(f.get(), in_axes.data(), static_cast<uint32_t>(in_axes.size()), out_axes.data(),
                     static_cast<uint32_t>(out_axes.size()), kBatch, "", 0, &raw));
    CompareWithLoop(f, Own(raw), params, in_axes, out_axes, "vmap");
  }

  // Element `at` of the slice `lane` of an array whose batch is its first (axis 0) or last dimension.
  static size_t Place(int32_t axis, size_t at, int64_t lane, size_t slice) {
    return axis == 0 ? static_cast<size_t>(lane) * slice + at : at * kBatch + static_cast<size_t>(lane);
  }
  static Numbers Lane(const Numbers& all, int32_t axis, int64_t lane) {
    Numbers out(all.size() / kBatch);
    for (size_t i = 0; i < out.size(); ++i) out[i] = all[Place(axis, i, lane, out.size())];
    return out;
  }
  void CompareWithLoop(const Program& f, const Program& batched, const std::vector<ArrayType>& params,
                       const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes,
                       const std::string& what) {
    const std::vector<Numbers> in = Draw(bench_.Params(batched));
    const std::vector<Numbers> got = bench_.Run(batched, in);
    for (int64_t lane = 0; lane < kBatch; ++lane) {
      std::vector<Numbers> one;
      for (size_t i = 0; i < params.size(); ++i) {
        one.push_back(in_axes[i] < 0 ? in[i] : Lane(in[i], in_axes[i], lane));
      }
      const std::vector<Numbers> want = bench_.Run(f, one);
      for (size_t i = 0; i < want.size(); ++i) {
        ExpectNear(Lane(got[i], out_axes[i], lane), want[i], 1e-12, what + " lane " + std::to_string(lane));
      }
    }
  }

  const Case& case_;
  Bench bench_;
  std::mt19937_64 random_;
};

}  // namespace ricci::testing
#endif
