// The C header of functions in an object file.
#ifndef RICCI_CLI_OBJECT_HEADER_H_
#define RICCI_CLI_OBJECT_HEADER_H_
#include <string>
#include <string_view>
#include <vector>

#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

struct ObjectFunction {
  std::string name;  // a C identifier
  std::string what;  // `program f of f.ricci`, `gradient of ...`
  Signature signature;
  std::vector<std::string> checks;  // by number, what it means that one does not hold
  uint64_t workspace_bytes = 0;     // for the caller to give, unless it is its own; 0: none
  bool own_workspace = false;
};

// Whether C and C++ have `name` as a free identifier; else what is wrong with it.
std::string IdentifierError(std::string_view name);
// The macro that has the size of the workspace of function `name`.
std::string WorkspaceMacro(const std::string& name);

// Compiles as C99, C11 and C++. `processor`: what the object runs on, for people.
std::string HeaderText(const Session& session, const std::vector<ObjectFunction>& functions,
                       const std::string& file_name, const std::string& processor);

}}}  // namespace ricci::v0::cli
#endif
