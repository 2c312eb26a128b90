/* ricci/executable.h: compile a program for a device and run it, with array handles or with bound pointers. */
#ifndef RICCI_EXECUTABLE_H_
#define RICCI_EXECUTABLE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  RICCI_COMPILE_CHECKED = 1u << 0
}; /* ricci_compile_opts.hdr.flags: check overlap of bound pointers on every run */

typedef struct ricci_compile_opts {
  ricci_hdr hdr;
  ricci_device* device;  /* NULL = device 0 */
  const uint8_t* donate; /* [n_donate]: 1 = the run may reuse the memory of this argument for a result */
  /* 0 = the default of the device (`cpu`: 2), 1 = compile fast (`cpu`: code generation is 1.7 to 7 times as fast, the
   * code runs up to 1.7 times as long), 2, 3 */
  uint32_t n_donate, opt_level;
  /* Called between stages with (done, total); return 0 to cancel. May be NULL. */
  uint32_t (*progress)(void* self, uint32_t done, uint32_t total);
  void* progress_self;
  /* Names of passes, divided by commas, for debugging: only those of `passes` run (all if it is empty), without those
   * of `skip`. What every plan needs always runs; results are the same up to rounding. Unknown names are
   * INVALID_ARGUMENT with a list of all. */
  ricci_str passes, skip;
} ricci_compile_opts;

typedef struct ricci_executable_stats {
  ricci_hdr hdr;
  double transform_s, lower_s, codegen_s; /* passes; kernels and plan; machine code */
  uint64_t code_bytes, arena_bytes, scratch_bytes, constant_bytes;
  uint64_t flops; /* scalar floating operations of one run, loops with unknown trip count taken once */
  uint32_t kernels, library_calls, steps, cache_hit;
} ricci_executable_stats;

/* `o` may be NULL. The executable keeps what it needs of `f`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_compile(const ricci_program* f, const ricci_compile_opts* o,
                                                      ricci_executable** out);
RICCI_API ricci_executable* ricci_executable_retain(ricci_executable* x);
RICCI_API void ricci_executable_release(ricci_executable* x);
/* Runs to the end. in[n_in] are borrowed (donated ones that had one reference lose their data); out[n_out] are new.
 * Safe from several threads at once. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_executable_run(const ricci_executable* x, ricci_array* const* in,
                                                             uint32_t n_in, ricci_array** out, uint32_t n_out);
RICCI_API void ricci_executable_info(const ricci_executable* x, ricci_executable_stats* out);
RICCI_API void ricci_executable_signature(const ricci_executable* x, uint32_t* n_params, const ricci_type** params,
                                          uint32_t* n_results, const ricci_type** results); /* borrowed from x */
/* Name of pass `i`, static, in the order in which they run; empty after the last. */
RICCI_API void ricci_pass_name(uint32_t i, ricci_str* out);
/* Text of a stage: `program` (as given), `optimized`, `decisions` (how each vmap and each kernel runs, and what
 * was estimated for it), `kernels`, `plan`, `native` (backend's own, e.g. LLVM IR), or what a pass leaves, by its name.
 * Passes run again for that. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_executable_dump(const ricci_executable* x, const char* stage, size_t len,
                                                              void* sink,
                                                              void (*write)(void* sink, const char* p, size_t n));

/* The argument whose memory result `result` takes if it was donated (ricci_compile_opts.donate), or -1 if it takes
 * none. */
RICCI_API int32_t ricci_executable_alias(const ricci_executable* x, uint32_t result);

/* A call with bound pointers: arguments first (slot 0 ..), then results. It owns its working memory; one thread at a
 * time. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_create(const ricci_executable* x, ricci_call** out);
/* `bytes` must be the size of the slot's type; `ptr` stays the caller's and needs the alignment of its element.
 *
 * Which memory may be shared: arguments with arguments, in any way; and result i with argument
 * ricci_executable_alias(x, i), where both are the same pointer, if no other slot touches that memory. Every other
 * overlap makes ricci_call_run return INVALID_ARGUMENT if the program was compiled with RICCI_COMPILE_CHECKED; without
 * it nothing is checked, and what the results hold is undefined. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_bind(ricci_call* k, uint32_t slot, void* ptr, uint64_t bytes);
/* No allocation, lock or reference count. Every slot must be bound. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_run(ricci_call* k);
RICCI_API void ricci_call_release(ricci_call* k);

#ifdef __cplusplus
}
#endif
#endif
