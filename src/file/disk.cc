#include "file/disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr size_t kAlign = 64;

absl::Status Failed(std::string_view path, std::string_view what, int error) {
  const auto code = error == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kFailedPrecondition;
  return absl::Status(code, base::Cat(path, ": ", what, ": ", std::string(std::strerror(error))));
}

// An open file, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  bool Close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// Moves `size` bytes by calls that may move fewer; 0, or the error of the system.
template <typename Move>
int MoveAll(size_t size, Move&& move) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = move(done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    done += static_cast<size_t>(n);
  }
  return 0;
}

// The file that a link leads to; any other path as it is.
std::string Target(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISLNK(about.st_mode)) return path;
  char found[PATH_MAX];
  return ::realpath(path.c_str(), found) == nullptr ? path : std::string(found);
}

int WriteNew(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  const int error =
      MoveAll(bytes.size(), [&](size_t done, size_t left) { return ::write(file.get(), bytes.data() + done, left); });
  if (error != 0) return error;
  return file.Close() ? 0 : errno;
}

}  // namespace

// A file with contents, open for reading.
struct FileBytes::OpenFile {
  Descriptor descriptor;
  size_t size;

  static absl::StatusOr<OpenFile> Open(std::string_view path) {
    // A pipe is refused, without waiting for its writer.
    Descriptor file(::open(std::string(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (file.get() < 0 || ::fstat(file.get(), &about) != 0) return Failed(path, "cannot be read", errno);
    if (S_ISDIR(about.st_mode)) return Failed(path, "cannot be read", EISDIR);
    if (!S_ISREG(about.st_mode))
      return absl::FailedPreconditionError(base::Cat(path, ": cannot be read: not a regular file"));
    return OpenFile{std::move(file), static_cast<size_t>(about.st_size)};
  }
};

FileBytes::FileBytes(const base::HostMemory* memory, size_t size)
    : memory_(memory), data_(static_cast<char*>(memory->Allocate(std::max<size_t>(size, 1), kAlign))), size_(size) {}
FileBytes::FileBytes(FileBytes&& o) noexcept
    : memory_(o.memory_), data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
FileBytes::~FileBytes() {
  if (data_ == nullptr) return;
  if (mapped()) {
    ::munmap(data_, size_);
  } else {
    memory_->Free(data_, std::max<size_t>(size_, 1), kAlign);
  }
}

absl::StatusOr<FileBytes> FileBytes::Read(const base::HostMemory* memory, std::string_view path) {
  RICCI_ASSIGN(const OpenFile file, OpenFile::Open(path));
  return ReadOpen(memory, file, path);
}

absl::StatusOr<FileBytes> FileBytes::ReadOrMap(const base::HostMemory* memory, std::string_view path) {
  RICCI_ASSIGN(const OpenFile file, OpenFile::Open(path));
  if (file.size < kLarge) return ReadOpen(memory, file, path);
  void* map = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (map == MAP_FAILED) return Failed(path, "cannot be mapped", errno);
  return FileBytes(static_cast<char*>(map), file.size);
}

absl::StatusOr<FileBytes> FileBytes::ReadOpen(const base::HostMemory* memory, const OpenFile& file,
                                              std::string_view path) {
  FileBytes out(memory, file.size);
  const int error = MoveAll(
      out.size_, [&](size_t done, size_t left) { return ::read(file.descriptor.get(), out.data_ + done, left); });
  if (error != 0) return Failed(path, "cannot be read", error);
  return out;
}

absl::Status WriteFile(std::string_view path, std::string_view bytes, std::string part) {
  std::string name(path);
  if (part.empty()) {
    struct stat about {};
    if (::stat(name.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
      const int error = WriteNew(name, bytes);
      return error == 0 ? absl::OkStatus() : Failed(path, "cannot be written", error);
    }
    name = Target(name);
    part = name + ".part";
  }
  int error = WriteNew(part, bytes);
  if (error == 0 && std::rename(part.c_str(), name.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  ::unlink(part.c_str());
  return Failed(path, "cannot be written", error);
}

}}}  // namespace ricci::v0::file
