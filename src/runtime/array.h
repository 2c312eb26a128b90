// Array: typed data on a device, dense and row-major, in host memory.
//
// Header and data of a small array are one block, so that a call with handles allocates once per result. The data of a
// large one is a block of its own: donation hands it to a result without a copy. Memory given by the host (Wrap) is
// treated like a large one; whoever holds it last calls the host's drop function.
#ifndef RICCI_RUNTIME_ARRAY_H_
#define RICCI_RUNTIME_ARRAY_H_
#include <atomic>

#include "runtime/context.h"

namespace ricci::inline v0::runtime {

inline constexpr size_t kArrayAlign = 64;

class Array final : public base::Shared {
 public:
  using Drop = void (*)(void* arg);

  // Its data is uninitialised.
  static base::Ref<Array> Create(Device* device, types::TypeId type);
  // Takes `data`; on failure (bad_alloc) it stays the caller's.
  static base::Ref<Array> Wrap(Device* device, types::TypeId type, void* data, Drop drop, void* arg);

  Device* device() const { return device_; }
  types::TypeId type_id() const { return type_; }
  const types::ArrayType& type() const { return device_->context->types().Get(type_); }
  uint64_t bytes() const { return bytes_; }
  // NULL after donation.
  void* data() const { return data_.load(std::memory_order_acquire); }

  // An array without data, to which MoveDataTo gives some.
  static base::Ref<Array> CreateEmpty(Device* device, types::TypeId type);
  // Has its data in a block that another array can take over.
  bool movable() const { return owns_data_ || drop_ != nullptr; }
  // Gives the data of a movable array to an empty one of the same size; false if it is already gone. The caller has
  // made sure that nobody else uses it.
  bool MoveDataTo(Array& to);
  // Gives up the data, as donation does.
  void DropData();

 private:
  Array(Device* device, types::TypeId type, uint64_t bytes, size_t block_bytes);
  ~Array() override;
  void Destroy() const override;
  static Array* Allocate(Device* device, types::TypeId type, bool with_data);

  base::Ref<Context> context_;
  Device* const device_;
  const types::TypeId type_;
  bool owns_data_ = false;  // `data_` is a block of its own
  const uint64_t bytes_;
  const size_t block_bytes_;
  std::atomic<void*> data_{nullptr};
  Drop drop_ = nullptr;  // of wrapped memory
  void* drop_arg_ = nullptr;
};

// The C handle of an array is its address.
inline ricci_array* Abi(const Array* a) { return reinterpret_cast<ricci_array*>(const_cast<Array*>(a)); }
inline Array* FromAbi(const ricci_array* a) { return reinterpret_cast<Array*>(const_cast<ricci_array*>(a)); }

}  // namespace ricci::inline v0::runtime
#endif
