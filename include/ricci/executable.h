/* ricci/executable.h: compiling a program for a device and running it, with array handles or with bound pointers. */
#ifndef RICCI_EXECUTABLE_H_
#define RICCI_EXECUTABLE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {                                  /* ricci_compile_opts.hdr.flags */
       RICCI_COMPILE_CHECKED = 1u << 0, /* check overlap of bound pointers on every run */
       /* The code can report its steps (ricci_run_opts.profile), which takes some 50 ns for each. Without it the code
        * has nothing of this. UNIMPLEMENTED on devices that cannot (RICCI_BACKEND_PROFILES). */
       RICCI_COMPILE_PROFILED = 1u << 1
};

typedef struct ricci_compile_opts {
  ricci_hdr hdr;
  ricci_device* const* devices; /* NULL = device 0 */
  const uint8_t* donate;        /* [n_donate]: 1 = the run may reuse the memory of this argument for a result */
  /* 0 = the default of the device (`cpu`, `cuda`: 2), 1 = compile fast (`cpu`: code generation is 1.7 to 7 times as
   * fast, the code runs up to 1.7 times as long; `cuda`: 1.6 to 2 times as fast), 2, 3 */
  uint32_t n_donate, opt_level;
  uint32_t n_devices, reserved0; /* 0 or 1 today */
  /* Called between stages with (done, total), and with (total, total) while code is generated, then perhaps on threads
   * of the executor, but one call at a time; return 0 to cancel. May be NULL. */
  uint32_t (*progress)(void* self, uint32_t done, uint32_t total);
  void* progress_self;
  /* Names of passes, separated by commas, for debugging: only those in `passes` run (all if it is empty), without those
   * in `skip`. Passes that every plan needs always run; results are the same up to rounding. Unknown names are
   * INVALID_ARGUMENT with a list of all. */
  ricci_str passes, skip;
} ricci_compile_opts;
static inline ricci_compile_opts ricci_compile_opts_default(void) {
  ricci_compile_opts o = {
      {sizeof(ricci_compile_opts), 0, NULL}, NULL, NULL, 0, 0, 0, 0, NULL, NULL, {NULL, 0}, {NULL, 0}};
  return o;
}

enum { /* ricci_span.kind */
       RICCI_SPAN_KERNEL = 1,
       RICCI_SPAN_LIBRARY = 2,
       RICCI_SPAN_COPY = 3,
       RICCI_SPAN_SOURCE = 4
};
typedef struct ricci_span { /* one execution of a step of the plan, or of a part of it on one thread */
  ricci_hdr hdr;
  uint32_t kind;             /* RICCI_SPAN_* */
  uint32_t step;             /* its number in the plan: equal for a step and its parts */
  uint32_t thread;           /* 0: all of the step, seen by the thread that runs the plan; i + 1: worker i, a part */
  uint32_t line;             /* of the equation; 0: unknown */
  ricci_str name, file;      /* of the kernel, or what is called; of the equation's source, or empty */
  uint64_t begin_ns, end_ns; /* of CLOCK_MONOTONIC */
} ricci_span;

typedef struct ricci_profile {
  ricci_hdr hdr;
  void* self;
  /* Called when a step or a part of one has ended: on any thread, and several at once. What `span` points to is valid
   * until it returns. Steps of a loop come once for each trip. It must not run the same executable. */
  void (*span)(void* self, const ricci_span* span);
} ricci_profile;

typedef struct ricci_run_opts {
  ricci_hdr hdr;
  ricci_stream* stream;   /* of the executable's device; NULL: the device's own */
  const uint32_t* cancel; /* once this word is not 0, the run ends soon, with CANCELLED; it lives until the run ends */
  uint64_t deadline_ns;   /* of CLOCK_MONOTONIC: once it has passed, the run ends soon, DEADLINE_EXCEEDED; 0: none */
  /* Gets the steps of the run as they end; it lives until the run ends. FAILED_PRECONDITION if the program was compiled
   * without RICCI_COMPILE_PROFILED. NULL: no report. */
  const ricci_profile* profile;
} ricci_run_opts;
static inline ricci_run_opts ricci_run_opts_default(void) {
  ricci_run_opts o = {{sizeof(ricci_run_opts), 0, NULL}, NULL, NULL, 0, NULL};
  return o;
}

typedef struct ricci_executable_stats {
  ricci_hdr hdr;
  double transform_s, lower_s, codegen_s; /* passes; kernels and plan; machine code */
  uint64_t code_bytes, arena_bytes, scratch_bytes, constant_bytes;
  uint64_t flops; /* scalar floating operations of one run; a loop with an unknown trip count counts as one trip */
  uint32_t kernels, library_calls, steps, cache_hit;
} ricci_executable_stats;

/* `o` may be NULL. The executable keeps what it needs of `f`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_compile(const ricci_program* f,
                                                      const ricci_compile_opts* o RICCI_NULLABLE,
                                                      ricci_executable** out RICCI_OWNED);
RICCI_API ricci_executable* ricci_executable_retain(ricci_executable* x RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
RICCI_API void ricci_executable_release(ricci_executable* x RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;
/* Runs to the end. in[n_in] are borrowed (donated ones with a single reference lose their data); out[n_out] are new.
 * `o` may be NULL. Safe from several threads at once. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_executable_run(const ricci_executable* x,
                                                             ricci_array* const* in RICCI_LEN(n_in), uint32_t n_in,
                                                             ricci_array** out RICCI_OWNED RICCI_LEN(n_out),
                                                             uint32_t n_out,
                                                             const ricci_run_opts* o RICCI_NULLABLE) RICCI_ANY_THREAD;
/* Starts a run and returns; its results may be used at once like any others. What can be seen beforehand is an error
 * here, and then nothing has begun and nothing is donated. A failure that comes later is reported by the results and by
 * donated arguments when they are waited for or used, and by whatever uses the results; nothing else is affected. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_executable_enqueue(
    const ricci_executable* x, ricci_array* const* in RICCI_LEN(n_in), uint32_t n_in,
    ricci_array** out RICCI_OWNED RICCI_LEN(n_out), uint32_t n_out,
    const ricci_run_opts* o RICCI_NULLABLE) RICCI_ANY_THREAD;
RICCI_API void ricci_executable_info(const ricci_executable* x RICCI_NULLABLE,
                                     ricci_executable_stats* out RICCI_NULLABLE);
RICCI_API void ricci_executable_signature(const ricci_executable* x RICCI_NULLABLE, uint32_t* n_params RICCI_NULLABLE,
                                          const ricci_type** params RICCI_NULLABLE RICCI_BORROWED(x)
                                              RICCI_LEN(n_params),
                                          uint32_t* n_results RICCI_NULLABLE,
                                          const ricci_type** results RICCI_NULLABLE RICCI_BORROWED(x)
                                              RICCI_LEN(n_results));
/* Name of pass `i`, static, in the order in which they run; empty after the last. */
RICCI_API void ricci_pass_name(uint32_t i, ricci_str* out RICCI_NULLABLE RICCI_BORROWED(static));
/* Text of a stage: `program` (as given), `optimized`, `decisions` (how each vmap and each kernel runs, and what was
 * estimated for it), `kernels`, `plan`, `checks` (what each code of a failed check means), `native` (the backend's own,
 * e.g. LLVM IR), `object` (no text: an object file, its constants in it), a form that the device has besides
 * (`assembly` on cpu, `source`, `ptx` and `sass` on cuda), or the program after a pass, by the name of the pass. Passes
 * run again for that. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_executable_dump(
    const ricci_executable* x, const char* stage RICCI_LEN(len), size_t len, void* sink RICCI_NULLABLE,
    void (*write)(void* sink, const char* p RICCI_LEN(n), size_t n));

/* The argument whose memory result `result` takes over if it was donated (ricci_compile_opts.donate), or -1 if it takes
 * none. */
RICCI_API int32_t ricci_executable_alias(const ricci_executable* x RICCI_NULLABLE, uint32_t result);

/* A call with bound pointers: arguments first (slot 0 ..), then results. It owns its working memory; one thread at a
 * time. Releasing it waits for nothing: a run that is under way goes on. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_create(const ricci_executable* x, ricci_call** out RICCI_OWNED);
/* `bytes` must be the size of the slot's type; `ptr` is memory of the device (on `ref` and `cpu` of the host), stays
 * the caller's and must be aligned to its element type.
 *
 * Which memory may be shared: arguments with arguments, in any way; and result i with argument
 * ricci_executable_alias(x, i), where both are the same pointer, if no other slot touches that memory. Every other
 * overlap makes ricci_call_run return INVALID_ARGUMENT if the program was compiled with RICCI_COMPILE_CHECKED; without
 * it nothing is checked, and the contents of the results are undefined. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_bind(ricci_call* k, uint32_t slot,
                                                        void* ptr RICCI_LEN(bytes) RICCI_KEPT(k), uint64_t bytes);
/* Runs to the end. No allocation, lock or reference count on `ref` and `cpu`. Every slot must be bound. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_run(ricci_call* k);
/* The same with pointers[i] bound to slot i first, each of the size of its type: for hosts with expensive calls of C.
 * If `offset` is not negative, pointers[i] is an object of the host's language that holds its address there, `offset`
 * bytes from its beginning. `n` is the number of slots. After an error it is not specified which slots
 * have the new pointers. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_run_at(ricci_call* k,
                                                          void* const* pointers RICCI_LEN(n) RICCI_KEPT(k), size_t n,
                                                          int64_t offset);
/* Starts a run; *event (which may be NULL) is its end and reports its failure. `o` may be NULL. What is bound must live
 * until then; runs of one call follow each other.
 *
 * While the host captures the stream of `o` (ricci_stream_wrap), nothing runs: the run becomes part of the graph that
 * is captured, with what is bound now. Each launch of that graph is a run of this call, which the host keeps from
 * overlapping with its other runs. *event is that of all launches and has completed: ricci_event_wait reports the
 * check that failed in the last one, for whose end the host has waited before. The working memory belongs to the call
 * and to *event: one of both, and what is bound, must outlive the graph and all that is made from it.
 * FAILED_PRECONDITION, with nothing captured, if the run must read the device on its way, or if `o` could end or
 * profile it. A failure of the driver may leave a part of the run in the graph; the status says so then. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_call_enqueue(ricci_call* k, const ricci_run_opts* o RICCI_NULLABLE,
                                                           ricci_event** event RICCI_NULLABLE RICCI_OWNED);
RICCI_API void ricci_call_release(ricci_call* k RICCI_NULLABLE RICCI_OWNED);

#ifdef __cplusplus
}
#endif
#endif
