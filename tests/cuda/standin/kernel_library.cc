#include "kernel_library.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

namespace ricci::cuda::standin {
namespace {

// A file with these bytes, as long as it lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "ricci-standin-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file >= 0) close(file);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// ---- the sections and symbols of an ELF file ----
template <typename T>
T Record(const std::string& code, uint64_t offset) {
  T record{};
  if (offset + sizeof record <= code.size()) std::memcpy(&record, code.data() + offset, sizeof record);
  return record;
}
Elf64_Shdr SectionOf(const std::string& code, uint64_t number) {
  return Record<Elf64_Shdr>(code, Record<Elf64_Ehdr>(code, 0).e_shoff + number * sizeof(Elf64_Shdr));
}
std::string TextAt(const std::string& code, const Elf64_Shdr& strings, uint64_t offset) {
  const uint64_t at = strings.sh_offset + offset;
  return at < code.size() ? code.c_str() + at : "";
}

// `k(float*)::tile`, `k::tile` and `tile` are `tile`.
std::string PlainName(const std::string& symbol) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? plain : symbol;
  std::free(plain);
  const size_t last = name.rfind("::");
  return last == name.npos ? name : name.substr(last + 2);
}

void AddArrays(const std::string& code, uint16_t section, const Elf64_Shdr& table, SharedSection& out) {
  const Elf64_Shdr strings = SectionOf(code, table.sh_link), own = SectionOf(code, section);
  for (uint64_t at = 0; at < std::min<uint64_t>(table.sh_size, code.size()); at += sizeof(Elf64_Sym)) {
    const auto symbol = Record<Elf64_Sym>(code, table.sh_offset + at);
    if (symbol.st_shndx != section || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
    const std::string name = PlainName(TextAt(code, strings, symbol.st_name));
    if (name.rfind("ricci_gap", 0) == 0) continue;
    out.arrays.push_back({name, symbol.st_value - own.sh_addr, symbol.st_size});
  }
  std::sort(out.arrays.begin(), out.arrays.end(),
            [](const SharedArray& a, const SharedArray& b) { return a.offset < b.offset; });
}

SharedSection FindSection(const std::string& code, uintptr_t base, const char* name) {
  SharedSection out;
  const auto header = Record<Elf64_Ehdr>(code, 0);
  const Elf64_Shdr names = SectionOf(code, header.e_shstrndx);
  for (uint16_t i = 1; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = SectionOf(code, i);
    if (TextAt(code, names, s.sh_name) != name) continue;
    out.begin = base + s.sh_addr;
    out.bytes = s.sh_size;
    for (uint16_t t = 1; t < header.e_shnum; ++t) {
      if (SectionOf(code, t).sh_type == SHT_SYMTAB) AddArrays(code, i, SectionOf(code, t), out);
    }
  }
  return out;
}

uintptr_t EndOf(const std::string& code, uintptr_t base) {
  const auto header = Record<Elf64_Ehdr>(code, 0);
  uintptr_t end = base;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = Record<Elf64_Phdr>(code, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD) end = std::max<uintptr_t>(end, base + segment.p_vaddr + segment.p_memsz);
  }
  return end;
}

void Describe(Library& library) {
  link_map* map = nullptr;
  if (dlinfo(library.handle, RTLD_DI_LINKMAP, &map) != 0) return;
  library.begin = map->l_addr;
  library.end = EndOf(library.code, map->l_addr);
  library.is_checked = dlsym(library.handle, "ricci_is_checked") != nullptr;
  library.fixed = FindSection(library.code, map->l_addr, "ricci_shared");
  library.dynamic = FindSection(library.code, map->l_addr, "ricci_dynamic");
}

}  // namespace

const SharedArray* SharedSection::ArrayAt(uint64_t offset) const {
  auto after = std::upper_bound(arrays.begin(), arrays.end(), offset,
                                [](uint64_t o, const SharedArray& a) { return o < a.offset; });
  if (after == arrays.begin()) return nullptr;
  --after;
  return offset - after->offset < after->bytes ? &*after : nullptr;
}

bool Library::Find(const std::string& name, Function& out) {
  void* const p = dlsym(handle, ("call_" + name).c_str());
  if (p == nullptr) return false;
  std::memcpy(&out.kernel, &p, sizeof p);
  const uint64_t about = out.kernel(nullptr, nullptr);
  out.name = name;
  out.arguments = about % kMaps;
  out.maps = about % kPairs / kMaps;
  out.cluster = (about & kPairs) != 0 ? 2 : 1;
  out.meets = (about & kMeets) != 0;
  out.stack_bytes = about / kStack;
  out.library = this;
  return true;
}

std::string Library::LineOf(const void* site) const {
  const TemporaryFile file(code);
  char command[512], line[512] = "";
  // The call is before the place to which it returns.
  std::snprintf(command, sizeof command, "addr2line -s -e %s %#lx 2> /dev/null", file.path().c_str(),
                reinterpret_cast<uintptr_t>(site) - begin - 1);
  FILE* const out = popen(command, "r");
  if (out == nullptr) return "?";
  if (std::fgets(line, sizeof line, out) == nullptr) line[0] = '\0';
  pclose(out);
  const std::string text(line);
  return text.substr(0, text.find_first_of(" \n"));
}

Library* LoadLibrary(std::string_view code) {
  static std::mutex& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::pair<size_t, size_t>, std::unique_ptr<Library>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Library>& library = loaded[{code.size(), std::hash<std::string_view>()(code)}];
  if (library != nullptr) return library.get();
  auto fresh = std::make_unique<Library>();
  const TemporaryFile file(code);
  fresh->handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (fresh->handle == nullptr) return nullptr;
  fresh->code = code;
  Describe(*fresh);
  library = std::move(fresh);
  return library.get();
}

}  // namespace ricci::cuda::standin
