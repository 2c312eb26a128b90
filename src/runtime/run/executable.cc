#include "runtime/run/executable.h"

#include "base/status_abi.h"
#include "runtime/context/device_put.h"
#include "runtime/run/frame_guard.h"

namespace ricci { inline namespace v0 { namespace runtime {

Executable::Executable(base::Ref<CompiledCode> code, bool cache_hit, bool checked, bool committed)
    : context_(code->device()->context),
      code_(std::move(code)),
      cache_hit_(cache_hit),
      checked_(checked),
      committed_(committed) {
  code_->AddUser();
}

// Runs in flight keep the code, and through it the context, which waits for them when its last handle is released. Runs
// enqueued after that are waited for here.
Executable::~Executable() {
  code_->DropUser();
  if (!context_->has_handles()) code_->device()->Drain();
}

base::Ref<Executable> Executable::Create(base::Ref<CompiledCode> code, bool cache_hit, bool checked, bool committed) {
  return base::Ref<Executable>::Adopt(new Executable(std::move(code), cache_hit, checked, committed));
}

ricci_executable_stats Executable::stats() const {
  ricci_executable_stats s = code_->stats();
  s.cache_hit = cache_hit_;
  return s;
}

// ---- arguments ----
// What is wrong with argument `i`, or nothing.
absl::Status Executable::WrongArgument(Arguments in, uint32_t i) const {
  const std::string argument = base::Cat("argument ", i, " of program ", code_->program().name);
  if (in[i] == nullptr) return base::InvalidArgument(argument, " is NULL");
  const Array& a = *FromAbi(in[i]);
  if (a.device()->context != context_.get()) return base::InvalidArgument(argument, " is of another context");
  if (a.device() != code_->device()) {
    return base::InvalidArgument(argument, " is committed to device ", a.device()->Name(), ", not ",
                                 code_->device()->Name(), "; copy it there (ricci_device_put)");
  }
  const types::ArrayType& wanted = context_->types().Get(code_->program().param_types[i]);
  if (a.type_id() != code_->program().param_types[i]) {
    return base::InvalidArgument(argument, " is ", ToText(a.type()), ", not ", ToText(wanted));
  }
  if (a.data() != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(base::Cat(argument, " was donated to an earlier run and has no data any more"));
}

// Separate from the checks themselves, which are hot.
absl::Status Executable::Explain(Arguments in) const {
  for (uint32_t i = 0; i < in.size(); ++i) RICCI_TRY(WrongArgument(in, i));
  return base::Invariant(false, "all arguments are right");
}

// False if one of them cannot be used as it is.
bool Executable::FindArguments(Arguments in, RunFrame& frame) const {
  const ir::Program& f = code_->program();
  for (uint32_t i = 0; i < in.size(); ++i) {
    const Array* a = FromAbi(in[i]);
    if (a == nullptr || a->device() != code_->device() || a->type_id() != f.param_types[i]) return false;
    frame.inputs[i] = a->data();
    if (frame.inputs[i] == nullptr) return false;
  }
  return true;
}

absl::StatusOr<Executable::Moved> Executable::MoveUncommitted(Arguments in) const {
  Moved moved;
  for (ricci_array* handle : in) {
    const Array* a = FromAbi(handle);
    const bool moves = a != nullptr && a->data() != nullptr && !a->committed() && a->device() != code_->device() &&
                       a->device()->context == context_.get();
    if (moves) {
      RICCI_ASSIGN(auto copy, DevicePut(*a, code_->device()));
      copy->set_committed(false);
      moved.arrays.push_back(std::move(copy));
    }
    moved.in.push_back(moves ? Abi(moved.arrays.back().get()) : handle);
  }
  return moved;
}

absl::Status Executable::CheckArguments(Arguments& in, RunFrame& frame, Moved& moved) const {
  if (FindArguments(in, frame)) return absl::OkStatus();
  RICCI_ASSIGN(moved, MoveUncommitted(in));
  in = moved.in;
  return FindArguments(in, frame) ? absl::OkStatus() : Explain(in);
}

bool Executable::ResultsAreCommitted(Arguments in) const {
  const auto committed = [](ricci_array* a) { return FromAbi(a)->committed(); };
  return committed_ || std::any_of(in.begin(), in.end(), committed);
}

// ---- results ----
// Is this run the only user of the data of this donated argument?
bool Executable::MayTake(Arguments in, uint32_t param) const {
  return FromAbi(in[param])->Unique() && std::count(in.begin(), in.end(), in[param]) == 1;
}

// Results that will take over the memory of an argument get none yet.
absl::Status Executable::AllocateResults(Arguments in, RunFrame& frame, Stream* stream) const {
  const ir::Program& f = code_->program();
  const bool committed = ResultsAreCommitted(in);
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const int32_t from = code_->alias(i);
    const bool takes = from >= 0 && FromAbi(in[from])->movable() && MayTake(in, from);
    if (takes) {
      frame.results[i] = Array::CreateEmpty(code_->device(), f.result_types[i]).Detach();
    } else {
      RICCI_ASSIGN(auto result, Array::Create(code_->device(), f.result_types[i], stream));
      frame.results[i] = result.Detach();
    }
    frame.results[i]->set_committed(committed);
  }
  return absl::OkStatus();
}

absl::Status Executable::MoveDonated(Arguments in, RunFrame& frame) const {
  const uint32_t n_out = code_->program().n_results();
  for (uint32_t i = 0; i < n_out; ++i) {
    Array& result = *frame.results[i];
    if (result.data() == nullptr && !FromAbi(in[code_->alias(i)])->MoveDataTo(result)) return Explain(in);
    frame.outputs[i] = result.data();
  }
  return absl::OkStatus();
}

// ---- runs that are complete when they return ----
absl::Status Executable::RunInFrame(Arguments in, RunFrame& frame) const {
  RICCI_TRY(AllocateResults(in, frame, nullptr));
  RICCI_TRY(MoveDonated(in, frame));  // from here on donated arguments are used up, whatever happens
  RICCI_TRY(base::FromAbi(code_->Run(frame)));
  for (uint32_t i = 0; i < in.size(); ++i) {
    if (code_->donates(i) && MayTake(in, i)) FromAbi(in[i])->DropData();
  }
  return absl::OkStatus();
}

absl::Status Executable::Run(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const {
  if (!code_->device()->host_memory) return EnqueueAndWait(in, out, options);
  RICCI_ASSIGN(const FrameGuard guard, FrameGuard::Take(*code_, nullptr));
  RunFrame& frame = guard.frame();
  Moved moved;
  options.Set(frame);
  RICCI_TRY(CheckArguments(in, frame, moved));
  RICCI_TRY(RunInFrame(in, frame));
  guard.GiveResults(out);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::runtime
