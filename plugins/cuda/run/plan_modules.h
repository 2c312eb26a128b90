// PlanModules: the machine code of a plan: its kernels in modules of 16, so that they are compiled at the same time,
// and each text of sources in one of its own, where its names cannot meet those of others.
//
// Each module has the functions that it calls, so its code is the same on any number of threads. Dumps show all kernels
// as one text. Sources with one text, as the launches of one primitive have, are one module.
//
// If NVRTC refuses a module of kernels, these are compiled alone to find the wrong one. The message has its name and
// the location of its equation. What NVRTC says of a SOURCE lowering names the plugin's file and line, if the plugin
// gives them (ricci_source.file).
#ifndef RICCI_CUDA_PLAN_MODULES_H_
#define RICCI_CUDA_PLAN_MODULES_H_
#include <string>
#include <vector>

#include "cuda/driver/module_compiler.h"
#include "cuda/print/kernel_text.h"

namespace ricci::cuda {

// The name of the function of kernel `i`.
std::string KernelName(const ricci_kernel_table& k, uint32_t i);
// The kernels of a program, without the functions that they call and without locations; else as PrintModule.
std::string PrintKernels(const ricci_compile_args& a, const TextTarget& target, std::vector<Launch>& launches,
                         std::string& error);
// The text of all kernels of a program, and how each is launched; empty, with `error`, if one cannot be printed. With
// `ctx` it has the lines of its locations.
std::string PrintModule(const ricci_compile_args& a, const TextTarget& target, std::vector<Launch>& launches,
                        std::string& error, const ricci_ctx* ctx = nullptr);

struct PlanModules {
  std::vector<Module> modules;       // of kernels, then of the texts of sources
  std::vector<Launch> launches;      // by kernel
  std::vector<uint32_t> of_sources;  // by source: its module; launches of one primitive often have one text

  // Few enough that some modules are compiled at once, enough that what they share is not compiled often.
  static constexpr uint32_t kKernels = 16;
  Module& OfKernel(uint32_t i) { return modules[i / kKernels]; }
  Module& OfSource(uint32_t i) { return modules[of_sources[i]]; }
};
// Names in `info` what is refused.
ricci_status* CompilePlan(const ModuleCompiler& compiler, const ricci_compile_args& a, PlanModules& out,
                          ricci_code_info& info);

}  // namespace ricci::cuda
#endif
