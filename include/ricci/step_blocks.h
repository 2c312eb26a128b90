/* ricci/step_blocks.h: where the loops and branches of a plan begin and end.
 *
 * The order of the steps alone says it (backend.h); no step holds the number of another. So a list of steps means the
 * same anywhere: a backend asks ricci_plan_edges about the body of a loop as if it were a plan, and passes move, drop
 * and repeat steps. Members of ricci_plan_step with these numbers were tried: in such a body they still named steps of
 * the whole plan, so it was refused. Code that needs the numbers matches the list, once for all its walks:
 *   ricci_step_block* blocks = ...; n_steps of them
 *   ricci_match_blocks(plan->steps, plan->n_steps, blocks);
 *   for (s = 0; s < plan->n_steps; s = blocks[s].end + 1) ... each step that is in no loop or branch
 * The core, its backends and plugins all use this function. Header-only: nothing here is a function of the library.
 */
#ifndef RICCI_STEP_BLOCKS_H_
#define RICCI_STEP_BLOCKS_H_
#include "ricci/backend.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RICCI_NO_STEP UINT32_MAX

/* The numbers of other steps that one step needs. */
typedef struct ricci_step_block {
  uint32_t around; /* the WHILE or CASE that holds it; of a COND, NEXT or END that to which it belongs; or
                      RICCI_NO_STEP */
  uint32_t next;   /* of a WHILE its COND; of a CASE and a NEXT the NEXT or END after the branch that begins there; of a
                      COND its END; of others RICCI_NO_STEP */
  uint32_t end;    /* of a WHILE, COND, CASE and NEXT the END; of others the step itself */
} ricci_step_block;

static inline int ricci_step_opens(const ricci_plan_step* s) {
  return s->kind == RICCI_STEP_WHILE || s->kind == RICCI_STEP_CASE;
}

/* Fills out[0, n_steps). Linear, without memory of its own: until its END is found, `end` of a WHILE or CASE is the
 * step that divides it last. Of a plan that is malformed the numbers mean nothing, but they are those of steps. */
static inline void ricci_match_blocks(const ricci_plan_step* steps, uint32_t n_steps, ricci_step_block* out) {
  uint32_t open = RICCI_NO_STEP, s, part;
  for (s = 0; s < n_steps; ++s) {
    const uint32_t kind = steps[s].kind;
    out[s].around = open;
    out[s].next = RICCI_NO_STEP;
    out[s].end = s;
    if (ricci_step_opens(&steps[s])) open = s;
    if ((kind != RICCI_STEP_COND && kind != RICCI_STEP_NEXT && kind != RICCI_STEP_END) || open == RICCI_NO_STEP)
      continue;
    out[out[open].end].next = s;
    out[open].end = s;
    if (kind != RICCI_STEP_END) continue;
    for (part = open; part != s; part = out[part].next) out[part].end = s;
    open = out[open].around;
  }
}

#ifdef __cplusplus
}
#endif
#endif
