#include "runtime/context/device.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_split.h"
#include "runtime/context/backend_call.h"
#include "runtime/context/context.h"
#include "runtime/context/stream.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

std::string Text(ricci_str s) { return s.ptr == nullptr ? std::string() : std::string(s.ptr, s.len); }

constexpr uint64_t kHostAlignment = 64;  // a cache line, and a vector of 512 bits

void* Native(const Stream* stream) { return stream == nullptr ? nullptr : stream->native(); }

}  // namespace

Device::Device(Context* context, const ricci_backend& from, const ricci_target& target)
    : context(context),
      backend(from),
      target(Text(from.kind), target),
      kind(Text(from.kind)),
      name(Text(from.name)),
      reference((from.hdr.flags & RICCI_BACKEND_REFERENCE) != 0),
      host_memory(from.alloc == nullptr),
      host_visible(host_memory || (from.hdr.flags & RICCI_BACKEND_HOST_VISIBLE) != 0),
      alignment(from.alignment != 0 ? from.alignment : kHostAlignment) {
  this->target.sources = (from.hdr.flags & RICCI_BACKEND_SOURCES) != 0;
  backend.kind = {kind.data(), kind.size()};
  backend.target = &this->target.numbers;
  backend.name = {name.data(), name.size()};
  backend.forms = {};  // of the plugin, which may be gone
  forms = FormsOf(from);
}

std::vector<std::string> FormsOf(const ricci_backend& b) {
  if (b.forms.ptr == nullptr || b.forms.len == 0) return {};
  return absl::StrSplit(std::string(b.forms.ptr, b.forms.len), ',');
}

bool Device::HasForm(std::string_view name) const { return std::find(forms.begin(), forms.end(), name) != forms.end(); }

Device::~Device() {
  default_stream = {};
  if (owns_self && backend.drop_self != nullptr) base::CallQuietly([&] { backend.drop_self(backend.self); });
}

std::string Device::Name() const {
  bool several = false;
  for (uint32_t i = 0; i < context->device_count(); ++i) {
    several |= context->device(i) != this && context->device(i)->kind == kind;
  }
  return several ? base::Cat(kind, ":", ordinal) : kind;
}

// ---- memory ----
absl::Status Device::CountIn(uint64_t bytes) const {
  if (count_.Take(bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(base::Cat("device ", Name(), ": ", bytes, " bytes of memory wanted, ",
                                                count_.in_use(), " are in use, the limit is ", count_.limit(),
                                                " (ricci_device_set_memory_limit)"));
}

absl::StatusOr<void*> Device::Allocate(uint64_t bytes, const Stream* stream) const {
  RICCI_TRY(CountIn(bytes));
  absl::Cleanup undo = [&] { CountOut(bytes); };
  RICCI_ASSIGN(void* const made, AllocateCounted(bytes, stream));
  std::move(undo).Cancel();
  CountMade(bytes);
  return made;
}

absl::StatusOr<void*> Device::AllocateCounted(uint64_t bytes, const Stream* stream) const {
  if (host_memory) return context->memory()->Allocate(Aligned(bytes), alignment);
  const ricci_hooks& hooks = context->hooks();
  const uint64_t size = std::max<uint64_t>(bytes, 1);
  void* p = nullptr;
  if (hooks.device_alloc == nullptr) {
    RICCI_TRY(CallBackend(backend, "alloc", backend.alloc, backend.self, size, Native(stream), &p));
    RICCI_TRY(CheckMade(backend, "alloc", p));
    const uint64_t off = reinterpret_cast<uintptr_t>(p) % alignment;
    if (off == 0) return p;
    base::CallQuietly([&] { backend.free(backend.self, p, size, Native(stream)); });
    return Broken(backend, "alloc", base::Cat("gave memory ", off, " bytes past an address aligned to ", alignment));
  }
  constexpr std::string_view kHook = "the host's hook device_alloc";
  RICCI_TRY(base::CallForeign(
      [&] { return std::string(kHook); },
      [&] { return hooks.device_alloc(hooks.device_self, Abi(this), size, alignment, Native(stream), &p); }));
  if (p != nullptr) return p;
  return absl::InternalError(base::Cat(kHook, ": gave NULL without an error"));
}

void Device::Free(void* p, uint64_t bytes, const Stream* stream) const {
  CountOut(bytes);
  if (host_memory) return context->memory()->Free(p, Aligned(bytes), alignment);
  const ricci_hooks& hooks = context->hooks();
  const uint64_t size = std::max<uint64_t>(bytes, 1);
  base::CallQuietly([&] {
    if (hooks.device_free == nullptr) return backend.free(backend.self, p, size, Native(stream));
    hooks.device_free(hooks.device_self, Abi(this), p, size, Native(stream));
  });
}

absl::Status Device::Copy(ricci_copy_args args, const Stream* stream, void** event) const {
  if (args.bytes == 0) return absl::OkStatus();
  if (host_memory) {
    std::memcpy(args.dst, args.src, args.bytes);
    return absl::OkStatus();
  }
  args.hdr.size = sizeof args;
  args.stream = Native(stream);
  return CallBackend(backend, "copy", backend.copy, backend.self, &args, event);
}

absl::Status Device::CopyTo(void* dst, const void* host, uint64_t bytes, const Stream* stream) const {
  return Copy({{}, RICCI_COPY_TO_DEVICE, 0, dst, host, bytes, nullptr, nullptr}, stream, nullptr);
}

absl::Status Device::CopyFrom(void* host, const void* src, uint64_t bytes, const Stream* stream) const {
  return Copy({{}, RICCI_COPY_FROM_DEVICE, 0, host, src, bytes, nullptr, nullptr}, stream, nullptr);
}

absl::StatusOr<void*> Device::CopyBetween(void* dst, const void* src, const Device& from, uint64_t bytes,
                                          const Stream* stream) const {
  void* event = nullptr;
  const ricci_copy_args args{{}, RICCI_COPY_BETWEEN_DEVICES, 0, dst, src, bytes, nullptr, from.backend.self};
  RICCI_TRY(Copy(args, stream, &event));
  if (bytes != 0) RICCI_TRY(CheckMade(backend, "copy", event));
  return event;
}

absl::StatusOr<uint32_t> Device::Owns(const void* p, uint64_t bytes) const {
  uint32_t owns = 0;
  const auto ask = [&]() -> ricci_status* {
    owns = backend.owns(backend.self, p, bytes);
    return nullptr;
  };
  RICCI_TRY(base::CallForeign([&] { return NameOfFunction(backend, "owns"); }, ask));
  if (owns <= 2) return owns;
  return Broken(backend, "owns", base::Cat("returned ", owns, ", which is none of 0, 1 and 2"));
}

// The host's memory is not registered anywhere, but memory that another device owns is not the host's.
absl::Status Device::CheckOwns(const void* p, uint64_t bytes, std::string_view what) const {
  if (bytes == 0) return absl::OkStatus();
  if (!host_memory) {
    RICCI_ASSIGN(const uint32_t owns, Owns(p, bytes));
    if (owns == 1) return absl::OkStatus();
    if (owns == 2) {
      return base::InvalidArgument(what, " is memory of device ", Name(),
                                   ", but of another context than the device's, "
                                   "so that runs cannot use it; copy it");
    }
    return base::InvalidArgument(what, " is not memory of device ", Name(), "; copy it there (ricci_array_from_host)");
  }
  for (uint32_t i = 0; i < context->device_count(); ++i) {
    const Device& other = *context->device(i);
    if (other.host_memory || other.host_visible) continue;
    RICCI_ASSIGN(const uint32_t owns, other.Owns(p, bytes));
    if (owns == 0) continue;
    return base::InvalidArgument(what, " is memory of device ", other.Name(), ", but device ", Name(),
                                 " uses memory of the host");
  }
  return absl::OkStatus();
}

absl::Status Device::MemoryInfo(uint64_t* total_bytes, uint64_t* free_bytes) const {
  if (host_memory) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    *total_bytes = page * static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    *free_bytes = page * static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES));
    return absl::OkStatus();
  }
  if (backend.memory_info == nullptr) {
    return absl::UnimplementedError(base::Cat("device ", Name(), " does not report how much memory it has"));
  }
  uint64_t total = 0, free = 0;
  RICCI_TRY(CallBackend(backend, "memory_info", backend.memory_info, backend.self, &total, &free));
  *total_bytes = total;
  *free_bytes = free;
  return absl::OkStatus();
}

// Where hooks of the host allocate, the backend holds nothing for it.
absl::StatusOr<ricci_memory_stats> Device::MemoryStats() const {
  ricci_memory_stats stats = count_.Stats();
  stats.bytes_reserved = stats.bytes_in_use;
  if (host_memory || backend.memory_reserved == nullptr || context->hooks().device_alloc != nullptr) return stats;
  RICCI_TRY(CallBackend(backend, "memory_reserved", backend.memory_reserved, backend.self, &stats.bytes_reserved));
  return stats;
}

absl::Status Device::Trim(uint64_t keep_bytes) {
  if (host_memory || backend.memory_trim == nullptr) return absl::OkStatus();
  return CallBackend(backend, "memory_trim", backend.memory_trim, backend.self, keep_bytes);
}

// ---- time ----
absl::StatusOr<StreamRef> Device::DefaultStream() {
  if (host_memory) return StreamRef();
  {
    std::lock_guard lock(mutex);
    if (default_stream) return default_stream;
  }
  RICCI_ASSIGN(StreamRef made, Stream::CreateDefault(this));
  std::lock_guard lock(mutex);
  if (!default_stream) default_stream = std::move(made);  // another thread may have been faster
  return default_stream;
}

// Each run that begins looks at a few earlier ones, so that none is kept long after its end, however long others take.
// Where the end is reported when it is asked for, that is a call of the driver: one that finds nothing is enough.
void Device::SettleSome() {
  constexpr int kLookedAt = 4;
  const bool asks = (backend.hdr.flags & RICCI_BACKEND_REPORTS_WHEN_ASKED) != 0;
  for (int i = 0; i < kLookedAt; ++i) {
    std::list<EventRef> next = TakeNext();
    if (next.empty()) return;
    Event& run = *next.front();
    if (run.ended() && run.Settle().ok()) continue;
    if (asks && run.Query().value_or(false)) continue;
    Keep(next);
    if (asks) return;
  }
}

void Device::Keep(std::list<EventRef>& run) noexcept {
  std::lock_guard lock(mutex);
  in_flight_.splice(in_flight_.end(), run);
}

std::list<EventRef> Device::TakeNext() {
  std::list<EventRef> taken;
  std::lock_guard lock(mutex);
  if (!in_flight_.empty()) taken.splice(taken.end(), in_flight_, in_flight_.begin());
  return taken;
}

void Device::Drain() {
  std::list<EventRef> all;
  {
    std::lock_guard lock(mutex);
    all.swap(in_flight_);
  }
  for (const EventRef& run : all) run->Wait().IgnoreError();  // its results report the failure to whatever uses them
}

}}}  // namespace ricci::v0::runtime
