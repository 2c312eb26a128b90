/* ricci/primitive.h: a primitive is one row that holds all its rules. Every member after `name` is optional; a
 * transform that needs a missing rule fails with a message that names primitive and rule.
 *
 * A rule gets a builder: what it emits goes into the program being made. Rules are pure, thread-safe and cheap.
 * They may emit any primitive, their own included. Output arrays are allocated and pre-filled by the core, which also
 * checks every slot's type afterwards. All pointers are valid only until the callback returns. Integer inputs have zero
 * tangents.
 */
#ifndef RICCI_PRIMITIVE_H_
#define RICCI_PRIMITIVE_H_
#include "ricci/build.h"
#include "ricci/kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- arguments of the rules ---- */
typedef struct ricci_jvp_args {
  ricci_hdr hdr;
  const ricci_val* primals;  /* [n_in] */
  const ricci_val* tangents; /* [n_in], may be RICCI_VAL_ZERO */
  ricci_val* out_primals;    /* [n_out] pre-filled NONE: the rule fills all */
  ricci_val* out_tangents;   /* [n_out] pre-filled ZERO */
} ricci_jvp_args;

typedef struct ricci_transpose_args { /* the operation is linear in the inputs with linear[i] != 0 */
  ricci_hdr hdr;
  const ricci_val* cts;      /* [n_out], may be ZERO, not all */
  const uint8_t* linear;     /* [n_in] */
  const ricci_val* operands; /* [n_in], NONE where linear[i]: only its type exists */
  ricci_val* in_cts;         /* [n_in] pre-filled ZERO; the core sums contributions */
} ricci_transpose_args;

typedef struct ricci_batch_args {
  ricci_hdr hdr;
  int64_t axis_size;
  ricci_str axis_name; /* empty if anonymous */
  const ricci_val* in;
  const int32_t* in_dims; /* [n_in] -1: not batched */
  ricci_val* out;
  int32_t* out_dims; /* [n_out] pre-filled NONE and 0 */
} ricci_batch_args;

/* For primitives that hold programs: split one operation into what is known and what is not. Any other operation is
 * known if all its operands are. */
enum { /* ricci_partial_eval_args.hdr.flags */
       /* The halves run in different loops, so nothing has to keep what the unknown half computes again apart from what
        * the known half computed. A rule passes the flag on to the programs that it splits (ricci_partial_eval_opts).
        */
       RICCI_PARTIAL_EVAL_APART = 1u << 0
};
typedef struct ricci_partial_eval_args {
  ricci_hdr hdr;
  ricci_builder *known, *unknown;
  ricci_str policy;        /* empty, and so all may be saved, unless `again` is there */
  const uint8_t* is_known; /* [n_in] */
  const ricci_val* in;     /* [n_in] a value of `known` if is_known[i], else of `unknown` */
  void* split;
  ricci_status* (*residual)(void* split, ricci_val known_value,
                            ricci_val* unknown_value); /* the same value, seen there */
  ricci_val* out;        /* [n_out] pre-filled NONE: a value of `known` if out_is_known[i], else of `unknown` */
  uint8_t* out_is_known; /* [n_out] pre-filled 0 */
  /* Only for rows with RICCI_PRIM_SAVES_INSIDE, else NULL. If it is there, all operands are known: every result must be
   * known, and again[i] is the same result as a value of `unknown`, computed again from residuals. Of what the held
   * programs compute only that which `policy` saves, or that has an effect, may be a residual. */
  ricci_val* again; /* [n_out] pre-filled NONE */
} ricci_partial_eval_args;

/* For primitives that hold programs: drop what no used result needs. Called with in = NULL to learn used_in, then with
 * values to emit the smaller operation. */
typedef struct ricci_dce_args {
  ricci_hdr hdr;
  const uint8_t* used_out; /* [n_out], not all 0 */
  uint8_t* used_in;        /* [n_in] pre-filled 0 */
  const ricci_val* in;     /* [n_in], NONE where !used_in[i]; NULL in the first call */
  ricci_val* out;          /* [n_out] pre-filled NONE; the used ones are filled */
} ricci_dce_args;

/* ---- lowerings: an open list, any plugin may add one to any primitive ----
 *
 * INDEX or LOOPS? INDEX says how one element of the result is computed, so it is inlined into whatever reads it:
 * nothing is stored, and only the elements that are read are computed. It wins where an element costs little (a few
 * loads and operations), however large the result is: views, pads, gathers, selections, random bits. It is computed
 * again for every use of the element, so it loses where an element needs a loop over an operand (a sum, a search):
 * LOOPS computes each element once and stores it. LOOPS is needed where a step uses the step before (cumsum, sort) or
 * where the operands determine at which positions results are written (scatter). A primitive may have both: `match`
 * chooses by the operation.
 */
enum {
  RICCI_LOWER_DECOMPOSE = 1, /* other primitives */
  RICCI_LOWER_SCALAR = 2,    /* one scalar expression per element */
  RICCI_LOWER_INDEX = 3,     /* from an output index to a scalar: views, pads, gathers */
  RICCI_LOWER_LOOPS = 4,     /* loops that fill the results */
  RICCI_LOWER_LIBRARY = 5,   /* opaque code: planned once, launched hot */
  RICCI_LOWER_SOURCE = 6     /* text for the compiler of one target, in the language of that */
};
enum {                                         /* ricci_lowering.hdr.flags */
       RICCI_LOWERING_TRANSFORMABLE = 1u << 0, /* DECOMPOSE only: supplies every missing rule */
       /* LOOPS only: result 0 holds operand 0 when the loops begin, often in the operand's own memory; they write what
        * changes, and read result 0 in place of operand 0. */
       RICCI_LOWERING_UPDATES = 1u << 1
};

/* ---- LIBRARY: opaque code ----
 *
 * A lowering for one target runs on the device of that target, on its memory, in its stream. One for every target (`*`)
 * is a function of the host, on each device: where the host does not see the memory, the backend copies operands and
 * results. A status of launch fails the run, which does nothing more. Functions of the host may use the device in other
 * streams; what they are called for waits meanwhile.
 *
 * RICCI_LIBRARY_ONLY_ENQUEUES is the promise that launch does nothing but enqueue kernels, copies and memsets to its
 * stream, the same ones for the same state and addresses. It does not wait for anything, allocate, or have functions of
 * the host called. If it uses other streams, they begin and end in that stream, by events. What it enqueues uses no
 * memory of the host but pinned memory of the state. On `cuda` such a call is then a node of the graph that a run
 * launches, also in loops and branches: its stream is captured once, and the graph repeats what it enqueued. So launch
 * is called when a graph is made, again when addresses change, and in a run that has no graph. That happens on any
 * thread, on several at once, and with another stream each time. What it has enqueued is used until drop_state. A
 * broken promise that the driver sees is a FAILED_PRECONDITION with the name of the primitive. What the driver does not
 * see, such as a counter of launch, is done once for many runs. */
/* ricci_library.hdr.flags; not for a lowering for every target, and without effect where there are no streams */
enum { RICCI_LIBRARY_ONLY_ENQUEUES = 1u << 0 };
typedef struct ricci_library_plan { /* filled by plan(), once per call site */
  ricci_hdr hdr;
  ricci_device* device; /* in: the device to plan for */
  void* native_context; /* in: of that device (CUcontext); NULL on `ref` and `cpu`, and for functions of the host */
  void* state;          /* the plugin's; freed with drop_state */
  uint64_t workspace_bytes;
  int64_t tasks; /* launch runs once for each task in [0, tasks), concurrently; a fixed number for given types; 0 = 1 */
  uint64_t flops;         /* floating operations of one call, all tasks together, for statistics */
  uint64_t scratch_bytes; /* of each thread that launches tasks; aligned to 64 */
} ricci_library_plan;

typedef struct ricci_launch { /* hot path: no IR, no strings, no allocation */
  ricci_hdr hdr;
  uint32_t n_in, n_out;
  const void* const* in;
  void* const* out;
  void* workspace;
  void* stream; /* CUstream; NULL on CPU, and for functions of the host */
  int64_t task;
  void* scratch; /* scratch_bytes of the calling thread, contents undefined; NULL if none were wanted */
} ricci_launch;

typedef struct ricci_library {
  ricci_hdr hdr;
  ricci_status* (*plan)(void* self, const ricci_op* op, ricci_library_plan* out);
  ricci_status* (*launch)(void* state, const ricci_launch* l); /* thread-safe */
  void (*drop_state)(void* state);
} ricci_library;

/* ---- SOURCE: a function written as text for the target's own compiler, which makes it part of the program ----
 *
 * The callback `source` of the lowering is called once per call site, so the text, the scalars, the shape of the launch
 * and the number of launches may depend on types and attributes. The lowering must name its target, whose backend must
 * compile sources (RICCI_BACKEND_SOURCES); on others it is not seen. Text that the compiler refuses is INVALID_ARGUMENT
 * with the name of the primitive, what the compiler says and the line. Operands and results are whole and row-major, an
 * address is aligned as the element type; results share no memory with each other or with operands. Tasks of a launch
 * run in any order, at once, and must not depend on each other.
 *
 *   cpu   LLVM assembly (the version of LLVM that the backend is built with), without debug information, that defines
 *
 *           void @entry(ptr %args, ptr %workspace, i64 %task, <scalars>)
 *
 *         args: the addresses of the operands, then of the results. workspace: aligned to 64 bytes, NULL if its size is
 *         0. Each task is a call, task = x + grid[0] * (y + grid[1] * z); a block is one thread. The text may define
 *         other functions and constants. It may call LLVM's intrinsics for arithmetic, vectors and memory, and the
 *         functions of C that do what processors may lack an instruction for (memcpy, memmove, memset, fma, floor,
 *         ceil, trunc, round, roundeven, and with f at the end). It holds no variables, assembly or exceptions.
 *   cuda  CUDA C++17 for NVRTC, a translation unit of its own that includes nothing of the host and defines
 *
 *           extern "C" __global__ void entry(<operands>, <results>, <workspace>, <scalars>)
 *
 *         Each operand, result and the workspace (only if it has a size; aligned to 256 bytes) is the address of its
 *         elements; scalars are values of their types. It is launched with grid, block and shared_bytes.
 */
typedef struct ricci_source_scalar { /* an argument: i8 for bool, i8 to i64, float, double */
  uint32_t dtype;                    /* RICCI_BOOL to RICCI_U64, RICCI_F32, RICCI_F64 */
  uint32_t reserved0;
  uint64_t bits; /* of the element, from the lowest on */
} ricci_source_scalar;

typedef struct ricci_source {
  ricci_hdr hdr;
  ricci_str text;
  ricci_str entry;  /* name of the function in it */
  int64_t grid[3];  /* blocks along x, y and z; one of them 0: nothing is launched, for results without elements */
  int64_t block[3]; /* threads of a block, at least 1 each */
  const ricci_source_scalar* scalars; /* [n_scalars], the last arguments of the function */
  uint32_t n_scalars, reserved0;
  uint64_t workspace_bytes; /* for all tasks together, contents undefined */
  uint64_t shared_bytes;    /* for the threads of a block together; 0 on `cpu` */
  uint64_t flops;           /* floating operations of one launch, for statistics and estimates */
  ricci_str file;           /* where the text begins in the plugin's source, for messages about it; empty: unknown */
  uint32_t line, reserved1;
} ricci_source;
static inline ricci_source ricci_source_default(void) { /* one block of one thread */
  const ricci_str none = {NULL, 0};
  ricci_source s = {{sizeof(ricci_source), 0, NULL}, none, none, {1, 1, 1}, {1, 1, 1}, NULL, 0, 0, 0, 0, 0, none, 0, 0};
  return s;
}

typedef struct ricci_source_args {
  ricci_hdr hdr;
  ricci_device* device; /* that it is made for */
  void* native_context; /* of that device (CUcontext); NULL on `cpu` */
  void* sink;
  /* Called by the rule once for each launch, at least once; all that `s` points to is copied. Each launch begins when
   * the one before it has ended, and finds in the results and the workspace what that has left there. All have the same
   * workspace, as large as the largest that any of them asks for. */
  ricci_status* (*give)(void* sink, const ricci_source* s);
} ricci_source_args;

typedef struct ricci_lowering {
  ricci_hdr hdr;
  uint32_t kind;
  int32_t priority; /* higher wins among those that match */
  ricci_str target; /* `*`, `cpu`, `cuda` */
  void* self;       /* first argument of the callbacks; NULL = that of the row */
  /* NULL = always. Otherwise *accept says whether this lowering takes the operation. */
  ricci_status* (*match)(void* self, const ricci_op* op, uint32_t* accept);
  ricci_status* (*decompose)(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out);
  ricci_status* (*scalar)(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                          ricci_sval* out);
  ricci_status* (*index)(void* self, ricci_kernel_builder* k, const ricci_op* op, uint32_t result,
                         const ricci_sval* index, ricci_sval* out);
  ricci_status* (*loops)(void* self, ricci_kernel_builder* k, const ricci_op* op);
  const ricci_library* library;
  ricci_status* (*source)(void* self, const ricci_op* op, const ricci_source_args* a);
} ricci_lowering;

/* ---- factors ----
 *
 * The text of factors says along which dimensions an operation can be split, over devices, cores or rows of a kernel:
 *
 *   text  = lists "->" lists { ";" kind name { " " name } }
 *   lists = nothing for no operand, else one list for each operand (result), with "," between them
 *   list  = one name for each dimension, with blanks between them; nothing for a scalar
 *
 * A name is a factor: dimensions with the same name have the same size and are split together; a name occurs at most
 * once in a result. The kind says how the results of two parts give that of the whole:
 *
 *   (none)                        parallel: the results of the parts in order. The factor is in a result;
 *                                 results without it are the same for both parts.
 *   sum prod max min and or xor   the results of the parts combined element by element. The factor is in no result.
 *   whole                         not at all: sort, reverse, a dimension that is looked up.
 *   seq                           it is run through in order, from either end: the part where it begins needs nothing
 *                                 else, the other one needs what came before (cumsum).
 *   window                        points of the result need nearby points of the operand: a part needs a margin of its
 *                                 neighbour (convolution), never the far end.
 *   indexed                       points do not need each other, but each needs its index along the factor: a part must
 *                                 know where it begins (iota, random bits).
 *
 * A dimension that is looked up by index (gather, dynamic_slice) may be read anywhere by each point, so it is a factor
 * of its own that is `whole`, in the operand only; so is the dimension of the indices that holds one position.
 * Dimensions that count the positions are parallel, and so are those that pass through unchanged. Rows x[i] of x:
 * f64[4,3] by i: i32[5,1]:
 *
 *   v c, p k -> p c; whole v k     v: looked up; p: positions; k: the words of one position; c: columns
 *
 * Likewise where a dimension is cut, padded, repeated or merged with another one: in operand and result it differs in
 * size or in order, so each is a factor of its own, `whole`. `a b -> a` says nothing of b and is an error: every factor
 * that no result has needs a kind.
 *
 * The law `factors` of ricci/check.h splits every factor of size 2 or more in two, runs the operation on both parts and
 * compares the results with what the kind says. It also refuses a kind that promises less than holds (`whole` for a
 * sum), which nothing else would ever show. Attributes that hold the size of the factor are changed with it.
 */

/* ---- view maps ----
 *
 * An operation with one result that only moves elements may say where those of an operand go: its view map. Then the
 * kernel that computes the operand stores its elements there directly: the parts of a concatenation, an array that is
 * shifted around its edges.
 *
 * Element x of the operand is in the result if first[d] <= x[d] < limit[d] for each of its dimensions d, and there it
 * is element y: y[j] = x[from[j]] + shift[j] where from[j] is one of them, shift[j] where from[j] is -1. Each element
 * of the result is exactly one element of one operand. The law `view_maps` of ricci/check.h checks all of this.
 */
typedef struct ricci_view_map {
  ricci_hdr hdr;
  uint32_t known; /* 0 when the rule is called, which sets it to 1 if it can say */
  uint32_t reserved0;
  int64_t *first, *limit; /* per dimension of the operand; 0 and its size when the rule is called */
  int64_t *from, *shift;  /* per dimension of the result; -1 and 0 when the rule is called */
} ricci_view_map;

/* ---- the row ---- */
enum { /* ricci_prim_def.hdr.flags */
       RICCI_PRIM_LINEAR =
           1u << 0, /* linear in all floating inputs jointly (add, reshape): jvp is the operation itself */
       RICCI_PRIM_EFFECTFUL = 1u << 1,      /* ordered; not removed */
       RICCI_PRIM_OVERRIDE = 1u << 2,       /* replace the row already registered; without it a second one fails */
       RICCI_PRIM_COMMUTATIVE = 1u << 3,    /* two operands may change places */
       RICCI_PRIM_EXPENSIVE = 1u << 4,      /* a product: worth saving under checkpoint policy `dots` */
       RICCI_PRIM_TRANSCENDENTAL = 1u << 5, /* elementwise and expensive: not computed twice to save memory traffic */
       RICCI_PRIM_VIEW = 1u << 7,           /* every element of the result is an element of operand 0 */
       /* A promise of a LOOPS lowering: its loops load each operand element at most once in a run of the operation, so
        * the expression that produces an operand may be computed where it is loaded, without being stored. Without the
        * flag such operands are stored first. If the promise is broken, results are still right, but producers are
        * computed as often as they are loaded. */
       RICCI_PRIM_READS_ONCE = 1u << 6,
       RICCI_PRIM_MAY_FAIL = 1u << 8, /* a run of it may fail: never moved to where it would run more often */
       /* Result i is operand i, available once all operands are: no pass looks through it, moves work over it or merges
        * two of them, and it costs nothing at run time. Each operand is needed only for its own result. */
       RICCI_PRIM_BARRIER = 1u << 9,
       RICCI_PRIM_NAMES = 1u << 10, /* its attribute `name` names its results for the policies `names:` of checkpoint */
       /* Its rule partial_eval obeys `again`, so policies of checkpoint decide on the operations in what it holds.
        * Without the flag an operation is computed again as a whole. */
       RICCI_PRIM_SAVES_INSIDE = 1u << 11
};
enum { /* ready-made batching rules, used when batch is NULL */
       RICCI_BATCH_NONE = 0,
       RICCI_BATCH_ELEMENTWISE = 1 /* all operands have one shape, or are scalars where the rule allows it */
};

typedef struct ricci_attr_spec {
  ricci_str name;
  uint32_t kind;    /* RICCI_ATTR_* */
  uint32_t flags;   /* RICCI_ATTR_OPTIONAL */
  ricci_str absent; /* the value of an optional one when it is left out, for people to read (`false`); may be empty */
} ricci_attr_spec;
#define RICCI_ATTR_OPTIONAL 1u

typedef struct ricci_prim_def {
  ricci_hdr hdr;
  ricci_str name; /* `vendor.op` outside the built-in plugins */
  void* self;     /* first argument of every rule */
  void (*drop_self)(void* self);
  const ricci_attr_spec* attr_specs;
  uint32_t n_attr_specs;
  uint32_t batch_kind;
  ricci_status* (*abstract_eval)(void* self, ricci_builder* b, const ricci_op* op); /* -> ricci_builder_set_out_types */
  ricci_status* (*jvp)(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a);
  ricci_status* (*transpose)(void* self, ricci_builder* b, const ricci_op* op, const ricci_transpose_args* a);
  ricci_status* (*batch)(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a);
  ricci_status* (*partial_eval)(void* self, const ricci_op* op, const ricci_partial_eval_args* a);
  ricci_status* (*dce)(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a);
  /* Something simpler that is equal (bit for bit, except for the sign of zero), or nothing: out[n_out] is pre-filled
   * NONE and either stays so or is filled completely, with operands, constants, what ricci_builder_definition finds, or
   * new equations. */
  ricci_status* (*simplify)(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out);
  /* Which dimensions are the same factor, and its kind: `m k, k n -> m n; sum k` (see above). Empty: by the callback
   * below; with neither, elementwise if there is a SCALAR lowering, else nothing is known. */
  ricci_str factors;
  /* The same text, made from the operation; write(sink, ...) may be called several times. */
  ricci_status* (*factors_of)(void* self, const ricci_op* op, void* sink,
                              void (*write)(void* sink, const char* p, size_t n));
  /* Why a rule that is NULL cannot exist, for messages and for the laws; `jvp: integer result; transpose: not linear`.
   */
  ricci_str missing;
  const ricci_lowering* const* lowerings;
  uint32_t n_lowerings;
  uint32_t attr_spec_size; /* sizeof(ricci_attr_spec) as the writer compiled it; 0: as in the header of hdr.size */
  /* The examples on which the laws of ricci/check.h are checked: applications `(f64[2,3] in 0.3..3, i32[5]) axes=[1]`,
   * operand types with the range of their elements (-2..2 if none is given, 0..4 for integers) and attributes, or whole
   * programs `program (%x: f64[3] in 0..1) {...}`, separated by `;`. `order=N` before one: derivatives above order N,
   * of two, are left out. */
  ricci_str examples;
  /* Where elements of an operand go (see above); NULL: unknown. */
  ricci_status* (*view_map)(void* self, const ricci_op* op, uint32_t operand, ricci_view_map* out);
  /* `z = vendor.op(x, y): what it computes`: the names of results and operands, then one line for people. A last name
   * `xs...` means any number. Another number of operands, or of results that abstract_eval gives, is an error that
   * lists these names. The line refers to attributes as `name`. Empty: no names, and any number. */
  ricci_str doc;
  /* Contraction of a product and the sum that reads it (ricci/kernel.h): the operation as one equation that rounds
   * once, such as `fma`, or nothing; out[n_out] is pre-filled NONE and either stays so or is filled completely. Called
   * where the target has RICCI_TARGET_FMA, after equal equations have become one. only[i]: nothing else reads operand
   * i, so that its rounding has no effect; operands without it must stay as they are. */
  ricci_status* (*contract)(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, const uint8_t* only,
                            ricci_val* out);
} ricci_prim_def;

/* Copies the row (not what `self` points to). Call from a plugin's attach. A plugin whose attach fails leaves no row
 * and no lowering behind. The id is written to *out, which may be NULL. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_prim_register(ricci_ctx* c, const ricci_prim_def* d,
                                                            ricci_prim* out RICCI_NULLABLE);
/* Adds a lowering to a registered primitive; copies it. Call from a plugin's attach. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_prim_add_lowering(ricci_ctx* c, ricci_prim p, const ricci_lowering* l);
/* Walks all rows: i from 0 until NULL; ids are in no relation to i. The row is borrowed for the life of the context
 * (its list of lowerings until a plugin adds one); its id is written to *id, which may be NULL. */
RICCI_API const ricci_prim_def* ricci_prim_at(const ricci_ctx* c RICCI_NULLABLE, uint32_t i,
                                              ricci_prim* id RICCI_NULLABLE) RICCI_BORROWED(c) RICCI_NULLABLE;

#ifdef __cplusplus
}
#endif
#endif
