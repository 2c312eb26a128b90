#include "runtime/context.h"

#include <cstdlib>

#include "absl/cleanup/cleanup.h"
#include "base/abi_struct.h"
#include "base/status_abi.h"
#include "control/control.h"
#include "runtime/compile_cache.h"
#include "runtime/reference_backend.h"

namespace ricci::inline v0::runtime {
namespace {

void* DefaultAlloc(void*, size_t size, size_t align) {
  if (align <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}

void DefaultFree(void*, void* p, size_t, size_t) { std::free(p); }

absl::StatusOr<ricci_hooks> CheckedHooks(const ricci_hooks* given) {
  ricci_hooks hooks{};
  if (given != nullptr) {
    RICCI_ASSIGN(hooks, base::ReadStruct(given, "hooks"));
  }
  if ((hooks.alloc == nullptr) != (hooks.free == nullptr)) {
    return base::InvalidArgument("hooks: alloc and free come together; ", hooks.alloc ? "free" : "alloc", " is NULL");
  }
  if (hooks.parallel_for != nullptr && hooks.exec_workers == 0) {
    return base::InvalidArgument("hooks: exec_workers is 0; parallel_for needs at least 1");
  }
  if (hooks.alloc == nullptr) {
    hooks.alloc = DefaultAlloc;
    hooks.free = DefaultFree;
  }
  hooks.hdr = {sizeof hooks, 0, nullptr};
  return hooks;
}

absl::Status CheckBackend(const ricci_backend& b, std::string_view kind) {
  if (kind.empty()) return base::InvalidArgument("backend: kind is empty");
  const std::pair<const char*, bool> needed[] = {
      {"compile", b.compile != nullptr}, {"run", b.run != nullptr}, {"drop_code", b.drop_code != nullptr}};
  for (auto [name, given] : needed) {
    if (!given) return base::InvalidArgument("backend ", kind, ": ", name, " is NULL");
  }
  if (b.opt_level_default > 3) {
    return base::InvalidArgument("backend ", kind, ": opt_level_default is ", b.opt_level_default, ", not 0 to 3");
  }
  return absl::OkStatus();
}

absl::StatusOr<ricci_target> TargetOf(const ricci_backend& b) {
  if (b.target == nullptr) return pass::TypicalTarget();
  RICCI_ASSIGN(const ricci_target target, base::ReadStruct(b.target, "backend: target"));
  RICCI_TRY(pass::CheckTarget(target));
  return target;
}

}  // namespace

Context::Context(const ricci_hooks& hooks)
    : hooks_(hooks),
      memory_{hooks.alloc_self, hooks.alloc, hooks.free},
      registry_(std::make_unique<prim::Registry>(&memory_, this, Abi(this))),
      cache_(std::make_unique<CompileCache>()) {}

Context::~Context() = default;

absl::StatusOr<base::Ref<Context>> Context::Create(const ricci_hooks* given) {
  RICCI_ASSIGN(const ricci_hooks hooks, CheckedHooks(given));
  auto context = base::Ref<Context>::Adopt(new Context(hooks));
  RICCI_TRY(control::RegisterAll(context->registry()));
  RICCI_TRY(context->AddBackend(ReferenceBackend()));
  return context;
}

// A plugin's detach and drop functions may still retain and release the context: one reference is kept meanwhile.
void Context::Destroy() const {
  Retain();
  auto* self = const_cast<Context*>(this);
  while (!self->plugins_.empty()) {
    const ricci_plugin& p = self->plugins_.back().plugin;
    if (p.detach != nullptr) p.detach(p.self, Abi(this));
    self->plugins_.pop_back();
  }
  while (!self->devices_.empty()) self->devices_.pop_back();
  self->registry_.reset();
  delete self;
}

void Context::RetainHandle() {
  handles_.fetch_add(1);
  Retain();
}

void Context::ReleaseHandle() {
  if (handles_.fetch_sub(1) == 1) cache_->Clear();
  Release();
}

Device* Context::FindDevice(std::string_view kind) const {
  for (uint32_t i = 0; i < device_count(); ++i) {
    if (device(i)->kind == kind) return device(i);
  }
  return nullptr;
}

absl::Status Context::AddBackend(const ricci_backend& given) {
  RICCI_ASSIGN(const ricci_backend backend, base::ReadStruct(&given, "backend"));
  const std::string_view kind(backend.kind.ptr, backend.kind.ptr == nullptr ? 0 : backend.kind.len);
  RICCI_TRY(CheckBackend(backend, kind));
  int32_t ordinal = 0;
  for (const auto& d : devices_) ordinal += d->kind == kind;
  RICCI_ASSIGN(const ricci_target target, TargetOf(backend));
  auto device = std::make_unique<Device>(this, backend, target, ordinal);
  if (const uint32_t threads = options().threads; threads != 0 && backend.set_threads != nullptr) {
    RICCI_TRY(base::FromAbi(backend.set_threads(backend.self, threads)));
  }
  devices_.push_back(std::move(device));
  devices_.back()->owns_self = true;
  return absl::OkStatus();
}

Options Context::options() const {
  std::lock_guard lock(options_mutex_);
  return options_;
}

absl::Status Context::Configure(std::string_view key, std::string_view value) {
  uint32_t before = 0, threads = 0;
  {
    std::lock_guard lock(options_mutex_);
    Options changed = options_;
    RICCI_TRY(SetOption(changed, key, value));
    before = options_.threads;
    threads = changed.threads;
    options_ = std::move(changed);
  }
  if (threads == before) return absl::OkStatus();
  absl::Status status = SetThreads(threads, before);
  if (!status.ok()) {
    std::lock_guard lock(options_mutex_);
    if (options_.threads == threads) options_.threads = before;
  }
  return status;
}

// Backends are called without a lock, since they may call the context. So settings from several threads may cross:
// whoever finds another number wanted by now hands that one on too, and what each backend gets last is what is wanted.
absl::Status Context::SetThreads(uint32_t threads, uint32_t before) {
  while (true) {
    for (size_t i = 0; i < devices_.size(); ++i) {
      const ricci_backend& b = devices_[i]->backend;
      if (b.set_threads == nullptr) continue;
      absl::Status status = base::FromAbi(b.set_threads(b.self, threads));
      if (status.ok()) continue;
      for (size_t done = 0; done < i; ++done) {  // what they had they can have again
        const ricci_backend& other = devices_[done]->backend;
        if (other.set_threads != nullptr) base::FromAbi(other.set_threads(other.self, before)).IgnoreError();
      }
      return status;
    }
    const uint32_t wanted = options().threads;
    if (wanted == threads) return absl::OkStatus();
    threads = wanted;
  }
}

absl::Status Context::Attach(const ricci_plugin& plugin) {
  const std::string_view name(plugin.name.ptr, plugin.name.len);
  for (const AttachedPlugin& known : plugins_) {
    if (known.name == name) return base::InvalidArgument("plugin ", name, ": already added to this context");
  }
  plugins_.push_back({std::string(name), plugin});
  const size_t devices_before = devices_.size();
  absl::Cleanup undo = [&] {
    registry_->Rollback();
    while (devices_.size() > devices_before) devices_.pop_back();
    plugins_.pop_back();
  };
  registry_->Begin(name);
  RICCI_TRY(base::FromAbi(plugin.attach(plugin.self, Abi(this))));
  registry_->Commit();
  std::move(undo).Cancel();
  return absl::OkStatus();
}

void Context::Log(uint32_t level, std::string_view text) const {
  if (hooks_.log != nullptr) hooks_.log(hooks_.log_self, level, text.data(), text.size());
}

}  // namespace ricci::inline v0::runtime
