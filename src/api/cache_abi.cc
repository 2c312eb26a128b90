// ricci/cache.h: compiled code that outlives a process.
#include "ricci/cache.h"

#include "api/arguments.h"
#include "runtime/cache/cache_folder.h"
#include "runtime/cache/code_cache.h"
#include "runtime/context/context.h"

using namespace ricci;
using runtime::FromAbi;

namespace {

std::string_view Text(const void* p, size_t n) { return api::View(static_cast<const char*>(p), n); }

}  // namespace

extern "C" {

void ricci_cache_info(const ricci_ctx* c, ricci_cache_stats* out) {
  if (c != nullptr && out != nullptr) base::WriteStruct(out, FromAbi(c)->code_cache().stats());
}

ricci_status* ricci_cache_list(const char* folder, size_t len, void* sink,
                               void (*entry)(void* sink, const ricci_cache_entry* e)) {
  return api::Border(__func__, [&](api::Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"folder", folder}, {"entry", reinterpret_cast<const void*>(entry)}}));
    RICCI_TRY(args.Path("folder", folder, len));
    return runtime::ListEntries(std::string(api::View(folder, len)),
                                [&](const ricci_cache_entry& e) { entry(sink, &e); });
  });
}

ricci_status* ricci_cache_clear(const char* folder, size_t len, uint64_t* files, uint64_t* bytes) {
  return api::Border(__func__, [&](api::Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"folder", folder}}));
    RICCI_TRY(args.Path("folder", folder, len));
    RICCI_ASSIGN(const runtime::Cleared cleared, runtime::ClearFolder(std::string(api::View(folder, len))));
    if (files != nullptr) *files = cleared.files;
    if (bytes != nullptr) *bytes = cleared.bytes;
    return absl::OkStatus();
  });
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
