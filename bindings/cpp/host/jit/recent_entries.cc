#include "host/jit/recent_entries.h"

#include <algorithm>
#include <thread>

namespace ricci { inline namespace v0 {

Ref<CachedEntry> RecentEntries::Find(const TreeKey& key, uint64_t hash) {
  if (table_.load(std::memory_order_relaxed) == nullptr) return {};
  std::atomic<uint32_t>& reading = reading_[side_.load()];
  reading.fetch_add(1);  // before the table is read: all of this is sequentially consistent
  CachedEntry* const e = table_.load()->Find(key, hash);
  Ref<CachedEntry> found = Ref<CachedEntry>::Share(e);
  reading.fetch_sub(1);
  if (e != nullptr) e->used.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  return found;
}

// A lookup that chose its count before the sides changed may add to it after that, so both counts are waited for.
void RecentEntries::WaitForReaders() {
  for (int i = 0; i < 2; ++i) {
    const uint32_t before = side_.fetch_xor(1);
    while (reading_[before].load() != 0) std::this_thread::yield();
  }
}

void RecentEntries::Add(const Ref<CachedEntry>& entry) {
  const auto used_earlier = [](const Ref<CachedEntry>& a, const Ref<CachedEntry>& b) {
    return a->used.load(std::memory_order_relaxed) < b->used.load(std::memory_order_relaxed);
  };
  std::vector<Ref<CachedEntry>> entries = entries_;
  if (entries.size() == max_entries_) entries.erase(std::min_element(entries.begin(), entries.end(), used_earlier));
  entry->used = clock_.load(std::memory_order_relaxed) + 1;
  entries.push_back(entry);
  auto table = std::make_unique<EntryTable>(max_entries_);
  for (const Ref<CachedEntry>& e : entries) table->Add(e.handle());
  clock_.fetch_add(2, std::memory_order_relaxed);
  const std::unique_ptr<EntryTable> old(table_.exchange(table.release()));
  // From here on lookups find the new table; who found the old one has ended when this returns.
  WaitForReaders();
  entries_.swap(entries);
}

}}  // namespace ricci::v0
