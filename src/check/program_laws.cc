// Laws of any program: its text, its factors, and the devices.
#include "base/hash_map.h"
#include "base/status_abi.h"
#include "check/trial.h"
#include "prim/registry.h"

namespace ricci::inline v0::check {
namespace {

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

// ---- factors: `a b, b c -> a c; sum b` ----
std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> out;
  for (size_t end; (end = text.find(by)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    out.push_back(text.substr(0, end));
  }
  out.push_back(text);
  return out;
}
std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view word : Split(text, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

// The factor text of one equation: one list per operand and result, a name per dimension, one size per name, and kinds
// only of names that exist.
class FactorText {
 public:
  FactorText(const ricci_op& op, std::string_view text) : op_(op), text_(text) {}

  absl::Status Check() {
    const std::vector<std::string_view> parts = Split(text_, ';');
    const size_t arrow = parts[0].find("->");
    if (arrow == std::string_view::npos) return Wrong("it has no `->`");
    RICCI_TRY(Side("operand", parts[0].substr(0, arrow), op_.n_in, op_.in_types));
    RICCI_TRY(Side("result", parts[0].substr(arrow + 2), op_.n_out, op_.out_types));
    for (size_t i = 1; i < parts.size(); ++i) RICCI_TRY(Kind(Words(parts[i])));
    return absl::OkStatus();
  }

 private:
  template <typename... Args>
  absl::Status Wrong(const Args&... what) const {
    return absl::FailedPreconditionError(base::Cat("`", text_, "`: ", what...));
  }
  absl::Status Side(std::string_view side, std::string_view text, uint32_t n, const ricci_type* types) {
    const std::vector<std::string_view> lists = Split(text, ',');
    if (n == 0 && Words(text).empty()) return absl::OkStatus();
    if (lists.size() != n) return Wrong(lists.size(), " lists for ", n, " ", side, "s");
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t dtype, rank;
      const int64_t* dims;
      RICCI_TRY(base::FromAbi(ricci_type_get(op_.ctx, types[i], &dtype, &rank, &dims)));
      const std::vector<std::string_view> names = Words(lists[i]);
      if (names.size() != rank) return Wrong(names.size(), " factors for ", side, " ", i, " of rank ", rank);
      for (uint32_t d = 0; d < rank; ++d) {
        const auto [known, is_new] = sizes_.try_emplace(std::string(names[d]), dims[d]);
        if (known->second == dims[d]) continue;
        return Wrong("factor ", names[d], " is ", known->second, ", and ", dims[d], " in ", side, " ", i);
      }
    }
    return absl::OkStatus();
  }
  absl::Status Kind(const std::vector<std::string_view>& words) const {
    constexpr std::string_view kKinds[] = {"sum", "prod", "max", "min", "and", "or", "xor", "whole", "seq", "window"};
    if (words.size() < 2) return Wrong("a kind names at least one factor");
    if (std::find(std::begin(kKinds), std::end(kKinds), words[0]) == std::end(kKinds)) {
      return Wrong(words[0], " is no kind of factor");
    }
    for (size_t i = 1; i < words.size(); ++i) {
      if (!sizes_.contains(std::string(words[i]))) return Wrong(words[0], " of ", words[i], ", which is no factor");
    }
    return absl::OkStatus();
  }

  const ricci_op& op_;
  std::string_view text_;
  base::HashMap<std::string, int64_t> sizes_;
};

}  // namespace

absl::Status CheckText(ricci_ctx* ctx, const ricci_program* p) {
  RICCI_TRY(base::FromAbi(ricci_program_verify(p)));
  std::string text;
  RICCI_TRY(base::FromAbi(ricci_program_print(p, &text, Append)));
  ricci_program* parsed = nullptr;
  RICCI_TRY(base::FromAbi(ricci_program_parse(ctx, text.data(), text.size(), "", 0, &parsed)));
  const Program owned = Own(parsed);
  if (ricci_program_equal(p, parsed) != 0) return absl::OkStatus();
  return absl::FailedPreconditionError("the parsed text is another program: " + text);
}

absl::Status CheckFactors(ricci_ctx*, const ricci_program* p) {
  const prim::Registry& registry = prim::Registry::Of(*ir::FromAbi(p));
  for (uint32_t i = 0; i < ricci_program_equation_count(p); ++i) {
    ricci_op op{};
    op.hdr.size = sizeof op;
    RICCI_TRY(base::FromAbi(ricci_program_equation(p, i, &op)));
    const prim::Row& row = registry.Get(op.prim);
    std::string text = row.factors;
    if (row.def.factors_of != nullptr) {
      RICCI_TRY(base::FromAbi(row.def.factors_of(row.def.self, &op, &text, Append)));
    }
    if (text.empty()) continue;
    const absl::Status s = FactorText(op, text).Check();
    if (!s.ok()) return absl::Status(s.code(), absl::StrCat(row.name, " ", s.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckProgram(Trial& t) { return t.Run(LawId::kDevice, *t.f(), t.x(), Where::kEverywhere).status(); }

}  // namespace ricci::inline v0::check
