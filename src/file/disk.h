// Whole files: read at once, and written so that a reader sees the old file or the new one, never a part.
#ifndef RICCI_FILE_DISK_H_
#define RICCI_FILE_DISK_H_
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/arena.h"

namespace ricci { inline namespace v0 { namespace file {

// NOT_FOUND if the file does not exist, FAILED_PRECONDITION, with the reason of the system, if it cannot be read. The
// bytes are in `memory`, or mapped, aligned to 64 bytes.
class FileBytes {
 public:
  static absl::StatusOr<FileBytes> Read(const base::HostMemory* memory, std::string_view path);
  // Maps a large file: processes share its pages, which are loaded as they are needed and need no memory of the host's.
  // It must not be changed in place, which would change or end a process that uses it; WriteFile replaces it. A small
  // one is read.
  static absl::StatusOr<FileBytes> ReadOrMap(const base::HostMemory* memory, std::string_view path);
  static constexpr size_t kLarge = 1 << 20;
  FileBytes(FileBytes&& o) noexcept;
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();
  std::string_view bytes() const { return {data_, size_}; }
  bool mapped() const { return memory_ == nullptr; }

 private:
  struct OpenFile;
  static absl::StatusOr<FileBytes> ReadOpen(const base::HostMemory* memory, const OpenFile& file,
                                            std::string_view path);
  FileBytes(const base::HostMemory* memory, size_t size);
  FileBytes(char* map, size_t size) : memory_(nullptr), data_(map), size_(size) {}

  const base::HostMemory* memory_;  // NULL: it is mapped
  char* data_;
  size_t size_;
};

// Writes `part`, a file next to it (PATH.part if it is empty), and renames that. FAILED_PRECONDITION with the reason of
// the system. Several writers of one file need different parts. Where no part is given, a user has named the file: of a
// link the file that it leads to is written, and a device or a pipe is written to, since a file in its place would be
// none. With a part of its own whatever is at PATH is replaced.
absl::Status WriteFile(std::string_view path, std::string_view bytes, std::string part = {});

}}}  // namespace ricci::v0::file
#endif
