#include "offline.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "code.h"
#include "forms.h"

namespace ricci::cuda {
namespace {

struct Offline {
  std::shared_ptr<const Compiler> compiler;
  std::string architecture, name;
};

struct OfflineCode {
  const Offline& device;
  const ricci_compile_args given;  // its tables live as long as the code
  std::string text;
  std::vector<char> image;  // of all kernels; lowerings of kind SOURCE are only checked
};

ricci_status* CompileSource(const Offline& device, const ricci_plan_source& s) {
  std::string error;
  const std::string text(s.text.ptr, s.text.len);
  if (!device.compiler->Compile(text, device.architecture, error).empty()) return nullptr;
  return Fail(RICCI_INVALID_ARGUMENT, error);
}

ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Guard([&]() -> ricci_status* {
    const Offline& device = *static_cast<Offline*>(self);
    std::unique_ptr<OfflineCode> made(new OfflineCode{device, *a, {}, {}});
    std::vector<Launch> launches;
    std::string error;
    made->text = PrintModule(*a, launches, error);
    if (!error.empty()) return ricci_status_make(RICCI_UNIMPLEMENTED, error.data(), error.size());
    made->image = device.compiler->Compile(made->text, device.architecture, error);
    if (made->image.empty()) return Fail(RICCI_INTERNAL, error);
    for (uint32_t i = 0; i < a->plan->n_sources; ++i) {
      ricci_status* const failed = CompileSource(device, a->plan->sources[i]);
      if (failed == nullptr) continue;
      info->wrong_source = i + 1;
      return failed;
    }
    info->code_bytes = made->image.size();
    *code = made.release();
    return nullptr;
  });
}

ricci_status* DumpForm(void* code, ricci_str form, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return Guard([&]() -> ricci_status* {
    const OfflineCode& c = *static_cast<OfflineCode*>(code);
    std::string text;
    const CodeToRead read{c.given, *c.device.compiler, c.device.architecture, 0};
    if (ricci_status* failed = WriteForm(read, {form.ptr, form.len}, text)) return failed;
    return write(sink, text.data(), text.size()), nullptr;
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
  b.dump = [](void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) -> ricci_status* {
    const std::string& text = static_cast<OfflineCode*>(code)->text;
    return write(sink, text.data(), text.size()), nullptr;
  };
  b.dump_object = [](void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) -> ricci_status* {
    const std::vector<char>& image = static_cast<OfflineCode*>(code)->image;
    return write(sink, image.data(), image.size()), nullptr;
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

ricci_status* RegisterOffline(ricci_ctx* ctx, std::shared_ptr<const Compiler> compiler, std::string architecture,
                              const ricci_target& target) {
  auto device = std::make_unique<Offline>();
  device->name = "compiles only, for " + architecture;
  device->compiler = std::move(compiler);
  device->architecture = std::move(architecture);
  const ricci_backend b = Table(*device, target);
  ricci_status* const failed = ricci_backend_register(ctx, &b);
  if (failed == nullptr) device.release();
  return failed;
}

}  // namespace ricci::cuda
