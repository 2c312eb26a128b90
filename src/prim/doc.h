// Doc: how a row describes itself to people: `z = op(x, y): what it computes`.
//
// The number of operands and results is checked against its names before a rule sees them, so a rule of a row that has
// a doc can rely on their number.
#ifndef RICCI_PRIM_DOC_H_
#define RICCI_PRIM_DOC_H_
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ricci { inline namespace v0 { namespace prim {

// The operands or the results; a view of the text.
struct NameList {
  std::string_view text;  // `x, y, rest...`
  uint32_t names = 0;
  bool open = false;  // the last name means any number of them

  bool Takes(size_t n) const { return open ? n + 1 >= names : n == names; }
};

// Views of the text.
struct Doc {
  NameList results, operands;
  std::string_view summary;
};
// The doc of the row `name`; INVALID_ARGUMENT says what is wrong. Without results the text begins with the name. An
// empty text is an empty Doc.
absl::StatusOr<Doc> ParseDoc(std::string_view name, std::string_view text);

// `2 operands (x, y)`.
std::string Describe(const NameList& list, std::string_view what);

}}}  // namespace ricci::v0::prim
#endif
