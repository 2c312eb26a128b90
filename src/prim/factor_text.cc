#include "prim/factor_text.h"

#include "prim/rule_call.h"

namespace ricci { inline namespace v0 { namespace prim {
namespace {

using ir::FactorKind;

// The kind with that name; kParallel, which has no name, if there is none.
FactorKind KindOf(std::string_view name) {
  for (auto k = static_cast<uint8_t>(FactorKind::kSum); k < static_cast<uint8_t>(FactorKind::kCount); ++k) {
    if (NameOf(static_cast<FactorKind>(k)) == name) return static_cast<FactorKind>(k);
  }
  return FactorKind::kParallel;
}

class Reader {
 public:
  Reader(std::string_view text, Shapes in, Shapes out) : rest_(text), in_(in), result_(out) {
    out_.text = text;
    out_.in.resize(in.size()), out_.out.resize(out.size());
  }

  absl::StatusOr<ir::Factors> Read() {
    RICCI_TRY(Lists("operand", "->", out_.in));
    RICCI_TRY(Lists("result", ";", out_.out));
    while (!rest_.empty()) RICCI_TRY(Kind());
    RICCI_TRY(CheckResults());
    RICCI_TRY(Measure("operand", out_.in, in_));
    RICCI_TRY(Measure("result", out_.out, result_));
    return std::move(out_);
  }

 private:
  template <typename... Args>
  absl::Status Wrong(const Args&... what) const {
    return absl::FailedPreconditionError(base::Cat("`", out_.text, "`: ", what...));
  }
  template <typename... Args>
  absl::Status WrongFactor(uint32_t factor, const Args&... what) const {
    return absl::FailedPreconditionError(base::Cat(out_.About(factor), what...));
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
  // The number of a factor; for a new name, the number of factors. Texts hold a handful of names, so a search is fast.
  uint32_t Find(std::string_view name) const {
    uint32_t i = 0;
    while (i < out_.names.size() && out_.names[i] != name) ++i;
    return i;
  }
  uint32_t FindOrAdd(std::string_view name) {
    const uint32_t factor = Find(name);
    if (factor == out_.names.size()) {
      out_.names.emplace_back(name);
      out_.factors.emplace_back();
    }
    return factor;
  }

  absl::Status Lists(std::string_view side, std::string_view end, ir::FactorLists& lists) {
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
      const uint32_t factor = FindOrAdd(word);
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
    const std::string_view word = Word();
    if (word.empty() || word == ";") return Wrong("a kind names at least one factor");
    const FactorKind kind = KindOf(word);
    if (kind == FactorKind::kParallel) return Wrong(word, " is not a kind of factor");
    int n = 0;
    for (std::string_view name = Word(); !name.empty() && name != ";"; name = Word(), ++n) {
      const uint32_t factor = Find(name);
      if (factor == out_.names.size()) return Wrong(word, " of ", name, ", which is not a factor");
      FactorKind& known = out_.factors[factor].kind;
      if (known != FactorKind::kParallel) return WrongFactor(factor, " is ", NameOf(known), " and ", word);
      known = kind;
    }
    return n == 0 ? Wrong("a kind names at least one factor") : absl::OkStatus();
  }

  // A factor that is combined is in no result; a factor that is in no result needs a kind.
  absl::Status CheckResults() const {
    std::vector<uint32_t> uses(out_.factors.size(), 0);
    for (size_t j = 0; j < out_.out.size(); ++j) {
      std::vector<uint8_t> here(out_.factors.size(), 0);
      for (uint32_t f : out_.out[j]) {
        if (here[f]++ != 0) return WrongFactor(f, " is twice in result ", j);
        ++uses[f];
      }
    }
    for (uint32_t f = 0; f < uses.size(); ++f) {
      const FactorKind kind = out_.factors[f].kind;
      if (IsReduced(kind) && uses[f] != 0) {
        return WrongFactor(f, " is in a result, so it is not combined by ", NameOf(kind));
      }
      if (kind == FactorKind::kParallel && uses[f] == 0) {
        return WrongFactor(f, " is in no result, so it needs a kind, such as `sum ", out_.names[f], "` or `whole ",
                           out_.names[f], "`");
      }
    }
    return absl::OkStatus();
  }

  // The sizes of the factors: all dimensions of a factor have the same size.
  absl::Status Measure(std::string_view side, const ir::FactorLists& lists, Shapes shapes) {
    measured_.resize(out_.factors.size(), 0);
    for (size_t i = 0; i < lists.size(); ++i) {
      if (lists[i].size() != shapes[i].size()) {
        return Wrong(base::Count(lists[i].size(), "factor"), " for ", side, " ", i, " of rank ", shapes[i].size());
      }
      for (size_t d = 0; d < shapes[i].size(); ++d) {
        const uint32_t f = lists[i][d];
        if (!measured_[f]) out_.factors[f].size = shapes[i][d];
        measured_[f] = 1;
        if (out_.factors[f].size == shapes[i][d]) continue;
        return WrongFactor(f, " is ", out_.factors[f].size, ", and ", shapes[i][d], " in ", side, " ", i);
      }
    }
    return absl::OkStatus();
  }

  std::string_view rest_;
  const Shapes in_, result_;
  std::vector<uint8_t> measured_;  // per factor: its size is known
  ir::Factors out_;
};

// What a rule writes through a function that returns nothing: the first mistake is kept.
struct Written {
  std::string text;
  absl::Status status;
  bool out_of_memory = false;
};
constexpr size_t kLongestText = 1 << 16;

absl::Status Append(std::string& text, const char* p, size_t n) {
  if (n == 0) return absl::OkStatus();
  if (p == nullptr) return base::InvalidArgument("writes ", n, " bytes at NULL");
  if (n > kLongestText - text.size()) {
    return base::InvalidArgument("writes a text of more than ", kLongestText, " bytes");
  }
  const auto readable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::all_of(p, p + n, readable)) return base::InvalidArgument("writes bytes that are not letters");
  text.append(p, n);
  return absl::OkStatus();
}
// Called by the rule, through which nothing may be thrown.
void Write(void* sink, const char* p, size_t n) noexcept {
  auto* const to = static_cast<Written*>(sink);
  if (to == nullptr || !to->status.ok()) return;
  try {
    to->status = Append(to->text, p, n);
  } catch (const std::bad_alloc&) {
    to->out_of_memory = true;
  }
}

absl::StatusOr<std::string> TextOf(const Row& row, const ricci_op& op) {
  if (row.def.factors_of == nullptr) return row.factors;
  Written text;
  const auto call = [&] { return row.def.factors_of(row.def.self, &op, &text, Write); };
  RICCI_TRY(Named(row, "factors_of", CallRule(row, "factors_of", call)));
  if (text.out_of_memory) throw std::bad_alloc();
  if (!text.status.ok()) return Violation(row, "factors_of", std::string(text.status.message()));
  return std::move(text.text);
}

}  // namespace

absl::StatusOr<ir::FactorsRef> FactorsOf(Registry& registry, const ricci_op& op) {
  RICCI_ASSIGN(const std::string text, TextOf(registry.Get(op.prim), op));
  if (text.empty()) return ir::FactorsRef();
  const auto shapes = [&](const ricci_type* types, uint32_t n) {
    std::vector<std::span<const int64_t>> out;
    for (uint32_t i = 0; i < n; ++i) out.push_back(registry.vocabulary().types.Get(types[i]).shape);
    return out;
  };
  absl::StatusOr<ir::Factors> read = ReadFactors(text, shapes(op.in_types, op.n_in), shapes(op.out_types, op.n_out));
  if (!read.ok()) read = ir::Factors{.wrong = read.status()};
  return std::make_shared<const ir::Factors>(*std::move(read));
}

absl::StatusOr<ir::Factors> ReadFactors(std::string_view text, Shapes in, Shapes out) {
  return Reader(text, in, out).Read();
}

}}}  // namespace ricci::v0::prim
