#include "runtime/compile/compile.h"

#include "absl/strings/str_format.h"
#include "runtime/compile/compile_dump.h"
#include "runtime/compile/saved_executable.h"
#include "runtime/context/compile_cache.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// ` at FILE:LINE` of its first equation that has a location.
std::string LocationText(const ir::Program& p) {
  for (const ir::Equation& e : p.equations) {
    const ir::Location at = p.vocabulary()->GetLocation(e.location);
    if (!at.file.empty()) return base::Cat(" at ", at.file, ":", at.line);
  }
  return "";
}

void Log(const Context& context, const CompiledCode& code, bool hit) {
  const ricci_executable_stats& s = code.stats();
  std::string line =
      absl::StrFormat("compile %s%s key=%016x device=%s %s", std::string(code.program().name),
                      LocationText(code.program()), code.key().hash, code.device()->Name(), hit ? "hit" : "miss");
  if (!hit) {
    absl::StrAppendFormat(&line, " transform=%.3f ms lower=%.3f ms codegen=%.3f ms kernels=%d steps=%d",
                          s.transform_s * 1e3, s.lower_s * 1e3, s.codegen_s * 1e3, s.kernels, s.steps);
  }
  context.Log(RICCI_LOG_INFO, line);
}

absl::StatusOr<base::Ref<CompiledCode>> CompileAnew(CompileKey key, const CompileOptions& options,
                                                    const ContextOptions& config, std::string* to_save) {
  CompileDump dump(config.dump_dir, key);
  pass::Options passes = key.PassOptions();
  passes.progress = options.progress;
  if (dump.wanted()) {
    passes.dump = [&](std::string_view stage, const std::function<std::string()>& text) { dump.Add(stage, text()); };
  }
  const ir::ProgramRef program = key.program;
  RICCI_ASSIGN(auto lowered, pass::Lower(*program, passes));
  RICCI_ASSIGN(auto code, CompiledCode::Create(std::move(key), std::move(lowered), options.progress, to_save));
  if (dump.wanted() && code->device()->backend.dump != nullptr) {
    RICCI_ASSIGN(const std::string native, code->Dump("native"));
    dump.Add("native", native);
  }
  RICCI_TRY(dump.status());
  return code;
}

// What `make` gives; nothing where executables are not kept, or if it cannot.
template <typename Make>
auto IfKept(CodeCache& cache, const CompileKey& key, Make make) -> decltype(make(key)) {
  if (!cache.is_on()) return std::nullopt;
  try {
    return make(key);
  } catch (...) {  // no memory, or a backend that does not keep to the contract
    return std::nullopt;
  }
}

// From the cache of compiled code, unless the stages are to be seen; else compiled, and kept there.
absl::StatusOr<base::Ref<CompiledCode>> LoadOrCompile(CodeCache& cache, CompileKey key, const CompileOptions& options,
                                                      const ContextOptions& config) {
  const std::optional<ExecutableKey> kept = IfKept(cache, key, ExecutableKey::Of);
  if (!kept) return CompileAnew(std::move(key), options, config, nullptr);
  if (config.dump_dir.empty()) {
    if (auto code = LoadExecutable(cache, *kept, key)) return code;
  }
  std::string machine_code;
  RICCI_ASSIGN(auto code, CompileAnew(std::move(key), options, config, &machine_code));
  // What the backend depends on (its number of threads) may have been changed meanwhile.
  if (!machine_code.empty() && IfKept(cache, code->key(), ExecutableKey::AboutOf) == kept->about) {
    StoreExecutable(cache, *kept, *code, machine_code);
  }
  return code;
}

}  // namespace

absl::StatusOr<base::Ref<Executable>> Compile(const ir::Program& f, const CompileOptions& options) {
  Context& context = *ContextOf(*f.vocabulary());
  const bool chosen = !options.devices.empty();
  const std::vector<Device*> devices = chosen ? options.devices : std::vector<Device*>{context.device(0)};
  for (const Device* device : devices) {
    if (device->context == &context) continue;
    return base::InvalidArgument("compile: program ", f.name, " and device ", device->Name(),
                                 " belong to different contexts");
  }
  if (options.profiled && (devices[0]->backend.hdr.flags & RICCI_BACKEND_PROFILES) == 0) {
    return absl::UnimplementedError(base::Cat("compile options: RICCI_COMPILE_PROFILED: device ", devices[0]->Name(),
                                              " cannot report steps; compile without it"));
  }
  const ContextOptions config = context.options();
  const uint32_t level_of_device = devices[0]->backend.opt_level_default;
  const uint32_t opt_level = options.opt_level != 0 ? options.opt_level : std::max(level_of_device, 1u);
  CompileKey key = CompileKey::Make(ir::ProgramRef(&f), devices, opt_level, config.vmap, options.stages,
                                    {options.donate.begin(), options.donate.end()}, options.profiled);
  base::Ref<CompiledCode> code = context.cache().Find(key);
  bool hit = static_cast<bool>(code);
  if (!hit) {
    RICCI_ASSIGN(code, LoadOrCompile(context.code_cache(), std::move(key), options, config));
    hit = code->is_saved();
    code = context.cache().Keep(context, std::move(code));
  }
  if (config.log_compiles) Log(context, *code, hit);
  return Executable::Create(std::move(code), hit, options.checked, /*committed=*/chosen);
}

}}}  // namespace ricci::v0::runtime
