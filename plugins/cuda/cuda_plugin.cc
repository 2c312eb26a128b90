// The plugin's entry: one backend `cuda` for each GPU that the driver lists.
#include <charconv>

#include "ricci/plugin.hpp"

#include "cuda/attach.h"
#include "cuda/driver/library_paths.h"
#include "cuda/explain/forms.h"
#include "cuda/explain/offline.h"
#include "cuda/lowering/line_sort.h"
#include "cuda/lowering/ordered_scatter.h"
#include "cuda/profile/recorder.h"
#include "cuda/run/code.h"

namespace ricci::cuda {
namespace {

constexpr uint32_t kDlpackCuda = 2;  // kDLCUDA

Gpu& Of(void* self) { return *static_cast<Gpu*>(self); }
CuStream Stream(void* s) { return static_cast<CuStream>(s); }
GpuEvent& EventOf(void* e) { return *static_cast<GpuEvent*>(e); }

ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Guard([&]() -> ricci_status* {
    std::unique_ptr<Code> made;
    if (ricci_status* failed = Code::Create(Of(self), *a, made, *info)) return failed;
    info->code_bytes = made->bytes();
    info->scratch_bytes = made->scratch_bytes();
    *code = made.release();
    return nullptr;
  });
}

ricci_status* Enqueue(void* code, const ricci_run_args* a, ricci_done_fn done, void* arg, void** event) {
  return Guard([&] { return static_cast<Code*>(code)->Enqueue(*a, done, arg, event); });
}

ricci_status* Capture(void* code, const ricci_run_args* a) {
  return Guard([&] { return static_cast<Code*>(code)->Capture(*a); });
}

CodeToRead ToRead(void* code) {
  const Code& c = *static_cast<Code*>(code);
  return {c.given(), c.device().compiler(), c.device().processors(), &c.parts(), c.why_no_choices()};
}
ricci_status* Dump(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return WriteForm(ToRead(code), "native", sink, write);
}
ricci_status* DumpForm(void* code, ricci_str form, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return WriteForm(ToRead(code), {form.ptr, form.len}, sink, write);
}

ricci_status* Alloc(void* self, uint64_t bytes, void* stream, void** out) {
  return Guard([&] { return Of(self).Alloc(bytes, Stream(stream), out); });
}
void Free(void* self, void* p, uint64_t, void* stream) { Of(self).Free(p, Stream(stream)); }
ricci_status* Copy(void* self, const ricci_copy_args* a, void** event) {
  return Guard([&] { return Of(self).Copy(*a, event); });
}
uint32_t Owns(void* self, const void* p, uint64_t bytes) {
  uint32_t owns = 0;
  ricci_status_free(Guard([&]() -> ricci_status* { return owns = Of(self).Owns(p, bytes), nullptr; }));
  return owns;
}

// A call of the driver with the device's context.
template <typename Body>
ricci_status* Call(void* self, const char* name, Body body) {
  return Guard([&] {
    const Current current(Of(self));
    ricci_status* const failed = current.Failure();
    return failed != nullptr ? failed : Of(self).Check(name, body(Of(self).driver()));
  });
}

ricci_status* MemoryInfo(void* self, uint64_t* total_bytes, uint64_t* free_bytes) {
  return Guard([&] { return Of(self).MemoryInfo(*total_bytes, *free_bytes); });
}
ricci_status* MemoryReserved(void* self, uint64_t* bytes) {
  return Guard([&] { return Of(self).Reserved(*bytes); });
}
ricci_status* MemoryTrim(void* self, uint64_t keep_bytes) {
  return Guard([&] { return Of(self).Trim(keep_bytes); });
}
ricci_status* StreamWrap(void* self, void* native, void** out) {
  return Guard([&] {
    CuStream stream = nullptr;
    ricci_status* const failed = Of(self).WrapStream(Stream(native), &stream);
    if (failed == nullptr) *out = stream;
    return failed;
  });
}
ricci_status* StreamCheck(void* self, void* stream) {
  return Guard([&] { return Of(self).CheckStream(Stream(stream)); });
}
ricci_status* StreamCreate(void* self, void** out) {
  CuStream stream = nullptr;
  ricci_status* const failed = Guard([&] { return Of(self).CreateStream(&stream); });
  *out = stream;
  return failed;
}
void StreamDrop(void* self, void* stream) {
  const Current current(Of(self));
  ricci_status_free(Guard([&] { return Of(self).Wait(Stream(stream)); }));
  Of(self).Note(Of(self).driver().cuStreamDestroy(Stream(stream)));
}
ricci_status* StreamWait(void* self, void* stream, void* event) {
  return Call(self, "cuStreamWaitEvent",
              [&](const Driver& d) { return d.cuStreamWaitEvent(Stream(stream), EventOf(event).handle, 0); });
}
template <unsigned kFlags>
ricci_status* EventRecord(void* self, void* stream, void** event) {
  return Guard([&] {
    auto made = std::make_unique<GpuEvent>();
    const Current current(Of(self));
    ricci_status* failed = current.Failure();
    if (failed == nullptr) failed = Of(self).Record(Stream(stream), *made, kFlags);
    if (failed == nullptr) *event = made.release();
    return failed;
  });
}
ricci_status* EventElapsed(void* self, void* begin, void* end, double* seconds) {
  return Guard([&] {
    const Current current(Of(self));
    ricci_status* const failed = current.Failure();
    return failed != nullptr ? failed : Of(self).Elapsed(EventOf(begin), EventOf(end), *seconds);
  });
}
// A run that has not been reported never will be.
void EventDrop(void* self, void* event) {
  const std::unique_ptr<GpuEvent> dropped(&EventOf(event));
  const Current current(Of(self));
  Of(self).Note(Of(self).driver().cuEventDestroy(dropped->handle));
}
ricci_status* EventQuery(void* self, void* event, uint32_t* come) {
  *come = 0;
  ricci_status* const failed = Call(self, "cuEventQuery", [&](const Driver& d) {
    const CuResult result = d.cuEventQuery(EventOf(event).handle);
    *come = result == kCuSuccess ? 1 : 0;
    return result == kCuNotReady ? CuResult{kCuSuccess} : result;
  });
  if (failed == nullptr && *come != 0) EventOf(event).Completed();
  return failed;
}
// The caller may drop the code of the run even if this fails. So it waits if it can: without the context too, which the
// event knows, and once more if that fails, as Gpu::Wait.
ricci_status* EventWait(void* self, void* event) {
  return Guard([&] {
    const Current current(Of(self));
    const auto wait = [&] { return Of(self).driver().cuEventSynchronize(EventOf(event).handle); };
    ricci_status* const failed = Of(self).Check("cuEventSynchronize", wait());
    failed == nullptr ? EventOf(event).Completed() : Of(self).Note(wait());
    return failed;
  });
}

// Of a GPU with a hundred processors; the ratios are what matters.
ricci_target Target() {
  ricci_target t{};
  t.hdr.size = sizeof t;
  ricci_target_init(&t);
  t.hdr.flags |= RICCI_TARGET_FMA;
  t.lanes = 32;
  t.registers = 64;
  t.points_wanted = 1 << 16;
  t.near_bytes = 512;
  t.cache_bytes = 32 << 20;
  t.cached_bytes_per_cycle = 16384;
  t.memory_bytes_per_cycle = 8192;
  t.launch_cycles = 4000;
  t.call_cycles = 8000;
  return t;
}

ricci_backend Table(Gpu& device, const ricci_target& target) {
  ricci_backend b{};
  b.hdr = {sizeof b, RICCI_BACKEND_SOURCES | RICCI_BACKEND_PROFILES | RICCI_BACKEND_REPORTS_WHEN_ASKED, nullptr};
  b.kind = {"cuda", 4};
  b.name = {device.name().data(), device.name().size()};
  b.self = &device;
  b.drop_self = [](void* self) { delete static_cast<Gpu*>(self); };
  b.workers = static_cast<uint32_t>(device.processors());
  b.opt_level_default = 2;
  b.compile = Compile;
  b.drop_code = [](void* code) { delete static_cast<Code*>(code); };
  b.dump = Dump;
  b.forms = {kForms.data(), kForms.size()};
  b.dump_form = DumpForm;
  b.set_threads = [](void* self, uint32_t threads) -> ricci_status* {
    return Of(self).compiler().SetThreads(threads), nullptr;
  };
  b.target = &target;
  b.alignment = kAlignment;
  b.alloc = Alloc;
  b.free = Free;
  b.copy = Copy;
  b.owns = Owns;
  b.memory_info = MemoryInfo;
  b.memory_reserved = MemoryReserved;
  b.memory_trim = MemoryTrim;
  b.native_context = device.context();
  b.stream_create = StreamCreate;
  b.stream_drop = StreamDrop;
  b.stream_wait = StreamWait;
  b.stream_wrap = StreamWrap;
  b.stream_check = StreamCheck;
  b.event_record = EventRecord<kCuEventDisableTiming>;
  b.event_record_timed = EventRecord<0>;
  b.event_elapsed = EventElapsed;
  b.event_drop = EventDrop;
  b.event_query = EventQuery;
  b.event_wait = EventWait;
  b.enqueue = Enqueue;
  b.capture = Capture;
  b.dlpack_type = kDlpackCuda;
  b.dlpack_id = static_cast<uint32_t>(device.number());
  return b;
}

ricci_status* ReadTrips(const std::string& text, int64_t& trips) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), trips);
  if (error == std::errc() && end == text.data() + text.size() && trips > 0) return nullptr;
  return Fail(RICCI_INVALID_ARGUMENT,
              "the option cuda.pairs_from is " + text + "; it must be a number of trips, from 1 to 2^63 - 1");
}

// The options of the plugin, in place of what they name.
ricci_status* ReadOptions(ricci_ctx* ctx, Settings& settings) {
  const auto option = [&](std::string_view key, std::string& value) {
    ricci_str text{};
    if (ricci_context_option(ctx, key.data(), key.size(), &text) != 0) value.assign(text.ptr, text.len);
  };
  std::string driver, compiler, folders, pairs_from;
  option("cuda.driver", driver);
  option("cuda.compiler", compiler);
  option("cuda.libraries", folders);
  option("cuda.arch", settings.architecture);
  option("cuda.disassembler", settings.disassembler);
  option("cuda.scatter", settings.scatter);
  option("cuda.pairs_from", pairs_from);
  option("cuda.nvtx", settings.nvtx);
  option("cuda.cupti", settings.cupti);
  const std::vector<std::string> toolkits = Toolkits();
  settings.drivers = driver.empty() ? DriverPaths(toolkits) : std::vector{driver};
  settings.compilers = compiler.empty() ? CompilerPaths(toolkits, folders) : std::vector{compiler};
  return pairs_from.empty() ? nullptr : ReadTrips(pairs_from, settings.least_trips_of_pairs);
}

ricci_status* Attach(void*, ricci_ctx* ctx) {
  return Guard([&] {
    Settings settings;
    ricci_status* const refused = ReadOptions(ctx, settings);
    return refused != nullptr ? refused : AttachDevices(ctx, settings);
  });
}

ricci_status* AddLowerings(ricci_ctx* ctx, const Settings& settings) {
  constexpr std::pair<std::string_view, ScatterWay> kWays[] = {
      {"ordered", ScatterWay::kOrdered}, {"sorted", ScatterWay::kSorted}, {"atomics", ScatterWay::kAtomics}};
  for (const auto& [name, way] : kWays) {
    if (settings.scatter != name) continue;
    ricci_status* const failed = AddLineSort(ctx);
    return failed != nullptr ? failed : AddScatters(ctx, way);
  }
  return Fail(RICCI_INVALID_ARGUMENT,
              "the option cuda.scatter is " + settings.scatter + "; it must be ordered, sorted or atomics");
}

constexpr ricci_plugin kPlugin = Describe("cuda", "0.1.0", Attach);

}  // namespace

ricci_status* AttachDevices(ricci_ctx* ctx, const Settings& settings) {
  return Guard([&]() -> ricci_status* {
    std::string error;
    const ricci_target target = Target();
    std::shared_ptr<const Driver> driver =
        settings.architecture.empty() ? OpenDriver(settings.drivers, error) : nullptr;
    if (driver == nullptr && settings.architecture.empty()) {
      return Fail(RICCI_NOT_FOUND, error + "; option cuda.arch=sm_90a compiles without a GPU");
    }
    std::shared_ptr<Compiler> compiler = OpenCompiler(settings.compilers, error);
    if (compiler == nullptr) return Fail(RICCI_NOT_FOUND, error);
    std::shared_ptr<const Nvtx> nvtx;
    if (!settings.nvtx.empty() && (nvtx = OpenNvtx(settings.nvtx, error)) == nullptr) {
      return Fail(RICCI_NOT_FOUND, error);
    }
    std::shared_ptr<Recorder> recorder;
    if (!settings.cupti.empty() && (recorder = Recorder::Open(settings.cupti, error)) == nullptr) {
      return Fail(RICCI_NOT_FOUND, error);
    }
    if (ricci_status* failed = AddLowerings(ctx, settings)) return failed;
    compiler->disassembler = settings.disassembler;
    if (driver == nullptr) return RegisterOffline(ctx, compiler, settings, target);
    int count = 0;
    CuResult result = driver->cuInit(0);
    if (result != kCuSuccess) return Fail(RICCI_NOT_FOUND, "no CUDA device: " + driver->ErrorText("cuInit", result));
    result = driver->cuDeviceGetCount(&count);
    if (result != kCuSuccess) return Fail(RICCI_INTERNAL, driver->ErrorText("cuDeviceGetCount", result));
    if (count == 0) return Fail(RICCI_NOT_FOUND, "no CUDA device: the driver lists none");
    for (int i = 0; i < count; ++i) {
      ricci_status* failed = nullptr;
      std::unique_ptr<Gpu> device = Gpu::Create(driver, compiler, settings, i, failed, ctx);
      if (device == nullptr) return failed;
      device->SetNvtx(nvtx);
      device->SetRecorder(recorder);
      const ricci_backend b = Table(*device, target);
      if ((failed = ricci_backend_register(ctx, &b)) != nullptr) return failed;
      device.release();
    }
    return nullptr;
  });
}

}  // namespace ricci::cuda

extern "C" RICCI_API ricci_status* ricci_plugin_query_cuda(const ricci_host_info*, const ricci_plugin** out) {
  *out = &ricci::cuda::kPlugin;
  return nullptr;
}
