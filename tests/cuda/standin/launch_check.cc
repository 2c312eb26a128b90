#include "launch_check.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace ricci::cuda::standin {
namespace {

// The kinds of accesses as the prelude gives them; what is not of one size may have any alignment.
// With the last one, in the bits from 8 on, the number of the group of products.
enum Kind : uint32_t { kRead, kWrite, kAtomic, kReadOfRange, kWriteOfRange, kReadByTensorCores };
Access AccessOf(uint32_t kind) {
  if (kind == Kind::kAtomic) return Access::kAtomic;
  return kind == kWrite || kind == kWriteOfRange ? Access::kWrite : Access::kRead;
}
constexpr uint32_t kGroup = 128;  // threads
std::string ThreadName(uint32_t number) {
  if (number < kReaders) return "thread " + std::to_string(number);
  if (number < kCopiers) return "group of warps " + std::to_string((number - kReaders) / kGroup);
  return number < kStorers ? "a copy for mbarrier " + std::to_string(number - kCopiers) : "a store of a box";
}
const char* Verb(Access a) {
  return a == Access::kRead ? "reads" : a == Access::kWrite ? "writes" : "updates atomically";
}

std::atomic<bool> is_counted{false};
std::mutex& figures_mutex = *new std::mutex;
ricci_standin_figures counted{};

}  // namespace

RaceLog& LaunchCheck::races_ = *new RaceLog;

LaunchCheck::LaunchCheck(const Function& f, const std::vector<CuPointer>& arguments, uint64_t shared_bytes)
    : function_(f), arguments_(arguments), shared_bytes_(shared_bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const bool is_full = races_.IsFull();
  if (is_full) races_.Forget();
  for (auto& [begin, memory] : m.memory) {
    if (is_full) *memory.shadow = Shadow();
    buffers_.push_back({begin, memory.bytes, memory.shadow, memory.written});
  }
  for (const auto& [begin, bytes] : m.pinned) buffers_.push_back({begin, bytes, std::make_shared<Shadow>(), nullptr});
  std::sort(buffers_.begin(), buffers_.end(), [](const Buffer& a, const Buffer& b) { return a.begin < b.begin; });
  if (is_full) {
    f.library->fixed.shadow = Shadow();
    f.library->dynamic.shadow = Shadow();
  }
  races_.BeginLaunch();
}

// Pages of large memory are not kept.
LaunchCheck::~LaunchCheck() {
  constexpr size_t kMostPages = 1024;
  for (const Buffer& b : buffers_) {
    if (b.shadow->pages.size() > kMostPages) *b.shadow = Shadow();
  }
}

void LaunchCheck::BeginBlock(uint64_t block) {
  block_ = block;
  races_.BeginBlock(block);
  readers_.resize(kCopiers - kReaders);
  for (uint32_t t = 0; t < readers_.size(); ++t) {
    readers_[t] = {.number = kReaders + t, .met = {}, .hidden = {}};
  }
}

void LaunchCheck::Barrier(std::vector<Thread*>& threads) {
  races_.Barrier(threads);
  for (Thread& r : readers_) r.segment = 0;
}

void LaunchCheck::EndBlock() {
  if (!is_counted) return;
  const std::lock_guard lock(figures_mutex);
  figures_.EndBlock(counted);
}

void LaunchCheck::Runs(Thread* t, uintptr_t stack, uint64_t bytes) {
  thread_ = t;
  stack_ = stack;
  stack_bytes_ = bytes;
}

const LaunchCheck::Buffer* LaunchCheck::BufferOf(uintptr_t p) {
  constexpr uintptr_t kPage = 4096;
  const Buffer*& latest = latest_[p / kPage % kLatest];
  if (latest != nullptr && p - latest->begin < latest->bytes) return latest;
  auto after =
      std::upper_bound(buffers_.begin(), buffers_.end(), p, [](uintptr_t at, const Buffer& b) { return at < b.begin; });
  if (after == buffers_.begin()) return nullptr;
  --after;
  return p - after->begin < after->bytes ? latest = &*after : nullptr;
}

bool LaunchCheck::Note(uintptr_t p, uint32_t bytes, uint32_t kind, const void* site) {
  if (p - stack_ < stack_bytes_) return true;
  if (kind % 256 == kReadByTensorCores) return NoteByTensorCores(p, bytes, kind / 256, site);
  const Access access = AccessOf(kind);
  SharedSection* const section = SectionOf(p);
  const Buffer* const buffer = section != nullptr ? nullptr : BufferOf(p);
  if (section == nullptr && buffer == nullptr) {
    if (function_.library->Has(p)) return true;  // tables
    return Fail("out of bounds: " + Said(access, bytes, PlaceOf(p), site));
  }
  const bool of_one_size = kind <= Kind::kAtomic;
  if (of_one_size && p % bytes != 0) return Fail("misaligned: " + Said(access, bytes, PlaceOf(p), site));
  if (is_counted) {
    const bool is_dynamic = section == &function_.library->dynamic;
    const auto memory = static_cast<uint32_t>(is_dynamic ? (p - section->begin) / kSharedOfBlock : 0);
    figures_.Note(thread_->number, site, p, bytes, section != nullptr, memory);
  }
  return section != nullptr ? NoteShared(*section, p, bytes, access, site)
                            : NoteGlobal(*buffer, p, bytes, access, site);
}

bool LaunchCheck::NoteShared(SharedSection& section, uintptr_t p, uint32_t bytes, Access access, const void* site) {
  const uint64_t offset = p - section.begin;
  const SharedArray* const array = section.ArrayAt(offset);
  const bool is_dynamic = &section == &function_.library->dynamic;
  const uint64_t size = array == nullptr ? 0 : is_dynamic ? std::min(array->bytes, shared_bytes_) : array->bytes;
  const uint64_t of_block = array == nullptr ? 0
                            : is_dynamic     ? (offset - array->offset) % kSharedOfBlock
                                             : offset - array->offset;
  if (array == nullptr || of_block + bytes > size) {
    return Fail("out of bounds: " + Said(access, bytes, PlaceOf(p), site));
  }
  uint64_t missing = 0;
  if (access != Access::kWrite && !has_complained_ && !races_.IsWritten(section.shadow, offset, bytes, missing)) {
    has_complained_ = true;
    Complain("uninitialised shared memory: " + Said(access, bytes, PlaceOf(p), site));
  }
  RaceLog::Race race;
  if (races_.Note(*thread_, section.shadow, offset, bytes, access, /*of_block=*/true, race) && !has_raced_) {
    has_raced_ = true;
    Complain("race in shared memory: " + Said(access, bytes, PlaceOf(p), site) + ", which " + Other(race));
  }
  return true;
}

SharedSection* LaunchCheck::SectionOf(uintptr_t p) const {
  Library& library = *function_.library;
  return library.fixed.Has(p) ? &library.fixed : library.dynamic.Has(p) ? &library.dynamic : nullptr;
}

bool LaunchCheck::NoteBy(Thread& agent, SharedSection& section, uintptr_t p, uint32_t bytes, Access access,
                         const void* site) {
  Thread* const thread = std::exchange(thread_, &agent);
  RaceLog::Race last;
  const bool is_shown =
      races_.IsShown(section.shadow, p - section.begin, bytes, /*also_reads=*/access == Access::kWrite, last);
  const bool goes_on = NoteShared(section, p, bytes, access, site);
  if (goes_on && !is_shown) ComplainOfProxy(access, bytes, p, site, last);
  thread_ = thread;
  return goes_on;
}

void LaunchCheck::ComplainOfProxy(Access access, uint32_t bytes, uintptr_t p, const void* site,
                                  const RaceLog::Race& last) {
  if (std::exchange(has_complained_, true)) return;
  Complain("no fence.proxy.async: " + Said(access, bytes, PlaceOf(p), site) + ", which " + Other(last));
}

// They read at any time between what issues a product and what waits for it, and only what was shown to them.
bool LaunchCheck::NoteByTensorCores(uintptr_t p, uint32_t bytes, uint32_t group, const void* site) {
  SharedSection* const section = SectionOf(p);
  Thread& reader = readers_[thread_->number];
  if (reader.epoch != group + 1) reader.segment = 0;
  reader.epoch = group + 1;
  reader.asked = thread_;
  return NoteBy(reader, section != nullptr ? *section : function_.library->fixed, p, bytes, Access::kRead, site);
}

bool LaunchCheck::NoteCopy(Thread& agent, uintptr_t p, uint32_t bytes, Copied what, const void* site) {
  const bool in_shared = what == Copied::kToShared || what == Copied::kFromShared;
  const Access access = what == Copied::kToShared || what == Copied::kToDevice ? Access::kWrite : Access::kRead;
  SharedSection* const section = in_shared ? SectionOf(p) : nullptr;
  if (section != nullptr) return NoteBy(agent, *section, p, bytes, access, site);
  const Buffer* const buffer = in_shared ? nullptr : BufferOf(p);
  Thread* const thread = std::exchange(thread_, &agent);
  const bool goes_on = buffer != nullptr ? NoteGlobal(*buffer, p, bytes, access, site)
                                         : Fail("out of bounds: " + Said(access, bytes, PlaceOf(p), site));
  thread_ = thread;
  return goes_on;
}

// An update reads and writes.
void LaunchCheck::NoteWritten(const Buffer& b, uintptr_t p, uint32_t bytes, Access access, const void* site) {
  if (b.written == nullptr) return;
  const uint64_t offset = p - b.begin;
  if (access != Access::kWrite && !has_missed_) {
    const uint64_t missing = b.written->FirstMissing(offset, bytes);
    has_missed_ = missing != offset + bytes;
    if (has_missed_) {
      Complain("unwritten memory: " + Said(access, bytes, PlaceOf(p), site) + ", of which byte " +
               std::to_string(missing - offset) + " was never written");
    }
  }
  if (access != Access::kRead) b.written->Write(offset, bytes);
}

bool LaunchCheck::NoteGlobal(const Buffer& b, uintptr_t p, uint32_t bytes, Access access, const void* site) {
  if (p - b.begin + bytes > b.bytes) return Fail("out of bounds: " + Said(access, bytes, PlaceOf(p), site));
  NoteWritten(b, p, bytes, access, site);
  RaceLog::Race race;
  if (races_.Note(*thread_, *b.shadow, p - b.begin, bytes, access, /*of_block=*/false, race) && !has_raced_) {
    has_raced_ = true;
    Complain("race in global memory: " + Said(access, bytes, PlaceOf(p), site) + ", which " + Other(race));
  }
  return true;
}

bool LaunchCheck::Fail(const std::string& what) {
  fault_ = what;
  return false;
}

void LaunchCheck::Complain(const std::string& what) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain("kernel " + function_.name + ": " + what);
}

std::string LaunchCheck::Said(Access access, uint32_t bytes, const std::string& place, const void* site) const {
  return ThreadName(thread_->number) + " of block " + std::to_string(block_) + " " + Verb(access) + " " +
         std::to_string(bytes) + " bytes at " + place + " (" + function_.library->LineOf(site) + ")";
}

std::string LaunchCheck::Other(const RaceLog::Race& race) const {
  return ThreadName(race.thread) + " of block " + std::to_string(race.block) + " " + Verb(race.earlier);
}

// The array or the argument that begins before it, and how far it is from there.
std::string LaunchCheck::PlaceOf(uintptr_t p) const {
  for (const SharedSection* s : {&function_.library->fixed, &function_.library->dynamic}) {
    if (!s->Has(p)) continue;
    const SharedArray* before = nullptr;
    for (const SharedArray& a : s->arrays) {
      if (s->begin + a.offset <= p) before = &a;
    }
    if (before == nullptr) return "a place before all arrays";
    const uint64_t size = s == &function_.library->dynamic ? shared_bytes_ : before->bytes;
    return before->name + " + " + std::to_string(p - s->begin - before->offset) + " of " + std::to_string(size);
  }
  size_t nearest = arguments_.size();
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i] <= p && (nearest == arguments_.size() || arguments_[i] > arguments_[nearest])) nearest = i;
  }
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (const StepRef freed = m.steps.FreedBy(p)) return "memory that " + freed->Text() + " has freed";
  if (nearest == arguments_.size()) return "no argument's memory";
  std::string size = "?";
  for (const Buffer& b : buffers_) {
    if (arguments_[nearest] - b.begin < b.bytes) size = std::to_string(b.begin + b.bytes - arguments_[nearest]);
  }
  return "argument " + std::to_string(nearest) + " + " + std::to_string(p - arguments_[nearest]) + " of " + size;
}

void LaunchCheck::Touch(const StepRef& step) const {
  Machine& m = Machine::Get();
  for (const bool writes : {false, true}) {
    for (const Buffer& b : buffers_) {
      for (const auto& [first, last] : races_.Touched(*b.shadow, writes)) {
        const std::lock_guard lock(m.mutex);
        m.Touch(b.begin + first, last - first, writes, step);
      }
    }
  }
}

}  // namespace ricci::cuda::standin

extern "C" void ricci_standin_count(int count) { ricci::cuda::standin::is_counted = count != 0; }
extern "C" void ricci_standin_counted(ricci_standin_figures* out) {
  const std::lock_guard lock(ricci::cuda::standin::figures_mutex);
  *out = std::exchange(ricci::cuda::standin::counted, {});
}
