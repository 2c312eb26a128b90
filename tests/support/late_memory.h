// LateMemory: memory of one late device: addresses that the host cannot touch, and the bytes that they stand for.
//
// Addresses come from a reservation without access, are aligned to 256 bytes and never given out twice, so code that
// uses a device address on the host crashes at once, and a freed address is always recognised. The bytes of an
// allocation are a heap block of exactly its size (so that the address sanitizer sees accesses outside it), filled with
// kPoison. An allocation has three moments: it arrives when its stream reaches it, is given back by the host, and is
// freed when its stream reaches that. Thread-safe; calls nothing else.
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
  // From here on `Owns` is false. Refused if no allocation begins there, or it has another size or was given back.
  absl::Status GiveBack(void* p, uint64_t bytes);
  // Refused while an operation that its stream does not wait for uses it.
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
  // INTERNAL, naming `what`, if [p, p + bytes) is not inside one allocation that has arrived and is not freed. A range
  // of no bytes is fine anywhere.
  absl::StatusOr<Bytes> Find(const void* p, uint64_t bytes, const std::string& what) const;
  // Find, and the failure of the operation that should have written there.
  absl::StatusOr<Bytes> FindToRead(const void* p, uint64_t bytes, const std::string& what) const;
  // What readers of the allocation around `p` get from here on; OK: its bytes. False if there is none.
  bool SetFailure(const void* p, absl::Status failure);

  bool Owns(const void* p, uint64_t bytes) const;
  // Whether it is an address of the reservation, allocated or not.
  bool Contains(const void* p) const { return base_ <= p && p < base_ + kReserved; }
  uint64_t limit() const { return limit_; }
  uint64_t used() const;
  // `allocation 3 (64 bytes)` for each that is not freed.
  std::vector<std::string> Leaks() const;

 private:
  static constexpr uint64_t kReserved = uint64_t{1} << 36;
  struct Allocation {
    uint64_t number, bytes;
    std::shared_ptr<Block> block;  // none: it is freed
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
  Allocations allocations_;  // all there have ever been
};

}  // namespace ricci::testing
#endif
