// Runs nvdisasm. Its input and output are files without a name in memory: nothing is written to a disk, and no pipe can
// block.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cuda/driver/gpu.h"
#include "cuda/explain/listing.h"

namespace ricci::cuda {
namespace {

class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("ricci", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  bool Write(const std::string& bytes) const {
    return fd_ >= 0 && write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  std::string Read() const {
    std::string text;
    const off_t size = lseek(fd_, 0, SEEK_END);
    if (size <= 0) return text;
    text.resize(static_cast<size_t>(size));
    const ssize_t got = pread(fd_, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return text;
  }

 private:
  const int fd_;
};

// 0, or an errno; `status` is that of waitpid.
int Run(const std::string& path, const MemoryFile& in, const MemoryFile& out, const MemoryFile& errors, int& status) {
  std::string words[] = {path, "--print-line-info", "--print-code", "/proc/self/fd/0"};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  char* const environment[] = {nullptr};
  posix_spawn_file_actions_t actions;
  if (const int failed = posix_spawn_file_actions_init(&actions)) return failed;
  pid_t pid = 0;
  int failed = posix_spawn_file_actions_adddup2(&actions, in.fd(), 0);
  if (failed == 0) failed = posix_spawn_file_actions_adddup2(&actions, out.fd(), 1);
  if (failed == 0) failed = posix_spawn_file_actions_adddup2(&actions, errors.fd(), 2);
  if (failed == 0) failed = posix_spawn(&pid, path.c_str(), &actions, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failed;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

ricci_status* Disassemble(const Compiler& compiler, const std::string& code, std::string& out) {
  const std::string& path = compiler.disassembler;
  if (path.empty()) {
    return Fail(RICCI_FAILED_PRECONDITION,
                "sass: set the option cuda.disassembler to the path of nvdisasm, which a CUDA toolkit and the Python "
                "package nvidia-cuda-nvdisasm have");
  }
  const MemoryFile in, text, errors;
  if (text.fd() < 0 || errors.fd() < 0 || !in.Write(code)) {
    return Fail(RICCI_RESOURCE_EXHAUSTED, std::string("sass: no memory for a file: ") + std::strerror(errno));
  }
  int status = 0;
  if (const int failed = Run(path, in, text, errors, status)) {
    return Fail(RICCI_NOT_FOUND, "sass: " + path + " cannot be run: " + std::strerror(failed));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Fail(RICCI_INTERNAL, "sass: " + path + " fails: " + errors.Read());
  }
  out += text.Read();
  return nullptr;
}

}  // namespace ricci::cuda
