// Parser: program text to a plain syntax tree.
//
// The tree knows no primitives; trace/parse_program passes it to a builder, so that the rows type everything. Text is
// not trusted: nesting is bounded, and memory is proportional to the text (a splat stays one element).
#ifndef RICCI_IR_PARSE_H_
#define RICCI_IR_PARSE_H_
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/text_lexer.h"
#include "ricci/build.h"

namespace ricci { inline namespace v0 { namespace ir {

inline constexpr uint32_t kMaxTextDepth = 256;  // of programs within programs

struct TextType {
  TextPosition at;
  uint32_t dtype = 0;
  std::vector<int64_t> shape;
};

struct TextProgram;

struct TextAttr {
  std::string_view name;
  uint32_t kind = 0;  // RICCI_ATTR_*
  int64_t i = 0;
  double f = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::unique_ptr<TextProgram>> programs;
};

// A constant or an equation. Values are numbered: parameters, then results in order.
struct TextStatement {
  TextPosition at;
  std::string_view primitive;  // empty: a constant
  uint32_t data = 0;           // of a constant: index into TextFile::data
  std::vector<TextType> results;
  std::vector<uint32_t> operands;
  std::vector<TextAttr> attrs;
};

struct TextProgram {
  TextPosition at;
  std::string name;
  std::vector<TextType> params;
  std::vector<TextStatement> statements;
  std::vector<uint32_t> results;
};

struct TextFile {
  std::string origin;  // of messages; never empty
  TextProgram program;
  // Bytes of constants: all elements of the type, or one element for all.
  std::vector<std::vector<std::byte>> data;
};

// The tree views `text`. INVALID_ARGUMENT `origin:line:column: what`.
absl::StatusOr<TextFile> ParseText(std::string_view text, std::string_view origin);
// `(f64[2,3], i32[]) axes=[1]`: one application of `primitive` to parameters of these types, as a program with one
// statement; both have no results. The tree views `primitive` and `text`.
absl::StatusOr<TextFile> ParseApplication(std::string_view primitive, std::string_view text, std::string_view origin);

}}}  // namespace ricci::v0::ir
#endif
