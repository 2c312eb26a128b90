#include "cuda/driver/module_compiler.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

namespace ricci::cuda {
namespace {

// Of what this plugin does with an image. Raised when images of before are of no use, though their texts are the same.
constexpr const char* kVersion = "cuda 1";

}  // namespace

NvrtcOptions ModuleCompiler::OptionsFor(uint32_t opt_level) const {
  return {architecture_, opt_level <= 1 && compiler_->HasQuick()};
}

codegen::CodeKey ModuleCompiler::KeyOf(const Module& m, const NvrtcOptions& options) const {
  codegen::CodeKey key;
  key.Add(kVersion).Add(compiler_->Version());
  for (const std::string& option : options.Texts()) key.Add(option);
  return key.Add(m.text);
}

// `made` compiles the text.
template <typename Made>
void ModuleCompiler::MakeKept(Module& m, const NvrtcOptions& options, bool again, const Made& made) const {
  m.image.clear();
  m.kept = false;
  if (!kept_.is_on()) {
    m.image = made();
    return;
  }
  const codegen::CodeKey key = KeyOf(m, options);
  if (!again) m.image = kept_.Load(key);
  m.kept = !m.image.empty();
  if (m.kept) return;
  m.image = made();
  if (!m.image.empty()) kept_.Store(key, m.image);
}

void ModuleCompiler::Make(Module& m, uint32_t opt_level, bool again) const {
  const NvrtcOptions options = OptionsFor(opt_level);
  MakeKept(m, options, again, [&] { return compiler_->Compile(m.text, options, m.error); });
}

void ModuleCompiler::MakePtx(Module& m, bool again) const {
  const NvrtcOptions options{.architecture = "compute_" + std::to_string(compiler_->OldestArchitecture()),
                             .unlinked = true};
  MakeKept(m, options, again, [&] { return compiler_->CompileToPtx(m.text, options, m.error, &m.refused); });
}

void ModuleCompiler::CompileAgain(Module& m, uint32_t opt_level) const { Make(m, opt_level, /*again=*/true); }

bool ModuleCompiler::Compile(std::span<Module> modules, const ricci_compile_args& a) const {
  struct Job {
    const ModuleCompiler& compiler;
    std::span<Module> modules;
    const ricci_compile_args& args;
    std::atomic<bool> stopped{false};
  } job{*this, modules, a};
  InParallel(
      static_cast<int64_t>(modules.size()),
      [](void* arg, int64_t i) {
        Job& j = *static_cast<Job*>(arg);
        Module& m = j.modules[static_cast<size_t>(i)];
        if (j.stopped) return;
        try {
          if (j.args.go_on != nullptr && j.args.go_on(j.args.go_on_self) == 0) {
            j.stopped = true;
          } else {
            j.compiler.Make(m, j.args.opt_level, /*again=*/false);
          }
        } catch (const std::exception& e) {  // no exception crosses the host's executor
          m.image.clear();
          m.error = e.what();
        }
      },
      &job);
  return !job.stopped;
}

void ModuleCompiler::InParallel(int64_t n, void (*fn)(void* arg, int64_t i), void* arg) const {
  const uint32_t wanted = threads_, processors = std::max(std::thread::hardware_concurrency(), 1u);
  const int64_t threads = std::min<int64_t>(n, wanted == 0 ? processors : wanted);
  if (n > 1 && hooks_ != nullptr && hooks_->parallel_for != nullptr) {
    return hooks_->parallel_for(hooks_->exec_self, n, fn, arg);
  }
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i; (i = next++) < n;) fn(arg, i);
  };
  std::vector<std::thread> others;
  try {
    others.reserve(static_cast<size_t>(std::max<int64_t>(threads, 1)));
    for (int64_t t = 1; t < threads; ++t) others.emplace_back(work);
  } catch (const std::system_error&) {  // the system gives no more: this thread does the rest
  }
  work();
  for (std::thread& t : others) t.join();
}

}  // namespace ricci::cuda
