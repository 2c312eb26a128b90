// ricci/cache.h: compiled code that outlives a process.
#include "ricci/cache.h"

#include "api/arguments.h"
#include "runtime/code_cache.h"
#include "runtime/context.h"

using namespace ricci;
using runtime::FromAbi;

namespace {

std::string_view Text(const void* p, size_t n) { return api::View(static_cast<const char*>(p), n); }

}  // namespace

extern "C" {

void ricci_cache_info(const ricci_ctx* c, ricci_cache_stats* out) {
  if (c != nullptr && out != nullptr) base::WriteStruct(out, FromAbi(c)->code_cache().stats());
}

uint32_t ricci_cache_is_on(const ricci_ctx* c) { return c != nullptr && FromAbi(c)->code_cache().is_on() ? 1 : 0; }

uint32_t ricci_cache_load(ricci_ctx* c, const void* key, size_t key_len, void* sink,
                          void (*write)(void* sink, const char* p, size_t n)) {
  if (c == nullptr || key == nullptr || write == nullptr) return 0;
  const auto use = [&](std::string_view code) { write(sink, code.data(), code.size()); };
  return FromAbi(c)->code_cache().Load(Text(key, key_len), use) ? 1 : 0;
}

void ricci_cache_store(ricci_ctx* c, const void* key, size_t key_len, const void* code, size_t len) {
  if (c == nullptr || key == nullptr || code == nullptr) return;
  FromAbi(c)->code_cache().Store(Text(key, key_len), Text(code, len));
}
}
