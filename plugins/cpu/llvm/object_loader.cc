// One mapping holds everything: sections of code, then a jump for each outside function, then, on pages that are not
// executable, constants and a table of addresses. Every distance inside it fits the 32 bits of the small code model,
// and functions anywhere in the process are reached through the table.
#include "cpu/llvm/object_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace ricci::cpu {
namespace {

constexpr size_t kJumpBytes = 8;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a section

size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

// The state of loading one object.
class ObjectLoader {
 public:
  ObjectLoader(std::span<const char> object, LoadedObject::Resolve resolve, std::string& error)
      : object_(object), resolve_(resolve), error_(error) {}

  std::unique_ptr<LoadedObject> Load(std::string_view entry) {
    std::unique_ptr<LoadedObject> loaded(new LoadedObject);
    if (!Read() || !Allocate(*loaded) || !Link() || !Relocate() || !Protect()) return nullptr;
    for (size_t s = 1; s < symbols_.size(); ++s) {
      if (symbols_[s].st_shndx != SHN_UNDEF && NameOf(symbols_[s].st_name, names_) == entry) {
        loaded->entry_ = addresses_[s];
      }
    }
    if (loaded->entry_ == nullptr) return Fail("object: no function " + std::string(entry)), nullptr;
    loaded->section_addresses_ = std::move(section_addresses_);
    return loaded;
  }

 private:
  bool Fail(const std::string& what) {
    error_ = what;
    return false;
  }

  template <typename T>
  std::vector<T> Table(uint64_t offset, uint64_t bytes) const {
    std::vector<T> table;
    if (offset > object_.size() || bytes > object_.size() - offset) return table;
    table.resize(bytes / sizeof(T));
    if (!table.empty()) std::memcpy(table.data(), object_.data() + offset, table.size() * sizeof(T));
    return table;
  }
  std::string_view NameOf(uint32_t at, const Elf64_Shdr& names) const {
    if (names.sh_offset > object_.size() || at >= object_.size() - names.sh_offset) return {};
    const char* p = object_.data() + names.sh_offset + at;
    return {p, strnlen(p, static_cast<size_t>(object_.data() + object_.size() - p))};
  }

  bool Read() {
    const auto headers = Table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
    if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 || headers[0].e_machine != EM_X86_64 ||
        headers[0].e_type != ET_REL) {
      return Fail("object: not relocatable code for x86-64");
    }
    sections_ = Table<Elf64_Shdr>(headers[0].e_shoff, uint64_t{headers[0].e_shnum} * sizeof(Elf64_Shdr));
    if (headers[0].e_shstrndx >= sections_.size()) return Fail("object: truncated");
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections_.size()) continue;
      symbols_ = Table<Elf64_Sym>(s.sh_offset, s.sh_size);
      names_ = sections_[s.sh_link];
    }
    return !symbols_.empty() || Fail("object: no symbols");
  }

  // Whether a section is part of what runs. Code is never unwound, so its tables for that are left out.
  static bool IsLoaded(const Elf64_Shdr& s) {
    return (s.sh_flags & SHF_ALLOC) != 0 && s.sh_type != SHT_X86_64_UNWIND && s.sh_size != 0;
  }

  bool Allocate(LoadedObject& loaded) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<size_t> offsets(sections_.size());
    size_t end = 0;
    const auto add = [&](bool code) {
      for (size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& s = sections_[i];
        if (!IsLoaded(s) || ((s.sh_flags & SHF_EXECINSTR) != 0) != code) continue;
        if (s.sh_size > kMostBytes || s.sh_addralign > page) return false;
        offsets[i] = RoundUp(end, s.sh_addralign == 0 ? 1 : s.sh_addralign);
        end = offsets[i] + s.sh_size;
      }
      return true;
    };
    if (!add(/*code=*/true)) return Fail("object: a section is too large");
    const size_t jumps = RoundUp(end, kJumpBytes);
    end = code_bytes_ = RoundUp(jumps + symbols_.size() * kJumpBytes, page);
    if (!add(/*code=*/false)) return Fail("object: a section is too large");
    const size_t table = RoundUp(end, sizeof(void*));
    bytes_ = RoundUp(table + symbols_.size() * sizeof(void*), page);
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return Fail("no memory for " + std::to_string(bytes_) + " bytes of code");
    loaded.memory_ = memory_ = static_cast<char*>(memory);
    loaded.bytes_ = bytes_;
    jumps_ = memory_ + jumps;
    table_ = memory_ + table;
    section_addresses_.assign(sections_.size(), nullptr);
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (IsLoaded(sections_[i]) && !Copy(i, memory_ + offsets[i])) return false;
    }
    return true;
  }

  bool Copy(size_t section, char* to) {
    const Elf64_Shdr& s = sections_[section];
    // `.data.rel.ro` is constant once it is relocated.
    const std::string_view name = NameOf(s.sh_name, sections_[SectionNames()]);
    if ((s.sh_flags & SHF_WRITE) != 0 && !name.starts_with(".data.rel.ro")) {
      return Fail("object: section " + std::string(name) + " is writable");
    }
    if (s.sh_type != SHT_NOBITS) {
      if (s.sh_offset > object_.size() || s.sh_size > object_.size() - s.sh_offset) return Fail("object: truncated");
      std::memcpy(to, object_.data() + s.sh_offset, s.sh_size);
    }
    section_addresses_[section] = to;
    return true;
  }
  size_t SectionNames() const { return Table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr))[0].e_shstrndx; }

  // Addresses of all symbols; the address of an outside function is that of its jump.
  bool Link() {
    addresses_.assign(symbols_.size(), nullptr);
    for (size_t i = 1; i < symbols_.size(); ++i) {
      const Elf64_Sym& s = symbols_[i];
      void* target = nullptr;
      if (s.st_shndx == SHN_UNDEF) {
        const std::string_view name = NameOf(s.st_name, names_);
        target = resolve_(name);
        if (target == nullptr)
          return Fail("generated code calls " + std::string(name) +
                      ", which is not in the tables of allowed functions");
        addresses_[i] = Jump(i);
      } else if (s.st_shndx < sections_.size() && section_addresses_[s.st_shndx] != nullptr) {
        target = addresses_[i] = section_addresses_[s.st_shndx] + s.st_value;
      }
      std::memcpy(table_ + i * sizeof(void*), &target, sizeof(void*));
    }
    return true;
  }
  // jmp *entry(%rip)
  char* Jump(size_t symbol) {
    char* at = jumps_ + symbol * kJumpBytes;
    const auto distance = static_cast<int32_t>(table_ + symbol * sizeof(void*) - (at + 6));
    at[0] = static_cast<char>(0xff);
    at[1] = 0x25;
    std::memcpy(at + 2, &distance, sizeof distance);
    return at;
  }

  bool Relocate() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_RELA || s.sh_info >= sections_.size() || section_addresses_[s.sh_info] == nullptr) continue;
      for (const Elf64_Rela& r : Table<Elf64_Rela>(s.sh_offset, s.sh_size)) {
        if (!Apply(r, sections_[s.sh_info].sh_size, section_addresses_[s.sh_info])) return false;
      }
    }
    return true;
  }

  bool Apply(const Elf64_Rela& r, uint64_t section_bytes, char* section) {
    const size_t symbol = ELF64_R_SYM(r.r_info);
    const uint32_t type = ELF64_R_TYPE(r.r_info);
    const bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
    if (symbol >= symbols_.size() || r.r_offset > section_bytes || section_bytes - r.r_offset < (wide ? 8u : 4u)) {
      return Fail("object: a relocation is out of range");
    }
    char* at = section + r.r_offset;
    const auto from = reinterpret_cast<int64_t>(at), to = reinterpret_cast<int64_t>(addresses_[symbol]);
    switch (type) {
      case R_X86_64_64:
        return Store<int64_t>(at, to + r.r_addend);
      case R_X86_64_PC64:
        return Store<int64_t>(at, to + r.r_addend - from);
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return Store<int32_t>(at, to + r.r_addend - from);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return Store<int32_t>(at, reinterpret_cast<int64_t>(table_ + symbol * sizeof(void*)) + r.r_addend - from);
      default:
        return Fail("object: relocations of type " + std::to_string(type) + " are not known");
    }
  }
  template <typename T>
  bool Store(char* at, int64_t value) {
    const auto stored = static_cast<T>(value);
    if (stored != value) return Fail("object: a relocation needs more than 32 bits");
    std::memcpy(at, &stored, sizeof stored);
    return true;
  }

  bool Protect() {
    return (mprotect(memory_, code_bytes_, PROT_READ | PROT_EXEC) == 0 &&
            mprotect(memory_ + code_bytes_, bytes_ - code_bytes_, PROT_READ) == 0) ||
           Fail("the system does not allow executable memory");
  }

  const std::span<const char> object_;
  const LoadedObject::Resolve resolve_;
  std::string& error_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr names_{};                    // of symbols
  std::vector<char*> section_addresses_;  // of sections; NULL: not loaded
  std::vector<char*> addresses_;
  char *memory_ = nullptr, *jumps_ = nullptr, *table_ = nullptr;  // the latter with an entry for each symbol
  size_t bytes_ = 0, code_bytes_ = 0;
};

std::unique_ptr<LoadedObject> LoadedObject::Load(std::span<const char> object, std::string_view entry, Resolve resolve,
                                                 std::string& error) {
  return ObjectLoader(object, resolve, error).Load(entry);
}

LoadedObject::~LoadedObject() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace ricci::cpu
