// Array: typed data on a device, dense and row-major.
//
// In host memory, header and data of a small array are one block, so that a call with handles allocates once per
// result. All other data is a block of its own, which donation moves to a result without a copy. Memory given by the
// host (Wrap) is treated the same way; its last holder calls the host's drop function.
#ifndef RICCI_RUNTIME_ARRAY_H_
#define RICCI_RUNTIME_ARRAY_H_
#include <atomic>

#include "runtime/context/stream.h"

namespace ricci { inline namespace v0 { namespace runtime {

// Memory of a device, and the work that uses it. The device's mutex guards the events; there are none where runs are
// complete when they return.
struct Buffer {
  Device* device;
  uint32_t memory_kind;
  uint64_t bytes;
  std::atomic<void*> data{nullptr};  // NULL: it was donated
  StreamRef stream;                  // in its order the data was allocated and is freed
  EventRef written;                  // NULL: it has been written
  std::vector<EventRef> reads;       // the last read of each stream
};

class Array final : public base::Shared {
 public:
  using Drop = void (*)(void* arg);

  // Its data is uninitialised and may be used by work of `stream` (NULL in host memory).
  static absl::StatusOr<base::Ref<Array>> Create(Device* device, types::TypeId type, Stream* stream);
  // Takes `data`; on failure (bad_alloc) it stays the caller's.
  static base::Ref<Array> Wrap(Device* device, types::TypeId type, void* data, Drop drop, void* arg);
  // An array without data, which MoveDataTo fills.
  static base::Ref<Array> CreateEmpty(Device* device, types::TypeId type);

  Device* device() const { return buffer_.device; }
  types::TypeId type_id() const { return type_; }
  const types::ArrayType& type() const { return device()->context->types().Get(type_); }
  uint64_t bytes() const { return buffer_.bytes; }
  // The address in the device's memory, which may not be written yet; NULL after donation.
  void* data() const { return buffer_.data.load(std::memory_order_acquire); }
  bool committed() const { return committed_.load(std::memory_order_relaxed); }
  void set_committed(bool committed) { committed_.store(committed, std::memory_order_relaxed); }

  // ---- donation ----
  // Whether its data is in a block that another array can take over.
  bool movable() const { return owns_data_ || drop_ != nullptr; }
  // Gives the data of a movable array to an empty one of the same size; false if it is already gone. The caller has
  // made sure that nothing else uses it.
  bool MoveDataTo(Array& to);
  // Gives up the data, as donation does.
  void DropData();

  // ---- time ----
  // The run or copy that writes it; NULL: it has been written.
  EventRef written() const;
  // `run` writes it from now on; `run` comes after everything that used it before.
  void SetWritten(EventRef run);
  // `run` reads it. Never fails: without memory to remember the run, it waits for it.
  void AddRead(const EventRef& run) const;
  // What is enqueued to `stream` from now on begins after what writes this array, and, `for_writing`, after what reads
  // it.
  absl::Status Order(const Stream& stream, bool for_writing) const;
  // The same for work of the host that is enqueued to `stream` and reads the array; a failure that is known is
  // returned.
  absl::Status Handed(const Stream& stream, std::string_view who) const;
  // Waits until it is written; returns the failure of what writes it, or FAILED_PRECONDITION after donation, which
  // names `who`.
  absl::Status Wait(std::string_view who) const;
  absl::StatusOr<bool> IsReady() const;
  // FAILED_PRECONDITION after donation, which names `who`.
  absl::Status CheckData(std::string_view who) const;

 private:
  Array(Device* device, types::TypeId type, uint64_t bytes, size_t block_bytes);
  ~Array() override;
  void Destroy() const override;
  // For an array that nothing else refers to yet.
  void SetData(void* data) { buffer_.data.store(data, std::memory_order_relaxed); }
  static Array* Allocate(Device* device, types::TypeId type, bool with_data);
  static absl::StatusOr<base::Ref<Array>> CreateInline(Device* device, types::TypeId type, uint64_t bytes);
  void FreeData(void* data, bool owned, Drop drop);

  base::Ref<Context> context_;
  const types::TypeId type_;
  bool owns_data_ = false;  // its data is a block of its own
  std::atomic<bool> committed_{true};
  const size_t block_bytes_;
  mutable Buffer buffer_;
  Drop drop_ = nullptr;  // of wrapped memory
  void* drop_arg_ = nullptr;
};

// The C handle of an array is its address.
inline ricci_array* Abi(const Array* a) { return reinterpret_cast<ricci_array*>(const_cast<Array*>(a)); }
inline Array* FromAbi(const ricci_array* a) { return reinterpret_cast<Array*>(const_cast<ricci_array*>(a)); }

}}}  // namespace ricci::v0::runtime
#endif
