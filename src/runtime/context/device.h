// Device: one backend of a context, as its plugin gave it (the ABI's ricci_backend itself, with its texts owned), its
// memory and its streams.
//
// Two kinds: where memory is the host's, it comes from the host's allocator and a run is complete when it returns; else
// memory and time are the backend's, and every operation is enqueued to a stream.
//
// Enqueued memory is freed in the order of the stream for which it was allocated, after its uses in other streams,
// without waiting.
#ifndef RICCI_RUNTIME_DEVICE_H_
#define RICCI_RUNTIME_DEVICE_H_
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/shared.h"
#include "pass/target/target.h"
#include "ricci/backend.h"
#include "ricci/device.h"
#include "runtime/context/memory_count.h"

namespace ricci { inline namespace v0 { namespace runtime {

class Context;
class Stream;
class Event;
using StreamRef = base::Ref<Stream>;
using EventRef = base::Ref<Event>;

// The names in ricci_backend.forms.
std::vector<std::string> FormsOf(const ricci_backend& b);

struct Device {
  Context* context;
  ricci_backend backend;  // its texts point into this Device
  pass::Target target;
  std::string kind, name;
  std::vector<std::string> forms;  // of code, besides those that every device has
  int32_t ordinal = 0;             // among the devices of its kind, in the context's order
  bool reference;                  // programs are lowered without any pass
  bool host_memory;
  bool host_visible;
  uint64_t alignment;

  Device(Context* context, const ricci_backend& from, const ricci_target& target);
  Device(const Device&) = delete;
  // Drops the backend only if it has been taken over (Context::AddBackend). It has no streams any more.
  ~Device();
  bool owns_self = false;

  bool HasForm(std::string_view name) const;
  // `cpu`, or `late:1` where there are several of the kind.
  std::string Name() const;
  uint64_t Aligned(uint64_t bytes) const { return (bytes + alignment - 1) / alignment * alignment; }

  // ---- memory; `stream` is NULL where it is the host's ----
  // Counts memory that is about to be allocated; RESOURCE_EXHAUSTED past the limit. Then CountMade, or CountOut if it
  // could not be. Allocate and Free count themselves.
  absl::Status CountIn(uint64_t bytes) const;
  void CountMade(uint64_t bytes) const { count_.Made(bytes); }
  void CountOut(uint64_t bytes) const { count_.Give(bytes); }
  absl::StatusOr<void*> Allocate(uint64_t bytes, const Stream* stream) const;
  // Frees once all that was enqueued to `stream` has ended.
  void Free(void* p, uint64_t bytes, const Stream* stream) const;
  // Memory of the host is not used after the return.
  absl::Status CopyTo(void* dst, const void* host, uint64_t bytes, const Stream* stream) const;
  absl::Status CopyFrom(void* host, const void* src, uint64_t bytes, const Stream* stream) const;
  // Copies from a device of the same kind; returns the native event of the end (NULL for no bytes).
  absl::StatusOr<void*> CopyBetween(void* dst, const void* src, const Device& from, uint64_t bytes,
                                    const Stream* stream) const;
  // Could `p` be memory of this device? `what` names it in the error.
  absl::Status CheckOwns(const void* p, uint64_t bytes, std::string_view what) const;
  absl::Status MemoryInfo(uint64_t* total_bytes, uint64_t* free_bytes) const;
  absl::StatusOr<ricci_memory_stats> MemoryStats() const;
  void SetMemoryLimit(uint64_t bytes) { count_.set_limit(bytes); }
  // Gives back to the system what the backend keeps and nothing uses.
  absl::Status Trim(uint64_t keep_bytes);

  // ---- time ----
  // The stream for work that names none; NULL where memory is the host's.
  absl::StatusOr<StreamRef> DefaultStream();
  // Releases what some of the ended runs held.
  void SettleSome();
  // Keeps a run that has been enqueued, alone in `run`, until it has ended and been settled.
  void Keep(std::list<EventRef>& run) noexcept;
  // Waits for all runs in flight, and releases what they held.
  void Drain();

  mutable std::mutex mutex;  // guards the events of its arrays, and what follows
  StreamRef default_stream;

 private:
  // 0, 1 or 2, as ricci_backend.owns.
  absl::StatusOr<uint32_t> Owns(const void* p, uint64_t bytes) const;
  absl::StatusOr<void*> AllocateCounted(uint64_t bytes, const Stream* stream) const;
  absl::Status Copy(ricci_copy_args args, const Stream* stream, void** event) const;
  std::list<EventRef> TakeNext();

  mutable MemoryCount count_;
  std::list<EventRef> in_flight_;  // the next one to look at comes first
};

// The C handle of a device is its address.
inline ricci_device* Abi(const Device* d) { return reinterpret_cast<ricci_device*>(const_cast<Device*>(d)); }
inline Device* FromAbi(const ricci_device* d) { return reinterpret_cast<Device*>(const_cast<ricci_device*>(d)); }

}}}  // namespace ricci::v0::runtime
#endif
