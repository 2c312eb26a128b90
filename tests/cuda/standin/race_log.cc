#include "race_log.h"

#include <algorithm>
#include <utility>

namespace ricci::cuda::standin {
namespace {

// A set is a segment, or with one of these bits: the number of a record of a family; a segment of one of several
// families in the same interval of a block; a segment of one of several blocks.
constexpr uint32_t kTag = 3u << 30, kOfFamily = 1u << 30, kOfFamilies = 2u << 30, kOfBlocks = 3u << 30;
uint32_t NumberOf(uint32_t set) { return set & ~kTag; }
constexpr Cell kNoCell{~0u, ~0u};  // what no byte remembers

// Families: the lanes of a warp; the readers for threads with the same place in their group of warps, who read the same
// pieces of a factor that groups share; of copiers each alone.
constexpr uint32_t kGroup = 128;  // threads
uint32_t FamilyOf(uint32_t number) {
  if (number < kReaders) return number / kLanes;
  return number < kCopiers ? kReaders + (number - kReaders) % kGroup : number;
}
uint32_t PlaceInFamily(uint32_t number) {
  if (number < kReaders) return number % kLanes;
  return number < kCopiers ? (number - kReaders) / kGroup : 0;
}
uint32_t NumberIn(uint32_t family, uint32_t place) {
  if (family < kReaders) return family * kLanes + place;
  return family < kCopiers ? family + place * kGroup : family;
}

void Raise(Epochs& to, uint32_t number, uint32_t epoch) {
  if (to.size() <= number) to.resize(number + 1);
  to[number] = std::max(to[number], epoch);
}
void Raise(Epochs& to, const Epochs& from, uint32_t first = 0) {
  if (to.size() < from.size()) to.resize(from.size());
  for (uint32_t n = first; n < from.size(); ++n) to[n] = std::max(to[n], from[n]);
}

}  // namespace

Page& Shadow::NewPage(uint64_t number) {
  if (number >= pages.size()) pages.resize(number + 1);
  pages[number] = std::make_unique<Page>();
  return *pages[number];
}

void RaceLog::BeginLaunch() {
  ++launch_;
  first_segment_ += static_cast<uint32_t>(segments_.size());
  first_family_ += static_cast<uint32_t>(families_.size());
  segments_.clear();
  families_.clear();
}

void RaceLog::BeginBlock(uint64_t block) {
  block_ = block;
  interval_ = 0;
  first_of_block_ = first_segment_ + static_cast<uint32_t>(segments_.size());
  first_family_of_block_ = first_family_ + static_cast<uint32_t>(families_.size());
}

void RaceLog::Barrier(std::vector<Thread*>& threads) {
  ++interval_;
  for (Thread* const t : threads) t->segment = 0;
}

void RaceLog::SyncWarp(const std::vector<Thread*>& lanes) {
  Epochs met;
  for (const Thread* const t : lanes) {
    Raise(met, t->met);
    Raise(met, t->number, t->epoch);
  }
  for (Thread* const t : lanes) {
    t->met = met;
    ++t->epoch;
    t->segment = 0;
  }
}

void RaceLog::SyncAgents(const std::vector<Thread*>& lanes) {
  Epochs met;
  for (const Thread* const t : lanes) Raise(met, t->met, kReaders);
  for (Thread* const t : lanes) Raise(t->met, met, kReaders);
}

void RaceLog::Release(Thread& t, Epochs& to) {
  Raise(to, t.met);
  Raise(to, t.number, t.epoch);
  ++t.epoch;
  t.segment = 0;
}
void RaceLog::Acquire(Thread& t, const Epochs& from) { Raise(t.met, from); }
void RaceLog::Acquire(Thread& t, uint32_t number, uint32_t epoch) { Raise(t.met, number, epoch); }

void RaceLog::Show(Thread& t) {
  for (const uint32_t s : t.hidden) segments_[s - first_segment_].is_shown = true;
  t.hidden.clear();
  t.segment = 0;
}

// Of a set of several the segment that it names.
bool RaceLog::IsSeen(uint32_t set, uint64_t byte, Access access, Race& out) const {
  if ((set & kTag) == kOfFamily || NumberOf(set) < first_of_block_ || At(NumberOf(set)).is_shown) return true;
  out = {byte, At(NumberOf(set)).block, At(NumberOf(set)).thread, access};
  return false;
}

bool RaceLog::IsShown(Shadow& shadow, uint64_t offset, uint64_t bytes, bool also_reads, Race& out) const {
  Cell before = kNoCell;
  const Page* page = nullptr;
  for (uint64_t b = offset; b < offset + bytes; ++b) {
    if (page == nullptr || b % Page::kBytes == 0) page = &shadow.At(b);
    const Cell& cell = page->cells[b % Page::kBytes];
    if (cell == std::exchange(before, cell)) continue;
    if (!IsSeen(cell.write, b, Access::kWrite, out)) return false;
    if (also_reads && !IsSeen(cell.reads, b, Access::kRead, out)) return false;
  }
  return true;
}

void RaceLog::Forget() { *this = RaceLog(); }

uint32_t RaceLog::SegmentOf(Thread& t) {
  if (t.segment == 0) {
    segments_.push_back({block_, interval_, t.number, t.epoch, t.number >= kReaders});
    t.segment = first_segment_ + static_cast<uint32_t>(segments_.size()) - 1;
    if (t.number < kReaders) t.hidden.push_back(t.segment);
  }
  return t.segment;
}

bool RaceLog::InOrder(const Segment& s, const Thread& t) const {
  if (s.block != block_) return false;
  if (s.interval != interval_ || s.thread == t.number) return true;
  const Thread& knows = t.asked != nullptr ? *t.asked : t;
  return s.thread == knows.number || (s.thread < knows.met.size() && s.epoch <= knows.met[s.thread]);
}

bool RaceLog::IsFresh(uint32_t set, bool of_block) const {
  if ((set & kTag) == kOfFamily) return NumberOf(set) >= (of_block ? first_family_of_block_ : first_family_);
  return NumberOf(set) >= (of_block ? first_of_block_ : first_segment_);
}

void RaceLog::AddToFamily(uint32_t& set, const Thread& t, uint32_t mine) {
  OfFamily& f = families_[NumberOf(set) - first_family_];
  if (f.block != block_) {
    set = kOfBlocks | mine;
  } else if (f.interval != interval_) {
    set = mine;
  } else if (f.family == FamilyOf(t.number)) {
    uint32_t& epoch = f.epochs[PlaceInFamily(t.number)];
    epoch = std::max(epoch, t.epoch);
  } else {
    set = kOfFamilies | mine;
  }
}

void RaceLog::Add(uint32_t& set, Thread& t, bool of_block) {
  const uint32_t mine = SegmentOf(t), tag = set & kTag;
  if (!IsFresh(set, of_block)) {
    set = mine;
    return;
  }
  if (set == mine || tag == kOfBlocks) return;
  if (tag == kOfFamily) return AddToFamily(set, t, mine);
  const Segment& s = At(NumberOf(set));
  if (s.block != block_) {
    set = kOfBlocks | mine;
  } else if (s.interval != interval_) {
    set = mine;
  } else if (tag == kOfFamilies || (s.thread == t.number && s.epoch > t.epoch)) {
    return;
  } else if (InOrder(s, t)) {
    set = mine;
  } else if (FamilyOf(s.thread) != FamilyOf(t.number)) {
    set = kOfFamilies | mine;
  } else {
    OfFamily f{block_, interval_, FamilyOf(t.number), {}};
    f.epochs[PlaceInFamily(s.thread)] = s.epoch;
    f.epochs[PlaceInFamily(t.number)] = t.epoch;
    families_.push_back(f);
    set = kOfFamily | (first_family_ + static_cast<uint32_t>(families_.size()) - 1);
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
  if (tag != kOfFamily) {
    const Segment& s = At(NumberOf(set));
    if (tag == kOfBlocks || (tag == kOfFamilies && s.block == block_ && s.interval == interval_)) return Fail(s, out);
    return InOrder(s, t) || Fail(s, out);
  }
  const OfFamily& f = families_[NumberOf(set) - first_family_];
  if (f.block == block_ && f.interval != interval_) return true;
  for (uint32_t place = 0; place < kLanes; ++place) {
    const Segment s{f.block, f.interval, NumberIn(f.family, place), f.epochs[place]};
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
  // The bytes of an access mostly remember the same: what one becomes, the next becomes too. A record of a family is of
  // one byte alone.
  Cell before = kNoCell, after = kNoCell;
  const auto note_as_before = [&](Page& page, uint64_t b) {
    Cell& cell = page.cells[b % Page::kBytes];
    if (page.atomics == nullptr && cell == before) {
      cell = after;
      return;
    }
    before = cell;
    note(page, b);
    after = cell;
    if ((after.reads & kTag) == kOfFamily) before = kNoCell;
  };
  for (uint64_t b = offset; b < offset + bytes;) {
    Page& page = shadow.At(b);
    page.launch = launch_;
    if (access == Access::kAtomic && page.atomics == nullptr) {
      page.atomics = std::make_unique<std::array<uint32_t, Page::kBytes>>();
    }
    const uint64_t end = std::min(offset + bytes, (b / Page::kBytes + 1) * Page::kBytes);
    for (; b < end; ++b) note_as_before(page, b);
  }
  return !in_order;
}

bool RaceLog::IsWritten(Shadow& shadow, uint64_t offset, uint64_t bytes, uint64_t& missing) const {
  const Page* page = nullptr;
  for (uint64_t b = offset; b < offset + bytes; ++b) {
    if (page == nullptr || b % Page::kBytes == 0) page = &shadow.At(b);
    if (page->cells[b % Page::kBytes].write >= first_of_block_) continue;
    if (page->atomics != nullptr && IsFresh((*page->atomics)[b % Page::kBytes], /*of_block=*/true)) continue;
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
