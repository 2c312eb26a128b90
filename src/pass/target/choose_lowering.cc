#include "pass/target/choose_lowering.h"

#include "prim/rule_call.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::StatusOr<const ricci_lowering*> ChooseLowering(const prim::Row& row, const ricci_op& op, const Target& target,
                                                     uint32_t kinds) {
  for (const ricci_lowering& l : row.lowerings) {
    const std::string_view for_target(l.target.ptr, l.target.len);
    if (l.kind == RICCI_LOWER_SOURCE && !target.sources) continue;
    if (!(kinds & 1u << l.kind) || (for_target != "*" && for_target != target.kind)) continue;
    uint32_t accept = 1;
    if (l.match != nullptr) {
      absl::Status status = prim::CallRule(row, "match", [&] { return l.match(l.self, &op, &accept); });
      if (!status.ok()) return base::WithSite(std::move(status), {row.name, "match", "", 0});
    }
    if (accept) return &l;
  }
  return nullptr;
}

absl::Status NoLowering(prim::Registry& registry, const ricci_op& op, const Target& target, uint32_t kinds) {
  const prim::Row& row = registry.Get(op.prim);
  std::string operands, why;
  for (uint32_t i = 0; i < op.n_in; ++i) {
    operands += (i == 0 ? "" : ", ") + ToText(registry.vocabulary().types.Get(op.in_types[i]));
  }
  for (const ricci_lowering& l : row.lowerings) {
    const std::string_view own(l.target.ptr, l.target.len);
    const bool elsewhere = (own != "*" && own != target.kind) || (l.kind == RICCI_LOWER_SOURCE && !target.sources);
    why += base::Cat(why.empty() ? "; " : ", ", prim::KindName(l.kind), " for `", own, "` ",
                     elsewhere                     ? "is for another target"
                     : (kinds & 1u << l.kind) == 0 ? "cannot be part of a kernel"
                                                   : base::Cat("does not take (", operands, ")"));
  }
  if (why.empty()) why = "; its row has none";
  return absl::UnimplementedError(base::Cat(row.name, ": no lowering for target ", target.kind, why));
}

}}}  // namespace ricci::v0::pass
