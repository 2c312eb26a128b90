#include "host/jit/entry_table.h"

namespace ricci { inline namespace v0 {

uint64_t HashOf(const TreeKey& key) {
  uint64_t h = key.size();
  for (uint64_t word : key.view()) h = (h ^ word) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;  // slots are chosen by the low bits, which the high bits of words do not reach
}

void EntryTable::Add(CachedEntry* entry) {
  uint64_t i = entry->hash & mask_;
  while (slots_[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask_;
  slots_[i].store(entry, std::memory_order_release);
  ++size_;
}

}}  // namespace ricci::v0
