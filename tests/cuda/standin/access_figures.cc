#include "access_figures.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "race_log.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint32_t kMostAtOnce = 16, kSector = 32, kBanks = 32, kWord = 4;

// The pieces of this size that the lanes access, each once.
template <typename Lanes>
std::vector<uintptr_t> PiecesOf(const Lanes& first, const Lanes& last, uint32_t size) {
  std::vector<uintptr_t> out;
  for (auto l = first; l != last; ++l) {
    for (uintptr_t p = l->address / size; p <= (l->address + l->bytes - 1) / size; ++p) out.push_back(p);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// How many words of the busiest bank these lanes want.
template <typename Lanes>
uint64_t Turns(const Lanes& first, const Lanes& last) {
  uint64_t words[kBanks] = {};
  for (const uintptr_t w : PiecesOf(first, last, kWord)) ++words[w % kBanks];
  return *std::max_element(std::begin(words), std::end(words));
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
    ++figures.requests;
    figures.sectors += PiecesOf(r.begin(), r.end(), kSector).size();
    figures.least_sectors += (PiecesOf(r.begin(), r.end(), 1).size() + kSector - 1) / kSector;
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
