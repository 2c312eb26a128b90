// The entries of a jit cache that go: a bounded number, of which the least recently used makes room for a new one.
//
// Threads look entries up without a lock. A lookup reads the table of all entries and takes a reference to the one that
// it finds; in between it is counted as reading. A thread that adds an entry makes another table, and frees the old
// one, and the entry that goes, when all lookups that may read it have ended: they are short and wait for nothing.
// There are two counts, used in turn, so that lookups which begin later are not waited for.
#ifndef RICCI_BINDINGS_CPP_HOST_RECENT_ENTRIES_H_
#define RICCI_BINDINGS_CPP_HOST_RECENT_ENTRIES_H_
#include <vector>

#include "host/jit/entry_table.h"

namespace ricci { inline namespace v0 {

class RecentEntries {
 public:
  explicit RecentEntries(size_t max_entries) : max_entries_(max_entries) {}
  RecentEntries(const RecentEntries&) = delete;
  ~RecentEntries() { delete table_.load(); }

  // The entry, which is used now; none if it is missing.
  Ref<CachedEntry> Find(const TreeKey& key, uint64_t hash);
  // From one thread at a time.
  void Add(const Ref<CachedEntry>& entry);
  size_t size() const { return entries_.size(); }

 private:
  void WaitForReaders();

  const size_t max_entries_;
  std::vector<Ref<CachedEntry>> entries_;  // in the order in which they were added
  std::atomic<EntryTable*> table_{nullptr};
  // Even when an entry is added, odd between: what was used since is later than what was added.
  std::atomic<uint64_t> clock_{1};
  std::atomic<uint32_t> side_{0};
  std::atomic<uint32_t> reading_[2] = {0, 0};
};

}}  // namespace ricci::v0
#endif
