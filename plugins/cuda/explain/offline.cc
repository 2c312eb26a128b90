#include "cuda/explain/offline.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda/explain/forms.h"
#include "cuda/print/source_lines.h"
#include "cuda/run/code.h"

namespace ricci::cuda {
namespace {

struct Offline {
  ModuleCompiler compiler;
  std::string name;
};

struct OfflineCode {
  const ModuleCompiler& compiler;
  ricci_compile_args given;  // its tables live as long as the code
};

ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Guard([&]() -> ricci_status* {
    const Offline& device = *static_cast<Offline*>(self);
    auto made = std::make_unique<OfflineCode>(OfflineCode{device.compiler, *a});
    made->given.go_on = nullptr;  // asked only during the call
    PlanModules plan;
    if (ricci_status* failed = CompilePlan(device.compiler, *a, plan, *info)) return failed;
    for (const Module& m : plan.modules) info->code_bytes += m.image.size();
    *code = made.release();
    return nullptr;
  });
}

CodeToRead ToRead(void* code) {
  const OfflineCode& c = *static_cast<OfflineCode*>(code);
  return {c.given, c.compiler, 0};
}
ricci_status* Dump(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return WriteForm(ToRead(code), "native", sink, write);
}
ricci_status* DumpForm(void* code, ricci_str form, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return WriteForm(ToRead(code), {form.ptr, form.len}, sink, write);
}

// One file: all kernels in one module, which is the only one if they are few.
ricci_status* DumpObject(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return Guard([&]() -> ricci_status* {
    const OfflineCode& c = *static_cast<OfflineCode*>(code);
    Module m{WithLineOfEach(WholeText(ToRead(code)))};
    c.compiler.Compile({&m, 1}, c.given);
    if (m.image.empty()) return Fail(RICCI_INTERNAL, m.error);
    write(sink, m.image.data(), m.image.size());
    return nullptr;
  });
}

ricci_status* Refuse() {
  return Fail(RICCI_FAILED_PRECONDITION, "this device only compiles (option cuda.arch): it cannot run programs");
}

ricci_status* Alloc(void*, uint64_t bytes, void*, void** out) {
  if (posix_memalign(out, 256, bytes) == 0) return nullptr;
  return Fail(RICCI_RESOURCE_EXHAUSTED, std::to_string(bytes) + " bytes of memory of the host wanted");
}
ricci_status* Copy(void*, const ricci_copy_args* a, void** event) {
  std::memcpy(a->dst, a->src, a->bytes);
  if (event != nullptr) *event = nullptr;
  return nullptr;
}

ricci_backend Table(Offline& device, const ricci_target& target) {
  ricci_backend b{};
  b.hdr = {sizeof b, RICCI_BACKEND_SOURCES, nullptr};
  b.kind = {"cuda", 4};
  b.name = {device.name.data(), device.name.size()};
  b.self = &device;
  b.drop_self = [](void* self) { delete static_cast<Offline*>(self); };
  b.workers = 1;
  b.opt_level_default = 2;
  b.compile = Compile;
  b.drop_code = [](void* code) { delete static_cast<OfflineCode*>(code); };
  b.dump = Dump;
  b.dump_object = DumpObject;
  b.set_threads = [](void* self, uint32_t threads) -> ricci_status* {
    return static_cast<Offline*>(self)->compiler.SetThreads(threads), nullptr;
  };
  b.forms = {kForms.data(), kForms.size()};
  b.dump_form = DumpForm;
  b.target = &target;
  b.alignment = 256;
  b.alloc = Alloc;
  b.free = [](void*, void* p, uint64_t, void*) { std::free(p); };
  b.copy = Copy;
  b.owns = [](void*, const void*, uint64_t) { return uint32_t{1}; };
  b.stream_create = [](void* self, void** out) -> ricci_status* { return *out = self, nullptr; };
  b.stream_drop = [](void*, void*) {};
  b.stream_wait = [](void*, void*, void*) -> ricci_status* { return nullptr; };
  b.event_record = [](void* self, void*, void** event) -> ricci_status* { return *event = self, nullptr; };
  b.event_drop = [](void*, void*) {};
  b.event_query = [](void*, void*, uint32_t* come) -> ricci_status* { return *come = 1, nullptr; };
  b.event_wait = [](void*, void*) -> ricci_status* { return nullptr; };
  b.enqueue = [](void*, const ricci_run_args*, ricci_done_fn, void*, void**) { return Refuse(); };
  return b;
}

}  // namespace

ricci_status* RegisterOffline(ricci_ctx* ctx, std::shared_ptr<const Compiler> compiler, const Settings& settings,
                              const ricci_target& target) {
  const std::string& architecture = settings.architecture;
  const std::string name = "compiles only, for " + architecture;
  if (const std::string why = compiler->Refusal(architecture); !why.empty()) {
    return Fail(RICCI_INVALID_ARGUMENT, "option cuda.arch: " + why);
  }
  std::unique_ptr<Offline> device(
      new Offline{{std::move(compiler), architecture, settings.least_trips_of_pairs, ctx}, name});
  const ricci_backend b = Table(*device, target);
  ricci_status* const failed = ricci_backend_register(ctx, &b);
  if (failed == nullptr) device.release();
  return failed;
}

}  // namespace ricci::cuda
