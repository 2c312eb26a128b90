#include "laws/trial.h"

#include <cmath>
#include <limits>

#include "base/abi_text.h"
#include "base/status_abi.h"
#include "ricci/check.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

// The optimized form computes the same operations, with sums in double.
constexpr double kOptimizedTolerance = 1e-9;

std::string InputsToText(const Arrays& inputs) {
  constexpr size_t kShown = 16;
  std::string text;
  for (const Numbers& one : inputs) {
    text += " [";
    for (size_t i = 0; i < one.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + ToText(one[i]);
    text += one.size() > kShown ? ", ...]" : "]";
  }
  return text;
}

std::string_view NameOf(LawId law) { return AllLaws()[static_cast<size_t>(law)].name; }

// A failure of `law` while `by` is checked; those of rules and of the device run the program as it is.
absl::Status In(LawId law, LawId by, const absl::Status& s) {
  if (s.ok()) return s;
  const bool as_it_is = by == LawId::kRules || by == LawId::kDevice;
  const std::string where = law == by || as_it_is ? "" : base::Cat(", in ", NameOf(by));
  const absl::string_view why = s.message();
  return absl::Status(s.code(), absl::StrCat("law ", base::ToAbsl(NameOf(law)), where, ": ", why));
}

std::string_view KindOf(ricci_device* d) {
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(d, &desc);
  return base::View(desc.kind);
}
absl::Status OnDevice(ricci_device* d, const absl::Status& s) {
  const absl::string_view why = s.message();
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(why, " on ", base::ToAbsl(KindOf(d))));
}

}  // namespace

absl::StatusOr<Trial> Trial::Of(ricci_ctx* ctx, const Example& example, std::string_view device, Findings& findings) {
  Trial t(ctx, example, findings);
  t.factors_ = FactorLaw(ctx, example.program.get());
  t.view_maps_ = ViewMapLaw(ctx, example.program.get());
  RICCI_ASSIGN(t.f_, Runnable::Of(ctx, ricci_program_retain(example.program.get())));
  t.ref_ = ricci_device_find(ctx, "ref", 3);
  for (uint32_t i = 0; i < ricci_device_count(ctx); ++i) {
    ricci_device* d = ricci_device_get(ctx, i);
    const bool wanted = device.empty() || device == KindOf(d);
    if (d != t.ref_ && wanted && (example.flags & RICCI_CHECK_REF_ONLY) == 0) t.others_.push_back(d);
  }
  t.x_ = t.Draw(t.f_->params());
  return t;
}

const prim::Row* Trial::row() const {
  const ir::Program& p = *ir::FromAbi(f_->program());
  if (p.equations.size() != 1) return nullptr;
  const prim::Row& row = prim::Registry::Of(p).Get(p.equations[0].prim);
  return row.name == example_.row ? &row : nullptr;
}

void Trial::CheckAll() {
  const uint32_t flags = example_.flags;
  const int order = (flags & RICCI_CHECK_NO_DERIVATIVES) != 0 || !f_->differentiable() ? 0
                    : (flags & RICCI_CHECK_FIRST_ORDER) != 0                           ? 1
                                                                                       : 2;
  const bool batch = (flags & RICCI_CHECK_NO_BATCH) == 0;
  for (size_t i = 0; i < AllLaws().size(); ++i) {
    const Law& law = AllLaws()[i];
    if (law.order > order || (law.batch && !batch)) continue;
    used_ = {};
    const absl::Status failure = law.check(*this);
    Note(static_cast<LawId>(i), WithRules(failure, used_));
  }
}

// The failure of a comparison, with the rows whose rules made what was compared, unless that is the checked row alone.
absl::Status Trial::WithRules(const absl::Status& s, const RulesUsed& used) const {
  if (!absl::IsFailedPrecondition(s)) return s;
  const std::string rules = used.ToText(example_.row);
  const absl::string_view why = s.message();
  return rules.empty() ? s : absl::FailedPreconditionError(absl::StrCat(why, "; rules used: ", rules));
}

void Trial::NoteOf(LawId law, LawId by, const absl::Status& s, const RulesUsed& used) {
  Note(law, In(law, by, WithRules(s, used)));
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
  Numbers out(t.numbers());
  for (double& v : out) {
    v = range.low + (range.high - range.low) * 0x1p-53 * static_cast<double>(random_() >> 11);
    if (!t.inexact()) v = t.dtype == RICCI_BOOL ? static_cast<double>(random_() & 1) : std::floor(v);
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

// ---- corners ----
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// The special numbers that an operand may be; of ties none. A range that an example states holds for derivatives.
Numbers SpecialsOf(Points points, const Type& t, Range range) {
  if (points == Points::kAny) return {-kInf, kInf, kNaN, 0.0, -0.0};
  if (points == Points::kInfinities && range == DefaultRange(t.dtype)) return {-kInf, kInf};
  Numbers out;
  for (double v : {0.0, 1.0, -1.0}) {
    if (points == Points::kZeros && range.low <= v && v <= range.high) out.push_back(v);
  }
  return out;
}

}  // namespace

// Half of the elements become special ones, or equal to the first or, at the same position, to one of the operand
// before.
bool Trial::MakeSpecial(Points points, size_t param, Arrays& x) {
  const Type& type = f_->params()[param];
  const Numbers specials = SpecialsOf(points, type, RangeOf(param));
  const bool has_kin = param > 0 && f_->params()[param - 1].id == type.id && RangeOf(param - 1) == RangeOf(param);
  const auto parts = static_cast<size_t>(type.parts());
  bool any = false;
  for (size_t k = 0; k < x[param].size(); k += parts) {
    const uint64_t dice = random_();
    const bool ties = points == Points::kTies || (points == Points::kAny && (dice & 2) != 0);
    if ((dice & 1) != 0 || (!ties && specials.empty())) continue;
    any = any || !ties || k > 0 || has_kin;
    for (size_t part = 0; part < parts; ++part) {
      const double equal = has_kin && (dice & 4) != 0 ? x[param - 1][k + part] : x[param][part];
      x[param][k + part] = ties ? equal : specials[random_() % specials.size()];
    }
  }
  return any;
}
Arrays Trial::DrawAt(Points points, uint64_t lane) {
  const std::mt19937_64 before = random_;  // what other laws draw must not depend on this
  random_.seed(example_.seed + 8 * lane + static_cast<uint64_t>(points) + 1000);
  Arrays out = Draw(f_->params());
  bool any = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (f_->params()[i].inexact()) any = MakeSpecial(points, i, out) || any;
  }
  random_ = before;
  return any ? out : Arrays();
}

absl::StatusOr<Arrays> Trial::Run(LawId law, Runnable& p, const Arrays& inputs, Where where) {
  used_.Add(p.used());
  if (p.TakeFirstRun(nullptr)) CheckOnce(law, p, inputs);
  RICCI_ASSIGN(const Arrays want, p.Run(ref_, inputs));
  const absl::Status optimized = CompareAll(LawId::kOptimized, p, p.Run(nullptr, inputs), want, inputs);
  NoteOf(LawId::kOptimized, law, optimized, p.used_by_passes());
  for (size_t i = 0; where == Where::kEverywhere && i < others_.size(); ++i) {
    ricci_device* const d = others_[i];
    if (p.TakeFirstRun(d)) NoteOf(LawId::kWritten, law, OnDevice(d, p.CheckWritten(d, inputs)), p.used());
    NoteOf(LawId::kDevice, law, CompareAll(LawId::kDevice, p, p.Run(d, inputs), want, inputs), p.used());
  }
  return want;
}

// Only the example itself gets other operands: no ranges are known for the operands of programs made from it.
std::vector<Arrays> Trial::DrawsFor(const Runnable& p, const Arrays& inputs) {
  constexpr size_t kDraws = 8;
  std::vector<Arrays> out{inputs};
  if (&p != f_.get()) return out;
  const std::mt19937_64 before = random_;  // what other laws draw must not depend on this one
  while (out.size() < kDraws) out.push_back(Draw(p.params()));
  random_ = before;
  return out;
}

// The checks that are made once of every program.
void Trial::CheckOnce(LawId law, Runnable& p, const Arrays& inputs) {
  NoteOf(LawId::kText, law, CheckText(ctx_, p.program()), p.used());
  for (ricci_device* how : {ref_, static_cast<ricci_device*>(nullptr)}) {
    NoteOf(LawId::kWritten, law, p.CheckWritten(how, inputs), p.used());
  }
  NoteOf(LawId::kFactors, law, factors_.Check(ref_, p, DrawsFor(p, inputs)), p.used());
  const absl::StatusOr<bool> mapped = view_maps_.Check(ref_, p, inputs);
  NoteOf(LawId::kViewMaps, law, mapped.status(), p.used());
  for (LawId one : {LawId::kText, LawId::kWritten, LawId::kFactors}) Count(one);
  if (!mapped.ok() || *mapped) Count(LawId::kViewMaps);
}

absl::Status Trial::CompareAll(LawId law, const Runnable& p, const absl::StatusOr<Arrays>& got, const Arrays& want,
                               const Arrays& inputs) {
  RICCI_TRY(got.status());
  int64_t largest = 0;
  for (const Type& t : p.params()) largest = std::max(largest, t.elements);
  for (size_t i = 0; i < want.size(); ++i) {
    const double tolerance = law == LawId::kOptimized ? kOptimizedTolerance : Tolerance(p.results()[i], largest);
    RICCI_TRY(Compare(law, i, p.results()[i], (*got)[i], want[i], tolerance, inputs));
  }
  return absl::OkStatus();
}

absl::Status Trial::CompareResults(LawId law, const Runnable& p, const Arrays& got, const Arrays& want,
                                   const Arrays& inputs) {
  const Arrays results(got.begin(), got.begin() + static_cast<int64_t>(p.results().size()));
  return CompareAll(law, p, results, want, inputs);
}

absl::Status Trial::Compare(LawId law, size_t result, const Type& type, const Numbers& got, const Numbers& want,
                            double tolerance, const Arrays& inputs) {
  Count(law);
  RICCI_TRY(base::Invariant(got.size() == want.size(), "a law compares arrays of one size"));
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = Difference(got[i], want[i]);
    Of(law).worst = std::max(Of(law).worst, difference);
    if (difference <= tolerance) continue;
    return absl::FailedPreconditionError(base::Cat("result ", result, ", ", ElementOf(type, i), " is ", ToText(got[i]),
                                                   ", it must be ", ToText(want[i]), "; inputs", InputsToText(inputs)));
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::laws
