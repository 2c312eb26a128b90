// Which lowering of a row an equation gets on a target.
#ifndef RICCI_PASS_CHOOSE_LOWERING_H_
#define RICCI_PASS_CHOOSE_LOWERING_H_
#include "absl/status/statusor.h"
#include "pass/target/target.h"
#include "prim/registry.h"
#include "ricci/primitive.h"

namespace ricci { inline namespace v0 { namespace pass {

// Chooses among a row's lowerings those of the given kinds for `target`: the one with the highest priority that
// matches, or NULL. `kinds` is a set of bits 1 << RICCI_LOWER_*.
inline constexpr uint32_t kKernelKinds = 1u << RICCI_LOWER_SCALAR | 1u << RICCI_LOWER_INDEX | 1u << RICCI_LOWER_LOOPS;
inline constexpr uint32_t kCallKinds = 1u << RICCI_LOWER_LIBRARY | 1u << RICCI_LOWER_SOURCE;  // steps of their own
inline constexpr uint32_t kAllKinds = kKernelKinds | 1u << RICCI_LOWER_DECOMPOSE | kCallKinds;
inline bool IsCall(const ricci_lowering& l) { return (kCallKinds & 1u << l.kind) != 0; }
inline bool IsUpdate(const ricci_lowering& l) {
  return l.kind == RICCI_LOWER_LOOPS && (l.hdr.flags & RICCI_LOWERING_UPDATES) != 0;
}
absl::StatusOr<const ricci_lowering*> ChooseLowering(const prim::Row& row, const ricci_op& op, const Target& target,
                                                     uint32_t kinds);
// The error where none is chosen: why not each of those that the row has.
absl::Status NoLowering(prim::Registry& registry, const ricci_op& op, const Target& target, uint32_t kinds);

}}}  // namespace ricci::v0::pass
#endif
