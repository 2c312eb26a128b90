// ArrayType: dtype and shape; TypeTable: holds each distinct one once, with a 32-bit id that lives as long as the
// context.
//
// Reading is lock-free (chunks never move), because every rule of every equation reads types, on any thread.
#ifndef RICCI_TYPES_ARRAY_TYPE_H_
#define RICCI_TYPES_ARRAY_TYPE_H_
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "base/arena.h"
#include "base/hash_map.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace types {

using TypeId = ricci_type;  // 0 = none

struct ArrayType {
  uint32_t dtype = 0;
  std::span<const int64_t> shape;
  int64_t elements = 0;
  uint64_t bytes = 0;

  uint32_t rank() const { return static_cast<uint32_t>(shape.size()); }
};

// `f32[128,10]`.
std::string ToText(const ArrayType& t);
std::string ToText(uint32_t dtype, std::span<const int64_t> shape);

class TypeTable {
 public:
  explicit TypeTable(const base::HostMemory* memory);
  ~TypeTable();
  // INVALID_ARGUMENT for an unsupported dtype, a negative dimension, rank above RICCI_MAX_RANK or more than 2^62 bytes.
  absl::StatusOr<TypeId> Intern(uint32_t dtype, std::span<const int64_t> shape);
  // `type` with other dimensions; everything else stays the same.
  absl::StatusOr<TypeId> WithShape(const ArrayType& type, std::span<const int64_t> dims) {
    return Intern(type.dtype, dims);
  }
  const ArrayType& Get(TypeId id) const { return *Slot(id); }
  bool Has(TypeId id) const { return id != 0 && id < size_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kFirst = 256;  // entries of chunk 0; chunk k has twice as many as chunk k - 1
  const ArrayType* Slot(TypeId id) const;

  const base::HostMemory* memory_;
  mutable std::mutex mutex_;
  base::Arena arena_;
  base::HashMap<uint64_t, std::vector<TypeId>> by_hash_;
  std::array<std::atomic<ArrayType*>, 24> chunks_{};
  std::atomic<uint32_t> size_{1};
};

}}}  // namespace ricci::v0::types
#endif
