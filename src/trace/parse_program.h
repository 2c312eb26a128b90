// Program text to a program: the parser's tree, built and typed equation by equation.
#ifndef RICCI_TRACE_PARSE_PROGRAM_H_
#define RICCI_TRACE_PARSE_PROGRAM_H_
#include <string_view>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace trace {

// `origin` names the text in messages and becomes the file of all source locations (`<text>` if it is empty).
// INVALID_ARGUMENT for wrong text and for a type that differs from the inferred one; errors of rows are passed on.
absl::StatusOr<ProgramRef> ParseProgram(prim::Registry& registry, std::string_view text, std::string_view origin);

// `(f64[2,3], i32[]) axes=[1]`: a program that applies `primitive` to its parameters and returns all results.
absl::StatusOr<ProgramRef> ParseApplication(prim::Registry& registry, std::string_view primitive, std::string_view text,
                                            std::string_view origin);

}}}  // namespace ricci::v0::trace
#endif
