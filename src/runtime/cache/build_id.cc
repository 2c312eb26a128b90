#include "runtime/cache/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

struct Search {
  uintptr_t address;
  std::string found;
};

bool Holds(const dl_phdr_info& file, uintptr_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    const uintptr_t begin = file.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz) return true;
  }
  return false;
}

std::string Digits(const unsigned char* bytes, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) {
    out += "0123456789abcdef"[bytes[i] >> 4];
    out += "0123456789abcdef"[bytes[i] & 15];
  }
  return out;
}

// The id among the notes of one segment: each has a header, a name and a description, padded to `align`.
std::string IdIn(const unsigned char* notes, size_t size, size_t align) {
  const auto padded = [&](size_t n) { return (n + align - 1) / align * align; };
  for (size_t at = 0; size - at >= sizeof(ElfW(Nhdr));) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const size_t name = at + sizeof note, text = name + padded(note.n_namesz), end = text + padded(note.n_descsz);
    if (end > size) return {};
    const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0;
    if (is_id) return Digits(notes + text, note.n_descsz);
    at = end;
  }
  return {};
}

int Visit(dl_phdr_info* file, size_t, void* arg) {
  auto& search = *static_cast<Search*>(arg);
  if (!Holds(*file, search.address)) return 0;
  for (int i = 0; i < file->dlpi_phnum && search.found.empty(); ++i) {
    const ElfW(Phdr)& part = file->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(file->dlpi_addr + part.p_vaddr);
    search.found = IdIn(notes, part.p_memsz, part.p_align == 8 ? 8 : 4);
  }
  return 1;
}

}  // namespace

std::string BuildIdOf(const void* function) {
  Search search{reinterpret_cast<uintptr_t>(function), {}};
  dl_iterate_phdr(Visit, &search);
  return search.found;
}

}}}  // namespace ricci::v0::runtime
