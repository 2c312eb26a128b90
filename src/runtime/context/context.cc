#include "runtime/context/context.h"

#include <bit>
#include <cstdlib>

#include "absl/cleanup/cleanup.h"
#include "base/abi_struct.h"
#include "base/abi_text.h"
#include "base/status_abi.h"
#include "base/version.h"
#include "control/control.h"
#include "pass/kernel/fusion.h"
#include "runtime/cache/build_id.h"
#include "runtime/context/backend_call.h"
#include "runtime/context/compile_cache.h"
#include "runtime/context/compiled_code.h"
#include "runtime/context/reference_backend.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// Small blocks are aligned here, with the address that malloc gave stored before them: aligned_alloc of the C library
// bypasses its caches and takes five times as long. (The address sanitizer sees more if it is asked directly.)
bool IsAlignedHere(size_t size, size_t align) {
#ifdef __SANITIZE_ADDRESS__
  constexpr size_t kCached = 0;
#else
  constexpr size_t kCached = 1024;
#endif
  return size + align <= kCached;
}

void* DefaultAlloc(void*, size_t size, size_t align) {
  if (align <= alignof(std::max_align_t)) return std::malloc(size);
  if (!IsAlignedHere(size, align)) return std::aligned_alloc(align, (size + align - 1) / align * align);
  void* given = std::malloc(size + align);
  if (given == nullptr) return nullptr;
  void* p = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(given) + align) & ~(align - 1));
  static_cast<void**>(p)[-1] = given;  // there is room: malloc aligns to two pointers
  return p;
}

void DefaultFree(void*, void* p, size_t size, size_t align) {
  const bool behind = p != nullptr && align > alignof(std::max_align_t) && IsAlignedHere(size, align);
  std::free(behind ? static_cast<void**>(p)[-1] : p);
}

absl::StatusOr<ricci_hooks> CheckedHooks(const ricci_hooks* given) {
  ricci_hooks hooks{};
  if (given != nullptr) {
    RICCI_ASSIGN(hooks, base::ReadStruct(given, "hooks"));
  }
  if ((hooks.alloc == nullptr) != (hooks.free == nullptr)) {
    return base::InvalidArgument("hooks: alloc and free must be given together; ", hooks.alloc ? "free" : "alloc",
                                 " is NULL");
  }
  if (hooks.parallel_for != nullptr && hooks.exec_workers == 0) {
    return base::InvalidArgument("hooks: exec_workers is 0; parallel_for needs at least 1");
  }
  if ((hooks.device_alloc == nullptr) != (hooks.device_free == nullptr)) {
    return base::InvalidArgument("hooks: device_alloc and device_free must be given together; ",
                                 hooks.device_alloc ? "device_free" : "device_alloc", " is NULL");
  }
  if ((hooks.cache_load == nullptr) != (hooks.cache_store == nullptr)) {
    return base::InvalidArgument("hooks: cache_load and cache_store must be given together; ",
                                 hooks.cache_load ? "cache_store" : "cache_load", " is NULL");
  }
  if (hooks.alloc == nullptr) {
    hooks.alloc = DefaultAlloc;
    hooks.free = DefaultFree;
  }
  hooks.hdr = {sizeof hooks, 0, nullptr};
  return hooks;
}

// A backend has both memory and time of its own, or neither: then a run is complete when it returns.
absl::Status CheckFunctions(const ricci_backend& b, std::string_view kind) {
  const bool own = b.alloc != nullptr;
  const std::pair<const char*, bool> always[] = {{"compile", b.compile != nullptr},
                                                 {"drop_code", b.drop_code != nullptr}};
  const std::pair<const char*, bool> with_memory[] = {{"alloc", own},
                                                      {"free", b.free != nullptr},
                                                      {"copy", b.copy != nullptr},
                                                      {"owns", b.owns != nullptr},
                                                      {"stream_create", b.stream_create != nullptr},
                                                      {"stream_drop", b.stream_drop != nullptr},
                                                      {"stream_wait", b.stream_wait != nullptr},
                                                      {"event_record", b.event_record != nullptr},
                                                      {"event_drop", b.event_drop != nullptr},
                                                      {"event_query", b.event_query != nullptr},
                                                      {"event_wait", b.event_wait != nullptr},
                                                      {"enqueue", b.enqueue != nullptr}};
  for (auto [name, given] : always) {
    if (!given) return base::InvalidArgument("backend ", kind, ": ", name, " is NULL");
  }
  if (own == (b.run != nullptr)) {
    return base::InvalidArgument(
        "backend ", kind, own ? ": has both alloc and run; with memory of its own it enqueues" : ": run is NULL");
  }
  if ((b.event_record_timed == nullptr) != (b.event_elapsed == nullptr)) {
    return base::InvalidArgument("backend ", kind, ": event_record_timed and event_elapsed must be given together; ",
                                 b.event_elapsed ? "event_record_timed" : "event_elapsed", " is NULL");
  }
  for (auto [name, given] : with_memory) {
    if (given == own) continue;
    return base::InvalidArgument("backend ", kind, ": ", name,
                                 own ? " is NULL, but alloc is not" : " is given, but alloc is NULL");
  }
  return absl::OkStatus();
}

constexpr size_t kLongestText = 4096;

// Names that ricci_executable_dump can find.
absl::Status CheckForms(const ricci_backend& b, std::string_view kind) {
  const std::vector<std::string> forms = FormsOf(b);
  if (forms.empty() != (b.dump_form == nullptr)) {
    return base::InvalidArgument("backend ", kind, ": ", forms.empty() ? "dump_form" : "forms", " is given, but not ",
                                 forms.empty() ? "forms" : "dump_form");
  }
  for (const std::string& form : forms) {
    if (form.empty() || !std::all_of(form.begin(), form.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
      return base::InvalidArgument("backend ", kind, ": form `", form, "` is not a word of small letters");
    }
    if (form != "decisions" && IsStage(form)) {
      return base::InvalidArgument("backend ", kind, ": form ", form, " is a stage that every device has");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBackend(const ricci_backend& b, std::string_view kind) {
  if (kind.empty()) return base::InvalidArgument("backend: kind is empty");
  for (const auto& [what, text] : {std::pair{"kind", b.kind}, std::pair{"name", b.name}, std::pair{"forms", b.forms}}) {
    if (text.ptr == nullptr || text.len <= kLongestText) continue;
    return base::InvalidArgument("backend: ", what, " has ", text.len, " bytes; at most ", kLongestText,
                                 " are allowed");
  }
  RICCI_TRY(CheckFunctions(b, kind));
  if (!std::has_single_bit(std::max(b.alignment, 1u)) || (b.alignment != 0 && b.alignment < 16)) {
    return base::InvalidArgument("backend ", kind, ": alignment is ", b.alignment,
                                 ", not a power of two of at least 16, or 0 for 64");
  }
  if (b.opt_level_default > 3) {
    return base::InvalidArgument("backend ", kind, ": opt_level_default is ", b.opt_level_default, ", not 0 to 3");
  }
  return CheckForms(b, kind);
}

absl::StatusOr<ricci_target> TargetOf(const ricci_backend& b) {
  if (b.target == nullptr) return pass::TypicalTarget();
  RICCI_ASSIGN(const ricci_target target,
               base::ReadStruct(b.target, "backend: target", {RICCI_FLAG(RICCI_TARGET_FMA)}));
  RICCI_TRY(pass::CheckTarget(target));
  return target;
}

// `status` of the plugin's attach, which may have come from a function that does not know for whom it was called.
absl::Status OfPlugin(std::string_view name, absl::Status status) {
  if (status.ok() || status.message().find(base::ToAbsl(name)) != absl::string_view::npos) return status;
  return base::WithSite(absl::Status(status.code(), base::Cat("plugin ", name, ": ", std::string(status.message()))),
                        base::SiteOf(status));
}

}  // namespace

Context::Context(const ricci_hooks& hooks)
    : hooks_(hooks),
      memory_{hooks.alloc_self, hooks.alloc, hooks.free},
      code_cache_(hooks_, &memory_),
      registry_(std::make_unique<prim::Registry>(&memory_, this, Abi(this))),
      cache_(std::make_unique<CompileCache>()) {}

Context::~Context() = default;

absl::StatusOr<base::Ref<Context>> Context::Create(const ricci_hooks* given) {
  RICCI_ASSIGN(const ricci_hooks hooks, CheckedHooks(given));
  auto context = base::Ref<Context>::Adopt(new Context(hooks));
  RICCI_TRY(control::RegisterAll(context->registry()));
  RICCI_TRY(pass::RegisterFusion(context->registry()));
  RICCI_TRY(context->AddBackend(ReferenceBackend(context.get())));
  return context;
}

// A plugin's detach and drop functions may still retain and release the context, so one reference is kept meanwhile.
void Context::Destroy() const {
  Retain();
  auto* self = const_cast<Context*>(this);
  for (const auto& device : self->devices_) device->default_stream = {};
  while (!self->plugins_.empty()) {
    const ricci_plugin& p = self->plugins_.back().plugin;
    if (p.detach != nullptr) base::CallQuietly([&] { p.detach(p.self, Abi(this)); });
    self->plugins_.pop_back();
  }
  while (!self->devices_.empty()) self->devices_.erase(self->devices_.begin());
  self->registry_.reset();
  delete self;
}

void Context::RetainHandle() {
  handles_.fetch_add(1);
  Retain();
}

void Context::ReleaseHandle() {
  if (handles_.fetch_sub(1) == 1) {
    for (const auto& device : devices_) device->Drain();  // runs in flight hold objects of the context
    cache_->Clear();
  }
  Release();
}

Device* Context::FindDevice(std::string_view kind) const {
  for (const auto& device : devices_) {
    if (device->kind == kind || device->Name() == kind) return device.get();
  }
  return nullptr;
}

void Context::NumberDevices() {
  for (size_t i = 0; i < devices_.size(); ++i) {
    const auto same = [&](const auto& d) { return d->kind == devices_[i]->kind; };
    devices_[i]->ordinal = static_cast<int32_t>(std::count_if(devices_.begin(), devices_.begin() + i, same));
  }
}

absl::Status Context::AddBackend(const ricci_backend& given) {
  RICCI_ASSIGN(const ricci_backend backend,
               base::ReadStruct(&given, "backend",
                                {RICCI_FLAG(RICCI_BACKEND_REFERENCE), RICCI_FLAG(RICCI_BACKEND_HOST_VISIBLE),
                                 RICCI_FLAG(RICCI_BACKEND_SOURCES), RICCI_FLAG(RICCI_BACKEND_PROFILES),
                                 RICCI_FLAG(RICCI_BACKEND_OPEN_CALLS), RICCI_FLAG(RICCI_BACKEND_REPORTS_WHEN_ASKED)}));
  const std::string_view kind(backend.kind.ptr, backend.kind.ptr == nullptr ? 0 : backend.kind.len);
  RICCI_TRY(CheckBackend(backend, kind));
  RICCI_ASSIGN(const ricci_target target, TargetOf(backend));
  auto device = std::make_unique<Device>(this, backend, target);
  if (const uint32_t threads = options().threads; threads != 0 && backend.set_threads != nullptr) {
    RICCI_TRY(CallBackend(device->backend, "set_threads", backend.set_threads, backend.self, threads));
  }
  const auto added =
      devices_.insert(devices_.begin() + static_cast<ptrdiff_t>(attached_devices_.value_or(0)), std::move(device));
  (*added)->owns_self = true;
  if (attached_devices_) ++*attached_devices_;
  NumberDevices();
  return absl::OkStatus();
}

ContextOptions Context::options() const {
  std::lock_guard lock(options_mutex_);
  return options_;
}

absl::Status Context::Configure(std::string_view key, std::string_view value) {
  const std::string_view plugin = key.substr(0, key.find('.'));
  for (const AttachedPlugin& known : plugins_) {
    if (plugin.size() == key.size() || known.name != plugin) continue;
    return base::InvalidArgument("config: ", key, " is read when the plugin ", plugin, " is added: set it before");
  }
  uint32_t before = 0, threads = 0;
  {
    std::lock_guard lock(options_mutex_);
    ContextOptions changed = options_;
    RICCI_TRY(SetOption(changed, key, value));
    if (!changed.cache_dir.empty() && hooks_.cache_load != nullptr) {
      return base::InvalidArgument("config: cache_dir: the host's hooks keep compiled code already");
    }
    if (changed.cache_dir != options_.cache_dir || changed.cache_bytes != options_.cache_bytes) {
      code_cache_.SetFolder(changed.cache_dir, changed.cache_bytes);
    }
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

// Backends are called without a lock, since they may call the context. So settings from several threads may cross: a
// thread that finds that another number is set by now passes that on too, so the last number that each backend gets is
// the one that is set.
absl::Status Context::SetThreads(uint32_t threads, uint32_t before) {
  while (true) {
    for (size_t i = devices_.size(); i-- > 0;) {  // the ones added first come first
      const ricci_backend& b = devices_[i]->backend;
      if (b.set_threads == nullptr) continue;
      absl::Status status = CallBackend(b, "set_threads", b.set_threads, b.self, threads);
      if (status.ok()) continue;
      for (size_t done = devices_.size(); --done > i;) {  // they took the new number: undo
        const ricci_backend& other = devices_[done]->backend;
        if (other.set_threads == nullptr) continue;
        CallBackend(other, "set_threads", other.set_threads, other.self, before).IgnoreError();
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
  plugins_.push_back(
      {std::string(name), plugin, {}, std::string(base::View(plugin.version)), BuildIdOf(plugin.attach)});
  const std::optional<size_t> of_outer = std::exchange(attached_devices_, 0);  // of a plugin whose attach adds this one
  absl::Cleanup undo = [&] {
    registry_->Rollback();
    devices_.erase(devices_.begin(), devices_.begin() + static_cast<ptrdiff_t>(*attached_devices_));
    NumberDevices();
    attached_devices_ = of_outer;
    plugins_.pop_back();
  };
  registry_->Begin(name);
  const absl::Status attached =
      OfPlugin(name, base::CallForeign([&] { return base::Cat("plugin ", name, ": attach"); },
                                       [&] { return plugin.attach(plugin.self, Abi(this)); }));
  // A mistyped key may be why it failed.
  if (attached.ok() || !plugins_.back().options.empty()) RICCI_TRY(CheckOptionsOf(plugins_.back()));
  RICCI_TRY(attached);
  registry_->Commit();
  attached_devices_ = of_outer ? std::optional(*of_outer + *attached_devices_) : std::nullopt;
  std::move(undo).Cancel();
  return absl::OkStatus();
}

const std::string* Context::PluginOption(std::string_view key) {
  const std::lock_guard lock(options_mutex_);
  if (!plugins_.empty()) plugins_.back().options.emplace(key);
  const auto found = options_.of_plugins.find(std::string(key));
  return found == options_.of_plugins.end() ? nullptr : &found->second;
}

absl::Status Context::CheckOptionsOf(const AttachedPlugin& plugin) const {
  const std::lock_guard lock(options_mutex_);
  for (const auto& [key, value] : options_.of_plugins) {
    if (key.substr(0, key.find('.')) != plugin.name || plugin.options.count(key) != 0) continue;
    std::string known;
    for (const std::string& k : plugin.options) known += base::Cat(known.empty() ? "" : ", ", k);
    return base::InvalidArgument("config: unknown key ", key, "; the plugin ", plugin.name, " knows ",
                                 known.empty() ? "none" : known);
  }
  return absl::OkStatus();
}

std::optional<std::string> Context::Origin() const {
  const std::string core = BuildIdOf(ricci_abi_version);
  if (core.empty() || rows_of_host_) return std::nullopt;
  std::string lines = base::Cat("ricci ", base::kVersion, " build ", core, "\n");
  for (const AttachedPlugin& p : plugins_) {
    if (p.build.empty()) return std::nullopt;
    lines += base::Cat("plugin ", p.name, " ", p.version, " build ", p.build, "\n");
  }
  const std::lock_guard lock(options_mutex_);
  for (const auto& [key, value] : options_.of_plugins) lines += base::Cat("option ", key, "=", value, "\n");
  return lines;
}

void Context::Log(uint32_t level, std::string_view text) const {
  if (hooks_.log != nullptr) hooks_.log(hooks_.log_self, level, text.data(), text.size());
}

}}}  // namespace ricci::v0::runtime
