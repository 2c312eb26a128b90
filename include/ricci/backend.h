/* ricci/backend.h: what a backend gets: flat tables of kernels and a plan; and what it must offer.
 *
 * The plan strings kernels and library calls together over numbered buffers. Memory of the ARENA kind is one block of
 * arena_bytes at the given offsets; the core allocates it, aligned to 64 bytes, with the backend's scratch behind it.
 */
#ifndef RICCI_BACKEND_H_
#define RICCI_BACKEND_H_
#include "ricci/context.h"
#include "ricci/kernel.h"
#include "ricci/primitive.h"
#include "ricci/target.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- one kernel ---- */
enum { RICCI_ACCESS_READ = 1, RICCI_ACCESS_WRITE = 2, RICCI_ACCESS_READ_WRITE = 3 };
typedef struct ricci_kernel_buffer {
  uint32_t dtype;
  uint32_t access;
  int64_t elements;
} ricci_kernel_buffer;

typedef struct ricci_kernel_table {
  ricci_hdr hdr;
  ricci_str name;
  const ricci_inst* insts;
  uint32_t n_insts;
  uint32_t domain_rank;
  const int64_t* domain;              /* extents; rank 0 = one point */
  const ricci_kernel_buffer* buffers; /* no two alias, except a READ and a WRITE one touched at equal indices only */
  uint32_t n_buffers, reserved0;
} ricci_kernel_table;

/* ---- the plan ---- */
enum { RICCI_BUFFER_INPUT = 1, RICCI_BUFFER_OUTPUT = 2, RICCI_BUFFER_CONSTANT = 3, RICCI_BUFFER_ARENA = 4 };
typedef struct ricci_plan_buffer {
  uint32_t kind;
  uint32_t index; /* of the input or output */
  uint64_t bytes;
  uint64_t offset;  /* ARENA */
  const void* data; /* CONSTANT */
} ricci_plan_buffer;

enum {
  RICCI_STEP_KERNEL = 1,  /* index: kernel; args: its buffers */
  RICCI_STEP_LIBRARY = 2, /* index: library call; args: operands, results, workspace if any */
  RICCI_STEP_COPY = 3,    /* args: destination, source */
  RICCI_STEP_WHILE = 4,   /* index: how often it runs if that is known (2^32 - 1: at least so often), else 0; arg: a
                             bool; then steps that compute it, COND, body, END */
  RICCI_STEP_COND = 5,
  RICCI_STEP_CASE =
      6, /* arg: an i32, clamped to [0, index); then `index` lists of steps, divided by NEXT, closed by END */
  RICCI_STEP_NEXT = 7,
  RICCI_STEP_END = 8
};
typedef struct ricci_plan_step {
  uint32_t kind, index;
  uint32_t args, n_args; /* range in ricci_plan.args */
  uint64_t location;
} ricci_plan_step;

typedef struct ricci_plan_library {
  const ricci_library* library;
  void* state;
  int64_t tasks;
  uint32_t n_in, n_out;
  uint64_t workspace_bytes, flops;
  uint64_t scratch_bytes; /* for each thread that launches, aligned to 64 */
} ricci_plan_library;

typedef struct ricci_plan {
  ricci_hdr hdr;
  const ricci_plan_buffer* buffers;
  const ricci_plan_step* steps;
  const uint32_t* args; /* buffer numbers */
  const ricci_plan_library* libraries;
  uint32_t n_buffers, n_steps, n_args, n_libraries;
  uint32_t n_inputs, n_outputs;
  uint64_t arena_bytes;
} ricci_plan;

/* ---- the backend ---- */
typedef struct ricci_code_info { /* filled by compile */
  ricci_hdr hdr;
  uint64_t code_bytes;
  uint64_t scratch_bytes; /* wanted behind the arena, aligned to 64 */
} ricci_code_info;

typedef struct ricci_run_args {
  ricci_hdr hdr;
  void* const* inputs;
  void* const* outputs;
  void* arena; /* arena_bytes (rounded up to 64) + scratch_bytes */
  void* stream;
  uint32_t* failed_check; /* RICCI_NO_CHECK on entry; lowered to imm by each RICCI_K_CHECK that does not hold */
} ricci_run_args;
#define RICCI_NO_CHECK 0xffffffffu

typedef struct ricci_estimate {
  ricci_hdr hdr;
  double cycles; /* out: of one run on one thread, about */
  double code;   /* out: operations that code would be generated for; the time to compile grows with them */
  void* sink;    /* in: if `write` is not NULL it takes a line of text for each kernel: how it would run */
  void (*write)(void* sink, const char* p, size_t n);
} ricci_estimate;

typedef struct ricci_backend {
  ricci_hdr hdr;
  ricci_str kind; /* `cpu` */
  ricci_str name; /* of the hardware */
  void* self;
  void (*drop_self)(void* self);
  uint32_t workers, opt_level_default; /* what ricci_compile_opts.opt_level 0 means here; 0 is taken as 1 */
  /* Tables live until drop_code. `opt_level` as in ricci_compile_opts. */
  ricci_status* (*compile)(void* self, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                           const ricci_plan* plan, uint32_t opt_level, void** code, ricci_code_info* info);
  ricci_status* (*run)(void* code, const ricci_run_args* a); /* thread-safe; returns when done */
  void (*drop_code)(void* code);
  /* Text of the native form; may be NULL. */
  ricci_status* (*dump)(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n));
  /* `threads` changes; may be NULL. A failure is that of ricci_context_config; backends told before are set back.
   * Called without a lock, at any time, on any thread, also while the backend runs. */
  ricci_status* (*set_threads)(void* self, uint32_t threads);
  /* What a plan would cost, from its tables alone; schedules that compute the same are compared by it. A function of
   * the tables and the instruction set, not of threads or load, so that a program always gets the same plan.
   * Thread-safe; a small part of the time of compile. NULL: schedules are chosen by the sizes of arrays alone. */
  ricci_status* (*estimate)(void* self, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                            const ricci_plan* plan, ricci_estimate* out);
  const ricci_target* target; /* read at registration; NULL: ricci_target_init */
} ricci_backend;

/* Adds a device. Call from a plugin's attach. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_backend_register(ricci_ctx* c, const ricci_backend* b);
/* The hooks of the context with defaults filled in (no member NULL but parallel_for and log); borrowed. */
RICCI_API const ricci_hooks* ricci_context_hooks(const ricci_ctx* c);

#ifdef __cplusplus
}
#endif
#endif
