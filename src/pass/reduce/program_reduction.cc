#include "pass/reduce/program_reduction.h"

#include <chrono>

#include "pass/program/pass.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

class Search {
 public:
  Search(const std::function<bool(const ir::Program&)>& fails, const ReductionBounds& bounds)
      : fails_(fails), bounds_(bounds) {}

  // The first candidate that is smaller than `f` and still fails, or NULL.
  ir::ProgramRef Smaller(const ir::Program& f) {
    const uint64_t size = ReductionSize(f);
    for (const ReductionStep& step : ReductionSteps(f)) {
      if (AtBound()) return {};
      absl::StatusOr<ir::ProgramRef> candidate = step(f);
      if (candidate.ok()) candidate = Dce(**candidate, {});
      if (!candidate.ok() || ReductionSize(**candidate) >= size) continue;
      ++tries_;
      if (fails_(**candidate)) return *std::move(candidate);
    }
    return {};
  }

 private:
  bool AtBound() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    return (bounds_.tries != 0 && tries_ >= bounds_.tries) || (bounds_.seconds != 0 && taken.count() > bounds_.seconds);
  }

  const std::function<bool(const ir::Program&)>& fails_;
  const ReductionBounds bounds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint64_t tries_ = 0;
};

}  // namespace

ir::ProgramRef Reduce(ir::ProgramRef f, const std::function<bool(const ir::Program&)>& fails,
                      const ReductionBounds& bounds) {
  Search search(fails, bounds);
  while (ir::ProgramRef smaller = search.Smaller(*f)) f = std::move(smaller);
  return f;
}

}}}  // namespace ricci::v0::pass
