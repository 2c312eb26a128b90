// Printer: the text form of a program, which the parser reads back to an equal program.
//
//   program loss(%0: f32[128,784], %1: f32[784,10]) {
//     %2: f32[128,10] = dot_general(%0, %1) lhs_contract=[1] rhs_contract=[0]
//     %3: f32[] = constant 0.5
//     return %2, %3
//   }
//
// A single element of a constant stands for all; a list is row-major. Constants above 64 bytes are `#hash`, with a line
// `blob #hash "hex bytes"` for each after the program.
#ifndef RICCI_IR_PRINT_H_
#define RICCI_IR_PRINT_H_
#include <string>

#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace ir {

struct PrintOptions {
  bool locations = false;  // `// file:line` after each equation
  bool blobs = true;       // the bytes of large constants; a dump for people leaves them out
};
std::string Print(const Program& p, const PrintOptions& options = {});

}}}  // namespace ricci::v0::ir
#endif
