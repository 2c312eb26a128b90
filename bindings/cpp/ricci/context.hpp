// ricci/context.hpp: the context that owns everything, and its devices.
//
// A Context is a reference: copies share it, and it lives until the last object made from it is gone. A default one
// does not exist. It starts with the built-in primitives and, in a program that links ricci::cpu, the CPU backend.
// Other plugins are added before the first program is built.
#ifndef RICCI_CONTEXT_HPP_
#define RICCI_CONTEXT_HPP_
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ricci/error.hpp"
#include "ricci/ricci.h"

namespace ricci { inline namespace v0 {

// Borrowed from its context.
class Device {
 public:
  Device() = default;
  explicit Device(ricci_device* handle) : handle_(handle) {}
  ricci_device* handle() const { return handle_; }
  // `ref`, `cpu`, ...
  std::string_view kind() const;
  std::string_view name() const;
  uint32_t workers() const;
  // Among the devices of its kind.
  int32_t ordinal() const;
  // What is in use there, the most there was, the limit.
  ricci_memory_stats memory_stats() const;
  // More than `bytes` in use is RESOURCE_EXHAUSTED from now on; 0: no limit.
  void set_memory_limit(uint64_t bytes) const;
  // Gives back to the system what is kept but not in use, down to `keep_bytes`.
  void trim(uint64_t keep_bytes = 0) const;
  bool operator==(const Device& o) const { return handle_ == o.handle_; }

 private:
  ricci_device* handle_ = nullptr;
};

// A plugin to add: its entry in this process, or the path of a shared object to load.
class Plugin {
 public:
  Plugin(ricci_plugin_query_fn query) : query_(query) {}
  Plugin(std::string path) : path_(std::move(path)) {}
  Plugin(const char* path) : path_(path) {}
  ricci_plugin_query_fn query() const { return query_; }  // NULL: a shared object
  const std::string& path() const { return path_; }

 private:
  ricci_plugin_query_fn query_ = nullptr;
  std::string path_;
};

// What a context is made with: `Context ctx({.options = {{"threads", "2"}, {"cpu.affinity", "0-1"}}})`.
struct ContextOptions {
  // Keys and values of ricci_context_config, set before any plugin is added: a plugin reads its own, `PLUGIN.KEY`,
  // then.
  std::vector<std::pair<std::string, std::string>> options = {};
  // Added in this order after the built-in ones.
  std::vector<Plugin> plugins = {};
  // Memory, threads and log of the host (ricci/context.h); copied. NULL: the defaults, with the log on stderr.
  const ricci_hooks* hooks = nullptr;
};

class Context : public Handle<ricci_ctx, ricci_context_retain, ricci_context_release> {
 public:
  // With the built-in primitives, and the CPU backend if it is linked. The log goes to stderr.
  Context();
  explicit Context(const ContextOptions& options);
  // The same with hooks for memory, threads and log.
  explicit Context(const ricci_context_opts& opts);
  // Shares a context of the C ABI.
  explicit Context(ricci_ctx* handle) : Handle(Retained(handle)) {}

  void add_plugin(ricci_plugin_query_fn query);
  void load_plugin(std::string_view path);
  // Options of ricci_context_config: `threads`, `log_compiles`, `dump_dir`, `vmap`, `cache_dir`, `cache_bytes`. Those
  // of a plugin are set before it is added: by ContextOptions, or for one that is added later.
  void config(std::string_view key, std::string_view value);
  // What came from the cache of compiled code, and went there.
  ricci_cache_stats cache_stats() const;

  // The best device: that of the plugin added last, else the reference interpreter.
  Device device() const;
  // A device of a kind (`ref`, `cpu`) by its ordinal.
  Device device(std::string_view kind, int32_t ordinal = 0) const;
  // All of them, the best one first.
  std::vector<Device> devices() const;
};

}}  // namespace ricci::v0
#endif
