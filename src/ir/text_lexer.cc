#include "ir/text_lexer.h"

#include <algorithm>

namespace ricci { inline namespace v0 { namespace ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-'; }
bool IsValuePart(char c) { return IsLetter(c) || IsDigit(c) || c == '.'; }
bool IsNumberPart(char c, char before) {
  return IsLetter(c) || IsDigit(c) || c == '.' || ((c == '-' || c == '+') && (before == 'e' || before == 'E'));
}
int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

template <typename Accept>
std::string_view TextLexer::Take(size_t from, Accept&& accept) {
  size_t end = from;
  while (end < text_.size() && accept(text_[end], end == 0 ? '\0' : text_[end - 1])) ++end;
  at_ = end;
  return text_.substr(from, end - from);
}

void TextLexer::SkipBlank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    ++at_;
  }
}

Token TextLexer::String(TextPosition at) {
  const size_t from = at_++;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size() || text_[at_] != '"') {
    at_ = from + 1;
    return {TokenKind::kMark, text_.substr(from, 1), at};
  }
  ++at_;
  return {TokenKind::kString, text_.substr(from, at_ - from), at};
}

Token TextLexer::Next() {
  SkipBlank();
  const TextPosition at{line_, static_cast<uint32_t>(at_ - line_start_ + 1)};
  if (at_ >= text_.size()) return {TokenKind::kEnd, {}, at};
  const char c = text_[at_], after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (IsLetter(c)) return {TokenKind::kIdentifier, Take(at_, [](char d, char) { return IsNamePart(d); }), at};
  if (c == '%') return {TokenKind::kValue, Take(at_ + 1, [](char d, char) { return IsValuePart(d); }), at};
  if (c == '#') return {TokenKind::kHash, Take(at_ + 1, [](char d, char) { return HexDigit(d) >= 0; }), at};
  if (c == '"') return String(at);
  if (IsDigit(c) || (c == '-' && (IsDigit(after) || IsLetter(after)))) {
    const size_t first = at_;
    Take(at_ + 1, IsNumberPart);
    return {TokenKind::kNumber, text_.substr(first, at_ - first), at};
  }
  return {TokenKind::kMark, text_.substr(at_++, 1), at};
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && IsLetter(name[0]) && std::all_of(name.begin(), name.end(), IsNamePart);
}

std::string Quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n' || c == '\t') {
      out += {'\\', c == '\n' ? 'n' : 't'};
    } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
      out += {'\\', 'x', kDigits[c >> 4 & 15], kDigits[c & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool Unquote(std::string_view token, std::string& out) {
  token = token.substr(1, token.size() - 2);
  out.clear();
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '\\') {
      out += token[i];
      continue;
    }
    const char c = ++i < token.size() ? token[i] : '\0';
    if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'n' || c == 't') {
      out += c == 'n' ? '\n' : '\t';
    } else if (c == 'x' && i + 2 < token.size() && HexDigit(token[i + 1]) >= 0 && HexDigit(token[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(token[i + 1]) * 16 + HexDigit(token[i + 2]));
      i += 2;
    } else {
      return false;
    }
  }
  return true;
}

}}}  // namespace ricci::v0::ir
