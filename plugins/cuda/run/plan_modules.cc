#include "cuda/run/plan_modules.h"

#include <algorithm>
#include <map>

#include "cuda/driver/gpu.h"
#include "cuda/print/source_lines.h"

namespace ricci::cuda {
namespace {

// By kernel and by buffer of it: whether all steps give it memory of the arena, which is aligned.
std::vector<std::vector<uint8_t>> InArena(const ricci_compile_args& a) {
  std::vector<std::vector<uint8_t>> out;
  for (uint32_t i = 0; i < a.n_kernels; ++i) out.emplace_back(a.kernels[i]->n_buffers, 1);
  for (uint32_t s = 0; s < a.plan->n_steps; ++s) {
    const ricci_plan_step& step = a.plan->steps[s];
    if (step.kind != RICCI_STEP_KERNEL) continue;
    std::vector<uint8_t>& of_kernel = out[step.index];
    for (uint32_t b = 0; b < of_kernel.size(); ++b) {
      const ricci_plan_buffer& buffer = a.plan->buffers[a.plan->args[step.args + b]];
      if (buffer.kind != RICCI_BUFFER_ARENA || buffer.offset % kArenaAlignment != 0) of_kernel[b] = 0;
    }
  }
  return out;
}

// The kernels of a program, and what their texts depend on besides themselves.
struct Kernels {
  Kernels(const ricci_compile_args& a, const TextTarget& target) : a(a), target(target), in_arena(InArena(a)) {}

  const ricci_compile_args& a;
  const TextTarget target;
  const std::vector<std::vector<uint8_t>> in_arena;
};

// Kernels `first` to `last` - 1; `device` gets what they call.
bool PrintTo(const Kernels& all, uint32_t first, uint32_t last, const LineOf& line_of, DeviceText& device,
             std::vector<Launch>& launches, std::string& kernels, std::string& error) {
  for (uint32_t i = first; i < last; ++i) {
    const ricci_kernel_table& k = *all.a.kernels[i];
    if (!PrintKernel(k, KernelName(k, i), all.target, all.in_arena[i], line_of, device, kernels, launches[i], error))
      return false;
  }
  return true;
}

// The same as one text.
bool PrintText(const Kernels& all, uint32_t first, uint32_t last, const ricci_ctx* ctx, std::vector<Launch>& launches,
               std::string& text, std::string& error) {
  const LineOf line_of = [ctx](uint64_t location) { return LineDirective(ctx, location); };
  DeviceText device;
  std::string kernels;
  if (!PrintTo(all, first, last, line_of, device, launches, kernels, error)) return false;
  text = device.Text() + kernels;
  return true;
}

// At the plugin's own lines, if it says where they are.
std::string TextOf(const ricci_plan_source& s) {
  const std::string directive = LineDirective({s.file.ptr, s.file.len}, s.line);
  return (directive.empty() ? "" : directive + "\n") + std::string(s.text.ptr, s.text.len);
}

ricci_status* PrintModules(const ModuleCompiler& compiler, const ricci_compile_args& a, PlanModules& out) {
  const Kernels all(a, compiler.target());
  std::string error;
  out.launches.resize(a.n_kernels);
  for (uint32_t i = 0; i < a.n_kernels; i += PlanModules::kKernels) {
    const uint32_t last = std::min(a.n_kernels, i + PlanModules::kKernels);
    std::string text;
    if (!PrintText(all, i, last, compiler.ctx(), out.launches, text, error)) {
      return ricci_status_make(RICCI_UNIMPLEMENTED, error.data(), error.size());
    }
    out.modules.push_back({WithLineOfEach(text)});
  }
  std::map<std::string, uint32_t> modules;
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    const auto [known, is_new] = modules.emplace(TextOf(a.plan->sources[i]), out.modules.size());
    if (is_new) out.modules.push_back({known->first});
    out.of_sources.push_back(known->second);
  }
  return nullptr;
}

ricci_status* CheckLaunch(const ricci_plan_source& s) {
  constexpr int64_t kMostBlocks[] = {INT32_MAX, 65535, 65535}, kMostThreads[] = {1024, 1024, 64};
  for (int d = 0; d < 3; ++d) {
    if (s.grid[d] <= kMostBlocks[d] && s.block[d] <= kMostThreads[d]) continue;
    return Fail(RICCI_INVALID_ARGUMENT, "dimension " + std::to_string(d) + " of its launch has " +
                                            std::to_string(s.grid[d]) + " blocks of " + std::to_string(s.block[d]) +
                                            " threads; there are " + std::to_string(kMostBlocks[d]) + " of " +
                                            std::to_string(kMostThreads[d]) + " at most");
  }
  return nullptr;
}

// A module of several kernels was refused with `error`: the first kernel that is refused alone, with what is said then.
uint32_t WrongKernel(const ModuleCompiler& compiler, const ricci_compile_args& a, uint32_t first, std::string& error) {
  const uint32_t last = std::min(a.n_kernels, first + PlanModules::kKernels);
  const Kernels all(a, compiler.target());
  std::vector<Launch> launches(a.n_kernels);
  for (uint32_t i = first; i < last && last - first > 1; ++i) {
    Module alone;
    std::string not_printed;
    if (!PrintText(all, i, i + 1, compiler.ctx(), launches, alone.text, not_printed)) continue;
    alone.text = WithLineOfEach(alone.text);
    compiler.Compile({&alone, 1}, a);
    if (!alone.image.empty() || alone.error.empty()) continue;
    error = alone.error;
    return i;
  }
  return first;
}

ricci_status* RefusedKernel(const ModuleCompiler& compiler, const ricci_compile_args& a, uint32_t module,
                            std::string error, ricci_code_info& info) {
  const uint32_t i = WrongKernel(compiler, a, module * PlanModules::kKernels, error);
  info.wrong_kernel = i + 1;
  return Fail(RICCI_INTERNAL, "kernel " + KernelName(*a.kernels[i], i) + ": " + error);
}

}  // namespace

std::string KernelName(const ricci_kernel_table& k, uint32_t i) {
  std::string name = "k" + std::to_string(i) + "_";
  for (size_t c = 0; c < k.name.len && c < 40; ++c) {
    const char letter = k.name.ptr[c];
    const bool plain =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    name += plain ? letter : '_';
  }
  return name;
}

std::string PrintKernels(const ricci_compile_args& a, const TextTarget& target, std::vector<Launch>& launches,
                         std::string& error) {
  const LineOf no_lines = [](uint64_t) { return std::string(); };
  DeviceText device;
  std::string kernels;
  launches.resize(a.n_kernels);
  return PrintTo(Kernels(a, target), 0, a.n_kernels, no_lines, device, launches, kernels, error) ? kernels
                                                                                                 : std::string();
}

std::string PrintModule(const ricci_compile_args& a, const TextTarget& target, std::vector<Launch>& launches,
                        std::string& error, const ricci_ctx* ctx) {
  std::string text;
  launches.resize(a.n_kernels);
  return PrintText(Kernels(a, target), 0, a.n_kernels, ctx, launches, text, error) ? text : std::string();
}

ricci_status* CompilePlan(const ModuleCompiler& compiler, const ricci_compile_args& a, PlanModules& out,
                          ricci_code_info& info) {
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    info.wrong_source = i + 1;
    if (ricci_status* failed = CheckLaunch(a.plan->sources[i])) return failed;
  }
  info.wrong_source = 0;
  if (ricci_status* failed = PrintModules(compiler, a, out)) return failed;
  if (!compiler.Compile(out.modules, a)) return Fail(RICCI_CANCELLED, "compilation cancelled by the host");
  const uint32_t of_kernels = (a.n_kernels + PlanModules::kKernels - 1) / PlanModules::kKernels;
  for (uint32_t m = 0; m < out.modules.size(); ++m) {
    if (!out.modules[m].image.empty()) continue;
    const std::string& error = out.modules[m].error;
    if (m < of_kernels) return RefusedKernel(compiler, a, m, error, info);
    const auto first = std::find(out.of_sources.begin(), out.of_sources.end(), m);
    info.wrong_source = static_cast<uint32_t>(first - out.of_sources.begin()) + 1;
    return Fail(RICCI_INVALID_ARGUMENT, error);
  }
  return nullptr;
}

}  // namespace ricci::cuda
