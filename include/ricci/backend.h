/* ricci/backend.h: what a backend gets (flat tables of kernels and a plan) and what it must offer.
 *
 * The plan strings kernels, library calls and sources together over numbered buffers. Memory of the ARENA kind is one
 * block of arena_bytes at the given offsets; the core allocates it, aligned as the device requires, with the backend's
 * scratch after it. Code holds no address: buffers, constants and states of library calls come with each run.
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
  uint32_t n_buffers;
  uint32_t inst_size, buffer_size, reserved0; /* of the elements, as the core compiled them */
  /* [n_insts]: the location in the host's source of the equation that each instruction is of (ricci_location_get), 0
   * where it is unknown; NULL: of all. What a kernel computes does not depend on it. */
  const uint64_t* locations;
} ricci_kernel_table;

/* ---- the plan ---- */
enum { RICCI_BUFFER_INPUT = 1, RICCI_BUFFER_OUTPUT = 2, RICCI_BUFFER_CONSTANT = 3, RICCI_BUFFER_ARENA = 4 };
typedef struct ricci_plan_buffer {
  uint32_t kind;
  uint32_t index; /* of the input, output or constant: where a run finds its address */
  uint64_t bytes;
  uint64_t offset;  /* ARENA */
  const void* data; /* CONSTANT: its bytes on the host; a run uses ricci_run_args.constants */
} ricci_plan_buffer;

enum {
  RICCI_STEP_KERNEL = 1,  /* index: kernel; args: its buffers */
  RICCI_STEP_LIBRARY = 2, /* index: library call; args: operands, results, workspace if any */
  RICCI_STEP_COPY = 3,    /* args: destination, source */
  RICCI_STEP_WHILE = 4,   /* index: the number of trips if known (2^32 - 1: at least that many), else 0; arg: a
                             bool; then steps that compute it, COND, body, END */
  RICCI_STEP_COND = 5,
  RICCI_STEP_CASE =
      6, /* arg: an i32, clamped to [0, index); then `index` lists of steps, separated by NEXT, closed by END */
  RICCI_STEP_NEXT = 7,
  RICCI_STEP_END = 8,
  RICCI_STEP_COLLECTIVE = 9, /* reserved. index: its number among the plan's collectives, the same on all devices */
  RICCI_STEP_SOURCE = 10 /* index: source; args: operands, results, workspace if any. Equal sources have one number */
};
typedef struct ricci_plan_step {
  uint32_t kind, index;
  uint32_t args, n_args; /* range in ricci_plan.args */
  uint64_t location;
} ricci_plan_step;

enum {                              /* ricci_plan_library.flags */
       RICCI_CALL_EFFECT = 1u << 0, /* it does more than write its results: such calls keep their order */
       /* Its launch runs on the host, on any thread, with no stream: operands, results and workspace are memory of the
        * host then, to and from which the backend copies. Others are functions of the device, where all these are. */
       RICCI_CALL_ON_HOST = 1u << 1,
       /* Its launch only enqueues to its stream, which may be one that is captured (RICCI_LIBRARY_ONLY_ENQUEUES): what
        * it enqueued may be repeated with the same state and addresses, without a launch. */
       RICCI_CALL_ONLY_ENQUEUES = 1u << 2
};
typedef struct ricci_plan_library {
  const ricci_library* library;
  void* state;
  int64_t tasks;
  uint32_t n_in, n_out;
  uint64_t workspace_bytes, flops;
  uint64_t scratch_bytes; /* for each thread that launches, aligned as the device aligns */
  uint32_t flags;         /* RICCI_CALL_* */
  uint32_t reserved0;
  ricci_str name; /* of the primitive, for people */
} ricci_plan_library;

typedef struct ricci_plan_source { /* as ricci_source, checked: no negative sizes, shapes whose products fit */
  ricci_str text, entry;
  int64_t grid[3], block[3];
  const ricci_source_scalar* scalars;
  uint32_t n_scalars, n_in, n_out, line; /* where the text begins in `file`, if that is not empty */
  uint64_t workspace_bytes, shared_bytes, flops;
  ricci_str file;
} ricci_plan_source;

typedef struct ricci_plan {
  ricci_hdr hdr;
  const ricci_plan_buffer* buffers;
  const ricci_plan_step* steps;
  const uint32_t* args; /* buffer numbers */
  const ricci_plan_library* libraries;
  uint32_t n_buffers, n_steps, n_args, n_libraries;
  uint32_t n_inputs, n_outputs;
  uint64_t arena_bytes;
  uint32_t n_constants;
  uint32_t buffer_size, step_size, library_size; /* of the elements, as the core compiled them */
  /* [n_outputs]: the donated input whose memory, all of it, the output may share in a run, or -1. Otherwise outputs
   * overlap neither each other nor inputs. NULL: all are -1. */
  const int32_t* output_alias;
  const ricci_plan_source* sources; /* none unless the backend has RICCI_BACKEND_SOURCES */
  uint32_t n_sources, source_size;  /* of the elements, as the core compiled them */
} ricci_plan;

/* Which steps must wait for which: calls `write` with every pair of steps of which the later one may begin only after
 * the earlier one has ended, because one of them writes memory that the other one reads or writes, or because both
 * hold library calls with an effect. Memory is the same where ranges of the arena overlap, where index and kind are the
 * same, and where output_alias says so. The word of failed checks does not count, since the order of writes to it does
 * not matter. The steps may be a part of the plan that was given, such as the body of a loop: no step holds the number
 * of another (step_blocks.h).
 *
 * A loop or branch is one step here, that of its WHILE or CASE, with all that its steps access; no pair names a step
 * within it. Pairs come sorted by the later step, then by the earlier one. Most pairs that follow from others are left
 * out. Where more than 32 steps in a row read the same memory, or one step reads what more than 32 others wrote, some
 * steps wait without need, so that the number of pairs stays proportional to the arguments of all steps. INTERNAL if
 * the plan is malformed. Thread-safe. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_plan_edges(const ricci_plan* p,
                                                         const ricci_kernel_table* const* kernels RICCI_LEN(n_kernels),
                                                         uint32_t n_kernels, void* sink RICCI_NULLABLE,
                                                         void (*write)(void* sink, uint32_t earlier, uint32_t later));

/* ---- the backend ---- */
typedef struct ricci_compile_args {
  ricci_hdr hdr; /* flags: RICCI_COMPILE_PROFILED, only for backends with RICCI_BACKEND_PROFILES */
  const ricci_kernel_table* const* kernels; /* these tables and the plan live until drop_code */
  uint32_t n_kernels;
  uint32_t opt_level; /* as in ricci_compile_opts, never 0 */
  const ricci_plan* plan;
  /* NULL, or asked from time to time, on any thread: once it returns 0 the host wants no code, and compile returns
   * CANCELLED soon. */
  uint32_t (*go_on)(void* self);
  void* go_on_self;
  ricci_str program; /* its name, for people */
  /* ---- code that outlives the process; all NULL unless the backend has code_version ---- */
  /* Gets the code, in one call before compile returns, in a form that has no address of the process. A backend that
   * cannot write this code does not call it. NULL: it is not wanted. */
  void (*save)(void* self, const char* p, size_t n);
  void* save_self;
  /* What `save` got for these arguments where code_version wrote the same, perhaps in another process: code is taken
   * from there, and nothing is generated. Kernels have their names, buffers and domains but no instructions, sources
   * have no text, and the code is never dumped. The core has checked that the bytes are whole. Whatever is wrong with
   * them is a failure, after which the core compiles in full. Lives until compile returns. NULL: there is none. */
  const void* saved;
  size_t saved_len;
} ricci_compile_args;

typedef struct ricci_code_info { /* filled by compile */
  ricci_hdr hdr;
  uint64_t code_bytes;
  uint64_t scratch_bytes; /* wanted after the arena, aligned as it is */
  uint32_t wrong_source;  /* if it fails: 1 + the number of the source that was refused, which the core names; else 0 */
  uint32_t wrong_kernel;  /* the same of a kernel */
} ricci_code_info;

/* Arrays of addresses are on the host and are read before run or enqueue returns; what they point to, and `arena`, is
 * memory of the device. */
typedef struct ricci_run_args {
  ricci_hdr hdr;
  void* const* inputs;
  void* const* outputs;
  const void* const* constants;        /* [plan.n_constants] */
  const ricci_plan_library* libraries; /* [plan.n_libraries] */
  void* arena;                         /* arena_bytes (rounded up to the alignment) + scratch_bytes; undefined */
  void* stream;                        /* of stream_create; NULL where `run` is called */
  /* A word in the device's memory, lowered to imm by each RICCI_K_CHECK that does not hold. It is RICCI_NO_CHECK on
   * entry to `run`; `enqueue` sets it, and passes what it holds at the end to `done`. Where no kernel has a CHECK,
   * neither is needed. */
  uint32_t* failed_check;
  const uint32_t* cancel; /* a word of the host, or NULL: once it is not 0, the run ends soon, with CANCELLED */
  uint64_t deadline_ns;   /* of CLOCK_MONOTONIC; 0: none. Once it has passed, the run ends soon, DEADLINE_EXCEEDED */
  uint32_t device_index;  /* in the list of devices that it was compiled for */
  uint32_t reserved0;
  /* NULL, or for code with RICCI_COMPILE_PROFILED: called after each KERNEL, LIBRARY, COPY and SOURCE step, for which
   * `enqueue` waits, with its number, thread 0 and times of CLOCK_MONOTONIC; for parts on threads, with 1 + worker. */
  void (*span)(void* self, uint32_t step, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
  void* span_self;
} ricci_run_args;
#define RICCI_NO_CHECK 0xffffffffu

/* Whether the host wants a run to end: RICCI_CANCELLED if the word `cancel` of its arguments is not 0, else
 * RICCI_DEADLINE_EXCEEDED if their deadline has passed, else 0. */
RICCI_API uint32_t ricci_stop_requested(const ricci_run_args* a RICCI_NULLABLE);

/* Called once, on any thread, after the run has ended and before event_query or event_wait says that its event has
 * come; with RICCI_BACKEND_REPORTS_WHEN_ASKED by these two alone, and never if they are not asked. It must not call the
 * backend, and it takes over `status`. `failed_check` is what the word holds: RICCI_NO_CHECK if the run failed before
 * it began. */
typedef void (*ricci_done_fn)(void* arg, ricci_status* status, uint32_t failed_check);

enum { RICCI_COPY_TO_DEVICE = 1, RICCI_COPY_FROM_DEVICE = 2, RICCI_COPY_BETWEEN_DEVICES = 3 };
typedef struct ricci_copy_args {
  ricci_hdr hdr;
  uint32_t direction, reserved0;
  void* dst;
  const void* src;
  uint64_t bytes;
  void* stream;
  void* src_self; /* BETWEEN_DEVICES: `self` of the backend that has src, of the same kind; may be the same device */
} ricci_copy_args;

typedef struct ricci_estimate {
  ricci_hdr hdr;
  double cycles; /* out: of one run on one thread, about */
  double code;   /* out: operations to generate code for; the time to compile grows with them */
  void* sink; /* in: first argument of `write`; `write`, if not NULL, gets a line for each kernel: how it would run */
  void (*write)(void* sink, const char* p, size_t n);
} ricci_estimate;

enum {                                       /* ricci_backend.hdr.flags */
       RICCI_BACKEND_REFERENCE = 1u << 0,    /* no pass runs: each equation is a kernel of its own */
       RICCI_BACKEND_HOST_VISIBLE = 1u << 1, /* the host may read and write what alloc gives */
       RICCI_BACKEND_SOURCES = 1u << 2,      /* it compiles SOURCE lowerings for its kind */
       RICCI_BACKEND_PROFILES = 1u << 3,     /* its code can report steps (ricci_run_args.span) */
       /* It looks into library calls: their library and state are those of the row. Otherwise they are of the core,
        * which names the equation in what a launch returns. */
       RICCI_BACKEND_OPEN_CALLS = 1u << 4,
       /* The end of a run is reported when its event is asked for it (ricci_done_fn): so the core asks for all. */
       RICCI_BACKEND_REPORTS_WHEN_ASKED = 1u << 5
};

/* A device. Every function may be called on any thread at any time.
 *
 * Where memory is the host's and a run is complete when it returns, `run` is set, and all functions for memory and time
 * are NULL. Otherwise `enqueue` is set, and so are all of these functions but memory_info, which may be NULL. */
typedef struct ricci_backend {
  ricci_hdr hdr;
  ricci_str kind; /* `cpu` */
  ricci_str name; /* of the hardware */
  void* self;
  void (*drop_self)(void* self);       /* all its streams are empty */
  uint32_t workers, opt_level_default; /* what ricci_compile_opts.opt_level 0 means here; 0 is taken as 1 */
  ricci_status* (*compile)(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info);
  ricci_status* (*run)(void* code, const ricci_run_args* a); /* returns when done; NULL if there is enqueue */
  void (*drop_code)(void* code);
  /* Text of the native form; may be NULL. */
  ricci_status* (*dump)(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n));
  /* An object file of the code: the constants are data in it, everything else comes with a run. May be NULL. */
  ricci_status* (*dump_object)(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n));
  /* The option `threads` changes; may be NULL. A failure is returned by ricci_context_config; backends that were
   * already set go back to the old value. Called without a lock, at any time, on any thread, also while the backend
   * runs. */
  ricci_status* (*set_threads)(void* self, uint32_t threads);
  /* What a plan would cost, from its tables alone; used to compare schedules that compute the same. A function of the
   * tables and the instruction set, not of threads or load, so that a program always gets the same plan. Thread-safe;
   * should take a small part of the time of compile. NULL: schedules are chosen by the sizes of arrays alone. */
  ricci_status* (*estimate)(void* self, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                            const ricci_plan* plan, ricci_estimate* out);
  const ricci_target* target; /* read at registration; NULL: ricci_target_init */

  /* ---- memory. Without alloc, memory comes from the host's allocator hook. Stream NULL: in no order; what is
   * allocated may be used at once by everything, what is freed or copied is no longer in use, a copy is complete when
   * it returns. A call from a callback of the work that it would wait for is FAILED_PRECONDITION ---- */
  uint32_t alignment; /* of what is allocated, a power of two, at least 16; 0: 64 */
  uint32_t reserved0;
  /* Memory that work enqueued to `stream` from now on may use; `bytes` is not 0. RESOURCE_EXHAUSTED says how much was
   * wanted and how much there is; memory whose free has not been executed yet may count as used. */
  ricci_status* (*alloc)(void* self, uint64_t bytes, void* stream, void** out);
  /* Frees all that one alloc gave, once what was enqueued to `stream` before has ended; returns at once. The core has
   * made `stream` wait for uses in other streams. */
  void (*free)(void* self, void* p, uint64_t bytes, void* stream);
  /* In the order of its stream; `bytes` is not 0. Memory of the host is used only until it returns, so FROM_DEVICE
   * waits for what was enqueued before. *event (which may be NULL; not for FROM_DEVICE) is its end. A failure that
   * comes later is reported by what reads dst, until dst is written again. */
  ricci_status* (*copy)(void* self, const ricci_copy_args* a, void** event);
  /* 1 if all these bytes (at least one) are memory of this device, from alloc until free is called; 2 if they are, but
   * runs cannot use them, since others have them in a way of their own (another context); else 0. */
  uint32_t (*owns)(void* self, const void* p, uint64_t bytes);
  ricci_status* (*memory_info)(void* self, uint64_t* total_bytes, uint64_t* free_bytes); /* may be NULL */

  /* ---- time. Events are those of this device, except in stream_wait ---- */
  void* native_context; /* for library lowerings (CUcontext) */
  ricci_status* (*stream_create)(void* self, void** out);
  void (*stream_drop)(void* self, void* stream); /* waits until it is empty; never one that was wrapped */
  /* What is enqueued from now on begins after the event, which may be of any device of this kind. */
  ricci_status* (*stream_wait)(void* self, void* stream, void* event);
  /* A new event: the end of all that was enqueued before. */
  ricci_status* (*event_record)(void* self, void* stream, void** event);
  void (*event_drop)(void* self, void* event); /* whether it has completed or not */
  ricci_status* (*event_query)(void* self, void* event, uint32_t* come);
  /* Returns when it has completed; if it fails, the work touches nothing any more. Failures of the work: `done`. */
  ricci_status* (*event_wait)(void* self, void* event);
  /* Starts a run in the order of a->stream; *event is its end. After a failure nothing has been enqueued, and `done` is
   * not called. No two runs that may overlap share an arena or the word of the failed check. What a->cancel points to
   * lives until `done` is called; code, tables and states of library calls outlive the run. */
  ricci_status* (*enqueue)(void* code, const ricci_run_args* a, ricci_done_fn done, void* arg, void** event);

  /* ---- other forms of the code, for people ---- */
  /* Names for ricci_executable_dump, such as `ptx,sass`: small letters, no stage and no pass. One may be `decisions`:
   * how each kernel runs, which otherwise is what `estimate` writes. Empty: none. */
  ricci_str forms;
  ricci_status* (*dump_form)(void* code, ricci_str form, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)); /* NULL if there are none */

  /* ---- memory that is kept for later, NULL where none is ---- */
  /* What it holds for `alloc`, in use or not. */
  ricci_status* (*memory_reserved)(void* self, uint64_t* bytes);
  /* Gives back to the system what is not in use, until it holds no more than `keep_bytes`. */
  ricci_status* (*memory_trim)(void* self, uint64_t keep_bytes);

  /* ---- things of the host; each may be NULL ---- */
  /* What this backend calls a stream of the host, if it can be used here. */
  ricci_status* (*stream_wrap)(void* self, void* native, void** out);
  /* Whether work may be enqueued now to a stream that was wrapped; asked each time. FAILED_PRECONDITION if the host
   * captures it. */
  ricci_status* (*stream_check)(void* self, void* stream);
  /* DLDeviceType and number of its memory (dmlc.github.io/dlpack); 0: it is not shared. Then `owns` also knows memory
   * of this device that others have allocated. */
  uint32_t dlpack_type, dlpack_id;
  /* Asked where stream_check says FAILED_PRECONDITION of a->stream; NULL: never. If the host captures that stream, adds
   * a run to the graph that it captures, in its order there. Nothing runs now: whenever the graph runs, the word
   * a->failed_check is set first if any kernel has a CHECK, and holds at the end what `done` would get. Code, arena,
   * that word and what `a` names besides outlive the graph and all that is made from it. FAILED_PRECONDITION if the run
   * cannot be part of a graph. After a failure nothing was added, unless the status says so. */
  ricci_status* (*capture)(void* code, const ricci_run_args* a);

  /* ---- code that outlives the process ---- */
  /* Writes all that code depends on besides the arguments of compile, as text without a line end: versions of the
   * backend and of its compiler, the processor, the number of threads, settings. Asked before each compilation that may
   * be saved (ricci_compile_args.save) or was. Thread-safe. NULL: code of this backend is not saved. */
  void (*code_version)(void* self, void* sink, void (*write)(void* sink, const char* p, size_t n));

  /* ---- times of events; both or neither. Where memory is the host's, they are those of its clock ---- */
  /* As event_record, and the device notes when it comes. */
  ricci_status* (*event_record_timed)(void* self, void* stream, void** event);
  /* Seconds from one such event to another; both have completed. */
  ricci_status* (*event_elapsed)(void* self, void* begin, void* end, double* seconds);
} ricci_backend;

/* Adds a device. Call from a plugin's attach. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_backend_register(ricci_ctx* c, const ricci_backend* b);
/* The hooks of the context with defaults filled in (only alloc and free are never NULL); borrowed. */
RICCI_API const ricci_hooks* ricci_context_hooks(const ricci_ctx* c RICCI_NULLABLE) RICCI_BORROWED(c);

#ifdef __cplusplus
}
#endif
#endif
