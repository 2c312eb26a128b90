// An executable in the cache of compiled code, as bytes.
#ifndef RICCI_RUNTIME_EXECUTABLE_ENTRY_H_
#define RICCI_RUNTIME_EXECUTABLE_ENTRY_H_
#include <optional>
#include <string>
#include <string_view>

namespace ricci { inline namespace v0 { namespace runtime {

// The parts of an entry, in their order. Those that were read are views of it.
struct ExecutableEntry {
  std::string_view name, about, program, plan, code;
};

std::string Written(const ExecutableEntry& entry);
// Nothing if `bytes`, what an entry of the cache holds, is not an executable of this version.
std::optional<ExecutableEntry> ReadExecutableEntry(std::string_view bytes);

// Whether it begins like one, of any version.
bool IsExecutableEntry(std::string_view bytes);

}}}  // namespace ricci::v0::runtime
#endif
