#include "runtime/cache/code_cache.h"

#include <exception>
#include <optional>

#include "runtime/cache/cache_entry.h"

namespace ricci { inline namespace v0 { namespace runtime {

void CodeCache::SetFolder(const std::string& folder, uint64_t limit) {
  auto disk = folder.empty() ? nullptr : std::make_shared<DiskCache>(memory_, folder, limit);
  const std::lock_guard lock(mutex_);
  disk_ = std::move(disk);
}

std::shared_ptr<DiskCache> CodeCache::disk() const {
  const std::lock_guard lock(mutex_);
  return disk_;
}

// Passes the entry to `use`, if there is one.
void CodeCache::Read(const DiskCache* disk, const base::Digest& key, const Use& use) const {
  if (disk != nullptr) return disk->Load(base::Hex(key), use);
  std::string entry;
  const auto append = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  hooks_.cache_load(hooks_.cache_self, key.data(), key.size(), &entry, append);
  if (!entry.empty()) use(entry);
}

// The folder is asked for once, since the host may take it away meanwhile.
bool CodeCache::Find(std::string_view key, const MayUse& use, std::atomic<uint64_t>& hits,
                     std::atomic<uint64_t>& misses) noexcept {
  const std::shared_ptr<DiskCache> disk = this->disk();
  if (!IsOn(disk.get())) return false;
  bool found = false;
  try {
    const base::Digest digest = base::Sha256(key);
    Read(disk.get(), digest, [&](std::string_view entry) {
      const std::optional<std::string_view> code = ReadCacheEntry(digest, entry);
      found = code && use(*code);
      if (!found) ++refused_;
    });
  } catch (...) {  // of the host's functions too
    found = false;
  }
  ++(found ? hits : misses);
  return found;
}

void CodeCache::Keep(std::string_view key, std::string_view code, std::atomic<uint64_t>& stores) noexcept {
  const std::shared_ptr<DiskCache> disk = this->disk();
  if (!IsOn(disk.get())) return;
  try {
    const base::Digest digest = base::Sha256(key);
    const std::string entry = WriteCacheEntry(digest, code);
    ++stores;
    if (disk == nullptr) {
      return hooks_.cache_store(hooks_.cache_self, digest.data(), digest.size(), entry.data(), entry.size());
    }
    uint64_t evicted = 0;
    const std::string why = disk->Store(base::Hex(digest), entry, evicted);
    evicted_ += evicted;
    if (!why.empty()) Failed(why);
  } catch (...) {
    ++failed_stores_;
  }
}

bool CodeCache::Load(std::string_view key, const Use& use) noexcept {
  const auto any = [&](std::string_view code) { return use(code), true; };
  return Find(key, any, hits_, misses_);
}
void CodeCache::Store(std::string_view key, std::string_view code) noexcept { Keep(key, code, stores_); }

bool CodeCache::LoadExecutable(std::string_view key, const MayUse& use) noexcept {
  return Find(key, use, executable_hits_, executable_misses_);
}
void CodeCache::StoreExecutable(std::string_view key, std::string_view code) noexcept {
  Keep(key, code, executable_stores_);
}

// Reported once: what cannot be written once can mostly never be.
void CodeCache::Failed(const std::string& why) {
  if (failed_stores_++ != 0 || hooks_.log == nullptr) return;
  const std::string text = "cache_dir: compiled code is not kept: " + why;
  hooks_.log(hooks_.log_self, RICCI_LOG_WARNING, text.data(), text.size());
}

ricci_cache_stats CodeCache::stats() const {
  return {{},
          hits_,
          misses_,
          refused_,
          stores_,
          failed_stores_,
          evicted_,
          executable_hits_,
          executable_misses_,
          executable_stores_};
}

}}}  // namespace ricci::v0::runtime
