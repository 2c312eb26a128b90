#include "prim/doc.h"

#include "base/status.h"
#include "ir/text_lexer.h"

namespace ricci { inline namespace v0 { namespace prim {
namespace {

constexpr std::string_view kOpen = "...", kBetween = ", ", kEquals = " = ", kBefore = "): ";

// False if `text` is not names with `, ` between them.
bool ParseNames(std::string_view text, NameList& list) {
  list = {text, 0, false};
  if (text.empty()) return true;
  for (;;) {
    const size_t end = text.find(kBetween);
    std::string_view name = text.substr(0, end);
    list.open = end == std::string_view::npos && name.ends_with(kOpen);
    if (list.open) name.remove_suffix(kOpen.size());
    if (!ir::IsIdentifier(name) || name.find('.') != std::string_view::npos) return false;
    ++list.names;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + kBetween.size());
  }
}

// False if `text` does not have that form.
bool Parse(std::string_view name, std::string_view text, Doc& doc) {
  const std::string call = base::Cat(name, "(");
  const size_t at = text.find(call);
  if (at == std::string_view::npos) return false;
  std::string_view results = text.substr(0, at);
  if (at != 0) {
    if (results.size() <= kEquals.size() || !results.ends_with(kEquals)) return false;
    results.remove_suffix(kEquals.size());
  }
  const size_t open = at + call.size(), close = text.find(kBefore, open);
  if (close == std::string_view::npos) return false;
  doc.summary = text.substr(close + kBefore.size());
  return !doc.summary.empty() && doc.summary.find('\n') == std::string_view::npos && ParseNames(results, doc.results) &&
         ParseNames(text.substr(open, close - open), doc.operands);
}

}  // namespace

absl::StatusOr<Doc> ParseDoc(std::string_view name, std::string_view text) {
  Doc doc;
  if (text.empty() || Parse(name, text, doc)) return doc;
  return base::InvalidArgument(name, ": doc is `", text, "`; it must be one line like `z = ", name,
                               "(x, y): what it computes`");
}

std::string Describe(const NameList& list, std::string_view what) {
  const uint32_t least = list.names - (list.open ? 1 : 0);
  const std::string names = list.names == 0 ? "" : base::Cat(" (", list.text, ")");
  return base::Cat(list.open ? "at least " : "", base::Count(least, what), names);
}

}}}  // namespace ricci::v0::prim
