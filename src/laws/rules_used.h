// RulesUsed: the rows whose rules made a program, so that a failure in a program of several rows says where to look.
//
// Read from the counts that the registry keeps. If another thread transforms programs in the same context meanwhile,
// its rows appear in the message too; nothing else changes.
#ifndef RICCI_LAWS_RULES_USED_H_
#define RICCI_LAWS_RULES_USED_H_
#include <array>
#include <string>
#include <vector>

#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace laws {

inline constexpr size_t kRuleCount = static_cast<size_t>(prim::Rule::kCount);

class RulesUsed {
 public:
  void Add(prim::Rule rule, const std::string& row);
  void Add(const RulesUsed& other);
  // `jvp of mul, sin; batch of mul`; empty if no row but `own` is among them.
  std::string ToText(std::string_view own) const;

 private:
  std::array<std::vector<std::string>, kRuleCount> rows_;  // sorted names
};

// The rules that are used from its construction on.
class RuleWatch {
 public:
  explicit RuleWatch(const prim::Registry& registry);
  // Together with those in `before`.
  RulesUsed Since(RulesUsed before = {}) const;

 private:
  const prim::Registry& registry_;
  std::vector<std::array<uint64_t, kRuleCount>> before_;  // by row
};

}}}  // namespace ricci::v0::laws
#endif
