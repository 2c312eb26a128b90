/* ricci/target.h: numbers that describe what a backend compiles for. The thresholds of the passes follow from them, and
 * so do the estimates of backends; src/pass/target/target.cc shows how.
 *
 * They are a function of the kind of device and its instruction set, never of load, the number of threads or the
 * individual chip, so that a program always gets the same plan. A cycle is the time in which all points that run at
 * once make one simple step: on a processor the lanes of one thread, on a GPU as many as fill it.
 */
#ifndef RICCI_TARGET_H_
#define RICCI_TARGET_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { /* ricci_target.hdr.flags */
       /* A fused multiply-add of f32 and of f64 is one instruction: products are contracted with the sums that follow
        * (ricci/kernel.h, `Contraction`). */
       RICCI_TARGET_FMA = 1u << 0
};
typedef struct ricci_target {
  ricci_hdr hdr;
  uint32_t lanes;         /* values of 32 bits that one instruction computes */
  uint32_t registers;     /* how many such values the registers hold */
  uint64_t points_wanted; /* of a kernel, that must run at once to use the device well: on a processor `lanes`,
                             since other threads are not counted on */
  uint64_t near_bytes;    /* the fastest memory of what runs in lanes: a processor's first cache, registers of a GPU */
  uint64_t cache_bytes;   /* the next memory that is not shared */
  double cached_bytes_per_cycle, memory_bytes_per_cycle; /* that the cache and the memory of the device move */
  double launch_cycles;                                  /* of a kernel as a step of a plan, before its first point */
  double call_cycles;                                    /* of a library call, the same */
  const uint16_t* op_cycles;                             /* of each scalar operation, by number (RICCI_S_*) */
  uint32_t n_op_cycles, reserved0;                       /* operations beyond it take one */
} ricci_target;

/* Sets all members but hdr to those of a processor with vectors of 256 bits (AVX2), as far as t->hdr.size goes; a
 * backend changes what is different. `op_cycles` points to a table of the core that never changes. */
RICCI_API void ricci_target_init(ricci_target* t RICCI_NULLABLE RICCI_BORROWED(static));

#ifdef __cplusplus
}
#endif
#endif
