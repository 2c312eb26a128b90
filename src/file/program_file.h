// A program as the bytes of a file, and back.
//
// The file is self-contained: types, primitives and attributes are there by name, so it does not depend on the order in
// which a context registered its plugins, and a primitive that is missing is an error that names it. Nested programs,
// types, texts, locations and the bytes of constants are each there once, in the order of their first use, whatever was
// shared in memory: programs that print the same text and have the same locations have the same bytes.
//
// Reading goes through the builder, like text: the rows type what it returns, whatever wrote the file.
#ifndef RICCI_FILE_PROGRAM_FILE_H_
#define RICCI_FILE_PROGRAM_FILE_H_
#include <string>
#include <string_view>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace file {

std::string WriteProgram(const ir::Program& p);

// `origin` names the file in messages. Errors as of ReadContainer; NOT_FOUND for primitives that the context does not
// have, with their names; those of rows are passed on. The constants are copied, or used in place if there is an owner
// of the bytes, which they keep then.
absl::StatusOr<ir::ProgramRef> ReadProgram(prim::Registry& registry, std::string_view bytes, std::string_view origin,
                                           std::shared_ptr<const void> owner = nullptr);

}}}  // namespace ricci::v0::file
#endif
