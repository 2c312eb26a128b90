// The functions of the table of a late device, in the order of ricci_backend.
#include <cstring>

#include "base/abi_struct.h"
#include "base/status_abi.h"
#include "support/late_runs.h"
#include "support/late_state.h"

namespace ricci::testing {
namespace {

struct CodeHandle {
  LateSelf& self;
  std::shared_ptr<LateCode> code;
};

LateSelf& Self(void* self) { return *static_cast<LateSelf*>(self); }

template <typename Body>
ricci_status* Call(LateSelf& self, std::string_view name, Body body) {
  return base::AtBorder([&]() -> absl::Status {
    RICCI_TRY(self.state->Enter(name));
    return body(*self.state, self.device);
  });
}

template <typename Body>
void VoidCall(LateSelf& self, std::string_view name, Body body) {
  self.state->EnterVoid(name);
  self.state->Complain(body(*self.state, self.device));
}

absl::Status FailsIfTold(std::atomic<bool>& told, std::string_view what) {
  if (!told.exchange(false)) return absl::OkStatus();
  return absl::InternalError(base::Cat("late: this ", what, " fails as requested"));
}

// ---- code ----
ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Call(Self(self), "compile", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_ASSIGN(const ricci_compile_args args, base::ReadStruct(a, "compile args"));
    RICCI_ASSIGN(auto created, LateCode::Create(args, state.options.scratch_bytes));
    info->code_bytes = 0;
    info->scratch_bytes = state.options.scratch_bytes;
    *code = new CodeHandle{Self(self), std::move(created)};
    ++device.codes;
    return absl::OkStatus();
  });
}

void DropCode(void* code) {
  const std::unique_ptr<CodeHandle> handle(static_cast<CodeHandle*>(code));
  VoidCall(handle->self, "drop_code", [&](LateState&, LateDevice& device) {
    --device.codes;
    return handle->code->pending == 0 ? absl::OkStatus() : absl::InternalError("late: drop_code before its runs end");
  });
}

void DropSelf(void* self) { delete static_cast<LateSelf*>(self); }

// ---- memory ----
ricci_status* Alloc(void* self, uint64_t bytes, void* stream, void** out) {
  return Call(Self(self), "alloc", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_ASSIGN(void* const p, device.memory.Allocate(bytes, stream == nullptr));
    if (stream != nullptr) {
      LateOperation arrive{.what = "an alloc", .run = [&device, p] { device.memory.Arrive(p); }};
      arrive.accesses = {{p, bytes, true}};
      const absl::Status pushed = state.queues.Push(device.number, stream, std::move(arrive));
      if (!pushed.ok()) {  // as if it had never been
        RICCI_TRY(device.memory.GiveBack(p, bytes));
        RICCI_TRY(device.memory.Free(p));
        return pushed;
      }
    }
    *out = p;
    return absl::OkStatus();
  });
}

void Free(void* self, void* p, uint64_t bytes, void* stream) {
  VoidCall(Self(self), "free", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_TRY(device.memory.GiveBack(p, bytes));
    LateOperation leave{.what = "a free", .run = [&state, &device, p] { state.Complain(device.memory.Free(p)); }};
    leave.accesses = {{p, bytes, true}};
    if (stream != nullptr) return state.queues.Push(device.number, stream, std::move(leave));
    const absl::Status order = state.queues.CheckNow(leave);
    leave.run();
    return order;
  });
}

uint32_t Owns(void* self, const void* p, uint64_t bytes) { return Self(self).device.memory.Owns(p, bytes); }

ricci_status* MemoryInfo(void* self, uint64_t* total_bytes, uint64_t* free_bytes) {
  return Call(Self(self), "memory_info", [&](LateState&, LateDevice& device) {
    *total_bytes = device.memory.limit();
    *free_bytes = device.memory.limit() - device.memory.used();
    return absl::OkStatus();
  });
}

// ---- copies ----
// The host's bytes that go to a device, as they are when the copy is enqueued.
absl::StatusOr<std::shared_ptr<std::vector<char>>> Staged(const LateState& state, const ricci_copy_args& a) {
  if (state.DeviceAt(a.src) != nullptr) return absl::InternalError("late: the host's bytes of a copy are a device's");
  auto staged = std::make_shared<std::vector<char>>(a.bytes);
  if (a.bytes != 0) std::memcpy(staged->data(), a.src, a.bytes);
  return staged;
}

absl::Status MoveIn(LateDevice& device, const ricci_copy_args& a, const std::vector<char>& staged) {
  RICCI_ASSIGN(const LateMemory::Bytes to, device.memory.Find(a.dst, a.bytes, "the destination of a copy"));
  if (a.bytes != 0) std::memcpy(to.data, staged.data(), a.bytes);
  return absl::OkStatus();
}

absl::Status MoveOut(LateDevice& device, const ricci_copy_args& a) {
  RICCI_ASSIGN(const LateMemory::Bytes from, device.memory.FindToRead(a.src, a.bytes, "the source of a copy"));
  if (a.bytes != 0) std::memcpy(a.dst, from.data, a.bytes);
  return absl::OkStatus();
}

absl::Status MoveBetween(LateDevice& device, LateDevice& source, const ricci_copy_args& a) {
  RICCI_ASSIGN(const LateMemory::Bytes from, source.memory.FindToRead(a.src, a.bytes, "the source of a copy"));
  RICCI_ASSIGN(const LateMemory::Bytes to, device.memory.Find(a.dst, a.bytes, "the destination of a copy"));
  if (a.bytes != 0) std::memmove(to.data, from.data, a.bytes);
  return absl::OkStatus();
}

// A copy to this device when its turn comes: a failure stays with the destination.
template <typename Move>
std::function<void()> Moving(LateState& state, LateDevice& device, const ricci_copy_args& a, Move move) {
  return [&state, &device, dst = a.dst, move] {
    absl::Status status = FailsIfTold(state.fail_copy, "copy");
    if (status.ok()) status = move();
    if (!device.memory.SetFailure(dst, status)) state.Complain(status);
  };
}

absl::StatusOr<LateOperation> CopyToHere(LateState& state, LateDevice& device, const ricci_copy_args& a) {
  LateOperation copy{.what = "a copy"};
  copy.accesses.push_back({a.dst, a.bytes, true});
  if (a.direction == RICCI_COPY_TO_DEVICE) {
    RICCI_ASSIGN(const auto staged, Staged(state, a));
    copy.run = Moving(state, device, a, [&device, a, staged] { return MoveIn(device, a, *staged); });
    return copy;
  }
  if (a.direction != RICCI_COPY_BETWEEN_DEVICES) return base::InvalidArgument("late: a copy of no direction");
  LateDevice& source = Self(a.src_self).device;
  copy.accesses.push_back({a.src, a.bytes, false});
  copy.run = Moving(state, device, a, [&device, &source, a] { return MoveBetween(device, source, a); });
  return copy;
}

// Its status is the status of the call.
absl::Status CopyFromHere(LateState& state, LateDevice& device, const ricci_copy_args& a) {
  if (state.DeviceAt(a.dst) != nullptr) return absl::InternalError("late: the host's bytes of a copy are a device's");
  const auto status = std::make_shared<absl::Status>();
  LateOperation copy{.what = "copy"};
  copy.run = [&state, &device, a, status] {
    *status = FailsIfTold(state.fail_copy, "copy");
    if (status->ok()) *status = MoveOut(device, a);
  };
  copy.accesses.push_back({a.src, a.bytes, false});
  if (a.stream != nullptr) {
    RICCI_TRY(state.queues.PushAndWait(device.number, a.stream, std::move(copy)));
    return *status;
  }
  RICCI_TRY(state.queues.CheckNow(copy));
  copy.run();
  return *status;
}

ricci_status* Copy(void* self, const ricci_copy_args* given, void** event) {
  return Call(Self(self), "copy", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_ASSIGN(const ricci_copy_args a, base::ReadStruct(given, "copy args"));
    if (a.direction == RICCI_COPY_FROM_DEVICE) return CopyFromHere(state, device, a);
    RICCI_ASSIGN(LateOperation copy, CopyToHere(state, device, a));
    if (a.stream != nullptr) return state.queues.Push(device.number, a.stream, std::move(copy), event);
    if (event != nullptr) return base::InvalidArgument("late: a copy in no stream has no event");
    RICCI_TRY(state.queues.CheckNow(copy));
    copy.run();
    return absl::OkStatus();
  });
}

// ---- streams and events ----
ricci_status* StreamCreate(void* self, void** out) {
  return Call(Self(self), "stream_create", [&](LateState& state, LateDevice& device) {
    *out = state.queues.CreateStream(device.number);
    return absl::OkStatus();
  });
}

void StreamDrop(void* self, void* stream) {
  VoidCall(Self(self), "stream_drop",
           [&](LateState& state, LateDevice& device) { return state.queues.DropStream(device.number, stream); });
}

ricci_status* StreamWait(void* self, void* stream, void* event) {
  return Call(Self(self), "stream_wait", [&](LateState& state, LateDevice& device) {
    return state.queues.WaitInStream(device.number, stream, event);
  });
}

ricci_status* EventRecord(void* self, void* stream, void** event) {
  return Call(Self(self), "event_record", [&](LateState& state, LateDevice& device) {
    return state.queues.Push(device.number, stream, {.what = "event_record"}, event);
  });
}

void EventDrop(void* self, void* event) {
  VoidCall(Self(self), "event_drop",
           [&](LateState& state, LateDevice& device) { return state.queues.DropEvent(device.number, event); });
}

ricci_status* EventQuery(void* self, void* event, uint32_t* come) {
  return Call(Self(self), "event_query", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_ASSIGN(*come, state.queues.Query(device.number, event));
    return absl::OkStatus();
  });
}

ricci_status* EventWait(void* self, void* event) {
  return Call(Self(self), "event_wait",
              [&](LateState& state, LateDevice& device) { return state.queues.Wait(device.number, event); });
}

// ---- runs ----
struct PendingRun {
  std::shared_ptr<LateCode> code;
  LateRun run;
  ricci_done_fn done;
  void* arg;
  ricci_status* status = nullptr;
};

ricci_status* Enqueue(void* code, const ricci_run_args* given, ricci_done_fn done, void* arg, void** event) {
  const CodeHandle& handle = *static_cast<CodeHandle*>(code);
  return Call(handle.self, "enqueue", [&](LateState& state, LateDevice& device) -> absl::Status {
    RICCI_ASSIGN(const ricci_run_args a, base::ReadStruct(given, "run args"));
    const std::shared_ptr<PendingRun> pending(
        new PendingRun{handle.code, LateRun(device.memory, handle.code, a, state.queues.Draw()), done, arg});
    LateOperation operation{.what = "a run", .run = {}, .announce = {}, .accesses = pending->run.Accesses()};
    operation.run = [pending, &state] {
      pending->status = base::AtBorder([&] { return pending->run.Run(FailsIfTold(state.fail_run, "run")); });
    };
    const auto report = [pending] { pending->done(pending->arg, pending->status, pending->run.failed_check()); };
    operation.announce = [pending] { --pending->code->pending; };
    if (state.options.reports_when_asked) {
      operation.report = std::make_shared<LateReport>();
      operation.report->call = report;
    } else {
      operation.announce = [pending, report] {
        --pending->code->pending;
        report();
      };
    }
    ++handle.code->pending;
    absl::Status pushed = state.queues.Push(device.number, a.stream, std::move(operation), event);
    if (!pushed.ok()) --handle.code->pending;
    return pushed;
  });
}

ricci_str Text(std::string_view v) { return {v.data(), v.size()}; }

void AddTime(ricci_backend& b) {
  b.stream_create = StreamCreate;
  b.stream_drop = StreamDrop;
  b.stream_wait = StreamWait;
  b.event_record = EventRecord;
  b.event_drop = EventDrop;
  b.event_query = EventQuery;
  b.event_wait = EventWait;
  b.enqueue = Enqueue;
}

}  // namespace

ricci_backend LateTable(std::shared_ptr<LateState> state, uint32_t device) {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.hdr.flags = state->options.reports_when_asked ? RICCI_BACKEND_REPORTS_WHEN_ASKED : 0;
  b.kind = Text("late");
  b.name = Text("interpreter, late");
  b.self = new LateSelf{state, *state->devices[device]};
  b.drop_self = DropSelf;
  b.workers = 1;
  b.opt_level_default = 1;
  b.compile = Compile;
  b.drop_code = DropCode;
  b.alignment = LateMemory::kAlignment;
  b.alloc = Alloc;
  b.free = Free;
  b.copy = Copy;
  b.owns = Owns;
  b.memory_info = MemoryInfo;
  AddTime(b);
  return b;
}

}  // namespace ricci::testing
