// Tokens of program text, with their positions.
//
// The input may be hostile: the lexer never reads past its end, allocates nothing but unquoted strings, and an
// unexpected byte is a token of its own, which no grammar rule takes.
#ifndef RICCI_IR_TEXT_LEXER_H_
#define RICCI_IR_TEXT_LEXER_H_
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci { inline namespace v0 { namespace ir {

struct TextPosition {
  uint32_t line = 1, column = 1;
};

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  // letters, digits, `_ . -`, not starting with a digit: names of programs, primitives, attributes,
                // dtypes
  kValue,       // %name; text without the sign
  kHash,        // #0123; text without the sign
  kNumber,      // -1, 1.5e-3, 0x7f, -inf
  kString,      // "..."; text with the quotes
  kMark         // one other character
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  TextPosition at;
  bool Is(char mark) const { return kind == TokenKind::kMark && text.size() == 1 && text[0] == mark; }
  bool Is(std::string_view word) const { return kind == TokenKind::kIdentifier && text == word; }
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}
  Token Next();

 private:
  void SkipBlank();
  template <typename Accept>
  std::string_view Take(size_t from, Accept&& accept);
  Token String(TextPosition at);

  std::string_view text_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

bool IsIdentifier(std::string_view name);
// `text` in quotes, with escapes \" \\ \n \t \xNN.
std::string Quoted(std::string_view text);
// The content of a string token; false if an escape is wrong.
bool Unquote(std::string_view token, std::string& out);

}}}  // namespace ricci::v0::ir
#endif
