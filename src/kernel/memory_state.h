// MemoryState: distinguishes states of buffers and private arrays, so that a load may be replaced by an earlier one.
//
// Two accesses of the same element see the same state if their versions are equal. A write changes the version of its
// array (an element at a constant index has a version of its own). Entering a loop changes all versions, since an
// earlier iteration may have written; leaving a block changes those of what was written in it.
#ifndef RICCI_KERNEL_MEMORY_STATE_H_
#define RICCI_KERNEL_MEMORY_STATE_H_
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash_map.h"

namespace ricci { inline namespace v0 { namespace kernel {

class MemoryState {
 public:
  struct Mark {
    uint32_t floor;
    size_t writes;
  };

  // `array` is a number, different for all buffers and private arrays; `element` is given if it is a constant.
  uint32_t Version(uint64_t array, std::optional<int64_t> element) const {
    const Versions* v = Find(array);
    if (v == nullptr) return floor_;
    if (!element) return std::max(floor_, v->any);
    const auto it = v->elements.find(*element);
    return std::max({floor_, v->unknown_element, it == v->elements.end() ? 0 : it->second});
  }
  void Write(uint64_t array, std::optional<int64_t> element) {
    Versions& v = arrays_[array];
    undo_.push_back({array, element, v.any, v.unknown_element, element ? v.elements[*element] : 0});
    v.any = ++clock_;
    (element ? v.elements[*element] : v.unknown_element) = clock_;
  }
  Mark Enter(bool loop) {
    const Mark mark{floor_, undo_.size()};
    if (loop) floor_ = ++clock_;
    return mark;
  }
  // Restores the state at the mark: the block is going to be written again, in another form.
  void Rollback(const Mark& mark) {
    for (; undo_.size() > mark.writes; undo_.pop_back()) {
      const Written& w = undo_.back();
      Versions& v = arrays_[w.array];
      v.any = w.any;
      v.unknown_element = w.unknown_element;
      if (w.element) v.elements[*w.element] = w.element_version;
    }
    floor_ = mark.floor;
  }
  // Another branch starts, or the block ends: what was written in it is unknown, the rest is as it was before. It needs
  // no record for Rollback: the first write in the block has one.
  void Leave(const Mark& mark) {
    for (size_t i = mark.writes; i < undo_.size(); ++i) {
      Versions& v = arrays_[undo_[i].array];
      v.any = v.unknown_element = ++clock_;
    }
    floor_ = mark.floor;
  }

 private:
  struct Versions {
    uint32_t any = 0, unknown_element = 0;
    base::HashMap<int64_t, uint32_t> elements;
  };
  struct Written {  // what a write replaced
    uint64_t array;
    std::optional<int64_t> element;
    uint32_t any, unknown_element, element_version;
  };
  const Versions* Find(uint64_t array) const {
    const auto it = arrays_.find(array);
    return it == arrays_.end() ? nullptr : &it->second;
  }

  base::HashMap<uint64_t, Versions> arrays_;
  std::vector<Written> undo_;
  uint32_t clock_ = 0, floor_ = 0;
};

}}}  // namespace ricci::v0::kernel
#endif
