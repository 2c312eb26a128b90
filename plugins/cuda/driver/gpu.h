// Gpu: one GPU as a backend: its context, memory, streams and events.
//
// Memory that others have allocated on the GPU may be bound, wrapped and shared by DLPack, if it is of the primary
// context. The driver says whose a pointer is, and is asked only about pointers that are not ours. Devices whose memory
// is the host's ask too: a pointer that is bound to a call on the CPU costs one question to each GPU, as long as it
// stays bound. Managed memory counts as memory of no device.
//
// A stream that the host wraps must be of the primary context. Before each use it is asked whether the host captures
// it. If so, only runs of bound calls are taken: other work has allocations, waits and functions of the host, which a
// graph of the host could not repeat. What would be freed in the order of such a stream is freed once it is unused.
// CU_STREAM_PER_THREAD may be wrapped, but is another stream for each thread that uses it.
#ifndef RICCI_CUDA_GPU_H_
#define RICCI_CUDA_GPU_H_
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda/driver/driver.h"
#include "cuda/driver/event.h"
#include "cuda/driver/lost_driver.h"
#include "cuda/driver/memory_pool.h"
#include "cuda/driver/module_compiler.h"
#include "cuda/driver/nvtx.h"
#include "cuda/driver/reused.h"
#include "ricci/api_table.h"

namespace ricci::cuda {

// Where the driver and its compiler may be (library_paths.h); tests give stand-ins.
struct Settings {
  std::vector<std::string> drivers;
  std::vector<std::string> compilers;
  std::string disassembler;         // the path of nvdisasm, for people who read machine code; empty: none
  std::string architecture;         // not empty: one device that only compiles for it, without a driver (offline.h)
  std::string scatter = "ordered";  // or `sorted`, or `atomics` (ordered_scatter.h)
  int64_t least_trips_of_pairs = kLeastTripsOfPairs;
  std::string nvtx;   // a library with ranges for profilers (nvtx.h); empty: none
  std::string cupti;  // the path of libcupti, for times of profiled runs (recorder.h); empty: events
};

inline constexpr uint32_t kAlignment = 256;  // of memory that is allocated
inline uint64_t Aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
ricci_status* Fail(uint32_t code, const std::string& what);
// No exception crosses the ABI.
template <typename Body>
ricci_status* Guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ricci_status_make(RICCI_RESOURCE_EXHAUSTED, "cuda: out of memory", 19);
  } catch (const std::exception& e) {
    return Fail(RICCI_INTERNAL, e.what());
  }
}

class StreamCaptures;
class Conditions;
class Recorder;

// What the host captures in a stream: its graph, and the nodes that come last in the stream.
struct Captured {
  CuGraph graph = nullptr;
  std::vector<CuGraphNode> last;
};

class Gpu {
 public:
  // Null, with `failed`, if the device cannot be used. `ctx`: whose executor and cache compilation uses, or null.
  static std::unique_ptr<Gpu> Create(std::shared_ptr<const Driver> driver, std::shared_ptr<const Compiler> compiler,
                                     const Settings& settings, int ordinal, ricci_status*& failed,
                                     ricci_ctx* ctx = nullptr);
  ~Gpu();
  Gpu(const Gpu&) = delete;

  // A driver that refuses all once the device is lost: ask for it again after each call that may say so.
  const Driver& driver() const {
    return state_.load(std::memory_order_relaxed) == State::kUsable ? *driver_ : LostDriver();
  }
  ModuleCompiler& compiler() const { return *compiler_; }
  const std::string& name() const { return name_; }
  int processors() const { return processors_; }
  int most_shared_bytes() const { return most_shared_bytes_; }  // of a block that asks for it
  CuContext context() const { return context_; }
  // Of its graphs (conditions.h).
  Conditions& conditions() const { return *conditions_; }
  // Of what libraries enqueue.
  StreamCaptures& captures() const { return *captures_; }
  CuDevice number() const { return device_; }  // as the driver counts
  // Null: runs have no ranges.
  const Nvtx* nvtx() const { return nvtx_.get(); }
  void SetNvtx(std::shared_ptr<const Nvtx> nvtx) { nvtx_ = std::move(nvtx); }
  // Null: profiled runs take their times by events.
  Recorder* recorder() const { return recorder_.get(); }
  void SetRecorder(std::shared_ptr<Recorder> recorder) { recorder_ = std::move(recorder); }

  // OK, or what the driver said of that call. If it says that the context is gone, the device is lost from now on.
  ricci_status* Check(const char* call, CuResult result) const;
  // The same for release calls, whose failures no caller can handle.
  void Note(CuResult result) const;
  // Of a process that was forked from the one that has the context, the device is lost.
  void NoteFork() const;

  ricci_status* CreateStream(CuStream* out) const;
  ricci_status* Alloc(uint64_t bytes, CuStream stream, void** out);
  void Free(void* p, CuStream stream);
  // What Alloc gave, and other memory of this GPU; kElsewhere: that of another context.
  enum Owned : uint32_t { kNot = 0, kOurs = 1, kElsewhere = 2 };
  Owned Owns(const void* p, uint64_t bytes) const;
  ricci_status* MemoryInfo(uint64_t& total_bytes, uint64_t& free_bytes) const;
  // Bytes of the pool, in use or not.
  ricci_status* Reserved(uint64_t& bytes) const;
  ricci_status* Trim(uint64_t keep_bytes) const;
  // A stream of the host, by the handle that it has here; whether work may be enqueued to it now.
  ricci_status* WrapStream(CuStream native, CuStream* out) const;
  ricci_status* CheckStream(CuStream stream) const;
  // Of a stream that the host captures; of others, or if its capture has failed, a status.
  ricci_status* FindCapture(CuStream stream, Captured& out) const;
  ricci_status* Copy(const ricci_copy_args& a, void** event);
  // The context is current in all: waits until the stream is empty; gives an event its point in the stream, with the
  // time if `flags` are 0; the time between two such points that have completed.
  ricci_status* Wait(CuStream stream) const;
  ricci_status* Record(CuStream stream, GpuEvent& event, unsigned flags = kCuEventDisableTiming) const;
  ricci_status* Elapsed(const GpuEvent& begin, const GpuEvent& end, double& seconds) const;
  // A few bytes of pinned memory of the host, kept for reuse. Returning them does not call the driver.
  static constexpr size_t kPinnedBytes = 64;
  ricci_status* TakePinned(void** out);
  void ReturnPinned(void* p);

 private:
  enum class State : uint32_t { kUsable, kForked, kDestroyed };

  Gpu();
  ricci_status* MakePoolAndStream();
  ricci_status* LostText() const;
  bool OwnsAllocated(uintptr_t first, uint64_t bytes) const;
  Owned OwnsForeign(const void* p, uint64_t bytes) const;
  ricci_status* CheckOfHost(const char* call, CuResult result) const;
  ricci_status* Enqueue(const ricci_copy_args& a, CuStream stream) const;
  ricci_status* NotEnough(uint64_t bytes) const;

  std::shared_ptr<const Driver> driver_;
  std::unique_ptr<ModuleCompiler> compiler_;
  std::shared_ptr<const Nvtx> nvtx_;
  std::shared_ptr<Recorder> recorder_;
  const std::unique_ptr<Conditions> conditions_;
  const std::unique_ptr<StreamCaptures> captures_;
  std::string name_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  MemoryPool pool_;
  const int process_ = getpid();
  mutable std::atomic<State> state_{State::kUsable};  // never usable again
  CuStream own_stream_ = nullptr;                     // for what has no stream
  int processors_ = 1, most_shared_bytes_ = 0;
  mutable std::mutex mutex_;
  std::map<uintptr_t, uint64_t> allocated_;  // bytes by address
  Reused<void*> pinned_;
};

// Makes the device's context current, and the one before current again at the end: the host's is never changed. Where
// that fails nothing may be asked of the driver, except to wait and to give something back: it knows the context of
// what it gave.
//
// Meanwhile the thread may make calls that would end the capture of a stream by another thread of the host, such as to
// allocate pinned memory: none of ours is meant for that stream.
class Current {
 public:
  explicit Current(const Gpu& device) : device_(device) { Enter(); }
  ~Current() { Leave(); }
  Current(const Current&) = delete;
  ricci_status* Failure() const { return device_.Check("cuCtxPushCurrent", result_); }
  bool is_current() const { return is_pushed_; }

  // Calls what may call functions of the host, with the thread as the host knows it. The status is that of `f`; if it
  // has none, whether the context is current again, without which nothing more may be asked of the driver.
  template <typename F>
  ricci_status* Outside(F f) {
    Leave();
    ricci_status* const failed = f();
    Enter();
    return failed != nullptr ? failed : Failure();
  }

 private:
  void Enter() {
    device_.NoteFork();
    driver_ = &device_.driver();
    result_ = driver_->cuCtxPushCurrent(device_.context());
    is_pushed_ = result_ == kCuSuccess;
    is_relaxed_ = is_pushed_ && driver_->cuThreadExchangeStreamCaptureMode(&capture_mode_) == kCuSuccess;
  }
  void Leave() {
    CuContext popped;
    if (!is_pushed_) return;
    if (is_relaxed_) driver_->cuThreadExchangeStreamCaptureMode(&capture_mode_);
    driver_->cuCtxPopCurrent(&popped);
    is_pushed_ = false;
  }

  const Gpu& device_;
  const Driver* driver_ = nullptr;  // what has pushed pops, even if the device is lost meanwhile
  CuResult result_ = kCuSuccess;
  bool is_pushed_ = false, is_relaxed_ = false;
  int capture_mode_ = kCuCaptureRelaxed;  // then what the thread had, and so on
};

}  // namespace ricci::cuda
#endif
