// Hosts that keep compiled code: in a map of their own, or in a folder that is deleted at the end; and what a cache
// says of itself.
#ifndef RICCI_TESTS_SUPPORT_CACHED_HOST_H_
#define RICCI_TESTS_SUPPORT_CACHED_HOST_H_
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "ricci/cache.h"
#include "support/program_runner.h"

namespace ricci::testing {

inline ricci_cache_stats CacheStats(const ricci_ctx* c) {
  ricci_cache_stats s{};
  s.hdr.size = sizeof s;
  ricci_cache_info(c, &s);
  return s;
}

// Entries by key, in memory.
struct CachingHost {
  CachingHost() {
    hooks.hdr.size = sizeof hooks;
    hooks.cache_self = this;
    hooks.cache_load = [](void* self, const void* key, size_t key_len, void* sink,
                          void (*write)(void* sink, const char* p, size_t n)) {
      CachingHost& h = *static_cast<CachingHost*>(self);
      const std::lock_guard lock(h.mutex);
      const auto found = h.entries.find(std::string(static_cast<const char*>(key), key_len));
      if (found == h.entries.end()) return;
      const size_t half = found->second.size() / 2;
      write(sink, found->second.data(), half);
      write(sink, found->second.data() + half, found->second.size() - half);
    };
    hooks.cache_store = [](void* self, const void* key, size_t key_len, const void* entry, size_t len) {
      CachingHost& h = *static_cast<CachingHost*>(self);
      const std::lock_guard lock(h.mutex);
      h.entries[std::string(static_cast<const char*>(key), key_len)] = {static_cast<const char*>(entry), len};
    };
    opts.hooks = &hooks;
  }
  CachingHost(const CachingHost&) = delete;

  std::mutex mutex;
  std::map<std::string, std::string> entries;
  ricci_hooks hooks{};
  ricci_context_opts opts = ricci_context_opts_default();
};

// A new folder in that of temporary files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "ricci-cache-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

  std::vector<std::filesystem::path> Files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& e : std::filesystem::directory_iterator(path_)) files.push_back(e.path());
    return files;
  }

 private:
  std::string path_;
};

inline void SetOption(ricci_ctx* ctx, std::string_view key, std::string_view value) {
  ASSERT_TRUE(Ok(ricci_context_config(ctx, key.data(), key.size(), value.data(), value.size())));
}

inline std::string BytesOfFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void SetBytesOfFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace ricci::testing
#endif
