#include "gpu.h"

#include "conditions.h"

namespace ricci::cuda {
namespace {

constexpr std::string_view kWithWarpgroups = "90";  // what it has beyond others is of code for it alone

CuPointer Pointer(const void* p) { return static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p)); }

}  // namespace

ricci_status* Fail(uint32_t code, const std::string& what) {
  const std::string text = "cuda: " + what;
  return ricci_status_make(code, text.data(), text.size());
}

std::unique_ptr<Gpu> Gpu::Create(std::shared_ptr<const Driver> driver, std::shared_ptr<const Compiler> compiler,
                                 int ordinal, ricci_status*& failed, ricci_ctx* ctx) {
  std::unique_ptr<Gpu> d(new Gpu);
  d->driver_ = std::move(driver);
  const Driver& c = d->driver();
  int major = 0, minor = 0;
  char name[128] = "";
  failed = d->Check("cuDeviceGet", c.cuDeviceGet(&d->device_, ordinal));
  if (failed == nullptr) failed = d->Check("cuDeviceGetName", c.cuDeviceGetName(name, sizeof name - 1, d->device_));
  const auto attribute = [&](int which, int& value) {
    if (failed == nullptr) failed = d->Check("cuDeviceGetAttribute", c.cuDeviceGetAttribute(&value, which, d->device_));
  };
  attribute(kCuAttributeMajor, major);
  attribute(kCuAttributeMinor, minor);
  attribute(kCuAttributeProcessors, d->processors_);
  attribute(kCuAttributeMostShared, d->most_shared_bytes_);
  if (failed == nullptr)
    failed = d->Check("cuDevicePrimaryCtxRetain", c.cuDevicePrimaryCtxRetain(&d->context_, d->device_));
  if (failed != nullptr) return nullptr;
  d->name_ = name;
  const std::string number = std::to_string(major) + std::to_string(minor);
  const std::string architecture = "sm_" + number + (number == kWithWarpgroups ? "a" : "");
  if (const std::string why = compiler->Refusal(architecture); !why.empty()) {
    failed =
        Fail(RICCI_FAILED_PRECONDITION, d->name_ + " is newer than the compiler: " + why +
                                            "; install a newer NVRTC, or name its file by the option cuda.compiler");
    return nullptr;
  }
  d->compiler_ = std::make_unique<ModuleCompiler>(std::move(compiler), architecture, ctx);
  failed = d->CreateStream(&d->own_stream_);
  return failed == nullptr ? std::move(d) : nullptr;
}

ricci_status* Gpu::CreateStream(CuStream* out) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  return Check("cuStreamCreate", driver_->cuStreamCreate(out, kCuStreamNonBlocking));
}

Gpu::Gpu() : conditions_(std::make_unique<Conditions>(*this)) {}

Gpu::~Gpu() {
  if (context_ == nullptr) return;
  {
    const Current current(*this);
    conditions_->Clear();
    for (void* p : pinned_) driver_->cuMemFreeHost(p);
    if (own_stream_ != nullptr) driver_->cuStreamDestroy(own_stream_);
  }
  driver_->cuDevicePrimaryCtxRelease(device_);
}

ricci_status* Gpu::Check(const char* call, CuResult result) const {
  if (result == kCuSuccess) return nullptr;
  return Fail(result == kCuOutOfMemory ? RICCI_RESOURCE_EXHAUSTED : RICCI_INTERNAL, driver_->ErrorText(call, result));
}

ricci_status* Gpu::NotEnough(uint64_t bytes) const {
  std::string text = driver_->ErrorText("cuMemAllocAsync", kCuOutOfMemory) + ": " + std::to_string(bytes) +
                     " bytes of memory wanted on " + name_;
  size_t free_bytes = 0, total_bytes = 0;
  if (driver_->cuMemGetInfo(&free_bytes, &total_bytes) == kCuSuccess) {
    text += ", " + std::to_string(free_bytes) + " of " + std::to_string(total_bytes) + " are free";
  }
  return Fail(RICCI_RESOURCE_EXHAUSTED, text);
}

ricci_status* Gpu::Alloc(uint64_t bytes, CuStream stream, void** out) {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  std::map<uintptr_t, uint64_t> made{{0, bytes}};  // once there is memory, nothing may throw
  CuPointer p = 0;
  const CuStream in = stream != nullptr ? stream : own_stream_;
  const CuResult result = driver_->cuMemAllocAsync(&p, bytes, in);
  if (result == kCuOutOfMemory) return NotEnough(bytes);
  if (ricci_status* failed = Check("cuMemAllocAsync", result)) return failed;
  if (stream == nullptr) {
    if (ricci_status* failed = Wait(in)) {
      driver_->cuMemFreeAsync(p, in);
      return failed;
    }
  }
  *out = reinterpret_cast<void*>(static_cast<uintptr_t>(p));
  auto node = made.extract(made.begin());
  node.key() = static_cast<uintptr_t>(p);
  const std::lock_guard lock(mutex_);
  allocated_.insert(std::move(node));
  return nullptr;
}

void Gpu::Free(void* p, CuStream stream) {
  const Current current(*this);
  {
    const std::lock_guard lock(mutex_);
    allocated_.erase(reinterpret_cast<uintptr_t>(p));
  }
  driver_->cuMemFreeAsync(Pointer(p), stream != nullptr ? stream : own_stream_);
}

bool Gpu::Owns(const void* p, uint64_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(p);
  const std::lock_guard lock(mutex_);
  auto after = allocated_.upper_bound(first);
  if (after == allocated_.begin()) return false;
  --after;
  const uint64_t offset = first - after->first;
  return offset < after->second && bytes <= after->second - offset;
}

ricci_status* Gpu::Enqueue(const ricci_copy_args& a, CuStream stream) const {
  const CuPointer dst = Pointer(a.dst), src = Pointer(a.src);
  if (a.direction == RICCI_COPY_TO_DEVICE) {
    return Check("cuMemcpyHtoDAsync", driver_->cuMemcpyHtoDAsync(dst, a.src, a.bytes, stream));
  }
  if (a.direction == RICCI_COPY_FROM_DEVICE) {
    return Check("cuMemcpyDtoHAsync", driver_->cuMemcpyDtoHAsync(a.dst, src, a.bytes, stream));
  }
  const Gpu& from = *static_cast<const Gpu*>(a.src_self);
  if (&from == this) return Check("cuMemcpyDtoDAsync", driver_->cuMemcpyDtoDAsync(dst, src, a.bytes, stream));
  return Check("cuMemcpyPeerAsync", driver_->cuMemcpyPeerAsync(dst, context_, src, from.context_, a.bytes, stream));
}

// A wait that fails may not have waited, so it is tried again: what the caller frees then is no longer in use, unless
// the context has failed, and then nothing runs any more.
ricci_status* Gpu::Wait(CuStream stream) const {
  const CuResult result = driver_->cuStreamSynchronize(stream);
  if (result != kCuSuccess) driver_->cuStreamSynchronize(stream);
  return Check("cuStreamSynchronize", result);
}

// Memory of the host may be pinned, then the driver returns before it has been read: so this waits for it. It also
// waits for a copy whose end it cannot record, since the caller of a copy that failed may free the memory.
ricci_status* Gpu::Copy(const ricci_copy_args& a, void** event) {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  const CuStream stream = a.stream != nullptr ? static_cast<CuStream>(a.stream) : own_stream_;
  if (ricci_status* failed = Enqueue(a, stream)) return failed;
  if (a.direction != RICCI_COPY_BETWEEN_DEVICES || a.stream == nullptr) {
    if (ricci_status* failed = Wait(stream)) return failed;
  }
  ricci_status* const failed = event == nullptr ? nullptr : Record(stream, event);
  if (failed != nullptr) driver_->cuStreamSynchronize(stream);
  return failed;
}

ricci_status* Gpu::Record(CuStream stream, void** event) const {
  CuEvent made = nullptr;
  if (ricci_status* failed = Check("cuEventCreate", driver_->cuEventCreate(&made, kCuEventDisableTiming)))
    return failed;
  if (ricci_status* failed = Check("cuEventRecord", driver_->cuEventRecord(made, stream))) {
    driver_->cuEventDestroy(made);
    return failed;
  }
  *event = made;
  return nullptr;
}

ricci_status* Gpu::TakePinned(void** out) {
  {
    const std::lock_guard lock(mutex_);
    if (!pinned_.empty()) {
      *out = pinned_.back();
      pinned_.pop_back();
      return nullptr;
    }
    pinned_.reserve(++n_pinned_);
  }
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  return Check("cuMemHostAlloc", driver_->cuMemHostAlloc(out, kPinnedBytes, 0));
}

void Gpu::ReturnPinned(void* p) {
  const std::lock_guard lock(mutex_);
  pinned_.push_back(p);
}

}  // namespace ricci::cuda
