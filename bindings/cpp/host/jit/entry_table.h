// Entries of a jit cache by the kind of call: a hash table that threads read while one of them adds to it.
#ifndef RICCI_BINDINGS_CPP_HOST_ENTRY_TABLE_H_
#define RICCI_BINDINGS_CPP_HOST_ENTRY_TABLE_H_
#include <atomic>
#include <bit>
#include <memory>

#include "ricci/jit_cache.hpp"

namespace ricci { inline namespace v0 {

struct CachedEntry final : JitCache::Entry {
  CachedEntry(const TreeKey& key, uint64_t hash) : key(key), hash(hash) {}
  const TreeKey key;
  const uint64_t hash;
  std::atomic<uint64_t> used{0};  // when, on the clock of RecentEntries
};

uint64_t HashOf(const TreeKey& key);

// Open addressing; entries are added, never removed, and at most half of the slots are taken. Owns no entries.
class EntryTable {
 public:
  explicit EntryTable(size_t max_entries)
      : mask_(std::bit_ceil(2 * max_entries) - 1), slots_(new std::atomic<CachedEntry*>[mask_ + 1]()) {}

  // NULL if there is none.
  CachedEntry* Find(const TreeKey& key, uint64_t hash) const {
    for (uint64_t i = hash & mask_;; i = (i + 1) & mask_) {
      CachedEntry* const e = slots_[i].load(std::memory_order_acquire);
      if (e == nullptr || (e->hash == hash && e->key == key)) return e;
    }
  }
  // From one thread at a time, and not when full.
  void Add(CachedEntry* entry);
  bool full() const { return 2 * size_ > mask_; }
  size_t size() const { return size_; }
  // Calls f on every entry.
  template <typename F>
  void ForEach(F&& f) const {
    for (uint64_t i = 0; i <= mask_; ++i) {
      if (CachedEntry* const e = slots_[i].load(std::memory_order_relaxed)) f(e);
    }
  }

 private:
  const uint64_t mask_;
  const std::unique_ptr<std::atomic<CachedEntry*>[]> slots_;
  size_t size_ = 0;
};

}}  // namespace ricci::v0
#endif
