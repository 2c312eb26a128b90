#include "check/trial.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "base/status_abi.h"
#include "ricci/check.h"

namespace ricci::inline v0::check {
namespace {

// The optimized form computes the same operations, sums kept in double; a device contracts and orders as it likes.
constexpr double kOptimizedTolerance = 1e-9;
double DeviceTolerance(const Type& t) {
  constexpr double kFloats[] = {1.5e-2, 0.125, 1e-5, 1e-9};  // f16, bf16, f32, f64
  return t.floating() ? kFloats[t.dtype - RICCI_F16] : 0;
}
static_assert(RICCI_F64 - RICCI_F16 == 3);

std::string ToText(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}
std::string ToText(const Arrays& inputs) {
  constexpr size_t kShown = 16;
  std::string text;
  for (const Numbers& one : inputs) {
    text += " [";
    for (size_t i = 0; i < one.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + ToText(one[i]);
    text += one.size() > kShown ? ", ...]" : "]";
  }
  return text;
}

// Relative to the larger of 1 and `want`.
double Difference(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double difference = std::fabs(got - want) / std::max(1.0, std::fabs(want));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

std::string_view NameOf(LawId law) { return AllLaws()[static_cast<size_t>(law)].name; }

// A failure of `law` while `by` is checked; the law of the device runs the program as it is.
absl::Status In(LawId law, LawId by, const absl::Status& s) {
  if (s.ok()) return s;
  const std::string where = law == by || by == LawId::kDevice ? "" : base::Cat(", in ", NameOf(by));
  const absl::string_view why = s.message();
  return absl::Status(s.code(), absl::StrCat("law ", base::ToAbsl(NameOf(law)), where, ": ", why));
}

}  // namespace

absl::StatusOr<Trial> Trial::Of(ricci_ctx* ctx, const Example& example, std::string_view device, Findings& findings) {
  Trial t(ctx, example, findings);
  RICCI_ASSIGN(t.f_, Runnable::Of(ctx, ricci_program_retain(example.program.get())));
  t.ref_ = ricci_device_find(ctx, "ref", 3);
  for (uint32_t i = 0; i < ricci_device_count(ctx); ++i) {
    ricci_device* d = ricci_device_get(ctx, i);
    ricci_device_desc desc{};
    desc.hdr.size = sizeof desc;
    ricci_device_info(d, &desc);
    const bool wanted = device.empty() || device == std::string_view(desc.kind.ptr, desc.kind.len);
    if (d != t.ref_ && wanted && (example.flags & RICCI_CHECK_REF_ONLY) == 0) t.others_.push_back(d);
  }
  t.x_ = t.Draw(t.f_->params());
  return t;
}

void Trial::CheckAll() {
  const uint32_t flags = example_.flags;
  const int order = (flags & RICCI_CHECK_NO_DERIVATIVES) != 0 || !f_->differentiable() ? 0
                    : (flags & RICCI_CHECK_FIRST_ORDER) != 0                           ? 1
                                                                                       : 2;
  const bool batch = (flags & RICCI_CHECK_NO_BATCH) == 0;
  for (size_t i = 0; i < AllLaws().size(); ++i) {
    const Law& law = AllLaws()[i];
    if (law.order <= order && (batch || !law.batch)) Note(static_cast<LawId>(i), law.check(*this));
  }
}

void Trial::Note(LawId law, const absl::Status& failure) {
  Finding& found = Of(law);
  if (failure.ok() || !found.failure.ok()) return;
  const absl::string_view why = failure.message();
  const bool named = why.substr(0, 4) == "law ";
  const std::string front = base::Cat(example_.name, example_.name.empty() ? "" : ": ", named ? "" : "law ",
                                      named ? "" : NameOf(law), named ? "" : ": ");
  found.failure = absl::Status(failure.code(), absl::StrCat(front, why));
}

// ---- numbers ----
Numbers Trial::DrawIn(const Type& t, Range range) {
  Numbers out(static_cast<size_t>(t.elements));
  for (double& v : out) {
    v = range.low + (range.high - range.low) * 0x1p-53 * static_cast<double>(random_() >> 11);
    if (!t.floating()) v = t.dtype == RICCI_BOOL ? static_cast<double>(random_() & 1) : std::floor(v);
  }
  return out;
}
Arrays Trial::Draw(const std::vector<Type>& types) {
  Arrays out;
  for (size_t i = 0; i < types.size(); ++i) {
    out.push_back(i < example_.ranges.size() ? DrawIn(types[i], example_.ranges[i]) : DrawTangent(types[i]));
  }
  return out;
}

absl::StatusOr<Arrays> Trial::Run(LawId law, Runnable& p, const Arrays& inputs, Where where) {
  if (p.TakeFirstRun()) {
    Note(LawId::kText, In(LawId::kText, law, CheckText(ctx_, p.program())));
    Note(LawId::kFactors, In(LawId::kFactors, law, CheckFactors(ctx_, p.program())));
    Count(LawId::kText);
    Count(LawId::kFactors);
  }
  RICCI_ASSIGN(const Arrays want, p.Run(ref_, inputs));
  Note(LawId::kOptimized, CompareAll(LawId::kOptimized, law, p, p.RunOptimized(inputs), want, inputs));
  if (where == Where::kEverywhere) {
    for (ricci_device* d : others_) {
      Note(LawId::kDevice, CompareAll(LawId::kDevice, law, p, p.Run(d, inputs), want, inputs));
    }
  }
  return want;
}

absl::Status Trial::CompareAll(LawId law, LawId by, const Runnable& p, const absl::StatusOr<Arrays>& got,
                               const Arrays& want, const Arrays& inputs) {
  if (!got.ok()) return In(law, by, got.status());
  for (size_t i = 0; i < want.size(); ++i) {
    const double tolerance = law == LawId::kOptimized ? kOptimizedTolerance : DeviceTolerance(p.results()[i]);
    RICCI_TRY(In(law, by, Compare(law, i, (*got)[i], want[i], tolerance, inputs)));
  }
  return absl::OkStatus();
}

absl::Status Trial::Compare(LawId law, size_t result, const Numbers& got, const Numbers& want, double tolerance,
                            const Arrays& inputs) {
  Count(law);
  RICCI_TRY(base::Invariant(got.size() == want.size(), "a law compares arrays of one size"));
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = Difference(got[i], want[i]);
    Of(law).worst = std::max(Of(law).worst, difference);
    if (difference <= tolerance) continue;
    return absl::FailedPreconditionError(base::Cat("result ", result, ", element ", i, " is ", ToText(got[i]),
                                                   ", it must be ", ToText(want[i]), "; inputs", ToText(inputs)));
  }
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::check
