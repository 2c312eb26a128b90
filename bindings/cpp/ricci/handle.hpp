// ricci/handle.hpp: counted references, to objects of the C ABI and to those of this binding: one class for both.
//
// An object of the C ABI counts its references itself (`ricci_..._retain`, `ricci_..._release`); one of this binding
// derives from Counted. Counts are changed from any thread; the object is freed with its last reference.
#ifndef RICCI_HANDLE_HPP_
#define RICCI_HANDLE_HPP_
#include <cstdint>
#include <utility>

namespace ricci { inline namespace v0 {

// One reference to a T, or none. kRetain(T*) adds a reference and gives the object back; kRelease(T*) drops one.
template <typename T, auto kRetain, auto kRelease>
class Handle {
 public:
  Handle() = default;
  // Takes the reference that `object` is.
  explicit Handle(T* object) : object_(object) {}
  Handle(const Handle& o) noexcept : object_(Retained(o.object_)) {}
  Handle(Handle&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  Handle& operator=(Handle o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) kRelease(object_);
  }
  // One more reference to `object`, which may be NULL.
  static Handle Share(T* object) { return Handle(Retained(object)); }

  T* handle() const { return object_; }
  // Gives up the reference: the caller has it now.
  T* Leave() { return std::exchange(object_, nullptr); }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 protected:
  static T* Retained(T* object) { return object == nullptr ? nullptr : static_cast<T*>(kRetain(object)); }

 private:
  T* object_ = nullptr;
};

// An object of this binding that counts its references. A new one has one reference, its creator's.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;

 protected:
  virtual ~Counted() = default;
  // Whether the caller holds the only reference.
  bool alone() const { return __atomic_load_n(&uses_, __ATOMIC_ACQUIRE) == 1; }

 private:
  friend Counted* RetainCounted(Counted* object);
  friend void ReleaseCounted(Counted* object);
  uint32_t uses_ = 1;
};
// Apart, because every copy of a Value in a host's code would hold them otherwise.
[[gnu::noinline]] inline Counted* RetainCounted(Counted* object) {
  __atomic_add_fetch(&object->uses_, 1, __ATOMIC_RELAXED);
  return object;
}
[[gnu::noinline]] inline void ReleaseCounted(Counted* object) {
  if (__atomic_sub_fetch(&object->uses_, 1, __ATOMIC_ACQ_REL) == 0) delete object;
}
// T derives from Counted.
template <typename T>
using Ref = Handle<T, RetainCounted, ReleaseCounted>;

}}  // namespace ricci::v0
#endif
