/* ricci/target.h: the numbers of what a backend compiles for. Every threshold of the core follows from them, and so do
 * the estimates of backends; src/pass/target.cc says how.
 *
 * They are a function of the kind of device and its instruction set, never of load, of how many threads there are or of
 * the very chip, so that a program always gets the same plan. A cycle is the time in which all points that run at once
 * make one simple step: on a processor the lanes of one thread, on a GPU what fills it.
 */
#ifndef RICCI_TARGET_H_
#define RICCI_TARGET_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_target {
  ricci_hdr hdr;
  uint32_t lanes;         /* values of 32 bits that one instruction computes */
  uint32_t registers;     /* such values that stay at hand */
  uint64_t points_wanted; /* of a kernel, that run at once and make good use of the device: on a processor `lanes`,
                             since other threads are not counted on */
  uint64_t near_bytes;    /* the fastest memory of what runs in lanes: a processor's first cache, registers of a GPU */
  uint64_t cache_bytes;   /* the memory next to it that nobody else uses */
  double cached_bytes_per_cycle, memory_bytes_per_cycle; /* that the cache and the memory of the device move */
  double launch_cycles;                                  /* of a kernel as step of a plan, before its first point */
  double call_cycles;                                    /* of a library call, the same */
  const uint16_t* op_cycles;                             /* of each scalar operation, by number (RICCI_S_*) */
  uint32_t n_op_cycles, reserved0;                       /* operations beyond take one */
} ricci_target;

/* Sets all members but hdr to those of a processor with vectors of 256 bits (AVX2), as far as t->hdr.size goes; a
 * backend changes what is different. `op_cycles` leads to a table of the core that never changes. */
RICCI_API void ricci_target_init(ricci_target* t RICCI_NULLABLE RICCI_BORROWED(static));

#ifdef __cplusplus
}
#endif
#endif
