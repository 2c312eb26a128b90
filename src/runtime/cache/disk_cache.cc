#include "runtime/cache/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <vector>

#include "base/status.h"
#include "file/disk.h"
#include "runtime/cache/cache_folder.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr int64_t kAbandoned = 3600;  // seconds: an unfinished file of that age has lost its writer

}  // namespace

std::string DiskCache::Path(const std::string& name) const { return base::Cat(folder_, "/", name, kEntryEnding); }

void DiskCache::Load(const std::string& name, const std::function<void(std::string_view)>& use) const {
  const std::string path = Path(name);
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  if (static_cast<uint64_t>(about.st_size) > kLargestEntry) return;
  const absl::StatusOr<file::FileBytes> file = file::FileBytes::Read(memory_, path);
  if (!file.ok()) return;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  use(file->bytes());
}

std::string DiskCache::Store(const std::string& name, std::string_view entry, uint64_t& evicted) {
  if (entry.size() > kLargestEntry) return base::Cat("an entry of ", entry.size(), " bytes is too large");
  std::error_code error;
  std::filesystem::create_directories(folder_, error);  // if it fails, so does writing
  // No other process, no other cache of this process and no other thread of this cache writes it.
  const std::string writer = base::Cat(::getpid(), "-", reinterpret_cast<uintptr_t>(this), "-", writes_++);
  const std::string part = base::Cat(folder_, "/", name, ".", writer, kPartEnding);
  const absl::Status written = file::WriteFile(Path(name), entry, part);
  if (!written.ok()) return std::string(written.message());
  if (limit_ != 0 && (bytes_ == ~uint64_t{0} || (bytes_ += entry.size()) > limit_)) evicted += Trim();
  return {};
}

// Deletes the files used longest ago until a tenth of the room is free, and counts them. Those that a writer has left
// unfinished go too.
uint64_t DiskCache::Trim() {
  const std::lock_guard lock(trimming_);
  std::vector<CacheFile> files = FilesIn(folder_);
  const auto abandoned = [now = std::time(nullptr)](const CacheFile& f) {
    return f.unfinished && now - f.used_ns / 1'000'000'000 > kAbandoned;
  };
  for (const CacheFile& f : files) {
    if (abandoned(f)) Delete(folder_, f);
  }
  std::erase_if(files, [](const CacheFile& f) { return f.unfinished; });
  uint64_t bytes = 0, deleted = 0;
  for (const CacheFile& f : files) bytes += f.bytes;
  if (bytes > limit_) {
    std::sort(files.begin(), files.end(), [](const CacheFile& x, const CacheFile& y) { return x.used_ns < y.used_ns; });
    for (const CacheFile& f : files) {
      if (bytes <= limit_ - limit_ / 10) break;
      if (Delete(folder_, f)) ++deleted;
      bytes -= f.bytes;
    }
  }
  bytes_ = bytes;
  return deleted;
}

}}}  // namespace ricci::v0::runtime
