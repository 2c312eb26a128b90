#include "ir/parse.h"

#include <charconv>

#include "absl/strings/str_format.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "ir/literal.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

// The names of one program and their numbers.
using Names = base::HashMap<std::string, uint32_t>;

// The number of elements of `t`, or -1 if it is more than the text could list.
int64_t ElementsOf(const TextType& t) {
  int64_t n = 1;
  for (int64_t d : t.shape) {
    if (d < 0 || (d != 0 && n > (int64_t{1} << 40) / d)) return -1;
    n *= d;
  }
  return n;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view origin) : lexer_(text) {
    file_.origin = origin.empty() ? "<text>" : std::string(origin);
    Advance();
  }

  absl::StatusOr<TextFile> Run() && {
    RICCI_TRY(Program(file_.program, /*depth=*/0));
    return std::move(*this).Finish();
  }

  absl::StatusOr<TextFile> RunApplication(std::string_view primitive) && {
    TextProgram& out = file_.program;
    out.at = token_.at;
    out.name = primitive;
    TextStatement& applied = out.statements.emplace_back();
    applied.at = token_.at;
    applied.primitive = primitive;
    RICCI_TRY(Expect('('));
    RICCI_TRY(List(')', [&] {
      applied.operands.push_back(static_cast<uint32_t>(out.params.size()));
      return Type(out.params.emplace_back());
    }));
    while (token_.kind == TokenKind::kIdentifier) {
      RICCI_ASSIGN(bool is_attr, Attribute(applied, /*depth=*/0));
      if (!is_attr) break;
    }
    return std::move(*this).Finish();
  }

 private:
  absl::StatusOr<TextFile> Finish() && {
    while (token_.Is("blob")) RICCI_TRY(Blob());
    if (token_.kind != TokenKind::kEnd) return Unexpected("the end of the text");
    for (const auto& [hash, use] : wanted_) {
      if (file_.data[use.data].empty()) return Fail(use.at, "constant #", hash, " has no blob line");
    }
    for (const Use& use : uses_) {
      if (file_.data[use.data].size() != use.bytes) {
        return Fail(use.at, "constant takes ", base::Count(use.bytes, "byte"), "; its blob has ",
                    file_.data[use.data].size());
      }
    }
    return std::move(file_);
  }

  // A constant given by a blob.
  struct Use {
    TextPosition at;
    uint32_t data;
    uint64_t bytes;
  };

  // ---- tokens ----
  void Advance() { token_ = lexer_.Next(); }
  template <typename... Args>
  absl::Status Fail(TextPosition at, const Args&... what) const {
    return base::InvalidArgument(file_.origin, ":", at.line, ":", at.column, ": ", what...);
  }
  absl::Status Unexpected(std::string_view wanted) const {
    if (token_.kind == TokenKind::kEnd) return Fail(token_.at, "expected ", wanted, ", the text ends here");
    if (token_.Is('"')) return Fail(token_.at, "a text without its closing `\"`");
    const int first = token_.text.empty() ? 32 : static_cast<unsigned char>(token_.text[0]);
    if (first < 32 || first > 126) return Fail(token_.at, "expected ", wanted, ", not the byte ", first);
    return Fail(token_.at, "expected ", wanted, ", not `", token_.text.substr(0, 40), "`");
  }
  bool Accept(char mark) {
    if (!token_.Is(mark)) return false;
    Advance();
    return true;
  }
  absl::Status Expect(char mark) {
    return Accept(mark) ? absl::OkStatus() : Unexpected(base::Cat("`", std::string(1, mark), "`"));
  }
  absl::StatusOr<Token> Take(TokenKind kind, std::string_view wanted) {
    if (token_.kind != kind) return Unexpected(wanted);
    const Token taken = token_;
    Advance();
    return taken;
  }
  // Calls `one` for each element of a list, up to the mark `close`.
  template <typename F>
  absl::Status List(char close, F&& one) {
    if (Accept(close)) return absl::OkStatus();
    do {
      RICCI_TRY(one());
    } while (Accept(','));
    return Expect(close);
  }
  absl::StatusOr<int64_t> Integer() {
    RICCI_ASSIGN(Token t, Take(TokenKind::kNumber, "an integer"));
    int64_t v = 0;
    const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v);
    if (error != std::errc() || end != t.text.data() + t.text.size()) {
      return Fail(t.at, "`", t.text.substr(0, 40), "` is not a 64-bit integer");
    }
    return v;
  }

  // ---- types and names ----
  absl::Status Type(TextType& out) {
    const Token name = token_;
    out.at = name.at;
    out.dtype = name.kind == TokenKind::kIdentifier ? types::DTypeByName(name.text) : 0;
    if (out.dtype == 0) return Unexpected("a dtype, such as f32 or i32");
    Advance();
    RICCI_TRY(Expect('['));
    return List(']', [&]() -> absl::Status {
      if (out.shape.size() == RICCI_MAX_RANK) return Fail(name.at, "rank exceeds ", RICCI_MAX_RANK);
      RICCI_ASSIGN(int64_t d, Integer());
      out.shape.push_back(d);
      return absl::OkStatus();
    });
  }
  // `%name: type`, a new value.
  absl::Status Definition(Names& names, std::vector<TextType>& types) {
    RICCI_ASSIGN(Token name, Take(TokenKind::kValue, "a value `%name`"));
    const auto number = static_cast<uint32_t>(names.size());
    if (!names.emplace(std::string(name.text), number).second) {
      return Fail(name.at, "%", name.text, " is defined twice");
    }
    RICCI_TRY(Expect(':'));
    return Type(types.emplace_back());
  }
  absl::Status Operand(const Names& names, std::vector<uint32_t>& out) {
    RICCI_ASSIGN(Token name, Take(TokenKind::kValue, "a value `%name`"));
    const auto found = names.find(name.text);
    if (found == names.end()) return Fail(name.at, "%", name.text, " is not defined before");
    out.push_back(found->second);
    return absl::OkStatus();
  }

  // ---- programs ----
  absl::Status Program(TextProgram& out, uint32_t depth) {
    if (depth >= kMaxTextDepth) return Fail(token_.at, "programs nested deeper than ", kMaxTextDepth);
    out.at = token_.at;
    if (!token_.Is("program")) return Unexpected("`program`");
    Advance();
    RICCI_TRY(ProgramName(out.name));
    Names names;
    RICCI_TRY(Expect('('));
    RICCI_TRY(List(')', [&] { return Definition(names, out.params); }));
    RICCI_TRY(Expect('{'));
    while (!token_.Is("return")) RICCI_TRY(Statement(names, out.statements.emplace_back(), depth));
    Advance();
    if (Accept('}')) return absl::OkStatus();
    return List('}', [&] { return Operand(names, out.results); });
  }
  absl::Status ProgramName(std::string& out) {
    if (token_.kind == TokenKind::kString) {
      if (!Unquote(token_.text, out)) return Fail(token_.at, "a wrong escape in this text");
    } else if (token_.kind == TokenKind::kIdentifier) {
      out = token_.text;
    } else {
      return absl::OkStatus();
    }
    Advance();
    return absl::OkStatus();
  }

  absl::Status Statement(Names& names, TextStatement& out, uint32_t depth) {
    std::vector<Token> results;  // become names at the end: an equation may not use its own
    while (token_.kind == TokenKind::kValue) {
      results.push_back(token_);
      Advance();
      RICCI_TRY(Expect(':'));
      RICCI_TRY(Type(out.results.emplace_back()));
      if (!Accept(',')) break;
    }
    if (!results.empty()) RICCI_TRY(Expect('='));
    out.at = token_.at;
    RICCI_ASSIGN(Token name, Take(TokenKind::kIdentifier, results.empty() ? "an equation or `return`" : "a primitive"));
    if (name.Is("constant") && !BeginsOperands()) {
      RICCI_TRY(Constant(out));
    } else {
      out.primitive = name.text;
      RICCI_TRY(Expect('('));
      RICCI_TRY(List(')', [&] { return Operand(names, out.operands); }));
      while (token_.kind == TokenKind::kIdentifier && !token_.Is("return")) {
        RICCI_ASSIGN(bool is_attr, Attribute(out, depth));
        if (!is_attr) break;
      }
    }
    for (const Token& r : results) {
      if (!names.emplace(std::string(r.text), static_cast<uint32_t>(names.size())).second) {
        return Fail(r.at, "%", r.text, " is defined twice");
      }
    }
    return absl::OkStatus();
  }

  // ---- constants ----
  // A primitive may be named `constant` too. Its operands are values, which a complex number cannot contain.
  bool BeginsOperands() const {
    if (!token_.Is('(')) return false;
    const Token next = TextLexer(lexer_).Next();
    return next.kind == TokenKind::kValue || next.Is(')');
  }
  absl::Status Constant(TextStatement& out) {
    if (out.results.size() != 1) return Fail(out.at, "a constant has one result");
    const TextType& type = out.results[0];
    if (token_.kind == TokenKind::kHash) return BlobUse(out, type);
    std::vector<std::byte> bytes;
    const TextPosition at = token_.at;
    const bool list = Accept('[');
    if (list) {
      RICCI_TRY(List(']', [&] { return Element(type.dtype, bytes); }));
    } else {
      RICCI_TRY(Element(type.dtype, bytes));
    }
    const int64_t elements = ElementsOf(type);
    const int64_t given = static_cast<int64_t>(bytes.size() / types::Info(type.dtype).size);
    if (list && given != elements)
      return Fail(at, "the list has ", base::Count(given, "element"), ", the type ", elements);
    out.data = static_cast<uint32_t>(file_.data.size());
    file_.data.push_back(std::move(bytes));
    return absl::OkStatus();
  }
  absl::Status Element(uint32_t dtype, std::vector<std::byte>& bytes) {
    if (!types::IsComplex(dtype)) return Number(dtype, bytes);
    if (!Accept('(')) return Unexpected("a complex number `(re, im)`");
    RICCI_TRY(Number(types::PartOf(dtype), bytes));
    RICCI_TRY(Expect(','));
    RICCI_TRY(Number(types::PartOf(dtype), bytes));
    return Expect(')');
  }
  absl::Status Number(uint32_t dtype, std::vector<std::byte>& bytes) {
    if (token_.kind != TokenKind::kNumber && token_.kind != TokenKind::kIdentifier) return Unexpected("a number");
    const uint32_t size = types::Info(dtype).size;
    bytes.resize(bytes.size() + size);
    if (absl::Status s = ReadElement(token_.text, dtype, bytes.data() + bytes.size() - size); !s.ok()) {
      return Fail(token_.at, s.message());
    }
    Advance();
    return absl::OkStatus();
  }
  absl::Status BlobUse(TextStatement& out, const TextType& type) {
    const auto [wanted, is_new] = wanted_.try_emplace(std::string(token_.text));
    if (is_new) {
      wanted->second = {token_.at, static_cast<uint32_t>(file_.data.size()), 0};
      file_.data.emplace_back();
    }
    out.data = wanted->second.data;
    uses_.push_back({token_.at, out.data, static_cast<uint64_t>(ElementsOf(type)) * types::Info(type.dtype).size});
    Advance();
    return absl::OkStatus();
  }
  absl::Status Blob() {
    Advance();
    RICCI_ASSIGN(Token name, Take(TokenKind::kHash, "the #hash of a blob"));
    RICCI_ASSIGN(Token text, Take(TokenKind::kString, "the bytes of a blob in hexadecimal"));
    const auto wanted = wanted_.find(std::string(name.text));
    if (wanted == wanted_.end()) return Fail(name.at, "no constant uses blob #", name.text);
    std::vector<std::byte>& bytes = file_.data[wanted->second.data];
    if (!bytes.empty()) return Fail(name.at, "blob #", name.text, " is given twice");
    const std::string_view digits = text.text.substr(1, text.text.size() - 2);
    bytes.reserve(digits.size() / 2);
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
      uint8_t byte = 0;
      const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
      if (error != std::errc() || end != digits.data() + i + 2) return Fail(text.at, "a byte is not hexadecimal");
      bytes.push_back(std::byte{byte});
    }
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (absl::StrFormat("%016x", base::Hasher().Add(content).Done()) != std::string(name.text)) {
      return Fail(name.at, "the bytes of blob #", name.text, " do not have that hash");
    }
    return absl::OkStatus();
  }

  // ---- attributes ----
  // `name=value`; false if the identifier begins the next statement, one without results.
  absl::StatusOr<bool> Attribute(TextStatement& out, uint32_t depth) {
    const TextLexer after_name = lexer_;
    const Token name = token_;
    Advance();
    if (token_.Is('(')) {
      lexer_ = after_name;
      token_ = name;
      return false;
    }
    RICCI_TRY(Expect('='));
    TextAttr& a = out.attrs.emplace_back();
    a.name = name.text;
    RICCI_TRY(AttrValue(a, depth));
    return true;
  }
  absl::Status AttrValue(TextAttr& a, uint32_t depth) {
    const Token t = token_;
    if (t.Is("program")) {
      a.kind = RICCI_ATTR_PROGRAM;
      return Nested(a, depth);
    }
    if (Accept('[')) return AttrList(a, depth);
    if (t.kind == TokenKind::kString) {
      a.kind = RICCI_ATTR_STRING;
      if (!Unquote(t.text, a.text)) return Fail(t.at, "a wrong escape in this text");
    } else if (t.Is("true") || t.Is("false")) {
      a.kind = RICCI_ATTR_BOOL;
      a.i = t.Is("true");
    } else if (t.kind == TokenKind::kIdentifier && types::DTypeByName(t.text) != 0) {
      a.kind = RICCI_ATTR_DTYPE;
      a.i = types::DTypeByName(t.text);
    } else {
      RICCI_TRY(AttrNumber(a, "a number, a text in quotes, true or false, a dtype, a list or a program"));
      if (a.kind == RICCI_ATTR_INTS) a.i = a.ints[0];
      if (a.kind == RICCI_ATTR_FLOATS) a.f = a.floats[0];
      a.kind = a.kind == RICCI_ATTR_INTS ? RICCI_ATTR_INT : RICCI_ATTR_FLOAT;
      return absl::OkStatus();
    }
    Advance();
    return absl::OkStatus();
  }
  absl::Status AttrList(TextAttr& a, uint32_t depth) {
    a.kind = token_.Is("program") ? RICCI_ATTR_PROGRAMS : RICCI_ATTR_INTS;
    return List(']', [&] { return a.kind == RICCI_ATTR_PROGRAMS ? Nested(a, depth) : AttrNumber(a, "a number"); });
  }
  // Adds a number; the first one with a fraction, an exponent or no finite value makes the list FLOATS.
  absl::Status AttrNumber(TextAttr& a, std::string_view wanted) {
    if (token_.kind != TokenKind::kNumber && !token_.Is("nan") && !token_.Is("inf")) return Unexpected(wanted);
    const bool is_float = token_.text.find_first_of(".einx") != std::string_view::npos;
    if (!is_float && a.kind != RICCI_ATTR_FLOATS) {
      a.kind = RICCI_ATTR_INTS;
      RICCI_ASSIGN(int64_t v, Integer());
      a.ints.push_back(v);
      return absl::OkStatus();
    }
    if (a.kind != RICCI_ATTR_FLOATS) a.floats.assign(a.ints.begin(), a.ints.end());
    a.kind = RICCI_ATTR_FLOATS;
    double v = 0;
    if (absl::Status s = ReadElement(token_.text, RICCI_F64, reinterpret_cast<std::byte*>(&v)); !s.ok()) {
      return Fail(token_.at, s.message());
    }
    a.floats.push_back(v);
    Advance();
    return absl::OkStatus();
  }
  absl::Status Nested(TextAttr& a, uint32_t depth) {
    return Program(*a.programs.emplace_back(std::make_unique<TextProgram>()), depth + 1);
  }

  TextLexer lexer_;
  Token token_;
  TextFile file_;
  base::HashMap<std::string, Use> wanted_;  // by hash: where it was first used
  std::vector<Use> uses_;
};

}  // namespace

absl::StatusOr<TextFile> ParseText(std::string_view text, std::string_view origin) {
  return Parser(text, origin).Run();
}

absl::StatusOr<TextFile> ParseApplication(std::string_view primitive, std::string_view text, std::string_view origin) {
  return Parser(text, origin).RunApplication(primitive);
}

}}}  // namespace ricci::v0::ir
