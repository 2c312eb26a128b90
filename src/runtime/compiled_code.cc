#include "runtime/compiled_code.h"

#include <chrono>

#include "base/hash.h"
#include "base/status_abi.h"
#include "ir/print.h"
#include "ricci/exact.h"

namespace ricci::inline v0::runtime {
namespace {

constexpr uint64_t kAlign = 64;
constexpr uint64_t RoundUp(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

uint64_t ConstantBytes(const pass::Lowered& l) {
  uint64_t bytes = 0;
  for (const auto& c : l.constants) bytes += c->bytes.size();
  return bytes;
}

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

// `text`: takes how each kernel would run, if it is not NULL.
absl::StatusOr<pass::Estimate> EstimateOn(const ricci_backend& backend, const pass::Lowered& lowered,
                                          std::string* text) {
  const kernel::KernelViews kernels(lowered.kernels);
  const ricci_plan plan = lowered.plan.View();
  ricci_estimate out{};
  out.hdr.size = sizeof out;
  out.sink = text;
  out.write = text == nullptr ? nullptr : Append;
  RICCI_TRY(base::FromAbi(backend.estimate(backend.self, kernels.data(), kernels.size(), &plan, &out)));
  return pass::Estimate{out.cycles, out.code};
}

}  // namespace

CompileKey CompileKey::Make(ir::ProgramRef program, Device* device, uint32_t opt_level, VmapOption vmap,
                            pass::StageSet stages, std::vector<uint8_t> donate) {
  base::Hasher h;
  h.Add(ir::Hash(*program)).Add(program->name).Add(device->kind).Add(static_cast<uint64_t>(device->ordinal));
  h.Add(opt_level).Add(static_cast<uint64_t>(vmap)).Add(stages);
  for (uint8_t d : donate) h.Add(d);
  return {std::move(program), device, opt_level, vmap, stages, std::move(donate), h.Done()};
}

pass::Options CompileKey::PassOptions() const {
  constexpr pass::VmapMode kVmapModes[] = {pass::VmapMode::kAuto, pass::VmapMode::kBatched, pass::VmapMode::kLanes};
  pass::Options options;
  options.target = device->target;
  options.reference = device->reference;
  options.vmap = kVmapModes[static_cast<size_t>(vmap)];
  options.donate = donate;
  options.stages = stages;
  if (device->backend.estimate != nullptr) {
    options.estimate = [device = device](const pass::Lowered& l) { return EstimateOn(device->backend, l, nullptr); };
  }
  return options;
}

bool CompileKey::operator==(const CompileKey& o) const {
  return hash == o.hash && device == o.device && opt_level == o.opt_level && vmap == o.vmap && stages == o.stages &&
         donate == o.donate && program->name == o.program->name && ir::Equal(*program, *o.program);
}

CompiledCode::CompiledCode(CompileKey key, std::unique_ptr<pass::Lowered> lowered)
    : key_(std::move(key)), lowered_(std::move(lowered)), kernels_(lowered_->kernels), plan_(lowered_->plan.View()) {
  if (!lowered_->output_alias.empty()) plan_.output_alias = lowered_->output_alias.data();
  for (const auto& constant : lowered_->constants) constants_.push_back(constant->bytes.data());
}

absl::StatusOr<base::Ref<CompiledCode>> CompiledCode::Create(CompileKey key, std::unique_ptr<pass::Lowered> lowered) {
  auto code = base::Ref<CompiledCode>::Adopt(new CompiledCode(std::move(key), std::move(lowered)));
  RICCI_TRY(code->Generate());
  return code;
}

absl::Status CompiledCode::Generate() {
  const ricci_backend& backend = device()->backend;
  const auto start = std::chrono::steady_clock::now();
  ricci_code_info info{};
  info.hdr.size = sizeof info;
  ricci_compile_args args{};
  args.hdr.size = sizeof args;
  args.kernels = kernels_.data();
  args.n_kernels = kernels_.size();
  args.opt_level = key_.opt_level;
  args.plan = &plan_;
  RICCI_TRY(base::FromAbi(backend.compile(backend.self, &args, &code_, &info)));
  stats_.hdr.size = sizeof stats_;
  stats_.transform_s = lowered_->transform_s;
  stats_.lower_s = lowered_->lower_s;
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
  arena_bytes_ = RoundUp(plan_.arena_bytes) + RoundUp(info.scratch_bytes);
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
  if (code_ != nullptr) device()->backend.drop_code(code_);
}

RunFrame* CompiledCode::NewFrame() const {
  const uint32_t n_in = program().n_params(), n_out = program().n_results();
  const uint64_t head = RoundUp(sizeof(RunFrame) + (n_in + 2 * uint64_t{n_out}) * sizeof(void*));
  char* block = static_cast<char*>(device()->context->memory()->Allocate(head + arena_bytes_, kAlign));
  auto* frame = new (block) RunFrame{};
  frame->block_bytes = head + arena_bytes_;
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
  frame->args.arena = block + head;
  frame->args.failed_check = &frame->failed_check;
  return frame;
}

void CompiledCode::FreeFrame(RunFrame* frame) const {
  device()->context->memory()->Free(frame, frame->block_bytes, kAlign);
}

RunFrame* CompiledCode::TakeFrame() const {
  for (auto& slot : frames_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (RunFrame* frame = slot.exchange(nullptr, std::memory_order_acquire)) return frame;
  }
  return NewFrame();
}

void CompiledCode::ReturnFrame(RunFrame* frame) const {
  for (auto& slot : frames_) {
    RunFrame* empty = nullptr;
    if (slot.compare_exchange_strong(empty, frame, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  FreeFrame(frame);
}

ricci_status* CompiledCode::CheckStatus(uint32_t check) const {
  return base::AtBorder([&] {
    if (check < lowered_->checks.size()) return lowered_->checks[check];
    return absl::InternalError(base::Cat("device ", device()->kind, ": reports the failure of check ", check,
                                         ", but program ", program().name, " has ", lowered_->checks.size()));
  });
}

absl::StatusOr<std::string> CompiledCode::Dump(std::string_view stage) const {
  if (stage == "program") return ir::Print(program());
  if (stage == "optimized") return ir::Print(*lowered_->optimized);
  if (stage == "plan") return kernel::ToText(plan_, kernels_.data(), kernels_.size());
  if (stage == "decisions") return DumpDecisions();
  if (stage == "native") return DumpNative();
  if (stage != "kernels") return DumpPass(stage);
  std::string text;
  for (const kernel::Kernel& k : lowered_->kernels) text += kernel::ToText(k) + "\n";
  return text;
}

absl::StatusOr<std::string> CompiledCode::DumpDecisions() const {
  std::string text;
  for (const std::string& decision : lowered_->decisions) text += decision;
  if (device()->reference) return text + "device " + device()->kind + " interprets: nothing is scheduled\n";
  if (device()->backend.estimate == nullptr) return text + "device " + device()->kind + " does not estimate kernels\n";
  RICCI_ASSIGN(const pass::Estimate estimate, EstimateOn(device()->backend, *lowered_, &text));
  absl::StrAppendFormat(&text, "in all about %.0f cycles of one thread\n", estimate.cycles);
  return text;
}

absl::StatusOr<std::string> CompiledCode::DumpPass(std::string_view pass) const {
  const auto known = pass::StageNames();
  if (std::find(known.begin(), known.end(), pass) == known.end()) {
    std::string names;
    for (std::string_view name : known) names += base::Cat(names.empty() ? "" : ", ", name);
    return base::InvalidArgument("dump: unknown stage ", pass,
                                 "; known: program, optimized, decisions, kernels, plan, native, and the passes ",
                                 names);
  }
  auto text = pass::TextAfter(program(), key_.PassOptions(), pass);
  if (!absl::IsNotFound(text.status())) return text;
  return base::InvalidArgument("dump: pass ", pass, " does not run ",
                               device()->reference ? "on device " : "with the passes chosen for program ",
                               device()->reference ? device()->kind : program().name);
}

absl::StatusOr<std::string> CompiledCode::DumpNative() const {
  const ricci_backend& backend = device()->backend;
  if (backend.dump == nullptr) {
    return absl::UnimplementedError(base::Cat("dump: device ", device()->kind, " has no native form"));
  }
  std::string text;
  RICCI_TRY(base::FromAbi(backend.dump(code_, &text, Append)));
  return text;
}

}  // namespace ricci::inline v0::runtime
