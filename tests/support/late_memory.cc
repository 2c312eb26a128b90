#include "support/late_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "base/status.h"

namespace ricci::testing {
namespace {

char* Reserve(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(p);
}

std::shared_ptr<LateMemory::Block> NewBlock(uint64_t bytes) {
  auto* p = static_cast<char*>(::operator new (bytes, std::align_val_t{LateMemory::kAlignment}));
  std::memset(p, LateMemory::kPoison, bytes);
  return std::make_shared<LateMemory::Block>(p);
}

absl::Status Wrong(const std::string& what, std::string_view why) {
  return absl::InternalError(base::Cat("late: ", what, " ", why));
}

}  // namespace

LateMemory::LateMemory(uint64_t limit) : base_(Reserve(kReserved)), limit_(limit) {}

LateMemory::~LateMemory() { munmap(base_, kReserved); }

absl::StatusOr<void*> LateMemory::Allocate(uint64_t bytes, bool arrives) {
  if (bytes == 0) return absl::InternalError("late: alloc of 0 bytes");
  std::lock_guard lock(mutex_);
  const uint64_t left = std::min(limit_ - used_, kReserved - next_);
  if (bytes > left || kReserved - next_ - bytes < 2 * kAlignment) {
    return absl::ResourceExhaustedError(base::Cat("late: ", bytes, " bytes wanted, ", left, " bytes available"));
  }
  char* p = base_ + next_;
  allocations_[p] = {allocations_.size(), bytes, NewBlock(bytes), arrives, false, absl::OkStatus()};
  used_ += bytes;
  next_ += (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;  // never adjacent
  return p;
}

void LateMemory::Arrive(void* p) {
  std::lock_guard lock(mutex_);
  allocations_.at(static_cast<const char*>(p)).arrived = true;
}

absl::Status LateMemory::GiveBack(void* p, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto it = allocations_.find(static_cast<const char*>(p));
  if (it == allocations_.end()) return absl::InternalError("late: free of what alloc did not give on this device");
  Allocation& a = it->second;
  if (a.given_back) return absl::InternalError(base::Cat("late: allocation ", a.number, " is freed twice"));
  if (a.bytes != bytes) {
    return absl::InternalError(
        base::Cat("late: allocation ", a.number, " has ", a.bytes, " bytes, but ", bytes, " are freed"));
  }
  a.given_back = true;
  return absl::OkStatus();
}

absl::Status LateMemory::Free(void* p) {
  std::lock_guard lock(mutex_);
  Allocation& a = allocations_.at(static_cast<const char*>(p));
  const std::shared_ptr<Block> block = std::move(a.block);
  used_ -= a.bytes;
  if (block.use_count() == 1) return absl::OkStatus();
  return absl::InternalError(base::Cat("late: allocation ", a.number, " is freed while an operation uses it"));
}

LateMemory::Allocations::const_iterator LateMemory::Around(const void* p) const {
  auto it = allocations_.upper_bound(static_cast<const char*>(p));
  if (it == allocations_.begin()) return allocations_.end();
  --it;
  return static_cast<const char*>(p) < it->first + it->second.bytes ? it : allocations_.end();
}

absl::StatusOr<LateMemory::Bytes> LateMemory::FindLocked(const void* p, uint64_t bytes, const std::string& what) const {
  const auto it = Around(p);
  if (it == allocations_.end()) return Wrong(what, "is not memory of this device");
  const Allocation& a = it->second;
  if (a.block == nullptr) return Wrong(what, base::Cat("was freed before: allocation ", a.number));
  if (!a.arrived) return Wrong(what, base::Cat("is used before its stream comes to allocation ", a.number));
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(p) - it->first);
  if (bytes > a.bytes - offset) {
    return Wrong(what,
                 base::Cat("leaves allocation ", a.number, ": ", bytes, " bytes from byte ", offset, " of ", a.bytes));
  }
  return Bytes{a.block, a.block->get() + offset};
}

absl::StatusOr<LateMemory::Bytes> LateMemory::Find(const void* p, uint64_t bytes, const std::string& what) const {
  if (bytes == 0) return Bytes{};
  std::lock_guard lock(mutex_);
  return FindLocked(p, bytes, what);
}

absl::StatusOr<LateMemory::Bytes> LateMemory::FindToRead(const void* p, uint64_t bytes, const std::string& what) const {
  if (bytes == 0) return Bytes{};
  std::lock_guard lock(mutex_);
  RICCI_ASSIGN(Bytes found, FindLocked(p, bytes, what));
  RICCI_TRY(Around(p)->second.failure);
  return found;
}

bool LateMemory::SetFailure(const void* p, absl::Status failure) {
  std::lock_guard lock(mutex_);
  const auto it = Around(p);
  if (it == allocations_.end() || it->second.block == nullptr) return false;
  allocations_.at(it->first).failure = std::move(failure);
  return true;
}

bool LateMemory::Owns(const void* p, uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  const auto it = Around(p);
  if (bytes == 0 || it == allocations_.end() || it->second.given_back) return false;
  return bytes <= it->second.bytes - static_cast<uint64_t>(static_cast<const char*>(p) - it->first);
}

uint64_t LateMemory::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

std::vector<std::string> LateMemory::Leaks() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> leaks;
  for (const auto& [p, a] : allocations_) {
    if (a.block != nullptr) leaks.push_back(base::Cat("allocation ", a.number, " (", a.bytes, " bytes)"));
  }
  return leaks;
}

}  // namespace ricci::testing
