// ModuleCompiler: texts become machine code for one architecture, unless the host has kept it since an earlier time.
//
// Several are compiled at once, on the host's executor, else on threads of the compilation's own (the option
// `threads`). The host may cancel before each of them.
//
// With a cache (ricci/cache.h) a second process needs NVRTC for nothing but its version. An image is found by its text,
// the options with the architecture, the version of NVRTC, and kVersion of module_compiler.cc. One that the driver
// refuses is made again. Times for sm_90, without and with a cache: elementwise operations and row sums 369 and 0.6 ms;
// 21 sums in a row 1641 and 1.4 ms; the gradient of 12 layers 947 and 1.3 ms.
//
// `opt_level` 1 compiles with `--Ofast-compile=mid` (NVRTC 13 and later): the first of these programs takes 0.074 s of
// a processor instead of 0.110.
#ifndef RICCI_CUDA_MODULE_COMPILER_H_
#define RICCI_CUDA_MODULE_COMPILER_H_
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "codegen/kept_code.h"
#include "cuda/driver/driver.h"
#include "cuda/driver/text_target.h"
#include "ricci/backend.h"

namespace ricci::cuda {

struct Module {
  std::string text;
  std::string image = {};  // machine code; empty: the text was refused, or nothing was made since the host gave up
  std::string error = {};  // what NVRTC says of a text that it refuses
  bool kept = false;       // the image comes from the host's cache
  bool refused = false;    // without an image: the text is wrong for NVRTC, rather than that NVRTC has failed
};

class ModuleCompiler {
 public:
  ModuleCompiler(std::shared_ptr<const Compiler> compiler, std::string architecture, int64_t least_trips_of_pairs,
                 ricci_ctx* ctx)
      : compiler_(std::move(compiler)),
        architecture_(std::move(architecture)),
        target_(TargetOf(architecture_, least_trips_of_pairs)),
        ctx_(ctx),
        hooks_(ricci_context_hooks(ctx)),
        kept_(ctx) {}

  const Compiler& nvrtc() const { return *compiler_; }
  const ricci_ctx* ctx() const { return ctx_; }
  const std::string& architecture() const { return architecture_; }
  const TextTarget& target() const { return target_; }
  // Of one compilation, where the host has no executor; 0: as many as there are processors.
  void SetThreads(uint32_t threads) { threads_ = threads; }

  // Makes the images, several at once: on the host's executor, else on threads of its own. What they are does not
  // depend on threads. False if the host wants no more code (a.go_on).
  bool Compile(std::span<Module> modules, const ricci_compile_args& a) const;
  // Compiles again, and the host keeps the result again: for an image that was kept and is of no use.
  void CompileAgain(Module& m, uint32_t opt_level) const;
  // The image is PTX for all GPUs, whose calls of functions that the text does not have the driver links; see
  // conditions.h. `again`: as above.
  void MakePtx(Module& m, bool again) const;

 private:
  codegen::CodeKey KeyOf(const Module& m, const NvrtcOptions& options) const;
  NvrtcOptions OptionsFor(uint32_t opt_level) const;
  void Make(Module& m, uint32_t opt_level, bool again) const;
  template <typename Made>
  void MakeKept(Module& m, const NvrtcOptions& options, bool again, const Made& made) const;
  void InParallel(int64_t n, void (*fn)(void* arg, int64_t i), void* arg) const;

  const std::shared_ptr<const Compiler> compiler_;
  const std::string architecture_;
  const TextTarget target_;
  const ricci_ctx* const ctx_;
  const ricci_hooks* const hooks_;
  const codegen::KeptCode kept_;
  std::atomic<uint32_t> threads_{0};
};

}  // namespace ricci::cuda
#endif
