// The laws: each compares a transformed program with what the transform means, in numbers.
//
// Inputs and tangents are drawn from the ranges of the example. Central differences need values of moderate size; the
// tolerances are those at which wrong rules are told from rounding with room on both sides.
#include "check/law_checks.h"

#include <cmath>
#include <cstdio>

#include "base/status_abi.h"
#include "ricci/transform.h"

namespace ricci::inline v0::check {
namespace {

constexpr int64_t kBatch = 3;
constexpr double kStep = 1e-5, kFirstOrder = 1e-6, kSecondOrder = 1e-4, kDot = 1e-9, kLoop = 1e-12, kDevice = 1e-9;

std::string ToText(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}
void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

// Where element `at` of one lane stands in an array whose batch is dimension `axis`.
struct Layout {
  int64_t inner;  // elements behind the batch
  size_t Place(size_t at, int64_t lane) const {
    const auto i = static_cast<int64_t>(at);
    return static_cast<size_t>((i / inner * kBatch + lane) * inner + i % inner);
  }
};
Layout LayoutOf(const Type& one, int32_t axis) {
  Layout l{1};
  for (uint32_t d = static_cast<uint32_t>(axis); d < one.rank; ++d) l.inner *= one.dims[d];
  if (l.inner == 0) l.inner = 1;
  return l;
}

class Laws {
 public:
  Laws(ricci_ctx* ctx, const ricci_check_example& example, uint64_t* count)
      : ctx_(ctx), example_(example), count_(count), random_(example.seed + 1) {
    ref_ = ricci_device_find(ctx, "ref", 3);
  }

  absl::Status CheckAll(const Program& f) {
    RICCI_ASSIGN(const Signature s, SignatureOf(ctx_, f.get()));
    RICCI_TRY(CheckText(f));
    const Arrays x = DrawParams(s.params);
    RICCI_TRY(CheckDevices(f, s, x));
    const bool batch = (example_.hdr.flags & RICCI_CHECK_NO_BATCH) == 0;
    if (Differentiable(s)) RICCI_TRY(CheckDerivatives(f, s, x, batch));
    return batch ? CheckBatches(f, s) : absl::OkStatus();
  }

 private:
  bool Differentiable(const Signature& s) const {
    bool in = false, out = false;
    for (const Type& t : s.params) in |= t.real();
    for (const Type& t : s.results) out |= t.real();
    return in && out && (example_.hdr.flags & RICCI_CHECK_NO_DERIVATIVES) == 0;
  }

  // ---- numbers ----
  Numbers Draw(const Type& t, double low, double high) {
    Numbers out(static_cast<size_t>(t.elements));
    for (double& v : out) {
      v = low + (high - low) * 0x1p-53 * static_cast<double>(random_() >> 11);
      if (!t.floating()) v = t.dtype == RICCI_BOOL ? static_cast<double>(random_() & 1) : std::floor(v);
    }
    return out;
  }
  // The parameters of `f` itself, or of `f` with some operands batched.
  Arrays DrawParams(const std::vector<Type>& types) {
    Arrays out;
    for (size_t i = 0; i < types.size(); ++i) {
      out.push_back(Draw(types[i], example_.operands[i].low, example_.operands[i].high));
    }
    return out;
  }
  Numbers DrawTangent(const Type& t) { return Draw(t, -1, 1); }

  absl::Status Fail(std::string_view law, size_t result, size_t element, double got, double want,
                    const Arrays& x) const {
    std::string text = base::Cat("law ", law, ": result ", result, ", element ", element, " is ", ToText(got),
                                 ", it must be ", ToText(want), "; inputs");
    for (const Numbers& one : x) {
      text += " [";
      for (size_t i = 0; i < one.size() && i < 16; ++i) text += (i == 0 ? "" : ", ") + ToText(one[i]);
      text += one.size() > 16 ? ", ...]" : "]";
    }
    return absl::FailedPreconditionError(text);
  }
  absl::Status Compare(std::string_view law, size_t result, const Numbers& got, const Numbers& want, double tolerance,
                       const Arrays& x) {
    ++*count_;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(got[i]) && std::isnan(want[i])) continue;
      if (got[i] == want[i] || std::fabs(got[i] - want[i]) <= tolerance * std::max(1.0, std::fabs(want[i]))) continue;
      return Fail(law, result, i, got[i], want[i], x);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<Arrays> RunRef(const Program& f, const Signature& s, const Arrays& in) {
    return Run(ctx_, f.get(), s, in, ref_);
  }

  // ---- text and devices ----
  absl::Status CheckText(const Program& f) {
    RICCI_TRY(base::FromAbi(ricci_program_verify(f.get())));
    std::string text;
    RICCI_TRY(base::FromAbi(ricci_program_print(f.get(), &text, Append)));
    ricci_program* parsed = nullptr;
    RICCI_TRY(base::FromAbi(ricci_program_parse(ctx_, text.data(), text.size(), "", 0, &parsed)));
    const Program owned = Own(parsed);
    ++*count_;
    if (ricci_program_equal(f.get(), parsed) != 0) return absl::OkStatus();
    return absl::FailedPreconditionError("law text: the parsed text is another program: " + text);
  }
  absl::Status CheckDevices(const Program& f, const Signature& s, const Arrays& x) {
    if ((example_.hdr.flags & RICCI_CHECK_REF_ONLY) != 0) return absl::OkStatus();
    RICCI_ASSIGN(const Arrays want, RunRef(f, s, x));
    for (uint32_t d = 0; d < ricci_device_count(ctx_); ++d) {
      ricci_device* device = ricci_device_get(ctx_, d);
      if (device == ref_) continue;
      RICCI_ASSIGN(const Arrays got, Run(ctx_, f.get(), s, x, device));
      for (size_t i = 0; i < got.size(); ++i) {
        const double tolerance = s.results[i].real() ? kDevice : s.results[i].floating() ? 1e-5 : 0;
        RICCI_TRY(Compare("device", i, got[i], want[i], tolerance, x));
      }
    }
    return absl::OkStatus();
  }

  // ---- derivatives ----
  absl::StatusOr<Program> Jvp(const Program& f, const Signature& s) {
    std::vector<uint8_t> active;
    for (const Type& t : s.params) active.push_back(t.real());
    ricci_program* out = nullptr;
    RICCI_TRY(base::FromAbi(ricci_jvp(f.get(), active.data(), static_cast<uint32_t>(active.size()), &out)));
    return Own(out);
  }
  absl::Status CheckDerivatives(const Program& f, const Signature& s, const Arrays& x, bool batch) {
    RICCI_ASSIGN(const Program jvp, Jvp(f, s));
    RICCI_ASSIGN(const Signature js, SignatureOf(ctx_, jvp.get()));
    Arrays with_tangents = x;
    for (size_t i = x.size(); i < js.params.size(); ++i) with_tangents.push_back(DrawTangent(js.params[i]));
    RICCI_TRY(CheckJvp("jvp", f, s, jvp, js, with_tangents, kFirstOrder));
    RICCI_TRY(CheckTranspose("transpose", f, s, jvp, js, with_tangents));
    RICCI_TRY(CheckSecond(jvp, js, with_tangents));
    return batch ? CheckNested(f, s, jvp, js) : absl::OkStatus();
  }
  absl::Status CheckSecond(const Program& jvp, const Signature& js, const Arrays& x) {
    RICCI_ASSIGN(const Program second, Jvp(jvp, js));
    RICCI_ASSIGN(const Signature ss, SignatureOf(ctx_, second.get()));
    Arrays with_tangents = x;
    for (size_t i = x.size(); i < ss.params.size(); ++i) with_tangents.push_back(DrawTangent(ss.params[i]));
    return CheckJvp("jvp of jvp", jvp, js, second, ss, with_tangents, kSecondOrder);
  }
  absl::Status CheckJvp(std::string_view law, const Program& f, const Signature& s, const Program& jvp,
                        const Signature& js, const Arrays& with_tangents, double tolerance) {
    Arrays up(with_tangents.begin(), with_tangents.begin() + static_cast<int64_t>(s.params.size())), down = up;
    size_t next = s.params.size();
    for (size_t i = 0; i < s.params.size(); ++i) {
      if (!s.params[i].real()) continue;
      const Numbers& tangent = with_tangents[next++];
      for (size_t k = 0; k < tangent.size(); ++k) {
        up[i][k] += kStep * tangent[k];
        down[i][k] -= kStep * tangent[k];
      }
    }
    RICCI_ASSIGN(const Arrays got, RunRef(jvp, js, with_tangents));
    RICCI_ASSIGN(const Arrays above, RunRef(f, s, up));
    RICCI_ASSIGN(const Arrays below, RunRef(f, s, down));
    next = s.results.size();
    for (size_t i = 0; i < s.results.size(); ++i) {
      if (!s.results[i].floating()) continue;
      const Numbers& tangent = got.at(next++);
      if (!s.results[i].real()) continue;
      Numbers want(above[i].size());
      for (size_t k = 0; k < want.size(); ++k) want[k] = (above[i][k] - below[i][k]) / (2 * kStep);
      RICCI_TRY(Compare(law, i, tangent, want, tolerance, with_tangents));
    }
    return absl::OkStatus();
  }
  // <ct, jvp(t)> = <vjp(ct), t>
  absl::Status CheckTranspose(std::string_view law, const Program& f, const Signature& s, const Program& jvp,
                              const Signature& js, const Arrays& with_tangents) {
    std::vector<uint8_t> wanted;
    for (const Type& t : s.params) wanted.push_back(t.real());
    ricci_program *fwd_raw = nullptr, *bwd_raw = nullptr;
    RICCI_TRY(
        base::FromAbi(ricci_vjp(f.get(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd_raw, &bwd_raw)));
    const Program fwd = Own(fwd_raw), bwd = Own(bwd_raw);
    RICCI_ASSIGN(const Signature fs, SignatureOf(ctx_, fwd_raw));
    RICCI_ASSIGN(const Signature bs, SignatureOf(ctx_, bwd_raw));
    const Arrays x(with_tangents.begin(), with_tangents.begin() + static_cast<int64_t>(s.params.size()));
    RICCI_ASSIGN(const Arrays pushed, RunRef(jvp, js, with_tangents));
    RICCI_ASSIGN(const Arrays kept, RunRef(fwd, fs, x));
    Arrays in(kept.begin() + static_cast<int64_t>(s.results.size()), kept.end());
    double forward = 0, backward = 0, size = 1;
    size_t next = s.results.size();
    for (const Type& t : s.results) {
      if (!t.floating()) continue;
      in.push_back(t.real() ? DrawTangent(t) : Numbers(static_cast<size_t>(t.elements)));
      Dot(pushed.at(next++), in.back(), forward, size);
    }
    RICCI_ASSIGN(const Arrays cts, RunRef(bwd, bs, in));
    for (size_t i = 0; i < cts.size(); ++i) Dot(cts[i], with_tangents.at(s.params.size() + i), backward, size);
    ++*count_;
    if (std::isnan(forward) && std::isnan(backward)) return absl::OkStatus();
    if (std::fabs(forward - backward) <= kDot * size) return absl::OkStatus();
    return Fail(law, 0, 0, backward, forward, with_tangents);
  }
  static void Dot(const Numbers& a, const Numbers& b, double& sum, double& size) {
    for (size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
      size += std::fabs(a[i] * b[i]);
    }
  }

  // ---- batching ----
  absl::StatusOr<Program> Vmap(const Program& f, const std::vector<int32_t>& in, const std::vector<int32_t>& out) {
    ricci_program* p = nullptr;
    RICCI_TRY(base::FromAbi(ricci_vmap(f.get(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                       static_cast<uint32_t>(out.size()), kBatch, "", 0, &p)));
    return Own(p);
  }
  // Every choice of batched operands (of at most 6 of them); the batch first, last and between.
  absl::Status CheckBatches(const Program& f, const Signature& s) {
    const size_t n = std::min<size_t>(s.params.size(), 6);
    for (uint32_t chosen = 1; chosen < (1u << n); ++chosen) {
      for (int where = 0; where < 3; ++where) {
        std::vector<int32_t> in, out;
        for (size_t i = 0; i < s.params.size(); ++i) {
          in.push_back((chosen >> i & 1) != 0 ? AxisAt(s.params[i], where) : -1);
        }
        for (const Type& t : s.results) out.push_back(AxisAt(t, where));
        RICCI_ASSIGN(const Program batched, Vmap(f, in, out));
        RICCI_TRY(CompareWithLoop("vmap", f, s, batched, in, out));
      }
      RICCI_TRY(CheckRules(f, s, chosen));
    }
    return absl::OkStatus();
  }
  static int32_t AxisAt(const Type& t, int where) {
    const auto rank = static_cast<int32_t>(t.rank);
    return where == 0 ? 0 : where == 1 ? rank : (rank + 1) / 2;
  }
  absl::Status CheckRules(const Program& f, const Signature& s, uint32_t chosen) {
    std::vector<uint8_t> batched, out(s.results.size(), 1);
    std::vector<int32_t> axes;
    for (size_t i = 0; i < s.params.size(); ++i) {
      batched.push_back(chosen >> i & 1);
      axes.push_back(batched.back() != 0 ? 0 : -1);
    }
    ricci_program* p = nullptr;
    RICCI_TRY(base::FromAbi(
        ricci_batch(f.get(), batched.data(), static_cast<uint32_t>(batched.size()), kBatch, "", 0, out.data(), &p)));
    return CompareWithLoop("batch", f, s, Own(p), axes, std::vector<int32_t>(out.size(), 0));
  }
  absl::Status CompareWithLoop(std::string_view law, const Program& f, const Signature& s, const Program& batched,
                               const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes) {
    RICCI_ASSIGN(const Signature bs, SignatureOf(ctx_, batched.get()));
    Arrays in;
    for (size_t i = 0; i < bs.params.size(); ++i) {
      const bool own = i < example_.n_operands;
      in.push_back(own ? Draw(bs.params[i], example_.operands[i].low, example_.operands[i].high)
                       : DrawTangent(bs.params[i]));
    }
    RICCI_ASSIGN(const Arrays got, RunRef(batched, bs, in));
    for (int64_t lane = 0; lane < kBatch; ++lane) {
      Arrays one;
      for (size_t i = 0; i < in.size(); ++i) one.push_back(Lane(in[i], s.params[i], in_axes[i], lane));
      RICCI_ASSIGN(const Arrays want, RunRef(f, s, one));
      for (size_t i = 0; i < want.size(); ++i) {
        RICCI_TRY(Compare(law, i, Lane(got[i], s.results[i], out_axes[i], lane), want[i], kLoop, one));
      }
    }
    return absl::OkStatus();
  }
  static Numbers Lane(const Numbers& all, const Type& one, int32_t axis, int64_t lane) {
    if (axis < 0) return all;
    const Layout layout = LayoutOf(one, axis);
    Numbers out(static_cast<size_t>(one.elements));
    for (size_t i = 0; i < out.size(); ++i) out[i] = all[layout.Place(i, lane)];
    return out;
  }

  // ---- orders: vmap of the derivative, the derivative of vmap ----
  absl::Status CheckNested(const Program& f, const Signature& s, const Program& jvp, const Signature& js) {
    const std::vector<int32_t> in(js.params.size(), 0), out(js.results.size(), 0);
    RICCI_ASSIGN(const Program batched, Vmap(jvp, in, out));
    RICCI_TRY(CompareWithLoop("vmap of jvp", jvp, js, batched, in, out));
    RICCI_ASSIGN(const Program many,
                 Vmap(f, std::vector<int32_t>(s.params.size(), 0), std::vector<int32_t>(s.results.size(), 0)));
    RICCI_ASSIGN(const Signature ms, SignatureOf(ctx_, many.get()));
    RICCI_ASSIGN(const Program tangent, Jvp(many, ms));
    RICCI_ASSIGN(const Signature ts, SignatureOf(ctx_, tangent.get()));
    Arrays x = DrawParams(ms.params);
    for (size_t i = x.size(); i < ts.params.size(); ++i) x.push_back(DrawTangent(ts.params[i]));
    RICCI_TRY(CheckJvp("jvp of vmap", many, ms, tangent, ts, x, kFirstOrder));
    return CheckTranspose("transpose of vmap", many, ms, tangent, ts, x);
  }

  ricci_ctx* ctx_;
  const ricci_check_example& example_;
  uint64_t* count_;
  std::mt19937_64 random_;
  ricci_device* ref_ = nullptr;
};

}  // namespace

absl::Status CheckLaws(ricci_ctx* ctx, const Program& f, const ricci_check_example& example, uint64_t* count) {
  return Laws(ctx, example, count).CheckAll(f);
}

}  // namespace ricci::inline v0::check
