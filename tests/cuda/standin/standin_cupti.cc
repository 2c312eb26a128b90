#include "standin_cupti.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "standin_records.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint32_t kMemcpy = 1, kMemset = 2, kDriver = 4, kRuntime = 5, kKernel = 10, kExternal = 39, kKinds = 55;
constexpr int kOk = 0, kInvalidParameter = 1, kInvalidOperation = 7, kMaxLimitReached = 12, kQueueEmpty = 18,
              kInvalidKind = 21;
constexpr uint64_t kAhead = 1'234'567'890'123'456'789;  // of CLOCK_MONOTONIC

using Requested = void (*)(uint8_t** buffer, size_t* bytes, size_t* records);
using Completed = void (*)(CuContext context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t valid);

struct Buffer {
  uint8_t* at = nullptr;
  size_t bytes = 0, used = 0, records = 0, most_records = 0;
};
// What a host may set.
struct Settings {
  uint64_t version = 130001, bytes = ~uint64_t{0}, dropped = 0, untimed = 0, order = 0;
  std::string failing;
  int failure = 0;
};
struct Tracer {
  std::mutex mutex;
  Settings settings;
  std::set<uint32_t> enabled;
  Requested requested = nullptr;
  Completed completed = nullptr;
  Buffer calls, activities;  // records of calls and what they belong to; of what the GPU does
  uint32_t correlation = 0;
  uint64_t last_end = 0, dropped = 0, buffers = 0;
  std::set<std::string> names;  // of kernels, which records point to
};
Tracer& Get() {
  static Tracer* const tracer = new Tracer;
  return *tracer;
}
thread_local std::vector<std::pair<uint32_t, uint64_t>> pushed;  // kinds and ids, the last one innermost

uint64_t TraceNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) + kAhead;
}

// ---- buffers, with the mutex held: a callback may only read the buffer ----
void Complete(Tracer& t, Buffer& b) {
  if (b.at == nullptr) return;
  const Buffer full = std::exchange(b, {});
  ++t.buffers;
  t.completed(nullptr, 0, full.at, full.bytes, full.used);
}

bool HasRoom(const Tracer& t, const Buffer& b, size_t bytes) {
  return b.at != nullptr && b.used + bytes <= std::min<uint64_t>(b.bytes, t.settings.bytes) &&
         (b.most_records == 0 || b.records < b.most_records);
}

template <typename Record>
void Put(Tracer& t, Buffer& b, const Record& record) {
  if (t.requested == nullptr) return;
  if (!HasRoom(t, b, sizeof record)) {
    Complete(t, b);
    t.requested(&b.at, &b.bytes, &b.most_records);
  }
  if (!HasRoom(t, b, sizeof record)) {
    ++t.dropped;
    return;
  }
  std::memcpy(b.at + b.used, &record, sizeof record);
  b.used += sizeof record;
  ++b.records;
}

// ---- records, with the mutex held ----
bool RecordsCalls(const Tracer& t) { return t.enabled.count(kDriver) != 0 || t.enabled.count(kRuntime) != 0; }

// The call of this thread, after one record for each kind of id that is pushed.
void PutCall(Tracer& t, uint32_t correlation) {
  if (!RecordsCalls(t)) return;
  std::map<uint32_t, uint64_t> innermost;
  for (const auto& [kind, id] : pushed) innermost[kind] = id;
  if (t.enabled.count(kExternal) != 0) {
    for (const auto& [kind, id] : innermost) Put(t, t.calls, ExternalRecord{kExternal, kind, id, correlation, 0});
  }
  CallRecord call{};
  call.kind = kDriver;
  call.start = call.end = TraceNow();
  call.correlation = correlation;
  Put(t, t.calls, call);
}

template <typename Record>
void PutActivity(Tracer& t, uint32_t kind, uint32_t correlation, uint64_t start, uint64_t end,
                 const std::string& name) {
  if (t.settings.dropped != 0) {
    --t.settings.dropped;
    ++t.dropped;
    return;
  }
  Record r{};
  r.kind = kind;
  r.correlation = correlation;
  if (t.settings.untimed == 0) {
    r.start = start;
    r.end = end;
  } else {
    --t.settings.untimed;
  }
  if constexpr (std::is_same_v<Record, KernelRecord>) r.name = t.names.insert(name).first->c_str();
  Put(t, t.activities, r);
}

uint32_t KindOf(std::string_view call) {
  if (call == "cuLaunchKernel") return kKernel;
  if (call == "cuMemcpyPeerAsync") return 0;  // a kind of its own
  return call.rfind("cuMemcpy", 0) == 0 ? kMemcpy : call.rfind("cuMemset", 0) == 0 ? kMemset : 0;
}

void PutWork(uint32_t kind, uint32_t correlation, uint64_t begin, const std::string& name) {
  Tracer& t = Get();
  const std::lock_guard lock(t.mutex);
  const uint64_t start = std::max(begin, t.last_end);
  const uint64_t end = t.last_end = start + (kind == kKernel ? kKernelNs : kind == kMemcpy ? kCopyNs : kSetNs);
  if (kind == kKernel) PutActivity<KernelRecord>(t, kind, correlation, start, end, name);
  if (kind == kMemcpy) PutActivity<MemcpyRecord>(t, kind, correlation, start, end, name);
  if (kind == kMemset) PutActivity<MemsetRecord>(t, kind, correlation, start, end, name);
}

// The result of a function that was asked to fail, or OK.
int Failure(const char* function) {
  const Settings& s = Get().settings;
  return s.failing == function ? s.failure : kOk;
}

}  // namespace

Work Recorded(const char* call, const std::string& name, Work work) {
  Tracer& t = Get();
  const uint32_t kind = KindOf(call);
  const std::lock_guard lock(t.mutex);
  const uint32_t correlation = ++t.correlation;
  PutCall(t, correlation);
  if (kind == 0 || t.enabled.count(kind) == 0) return work;
  return [kind, correlation, name, work = std::move(work)](const StepRef& step) {
    const uint64_t begin = TraceNow();
    work(step);
    PutWork(kind, correlation, begin, name);
  };
}

}  // namespace ricci::cuda::standin

// ---- the functions of libcupti ----
namespace standin = ricci::cuda::standin;
extern "C" {
int cuptiGetVersion(uint32_t* version) {
  *version = static_cast<uint32_t>(standin::Get().settings.version);
  return standin::Failure("cuptiGetVersion");
}
int cuptiGetResultString(int result, const char** text) {
  *text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_SIMULATED";
  return standin::kOk;
}
int cuptiGetTimestamp(uint64_t* now) { return *now = standin::TraceNow(), standin::Failure("cuptiGetTimestamp"); }

int cuptiActivityRegisterCallbacks(standin::Requested requested, standin::Completed completed) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  if (requested == nullptr || completed == nullptr) return standin::kInvalidParameter;
  if (const int failed = standin::Failure("cuptiActivityRegisterCallbacks")) return failed;
  t.requested = requested;
  t.completed = completed;
  return standin::kOk;
}
int cuptiActivityEnable(uint32_t kind) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  if (kind == 0 || kind >= standin::kKinds) return standin::kInvalidKind;
  if (const int failed = standin::Failure("cuptiActivityEnable")) return failed;
  t.enabled.insert(kind);
  return standin::kOk;
}
int cuptiActivityDisable(uint32_t kind) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  t.enabled.erase(kind);
  return standin::Failure("cuptiActivityDisable");
}
int cuptiActivityFlushAll(uint32_t) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  if (t.completed == nullptr) return standin::kInvalidOperation;
  if (const int failed = standin::Failure("cuptiActivityFlushAll")) return failed;
  standin::Complete(t, t.settings.order == 0 ? t.calls : t.activities);
  standin::Complete(t, t.settings.order == 0 ? t.activities : t.calls);
  return standin::kOk;
}
// It takes no mutex: a callback calls it.
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  const auto bytes_of = [](uint32_t kind) -> size_t {
    switch (kind) {
      case standin::kMemcpy:
        return sizeof(standin::MemcpyRecord);
      case standin::kMemset:
        return sizeof(standin::MemsetRecord);
      case standin::kKernel:
        return sizeof(standin::KernelRecord);
      case standin::kExternal:
        return sizeof(standin::ExternalRecord);
      case standin::kDriver:
        return sizeof(standin::CallRecord);
      default:
        return 0;
    }
  };
  if (buffer == nullptr) return standin::kInvalidParameter;
  uint32_t kind = 0;
  uint8_t* next = buffer;
  if (*record != nullptr) {
    std::memcpy(&kind, *record, sizeof kind);
    next = static_cast<uint8_t*>(*record) + bytes_of(kind);
  }
  const size_t at = static_cast<size_t>(next - buffer);
  if (at + sizeof kind > valid) return standin::kMaxLimitReached;
  std::memcpy(&kind, next, sizeof kind);
  if (bytes_of(kind) == 0 || at + bytes_of(kind) > valid) return standin::kInvalidKind;
  *record = next;
  return standin::kOk;
}
int cuptiActivityGetNumDroppedRecords(ricci::cuda::CuContext, uint32_t, size_t* number) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  *number = std::exchange(t.dropped, 0);
  return standin::Failure("cuptiActivityGetNumDroppedRecords");
}
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  if (const int failed = standin::Failure("cuptiActivityPushExternalCorrelationId")) return failed;
  standin::pushed.push_back({kind, id});
  return standin::kOk;
}
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* id) {
  auto& ids = standin::pushed;
  const auto last = std::find_if(ids.rbegin(), ids.rend(), [&](const auto& one) { return one.first == kind; });
  if (last == ids.rend()) return standin::kQueueEmpty;
  if (id != nullptr) *id = last->second;
  ids.erase(std::next(last).base());
  return standin::Failure("cuptiActivityPopExternalCorrelationId");
}

// ---- what tests ask ----
void ricci_standin_cupti_reset() {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  for (standin::Buffer* b : {&t.calls, &t.activities}) standin::Complete(t, *b);
  t.settings = {};
  t.enabled.clear();
  t.dropped = t.buffers = 0;
}
void ricci_standin_cupti_set(const char* what, uint64_t value) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  standin::Settings& s = t.settings;
  for (const auto& [name, field] :
       {std::pair("version", &s.version), std::pair("bytes", &s.bytes), std::pair("dropped", &s.dropped),
        std::pair("untimed", &s.untimed), std::pair("order", &s.order)}) {
    if (std::string_view(what) == name) *field = value;
  }
}
void ricci_standin_cupti_fails(const char* function, int result) {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  t.settings.failing = function;
  t.settings.failure = result;
}
int ricci_standin_cupti_open() {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  return static_cast<int>(t.enabled.size() + standin::pushed.size());
}
uint64_t ricci_standin_cupti_buffers() {
  standin::Tracer& t = standin::Get();
  const std::lock_guard lock(t.mutex);
  return t.buffers;
}
}
