// plugin_file: reads the note of a plugin from its ELF file.
//
// Opening a shared object runs its constructors, and if the file is truncated, the loader ends the process with SIGBUS.
// So the program headers are read here first: class, machine, whether all segments are in the file, and the note that
// ricci/plugin.h adds. Only these parts are read; nothing is mapped.
#include "runtime/plugin/plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "ricci/base.h"
#include "ricci/plugin.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

static_assert(sizeof(void*) == 8, "the headers are read in their 64-bit form");
constexpr int kOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr int kMachine = EM_RISCV;
#else
#error "say here which ELF machine this is"
#endif
constexpr uint64_t kMostNotes = 1 << 20;  // bytes of one segment

// Within a major version a core has all that older minor versions had; before 1.0 each minor version is its own.
constexpr bool Serves(uint32_t core_major, uint32_t core_minor, uint32_t major, uint32_t minor) {
  return core_major == major && (core_major == 0 ? core_minor == minor : core_minor >= minor);
}
static_assert(Serves(0, 1, 0, 1) && !Serves(0, 2, 0, 1) && !Serves(0, 1, 0, 2));
static_assert(Serves(1, 3, 1, 2) && Serves(1, 3, 1, 3) && !Serves(1, 2, 1, 3) && !Serves(2, 0, 1, 0));

class PluginFile {
 public:
  explicit PluginFile(const std::string& path) : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~PluginFile() {
    if (fd_ >= 0) close(fd_);
  }
  PluginFile(const PluginFile&) = delete;

  absl::Status Check() {
    struct stat info {};
    if (fd_ < 0 || fstat(fd_, &info) != 0) return absl::NotFoundError(Text(std::strerror(errno)));
    if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(Text("is not a file"));
    size_ = static_cast<uint64_t>(info.st_size);
    RICCI_TRY(CheckHeader());
    RICCI_TRY(CheckSegments());
    if (n_notes_ != 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Text("has no note of its ABI; build it with ricci/plugin.h and RICCI_PLUGIN_DSO defined"));
  }

 private:
  template <typename... Args>
  std::string Text(const Args&... args) const {
    return base::Cat("plugin ", path_, ": ", args...);
  }
  absl::Status Truncated(uint64_t end) const {
    return absl::InvalidArgumentError(Text("is truncated: it has ", size_, " bytes of at least ", end));
  }
  absl::Status Read(void* to, uint64_t offset, uint64_t n) const {
    if (offset > size_ || n > size_ - offset) return Truncated(offset + n);
    auto* at = static_cast<char*>(to);
    while (n != 0) {
      const ssize_t got = pread(fd_, at, n, static_cast<off_t>(offset));
      if (got <= 0) return absl::NotFoundError(Text("cannot be read"));
      at += got, offset += static_cast<uint64_t>(got), n -= static_cast<uint64_t>(got);
    }
    return absl::OkStatus();
  }

  absl::Status CheckHeader() {
    if (size_ < SELFMAG) return absl::InvalidArgumentError(Text("is not an ELF file"));
    RICCI_TRY(Read(&header_, 0, SELFMAG));
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
      return absl::InvalidArgumentError(Text("is not an ELF file"));
    }
    RICCI_TRY(Read(&header_, 0, sizeof header_));
    const int wide = header_.e_ident[EI_CLASS], order = header_.e_ident[EI_DATA];
    if (wide != ELFCLASS64 || order != kOrder || header_.e_machine != kMachine) {
      return absl::FailedPreconditionError(Text("is for ELF class ", wide, ", byte order ", order, ", machine ",
                                                header_.e_machine, ", not ", int{ELFCLASS64}, ", ", kOrder, ", ",
                                                kMachine));
    }
    if (header_.e_type != ET_DYN) return absl::InvalidArgumentError(Text("is not a shared object"));
    if (header_.e_phentsize == sizeof(Elf64_Phdr)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Text("has program headers of ", base::Count(header_.e_phentsize, "byte"), ", not ", sizeof(Elf64_Phdr)));
  }

  absl::Status CheckSegments() {
    for (uint32_t i = 0; i < header_.e_phnum; ++i) {
      Elf64_Phdr segment;
      RICCI_TRY(Read(&segment, header_.e_phoff + i * sizeof segment, sizeof segment));
      const bool notes = segment.p_type == PT_NOTE;
      if (!notes && segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
      if (segment.p_offset > size_ || segment.p_filesz > size_ - segment.p_offset) {
        return Truncated(segment.p_offset + segment.p_filesz);
      }
      if (notes) RICCI_TRY(CheckNotes(segment));
    }
    return absl::OkStatus();
  }

  absl::Status CheckNotes(const Elf64_Phdr& segment) {
    std::vector<char> bytes(std::min<uint64_t>(segment.p_filesz, kMostNotes));
    RICCI_TRY(Read(bytes.data(), segment.p_offset, bytes.size()));
    const uint64_t align = segment.p_align == 8 ? 8 : 4;
    const auto padded = [&](uint64_t n) { return (n + align - 1) / align * align; };
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes.size();) {
      Elf64_Nhdr head;
      std::memcpy(&head, bytes.data() + at, sizeof head);
      ricci_plugin_note note;
      if (head.n_namesz == sizeof "Ricci" && at + sizeof note <= bytes.size()) {
        std::memcpy(&note, bytes.data() + at, sizeof note);
        if (std::memcmp(note.name, "Ricci", sizeof "Ricci") == 0 && note.type == 1) RICCI_TRY(CheckNote(note));
      }
      at += sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    }
    return absl::OkStatus();
  }

  absl::Status CheckNote(const ricci_plugin_note& note) {
    ++n_notes_;
    RICCI_TRY(CheckPluginAbi(path_, note.abi_major, note.abi_minor));
    if (note.pointer_bytes != sizeof(void*)) {
      return absl::FailedPreconditionError(
          Text("has pointers of ", base::Count(note.pointer_bytes, "byte"), ", this core of ", sizeof(void*)));
    }
    if (const uint32_t lacking = note.sanitizers & ~uint32_t{RICCI_SANITIZERS}; lacking != 0) {
      return absl::FailedPreconditionError(
          Text("is built with the ", lacking & 1 ? "address" : "thread", " sanitizer, this core is not"));
    }
    return absl::OkStatus();
  }

  const std::string& path_;
  const int fd_;
  uint64_t size_ = 0;
  Elf64_Ehdr header_{};
  uint32_t n_notes_ = 0;
};

}  // namespace

absl::Status CheckPluginAbi(std::string_view plugin, uint32_t major, uint32_t minor) {
  if (Serves(RICCI_ABI_MAJOR, RICCI_ABI_MINOR, major, minor)) return absl::OkStatus();
  return absl::FailedPreconditionError(base::Cat("plugin ", plugin, ": compiled against ABI ", major, ".", minor,
                                                 ", this core has ", RICCI_ABI_MAJOR, ".", RICCI_ABI_MINOR,
                                                 "; rebuild it"));
}

absl::Status CheckPluginFile(const std::string& path) { return PluginFile(path).Check(); }

}}}  // namespace ricci::v0::runtime
