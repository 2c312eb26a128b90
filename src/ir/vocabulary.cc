#include "ir/vocabulary.h"

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace ir {

LocationId Vocabulary::InternLocation(std::string_view file, uint32_t line, std::string_view func) {
  std::string key = base::Cat(file, "\n", line, "\n", func);
  std::lock_guard lock(mutex_);
  if (auto it = location_ids_.find(key); it != location_ids_.end()) return it->second;
  const auto id = static_cast<LocationId>(locations_.size());
  locations_.push_back({std::string(file), std::string(func), line});
  location_ids_.emplace(std::move(key), id);
  return id;
}

const Location& Vocabulary::GetLocation(LocationId id) const {
  std::lock_guard lock(mutex_);
  return locations_[id < locations_.size() ? id : 0];
}

PrimId Vocabulary::AddPrimName(std::string_view name) {
  const auto id = static_cast<PrimId>(prims_.size());
  prims_.emplace_back(name);
  prim_ids_.emplace(name, id);
  return id;
}

void Vocabulary::TruncatePrims(uint32_t count) {
  while (prims_.size() > count) {
    prim_ids_.erase(prims_.back());
    prims_.pop_back();
  }
}

PrimId Vocabulary::FindPrim(std::string_view name) const {
  auto it = prim_ids_.find(name);
  return it == prim_ids_.end() ? 0 : it->second;
}

uint32_t Vocabulary::NextGeneration() {
  // Each context begins elsewhere, so that a value of another context is invalid here.
  const uint64_t own = reinterpret_cast<uintptr_t>(this) * uint64_t{0x9E3779B97F4A7C15};  // 2^64 by the golden ratio
  uint32_t g;
  do {
    g = generation_.fetch_add(1, std::memory_order_relaxed) + static_cast<uint32_t>(own >> 32);
  } while (g == 0 || g == ~0u);
  return g;
}

}}}  // namespace ricci::v0::ir
