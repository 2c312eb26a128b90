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
 * infinities in arguments and constants are not the fault of an equation. An equation that holds the functions it is
 * made of (call, checkpoint, custom derivatives) is looked into; a loop or a branch is named as a whole. Each equation
 * is compiled and run by itself: expect tens of times the time of a run, and memory for all values that are still
 * needed. Errors of a run are passed on. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_finite(const ricci_program* f, ricci_device* d RICCI_NULLABLE,
                                                           ricci_array* const* in RICCI_LEN(n_in),
                                                           uint32_t n_in) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
