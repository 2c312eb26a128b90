#include "mbarriers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ricci::cuda::standin {
namespace {

constexpr uint64_t kMark = 0x3b5a117e00000000;  // in memory, with the number: who writes over it destroys the barrier
constexpr uint32_t kBytes = 8, kPiece = 16, kWrite = 1, kAtomic = 2;
constexpr uint64_t kMostBytes = (1 << 20) - 1;
constexpr uintptr_t kAlignmentOfBoxes = 128;

std::string Name(uint32_t number) { return "mbarrier " + std::to_string(number); }
std::string By(const Asker& who) { return ": thread " + std::to_string(who.thread.number); }

}  // namespace

Mbarriers::Mbarrier* Mbarriers::Find(const void* at) {
  for (Mbarrier& b : all_) {
    if (b.at == at) return &b;
  }
  return nullptr;
}

std::string Mbarriers::Init(void* at, unsigned arrivals, const Asker& who) {
  if (reinterpret_cast<uintptr_t>(at) % kBytes != 0) return "a misaligned mbarrier" + By(who);
  if (Find(at) != nullptr) return "an mbarrier that is begun twice" + By(who);
  if (arrivals == 0 || arrivals > kMostBytes) return "an mbarrier for no arrivals, or too many" + By(who);
  if (who.check != nullptr && !who.check->Note(reinterpret_cast<uintptr_t>(at), kBytes, kWrite, who.site)) {
    return who.check->Fault();
  }
  const auto number = static_cast<uint32_t>(all_.size());
  if (number >= kStorers - kCopiers) return "more mbarriers than are modelled" + By(who);
  const uint64_t mark = kMark + number;
  std::memcpy(at, &mark, sizeof mark);
  all_.push_back({at, number, arrivals, arrivals, who.thread.number});
  return {};
}

Mbarriers::Mbarrier* Mbarriers::Use(void* at, const Asker& who, std::string& wrong) {
  Mbarrier* const b = Find(at);
  uint64_t mark = 0;
  if (b == nullptr) {
    wrong = "something that is not an mbarrier is used as one" + By(who);
    return nullptr;
  }
  std::memcpy(&mark, at, sizeof mark);
  if (mark != kMark + b->number) wrong = Name(b->number) + " was written over" + By(who);
  if (who.check != nullptr && !who.check->Note(reinterpret_cast<uintptr_t>(at), kBytes, kAtomic, who.site)) {
    wrong = who.check->Fault();
  }
  return wrong.empty() ? b : nullptr;
}

std::string Mbarriers::TooMany(const Mbarrier& b, uint64_t bytes) {
  return Name(b.number) + " expects " + std::to_string(b.expected) + " bytes in phase " + std::to_string(b.phase) +
         ", its copies bring " + std::to_string(bytes);
}

// A phase without bytes is over at once, others when somebody asks.
std::string Mbarriers::Arrive(void* at, unsigned bytes, const Asker& who) {
  std::string wrong;
  Mbarrier* const b = Use(at, who, wrong);
  if (b == nullptr) return wrong;
  if (b->pending == 0) {
    return "one arrives too many at " + Name(b->number) + ", in a phase that no thread has seen complete" + By(who);
  }
  b->expected += bytes;
  if (b->expected > kMostBytes) return Name(b->number) + " expects more bytes than it can count" + By(who);
  if (who.check != nullptr) who.check->races().Release(who.thread, b->arrived);
  if (--b->pending != 0) return {};
  if (b->asked > b->expected) return TooMany(*b, b->asked);
  if (b->expected == 0) Complete(*b);
  return {};
}

std::string Mbarriers::WhyNoCopy(const Mbarrier& b, const BoxToCopy& box, const TensorOnDevice& t) const {
  if (t.mark != TensorOnDevice::kMark) return "a box is copied by something that is not a tensor map";
  if (t.rank != box.rank) return "a box is copied by a tensor map of another rank";
  if (box.address % kAlignmentOfBoxes != 0) return "a box that is copied to a misaligned place";
  if (!b.is_shown) return "no fence.proxy.async after " + Name(b.number) + " was begun, before a copy counts at it";
  for (const Mbarrier& other : all_) {
    for (const PendingCopy& c : other.copies) {
      if (box.to < c.to + c.bytes && c.to < box.to + t.box_bytes()) return "two copies to the same place";
    }
  }
  if (b.pending == 0 && b.asked + t.box_bytes() > b.expected) return TooMany(b, b.asked + t.box_bytes());
  return {};
}

std::string Mbarriers::Copy(const BoxToCopy& box, void* at, const Asker& who) {
  std::string wrong;
  Mbarrier* const b = Use(at, who, wrong);
  if (b == nullptr) return wrong;
  TensorOnDevice t;
  std::memcpy(&t, box.map, sizeof t);
  wrong = WhyNoCopy(*b, box, t);
  if (!wrong.empty()) return wrong + By(who);
  b->copies.push_back({{.number = kCopiers + b->number,
                        .epoch = static_cast<uint32_t>(b->phase) + 1,
                        .met = {},
                        .hidden = {},
                        .asked = &who.thread},
                       box.to,
                       t.box_bytes(),
                       uint32_t{t.box[0]} * t.element_bytes,
                       PiecesOf(t, box.at, box.address),
                       who.site});
  b->asked += t.box_bytes();
  wrong = NoteAll(b->copies.back(), who.check);
  if (wrong.empty()) std::memset(box.to, 0xff, t.box_bytes());
  return wrong;
}

// Lines are whole in shared memory, wherever their pieces are.
std::string Mbarriers::NoteAll(PendingCopy& c, LaunchCheck* check) const {
  if (check == nullptr) return {};
  for (uint32_t at = 0; at < c.bytes; at += c.line_bytes) {
    const auto to = reinterpret_cast<uintptr_t>(c.to) + at;
    if (!check->NoteCopy(c.agent, to, c.line_bytes, LaunchCheck::Copied::kToShared, c.site)) return check->Fault();
  }
  for (const Piece& p : c.pieces) {
    const auto from = reinterpret_cast<uintptr_t>(p.from);
    if (p.valid != 0 && !check->NoteCopy(c.agent, from, p.valid, LaunchCheck::Copied::kFromDevice, c.site)) {
      return check->Fault();
    }
  }
  return {};
}

void Mbarriers::Complete(Mbarrier& b) {
  for (const PendingCopy& c : b.copies) {
    for (const Piece& p : c.pieces) {
      std::memset(c.to + p.to, 0, kPiece);
      if (p.valid != 0) std::memcpy(c.to + p.to, p.from, p.valid);
    }
  }
  b.copies.clear();
  ++b.phase;
  if (!b.arrived.empty()) {  // else order is not checked
    Thread all{.number = 0, .met = std::move(b.done), .hidden = {}};
    RaceLog::Acquire(all, b.arrived);
    RaceLog::Acquire(all, kCopiers + b.number, static_cast<uint32_t>(b.phase));
    b.done = std::move(all.met);
    b.arrived.clear();
  }
  b.pending = b.arrivals;
  b.expected = b.asked = 0;
}

std::string Mbarriers::BeginWait(void* at, const Asker& who) {
  std::string wrong;
  Use(at, who, wrong);
  return wrong;
}

bool Mbarriers::IsOver(const PhaseWait& w, std::string& wrong) {
  Mbarrier& b = *Find(w.at);
  if (b.phase % 2 == w.parity && b.pending == 0 && b.asked == b.expected) Complete(b);
  if (w.parity > 1) wrong = "the parity of a phase of " + Name(b.number) + " is neither 0 nor 1";
  return b.phase % 2 != w.parity;
}

void Mbarriers::EndWait(const PhaseWait& w, const Asker& who) { RaceLog::Acquire(who.thread, Find(w.at)->done); }

void Mbarriers::Show(uint32_t thread) {
  for (Mbarrier& b : all_) b.is_shown = b.is_shown || b.begun_by == thread;
}

void Mbarriers::ShowToCluster(uint32_t thread) {
  for (Mbarrier& b : all_) b.is_shown_to_cluster = b.is_shown_to_cluster || b.begun_by == thread;
}

std::string Mbarriers::UseFromOther(const void* at, const Thread& who) {
  const Mbarrier* const b = Find(at);
  if (b == nullptr || b->is_shown_to_cluster) return {};  // an invalid barrier is found when it is used
  return "no fence.mbarrier_init after " + Name(b->number) + " was begun, before another block uses it: thread " +
         std::to_string(who.number);
}

std::string Mbarriers::AfterBarrier(LaunchCheck* check) {
  for (Mbarrier& b : all_) {
    for (PendingCopy& c : b.copies) {
      c.agent.segment = 0;
      if (std::string wrong = NoteAll(c, check); !wrong.empty()) return wrong;
    }
  }
  return {};
}

std::string Mbarriers::AtEnd() const {
  for (const Mbarrier& b : all_) {
    if (!b.copies.empty()) return "a copy that is never waited for, at " + Name(b.number);
  }
  return {};
}

std::string Mbarriers::Text(const PhaseWait& w) const {
  for (const Mbarrier& b : all_) {
    if (b.at != w.at) continue;
    return "phase " + std::to_string(b.phase) + " of " + Name(b.number) + ", which lacks " + std::to_string(b.pending) +
           " arrivals and " + std::to_string(b.expected - std::min(b.expected, b.asked)) + " bytes";
  }
  return "no mbarrier";
}

}  // namespace ricci::cuda::standin
