#include "runtime/executable.h"

#include "base/status_abi.h"

namespace ricci::inline v0::runtime {

Executable::Executable(base::Ref<CompiledCode> code, bool cache_hit, bool checked)
    : context_(code->device()->context), code_(std::move(code)), cache_hit_(cache_hit), checked_(checked) {
  code_->AddUser();
}

Executable::~Executable() { code_->DropUser(); }

base::Ref<Executable> Executable::Create(base::Ref<CompiledCode> code, bool cache_hit, bool checked) {
  return base::Ref<Executable>::Adopt(new Executable(std::move(code), cache_hit, checked));
}

ricci_executable_stats Executable::stats() const {
  ricci_executable_stats s = code_->stats();
  s.cache_hit = cache_hit_;
  return s;
}

// What is wrong with argument `i`; apart from the checks themselves, which are hot.
absl::Status Executable::Explain(std::span<ricci_array* const> in, uint32_t i) const {
  const std::string argument = base::Cat("argument ", i, " of program ", code_->program().name);
  if (in[i] == nullptr) return base::InvalidArgument(argument, " is NULL");
  const Array& a = *FromAbi(in[i]);
  if (a.device()->context != context_.get()) return base::InvalidArgument(argument, " is of another context");
  if (a.device() != code_->device()) {
    return base::InvalidArgument(argument, " is on device ", a.device()->kind, ", not ", code_->device()->kind);
  }
  const types::ArrayType& wanted = context_->types().Get(code_->program().param_types[i]);
  if (a.type_id() != code_->program().param_types[i]) {
    return base::InvalidArgument(argument, " is ", ToText(a.type()), ", not ", ToText(wanted));
  }
  return absl::FailedPreconditionError(base::Cat(argument, " was donated to an earlier run and has no data any more"));
}

absl::Status Executable::CheckArguments(std::span<ricci_array* const> in, RunFrame& frame) const {
  const ir::Program& f = code_->program();
  for (uint32_t i = 0; i < in.size(); ++i) {
    const Array* a = FromAbi(in[i]);
    if (a == nullptr || a->device() != code_->device() || a->type_id() != f.param_types[i]) return Explain(in, i);
    frame.inputs[i] = a->data();
    if (frame.inputs[i] == nullptr) return Explain(in, i);
  }
  return absl::OkStatus();
}

// Is the run the only one that sees the data of this donated argument?
bool Executable::MayTake(std::span<ricci_array* const> in, uint32_t param) const {
  return FromAbi(in[param])->Unique() && std::count(in.begin(), in.end(), in[param]) == 1;
}

// Results that will take the memory of an argument have none yet.
void Executable::AllocateResults(std::span<ricci_array* const> in, RunFrame& frame) const {
  const ir::Program& f = code_->program();
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const int32_t from = code_->alias(i);
    const bool takes = from >= 0 && FromAbi(in[from])->movable() && MayTake(in, from);
    frame.results[i] = (takes ? Array::CreateEmpty(code_->device(), f.result_types[i])
                              : Array::Create(code_->device(), f.result_types[i]))
                           .Detach();
  }
}

absl::Status Executable::RunInFrame(std::span<ricci_array* const> in, RunFrame& frame) const {
  RICCI_TRY(CheckArguments(in, frame));
  AllocateResults(in, frame);
  // From here on donated arguments are used up, whatever comes.
  const uint32_t n_out = code_->program().n_results();
  for (uint32_t i = 0; i < n_out; ++i) {
    Array& result = *frame.results[i];
    if (result.data() == nullptr && !FromAbi(in[code_->alias(i)])->MoveDataTo(result)) {
      return Explain(in, code_->alias(i));
    }
    frame.outputs[i] = result.data();
  }
  RICCI_TRY(base::FromAbi(code_->Run(frame)));
  for (uint32_t i = 0; i < in.size(); ++i) {
    if (code_->donates(i) && MayTake(in, i)) FromAbi(in[i])->DropData();
  }
  return absl::OkStatus();
}

namespace {

// Returns a frame, and the results in it that nobody took.
class FrameGuard {
 public:
  explicit FrameGuard(const CompiledCode& code) : code_(code), frame_(code.TakeFrame()) {}
  ~FrameGuard() {
    for (uint32_t i = 0; i < code_.program().n_results(); ++i) {
      if (Array* left = std::exchange(frame_->results[i], nullptr)) left->Release();
    }
    code_.ReturnFrame(frame_);
  }
  RunFrame& frame() const { return *frame_; }

 private:
  const CompiledCode& code_;
  RunFrame* const frame_;
};

}  // namespace

absl::Status Executable::Run(std::span<ricci_array* const> in, std::span<ricci_array*> out) const {
  FrameGuard guard(*code_);
  RICCI_TRY(RunInFrame(in, guard.frame()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = Abi(std::exchange(guard.frame().results[i], nullptr));
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::runtime
