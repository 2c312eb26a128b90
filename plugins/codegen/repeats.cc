#include "codegen/repeats.h"

#include <algorithm>
#include <unordered_map>

namespace ricci::codegen {
namespace {

constexpr uint32_t kPeriods = 8;        // that are tried from one step on
constexpr uint64_t kLooksPerStep = 32;  // on average, which bounds the time

class Finder {
 public:
  Finder(std::span<const uint32_t> steps, uint32_t worth)
      : steps_(steps), worth_(worth), left_(kLooksPerStep * steps.size()), next_(steps.size()) {
    std::unordered_map<uint32_t, uint32_t> seen;
    const auto n = static_cast<uint32_t>(steps.size());
    for (uint32_t i = n; i-- > 0;) {
      const auto [it, fresh] = seen.try_emplace(steps[i], i);
      next_[i] = fresh ? n : it->second;
      it->second = i;
    }
  }

  std::vector<Repeat> Run() {
    const auto n = static_cast<uint32_t>(steps_.size());
    for (uint32_t i = 0; i < n;) {
      const Repeat best = BestFrom(i);
      if (best.times == 1 && !out_.empty() && out_.back().times == 1) {
        ++out_.back().period;
      } else {
        out_.push_back(best);
      }
      i = out_.back().end();
    }
    return std::move(out_);
  }

 private:
  // A period is the distance to a later step that is equal.
  Repeat BestFrom(uint32_t first) {
    const auto n = static_cast<uint32_t>(steps_.size());
    Repeat best{first, 1, 1};
    uint32_t saved = 0;
    for (uint32_t other = next_[first], k = 0; other < n && k < kPeriods; other = next_[other], ++k) {
      const uint32_t period = other - first, times = Equal(first, period) / period + 1;
      if (period * (times - 1) < std::max(worth_, saved + 1)) continue;
      saved = period * (times - 1);
      best = {first, period, times};
    }
    return best;
  }

  // How many steps from `first` on are equal to those a period later.
  uint32_t Equal(uint32_t first, uint32_t period) {
    uint32_t i = first;
    for (; left_ > 0 && i + period < steps_.size() && steps_[i] == steps_[i + period]; ++i) --left_;
    return i - first;
  }

  const std::span<const uint32_t> steps_;
  const uint32_t worth_;
  uint64_t left_;               // comparisons
  std::vector<uint32_t> next_;  // the next equal step
  std::vector<Repeat> out_;
};

}  // namespace

std::vector<Repeat> RepeatsOf(std::span<const uint32_t> steps, uint32_t worth) { return Finder(steps, worth).Run(); }

}  // namespace ricci::codegen
