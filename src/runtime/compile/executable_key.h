// ExecutableKey: what a whole executable is kept by, in the cache of compiled code: everything that its compilation
// depends on.
//
// The program counts with its constants and its source locations, since errors and reports name them. It is not only
// hashed: an entry holds its bytes, and readers of the entry compare them.
//
// The key has versions and build ids of core and plugins, the numbers of the target, options and the program in binary
// form. It also has what the backend says of itself (LLVM, processor, threads). Versions alone would find stale code
// while someone works on a plugin. So programs of two hosts never share executables; they share machine code, whose key
// is its text.
#ifndef RICCI_RUNTIME_EXECUTABLE_KEY_H_
#define RICCI_RUNTIME_EXECUTABLE_KEY_H_
#include <optional>
#include <string>

#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

struct ExecutableKey {
  std::string about;    // all but the program, as lines that people can read
  std::string program;  // its binary form

  // Nothing if the executable cannot be kept: its backend cannot save code, or there is something that no key says.
  static std::optional<ExecutableKey> Of(const CompileKey& key);
  // Only `about`, without writing the program.
  static std::optional<std::string> AboutOf(const CompileKey& key);
  // By which the cache finds an entry.
  std::string Text() const;
};

}}}  // namespace ricci::v0::runtime
#endif
