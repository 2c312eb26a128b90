#include "laws/row_rules.h"

#include "ricci/check.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

// A decomposition that supplies every missing rule.
bool IsTransformable(const prim::Row& row) {
  for (const ricci_lowering& l : row.lowerings) {
    if (l.kind == RICCI_LOWER_DECOMPOSE && (l.hdr.flags & RICCI_LOWERING_TRANSFORMABLE) != 0) return true;
  }
  return false;
}
bool HasJvp(const prim::Row& row) { return row.def.jvp != nullptr || row.linear() || IsTransformable(row); }
bool HasBatch(const prim::Row& row) {
  return row.def.batch != nullptr || row.def.batch_kind != RICCI_BATCH_NONE || IsTransformable(row);
}

// Whether `missing` (`jvp: integer result; transpose, batch: why`) names the rule.
bool Names(std::string_view missing, std::string_view rule) {
  while (!missing.empty()) {
    const std::string_view part = missing.substr(0, missing.find(';'));
    const std::string_view rules = part.substr(0, part.find(':'));
    if (rules.find(rule) != std::string_view::npos) return true;
    missing.remove_prefix(std::min(missing.size(), part.size() + 1));
  }
  return false;
}

// What to do about a rule that is not there.
std::string HowToSupply(const prim::Row& row, std::string_view rule) {
  const std::string reason = base::Cat("`missing` must say why, such as `", rule, ": reason`");
  const bool decomposes = std::ranges::any_of(row.lowerings, [](auto& l) { return l.kind == RICCI_LOWER_DECOMPOSE; });
  return decomposes ? reason + ", or its decomposition be flagged RICCI_LOWERING_TRANSFORMABLE, to supply it" : reason;
}

absl::Status CheckRule(const prim::Row& row, std::string_view rule, bool exists) {
  const bool named = Names(row.missing, rule);
  if (exists != named) return absl::OkStatus();
  return absl::FailedPreconditionError(
      exists ? base::Cat("law rules: the row has ", rule, ", and says why it is missing: ", row.missing)
             : base::Cat("law rules: the row has no ", rule, "; ", HowToSupply(row, rule)));
}

}  // namespace

uint32_t LawsWithoutRule(const prim::Row& row) {
  uint32_t out = 0;
  if (!HasJvp(row)) out |= RICCI_CHECK_NO_DERIVATIVES;
  if (!HasBatch(row)) out |= RICCI_CHECK_NO_BATCH;
  return out;
}

void CheckRules(const prim::Row& row, Findings& findings) {
  Finding& found = findings[static_cast<size_t>(LawId::kRules)];
  const absl::Status all[] = {CheckRule(row, "jvp", HasJvp(row)),
                              CheckRule(row, "transpose", row.def.transpose != nullptr || IsTransformable(row)),
                              CheckRule(row, "batch", HasBatch(row))};
  for (const absl::Status& s : all) {
    ++found.comparisons;
    if (found.failure.ok()) found.failure = s;
  }
}

}}}  // namespace ricci::v0::laws
