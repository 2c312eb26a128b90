#include "runtime/run/bound_call.h"

#include "absl/cleanup/cleanup.h"
#include "base/status_abi.h"

namespace ricci { inline namespace v0 { namespace runtime {

absl::StatusOr<std::unique_ptr<BoundCall>> BoundCall::Create(base::Ref<const Executable> executable) {
  const base::Ref<const CompiledCode> code(&executable->code());
  RICCI_ASSIGN(RunFrame * frame, code->NewFrame(nullptr));
  std::shared_ptr<RunFrame> owned(frame, [code](RunFrame* f) { code->FreeFrame(f); });
  return std::unique_ptr<BoundCall>(new BoundCall(std::move(executable), std::move(owned)));
}

BoundCall::BoundCall(base::Ref<const Executable> executable, std::shared_ptr<RunFrame> frame)
    : executable_(std::move(executable)),
      code_(executable_->code()),
      n_in_(code_.program().n_params()),
      n_slots_(n_in_ + code_.program().n_results()),
      frame_(std::move(frame)) {}

const types::ArrayType& BoundCall::type(uint32_t slot) const {
  const ir::Program& f = code_.program();
  return f.vocabulary()->types.Get(slot < n_in_ ? f.param_types[slot] : f.result_types[slot - n_in_]);
}

std::string BoundCall::SlotName(uint32_t slot) const {
  const bool argument = slot < n_in_;
  return base::Cat("slot ", slot, " (", argument ? "argument " : "result ", argument ? slot : slot - n_in_,
                   " of program ", code_.program().name, ")");
}

absl::Status BoundCall::Bind(uint32_t slot, void* p, uint64_t bytes) {
  if (slot >= n_slots_) {
    return base::InvalidArgument("call: slot ", slot, " of program ", code_.program().name, ", which has ", n_slots_);
  }
  const types::ArrayType& t = type(slot);
  if (bytes != t.bytes) {
    return base::InvalidArgument("call: ", SlotName(slot), " is ", ToText(t), " of ", base::Count(t.bytes, "byte"),
                                 ", not ", bytes);
  }
  RICCI_TRY(SetSlot(slot, p));
  SetReady();
  return absl::OkStatus();
}

absl::Status BoundCall::BindAll(std::span<void* const> pointers, int64_t offset) {
  if (pointers.size() != n_slots_) {
    return base::InvalidArgument("call: ", base::Count(pointers.size(), "pointer"), " for program ",
                                 code_.program().name, ", which has ", base::Count(n_slots_, "slot"));
  }
  for (uint32_t slot = 0; slot < n_slots_; ++slot) {
    void* p = pointers[slot];
    if (p != nullptr && offset >= 0) std::memcpy(&p, static_cast<const char*>(p) + offset, sizeof p);
    if (frame_->inputs[slot] != p || p == nullptr) RICCI_TRY(SetSlot(slot, p));
  }
  SetReady();
  return absl::OkStatus();
}

absl::Status BoundCall::SetSlot(uint32_t slot, void* p) {
  const types::ArrayType& t = type(slot);
  const uint32_t align = types::Info(types::PartOf(t.dtype)).size;
  if (p == nullptr) return base::InvalidArgument("call: ", SlotName(slot), " is bound to NULL");
  if (reinterpret_cast<uintptr_t>(p) % align != 0) {
    return base::InvalidArgument("call: ", SlotName(slot), " is not aligned to ", base::Count(align, "byte"));
  }
  if (!code_.device()->CheckOwns(p, t.bytes, "").ok()) {  // a name takes longer than the check
    return code_.device()->CheckOwns(p, t.bytes, base::Cat("call: the pointer for ", SlotName(slot)));
  }
  frame_->inputs[slot] = p;
  return absl::OkStatus();
}

// Whether a run needs no more checks.
void BoundCall::SetReady() {
  const bool all = std::find(frame_->inputs, frame_->inputs + n_slots_, nullptr) == frame_->inputs + n_slots_;
  ready_ = all && !executable_->checked() && code_.device()->host_memory;
}

// A donated argument and the result that takes its memory may be the same memory.
bool BoundCall::MayShare(uint32_t a, uint32_t b) const {
  if (a < n_in_ && b < n_in_) return true;
  return a < n_in_ && code_.alias(b - n_in_) == static_cast<int32_t>(a) && frame_->inputs[a] == frame_->inputs[b];
}

// The error also names the argument with which the result may share memory.
absl::Status BoundCall::Overlap(uint32_t a, uint32_t b) const {
  const int32_t allowed = code_.alias(b - n_in_);
  const std::string hint =
      allowed < 0 ? "; this result shares memory with no argument"
                  : base::Cat("; this result may be bound to the pointer of argument ", allowed, ", and only to that");
  return base::InvalidArgument("call: ", SlotName(a), " and ", SlotName(b), " overlap", hint);
}

absl::Status BoundCall::CheckOverlap(uint32_t b) const {
  const auto* end_b = static_cast<const char*>(frame_->inputs[b]) + type(b).bytes;
  for (uint32_t a = 0; a < b; ++a) {
    const auto* end_a = static_cast<const char*>(frame_->inputs[a]) + type(a).bytes;
    if (frame_->inputs[a] < end_b && frame_->inputs[b] < end_a && !MayShare(a, b)) return Overlap(a, b);
  }
  return absl::OkStatus();
}

absl::Status BoundCall::CheckSlots() const {
  for (uint32_t b = 0; b < n_slots_; ++b) {
    if (frame_->inputs[b] == nullptr) {
      return absl::FailedPreconditionError(base::Cat("call: ", SlotName(b), " is not bound"));
    }
    if (executable_->checked()) RICCI_TRY(CheckOverlap(b));
  }
  return absl::OkStatus();
}

absl::StatusOr<EventRef> BoundCall::Enqueue(const RunOptions& options) {
  if (!ready_) RICCI_TRY(CheckSlots());
  Device& device = *code_.device();
  options.Set(*frame_);
  absl::Cleanup reset = [&] { RunOptions().Set(*frame_); };
  if (device.host_memory) {
    RICCI_TRY(base::FromAbi(code_.Run(*frame_)));
    return Event::Completed(device.context);
  }
  const absl::StatusOr<StreamRef> stream = options.StreamOn(device);
  const bool is_refused = absl::IsFailedPrecondition(stream.status()) && options.stream != nullptr;
  if (is_refused && device.backend.capture != nullptr) return Capture(*options.stream);
  RICCI_TRY(stream.status());
  return code_.Enqueue(*frame_, *stream, {});
}

// Of a stream to which nothing may be enqueued: the host may be capturing it.
absl::StatusOr<EventRef> BoundCall::Capture(const Stream& stream) {
  EventRef event = Event::OfCapture(code_.device()->context, frame_);
  RICCI_TRY(code_.Capture(*frame_, stream));
  return event;
}

ricci_status* BoundCall::RunChecked() {
  return base::AtBorder([&]() -> absl::Status {
    if (code_.device()->host_memory) {
      RICCI_TRY(CheckSlots());
      return base::FromAbi(code_.Run(*frame_));
    }
    RICCI_ASSIGN(const EventRef run, Enqueue({}));
    return run->Wait();
  });
}

}}}  // namespace ricci::v0::runtime
