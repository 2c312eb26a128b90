#include "cuda/driver/gpu.h"

#include <algorithm>

#include "cuda/driver/conditions.h"
#include "cuda/driver/stream_captures.h"

namespace ricci::cuda {
namespace {

constexpr std::string_view kWithWarpgroups = "90";  // what it has beyond others is of code for it alone

// Why nothing can be added to what the host captures in a stream, which is in that state; null: the driver has failed,
// or it can.
const char* WhyNoCapture(CuResult result, int state) {
  if (result == kCuCaptureImplicit) {
    return "the host captures a stream that is in order with the default stream, which is not captured itself: use "
           "another stream, or enqueue the run before or after";
  }
  if (result == kCuLossyQuery) {
    return "what the host captured last in this stream has an edge of another kind (of a programmatic launch), which a "
           "run after it would lose: capture something else after it";
  }
  if (result != kCuSuccess || state == kCuCaptures) return nullptr;
  return state == kCuCaptureIsInvalid
             ? "the host's capture of this stream has failed (an earlier call broke its rules): end it, and begin "
               "another "
               "one"
             : "the host has ended the capture of this stream meanwhile: enqueue the run again";
}

CuPointer Pointer(const void* p) { return static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p)); }

}  // namespace

ricci_status* Fail(uint32_t code, const std::string& what) {
  const std::string text = "cuda: " + what;
  return ricci_status_make(code, text.data(), text.size());
}

std::unique_ptr<Gpu> Gpu::Create(std::shared_ptr<const Driver> driver, std::shared_ptr<const Compiler> compiler,
                                 const Settings& settings, int ordinal, ricci_status*& failed, ricci_ctx* ctx) {
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
    failed = Fail(RICCI_FAILED_PRECONDITION,
                  IsTooOld(architecture) ? d->name_ + " cannot be used: " + why
                                         : d->name_ + " is newer than the compiler: " + why +
                                               "; install a newer NVRTC, or name its file by the option cuda.compiler");
    return nullptr;
  }
  d->compiler_ =
      std::make_unique<ModuleCompiler>(std::move(compiler), architecture, settings.least_trips_of_pairs, ctx);
  failed = d->MakePoolAndStream();
  return failed == nullptr ? std::move(d) : nullptr;
}

ricci_status* Gpu::MakePoolAndStream() {
  {
    const Current current(*this);
    if (ricci_status* failed = current.Failure()) return failed;
    if (ricci_status* failed = pool_.Create(device_)) return failed;
  }
  return CreateStream(&own_stream_);
}

ricci_status* Gpu::CreateStream(CuStream* out) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  return Check("cuStreamCreate", driver().cuStreamCreate(out, kCuStreamNonBlocking));
}

Gpu::Gpu()
    : conditions_(std::make_unique<Conditions>(*this)),
      captures_(std::make_unique<StreamCaptures>(*this)),
      pool_(*this) {}

Gpu::~Gpu() {
  if (context_ == nullptr) return;
  {
    const Current current(*this);
    conditions_->Clear();
    captures_->Clear();
    pinned_.Clear([&](void* p) { Note(driver().cuMemFreeHost(p)); });
    if (own_stream_ != nullptr) Note(driver().cuStreamDestroy(own_stream_));
    pool_.Destroy();
  }
  // A reset by the host does not count as the release.
  NoteFork();
  if (state_.load(std::memory_order_relaxed) != State::kForked) driver_->cuDevicePrimaryCtxRelease(device_);
}

// ---- what the driver says ----
void Gpu::NoteFork() const {
  if (getpid() != process_) state_.store(State::kForked, std::memory_order_relaxed);
}

void Gpu::Note(CuResult result) const {
  State usable = State::kUsable;
  if (SaysContextIsGone(result)) state_.compare_exchange_strong(usable, State::kDestroyed, std::memory_order_relaxed);
}

ricci_status* Gpu::LostText() const {
  const std::string lost = "device " + name_ + " is lost: ";
  if (state_.load(std::memory_order_relaxed) == State::kForked) {
    return Fail(RICCI_FAILED_PRECONDITION, lost +
                                               "this process was forked from the one that opened it, and CUDA does not "
                                               "survive a fork; use another device here, or start a new program");
  }
  return Fail(RICCI_FAILED_PRECONDITION,
              lost +
                  "its primary context was reset or destroyed by the host; what was there is "
                  "gone, and a new Ricci context can use it again");
}

ricci_status* Gpu::Check(const char* call, CuResult result) const {
  if (result == kCuSuccess) return nullptr;
  Note(result);
  if (state_.load(std::memory_order_relaxed) != State::kUsable) return LostText();
  std::string text = driver_->ErrorText(call, result);
  if (SaysContextHasFailed(result)) {
    text += "; device " + name_ + " takes no more work from this process, other devices do";
  }
  return Fail(result == kCuOutOfMemory ? RICCI_RESOURCE_EXHAUSTED : RICCI_INTERNAL, text);
}

// ---- memory ----
// What the pool keeps unused is free too.
ricci_status* Gpu::MemoryInfo(uint64_t& total_bytes, uint64_t& free_bytes) const {
  size_t available = 0, total = 0;
  uint64_t reserved = 0, used = 0;
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  if (ricci_status* failed = Check("cuMemGetInfo", driver().cuMemGetInfo(&available, &total))) return failed;
  if (ricci_status* failed = pool_.Reserved(reserved)) return failed;
  if (ricci_status* failed = pool_.Used(used)) return failed;
  total_bytes = total;
  free_bytes = available + (reserved - std::min(reserved, used));
  return nullptr;
}

ricci_status* Gpu::Reserved(uint64_t& bytes) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  return pool_.Reserved(bytes);
}

ricci_status* Gpu::Trim(uint64_t keep_bytes) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  return pool_.Trim(keep_bytes);
}

ricci_status* Gpu::NotEnough(uint64_t bytes) const {
  std::string text = driver_->ErrorText("cuMemAllocFromPoolAsync", kCuOutOfMemory) + ": " + std::to_string(bytes) +
                     " bytes of memory wanted on " + name_;
  uint64_t total_bytes = 0, free_bytes = 0;
  if (ricci_status* unknown = MemoryInfo(total_bytes, free_bytes)) {
    ricci_status_free(unknown);
  } else {
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
  const CuResult result = driver().cuMemAllocFromPoolAsync(&p, bytes, pool_.handle(), in);
  if (result == kCuOutOfMemory) return NotEnough(bytes);
  if (ricci_status* failed = Check("cuMemAllocFromPoolAsync", result)) return failed;
  if (stream == nullptr) {
    if (ricci_status* failed = Wait(in)) {
      Note(driver().cuMemFreeAsync(p, in));
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
  Note(driver().cuMemFreeAsync(Pointer(p), stream != nullptr ? stream : own_stream_));
}

Gpu::Owned Gpu::Owns(const void* p, uint64_t bytes) const {
  return OwnsAllocated(reinterpret_cast<uintptr_t>(p), bytes) ? kOurs : OwnsForeign(p, bytes);
}

bool Gpu::OwnsAllocated(uintptr_t first, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto after = allocated_.upper_bound(first);
  if (after == allocated_.begin()) return false;
  --after;
  const uint64_t offset = first - after->first;
  return offset < after->second && bytes <= after->second - offset;
}

// Memory that others have allocated on this GPU: not that of our own pool, where a freed address may be known for a
// while, nor managed memory, which is also the host's. Kernels of one context cannot use the memory of another; what is
// of a pool or was mapped has none.
Gpu::Owned Gpu::OwnsForeign(const void* p, uint64_t bytes) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return ricci_status_free(failed), kNot;
  unsigned type = 0;
  int ordinal = -1;
  uint64_t is_managed = 0;  // wide enough for any boolean
  CuPointer first = 0;
  size_t size = 0;
  CuMemPool pool = nullptr;
  CuContext context = nullptr;
  int which[] = {kCuPointerMemoryType, kCuPointerOrdinal, kCuPointerIsManaged, kCuPointerRangeStart,
                 kCuPointerRangeSize,  kCuPointerPool,    kCuPointerContext};
  void* values[] = {&type, &ordinal, &is_managed, &first, &size, &pool, &context};
  const CuResult result = driver().cuPointerGetAttributes(std::size(which), which, values, Pointer(p));
  Note(result);
  if (result != kCuSuccess || type != kCuMemoryDevice || ordinal != device_ || is_managed != 0) return kNot;
  if (pool == pool_.handle() || Pointer(p) < first) return kNot;
  const uint64_t offset = Pointer(p) - first;
  if (offset >= size || bytes > size - offset) return kNot;
  return context == nullptr || context == context_ ? kOurs : kElsewhere;
}

// ---- streams of the host ----
// What the driver says of a stream of the host may be the fault of the stream, whose context may be gone, and not of
// this device: that is so if our own stream is still known.
ricci_status* Gpu::CheckOfHost(const char* call, CuResult result) const {
  CuContext ours = nullptr;
  if (SaysContextIsGone(result) && driver().cuStreamGetCtx(own_stream_, &ours) == kCuSuccess) {
    return Fail(RICCI_INVALID_ARGUMENT, "the stream is no longer there: " + driver().ErrorText(call, result));
  }
  return Check(call, result);
}

// NULL means another stream in each driver call that has no stream of its own, so it goes by its handle.
ricci_status* Gpu::WrapStream(CuStream native, CuStream* out) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  const CuStream stream = native == nullptr ? LegacyStream() : native;
  CuContext of = nullptr;
  if (ricci_status* failed = CheckOfHost("cuStreamGetCtx", driver().cuStreamGetCtx(stream, &of))) return failed;
  if (of != context_) {
    return Fail(RICCI_INVALID_ARGUMENT, "the stream belongs to another context than the primary context of " + name_ +
                                            ", number " + std::to_string(device_) +
                                            ", which this device uses: create it with that context current");
  }
  *out = stream;
  return nullptr;
}

ricci_status* Gpu::CheckStream(CuStream stream) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  int capture = 0;
  const CuResult result = driver().cuStreamIsCapturing(stream, &capture);
  if (result != kCuCaptureImplicit) {
    if (ricci_status* failed = CheckOfHost("cuStreamIsCapturing", result)) return failed;
  }
  if (result == kCuSuccess && capture == 0) return nullptr;
  return Fail(RICCI_FAILED_PRECONDITION,
              "the host is capturing this stream of " + name_ +
                  " (cuStreamBeginCapture), and of Ricci only runs of bound calls can be part of its graph "
                  "(ricci_call_enqueue): enqueue this before or after");
}

// What the driver lists is its own and soon gone.
ricci_status* Gpu::FindCapture(CuStream stream, Captured& out) const {
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  int state = 0;
  const CuGraphNode* last = nullptr;
  size_t n_last = 0;
  const CuResult result = driver().cuStreamGetCaptureInfo(stream, &state, /*id=*/nullptr, &out.graph, &last, &n_last);
  if (const char* const why = WhyNoCapture(result, state)) return Fail(RICCI_FAILED_PRECONDITION, why);
  if (ricci_status* failed = CheckOfHost("cuStreamGetCaptureInfo", result)) return failed;
  out.last.assign(last, last + n_last);
  return nullptr;
}

ricci_status* Gpu::Enqueue(const ricci_copy_args& a, CuStream stream) const {
  const CuPointer dst = Pointer(a.dst), src = Pointer(a.src);
  if (a.direction == RICCI_COPY_TO_DEVICE) {
    return Check("cuMemcpyHtoDAsync", driver().cuMemcpyHtoDAsync(dst, a.src, a.bytes, stream));
  }
  if (a.direction == RICCI_COPY_FROM_DEVICE) {
    return Check("cuMemcpyDtoHAsync", driver().cuMemcpyDtoHAsync(a.dst, src, a.bytes, stream));
  }
  const Gpu& from = *static_cast<const Gpu*>(a.src_self);
  if (&from == this) return Check("cuMemcpyDtoDAsync", driver().cuMemcpyDtoDAsync(dst, src, a.bytes, stream));
  {  // its context may be gone: then this device is not asked
    const Current current(from);
    if (ricci_status* failed = current.Failure()) return failed;
  }
  return Check("cuMemcpyPeerAsync", driver().cuMemcpyPeerAsync(dst, context_, src, from.context_, a.bytes, stream));
}

// A wait that fails may not have waited, so it is tried again: what the caller frees then is no longer in use, unless
// the context has failed, and then nothing runs any more.
ricci_status* Gpu::Wait(CuStream stream) const {
  ricci_status* const failed = Check("cuStreamSynchronize", driver().cuStreamSynchronize(stream));
  if (failed != nullptr) Note(driver().cuStreamSynchronize(stream));
  return failed;
}

// Memory of the host may be pinned, then the driver returns before it has been read: so this waits for it. It also
// waits for a copy whose end it cannot record, since the caller of a copy that failed may free the memory.
ricci_status* Gpu::Copy(const ricci_copy_args& a, void** event) {
  auto end = event == nullptr ? nullptr : std::make_unique<GpuEvent>();  // nothing may throw once it is under way
  const Current current(*this);
  if (ricci_status* failed = current.Failure()) return failed;
  const CuStream stream = a.stream != nullptr ? static_cast<CuStream>(a.stream) : own_stream_;
  if (ricci_status* failed = Enqueue(a, stream)) return failed;
  if (a.direction != RICCI_COPY_BETWEEN_DEVICES || a.stream == nullptr) {
    if (ricci_status* failed = Wait(stream)) return failed;
  }
  if (end == nullptr) return nullptr;
  ricci_status* const failed = Record(stream, *end);
  if (failed != nullptr) return Note(driver().cuStreamSynchronize(stream)), failed;
  *event = end.release();
  return nullptr;
}

ricci_status* Gpu::Record(CuStream stream, GpuEvent& event, unsigned flags) const {
  CuEvent made = nullptr;
  if (ricci_status* failed = Check("cuEventCreate", driver().cuEventCreate(&made, flags))) return failed;
  if (ricci_status* failed = Check("cuEventRecord", driver().cuEventRecord(made, stream))) {
    Note(driver().cuEventDestroy(made));
    return failed;
  }
  event.handle = made;
  return nullptr;
}

ricci_status* Gpu::Elapsed(const GpuEvent& begin, const GpuEvent& end, double& seconds) const {
  float milliseconds = 0;
  const CuResult result = driver().cuEventElapsedTime(&milliseconds, begin.handle, end.handle);
  if (ricci_status* failed = Check("cuEventElapsedTime", result)) return failed;
  seconds = 1e-3 * static_cast<double>(milliseconds);
  return nullptr;
}

ricci_status* Gpu::TakePinned(void** out) {
  return pinned_.Take(*out, [&](void*& made) {
    const Current current(*this);
    if (ricci_status* failed = current.Failure()) return failed;
    return Check("cuMemHostAlloc", driver().cuMemHostAlloc(&made, kPinnedBytes, 0));
  });
}

void Gpu::ReturnPinned(void* p) { pinned_.Return(p); }

}  // namespace ricci::cuda
