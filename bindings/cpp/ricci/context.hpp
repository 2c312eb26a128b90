// ricci/context.hpp: the context that owns everything, and its devices.
//
// A Context is a reference: copies share it, and it lives until the last object made from it is gone. There is no
// default one. It starts with the built-in primitives and, in a program that links ricci::cpu, the CPU backend: the
// weak declaration below is how the header knows. Other plugins are added before the first program is built.
#ifndef RICCI_CONTEXT_HPP_
#define RICCI_CONTEXT_HPP_
#include <string_view>
#include <utility>

#include "ricci/error.hpp"
#include "ricci/ricci.h"

extern "C" __attribute__((weak)) ricci_status* ricci_plugin_query_cpu(const ricci_host_info*, const ricci_plugin**);

namespace ricci::inline v0 {

// Borrowed from its context.
class Device {
 public:
  Device() = default;
  explicit Device(ricci_device* handle) : handle_(handle) {}
  ricci_device* handle() const { return handle_; }
  // `ref`, `cpu`, ...
  std::string_view kind() const { return {Info().kind.ptr, Info().kind.len}; }
  std::string_view name() const { return {Info().name.ptr, Info().name.len}; }
  uint32_t workers() const { return Info().workers; }

 private:
  ricci_device_desc Info() const {
    ricci_device_desc d{};
    d.hdr.size = sizeof d;
    ricci_device_info(handle_, &d);
    return d;
  }
  ricci_device* handle_ = nullptr;
};

class Context {
 public:
  // With the built-in primitives, and the CPU backend if it is linked.
  Context() : Context(ricci_context_opts{{sizeof(ricci_context_opts), 0, nullptr}, nullptr}) {}
  // The same with hooks for memory, threads and log.
  explicit Context(const ricci_context_opts& opts) {
    Check(ricci_context_create(&opts, &handle_));
    try {
      add_plugin(ricci_plugin_query_lax);
      if (ricci_plugin_query_cpu != nullptr) add_plugin(ricci_plugin_query_cpu);
    } catch (...) {
      ricci_context_release(handle_);
      throw;
    }
  }
  // Shares a context of the C ABI.
  explicit Context(ricci_ctx* handle) : handle_(ricci_context_retain(handle)) {}
  Context(const Context& o) : handle_(ricci_context_retain(o.handle_)) {}
  Context(Context&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  Context& operator=(Context o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Context() {
    if (handle_ != nullptr) ricci_context_release(handle_);
  }

  ricci_ctx* handle() const { return handle_; }
  void add_plugin(ricci_plugin_query_fn query) { Check(ricci_context_add_plugin(handle_, query)); }
  void load_plugin(std::string_view path) { Check(ricci_context_load_plugin(handle_, path.data(), path.size())); }
  // Options of ricci_context_config: `threads`, `log_compiles`, `dump_dir`, `vmap`.
  void config(std::string_view key, std::string_view value) {
    Check(ricci_context_config(handle_, key.data(), key.size(), value.data(), value.size()));
  }

  // The best device: that of the plugin added last, else the reference interpreter.
  Device device() const { return Device(ricci_device_get(handle_, 0)); }
  // The first device of a kind (`ref`, `cpu`).
  Device device(std::string_view kind) const {
    ricci_device* d = ricci_device_find(handle_, kind.data(), kind.size());
    if (d == nullptr) Fail("context: there is no device of kind ", kind);
    return Device(d);
  }

 private:
  ricci_ctx* handle_ = nullptr;
};

}  // namespace ricci::inline v0
#endif
