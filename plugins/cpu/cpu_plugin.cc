// The plugin's entry: registers the backend `cpu` and its library lowerings.
//
// The core keeps whole executables (ricci/cache.h): `compile` gives it the object with the bytes of scratch, and takes
// both back without a module. `code_version` is what the object depends on.
#include <cstring>
#include <memory>
#include <string>

#include "codegen/schedule.h"
#include "cpu/kernel/kernel_codegen.h"
#include "cpu/library/blocked_cholesky.h"
#include "cpu/library/blocked_lu.h"
#include "cpu/library/blocked_triangular_solve.h"
#include "cpu/library/convolution.h"
#include "cpu/library/fourier_library.h"
#include "cpu/library/gemm.h"
#include "cpu/library/plane_convolution.h"
#include "cpu/llvm/debug_info.h"
#include "cpu/llvm/jit.h"
#include "cpu/llvm/settings.h"
#include "cpu/plan/loop_locations.h"
#include "cpu/plan/plan_codegen.h"
#include "cpu/run/affinity.h"
#include "cpu/run/pool.h"
#include "cpu/run/run_state.h"
#include "ricci/api_table.h"
#include "ricci/ricci.h"

namespace ricci::cpu {
namespace {

struct Backend {
  const ricci_ctx* ctx;  // which owns this
  Settings settings;
  std::unique_ptr<Jit> jit;
  Pool pool;
  codegen::KeptCode kept;
};

struct Code {
  Backend* backend;
  std::unique_ptr<LoadedCode> compiled;
  ricci_compile_args given;  // its tables live as long as the code
  uint32_t workers;
  std::vector<LoopLocation> loops;  // of the kernels
};

ricci_status* Fail(uint32_t code, const std::string& what) {
  const std::string text = "cpu: " + what;
  return ricci_status_make(code, text.data(), text.size());
}

// No exception crosses the ABI.
template <typename Body>
ricci_status* Guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ricci_status_make(RICCI_RESOURCE_EXHAUSTED, "cpu: out of memory", 18);
  } catch (const std::exception& e) {
    const std::string text = std::string("cpu: a C++ exception came out of code generation or a run: ") + e.what();
    return ricci_status_make(RICCI_INTERNAL, text.data(), text.size());
  }
}

// Emits the module for `given`; its context is NULL, with `error`, on failure.
LlvmBuilder EmitModule(const Backend& backend, const ricci_compile_args& a, uint32_t workers, Constants constants,
                       PlanCode& emitted, std::string& error) {
  LLVMContextRef ctx = LLVMContextCreate();
  LlvmBuilder l{ctx,
                LLVMModuleCreateWithNameInContext("ricci", ctx),
                LLVMCreateBuilderInContext(ctx),
                backend.jit->lanes(),
                backend.settings.stack_local,
                backend.settings.cuts,
                backend.jit->lanes() == 16};
  l.contracts = backend.jit->contracts();
  l.processor = &backend.jit->processor();
  std::unique_ptr<DebugInfo> debug;
  if (backend.settings.viewers.any()) {
    debug = std::make_unique<DebugInfo>(backend.ctx, l.module, l.b, std::string(a.program.ptr, a.program.len));
    l.debug = debug.get();
  }
  // An object in a file runs without the functions that reports need.
  const bool profiled = constants == Constants::kOfRun && (a.hdr.flags & RICCI_COMPILE_PROFILED) != 0;
  emitted = EmitPlan(l, a.kernels, a.n_kernels, *a.plan, workers, constants, profiled);
  if (debug != nullptr) debug->Finish();
  debug.reset();
  l.debug = nullptr;
  LLVMDisposeBuilder(l.b);
  if (emitted.error.empty()) return l;
  error = emitted.error;
  LLVMDisposeModule(l.module);
  LLVMContextDispose(ctx);
  return {};
}

// ---- code that outlives the process: the bytes of scratch (u64), the locations of loops, then the object ----
Jit::Save SaveTo(const ricci_compile_args& a, const PlanCode& emitted, const std::vector<LoopLocation>& loops) {
  if (a.save == nullptr) return {};
  return [&](std::string_view object) {
    std::string saved(reinterpret_cast<const char*>(&emitted.scratch_bytes), sizeof emitted.scratch_bytes);
    AppendTo(saved, loops);
    saved += object;
    a.save(a.save_self, saved.data(), saved.size());
  };
}

ricci_status* Load(Backend* backend, const ricci_compile_args& a, void** code, ricci_code_info* info) {
  std::string_view saved(static_cast<const char*>(a.saved), a.saved_len);
  uint64_t scratch_bytes = 0;
  if (saved.size() < sizeof scratch_bytes) return Fail(RICCI_INVALID_ARGUMENT, "saved code is too short");
  std::memcpy(&scratch_bytes, saved.data(), sizeof scratch_bytes);
  saved.remove_prefix(sizeof scratch_bytes);
  std::vector<LoopLocation> loops;
  if (!TakeFrom(saved, loops)) return Fail(RICCI_INVALID_ARGUMENT, "the places of loops in saved code are cut off");
  std::string error;
  auto compiled = backend->jit->Load(saved, {a.program.ptr, a.program.len}, error);
  if (compiled == nullptr) return Fail(RICCI_INVALID_ARGUMENT, error);
  info->code_bytes = compiled->code_bytes;
  info->scratch_bytes = scratch_bytes;
  *code = new Code{backend, std::move(compiled), a, backend->pool.workers(), std::move(loops)};
  return nullptr;
}

void CodeVersion(void* self, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  const auto& backend = *static_cast<const Backend*>(self);
  const codegen::Cuts& cuts = backend.settings.cuts;
  std::string text = backend.jit->Version() + ", threads " + std::to_string(backend.pool.workers()) + ", settings";
  for (const int64_t n : {static_cast<int64_t>(backend.settings.stack_local), cuts.pieces.points, cuts.region_code,
                          cuts.shared_code, cuts.chunk, int64_t{cuts.piece_steps}, int64_t{cuts.repeat_steps}}) {
    text += " " + std::to_string(n);
  }
  for (const double n : {cuts.pieces.vectors, cuts.copy_cycles, cuts.task_cycles}) text += " " + std::to_string(n);
  write(sink, text.data(), text.size());
}

ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Guard([&]() -> ricci_status* {
    auto* backend = static_cast<Backend*>(self);
    if (a->saved != nullptr) return Load(backend, *a, code, info);
    const uint32_t workers = backend->pool.workers();
    PlanCode emitted;
    std::string error;
    const LlvmBuilder l = EmitModule(*backend, *a, workers, Constants::kOfRun, emitted, error);
    info->wrong_source = emitted.wrong_source;
    if (l.ctx == nullptr) return Fail(emitted.wrong_source != 0 ? RICCI_INVALID_ARGUMENT : RICCI_UNIMPLEMENTED, error);
    if (a->go_on != nullptr && a->go_on(a->go_on_self) == 0) {
      LLVMDisposeModule(l.module);
      LLVMContextDispose(l.ctx);
      return Fail(RICCI_CANCELLED, "compilation cancelled by the host");
    }
    std::vector<LoopLocation> loops = LocationsOfLoops(backend->ctx, *a);
    auto compiled = backend->jit->Compile(l.ctx, l.module, a->opt_level, error, backend->kept,
                                          {a->program.ptr, a->program.len}, SaveTo(*a, emitted, loops));
    if (compiled == nullptr) return Fail(RICCI_INTERNAL, error);
    info->code_bytes = compiled->code_bytes;
    info->scratch_bytes = emitted.scratch_bytes;
    *code = new Code{backend, std::move(compiled), *a, workers, std::move(loops)};
    return nullptr;
  });
}

// A run that the host may end. The error of a failed library call takes precedence. Not inline: a run
// without a request or deadline takes a few nanoseconds, and would have to save registers for this one.
[[gnu::noinline]] ricci_status* RunWatched(const Code& c, RunState& run) {
  if (!IsStopped(run)) c.compiled->entry(run.args->inputs, run.args->outputs, run.args->arena, &run);
  const uint32_t code = run.stopped.load(std::memory_order_relaxed);
  if (code == 0 || run.status != nullptr) return run.status;
  return Guard([&] {
    const std::string what = code == RICCI_CANCELLED ? "run cancelled by the host" : "run passed its deadline";
    return Fail(code, what + WhereStopped(c.backend->ctx, c.given, c.loops, run.stop_point));
  });
}

ricci_status* Run(void* code, const ricci_run_args* a) {
  const auto& c = *static_cast<const Code*>(code);
  RunState state{&c.backend->pool, a, nullptr, a->cancel != nullptr || a->deadline_ns != 0 ? 1u : 0u, 0};
  if (state.watched != 0) return RunWatched(c, state);
  c.compiled->entry(a->inputs, a->outputs, a->arena, &state);
  return state.status;
}

void DropCode(void* code) { delete static_cast<Code*>(code); }

// Emitted again: code is rarely dumped, and its text is large.
template <Constants kConstants, std::string (Jit::*kForm)(LLVMContextRef, LLVMModuleRef, uint32_t, std::string&)>
ricci_status* Dump(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return Guard([&]() -> ricci_status* {
    const auto& c = *static_cast<const Code*>(code);
    PlanCode emitted;
    std::string error;
    const LlvmBuilder l = EmitModule(*c.backend, c.given, c.workers, kConstants, emitted, error);
    if (l.ctx == nullptr) return Fail(RICCI_UNIMPLEMENTED, error);
    const std::string form = (c.backend->jit.get()->*kForm)(l.ctx, l.module, c.given.opt_level, error);
    if (!error.empty()) return Fail(RICCI_INTERNAL, error);
    write(sink, form.data(), form.size());
    return nullptr;
  });
}

ricci_status* SetThreads(void* self, uint32_t threads) {
  return Guard([&]() -> ricci_status* {
    static_cast<Backend*>(self)->pool.SetThreads(threads);
    return nullptr;
  });
}

ricci_status* Estimate(void* self, const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan* plan,
                       ricci_estimate* out) {
  return Guard([&]() -> ricci_status* {
    const Jit& jit = *static_cast<Backend*>(self)->jit;
    codegen::EstimatePlan(kernels, n_kernels, *plan, TargetOf(jit.lanes(), jit.contracts()), *out);
    return nullptr;
  });
}

// `cpu.debug`: who is shown the code; `cpu.affinity`: processors of the pool's threads.
ricci_status* ReadOptions(ricci_ctx* ctx, Settings& settings) {
  const auto option = [&](std::string_view key) {
    ricci_str text{};
    return ricci_context_option(ctx, key.data(), key.size(), &text) != 0 ? std::string_view(text.ptr, text.len)
                                                                         : std::string_view();
  };
  const std::string_view debug = option("cpu.debug"), affinity = option("cpu.affinity");
  settings.viewers = {.gdb = debug == "gdb" || debug == "gdb,perf", .perf = debug == "perf" || debug == "gdb,perf"};
  if (!debug.empty() && !settings.viewers.any()) {
    return Fail(RICCI_INVALID_ARGUMENT,
                "the option cpu.debug is " + std::string(debug) + "; it must be gdb, perf or gdb,perf");
  }
  std::string error;
  if (affinity.empty()) return nullptr;
  if (ParseProcessors(affinity, settings.processors.emplace(), error)) return nullptr;
  return Fail(RICCI_INVALID_ARGUMENT, "the option cpu.affinity: " + error);
}

ricci_status* Attach(void*, ricci_ctx* ctx) {
  return Guard([&]() -> ricci_status* {
    Settings settings;
    if (ricci_status* s = ReadOptions(ctx, settings)) return s;
    if (ricci_status* s = AddGemm(ctx)) return s;
    if (ricci_status* s = AddConvolution(ctx)) return s;
    if (ricci_status* s = AddPlaneConvolution(ctx)) return s;
    if (ricci_status* s = AddCholesky(ctx)) return s;
    if (ricci_status* s = AddComplexCholesky(ctx)) return s;
    if (ricci_status* s = AddLu(ctx)) return s;
    if (ricci_status* s = AddTriangularSolve(ctx)) return s;
    if (ricci_status* s = AddFourier(ctx)) return s;
    return AttachBackend(ctx, settings);
  });
}

const ricci_plugin* Description() {
  static const ricci_plugin plugin = [] {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = {"cpu", 3};
    p.version = {"0.1.0", 5};
    p.attach = Attach;
    return p;
  }();
  return &plugin;
}

}  // namespace

ricci_status* AttachBackend(ricci_ctx* ctx, const Settings& settings) {
  return Guard([&]() -> ricci_status* {
    std::string error;
    auto jit = Jit::Create(settings, error);
    if (jit == nullptr) return Fail(RICCI_UNIMPLEMENTED, error);
    auto* backend = new Backend{ctx, settings, std::move(jit), Pool(ricci_context_hooks(ctx), settings.processors),
                                codegen::KeptCode(ctx)};
    ricci_backend b{};
    b.hdr = {sizeof b, RICCI_BACKEND_SOURCES | RICCI_BACKEND_PROFILES, nullptr};
    b.kind = {"cpu", 3};
    b.name = {"x86-64", 6};
    b.self = backend;
    b.drop_self = [](void* self) { delete static_cast<Backend*>(self); };
    b.workers = backend->pool.workers();
    b.opt_level_default = 2;
    b.compile = Compile;
    b.run = Run;
    b.drop_code = DropCode;
    b.dump = Dump<Constants::kOfRun, &Jit::Text>;
    b.dump_object = Dump<Constants::kData, &Jit::Object>;
    b.forms = {"assembly", 8};
    b.dump_form = [](void* code, ricci_str, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
      return Dump<Constants::kOfRun, &Jit::Assembly>(code, sink, write);
    };
    b.set_threads = SetThreads;
    b.estimate = Estimate;
    b.code_version = CodeVersion;
    const ricci_target target = TargetOf(backend->jit->lanes(), backend->jit->contracts());
    b.target = &target;
    ricci_status* s = ricci_backend_register(ctx, &b);
    if (s != nullptr) delete backend;
    return s;
  });
}

}  // namespace ricci::cpu

extern "C" RICCI_API ricci_status* ricci_plugin_query_cpu(const ricci_host_info*, const ricci_plugin** out) {
  *out = ricci::cpu::Description();
  return nullptr;
}
