// Contexts, their plugins and devices.
#include "ricci/context.hpp"

#include <cstdio>

// Weak, so that a program without ricci::cpu links too: it is NULL there.
extern "C" __attribute__((weak)) ricci_status* ricci_plugin_query_cpu(const ricci_host_info*, const ricci_plugin**);

namespace ricci { inline namespace v0 {
namespace {

ricci_device_desc InfoOf(ricci_device* device) {
  ricci_device_desc d{};
  d.hdr.size = sizeof d;
  ricci_device_info(device, &d);
  return d;
}
ricci_ctx* Created(const ricci_context_opts& opts) {
  ricci_ctx* c = nullptr;
  Check(ricci_context_create(&opts, &c));
  return c;
}
void AddBuiltIn(Context& c) {
  c.add_plugin(ricci_plugin_query_lax);
  c.add_plugin(ricci_plugin_query_nn);
  if (ricci_plugin_query_cpu != nullptr) c.add_plugin(ricci_plugin_query_cpu);
}

constexpr ricci_hooks kLogToStderr = [] {
  ricci_hooks h{};
  h.hdr.size = sizeof h;
  h.log = [](void*, uint32_t, const char* text, size_t n) {
    std::fwrite(text, 1, n, stderr);
    std::fputc('\n', stderr);
  };
  return h;
}();
ricci_context_opts WithHooks(const ricci_hooks* hooks) {
  return {{sizeof(ricci_context_opts), 0, nullptr}, hooks == nullptr ? &kLogToStderr : hooks};
}

}  // namespace

std::string_view Device::kind() const { return View(InfoOf(handle_).kind); }
std::string_view Device::name() const { return View(InfoOf(handle_).name); }
uint32_t Device::workers() const { return InfoOf(handle_).workers; }
int32_t Device::ordinal() const { return InfoOf(handle_).ordinal; }
ricci_memory_stats Device::memory_stats() const {
  ricci_memory_stats stats{};
  stats.hdr.size = sizeof stats;
  Check(ricci_device_memory_stats(handle_, &stats));
  return stats;
}
void Device::set_memory_limit(uint64_t bytes) const { Check(ricci_device_set_memory_limit(handle_, bytes)); }
void Device::trim(uint64_t keep_bytes) const { Check(ricci_device_trim(handle_, keep_bytes)); }

Context::Context() : Context(ContextOptions{}) {}
Context::Context(const ContextOptions& options) : Handle(Created(WithHooks(options.hooks))) {
  for (const auto& [key, value] : options.options) config(key, value);
  AddBuiltIn(*this);
  for (const Plugin& p : options.plugins) p.query() != nullptr ? add_plugin(p.query()) : load_plugin(p.path());
}
Context::Context(const ricci_context_opts& opts) : Handle(Created(opts)) { AddBuiltIn(*this); }

void Context::add_plugin(ricci_plugin_query_fn query) { Check(ricci_context_add_plugin(handle(), query)); }
void Context::load_plugin(std::string_view path) {
  Check(ricci_context_load_plugin(handle(), path.data(), path.size()));
}
void Context::config(std::string_view key, std::string_view value) {
  Check(ricci_context_config(handle(), key.data(), key.size(), value.data(), value.size()));
}

ricci_cache_stats Context::cache_stats() const {
  ricci_cache_stats s{};
  s.hdr.size = sizeof s;
  ricci_cache_info(handle(), &s);
  return s;
}

Device Context::device() const { return Device(ricci_device_get(handle(), 0)); }
Device Context::device(std::string_view kind, int32_t ordinal) const {
  for (const Device d : devices()) {
    if (d.kind() == kind && d.ordinal() == ordinal) return d;
  }
  if (ordinal == 0) Fail("context: no device of kind ", kind);
  Fail("context: no device of kind ", kind, " with ordinal ", ordinal);
}
std::vector<Device> Context::devices() const {
  std::vector<Device> all;
  for (uint32_t i = 0; i < ricci_device_count(handle()); ++i) all.emplace_back(ricci_device_get(handle(), i));
  return all;
}

}}  // namespace ricci::v0
