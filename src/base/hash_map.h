// HashMap, HashSet: hash tables that stay intact when memory runs out, and whose order does not depend on hash values.
//
// Entries are a dense vector in the order of insertion (a removal moves the last one); a table of indices, probed
// linearly, leads to them. A failed allocation changes nothing, which absl::flat_hash_map does not promise (it breaks
// on growth). Iteration does not depend on hash values, so a walk over a map cannot make output differ between runs.
// References live until the next insertion or removal.
#ifndef RICCI_BASE_HASH_MAP_H_
#define RICCI_BASE_HASH_MAP_H_
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "base/status.h"

namespace ricci { inline namespace v0 { namespace base {

template <typename K>
struct KeyHash : absl::Hash<K> {};
template <>
struct KeyHash<std::string> {
  size_t operator()(std::string_view key) const { return absl::Hash<absl::string_view>()(ToAbsl(key)); }
};

// Entries are found by KeyOf(entry).
template <typename K, typename Entry, typename KeyOf, typename KeyHasher>
class HashTable {
 public:
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  template <typename Q = K>
  iterator find(const Q& key) {
    return begin() + static_cast<ptrdiff_t>(Find(key, Hash(key)));
  }
  template <typename Q = K>
  const_iterator find(const Q& key) const {
    return begin() + static_cast<ptrdiff_t>(Find(key, Hash(key)));
  }
  template <typename Q = K>
  bool contains(const Q& key) const {
    return find(key) != end();
  }
  template <typename Q = K>
  size_t count(const Q& key) const {
    return contains(key) ? 1 : 0;
  }

  void reserve(size_t n) {
    entries_.reserve(n);
    if (n * 4 > slots_.size() * 3) Rehash(n);
  }
  void clear() {
    entries_.clear();
    slots_.assign(slots_.size(), Slot{});
  }
  // The last entry takes the place of the removed one.
  template <typename Q = K>
  size_t erase(const Q& key) {
    const uint32_t hash = Hash(key);
    const size_t at = Find(key, hash);
    if (at == entries_.size()) return 0;
    Unlink(SlotOf(hash, at));
    const size_t last = entries_.size() - 1;
    if (at != last) {
      slots_[SlotOf(Hash(KeyOf()(entries_[last])), last)].entry = static_cast<uint32_t>(at) + 1;
      entries_[at] = std::move(entries_[last]);
    }
    entries_.pop_back();
    return 1;
  }

 protected:
  // The entry of `key`, made by make(entries) if there is none.
  template <typename Q, typename Make>
  std::pair<iterator, bool> FindOrAdd(const Q& key, Make&& make) {
    const uint32_t hash = Hash(key);
    const size_t at = Find(key, hash);
    if (at != entries_.size()) return {begin() + static_cast<ptrdiff_t>(at), false};
    if ((at + 1) * 4 > slots_.size() * 3) Rehash(at + 1);
    make(entries_);
    Link(slots_, {static_cast<uint32_t>(at) + 1, hash});
    return {end() - 1, true};
  }

 private:
  struct Slot {
    uint32_t entry = 0;  // 1 + its index; 0 = none
    uint32_t hash = 0;
  };

  template <typename Q>
  static uint32_t Hash(const Q& key) {
    const uint64_t h = KeyHasher()(key);
    return static_cast<uint32_t>(h ^ (h >> 32));
  }

  // Index of the entry, or size().
  template <typename Q>
  size_t Find(const Q& key, uint32_t hash) const {
    if (slots_.empty()) return entries_.size();
    const size_t mask = slots_.size() - 1;
    for (size_t s = hash & mask; slots_[s].entry != 0; s = (s + 1) & mask) {
      if (slots_[s].hash == hash && KeyOf()(entries_[slots_[s].entry - 1]) == key) return slots_[s].entry - 1;
    }
    return entries_.size();
  }
  size_t SlotOf(uint32_t hash, size_t entry) const {
    const size_t mask = slots_.size() - 1;
    size_t s = hash & mask;
    while (slots_[s].entry != entry + 1) s = (s + 1) & mask;
    return s;
  }
  static void Link(std::vector<Slot>& slots, Slot slot) {
    const size_t mask = slots.size() - 1;
    size_t s = slot.hash & mask;
    while (slots[s].entry != 0) s = (s + 1) & mask;
    slots[s] = slot;
  }
  // Empties slot `s`; the ones after it move up to where probing finds them (Knuth, vol. 3, 6.4, algorithm R).
  void Unlink(size_t s) {
    const size_t mask = slots_.size() - 1;
    for (size_t next = (s + 1) & mask; slots_[next].entry != 0; next = (next + 1) & mask) {
      const size_t home = slots_[next].hash & mask;
      if (((next - home) & mask) < ((next - s) & mask)) continue;
      slots_[s] = slots_[next];
      s = next;
    }
    slots_[s] = {};
  }
  void Rehash(size_t wanted) {
    size_t size = 8;
    while (wanted * 2 > size) size *= 2;
    std::vector<Slot> slots(size);
    for (const Slot& slot : slots_) {
      if (slot.entry != 0) Link(slots, slot);
    }
    slots_.swap(slots);
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // as many as a power of two
};

struct FirstOf {
  template <typename Entry>
  const auto& operator()(const Entry& e) const {
    return e.first;
  }
};
struct Itself {
  template <typename Entry>
  const Entry& operator()(const Entry& e) const {
    return e;
  }
};

template <typename K, typename V, typename KeyHasher = KeyHash<K>>
class HashMap : public HashTable<K, std::pair<K, V>, FirstOf, KeyHasher> {
  using Base = HashTable<K, std::pair<K, V>, FirstOf, KeyHasher>;

 public:
  template <typename Q, typename... Args>
  std::pair<typename Base::iterator, bool> try_emplace(Q&& key, Args&&... args) {
    return this->FindOrAdd(key, [&](auto& entries) {
      entries.emplace_back(std::piecewise_construct, std::forward_as_tuple(std::forward<Q>(key)),
                           std::forward_as_tuple(std::forward<Args>(args)...));
    });
  }
  template <typename Q, typename Value>
  std::pair<typename Base::iterator, bool> emplace(Q&& key, Value&& value) {
    return try_emplace(std::forward<Q>(key), std::forward<Value>(value));
  }
  // `key` must be there.
  const V& at(const K& key) const { return this->find(key)->second; }
  template <typename Q>
  V& operator[](Q&& key) {
    return try_emplace(std::forward<Q>(key)).first->second;
  }
  V& operator[](K&& key) { return try_emplace(std::move(key)).first->second; }
};

template <typename K, typename KeyHasher = KeyHash<K>>
class HashSet : public HashTable<K, K, Itself, KeyHasher> {
  using Base = HashTable<K, K, Itself, KeyHasher>;

 public:
  HashSet() = default;
  HashSet(std::initializer_list<K> keys) {
    for (const K& k : keys) insert(k);
  }
  template <typename Q>
  std::pair<typename Base::iterator, bool> insert(Q&& key) {
    return this->FindOrAdd(key, [&](auto& entries) { entries.emplace_back(std::forward<Q>(key)); });
  }
  std::pair<typename Base::iterator, bool> insert(K&& key) {
    return this->FindOrAdd(key, [&](auto& entries) { entries.emplace_back(std::move(key)); });
  }
};

}}}  // namespace ricci::v0::base
#endif
