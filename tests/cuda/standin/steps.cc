#include "steps.h"

#include <algorithm>

namespace ricci::cuda::standin {

void Join(Clock& into, const Clock& other) {
  for (const auto& [stream, number] : other) into[stream] = std::max(into[stream], number);
}

std::string Step::Text() const { return stream == 0 ? name : name + " in stream " + std::to_string(stream); }

namespace {

// Of one launch, of which a conditional node and what is in its body are in order.
bool IsBeforeInGraph(const std::vector<InGraph>& path, const std::vector<InGraph>& later) {
  for (size_t i = 0; i < path.size() && i < later.size(); ++i) {
    const InGraph &a = path[i], &b = later[i];
    if (a.graph != b.graph) return true;
    if (a.trip != b.trip) return a.trip < b.trip;
    if (a.node != b.node) return (*a.graph)[b.node][a.node];
  }
  return true;
}

}  // namespace

bool Step::IsBefore(const Step& later) const {
  if (stream == later.stream && number == later.number) return IsBeforeInGraph(path, later.path);
  if (stream == later.stream) return number < later.number;
  const auto known = later.before.find(stream);
  return known != later.before.end() && known->second >= number;
}

StepRef StepLog::HostStep(const std::string& name) {
  Step step{name, 0, ++host_[0], host_};
  return std::make_shared<const Step>(std::move(step));
}

// The piece that begins there, made of one that goes on there. The end if there is none.
StepLog::Pieces::iterator StepLog::Cut(uintptr_t at) {
  auto next = pieces_.lower_bound(at);
  if (next != pieces_.end() && next->first == at) return next;
  if (next == pieces_.begin()) return next;
  const auto piece = std::prev(next);
  if (piece->second.end <= at) return next;
  const auto rest = pieces_.emplace_hint(next, at, piece->second);
  piece->second.end = at;
  return rest;
}

void StepLog::Forget(uintptr_t begin, uintptr_t end) {
  Cut(begin);
  const auto last = Cut(end);
  pieces_.erase(pieces_.lower_bound(begin), last);
}

void StepLog::NewMemory(uintptr_t begin, uint64_t bytes, const StepRef& step) {
  Forget(begin, begin + bytes);
  pieces_[begin] = {begin + bytes, step, {}};
}

void StepLog::FreeMemory(uintptr_t begin, uint64_t bytes, const StepRef& step) {
  Forget(begin, begin + bytes);
  freed_[begin] = {begin + bytes, step};
}

StepRef StepLog::FreedBy(uintptr_t p) const {
  auto after = freed_.upper_bound(p);
  if (after == freed_.begin()) return nullptr;
  --after;
  return p < after->second.first ? after->second.second : nullptr;
}

bool StepLog::HasOpen(uint64_t stream) const {
  const auto found = host_.find(stream);
  const uint64_t known = found == host_.end() ? 0 : found->second;
  const auto is_open = [&](const StepRef& s) { return s != nullptr && s->stream == stream && s->number > known; };
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const auto& p) {
    return is_open(p.second.write) || std::any_of(p.second.reads.begin(), p.second.reads.end(), is_open);
  });
}

const Step* StepLog::Conflict(const Piece& p, bool writes, const Step& step) {
  if (p.write != nullptr && !p.write->IsBefore(step)) return p.write.get();
  if (!writes) return nullptr;
  for (const StepRef& r : p.reads) {
    if (!r->IsBefore(step)) return r.get();
  }
  return nullptr;
}

std::string StepLog::Note(uintptr_t begin, uint64_t bytes, bool writes, const StepRef& step) {
  if (bytes == 0) return {};
  const uintptr_t end = begin + bytes;
  std::string fault;
  Cut(begin);
  Cut(end);
  uintptr_t at = begin;
  for (auto piece = pieces_.lower_bound(begin); at < end; at = piece->second.end, ++piece) {
    if (piece == pieces_.end() || piece->first != at) {  // never accessed
      const uintptr_t to = piece == pieces_.end() ? end : std::min(end, piece->first);
      piece = pieces_.emplace_hint(piece, at, Piece{to, nullptr, {}});
    }
    Piece& p = piece->second;
    const Step* const other = Conflict(p, writes, *step);
    if (other != nullptr && fault.empty()) {
      const bool wrote = p.write.get() == other;
      fault = "not in order: " + step->Text() + (writes ? " writes" : " reads") + " what " + other->Text() +
              (wrote ? " writes" : " reads");
    }
    if (writes) {
      p.write = step;
      p.reads.clear();
      continue;
    }
    const auto is_before = [&](const StepRef& r) { return r->IsBefore(*step); };
    p.reads.erase(std::remove_if(p.reads.begin(), p.reads.end(), is_before), p.reads.end());
    p.reads.push_back(step);
  }
  return fault;
}

}  // namespace ricci::cuda::standin
