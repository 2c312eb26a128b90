/* ricci/debug.h: calls for finding out what is wrong with a program of one's own. They cost time: not for production.
 */
#ifndef RICCI_DEBUG_H_
#define RICCI_DEBUG_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Runs `f` on `d` (NULL: device 0) equation by equation and gives OUT_OF_RANGE for the first one that makes a NaN from
 * operands without one, or an infinity from finite operands (JAX: debug_nans, debug_infs). The message names the
 * primitive and the element, ricci_status_site the line where the equation was written. NULL: there is none; NaNs and
 * infinities in arguments and constants are not the fault of an equation. In an equation that holds programs (a call, a
 * loop, a branch, a vmap) it looks for the equation in these that does it, and gives the trip from 0, the branch or the
 * element. Equations are compiled and run alone, loops trip by trip: expect tens of times the time of a run, memory for
 * all values that are still needed, and callbacks called again. Errors of a run are passed on. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_finite(const ricci_program* f, ricci_device* d RICCI_NULLABLE,
                                                           ricci_array* const* in RICCI_LEN(n_in),
                                                           uint32_t n_in) RICCI_ANY_THREAD;

typedef struct ricci_reduction {
  ricci_hdr hdr;
  void* self;
  /* Whether `candidate` still fails in the way that matters: not 0 if it does. Borrowed for the call. */
  uint32_t (*fails)(void* self, const ricci_program* candidate);
  uint64_t tries; /* most calls of `fails`; 0: no bound */
  double seconds; /* no call begins later than that; 0: no bound */
} ricci_reduction;

/* Finds a smaller program that still fails: with fewer results, parameters, equations and attributes, equations
 * replaced by the programs they hold, smaller dimensions and simple constants; in held programs too (delta debugging,
 * Zeller and Hildebrandt 2002). Every candidate is valid. *out may be `f` itself, with a reference of its own. Where
 * there is no bound, no single step makes *out smaller. FAILED_PRECONDITION if `f` does not fail. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_reduce(const ricci_program* f, const ricci_reduction* how,
                                                             ricci_program** out RICCI_OWNED);

#ifdef __cplusplus
}
#endif
#endif
