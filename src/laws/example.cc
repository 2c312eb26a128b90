#include "laws/example.h"

#include <charconv>

#include "ricci/check.h"
#include "trace/parse_program.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr std::string_view kSpace = " \t\n";
std::string_view Trimmed(std::string_view s) {
  const size_t from = s.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return s.substr(from, s.find_last_not_of(kSpace) - from + 1);
}

// The parts of `text` between marks `by` that are not within brackets or a string.
std::vector<std::string_view> SplitOutside(std::string_view text, char by) {
  std::vector<std::string_view> out;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != by || depth != 0) continue;
    out.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  out.push_back(text.substr(start));
  return out;
}

absl::Status ReadNumber(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size()) return absl::OkStatus();
  return base::InvalidArgument("`", text, "` is not a bound of a range; write `in LOW..HIGH`");
}

// `0.3..3`
absl::StatusOr<Range> ReadRange(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return base::InvalidArgument("`", text, "` is not a range; write `in LOW..HIGH`");
  Range out{};
  RICCI_TRY(ReadNumber(Trimmed(text.substr(0, dots)), out.low));
  RICCI_TRY(ReadNumber(Trimmed(text.substr(dots + 2)), out.high));
  if (!(out.low < out.high)) return base::InvalidArgument("the range ", text, " is empty");
  return out;
}

// The text without its ranges, which go into `ranges`; where a parameter has none, low > high.
absl::StatusOr<std::string> TakeRanges(std::string_view text, std::vector<Range>& ranges) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos) return base::InvalidArgument("an example begins with `(` or `program`");
  size_t close = open;
  for (int depth = 0; close < text.size(); ++close) {
    depth += (text[close] == '(') - (text[close] == ')');
    if (depth == 0) break;
  }
  if (close == text.size()) return base::InvalidArgument("the `(` of the operands is not closed");
  const std::string_view operands = text.substr(open + 1, close - open - 1);
  std::string out(text.substr(0, open + 1));
  if (!Trimmed(operands).empty()) {
    for (std::string_view operand : SplitOutside(operands, ',')) {
      const size_t in = operand.find(" in ");
      Range& range = ranges.emplace_back(Range{1, 0});
      if (in != std::string_view::npos) {
        RICCI_ASSIGN(range, ReadRange(Trimmed(operand.substr(in + 4))));
      }
      out += ranges.size() == 1 ? "" : ",";
      out += operand.substr(0, in);
    }
  }
  return out + std::string(text.substr(close));
}

// `order=N` at the beginning, as the flag that leaves out higher derivatives.
absl::StatusOr<uint32_t> TakeOrder(std::string_view& text) {
  constexpr std::string_view kOrder = "order=";
  if (!text.starts_with(kOrder)) return 0;
  const std::string_view value = text.substr(kOrder.size(), text.find_first_of(kSpace) - kOrder.size());
  text = Trimmed(text.substr(kOrder.size() + value.size()));
  if (value == "0") return RICCI_CHECK_NO_DERIVATIVES;
  if (value == "1") return RICCI_CHECK_FIRST_ORDER;
  return base::InvalidArgument("order=", value, "; it is 0 or 1, and 2 if it is not given");
}

absl::StatusOr<Example> Read(prim::Registry& registry, const prim::Row& row, std::string_view text) {
  Example out;
  RICCI_ASSIGN(out.flags, TakeOrder(text));
  RICCI_ASSIGN(const std::string plain, TakeRanges(text, out.ranges));
  const bool whole = text.starts_with("program");
  RICCI_ASSIGN(ir::ProgramRef program, whole ? trace::ParseProgram(registry, plain, "example")
                                             : trace::ParseApplication(registry, row.name, plain, "example"));
  for (uint32_t i = 0; i < program->n_params(); ++i) {
    if (out.ranges[i].low > out.ranges[i].high) out.ranges[i] = DefaultRange(program->type(i).dtype);
  }
  out.program = Own(ir::Abi(program.Detach()));
  return out;
}

}  // namespace

Range DefaultRange(uint32_t dtype) {
  if (dtype == RICCI_BOOL) return {0, 2};
  if (dtype == RICCI_KEY) return {0, 0x1p32};  // of each word
  return types::IsInteger(dtype) ? Range{0, 4} : Range{-2, 2};
}

std::vector<std::string_view> SplitExamples(std::string_view examples) {
  std::vector<std::string_view> out;
  for (std::string_view text : SplitOutside(examples, ';')) {
    if (!Trimmed(text).empty()) out.push_back(Trimmed(text));
  }
  return out;
}

absl::StatusOr<std::vector<Example>> ExamplesOf(prim::Registry& registry, const prim::Row& row) {
  std::vector<Example> out;
  for (std::string_view text : SplitExamples(row.examples)) {
    const std::string name = base::Cat("example ", out.size());
    absl::StatusOr<Example> e = Read(registry, row, text);
    if (!e.ok()) {
      const absl::string_view why = e.status().message();
      return absl::Status(e.status().code(), absl::StrCat(name, ", `", base::ToAbsl(text), "`: ", why));
    }
    e->name = name;
    e->seed = out.size();
    out.push_back(*std::move(e));
  }
  return out;
}

}}}  // namespace ricci::v0::laws
