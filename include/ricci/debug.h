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

#ifdef __cplusplus
}
#endif
#endif
