#include "runtime/cache/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/abi_text.h"
#include "file/disk.h"
#include "runtime/cache/cache_entry.h"
#include "runtime/cache/executable_entry.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr size_t kDigits = 2 * sizeof(base::Digest);

int ValueOf(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool IsName(std::string_view name) {
  const auto is_digit = [](char c) { return ValueOf(c) >= 0; };
  return name.size() > kDigits && std::all_of(name.begin(), name.begin() + kDigits, is_digit);
}

base::Digest KeyOf(std::string_view name) {
  base::Digest key;
  for (size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<uint8_t>(ValueOf(name[2 * i]) << 4 | ValueOf(name[2 * i + 1]));
  }
  return key;
}

int64_t Nanoseconds(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

std::string PathOf(const std::string& folder, const CacheFile& file) { return folder + "/" + file.name; }

absl::Status CheckFolder(const std::string& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return absl::OkStatus();
  return absl::NotFoundError(base::Cat("cache: ", folder,
                                       " is not a folder; the option `cache_dir` makes it when the first "
                                       "program is kept"));
}

constexpr base::HostMemory kMalloc = {nullptr,
                                      [](void*, size_t size, size_t align) -> void* {
                                        return std::aligned_alloc(align, (size + align - 1) / align * align);
                                      },
                                      [](void*, void* p, size_t, size_t) { std::free(p); }};

// What the file holds; `bytes` are its own.
ricci_cache_entry Described(const CacheFile& file, std::string_view bytes) {
  ricci_cache_entry e{};
  e.hdr.size = sizeof e;
  e.file = base::Str(file.name);
  e.bytes = file.bytes;
  e.used_ns = static_cast<uint64_t>(file.used_ns);
  e.damaged = 1;
  const std::optional<std::string_view> code = ReadCacheEntry(KeyOf(file.name), bytes);
  if (!code) return e;
  const std::optional<ExecutableEntry> entry = ReadExecutableEntry(*code);
  e.damaged = !entry && IsExecutableEntry(*code) ? 1 : 0;
  e.kind = entry || e.damaged != 0 ? RICCI_CACHE_OF_EXECUTABLE : RICCI_CACHE_OF_CODE;
  if (entry) e.program = base::Str(entry->name), e.about = base::Str(entry->about);
  return e;
}

}  // namespace

std::vector<CacheFile> FilesIn(const std::string& folder) {
  std::vector<CacheFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string();
    struct stat about {};
    if (!IsName(name) || ::lstat(i->path().c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    const bool whole = std::string_view(name).substr(kDigits) == kEntryEnding, part = name.ends_with(kPartEnding);
    if (!whole && !part) continue;
    files.push_back({name, static_cast<uint64_t>(about.st_size), Nanoseconds(about.st_mtim), part});
  }
  return files;
}

bool Delete(const std::string& folder, const CacheFile& file) { return ::unlink(PathOf(folder, file).c_str()) == 0; }

absl::Status ListEntries(const std::string& folder, const std::function<void(const ricci_cache_entry&)>& use) {
  RICCI_TRY(CheckFolder(folder));
  std::vector<CacheFile> files = FilesIn(folder);
  std::erase_if(files, [](const CacheFile& f) { return f.unfinished; });
  std::sort(files.begin(), files.end(), [](const CacheFile& a, const CacheFile& b) {
    return a.used_ns != b.used_ns ? a.used_ns > b.used_ns : a.name < b.name;
  });
  for (const CacheFile& f : files) {
    const auto bytes = f.bytes > kLargestEntry ? absl::StatusOr<file::FileBytes>(absl::OutOfRangeError("too large"))
                                               : file::FileBytes::Read(&kMalloc, PathOf(folder, f));
    if (absl::IsNotFound(bytes.status())) continue;  // deleted meanwhile
    use(Described(f, bytes.ok() ? bytes->bytes() : std::string_view()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Cleared> ClearFolder(const std::string& folder) {
  RICCI_TRY(CheckFolder(folder));
  Cleared cleared;
  std::string kept;  // the first that cannot be deleted, and why; a file that another process has deleted is fine
  for (const CacheFile& f : FilesIn(folder)) {
    if (Delete(folder, f)) {
      ++cleared.files;
      cleared.bytes += f.bytes;
    } else if (errno != ENOENT && kept.empty()) {
      kept = base::Cat(PathOf(folder, f), ": cannot be deleted: ", std::strerror(errno));
    }
  }
  if (!kept.empty()) return absl::FailedPreconditionError(base::Cat("cache: ", kept));
  return cleared;
}

}}}  // namespace ricci::v0::runtime
