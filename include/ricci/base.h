/* ricci/base.h: what every other header needs: handles, status, element types, version.
 *
 * Conventions of the whole C ABI
 *   - C11 and C++20. Every struct that crosses starts with ricci_hdr, set `size` to sizeof the struct (an options
 *     struct has ricci_x_default). Members and flags that the reader does not know are refused unless they are 0;
 *     RICCI_HAS says whether the writer had a member. These have no header: elements of arrays, of which there are many
 *     (inst, buffers, steps, calls, attr, attr_spec, check_operand, source_scalar): the struct that holds the array
 *     gives their size, except for ricci_attr, ricci_check_operand, ricci_source_scalar and ricci_named_array, which
 *     never change within a major version; ricci_str, ricci_ext and ricci_exact, values that never change;
 *     ricci_plugin_note, which has a size of its own; and ricci_writer and ricci_float_format, which do not cross.
 *   - A function that can fail returns ricci_status *; NULL is OK, anything else is owned by the caller and freed with
 *     ricci_status_free. On error outputs are untouched and no input is consumed.
 *   - `create`, `finish`, `from`, `to` and transforms return ownership; `get`, `type`, `info` borrow.
 *   - `const T *` may be used by many threads at once, `T *` by one at a time, but by many in functions marked
 *     RICCI_ANY_THREAD: retain, release, and all on contexts and devices except those that add plugins, rows or
 *     backends.
 *   - Annotations (RICCI_OWNED, ..., below) say at each declaration who owns what, how long arrays are, where NULL is
 *     allowed, and which functions any thread may call. bindings/spec refuses a header that lacks one.
 *   - The library never aborts, exits, throws or prints.
 */
#ifndef RICCI_BASE_H_
#define RICCI_BASE_H_
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#ifndef RICCI_API /* empty for the static archive */
#define RICCI_API
#endif
#if defined(__GNUC__)
#define RICCI_NODISCARD __attribute__((warn_unused_result))
#else
#define RICCI_NODISCARD
#endif

/* ---- annotations of declarations; they compile to nothing ----
 *
 * They follow the name of a parameter; those of the result and of the function follow the parameter list. A pointer
 * parameter without any points to one object, is not NULL, and is used only during the call. A returned status that
 * must be looked at has none: it is owned, and NULL is OK. A function that returns no status accepts NULL everywhere.
 *
 *   RICCI_OWNED            of a result or of what is written: the caller gets a reference, or an object, to release or
 *                          free. Of a handle that is given: the call takes it over if it succeeds.
 *   RICCI_BORROWED(owner)  of a result or of what is written, and of what that points to: it lives at least as long as
 *                          the parameter `owner`; `static`: as long as the process.
 *   RICCI_KEPT(by)         of an argument: it is used after the call too, by the parameter `by` or by what is written
 *                          there; the comment says for how long.
 *   RICCI_LEN(n)           an array of as many elements (`void`: bytes) as the parameter `n` says, NULL only where that
 *                          is 0. Where `n` is a pointer, the call writes both the length and the address.
 *   RICCI_LEN_OF(what, p)  the same with the number of `params` or `results` of the program or executable `p`, or with
 *                          the `bytes` of the type `p`, or of one element of the dtype `p`.
 *   RICCI_TEXT             a `const char *` up to its NUL.
 *   RICCI_NULLABLE         NULL is allowed, whatever the length: an output that is not wanted, a default. A `void *`
 *                          without a length is passed on and never looked into. Of a result: it may be NULL even where
 *                          no parameter is.
 *   RICCI_ANY_THREAD       of a function: what it takes by `T *` too may be used by many threads at once.
 *
 * Parameters of callbacks have them too; a `void *` there is the parameter of the same name of the function itself. */
#ifdef RICCI_SPEC /* attributes for the generators of bindings/spec, which read these headers */
#define RICCI_NOTE(text) __attribute__((annotate(text)))
#else
#define RICCI_NOTE(text)
#endif
#define RICCI_OWNED RICCI_NOTE("OWNED")
#define RICCI_BORROWED(owner) RICCI_NOTE("BORROWED(" #owner ")")
#define RICCI_KEPT(by) RICCI_NOTE("KEPT(" #by ")")
#define RICCI_LEN(n) RICCI_NOTE("LEN(" #n ")")
#define RICCI_LEN_OF(what, p) RICCI_NOTE("LEN_OF(" #what "," #p ")")
#define RICCI_TEXT RICCI_NOTE("TEXT")
#define RICCI_NULLABLE RICCI_NOTE("NULLABLE")
#define RICCI_ANY_THREAD RICCI_NOTE("ANY_THREAD")

#define RICCI_ABI_MAJOR 0u
#define RICCI_ABI_MINOR 1u
#define RICCI_ABI(major, minor) ((major) << 16 | (minor)) /* as ricci_abi_version gives it */
/* The version that a source is written for, that of these headers unless it is defined before them. What later versions
 * added is hidden then, so nothing is used that a core of that version lacks: declarations added by version 1.3 are
 * within `#if RICCI_TARGET_ABI >= RICCI_ABI(1, 3)`. */
#ifndef RICCI_TARGET_ABI
#define RICCI_TARGET_ABI RICCI_ABI(RICCI_ABI_MAJOR, RICCI_ABI_MINOR)
#endif
#if RICCI_TARGET_ABI > RICCI_ABI(RICCI_ABI_MAJOR, RICCI_ABI_MINOR)
#error "RICCI_TARGET_ABI is newer than these headers; install the headers of that version"
#elif RICCI_TARGET_ABI >> 16 != RICCI_ABI_MAJOR
#error "RICCI_TARGET_ABI has another major version than these headers; install the headers of that version"
#elif RICCI_ABI_MAJOR == 0 && RICCI_TARGET_ABI != RICCI_ABI(RICCI_ABI_MAJOR, RICCI_ABI_MINOR)
#error "before 1.0 a minor version may change anything: RICCI_TARGET_ABI must be that of these headers"
#endif

/* ---- handles ---- */
typedef struct ricci_ctx ricci_ctx;                       /* context: the root of everything; reference counted */
typedef struct ricci_status ricci_status;                 /* NULL = OK; otherwise exactly one owner */
typedef struct ricci_program ricci_program;               /* immutable typed SSA function; reference counted */
typedef struct ricci_builder ricci_builder;               /* a program under construction; also the handle of a rule */
typedef struct ricci_kernel_builder ricci_kernel_builder; /* a kernel under construction; borrowed by lowerings */
typedef struct ricci_device ricci_device;                 /* borrowed from the context */
typedef struct ricci_stream ricci_stream;                 /* work of a device in order; reference counted */
typedef struct ricci_event ricci_event;                   /* a point in a stream; reference counted */
typedef struct ricci_array ricci_array;                   /* typed data on a device; reference counted */
typedef struct ricci_executable ricci_executable;         /* compiled program; reference counted */
typedef struct ricci_call ricci_call;                     /* an executable with bound pointers */

typedef uint64_t ricci_val;  /* value of a builder: {generation:32, index:32}; never freed */
typedef uint32_t ricci_type; /* interned array type; lives as long as the context; 0 = none */
typedef uint32_t ricci_prim; /* registered primitive; lives as long as the context; 0 = none */
typedef uint32_t ricci_sval; /* scalar inside a kernel builder; 0 = none */
typedef uint32_t ricci_karr; /* array inside a kernel builder; 0 = none */
#define RICCI_VAL_NONE ((ricci_val)0)
#define RICCI_VAL_ZERO (~(ricci_val)0) /* symbolic zero tangent or cotangent: nothing is built for it */

typedef struct ricci_str {
  const char* ptr; /* UTF-8, not NUL-terminated */
  size_t len;
} ricci_str;

typedef struct ricci_ext { /* optional vendor data attached to any struct */
  uint32_t size, flags;    /* flags: RICCI_EXT_CRITICAL */
  uint64_t kind;           /* registered number, or hash of a URI */
  const struct ricci_ext* next;
} ricci_ext;
#define RICCI_EXT_CRITICAL 1u /* a reader that does not know `kind` must reject the struct */

typedef struct ricci_hdr { /* first member of every struct that crosses */
  uint32_t size;           /* sizeof the struct as the writer compiled it */
  uint32_t flags;          /* struct-specific, 0 by default */
  const ricci_ext* next;
} ricci_hdr;

/* Whether the struct that `p` leads to was compiled with `member`. */
#define RICCI_HAS(p, member) ((size_t)((const char*)(&(p)->member + 1) - (const char*)(p)) <= (p)->hdr.size)

/* ---- element types; numbers are frozen. key is an opaque 64-bit PRNG key ---- */
enum {
  RICCI_BOOL = 1,
  RICCI_I8 = 2,
  RICCI_I16 = 3,
  RICCI_I32 = 4,
  RICCI_I64 = 5,
  RICCI_U8 = 6,
  RICCI_U16 = 7,
  RICCI_U32 = 8,
  RICCI_U64 = 9,
  RICCI_F16 = 10,
  RICCI_BF16 = 11,
  RICCI_F32 = 12,
  RICCI_F64 = 13,
  RICCI_C64 = 14,
  RICCI_C128 = 15,
  RICCI_F8E4M3FN = 16,
  RICCI_F8E5M2 = 17,
  RICCI_F8E8M0FNU = 18,
  RICCI_F4E2M1FN = 19,
  RICCI_KEY = 20
};
#define RICCI_MAX_RANK 16u
#define RICCI_MAX_RESULTS (1u << 20) /* of one equation */

/* ---- status codes (numbers as in absl and gRPC) ---- */
enum {
  RICCI_OK = 0,
  RICCI_CANCELLED = 1,
  RICCI_INVALID_ARGUMENT = 3,
  RICCI_DEADLINE_EXCEEDED = 4,
  RICCI_NOT_FOUND = 5,
  RICCI_RESOURCE_EXHAUSTED = 8,
  RICCI_FAILED_PRECONDITION = 9,
  RICCI_OUT_OF_RANGE = 11,
  RICCI_UNIMPLEMENTED = 12,
  RICCI_INTERNAL = 13,
  RICCI_DATA_LOSS = 15
};

/* major << 16 | minor. */
RICCI_API uint32_t ricci_abi_version(void);
/* Static UTF-8 text, `key=value` lines: version, compiler, sanitizer. */
RICCI_API const char* ricci_build_info(void) RICCI_BORROWED(static) RICCI_TEXT;

/* New status with a copy of `msg`; never NULL (a static out-of-memory status if allocation fails). */
RICCI_API ricci_status* ricci_status_make(uint32_t code, const char* msg RICCI_LEN(len), size_t len) RICCI_OWNED;
/* 0 for NULL. */
RICCI_API uint32_t ricci_status_code(const ricci_status* s RICCI_NULLABLE);
/* Borrowed from `s`; complete text: `file:line: primitive: what is wrong`. A NULL `out` is left alone. */
RICCI_API void ricci_status_message(const ricci_status* s RICCI_NULLABLE,
                                    ricci_str* out RICCI_NULLABLE RICCI_BORROWED(s));
/* Where it happened: primitive, rule (`abstract_eval`, `jvp`, ...), file, line of the host; empty or 0 when unknown.
 * Every out pointer may be NULL. */
RICCI_API void ricci_status_site(const ricci_status* s RICCI_NULLABLE, ricci_str* prim RICCI_NULLABLE RICCI_BORROWED(s),
                                 ricci_str* rule RICCI_NULLABLE RICCI_BORROWED(s),
                                 ricci_str* file RICCI_NULLABLE RICCI_BORROWED(s), uint32_t* line RICCI_NULLABLE);
/* NULL is allowed. */
RICCI_API void ricci_status_free(ricci_status* s RICCI_NULLABLE RICCI_OWNED);

/* Bytes of one element on the host (key: 8), 0 for an unknown dtype. */
RICCI_API uint32_t ricci_dtype_size(uint32_t dtype);
/* Name as in program text (`f32`), static; empty for an unknown dtype. */
RICCI_API void ricci_dtype_name(uint32_t dtype, ricci_str* out RICCI_NULLABLE RICCI_BORROWED(static));

#ifdef __cplusplus
}
#endif
#endif
