#include "types/array_type.h"

#include <bit>

#include "absl/strings/str_join.h"
#include "base/hash.h"
#include "base/status.h"

namespace ricci { inline namespace v0 { namespace types {
namespace {

// The chunk of entry `id` and its position in it: chunk k starts at kFirst * (2^k - 1).
std::pair<uint32_t, uint32_t> PositionOf(uint32_t id, uint32_t first) {
  const uint32_t chunk = std::bit_width(id / first + 1) - 1;
  return {chunk, id - first * ((1u << chunk) - 1)};
}

absl::StatusOr<ArrayType> Checked(uint32_t dtype, std::span<const int64_t> shape) {
  if (Info(dtype).size == 0) return base::InvalidArgument("type: there is no dtype with number ", dtype);
  if (shape.size() > RICCI_MAX_RANK)
    return base::InvalidArgument("type: rank ", shape.size(), " exceeds ", RICCI_MAX_RANK);
  ArrayType t{dtype, shape, 1, 0};
  int64_t limit = (int64_t{1} << 62) / Info(dtype).size;  // of the product of the non-zero dimensions
  for (int64_t d : shape) {
    if (d < 0) return base::InvalidArgument("type: negative dimension in ", ToText(dtype, shape));
    if (d > 0 && (limit /= d) == 0) return base::InvalidArgument("type: ", ToText(dtype, shape), " exceeds 2^62 bytes");
    t.elements *= d;
  }
  t.bytes = static_cast<uint64_t>(t.elements) * Info(dtype).size;
  return t;
}

}  // namespace

std::string ToText(uint32_t dtype, std::span<const int64_t> shape) {
  return absl::StrCat(std::string(Info(dtype).name), "[", absl::StrJoin(shape, ","), "]");
}
std::string ToText(const ArrayType& t) { return ToText(t.dtype, t.shape); }

TypeTable::TypeTable(const base::HostMemory* memory) : memory_(memory), arena_(memory) {}

TypeTable::~TypeTable() {
  for (size_t k = 0; k < chunks_.size(); ++k) {
    if (ArrayType* chunk = chunks_[k]) memory_->Free(chunk, (kFirst << k) * sizeof(ArrayType), alignof(ArrayType));
  }
}

const ArrayType* TypeTable::Slot(TypeId id) const {
  const auto [chunk, at] = PositionOf(id, kFirst);
  return chunks_[chunk].load(std::memory_order_acquire) + at;
}

absl::StatusOr<TypeId> TypeTable::Intern(uint32_t dtype, std::span<const int64_t> shape) {
  RICCI_ASSIGN(ArrayType t, Checked(dtype, shape));
  base::Hasher h;
  h.Add(dtype);
  for (int64_t d : shape) h.Add(static_cast<uint64_t>(d));
  std::lock_guard lock(mutex_);
  std::vector<TypeId>& same_hash = by_hash_[h.Done()];
  for (TypeId id : same_hash) {
    const ArrayType& known = Get(id);
    if (known.dtype == dtype && std::equal(shape.begin(), shape.end(), known.shape.begin(), known.shape.end()))
      return id;
  }
  const TypeId id = size_.load(std::memory_order_relaxed);
  const auto [chunk, at] = PositionOf(id, kFirst);
  if (chunk >= chunks_.size()) return absl::ResourceExhaustedError("type: too many distinct types");
  if (chunks_[chunk] == nullptr) {
    chunks_[chunk] =
        static_cast<ArrayType*>(memory_->Allocate((kFirst << chunk) * sizeof(ArrayType), alignof(ArrayType)));
  }
  t.shape = arena_.Copy(shape);
  new (chunks_[chunk].load() + at) ArrayType(t);
  same_hash.push_back(id);
  size_.store(id + 1, std::memory_order_release);
  return id;
}

}}}  // namespace ricci::v0::types
