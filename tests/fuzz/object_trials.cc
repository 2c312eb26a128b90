#include "fuzz/object_trials.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace ricci::testing {
namespace {

constexpr uint64_t kBlock = 16;  // programs in one host

// A few seeds, whose programs are in one host.
class Block {
 public:
  Block(uint64_t seed, int64_t count, const TrialOptions& options, ObjectTotals& totals)
      : block_(seed / kBlock), options_(options), totals_(totals) {
    std::set<std::string> names;
    for (uint64_t s = seed; s < seed + static_cast<uint64_t>(count); ++s) {
      trials_.push_back(std::make_unique<Trial>(s, options, totals.trials));
      ObjectSubject subject = trials_.back()->DrawObject();
      if (!names.insert(subject.options.name).second) {  // only one of them can have it
        subject.options.name = Text("f", s);
        subject.options.usual_name = true;
      }
      if (options.verbose)
        std::printf("// seed %llu\n%s", static_cast<unsigned long long>(s), PrintProgram(subject.p.get()).c_str());
      subjects_.push_back(std::move(subject));
    }
  }
  void Run() {
    const std::vector<Complaint> complaints =
        CheckObjects(options_.objects, block_, subjects_, totals_.trials.checks, totals_.counts);
    for (size_t i = 0; i < complaints.size(); ++i) {
      if (complaints[i]) Report(i, *complaints[i]);
    }
  }

 private:
  void Report(size_t i, const std::string& complaint) {
    const auto verdict = [&](const Program& p) {
      ObjectSubject s = subjects_[i];
      s.p = p;
      CheckCounts checks;
      ObjectCounts counts;
      return CheckObjects(options_.objects, block_, {s}, checks, counts)[0];
    };
    const ObjectOptions& o = subjects_[i].options;
    const std::string words = OptionWords(subjects_[i].ctx, subjects_[i].p, o);
    trials_[i]->Report(subjects_[i].p,
                       Text(complaint, "\noptions: --cpu ", o.processor.empty() ? "(default)" : o.processor, words,
                            o.library ? " in a library" : ""),
                       verdict);
  }

  const uint64_t block_;  // its number
  const TrialOptions& options_;
  ObjectTotals& totals_;
  std::vector<std::unique_ptr<Trial>> trials_;
  std::vector<ObjectSubject> subjects_;
};

}  // namespace

void TryObjects(uint64_t seed, int64_t count, int64_t most_failures, const TrialOptions& options,
                const std::function<bool()>& stop, ObjectTotals& totals) {
  for (int64_t done = 0; done < count && totals.trials.failures < most_failures && !stop();
       done += static_cast<int64_t>(kBlock)) {
    Block(seed + static_cast<uint64_t>(done), std::min(static_cast<int64_t>(kBlock), count - done), options, totals)
        .Run();
  }
}

void PrintObjectTotals(const ObjectTotals& totals, double seconds) {
  const ObjectCounts& c = totals.counts;
  const CheckCounts& checks = totals.trials.checks;
  for (const auto& [reason, n] : c.refused)
    std::printf("refused: %s: %lld programs\n", reason.c_str(), static_cast<long long>(n));
  std::printf(
      "%lld programs, %lld functions compared (%lld bit for bit with cpu, %lld with a failed check), %lld elements "
      "(%lld decided by noise), %lld failures, %.1f s\n",
      static_cast<long long>(c.programs), static_cast<long long>(c.functions), static_cast<long long>(c.exact),
      static_cast<long long>(c.failed_checks), static_cast<long long>(checks.compared),
      static_cast<long long>(checks.undecided), static_cast<long long>(totals.trials.failures), seconds);
}

}  // namespace ricci::testing
