#include "ptx_text.h"

#include <algorithm>
#include <vector>

namespace ricci::cuda::standin {
namespace {

constexpr const char* kPrelude = R"(
struct PtxOperand { char kind; unsigned bytes; unsigned long long value; };
template <typename T>
RICCI_UNSEEN static PtxOperand ricci_ptx_value(const char* constraint, T x) {
  while (*constraint == '+' || *constraint == '=') ++constraint;
  PtxOperand out = {*constraint, sizeof(T), 0};
  __builtin_memcpy(&out.value, &x, sizeof(T));
  return out;
}
// A result that is also read has `+`.
template <typename T>
static PtxOperand ricci_ptx_result(const char* constraint, T& x) {
  return *constraint == '+' ? ricci_ptx_value(constraint, x) : ricci_ptx_value(constraint, T());
}
template <typename T>
static void ricci_ptx_take(const PtxOperand& o, T& x) {
  T v;
  __builtin_memcpy(&v, &o.value, sizeof(T));
  x = v;
}
// Addresses in shared memory are counted from here.
static char ricci_ptx_begin;
RICCI_UNSEEN static unsigned long __cvta_generic_to_shared(const void* p) {
  return (unsigned long)((const char*)p - &ricci_ptx_begin);
}
RICCI_UNSEEN __attribute__((noinline)) static void ricci_ptx(const char* text, PtxOperand* operands, unsigned n) {
  const Place* const p = ricci_here();
  p->ptx(text, operands, n, __builtin_return_address(0), &ricci_ptx_begin);
  Enter(p);  // others ran in between
}
)";

// The end of the string literal that begins at `at`.
size_t EndOfString(const std::string& text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
  return at + 1;
}

// Pieces of text[begin, end) between the separators that are in no parentheses and no strings.
std::vector<std::string> Split(const std::string& text, size_t begin, size_t end, char separator) {
  std::vector<std::string> out{""};
  int depth = 0;
  for (size_t at = begin; at < end;) {
    const size_t next = text[at] == '"' ? EndOfString(text, at) : at + 1;
    depth += (text[at] == '(') - (text[at] == ')');
    if (depth == 0 && text[at] == separator) {
      out.emplace_back();
    } else {
      out.back().append(text, at, next - at);
    }
    at = next;
  }
  return out;
}

// The closing parenthesis of the one at `open`; npos if there is none.
size_t Closing(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size();) {
    depth += (text[at] == '(') - (text[at] == ')');
    if (depth == 0) return at;
    at = text[at] == '"' ? EndOfString(text, at) : at + 1;
  }
  return text.npos;
}

struct Operand {
  std::string constraint, expression;
};

// `"+f"(sums[0]), "r"(x)`
std::vector<Operand> OperandsOf(const std::string& list) {
  std::vector<Operand> out;
  for (const std::string& one : Split(list, 0, list.size(), ',')) {
    const size_t quote = one.find('"'), open = one.find('(', quote == one.npos ? 0 : EndOfString(one, quote));
    if (quote == one.npos || open == one.npos) continue;
    out.push_back({one.substr(quote, EndOfString(one, quote) - quote), one.substr(open)});
  }
  return out;
}

std::string CallOf(const std::vector<std::string>& parts) {
  const std::vector<Operand> results = parts.size() > 1 ? OperandsOf(parts[1]) : std::vector<Operand>(),
                             values = parts.size() > 2 ? OperandsOf(parts[2]) : std::vector<Operand>();
  std::string list, takes;
  for (const Operand& o : results) {
    takes += " ricci_ptx_take(ricci_operands[" + std::to_string(&o - results.data()) + "], " + o.expression + ");";
    list += "ricci_ptx_result(" + o.constraint + ", " + o.expression + "), ";
  }
  for (const Operand& o : values) list += "ricci_ptx_value(" + o.constraint + ", " + o.expression + "), ";
  std::string out = "{ PtxOperand ricci_operands[] = {" + list + "{}}; ricci_ptx(" + parts[0] + ", ricci_operands, " +
                    std::to_string(results.size() + values.size()) + "u);" + takes + " }";
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

}  // namespace

std::string WithPtxCalls(const std::string& text) {
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = text.find("asm", at)) != text.npos; ++at) {
    const size_t open = text.find('(', at), close = open == text.npos ? open : Closing(text, open);
    const std::string between = open == text.npos ? "?" : text.substr(at + 3, open - at - 3);
    if (close == text.npos || (!between.empty() && between != " volatile") || text.compare(close, 2, ");") != 0)
      continue;
    const auto lines = static_cast<size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                      text.begin() + static_cast<std::ptrdiff_t>(close), '\n'));
    out += text.substr(done, at - done) + CallOf(Split(text, open + 1, close, ':')) + std::string(lines, '\n');
    done = at = close + 2;
  }
  return out + text.substr(done);
}

const char* PtxPrelude() { return kPrelude; }

}  // namespace ricci::cuda::standin
