// Shared: an object with an atomic reference count; Ref<T>: one counted reference to it.
//
// Intrusive, so that a C handle is the object's own address and retain/release cross the ABI without a control block.
#ifndef RICCI_BASE_SHARED_H_
#define RICCI_BASE_SHARED_H_
#include <atomic>
#include <cstdint>
#include <utility>

namespace ricci { inline namespace v0 { namespace base {

class Shared {
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  void Retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // The last reference needs no atomic subtraction: a load costs a fraction of it.
  void Release() const {
    if (Unique() || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }
  // True if the caller holds the only reference.
  bool Unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~Shared() = default;
  // Called by the last Release; a class that is not allocated with `new` overrides it.
  virtual void Destroy() const { delete this; }

 private:
  mutable std::atomic<uint32_t> refs_{1};
};

// A new object starts with one reference: take it over with Ref<T>::Adopt(new T).
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->Retain();
  }
  static Ref Adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Ref(const Ref<U>& o) : Ref(static_cast<T*>(o.get())) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->Release();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* Detach() { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

}}}  // namespace ricci::v0::base
#endif
