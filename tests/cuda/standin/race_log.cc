#include "race_log.h"

#include <algorithm>

namespace ricci::cuda::standin {
namespace {

// A set is a segment, or with one of these bits: the number of a record of lanes; a segment of one of several warps
// in the same interval of a block; a segment of one of several blocks.
constexpr uint32_t kTag = 3u << 30, kOfLanes = 1u << 30, kOfWarps = 2u << 30, kOfBlocks = 3u << 30;
uint32_t NumberOf(uint32_t set) { return set & ~kTag; }

}  // namespace

Page& Shadow::NewPage(uint64_t number) {
  if (number >= pages.size()) pages.resize(number + 1);
  pages[number] = std::make_unique<Page>();
  return *pages[number];
}

void RaceLog::BeginLaunch() {
  ++launch_;
  first_segment_ += static_cast<uint32_t>(segments_.size());
  first_lanes_ += static_cast<uint32_t>(lanes_.size());
  segments_.clear();
  lanes_.clear();
}

void RaceLog::BeginBlock(uint64_t block) {
  block_ = block;
  interval_ = 0;
  first_of_block_ = first_segment_ + static_cast<uint32_t>(segments_.size());
  first_lanes_of_block_ = first_lanes_ + static_cast<uint32_t>(lanes_.size());
}

void RaceLog::Barrier(std::vector<Thread*>& threads) {
  ++interval_;
  for (Thread* const t : threads) t->segment = 0;
}

void RaceLog::SyncWarp(const std::vector<Thread*>& lanes) {
  std::vector<uint32_t> met(kLanes);
  for (const Thread* const t : lanes) {
    for (uint32_t l = 0; l < t->met.size(); ++l) met[l] = std::max(met[l], t->met[l]);
    met[t->number % kLanes] = t->epoch;
  }
  for (Thread* const t : lanes) {
    t->met = met;
    ++t->epoch;
    t->segment = 0;
  }
}

void RaceLog::Show(Thread& t) {
  for (const uint32_t s : t.hidden) segments_[s - first_segment_].is_shown = true;
  t.hidden.clear();
  t.segment = 0;
}

bool RaceLog::IsShown(Shadow& shadow, uint64_t offset, uint64_t bytes, Race& out) const {
  for (uint64_t b = offset; b < offset + bytes; ++b) {
    const uint32_t write = shadow.At(b).cells[b % Page::kBytes].write;
    if (write < first_of_block_ || At(write).is_shown) continue;
    out = {b, At(write).block, At(write).thread, Access::kWrite};
    return false;
  }
  return true;
}

void RaceLog::Forget() { *this = RaceLog(); }

uint32_t RaceLog::SegmentOf(Thread& t) {
  if (t.segment == 0) {
    segments_.push_back({block_, interval_, t.number, t.epoch});
    t.segment = first_segment_ + static_cast<uint32_t>(segments_.size()) - 1;
    t.hidden.push_back(t.segment);
  }
  return t.segment;
}

bool RaceLog::InOrder(const Segment& s, const Thread& t) const {
  if (s.block != block_) return false;
  if (s.interval != interval_ || s.thread == t.number) return true;
  if (s.thread / kLanes != t.number / kLanes || t.met.empty()) return false;
  return s.epoch <= t.met[s.thread % kLanes];
}

bool RaceLog::IsFresh(uint32_t set, bool of_block) const {
  if ((set & kTag) == kOfLanes) return NumberOf(set) >= (of_block ? first_lanes_of_block_ : first_lanes_);
  return NumberOf(set) >= (of_block ? first_of_block_ : first_segment_);
}

void RaceLog::Add(uint32_t& set, Thread& t, bool of_block) {
  const uint32_t mine = SegmentOf(t), tag = set & kTag;
  if (!IsFresh(set, of_block)) {
    set = mine;
    return;
  }
  if (set == mine || tag == kOfBlocks) return;
  if (tag == kOfLanes) {
    LanesOfWarp& l = lanes_[NumberOf(set) - first_lanes_];
    if (l.block != block_) {
      set = kOfBlocks | mine;
    } else if (l.interval != interval_) {
      set = mine;
    } else if (l.warp == t.number / kLanes) {
      l.epochs[t.number % kLanes] = t.epoch;
    } else {
      set = kOfWarps | mine;
    }
    return;
  }
  const Segment& s = At(NumberOf(set));
  if (s.block != block_) {
    set = kOfBlocks | mine;
  } else if (s.interval != interval_) {
    set = mine;
  } else if (tag == kOfWarps) {
    return;
  } else if (InOrder(s, t)) {
    set = mine;
  } else if (s.thread / kLanes != t.number / kLanes) {
    set = kOfWarps | mine;
  } else {
    LanesOfWarp l{block_, interval_, t.number / kLanes, {}};
    l.epochs[s.thread % kLanes] = s.epoch;
    l.epochs[t.number % kLanes] = t.epoch;
    lanes_.push_back(l);
    set = kOfLanes | (first_lanes_ + static_cast<uint32_t>(lanes_.size()) - 1);
  }
}

bool RaceLog::Fail(const Segment& s, Race& out) const {
  out.block = s.block;
  out.thread = s.thread;
  return false;
}

bool RaceLog::AllInOrder(uint32_t set, const Thread& t, bool of_block, Race& out) const {
  if (set == 0 || !IsFresh(set, of_block)) return true;
  const uint32_t tag = set & kTag;
  if (tag != kOfLanes) {
    const Segment& s = At(NumberOf(set));
    if (tag == kOfBlocks || (tag == kOfWarps && s.block == block_ && s.interval == interval_)) return Fail(s, out);
    return InOrder(s, t) || Fail(s, out);
  }
  const LanesOfWarp& l = lanes_[NumberOf(set) - first_lanes_];
  if (l.block == block_ && l.interval != interval_) return true;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const Segment s{l.block, l.interval, l.warp * kLanes + lane, l.epochs[lane]};
    if (s.epoch != 0 && !InOrder(s, t)) return Fail(s, out);
  }
  return true;
}

bool RaceLog::Note(Thread& t, Shadow& shadow, uint64_t offset, uint64_t bytes, Access access, bool of_block,
                   Race& out) {
  const uint32_t mine = SegmentOf(t);
  bool in_order = true;
  const auto check = [&](uint32_t set, uint64_t byte, Access earlier) {
    if (!in_order || set == 0 || AllInOrder(set, t, of_block, out)) return;
    in_order = false;
    out.byte = byte;
    out.earlier = earlier;
  };
  const auto note = [&](Page& page, uint64_t b) {
    Cell& cell = page.cells[b % Page::kBytes];
    if (cell.write != mine) check(cell.write, b, Access::kWrite);
    uint32_t* const atomics = page.atomics == nullptr ? nullptr : &(*page.atomics)[b % Page::kBytes];
    if (atomics != nullptr && access != Access::kAtomic) check(*atomics, b, Access::kAtomic);
    if (access == Access::kRead) {
      if (cell.reads != mine) Add(cell.reads, t, of_block);
      return;
    }
    if (cell.reads != mine) check(cell.reads, b, Access::kRead);
    if (access == Access::kAtomic) return Add((*page.atomics)[b % Page::kBytes], t, of_block);
    cell = {mine, 0};
    if (atomics != nullptr) *atomics = 0;
  };
  for (uint64_t b = offset; b < offset + bytes;) {
    Page& page = shadow.At(b);
    page.launch = launch_;
    if (access == Access::kAtomic && page.atomics == nullptr) {
      page.atomics = std::make_unique<std::array<uint32_t, Page::kBytes>>();
    }
    const uint64_t end = std::min(offset + bytes, (b / Page::kBytes + 1) * Page::kBytes);
    for (; b < end; ++b) note(page, b);
  }
  return !in_order;
}

bool RaceLog::IsWritten(Shadow& shadow, uint64_t offset, uint64_t bytes, uint64_t& missing) const {
  for (uint64_t b = offset; b < offset + bytes; ++b) {
    const Page& page = shadow.At(b);
    if (page.cells[b % Page::kBytes].write >= first_of_block_) continue;
    if (page.atomics != nullptr && IsFresh((*page.atomics)[b % Page::kBytes], /*of_block=*/true)) continue;
    missing = b;
    return false;
  }
  return true;
}

std::vector<std::pair<uint64_t, uint64_t>> RaceLog::Touched(const Shadow& shadow, bool written) const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t number = 0; number < shadow.pages.size(); ++number) {
    const Page* const page = shadow.pages[number].get();
    if (page == nullptr || page->launch != launch_) continue;
    for (uint64_t i = 0; i < Page::kBytes; ++i) {
      const Cell& cell = page->cells[i];
      const uint32_t atomic = page->atomics == nullptr ? 0 : (*page->atomics)[i];
      const auto is_new = [&](uint32_t set) { return set != 0 && IsFresh(set, /*of_block=*/false); };
      if (!(written ? is_new(cell.write) || is_new(atomic) : is_new(cell.reads))) continue;
      const uint64_t byte = number * Page::kBytes + i;
      if (ranges.empty() || ranges.back().second != byte) ranges.push_back({byte, byte});
      ++ranges.back().second;
    }
  }
  return ranges;
}

}  // namespace ricci::cuda::standin
