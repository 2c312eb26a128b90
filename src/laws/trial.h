// Trial: one example under examination. It draws operands, runs programs in every form and compares the results.
//
// Running a program checks more than the law that asks for it: its text, that its results are written, its factors and
// view maps, its optimized form, and other devices. Failures there are noted under those laws and do not end the law in
// progress.
//
// The first run on each device is done twice, into memory filled with two different patterns: elements that then differ
// were never written. Otherwise such an element may happen to be zero, and every other law passes. `ref` computes the
// expected results; other devices run the program, its derivatives and the batch of all operands. The other choices of
// batched operands differ in rules only.
#ifndef RICCI_LAWS_TRIAL_H_
#define RICCI_LAWS_TRIAL_H_
#include <random>
#include <string>

#include "laws/example.h"
#include "laws/factor_law.h"
#include "laws/laws.h"
#include "laws/runnable.h"
#include "laws/view_map_law.h"

namespace ricci { inline namespace v0 { namespace laws {

// The outcome of one law.
struct Finding {
  uint64_t comparisons = 0;
  double worst = 0;
  absl::Status failure;  // the first one
};
using Findings = std::vector<Finding>;  // one per law

enum class Where : uint8_t { kHere, kEverywhere };  // on `ref` and optimized, or on all devices too

// Where operands are drawn: at corners, branches of rules meet.
enum class Points : uint8_t {
  kOrdinary,    // in the ranges of the example
  kTies,        // some elements equal others
  kZeros,       // some are 0, 1 or -1, of those in the range
  kInfinities,  // some are infinite, of operands for which the example states no range
  kAny          // some are NaN, infinite, 0 or equal to others
};

class Trial {
 public:
  static constexpr int64_t kBatch = 3;

  // `device`: the kind that is compared; empty = all.
  static absl::StatusOr<Trial> Of(ricci_ctx* ctx, const Example& example, std::string_view device, Findings& findings);
  // Checks all laws that the example asks for.
  void CheckAll();

  const RunnableRef& f() const { return f_; }
  // Operands of `f`, the same for all laws.
  const Arrays& x() const { return x_; }
  // The row under examination; NULL if a program is, or if the example is a program and not one operation of the row.
  const prim::Row* row() const;
  // The first device that has this kind; NULL if there is none.
  ricci_device* device(std::string_view kind) const { return ricci_device_find(ctx_, kind.data(), kind.size()); }
  ricci_ctx* ctx() const { return ctx_; }

  // Parameters of `f` by the ranges of the example, further ones (tangents) from -1 to 1.
  Arrays Draw(const std::vector<Type>& types);
  Numbers DrawTangent(const Type& t) { return DrawIn(t, {-1, 1}); }
  // Parameters of `f` at a corner, the same for all laws, others for each `lane`; about half of the elements that are
  // floating or complex are special. None if no element is.
  Arrays DrawAt(Points points, uint64_t lane = 0);

  // `law` is the one that asks for the run.
  absl::StatusOr<Arrays> Run(LawId law, Runnable& p, const Arrays& inputs, Where where = Where::kHere);
  // FAILED_PRECONDITION if an element differs by more than `tolerance` times the larger of 1 and the expected element.
  // `type`: of the result, or of the number that a law makes of all.
  absl::Status Compare(LawId law, size_t result, const Type& type, const Numbers& got, const Numbers& want,
                       double tolerance, const Arrays& inputs);
  // The first results `got` of a program made from `p` against those of `p` itself.
  absl::Status CompareResults(LawId law, const Runnable& p, const Arrays& got, const Arrays& want,
                              const Arrays& inputs);
  void Count(LawId law) { ++Of(law).comparisons; }
  // Keeps the first failure of a law.
  void Note(LawId law, const absl::Status& failure);

 private:
  Trial(ricci_ctx* ctx, const Example& example, Findings& findings)
      : ctx_(ctx), example_(example), findings_(findings), random_(example.seed + 1) {}
  Finding& Of(LawId law) { return findings_[static_cast<size_t>(law)]; }
  Numbers DrawIn(const Type& t, Range range);
  Range RangeOf(size_t param) const { return param < example_.ranges.size() ? example_.ranges[param] : Range{-1, 1}; }
  // Whether operand `param` of `x` got a special element.
  bool MakeSpecial(Points points, size_t param, Arrays& x);
  void CheckOnce(LawId law, Runnable& p, const Arrays& inputs);
  std::vector<Arrays> DrawsFor(const Runnable& p, const Arrays& inputs);
  absl::Status CompareAll(LawId law, const Runnable& p, const absl::StatusOr<Arrays>& got, const Arrays& want,
                          const Arrays& inputs);
  absl::Status WithRules(const absl::Status& s, const RulesUsed& used) const;
  // Keeps a failure of `law` that occurs while `by` is checked on a program made by `used`.
  void NoteOf(LawId law, LawId by, const absl::Status& s, const RulesUsed& used);

  ricci_ctx* ctx_;
  const Example& example_;
  Findings& findings_;
  std::mt19937_64 random_;
  ricci_device* ref_ = nullptr;
  std::vector<ricci_device*> others_;
  RunnableRef f_;
  Arrays x_;
  FactorLaw factors_;
  ViewMapLaw view_maps_;
  RulesUsed used_;  // by the programs that the law in progress has run
};

// ---- program_laws.cc ----
absl::Status CheckText(ricci_ctx* ctx, const ricci_program* p);

}}}  // namespace ricci::v0::laws
#endif
