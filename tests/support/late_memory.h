// LateMemory: memory of one late device: addresses that the host cannot touch, and the bytes that they stand for.
//
// Addresses come from a reservation without access, are aligned to 256 bytes and never given out twice, so whatever
// uses an address of the device as one of the host crashes at once, and one that was freed is always recognised. The
// bytes of an allocation are a heap block of exactly its size (the address sanitizer sees what leaves it), filled with
// kPoison. An allocation has three moments: it arrives when its stream comes to it, is given back by the host, and goes
// when its stream comes to that. Thread-safe; calls nothing else.
#ifndef RICCI_TESTS_SUPPORT_LATE_MEMORY_H_
#define RICCI_TESTS_SUPPORT_LATE_MEMORY_H_
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ricci::testing {

class LateMemory {
 public:
  static constexpr size_t kAlignment = 256;
  static constexpr unsigned char kPoison = 0xcb;  // -2.7e7 as f32, -2.5e57 as f64, far from every index

  explicit LateMemory(uint64_t limit);
  ~LateMemory();
  LateMemory(const LateMemory&) = delete;

  // ---- the three moments ----
  // RESOURCE_EXHAUSTED past the limit. `arrives`: operations may use it at once.
  absl::StatusOr<void*> Allocate(uint64_t bytes, bool arrives);
  void Arrive(void* p);
  // From here on `Owns` does not hold. Refused: no allocation begins there, it has another size, or was given back.
  absl::Status GiveBack(void* p, uint64_t bytes);
  // Refused while an operation uses it: one that its stream does not wait for.
  absl::Status Free(void* p);

  // ---- the bytes ----
  struct DropBytes {
    void operator()(char* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };
  using Block = std::unique_ptr<char, DropBytes>;
  struct Bytes {  // what addresses stand for, alive as long as this
    std::shared_ptr<Block> block;
    char* data = nullptr;
  };
  // INTERNAL, naming `what`, if [p, p + bytes) is not within one allocation that has arrived and not gone. No bytes are
  // fine anywhere.
  absl::StatusOr<Bytes> Find(const void* p, uint64_t bytes, const std::string& what) const;
  // Find, and the failure of the operation that should have written there.
  absl::StatusOr<Bytes> FindToRead(const void* p, uint64_t bytes, const std::string& what) const;
  // What readers of the allocation around `p` get from here on; OK: its bytes. False if there is none.
  bool SetFailure(const void* p, absl::Status failure);

  bool Owns(const void* p, uint64_t bytes) const;
  // Is it an address of the reservation, allocated or not?
  bool Contains(const void* p) const { return base_ <= p && p < base_ + kReserved; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const;
  // `allocation 3 (64 bytes)` for each that has not gone.
  std::vector<std::string> Leaks() const;

 private:
  static constexpr uint64_t kReserved = uint64_t{1} << 36;
  struct Allocation {
    uint64_t number, bytes;
    std::shared_ptr<Block> block;  // none: it has gone
    bool arrived, given_back = false;
    absl::Status failure;
  };
  using Allocations = std::map<const char*, Allocation>;

  Allocations::const_iterator Around(const void* p) const;
  absl::StatusOr<Bytes> FindLocked(const void* p, uint64_t bytes, const std::string& what) const;

  char* const base_;
  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0, next_ = kAlignment;
  Allocations allocations_;  // all there ever were
};

}  // namespace ricci::testing
#endif
