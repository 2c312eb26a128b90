// DiskCache: entries as files of one folder, which any number of threads and processes share.
//
// An entry is written under a name that only its writer uses, and renamed, so a reader sees all of it or nothing; after
// a crash of the machine it may be cut off, which its checksum shows. Nothing waits for the disk or for a lock on a
// file. Whatever fails makes an entry missing, never an error. Only files that are named as ours are ever deleted.
//
// Reading a file marks it as used. When `cache_bytes` is passed, the files used longest ago are deleted, down to nine
// tenths. Unfinished files of a process that died are deleted an hour later.
#ifndef RICCI_RUNTIME_DISK_CACHE_H_
#define RICCI_RUNTIME_DISK_CACHE_H_
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/arena.h"

namespace ricci { inline namespace v0 { namespace runtime {

class DiskCache {
 public:
  // At most about `limit` bytes of files; 0: any number. The folder need not be there.
  DiskCache(const base::HostMemory* memory, std::string folder, uint64_t limit)
      : memory_(memory), folder_(std::move(folder)), limit_(limit) {}

  // Passes the file `name` (64 digits), if it can be read, to `use`, and marks it as used now.
  void Load(const std::string& name, const std::function<void(std::string_view)>& use) const;
  // Why the file could not be written, or nothing. `evicted` grows by the number of files deleted for it.
  std::string Store(const std::string& name, std::string_view entry, uint64_t& evicted);

 private:
  std::string Path(const std::string& name) const;
  uint64_t Trim();

  const base::HostMemory* const memory_;
  const std::string folder_;
  const uint64_t limit_;
  std::atomic<uint64_t> writes_{0};
  std::mutex trimming_;
  std::atomic<uint64_t> bytes_{~uint64_t{0}};  // of all files, about; at first unknown
};

}}}  // namespace ricci::v0::runtime
#endif
