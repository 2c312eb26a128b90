// ricci/small_list.hpp: a list that lives on the stack while it is short.
//
// A call of a jitted function collects a key and a few handles; heap memory would cost more than the lookup.
#ifndef RICCI_SMALL_LIST_HPP_
#define RICCI_SMALL_LIST_HPP_
#include <cstddef>
#include <span>
#include <utility>

namespace ricci { inline namespace v0 {

// T is trivially copyable.
template <typename T, size_t kInside>
class SmallList {
 public:
  SmallList() = default;
  explicit SmallList(std::span<const T> from) {
    for (const T& v : from) push_back(v);
  }
  SmallList(const SmallList& o) : SmallList(o.view()) {}
  SmallList& operator=(const SmallList&) = delete;
  ~SmallList() {
    if (data_ != inside_) delete[] data_;
  }
  void push_back(T v) {
    if (size_ == capacity_) Grow();
    data_[size_++] = v;
  }
  size_t size() const { return size_; }
  T* data() { return data_; }
  std::span<const T> view() const { return {data_, size_}; }
  bool operator==(const SmallList& o) const { return size_ == o.size_ && Same(data_, o.data_, size_); }

 private:
  static bool Same(const T* a, const T* b, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  [[gnu::noinline]] void Grow() {
    T* more = new T[2 * capacity_];
    for (size_t i = 0; i < size_; ++i) more[i] = data_[i];
    if (data_ != inside_) delete[] data_;
    data_ = more;
    capacity_ *= 2;
  }

  T inside_[kInside];
  T* data_ = inside_;
  size_t size_ = 0, capacity_ = kInside;
};

}}  // namespace ricci::v0
#endif
