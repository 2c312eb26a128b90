#include "runtime/context/compiled_code.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "absl/cleanup/cleanup.h"
#include "base/hash.h"
#include "ir/structural.h"
#include "ir/walk.h"
#include "kernel/long_loops.h"
#include "prim/registry.h"
#include "ricci/exact.h"
#include "runtime/context/backend_call.h"
#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

uint64_t ConstantBytes(const pass::Lowered& l) {
  uint64_t bytes = 0;
  for (const auto& c : l.constants) bytes += c->bytes.size();
  return bytes;
}

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

// Asks the host whether to go on, on any thread, but once at a time.
struct Asked {
  const Progress& progress;
  std::mutex mutex = {};
  bool stopped = false;

  static uint32_t GoOn(void* self) {
    Asked& a = *static_cast<Asked*>(self);
    const std::lock_guard lock(a.mutex);
    const auto total = static_cast<uint32_t>(pass::StageNames().size());
    a.stopped = a.stopped || !a.progress(total, total);
    return a.stopped ? 0 : 1;
  }
};

// Of the long loops of a program, whose locations the error of a run that the host ended names.
std::vector<ir::LocationId> LocationsOfLoops(const ir::Program& f) {
  const prim::Registry& registry = prim::Registry::Of(f);
  std::vector<ir::LocationId> locations;
  for (const ir::Program* p : ir::NestedFirst(f)) {
    for (const ir::Equation& e : p->equations) {
      const prim::Flow flow = registry.Get(e.prim).flow;
      const bool is_long = flow == prim::Flow::kWhile ||
                           (flow == prim::Flow::kScan && trace::IntOf(e.attrs, "length") > kernel::kManyTrips);
      if (is_long) locations.push_back(e.location);
    }
  }
  return locations;
}

}  // namespace

CompileKey CompileKey::Make(ir::ProgramRef program, std::vector<Device*> devices, uint32_t opt_level,
                            transform::Schedule vmap, pass::StageSet stages, std::vector<uint8_t> donate,
                            bool profiled) {
  base::Hasher h;
  h.Add(ir::Hash(*program)).Add(program->name);
  for (const Device* d : devices) h.Add(d->kind).Add(static_cast<uint64_t>(d->ordinal));
  h.Add(opt_level).Add(static_cast<uint64_t>(vmap)).Add(stages);
  for (uint8_t d : donate) h.Add(d);
  if (profiled) h.Add("profiled");
  return {std::move(program), std::move(devices), opt_level, vmap, stages, std::move(donate), profiled, h.Done()};
}

pass::Options CompileKey::PassOptions() const {
  Device* const device = devices[0];
  pass::Options options;
  options.target = device->target;
  options.reference = device->reference;
  options.alignment = device->alignment;
  options.device = Abi(device);
  options.native_context = device->backend.native_context;
  options.open_calls = (device->backend.hdr.flags & RICCI_BACKEND_OPEN_CALLS) != 0;
  options.vmap = vmap;
  options.donate = donate;
  options.stages = stages;
  if (device->backend.estimate != nullptr) {
    options.estimate = [device](const pass::Lowered& l) { return EstimateOn(device->backend, l, nullptr); };
  }
  return options;
}

bool CompileKey::operator==(const CompileKey& o) const {
  return hash == o.hash && devices == o.devices && opt_level == o.opt_level && vmap == o.vmap && stages == o.stages &&
         donate == o.donate && profiled == o.profiled && program->name == o.program->name &&
         ir::Equal(*program, *o.program);
}

CompiledCode::CompiledCode(CompileKey key, std::unique_ptr<pass::Lowered> lowered)
    : key_(std::move(key)), lowered_(std::move(lowered)), kernels_(lowered_->kernels), plan_(lowered_->plan.View()) {
  if (!lowered_->output_alias.empty()) plan_.output_alias = lowered_->output_alias.data();
  for (const auto& constant : lowered_->constants) constants_.push_back(constant->bytes.data());
}

// Copies the constants to the device, all in one block, unless its memory is the host's.
absl::Status CompiledCode::UploadConstants() {
  const Device& to = *device();
  for (const auto& constant : lowered_->constants) constant_block_bytes_ += to.Aligned(constant->bytes.size());
  if (to.host_memory || constant_block_bytes_ == 0) return absl::OkStatus();
  RICCI_ASSIGN(constant_block_, to.Allocate(constant_block_bytes_, nullptr));
  auto* at = static_cast<char*>(constant_block_);
  for (size_t i = 0; i < constants_.size(); ++i) {
    const auto& bytes = lowered_->constants[i]->bytes;
    RICCI_TRY(to.CopyTo(at, bytes.data(), bytes.size(), nullptr));
    constants_[i] = at;
    at += to.Aligned(bytes.size());
  }
  return absl::OkStatus();
}

// Checks do, profiles, and functions of the host.
bool CompiledCode::ReportsLocations() const {
  const auto on_host = [](const ricci_plan_library& call) { return (call.flags & RICCI_CALL_ON_HOST) != 0; };
  return !lowered_->checks.empty() || key_.profiled || std::ranges::any_of(lowered_->plan.libraries, on_host);
}

bool CompiledCode::ReportsSameLocations(const ir::Program& f) const {
  if (ReportsLocations()) return ir::EqualWithLocations(program(), f);
  return LocationsOfLoops(program()) == LocationsOfLoops(f);
}

absl::StatusOr<base::Ref<CompiledCode>> CompiledCode::Create(CompileKey key, std::unique_ptr<pass::Lowered> lowered,
                                                             const Progress& progress, std::string* to_save) {
  auto code = base::Ref<CompiledCode>::Adopt(new CompiledCode(std::move(key), std::move(lowered)));
  ricci_compile_args args{};
  args.save_self = to_save;
  args.save = to_save == nullptr ? nullptr : Append;
  RICCI_TRY(code->Generate(args, progress));
  RICCI_TRY(code->UploadConstants());
  code->stats_.transform_s = code->lowered_->transform_s;
  code->stats_.lower_s = code->lowered_->lower_s;
  return code;
}

absl::StatusOr<base::Ref<CompiledCode>> CompiledCode::CreateSaved(CompileKey key,
                                                                  std::unique_ptr<pass::Lowered> lowered,
                                                                  std::string_view machine_code) {
  auto code = base::Ref<CompiledCode>::Adopt(new CompiledCode(std::move(key), std::move(lowered)));
  code->is_saved_ = true;
  ricci_compile_args args{};
  args.saved = machine_code.data();
  args.saved_len = machine_code.size();
  RICCI_TRY(code->Generate(args, {}));
  RICCI_TRY(code->UploadConstants());
  return code;
}

// With the site of the source or kernel that the backend could not compile.
absl::Status CompiledCode::Refused(absl::Status status, const ricci_code_info& info) const {
  const uint32_t source = info.wrong_source - 1, kernel = info.wrong_kernel - 1;  // 0: none
  if (source < lowered_->sources.size()) return base::WithSite(status, lowered_->sources[source]->site);
  for (const ricci_plan_step& s : lowered_->plan.steps) {
    if (s.kind != RICCI_STEP_KERNEL || s.index != kernel) continue;
    const ir::Location& at = program().vocabulary()->GetLocation(static_cast<ir::LocationId>(s.location));
    return base::WithSite(status, {lowered_->kernels[kernel].name, "", at.file, at.line});
  }
  return status;
}

absl::Status CompiledCode::Generate(ricci_compile_args args, const Progress& progress) {
  const ricci_backend& backend = device()->backend;
  const auto start = std::chrono::steady_clock::now();
  ricci_code_info info{};
  info.hdr.size = sizeof info;
  args.hdr = {sizeof args, key_.profiled ? uint32_t{RICCI_COMPILE_PROFILED} : 0u, nullptr};
  args.kernels = kernels_.data();
  args.n_kernels = kernels_.size();
  args.opt_level = key_.opt_level;
  args.plan = &plan_;
  args.program = {program().name.data(), program().name.size()};
  Asked asked{progress};
  if (progress) args.go_on = Asked::GoOn, args.go_on_self = &asked;
  absl::Status made = CallBackend(backend, "compile", backend.compile, backend.self, &args, &code_, &info);
  if (!made.ok()) return Refused(std::move(made), info);
  stats_.hdr.size = sizeof stats_;
  stats_.codegen_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  stats_.code_bytes = info.code_bytes;
  stats_.arena_bytes = plan_.arena_bytes;
  stats_.scratch_bytes = info.scratch_bytes;
  stats_.constant_bytes = ConstantBytes(*lowered_);
  stats_.flops = lowered_->flops;
  stats_.kernels = kernels_.size();
  stats_.library_calls = plan_.n_libraries;
  stats_.steps = plan_.n_steps;
  if (info.scratch_bytes > uint64_t{RICCI_MAX_DIM}) {
    return absl::ResourceExhaustedError(base::Cat("compile: scratch of ", info.scratch_bytes, " bytes is too large"));
  }
  arena_bytes_ = device()->Aligned(plan_.arena_bytes) + device()->Aligned(info.scratch_bytes);
  return absl::OkStatus();
}

void CompiledCode::FreeIdleFrames() const {
  for (auto& slot : frames_) {
    if (RunFrame* frame = slot.exchange(nullptr, std::memory_order_acquire)) FreeFrame(frame);
  }
}

void CompiledCode::DropUser() const {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) FreeIdleFrames();
}

CompiledCode::~CompiledCode() {
  FreeIdleFrames();
  if (constant_block_ != nullptr) device()->Free(constant_block_, constant_block_bytes_, nullptr);
  if (code_ != nullptr) base::CallQuietly([&] { device()->backend.drop_code(code_); });
}

// ---- frames ----
absl::StatusOr<RunFrame*> CompiledCode::NewFrame(Stream* stream) const {
  const Device& on = *device();
  const uint32_t n_in = program().n_params(), n_out = program().n_results();
  const uint64_t head = on.Aligned(sizeof(RunFrame) + (n_in + 2 * uint64_t{n_out}) * sizeof(void*));
  const uint64_t block_bytes = head + (on.host_memory ? arena_bytes_ : 0);
  void* device_block = nullptr;
  if (on.host_memory) {
    RICCI_TRY(CountArena());
  } else {
    RICCI_ASSIGN(device_block, AllocateArena(stream));
  }
  absl::Cleanup undo = [&] {
    if (on.host_memory) return on.CountOut(arena_bytes_);
    on.Free(device_block, arena_bytes_ + on.alignment, stream);
  };
  RICCI_ASSIGN(char* const block, AllocateBlock(block_bytes));
  std::move(undo).Cancel();
  if (on.host_memory) on.CountMade(arena_bytes_);
  auto* frame = new (block) RunFrame{};
  frame->block_bytes = block_bytes;
  frame->device_block = device_block;
  frame->stream = StreamRef(stream);
  frame->code = this;
  frame->inputs = reinterpret_cast<void**>(block + sizeof(RunFrame));
  frame->outputs = frame->inputs + n_in;
  frame->results = reinterpret_cast<Array**>(frame->outputs + n_out);
  std::fill_n(frame->inputs, n_in + n_out, nullptr);
  std::fill_n(frame->results, n_out, nullptr);
  frame->args.hdr.size = sizeof frame->args;
  frame->args.inputs = frame->inputs;
  frame->args.outputs = frame->outputs;
  frame->args.constants = constants_.data();
  frame->args.libraries = plan_.libraries;
  char* const memory = on.host_memory ? block + head : static_cast<char*>(device_block);
  frame->args.arena = memory;
  frame->args.failed_check = on.host_memory ? &frame->failed_check : reinterpret_cast<uint32_t*>(memory + arena_bytes_);
  return frame;
}

void CompiledCode::FreeFrame(RunFrame* frame) const {
  const Device& on = *device();
  const size_t block_bytes = frame->block_bytes;
  if (frame->device_block != nullptr) {
    if (frame->last && frame->stream && !frame->stream->owned()) frame->last->Query().IgnoreError();
    bool unused = frame->last && frame->last->settled();
    if (!unused && frame->stream && !frame->stream->CheckUsable().ok()) {
      if (frame->last) frame->last->Await().IgnoreError();
      unused = true;
    }
    on.Free(frame->device_block, arena_bytes_ + on.alignment, unused ? nullptr : frame->stream.get());
  }
  if (on.host_memory) on.CountOut(arena_bytes_);
  frame->~RunFrame();
  on.context->memory()->Free(frame, block_bytes, on.alignment);
}

bool CompiledCode::MayUse(const RunFrame& frame, const Stream* stream) const {
  return frame.stream.get() == stream || (frame.last && frame.last->settled());
}

absl::StatusOr<RunFrame*> CompiledCode::TakeFrame(Stream* stream) const {
  for (auto& slot : frames_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    RunFrame* frame = slot.exchange(nullptr, std::memory_order_acquire);
    if (frame == nullptr) continue;
    if (MayUse(*frame, stream)) return frame;
    ReturnFrame(frame);
  }
  return NewFrame(stream);
}

void CompiledCode::ReturnFrame(RunFrame* frame) const {
  for (auto& slot : frames_) {
    RunFrame* empty = nullptr;
    if (slot.compare_exchange_strong(empty, frame, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  FreeFrame(frame);
}

// ---- runs ----
absl::StatusOr<EventRef> CompiledCode::Enqueue(RunFrame& frame, const StreamRef& stream,
                                               std::vector<EventRef> after) const {
  const ricci_backend& backend = device()->backend;
  RICCI_TRY(stream->Wait(frame.last.get()));
  const EventRef run = Event::OfRun(stream, base::Ref<const CompiledCode>(this), std::move(after));
  std::list<EventRef> kept{run};  // made now: once the run has been enqueued, nothing may fail
  device()->SettleSome();
  frame.args.stream = stream->native();
  void* native = nullptr;
  RICCI_TRY(base::CallForeign([&] { return FunctionName("enqueue"); },
                              [&] { return backend.enqueue(code_, &frame.args, Event::Done, run.get(), &native); }));
  run->Started(native);
  device()->Keep(kept);
  frame.stream = stream;
  frame.last = run;
  return run;
}

// The host gives no order between the last run and launches of its graph, so that run ends here.
absl::Status CompiledCode::Capture(RunFrame& frame, const Stream& stream) const {
  const ricci_backend& backend = device()->backend;
  constexpr uint32_t kNone = RICCI_NO_CHECK;  // until the first launch
  if (frame.last) RICCI_TRY(frame.last->Await());
  // Later, a graph may have left there what its event is to report.
  if (!frame.is_captured) {
    RICCI_TRY(device()->CopyTo(frame.args.failed_check, &kNone, sizeof kNone, nullptr));
  }
  frame.args.stream = stream.native();
  RICCI_TRY(
      base::CallForeign([&] { return FunctionName("capture"); }, [&] { return backend.capture(code_, &frame.args); }));
  frame.is_captured = true;
  return absl::OkStatus();
}

absl::Status CompiledCode::LastCheck(const RunFrame& frame) const {
  uint32_t check = RICCI_NO_CHECK;
  if (!lowered_->checks.empty()) {
    RICCI_TRY(device()->CopyFrom(&check, frame.args.failed_check, sizeof check, nullptr));
  }
  return CheckStatus(check);
}

absl::Status CompiledCode::CheckStatus(uint32_t check) const {
  if (check == RICCI_NO_CHECK) return absl::OkStatus();
  if (check < lowered_->checks.size()) return lowered_->checks[check];
  return absl::InternalError(base::Cat("device ", device()->Name(), ": reports the failure of check ", check,
                                       ", but program ", program().name, " has ", lowered_->checks.size()));
}

ricci_status* CompiledCode::FailedCheck(uint32_t check) const {
  return base::AtBorder([&] { return CheckStatus(check); });
}

std::string CompiledCode::FunctionName(std::string_view function) const {
  return base::Cat(NameOfFunction(device()->backend, function), " of program ", program().name);
}

ricci_status* CompiledCode::RunThrew() const {
  return base::AtBorder([&] { return base::Thrown(FunctionName("run")); });
}

ricci_status* CompiledCode::RunFailed(ricci_status* status) const {
  ricci_str message{};
  ricci_status_message(status, &message);
  if (message.len != 0) return status;
  return base::AtBorder([&] { return base::WithMessage(base::FromAbi(status), FunctionName("run")); });
}

}}}  // namespace ricci::v0::runtime
