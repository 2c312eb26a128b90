// CodeCache: what ricci/cache.h offers to backends, and whole executables, over the host's hooks or a folder.
//
// It never fails: whatever goes wrong, memory that runs out too, is a miss, or an entry that is not kept.
#ifndef RICCI_RUNTIME_CODE_CACHE_H_
#define RICCI_RUNTIME_CODE_CACHE_H_
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "ricci/cache.h"
#include "ricci/context.h"
#include "runtime/cache/disk_cache.h"

namespace ricci { inline namespace v0 { namespace runtime {

class CodeCache {
 public:
  using Use = std::function<void(std::string_view)>;
  using MayUse = std::function<bool(std::string_view)>;  // false: the entry is of no use
  // `hooks` and `memory` outlive it.
  CodeCache(const ricci_hooks& hooks, const base::HostMemory* memory) : hooks_(hooks), memory_(memory) {}

  // An empty folder: none.
  void SetFolder(const std::string& folder, uint64_t limit);
  bool is_on() const { return IsOn(disk().get()); }

  // Whether there is an entry of `key`, whose code goes to `use`.
  bool Load(std::string_view key, const Use& use) noexcept;
  void Store(std::string_view key, std::string_view code) noexcept;
  // The same of whole executables, which are counted by themselves.
  bool LoadExecutable(std::string_view key, const MayUse& use) noexcept;
  void StoreExecutable(std::string_view key, std::string_view code) noexcept;
  ricci_cache_stats stats() const;

 private:
  bool IsOn(const DiskCache* disk) const { return hooks_.cache_load != nullptr || disk != nullptr; }
  std::shared_ptr<DiskCache> disk() const;  // NULL: none
  void Read(const DiskCache* disk, const base::Digest& key, const Use& use) const;
  bool Find(std::string_view key, const MayUse& use, std::atomic<uint64_t>& hits,
            std::atomic<uint64_t>& misses) noexcept;
  void Keep(std::string_view key, std::string_view code, std::atomic<uint64_t>& stores) noexcept;
  void Failed(const std::string& why);

  const ricci_hooks& hooks_;
  const base::HostMemory* const memory_;
  mutable std::mutex mutex_;
  std::shared_ptr<DiskCache> disk_;
  std::atomic<uint64_t> hits_{0}, misses_{0}, refused_{0}, stores_{0}, failed_stores_{0}, evicted_{0};
  std::atomic<uint64_t> executable_hits_{0}, executable_misses_{0}, executable_stores_{0};
};

}}}  // namespace ricci::v0::runtime
#endif
