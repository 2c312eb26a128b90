#include "cpu/llvm/code_view.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/llvm/debug_info.h"

// The names and layouts that debuggers look for. Weak, because a program that also links another code generator
// statically may have them already: then both share one list.
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;  // kNone, kRegister or kUnregister
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

[[gnu::weak, gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

// Debuggers stop here.
[[gnu::weak, gnu::used, gnu::noinline]] void __jit_debug_register_code() { __asm__ volatile("" ::: "memory"); }
}

namespace ricci::cpu {
namespace {

enum Action : uint32_t { kNone = 0, kRegister = 1, kUnregister = 2 };

std::mutex g_list;  // of debuggers' entries

void Tell(jit_code_entry* entry, Action action) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = kNone;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

// The object with the address of each loaded section in its header, which is what debuggers relocate by.
std::vector<char> WithAddresses(std::span<const char> object, const LoadedObject& loaded) {
  std::vector<char> copy(object.begin(), object.end());
  Elf64_Ehdr header;
  std::memcpy(&header, copy.data(), sizeof header);
  for (size_t i = 0; i < loaded.section_addresses().size(); ++i) {
    const auto address = reinterpret_cast<uint64_t>(loaded.section_addresses()[i]);
    char* const at = copy.data() + header.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr);
    std::memcpy(at, &address, sizeof address);
  }
  return copy;
}

// Where the functions of an object are in memory, a line for each.
std::string MapLines(std::span<const char> object, const LoadedObject& loaded, std::string_view program) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(loaded.section_addresses().size());
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::string lines;
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* names = object.data() + sections[table.sh_link].sh_offset;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym s;
      std::memcpy(&s, object.data() + table.sh_offset + at, sizeof s);
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx >= sections.size()) continue;
      char range[64];
      snprintf(range, sizeof range, "%llx %llx ",
               static_cast<unsigned long long>(reinterpret_cast<uint64_t>(loaded.section_addresses()[s.st_shndx]) +
                                               s.st_value),
               static_cast<unsigned long long>(s.st_size));
      lines.append(range).append(ReadableName(program, names + s.st_name)).append("\n");
    }
  }
  return lines;
}

}  // namespace

struct CodeView::Entry {
  std::vector<char> object;
  jit_code_entry entry;
};

CodeView::CodeView(std::span<const char> object, const LoadedObject& loaded)
    : entry_(new Entry{WithAddresses(object, loaded), {}}) {
  jit_code_entry& e = entry_->entry;
  e.symfile_addr = entry_->object.data();
  e.symfile_size = entry_->object.size();
  std::lock_guard lock(g_list);
  e.next_entry = __jit_debug_descriptor.first_entry;
  if (e.next_entry != nullptr) e.next_entry->prev_entry = &e;
  __jit_debug_descriptor.first_entry = &e;
  Tell(&e, kRegister);
}

CodeView::~CodeView() {
  jit_code_entry& e = entry_->entry;
  std::lock_guard lock(g_list);
  (e.prev_entry != nullptr ? e.prev_entry->next_entry : __jit_debug_descriptor.first_entry) = e.next_entry;
  if (e.next_entry != nullptr) e.next_entry->prev_entry = e.prev_entry;
  Tell(&e, kUnregister);
}

void AppendPerfMap(std::span<const char> object, const LoadedObject& loaded, std::string_view program) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map", lines = MapLines(object, loaded, program);
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  // One write, so that threads do not mix their lines; what is not written is not shown.
  [[maybe_unused]] const ssize_t written = write(file, lines.data(), lines.size());
  close(file);
}

}  // namespace ricci::cpu
