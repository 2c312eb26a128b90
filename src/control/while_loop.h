// The layout of a while: cond(cond_consts, carry) -> bool; body(body_consts, carry) -> carry;
// while(cond_consts, body_consts, init) -> carry.
#ifndef RICCI_CONTROL_WHILE_LOOP_H_
#define RICCI_CONTROL_WHILE_LOOP_H_
#include "control/structural_row.h"

namespace ricci::inline v0::control {

struct WhileParts {
  // The counts have passed CheckCounts.
  explicit WhileParts(const Held& h)
      : cond(&h.program("cond")),
        body(&h.program("body")),
        n_cond(static_cast<uint32_t>(h.integer("cond_nconsts"))),  // exact: checked
        n_body(static_cast<uint32_t>(h.integer("body_nconsts"))),  // exact: checked
        n_carry(h.op.n_in - n_cond - n_body),
        max_trips(h.integer("max_trips", -1)),
        place(h.text("place")) {}

  const Program *cond, *body;
  uint32_t n_cond, n_body, n_carry;
  int64_t max_trips;  // -1: not stated
  std::string_view place;
};

// The message of a run whose condition still holds at the bound.
std::string StillGoingOn(int64_t max_trips);

absl::StatusOr<Vals> EmitWhile(Builder& b, const WhileParts& like, const Program& cond, const Program& body,
                               uint32_t n_cond, uint32_t n_body, std::span<const Val> in);

absl::Status WhileJvp(Builder& b, const Held& h, const ricci_jvp_args& a);
absl::Status WhilePartialEval(const Held& h, const ricci_partial_eval_args& a);
absl::Status WhileBatch(Builder& b, const Held& h, const ricci_batch_args& a);
absl::Status WhileDce(Builder* b, const Held& h, const ricci_dce_args& a);

}  // namespace ricci::inline v0::control
#endif
