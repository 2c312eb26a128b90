#include "prim/factor_text.h"

#include "base/status_abi.h"

namespace ricci::inline v0::prim {
namespace {

constexpr std::string_view kKinds[] = {"",   "sum", "prod",  "max", "min",    "and",
                                       "or", "xor", "whole", "seq", "window", "place"};
static_assert(std::size(kKinds) == static_cast<size_t>(FactorKind::kCount));

class Reader {
 public:
  Reader(std::string_view text, uint32_t n_in, uint32_t n_out) : rest_(text) {
    out_.text = text;
    out_.in.resize(n_in), out_.out.resize(n_out);
  }

  absl::StatusOr<FactorText> Read() {
    RICCI_TRY(Lists("operand", "->", out_.in));
    RICCI_TRY(Lists("result", ";", out_.out));
    while (!rest_.empty()) RICCI_TRY(Kind());
    RICCI_TRY(CheckResults());
    return std::move(out_);
  }

 private:
  template <typename... Args>
  absl::Status Wrong(const Args&... what) const {
    return absl::FailedPreconditionError(base::Cat("`", out_.text, "`: ", what...));
  }

  // "" at the end. `,` `;` `->` are words of their own.
  std::string_view Word() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    size_t n = 0;
    while (n < rest_.size() && rest_[n] != ' ' && rest_[n] != ',' && rest_[n] != ';') ++n;
    if (n == 0 && !rest_.empty()) n = 1;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  // The number of a factor; the count of factors for a new name. Texts hold a handful of names.
  uint32_t Find(std::string_view name) const {
    uint32_t i = 0;
    while (i < out_.names.size() && out_.names[i] != name) ++i;
    return i;
  }

  absl::Status Lists(std::string_view side, std::string_view end, std::vector<std::vector<uint32_t>>& lists) {
    size_t n = 1;
    bool any = false;
    std::string_view word = Word();
    for (; !word.empty() && word != end; word = Word()) {
      any = true;
      if (word == "->" || word == ";") break;
      if (word == ",") {
        ++n;
        continue;
      }
      const uint32_t factor = Find(word);
      if (factor == out_.names.size()) {
        out_.names.emplace_back(word);
        out_.kinds.push_back(FactorKind::kParallel);
      }
      if (n <= lists.size()) lists[n - 1].push_back(factor);
    }
    if (end == "->" && word != end) return Wrong("it has no `->`");
    if (word == "->" && end == ";") return Wrong("it has more than one `->`");
    if (n != lists.size() && (any || !lists.empty())) {
      return Wrong(base::Count(n, "list"), " for ", base::Count(lists.size(), side));
    }
    return absl::OkStatus();
  }

  absl::Status Kind() {
    const std::string_view kind = Word();
    const auto known = std::find(std::begin(kKinds) + 1, std::end(kKinds), kind);
    if (kind.empty() || kind == ";") return Wrong("a kind names at least one factor");
    if (known == std::end(kKinds)) return Wrong(kind, " is no kind of factor");
    int n = 0;
    for (std::string_view name = Word(); !name.empty() && name != ";"; name = Word(), ++n) {
      const uint32_t factor = Find(name);
      if (factor == out_.names.size()) return Wrong(kind, " of ", name, ", which is no factor");
      if (out_.kinds[factor] != FactorKind::kParallel) {
        return Wrong("factor ", name, " is ", NameOf(out_.kinds[factor]), " and ", kind);
      }
      out_.kinds[factor] = static_cast<FactorKind>(known - std::begin(kKinds));
    }
    return n == 0 ? Wrong("a kind names at least one factor") : absl::OkStatus();
  }

  // What is combined is in no result; what no result has needs a kind.
  absl::Status CheckResults() const {
    std::vector<uint32_t> uses(out_.names.size(), 0);
    for (size_t j = 0; j < out_.out.size(); ++j) {
      std::vector<uint8_t> here(out_.names.size(), 0);
      for (uint32_t f : out_.out[j]) {
        if (here[f]++ != 0) return Wrong("factor ", out_.names[f], " is twice in result ", j);
        ++uses[f];
      }
    }
    for (size_t f = 0; f < uses.size(); ++f) {
      const FactorKind kind = out_.kinds[f];
      if (IsReduced(kind) && uses[f] != 0) {
        return Wrong("factor ", out_.names[f], " is in a result, so it is not combined by ", NameOf(kind));
      }
      if (kind == FactorKind::kParallel && uses[f] == 0) {
        return Wrong("factor ", out_.names[f], " is in no result, so it needs a kind, such as `sum ", out_.names[f],
                     "` or `whole ", out_.names[f], "`");
      }
    }
    return absl::OkStatus();
  }

  std::string_view rest_;
  FactorText out_;
};

}  // namespace

std::string_view NameOf(FactorKind kind) { return kKinds[static_cast<size_t>(kind)]; }

absl::StatusOr<std::string> FactorTextOf(const Row& row, const ricci_op& op) {
  if (row.def.factors_of == nullptr) return row.factors;
  std::string text;
  const auto write = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  RICCI_TRY(base::FromAbi(row.def.factors_of(row.def.self, &op, &text, write)));
  return text;
}

absl::StatusOr<FactorText> ReadFactors(std::string_view text, uint32_t n_in, uint32_t n_out) {
  return Reader(text, n_in, n_out).Read();
}

}  // namespace ricci::inline v0::prim
