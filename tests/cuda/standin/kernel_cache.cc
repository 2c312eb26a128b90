#include "kernel_cache.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace ricci::cuda::standin {
namespace {

namespace fs = std::filesystem;

// Nothing here throws: where a file cannot be, there is none.
void DropOld(const fs::path& folder) {
  std::error_code ignored;
  const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    const auto used = fs::last_write_time(at->path(), ignored);
    if (!ignored && used < oldest) fs::remove(at->path(), ignored);
  }
}

// Empty: there is none.
const fs::path& Folder() {
  static const fs::path& folder = *[] {
    const char* const given = std::getenv("RICCI_STANDIN_CACHE");
    auto* const path = new fs::path(given == nullptr ? "" : given);
    std::error_code failed;
    if (!path->empty()) fs::create_directories(*path, failed);
    if (failed) path->clear();
    if (!path->empty()) DropOld(*path);
    return path;
  }();
  return folder;
}

// FNV-1a: the same name in every build of the stand-in.
std::string NameOf(const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : key) hash = (hash ^ c) * 0x100000001b3;
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.kernel", static_cast<unsigned long long>(hash));
  return name;
}

std::string Header(const std::string& key) { return std::to_string(key.size()) + "\n" + key; }

}  // namespace

std::string FindKept(const std::string& key) {
  if (Folder().empty()) return {};
  const fs::path path = Folder() / NameOf(key);
  std::ifstream in(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}}, header = Header(key);
  if (all.compare(0, header.size(), header) != 0) return {};
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return all.substr(header.size());
}

void Keep(const std::string& key, const std::string& made) {
  if (Folder().empty()) return;
  static std::atomic<uint64_t> files{0};
  const fs::path path = Folder() / NameOf(key),
                 fresh = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(files++);
  std::ofstream out(fresh, std::ios::binary);
  out << Header(key) << made;
  out.close();
  std::error_code failed;
  if (!out.fail()) fs::rename(fresh, path, failed);
  if (out.fail() || failed) fs::remove(fresh, failed);
}

}  // namespace ricci::cuda::standin
