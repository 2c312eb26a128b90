// The files of a folder in which compiled code is kept (disk_cache.h): which are ours, what they hold, and their end.
#ifndef RICCI_RUNTIME_CACHE_FOLDER_H_
#define RICCI_RUNTIME_CACHE_FOLDER_H_
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ricci/cache.h"

namespace ricci { inline namespace v0 { namespace runtime {

inline constexpr std::string_view kEntryEnding = ".code", kPartEnding = ".part";
inline constexpr uint64_t kLargestEntry = uint64_t{1} << 30;  // bytes of a file: what is larger is none of ours

struct CacheFile {
  std::string name;
  uint64_t bytes;
  int64_t used_ns;  // last, since 1970
  bool unfinished;  // its writer is at it, or has died
};

// Ours, in no order; none if the folder is not there. Names begin with the 64 digits of a key.
std::vector<CacheFile> FilesIn(const std::string& folder);
// Deletes it; false if that fails, perhaps because someone else has done so.
bool Delete(const std::string& folder, const CacheFile& file);

// ricci_cache_list and ricci_cache_clear.
absl::Status ListEntries(const std::string& folder, const std::function<void(const ricci_cache_entry&)>& use);
struct Cleared {
  uint64_t files = 0, bytes = 0;
};
absl::StatusOr<Cleared> ClearFolder(const std::string& folder);

}}}  // namespace ricci::v0::runtime
#endif
