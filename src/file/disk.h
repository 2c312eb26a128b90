// Whole files: read at once, and written so that a reader sees the old file or the new one, never a part.
#ifndef RICCI_FILE_DISK_H_
#define RICCI_FILE_DISK_H_
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/arena.h"

namespace ricci { inline namespace v0 { namespace file {

// NOT_FOUND if there is no such file, FAILED_PRECONDITION, with the reason of the system, if it cannot be read. The
// bytes are in `memory`, aligned to 64 bytes.
class FileBytes {
 public:
  static absl::StatusOr<FileBytes> Read(const base::HostMemory* memory, std::string_view path);
  FileBytes(const base::HostMemory* memory, size_t size);
  FileBytes(FileBytes&& o) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();
  std::string_view bytes() const { return {data_, size_}; }
  char* data() { return data_; }

 private:
  const base::HostMemory* memory_;
  char* data_;
  size_t size_;
};

// Writes `path` + ".part" next to the file and renames it. FAILED_PRECONDITION with the reason of the system.
absl::Status WriteFile(std::string_view path, std::string_view bytes);

}}}  // namespace ricci::v0::file
#endif
