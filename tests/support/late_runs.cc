#include "support/late_runs.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/status.h"
#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci::testing {

// ---- code ----
absl::StatusOr<std::shared_ptr<LateCode>> LateCode::Create(const ricci_compile_args& a, uint64_t scratch_bytes) {
  RICCI_TRY(kernel::Verify(*a.plan, a.kernels, a.n_kernels));
  auto code = std::make_shared<LateCode>();
  code->plan_ = a.plan;
  code->kernels_.assign(a.kernels, a.kernels + a.n_kernels);
  code->scratch_bytes_ = scratch_bytes;
  code->FindBlocks();
  code->FindBytes();
  return code;
}

void LateCode::FindBlocks() {
  std::vector<uint32_t> block_of(plan_->n_steps);
  const kernel::MatchedBlocks matched(std::span(plan_->steps, plan_->n_steps));
  for (uint32_t s = 0; s < plan_->n_steps; ++s) {
    if (matched.Outermost(s)) blocks_.push_back({s, matched[s].end + 1});
    block_of[s] = static_cast<uint32_t>(blocks_.size() - 1);
  }
  for (const kernel::PlanEdge& e : kernel::PlanEdges(*plan_, kernels_.data())) {
    blocks_[block_of[e.earlier]].waiting.push_back(block_of[e.later]);
    ++blocks_[block_of[e.later]].n_waits;
  }
}

void LateCode::FindBytes() {
  input_bytes_.resize(plan_->n_inputs);
  output_bytes_.resize(plan_->n_outputs);
  constant_bytes_.resize(plan_->n_constants);
  for (uint32_t i = 0; i < plan_->n_buffers; ++i) {
    const ricci_plan_buffer& b = plan_->buffers[i];
    if (b.kind == RICCI_BUFFER_ARENA) continue;
    auto& bytes = b.kind == RICCI_BUFFER_INPUT    ? input_bytes_
                  : b.kind == RICCI_BUFFER_OUTPUT ? output_bytes_
                                                  : constant_bytes_;
    bytes[b.index] = std::max(bytes[b.index], b.bytes);
  }
}

uint64_t LateCode::arena_bytes() const {
  constexpr uint64_t kAlignment = LateMemory::kAlignment;
  return (plan_->arena_bytes + kAlignment - 1) / kAlignment * kAlignment + scratch_bytes_;
}

std::vector<ricci_plan_step> LateCode::Shuffled(uint64_t seed) const {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> waits, ready;
  for (const Block& b : blocks_) waits.push_back(b.n_waits);
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    if (waits[b] == 0) ready.push_back(b);
  }
  std::vector<ricci_plan_step> steps;
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const Block& block = blocks_[ready.back()];
    ready.pop_back();
    steps.insert(steps.end(), plan_->steps + block.begin, plan_->steps + block.end);
    for (uint32_t b : block.waiting) {
      if (--waits[b] == 0) ready.push_back(b);
    }
  }
  return steps;
}

absl::Status LateCode::Run(const ricci_run_args& a, uint64_t seed) const {
  const std::vector<ricci_plan_step> steps = Shuffled(seed);
  RICCI_TRY(base::Invariant(steps.size() == plan_->n_steps, "late: the order of steps has a cycle"));
  ricci_plan plan = *plan_;
  plan.steps = steps.data();
  return kernel::Interpret(plan, kernels_.data(), static_cast<uint32_t>(kernels_.size()), a);
}

// ---- one run ----
LateRun::LateRun(LateMemory& memory, std::shared_ptr<LateCode> code, const ricci_run_args& a, uint64_t seed)
    : memory_(memory), code_(std::move(code)), seed_(seed), args_(a) {
  const ricci_plan& p = code_->plan();
  if (p.n_inputs != 0) inputs_.assign(a.inputs, a.inputs + p.n_inputs);
  if (p.n_outputs != 0) outputs_.assign(a.outputs, a.outputs + p.n_outputs);
  if (p.n_constants != 0) constants_.assign(a.constants, a.constants + p.n_constants);
  if (p.n_libraries != 0) libraries_.assign(a.libraries, a.libraries + p.n_libraries);
}

std::vector<LateAccess> LateRun::Accesses() const {
  std::vector<LateAccess> all;
  const auto add = [&](const void* p, uint64_t bytes, bool writes) { all.push_back({p, bytes, writes}); };
  for (size_t i = 0; i < inputs_.size(); ++i) add(inputs_[i], code_->input_bytes()[i], false);
  for (size_t i = 0; i < outputs_.size(); ++i) add(outputs_[i], code_->output_bytes()[i], true);
  for (size_t i = 0; i < constants_.size(); ++i) add(constants_[i], code_->constant_bytes()[i], false);
  add(args_.arena, code_->arena_bytes(), true);
  add(args_.failed_check, args_.failed_check == nullptr ? 0 : sizeof(uint32_t), true);
  return all;
}

// Written arrays overlap nothing else, except an output that takes the memory of an input as the plan says.
absl::Status LateRun::CheckApart() const {
  const std::vector<LateAccess> all = Accesses();
  const size_t n_in = inputs_.size(), n_out = outputs_.size(), n_constants = constants_.size();
  const auto name = [&](size_t i) -> std::string {
    if (i < n_in) return base::Cat("input ", i);
    if (i < n_in + n_out) return base::Cat("output ", i - n_in);
    if (i < n_in + n_out + n_constants) return base::Cat("constant ", i - n_in - n_out);
    return i + 1 == all.size() ? "the word of failed checks" : "the arena";
  };
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (!Conflict(all[a], all[b])) continue;
      const bool may = a < n_in && b >= n_in && b < n_in + n_out && all[a].begin == all[b].begin &&
                       code_->MayTake(static_cast<uint32_t>(b - n_in), static_cast<uint32_t>(a));
      if (!may) return absl::InternalError(base::Cat("late: ", name(b), " overlaps ", name(a)));
    }
  }
  return absl::OkStatus();
}

absl::Status LateRun::Find(Found& found) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    RICCI_ASSIGN(Bytes b, memory_.FindToRead(inputs_[i], code_->input_bytes()[i], base::Cat("input ", i)));
    found.inputs.push_back(std::move(b));
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    RICCI_ASSIGN(Bytes b, memory_.FindToRead(constants_[i], code_->constant_bytes()[i], base::Cat("constant ", i)));
    found.constants.push_back(std::move(b));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    RICCI_ASSIGN(Bytes b, memory_.Find(outputs_[i], code_->output_bytes()[i], base::Cat("output ", i)));
    found.outputs.push_back(std::move(b));
  }
  if (reinterpret_cast<uintptr_t>(args_.arena) % LateMemory::kAlignment != 0) {
    return absl::InternalError(base::Cat("late: the arena is not aligned to ", LateMemory::kAlignment, " bytes"));
  }
  RICCI_ASSIGN(found.arena, memory_.Find(args_.arena, code_->arena_bytes(), "the arena"));
  const uint64_t word = args_.failed_check == nullptr ? 0 : sizeof(uint32_t);
  RICCI_ASSIGN(found.word, memory_.Find(args_.failed_check, word, "the word of failed checks"));
  return CheckApart();
}

// The initial contents of results and arena must not matter; a result in the memory of an argument holds that argument.
void LateRun::Poison(const Found& found) const {
  if (found.arena.data != nullptr) std::memset(found.arena.data, LateMemory::kPoison, code_->arena_bytes());
  for (size_t i = 0; i < found.outputs.size(); ++i) {
    char* const p = found.outputs[i].data;
    const auto takes = [&](const Bytes& input) { return input.data == p; };
    if (p == nullptr || std::any_of(found.inputs.begin(), found.inputs.end(), takes)) continue;
    std::memset(p, LateMemory::kPoison, code_->output_bytes()[i]);
  }
}

absl::Status LateRun::Run(absl::Status failure) {
  Found found;
  RICCI_TRY(Find(found));
  Poison(found);
  for (void* p : outputs_) memory_.SetFailure(p, absl::OkStatus());
  return failure.ok() ? RunOn(found) : failure;
}

absl::Status LateRun::RunOn(const Found& found) {
  static char nothing[LateMemory::kAlignment];  // the address of arrays of no bytes
  const auto data = [&](const Bytes& b) -> void* { return b.data != nullptr ? b.data : nothing; };
  std::vector<void*> inputs, outputs;
  std::vector<const void*> constants;
  for (const Bytes& b : found.inputs) inputs.push_back(data(b));
  for (const Bytes& b : found.outputs) outputs.push_back(data(b));
  for (const Bytes& b : found.constants) constants.push_back(data(b));
  ricci_run_args a = args_;
  a.inputs = inputs.data();
  a.outputs = outputs.data();
  a.constants = constants.data();
  a.libraries = libraries_.data();
  a.arena = data(found.arena);
  a.stream = nullptr;
  a.failed_check = found.word.data != nullptr ? reinterpret_cast<uint32_t*>(found.word.data) : &failed_check_;
  *a.failed_check = RICCI_NO_CHECK;
  absl::Status status = code_->Run(a, seed_);
  failed_check_ = *a.failed_check;
  return status;
}

}  // namespace ricci::testing
