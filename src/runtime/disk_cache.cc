#include "runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/status.h"
#include "file/disk.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 30;  // of a file: what is larger is none of ours
constexpr int64_t kAbandoned = 3600;              // seconds: an unfinished file of that age has lost its writer

struct Kept {
  std::string path;
  uint64_t bytes;
  int64_t used_ns;  // last
};

bool IsName(std::string_view name) {
  return name.size() >= 64 && std::all_of(name.begin(), name.begin() + 64,
                                          [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

int64_t Nanoseconds(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

// Our files; those that a writer has left unfinished are deleted.
std::vector<Kept> FilesIn(const std::string& folder) {
  std::vector<Kept> files;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string(), path = i->path().string();
    struct stat about {};
    if (!IsName(name) || ::lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    if (name.substr(64) == ".code") {
      files.push_back({path, static_cast<uint64_t>(about.st_size), Nanoseconds(about.st_mtim)});
    } else if (name.ends_with(".part") && now.tv_sec - about.st_mtim.tv_sec > kAbandoned) {
      ::unlink(path.c_str());
    }
  }
  return files;
}

}  // namespace

void DiskCache::Load(const std::string& name, const std::function<void(std::string_view)>& use) const {
  const std::string path = Path(name);
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  if (static_cast<uint64_t>(about.st_size) > kLargest) return;
  const absl::StatusOr<file::FileBytes> file = file::FileBytes::Read(memory_, path);
  if (!file.ok()) return;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  use(file->bytes());
}

std::string DiskCache::Store(const std::string& name, std::string_view entry, uint64_t& evicted) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);  // if it fails, so does writing
  // No other process, no other cache of this process and no other thread of this cache writes it.
  const std::string writer = base::Cat(::getpid(), "-", reinterpret_cast<uintptr_t>(this), "-", writes_++);
  const std::string part = base::Cat(folder_, "/", name, ".", writer, ".part");
  const absl::Status written = file::WriteFile(Path(name), entry, part);
  if (!written.ok()) return std::string(written.message());
  if (limit_ != 0 && (bytes_ == ~uint64_t{0} || (bytes_ += entry.size()) > limit_)) evicted += Trim();
  return {};
}

// Deletes the files used longest ago until a tenth of the room is free, and counts them.
uint64_t DiskCache::Trim() {
  const std::lock_guard lock(trimming_);
  std::vector<Kept> files = FilesIn(folder_);
  uint64_t bytes = 0, deleted = 0;
  for (const Kept& f : files) bytes += f.bytes;
  if (bytes > limit_) {
    std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.used_ns < b.used_ns; });
    for (const Kept& f : files) {
      if (bytes <= limit_ - limit_ / 10) break;
      if (::unlink(f.path.c_str()) == 0) ++deleted;
      bytes -= f.bytes;
    }
  }
  bytes_ = bytes;
  return deleted;
}

}}}  // namespace ricci::v0::runtime
