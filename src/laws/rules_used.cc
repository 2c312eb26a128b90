#include "laws/rules_used.h"

#include <algorithm>

namespace ricci { inline namespace v0 { namespace laws {
namespace {

constexpr std::string_view kNames[] = {"jvp", "transpose", "batch", "simplify", "contract"};
static_assert(std::size(kNames) == kRuleCount);

}  // namespace

void RulesUsed::Add(prim::Rule rule, const std::string& row) {
  std::vector<std::string>& rows = rows_[static_cast<size_t>(rule)];
  const auto at = std::lower_bound(rows.begin(), rows.end(), row);
  if (at == rows.end() || *at != row) rows.insert(at, row);
}

void RulesUsed::Add(const RulesUsed& other) {
  for (size_t rule = 0; rule < kRuleCount; ++rule) {
    for (const std::string& row : other.rows_[rule]) Add(static_cast<prim::Rule>(rule), row);
  }
}

std::string RulesUsed::ToText(std::string_view own) const {
  std::string out;
  bool others = false;
  for (size_t rule = 0; rule < kRuleCount; ++rule) {
    const std::vector<std::string>& rows = rows_[rule];
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i == 0) out += base::Cat(out.empty() ? "" : "; ", kNames[rule], " of ");
      out += base::Cat(i == 0 ? "" : ", ", rows[i]);
      others |= rows[i] != own;
    }
  }
  return others ? out : "";
}

RuleWatch::RuleWatch(const prim::Registry& registry) : registry_(registry), before_(registry.size()) {
  for (uint32_t id = 0; id < before_.size(); ++id) {
    for (size_t rule = 0; rule < kRuleCount; ++rule) {
      before_[id][rule] = registry.Uses(id, static_cast<prim::Rule>(rule));
    }
  }
}

RulesUsed RuleWatch::Since(RulesUsed before) const {
  for (uint32_t id = 0; id < before_.size(); ++id) {
    for (size_t i = 0; i < kRuleCount; ++i) {
      const auto rule = static_cast<prim::Rule>(i);
      if (registry_.Uses(id, rule) != before_[id][i]) before.Add(rule, registry_.Get(id).name);
    }
  }
  return before;
}

}}}  // namespace ricci::v0::laws
