// LoadedObject: a relocatable object of the code generator in executable memory.
//
// A loader of our own, because the one that LLVM offers (ORC) looks for symbols in the process, where an embedding host
// may have none or different ones, reports errors to stderr, and adds megabytes. Our objects are a few sections without
// writable data, and all functions that they call are in the tables of code_symbols.h.
#ifndef RICCI_CPU_OBJECT_LOADER_H_
#define RICCI_CPU_OBJECT_LOADER_H_
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::cpu {

class LoadedObject {
 public:
  // Address of a function that generated code may call; NULL: there is none of that name.
  using Resolve = void* (*)(std::string_view name);

  // Copies an x86-64 ELF object in which `entry` is defined. NULL with `error` if something it needs is missing.
  static std::unique_ptr<LoadedObject> Load(std::span<const char> object, std::string_view entry, Resolve resolve,
                                            std::string& error);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  void* entry() const { return entry_; }
  // Where each section of the object is; NULL: not in memory.
  const std::vector<char*>& section_addresses() const { return section_addresses_; }

 private:
  friend class ObjectLoader;
  LoadedObject() = default;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  void* entry_ = nullptr;
  std::vector<char*> section_addresses_;
};

}  // namespace ricci::cpu
#endif
