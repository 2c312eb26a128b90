#include "access_figures.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "race_log.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint32_t kMostAtOnce = 16, kSector = 32, kBanks = 32, kWord = 4;

// How many words of the busiest bank these lanes want.
template <typename Lanes>
uint64_t Turns(const Lanes& first, const Lanes& last) {
  std::set<uintptr_t> words[kBanks];
  uint64_t most = 0;
  for (auto l = first; l != last; ++l) {
    for (uintptr_t w = l->address / kWord; w <= (l->address + l->bytes - 1) / kWord; ++w) {
      words[w % kBanks].insert(w);
      most = std::max<uint64_t>(most, words[w % kBanks].size());
    }
  }
  return most;
}

}  // namespace

// What is longer than a lane can access at once is several requests.
void AccessFigures::Note(uint32_t thread, const void* site, uintptr_t address, uint32_t bytes, bool is_shared,
                         uint32_t memory) {
  const uint32_t time = times_[{thread, site}]++;
  for (uint32_t piece = 0; piece * kMostAtOnce < bytes; ++piece) {
    lanes_.push_back({thread / kLanes, site, time, thread % kLanes, piece, memory, address + piece * kMostAtOnce,
                      std::min(kMostAtOnce, bytes - piece * kMostAtOnce), is_shared});
  }
}

void AccessFigures::EndBlock(ricci_standin_figures& figures) {
  const auto request = [](const Lane& l) { return std::tuple(l.warp, l.site, l.time, l.piece, l.memory); };
  std::sort(lanes_.begin(), lanes_.end(), [&](const Lane& a, const Lane& b) {
    return std::pair(request(a), a.lane) < std::pair(request(b), b.lane);
  });
  for (size_t first = 0, last; first < lanes_.size(); first = last) {
    for (last = first; last < lanes_.size() && request(lanes_[last]) == request(lanes_[first]);) ++last;
    Count(Request(lanes_.begin() + static_cast<ptrdiff_t>(first), lanes_.begin() + static_cast<ptrdiff_t>(last)),
          figures);
  }
  lanes_.clear();
  times_.clear();
}

void AccessFigures::Count(const Request& r, ricci_standin_figures& figures) {
  if (!r.front().is_shared) {
    std::set<uintptr_t> sectors, bytes;
    for (const Lane& l : r) {
      for (uint32_t b = 0; b < l.bytes; ++b) bytes.insert(l.address + b);
      for (uintptr_t s = l.address / kSector; s <= (l.address + l.bytes - 1) / kSector; ++s) sectors.insert(s);
    }
    ++figures.requests;
    figures.sectors += sectors.size();
    figures.least_sectors += (bytes.size() + kSector - 1) / kSector;
    return;
  }
  ++figures.shared_requests;
  const uint32_t together = kLanes / std::max(1u, r.front().bytes / kWord);
  for (auto first = r.begin(); first != r.end();) {
    const auto last =
        std::find_if(first, r.end(), [&](const Lane& l) { return l.lane / together != first->lane / together; });
    figures.conflicts += Turns(first, last) - 1;
    first = last;
  }
}

}  // namespace ricci::cuda::standin
