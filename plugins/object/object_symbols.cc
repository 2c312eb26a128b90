#include "object_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace ricci::object {
namespace {

template <typename T>
T Read(std::string_view bytes, uint64_t at) {
  T out{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof out) std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

std::string NameAt(std::string_view object, const Elf64_Shdr& strings, uint32_t name) {
  const uint64_t at = strings.sh_offset + name;
  if (at >= object.size()) return {};
  const std::string_view rest = object.substr(at);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

std::vector<std::string> UndefinedSymbols(std::string_view object) {
  std::vector<std::string> out;
  const auto header = Read<Elf64_Ehdr>(object, 0);
  const auto section = [&](uint64_t i) { return Read<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    for (uint64_t s = 1; s < table.sh_size / sizeof(Elf64_Sym); ++s) {  // the first is not a symbol
      const auto symbol = Read<Elf64_Sym>(object, table.sh_offset + s * sizeof(Elf64_Sym));
      if (symbol.st_shndx == SHN_UNDEF) out.push_back(NameAt(object, strings, symbol.st_name));
    }
  }
  return out;
}

bool IsOfCLibrary(std::string_view symbol) {
  constexpr std::string_view kMemory[] = {"memcpy", "memmove", "memset"};
  constexpr std::string_view kMath[] = {"acos", "asin", "atan",  "atan2", "cbrt",      "ceil",      "cos",   "exp",
                                        "exp2", "fma",  "floor", "fmod",  "log",       "log10",     "log2",  "lgamma_r",
                                        "pow",  "rint", "round", "sin",   "nearbyint", "roundeven", "trunc", "tan"};
  const auto in = [&](const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (in(kMemory, symbol) || in(kMath, symbol)) return true;
  const bool other_type = !symbol.empty() && (symbol.back() == 'f' || symbol.back() == 'l');
  return other_type && in(kMath, symbol.substr(0, symbol.size() - 1));
}

}  // namespace ricci::object
