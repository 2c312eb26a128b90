// What a plan needs working memory for, for the message when there is not enough.
#include <algorithm>
#include <new>

#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr size_t kMostNamed = 3;

// By buffer: 1 + the first step that writes it; 0: none does.
std::vector<uint32_t> FirstWriters(const ricci_plan& plan, const ricci_kernel_table* const* kernels) {
  std::vector<uint32_t> writers(plan.n_buffers);
  for (uint32_t s = plan.n_steps; s-- > 0;) {
    const ricci_plan_step& step = plan.steps[s];
    for (uint32_t i = 0; i < step.n_args; ++i) {
      if ((kernel::StepAccess(plan, kernels, step, i) & RICCI_ACCESS_WRITE) != 0)
        writers[plan.args[step.args + i]] = s + 1;
    }
  }
  return writers;
}

}  // namespace

std::string CompiledCode::LargestBuffers() const {
  const std::vector<uint32_t> writers = FirstWriters(plan_, kernels_.data());
  std::vector<uint32_t> of_arena;
  for (uint32_t b = 0; b < plan_.n_buffers; ++b) {
    if (plan_.buffers[b].kind == RICCI_BUFFER_ARENA && writers[b] != 0) of_arena.push_back(b);
  }
  std::stable_sort(of_arena.begin(), of_arena.end(),
                   [&](uint32_t a, uint32_t b) { return plan_.buffers[a].bytes > plan_.buffers[b].bytes; });
  of_arena.resize(std::min(of_arena.size(), kMostNamed));
  std::string text;
  for (const uint32_t b : of_arena) {
    const ricci_plan_step& step = plan_.steps[writers[b] - 1];
    const ir::Location& at = program().vocabulary()->GetLocation(static_cast<ir::LocationId>(step.location));
    text += base::Cat(text.empty() ? "" : ", ", plan_.buffers[b].bytes, " of ", StepName(step));
    if (at.line != 0) text += base::Cat(" (", at.file, ":", at.line, ")");
  }
  return text;
}

absl::Status CompiledCode::WithLargestBuffers(absl::Status status, uint64_t bytes) const {
  if (!absl::IsResourceExhausted(status)) return status;
  const std::string largest = LargestBuffers();
  const std::string text = base::Cat(status.message(), "; program ", program().name, " needs ", bytes,
                                     " bytes of working memory", largest.empty() ? "" : ", the largest: ", largest);
  return base::WithSite(absl::ResourceExhaustedError(text), base::SiteOf(status));
}

absl::StatusOr<void*> CompiledCode::AllocateArena(const Stream* stream) const {
  const uint64_t bytes = arena_bytes_ + device()->alignment;
  absl::StatusOr<void*> made = device()->Allocate(bytes, stream);
  if (made.ok()) return made;
  return WithLargestBuffers(made.status(), bytes);
}

// A small block is not what the memory ran out for, and there may be none for a message.
absl::StatusOr<char*> CompiledCode::AllocateBlock(uint64_t bytes) const {
  constexpr uint64_t kLarge = 1 << 20;
  try {
    return static_cast<char*>(device()->context->memory()->Allocate(bytes, device()->alignment));
  } catch (const std::bad_alloc&) {
    if (bytes < kLarge) throw;
    const absl::Status none = absl::ResourceExhaustedError(base::Cat("device ", device()->Name(), ": out of memory"));
    return WithLargestBuffers(none, arena_bytes_);
  }
}

absl::Status CompiledCode::CountArena() const {
  return WithLargestBuffers(device()->CountIn(arena_bytes_), arena_bytes_);
}

}}}  // namespace ricci::v0::runtime
