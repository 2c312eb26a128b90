#include "transform/policy.h"

#include "absl/strings/str_split.h"
#include "trace/attrs.h"
#include "transform/memo.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

constexpr absl::string_view kNames = "names:", kNamesBut = "names_but:";

bool IsNamed(const prim::Row& row, const ir::Equation& eqn) {
  return row.has(RICCI_PRIM_NAMES) && !trace::StringOf(eqn.attrs, "name").empty();
}
// Is the name of `eqn` in the list `a,b`?
bool In(absl::string_view list, const ir::Equation& eqn) {
  const absl::string_view name = base::ToAbsl(trace::StringOf(eqn.attrs, "name"));
  for (absl::string_view n : absl::StrSplit(list, ',')) {
    if (n == name) return true;
  }
  return false;
}
bool IsProduct(const prim::Row& row, const ir::Equation&) { return row.has(RICCI_PRIM_EXPENSIVE); }
// Of matrices only: a convolution always has a batch.
bool IsProductWithoutBatch(const prim::Row& row, const ir::Equation& eqn) {
  return IsProduct(row, eqn) && ir::FindAttr(eqn.attrs, "lhs_contract") != nullptr &&
         trace::IntsOf(eqn.attrs, "lhs_batch").empty();
}

constexpr struct {
  absl::string_view name;
  bool (*saves)(const prim::Row& row, const ir::Equation& eqn);
} kPolicies[] = {
    {"everything", [](const prim::Row&, const ir::Equation&) { return true; }},
    {"nothing", [](const prim::Row&, const ir::Equation&) { return false; }},
    {"dots", IsProduct},
    {"dots_with_no_batch_dims", IsProductWithoutBatch},
};

// One policy, without `|`.
absl::StatusOr<bool> OneSaves(absl::string_view policy, const prim::Row& row, const ir::Equation& eqn) {
  for (const auto& p : kPolicies) {
    if (p.name == policy) return p.saves(row, eqn);
  }
  if (absl::ConsumePrefix(&policy, kNames)) return IsNamed(row, eqn) && In(policy, eqn);
  if (absl::ConsumePrefix(&policy, kNamesBut)) return IsNamed(row, eqn) && !In(policy, eqn);
  return base::InvalidArgument("checkpoint: unknown policy ", policy,
                               "; known: everything, nothing, dots, dots_with_no_batch_dims, names:a,b, names_but:a,b, "
                               "and several with | between them");
}

}  // namespace

absl::StatusOr<bool> PolicySaves(std::string_view policy, const prim::Row& row, const ir::Equation& eqn) {
  if (policy.empty()) return true;
  bool saved = false;
  for (absl::string_view one : absl::StrSplit(base::ToAbsl(policy), '|')) {
    RICCI_ASSIGN(bool by_this, OneSaves(one, row, eqn));
    saved |= by_this;
  }
  return saved;
}

namespace {

absl::StatusOr<bool> SavesAny(std::string_view policy, const ir::Program& f) {
  if (f.effectful) return true;
  const prim::Registry& registry = prim::Registry::Of(f);
  for (const ir::Equation& eqn : f.equations) {
    const prim::Row& row = registry.Get(eqn.prim);
    RICCI_ASSIGN(bool saves, PolicySaves(policy, row, eqn));
    if (!saves && row.has(RICCI_PRIM_SAVES_INSIDE)) {
      RICCI_ASSIGN(saves, SavesInside(policy, eqn));
    }
    if (saves) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<bool> SavesInside(std::string_view policy, const ir::Equation& eqn) {
  for (const ricci_attr& a : eqn.attrs) {
    for (ricci_program* p : ir::Programs(a)) {
      const ir::Program& f = *ir::FromAbi(p);
      RICCI_ASSIGN(const bool saves,
                   Remembered<bool>(MemoKey("saves_inside", f).Add(policy), [&] { return SavesAny(policy, f); }));
      if (saves) return true;
    }
  }
  return false;
}

absl::Status VerifyPolicy(std::string_view policy) { return PolicySaves(policy, prim::Row{}, ir::Equation{}).status(); }

}}}  // namespace ricci::v0::transform
