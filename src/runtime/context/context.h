// Context: the root of everything: the host's hooks, the registry of primitives, devices, plugins and options.
//
// It holds all state: two contexts in one process know nothing of each other. Every object made from a context
// (program, array, executable, call) holds a reference to it, so they may be released in any order. Handles of the C
// ABI are counted separately: when the last one is gone, the context releases what it keeps itself (its cache of
// compiled programs, which refer back to it), and it ends with the last object.
#ifndef RICCI_RUNTIME_CONTEXT_H_
#define RICCI_RUNTIME_CONTEXT_H_
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/arena.h"
#include "base/shared.h"
#include "prim/registry.h"
#include "ricci/context.h"
#include "runtime/cache/code_cache.h"
#include "runtime/context/callback_table.h"
#include "runtime/context/device.h"
#include "runtime/context/options.h"

namespace ricci { inline namespace v0 { namespace runtime {

class CompileCache;

class Context final : public base::Shared {
 public:
  // `hooks` may be NULL. The caller holds the first handle.
  static absl::StatusOr<base::Ref<Context>> Create(const ricci_hooks* hooks);

  const ricci_hooks& hooks() const { return hooks_; }
  const base::HostMemory* memory() const { return &memory_; }
  prim::Registry& registry() { return *registry_; }
  const prim::Registry& registry() const { return *registry_; }
  ir::Vocabulary& vocabulary() const { return registry_->vocabulary(); }
  types::TypeTable& types() const { return vocabulary().types; }
  ContextOptions options() const;
  CompileCache& cache() { return *cache_; }
  CodeCache& code_cache() { return code_cache_; }
  Callbacks& callbacks() { return callbacks_; }
  const Callbacks& callbacks() const { return callbacks_; }

  // Counts handles of the C ABI; each is also one reference.
  void RetainHandle();
  void ReleaseHandle();
  bool has_handles() const { return handles_.load() != 0; }

  // The devices of the plugin added last come first, in the order of their registration. (A backend that no plugin adds
  // counts as a plugin of its own.)
  uint32_t device_count() const { return static_cast<uint32_t>(devices_.size()); }
  Device* device(uint32_t i) const { return devices_[i].get(); }
  // The first device of that kind, which has ordinal 0.
  Device* FindDevice(std::string_view kind) const;
  // Copies `backend` and takes over its `self` on success.
  absl::Status AddBackend(const ricci_backend& backend);

  // Sets one option, or changes nothing; INVALID_ARGUMENT names the known ones. Any thread, a backend's callbacks too.
  absl::Status Configure(std::string_view key, std::string_view value);

  // Attaches a plugin that has been checked (plugin_loader.h). Not while other threads use the context.
  absl::Status Attach(const ricci_plugin& plugin);
  // The value of an option of the plugin that is being attached; null if it was not set. Valid until attach returns.
  const std::string* PluginOption(std::string_view key);

  void Log(uint32_t level, std::string_view text) const;

  // A row or a lowering is being registered, by a plugin or by the host itself.
  void NoteRows() { rows_of_host_ |= !attached_devices_; }
  // What all programs of the context depend on when they are compiled, as lines: builds and versions of the core and of
  // its plugins, and their options. Nothing if that cannot be known (ricci/cache.h).
  std::optional<std::string> Origin() const;

 private:
  struct AttachedPlugin {
    std::string name;
    ricci_plugin plugin;
    std::set<std::string> options = {};  // that its attach asked for
    std::string version = {}, build = {};
  };

  explicit Context(const ricci_hooks& hooks);
  ~Context() override;
  void Destroy() const override;
  // An option that is set for the plugin, but that it did not ask for, is an error.
  absl::Status CheckOptionsOf(const AttachedPlugin& plugin) const;
  // Passes a number of threads to all backends; on failure they get `before` again.
  absl::Status SetThreads(uint32_t threads, uint32_t before);

  const ricci_hooks hooks_;
  const base::HostMemory memory_;
  mutable std::mutex options_mutex_;
  ContextOptions options_;
  CodeCache code_cache_;
  std::atomic<uint32_t> handles_{1};
  Callbacks callbacks_;
  std::unique_ptr<prim::Registry> registry_;
  void NumberDevices();

  std::vector<std::unique_ptr<Device>> devices_;
  std::optional<size_t> attached_devices_;  // of the plugin that is being attached
  std::deque<AttachedPlugin> plugins_;
  std::unique_ptr<CompileCache> cache_;
  bool rows_of_host_ = false;
};

// The C handle of a context is its address.
inline ricci_ctx* Abi(const Context* c) { return reinterpret_cast<ricci_ctx*>(const_cast<Context*>(c)); }
inline Context* FromAbi(const ricci_ctx* c) { return reinterpret_cast<Context*>(const_cast<ricci_ctx*>(c)); }
// The context that a vocabulary belongs to.
inline Context* ContextOf(const ir::Vocabulary& v) { return FromAbi(v.abi); }

}}}  // namespace ricci::v0::runtime
#endif
