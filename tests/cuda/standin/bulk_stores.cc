#include "bulk_stores.h"

#include <cstring>
#include <utility>

namespace ricci::cuda::standin {
namespace {

constexpr uintptr_t kAlignmentOfBoxes = 128;
constexpr uint32_t kPiece = 16;

std::string By(const Asker& who) { return ": thread " + std::to_string(who.thread.number); }

std::string WhyNoStore(const BoxToCopy& box, const TensorOnDevice& t) {
  if (t.mark != TensorOnDevice::kMark) return "a box is stored by something that is not a tensor map";
  if (t.rank != box.rank) return "a box is stored by a tensor map of another rank";
  if (box.address % kAlignmentOfBoxes != 0) return "a box that is stored from a misaligned place";
  return {};
}

}  // namespace

// Numbers of agents are few, since each thread remembers how far it is in order with all below.
BulkStores::OfThread& BulkStores::Of(const Thread& t) {
  const auto number = static_cast<uint32_t>(all_.size());
  return all_.try_emplace(t.number, OfThread{.number = number}).first->second;
}

std::string BulkStores::Store(const BoxToCopy& box, const Asker& who) {
  TensorOnDevice t;
  std::memcpy(&t, box.map, sizeof t);
  if (const std::string wrong = WhyNoStore(box, t); !wrong.empty()) return wrong + By(who);
  OfThread& of = Of(who.thread);
  const auto agent = [&](uint32_t number) {
    return Thread{.number = kStorers + 2 * of.number + number,
                  .epoch = of.groups + 1,
                  .met = {},
                  .hidden = {},
                  .asked = &who.thread};
  };
  of.stores.push_back(
      {of.groups, agent(0), agent(1), box.to, t.box_bytes(), PiecesOf(t, box.at, box.address), who.site});
  return NoteAll(of.stores.back(), who.check);
}

std::string BulkStores::NoteAll(PendingStore& s, LaunchCheck* check) {
  if (check == nullptr) return {};
  const auto from = reinterpret_cast<uintptr_t>(s.from);
  for (uint32_t at = 0; s.content.empty() && at < s.bytes; at += kPiece) {
    if (!check->NoteCopy(s.reader, from + at, kPiece, LaunchCheck::Copied::kFromShared, s.site)) return check->Fault();
  }
  for (const Piece& p : s.pieces) {
    const auto to = reinterpret_cast<uintptr_t>(p.from);
    if (p.valid != 0 && !check->NoteCopy(s.writer, to, p.valid, LaunchCheck::Copied::kToDevice, s.site)) {
      return check->Fault();
    }
  }
  return {};
}

void BulkStores::Read(PendingStore& s) {
  if (s.content.empty()) s.content.assign(s.from, s.from + s.bytes);
}

// What is outside of the tensor is not stored.
void BulkStores::Write(const PendingStore& s) {
  for (const Piece& p : s.pieces) {
    if (p.valid != 0) std::memcpy(const_cast<char*>(p.from), s.content.data() + p.to, p.valid);
  }
}

void BulkStores::Wait(unsigned but, bool only_reads, const Asker& who) {
  OfThread& of = Of(who.thread);
  const uint32_t over = of.groups > but ? of.groups - but : 0;
  for (PendingStore& s : of.stores) {
    if (s.group < over) Read(s);
    if (s.group < over && !only_reads) Write(s);
  }
  if (!only_reads) std::erase_if(of.stores, [over](const PendingStore& s) { return s.group < over; });
  if (who.check == nullptr) return;
  RaceLog::Acquire(who.thread, kStorers + 2 * of.number, over);
  if (!only_reads) RaceLog::Acquire(who.thread, kStorers + 2 * of.number + 1, over);
}

std::string BulkStores::AfterBarrier(LaunchCheck* check) {
  for (auto& [thread, of] : all_) {
    for (PendingStore& s : of.stores) {
      s.reader.segment = s.writer.segment = 0;
      if (std::string wrong = NoteAll(s, check); !wrong.empty()) return wrong;
    }
  }
  return {};
}

std::string BulkStores::AtEnd() {
  for (const auto& [thread, of] : all_) {
    for (const PendingStore& s : of.stores) {
      if (s.content.empty()) return "a store of a box that is never waited for: thread " + std::to_string(thread);
      Write(s);
    }
  }
  return {};
}

}  // namespace ricci::cuda::standin
