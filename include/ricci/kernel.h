/* ricci/kernel.h: the Kernel IR, and the functions with which a lowering writes it.
 *
 * A kernel is a parallel domain and a structured body over scalars: it says what is computed for each point, never
 * threads, lanes or shared memory. It is one flat table of instructions in SSA form; an instruction's index is the
 * number of its value. Loops and branches are marked by begin and end instructions; what changes in a loop lives in
 * private arrays (LOCAL), of which each point of the domain has its own. The order of evaluation is that of the text,
 * with these exceptions. Iterations of parallel loops may run in any order. REDUCE may combine in any fixed order that
 * the backend chooses from shapes alone. SCAN combines in the order of its trips, but may group them in any way that
 * depends on shapes alone. What points COMBINE into one element is combined in a fixed order that depends on shapes
 * alone.
 *
 * Scalar semantics: integers wrap; shifts by the width or more give 0 (or the sign); float operations are IEEE, each
 * rounded once; integer division by zero gives -1 (x % 0 = x), INT_MIN / -1 = INT_MIN; max and min return NaN if either
 * is; comparisons give bool; convert follows C for floats to integers, saturating, NaN to 0.
 *
 * Contraction: a code generator makes no fused multiply-add of a MUL and an ADD, because a value may be computed in
 * several kernels and must have one rounding. What is fused is said by FMA and by YIELD. It is decided for equations by
 * the rule `contract` of rows (ricci/primitive.h), within a lowering by ricci_kernel_multiply_add, and for terms of
 * sums when a reduction is closed; all of this only where the target has RICCI_TARGET_FMA.
 */
#ifndef RICCI_KERNEL_H_
#define RICCI_KERNEL_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Scalar operations: X(NAME, number, arity, text). Numbers are frozen. */
/* clang-format off */
#define RICCI_SCALAR_OPS(X) \
  X(ADD, 1, 2, "add")                X(SUB, 2, 2, "sub")                X(MUL, 3, 2, "mul")                \
  X(DIV, 4, 2, "div")                X(REM, 5, 2, "rem")                X(NEG, 6, 1, "neg")                \
  X(ABS, 7, 1, "abs")                X(SIGN, 8, 1, "sign")              X(MIN, 9, 2, "min")                \
  X(MAX, 10, 2, "max")               X(AND, 11, 2, "and")               X(OR, 12, 2, "or")                 \
  X(XOR, 13, 2, "xor")               X(NOT, 14, 1, "not")               X(SHL, 15, 2, "shl")               \
  X(SHR, 16, 2, "shr")               X(SAR, 17, 2, "sar")               X(EQ, 18, 2, "eq")                 \
  X(NE, 19, 2, "ne")                 X(LT, 20, 2, "lt")                 X(LE, 21, 2, "le")                 \
  X(GT, 22, 2, "gt")                 X(GE, 23, 2, "ge")                 X(SELECT, 24, 3, "select")         \
  X(CONVERT, 25, 1, "convert")       X(BITCAST, 26, 1, "bitcast")       X(FMA, 27, 3, "fma")               \
  X(POPCOUNT, 28, 1, "popcount")     X(CLZ, 29, 1, "clz")               X(MULHI, 30, 2, "mulhi")           \
  X(EXP, 31, 1, "exp")               X(EXP2, 32, 1, "exp2")             X(EXPM1, 33, 1, "expm1")           \
  X(LOG, 34, 1, "log")               X(LOG1P, 35, 1, "log1p")           X(LOG2, 36, 1, "log2")             \
  X(SIN, 37, 1, "sin")               X(COS, 38, 1, "cos")               X(TAN, 39, 1, "tan")               \
  X(ASIN, 40, 1, "asin")             X(ACOS, 41, 1, "acos")             X(ATAN, 42, 1, "atan")             \
  X(ATAN2, 43, 2, "atan2")           X(SINH, 44, 1, "sinh")             X(COSH, 45, 1, "cosh")             \
  X(TANH, 46, 1, "tanh")             X(ASINH, 47, 1, "asinh")           X(ACOSH, 48, 1, "acosh")           \
  X(ATANH, 49, 1, "atanh")           X(POW, 50, 2, "pow")               X(SQRT, 51, 1, "sqrt")             \
  X(RSQRT, 52, 1, "rsqrt")           X(CBRT, 53, 1, "cbrt")             X(FLOOR, 54, 1, "floor")           \
  X(CEIL, 55, 1, "ceil")             X(ROUND, 56, 1, "round")           X(ROUND_EVEN, 57, 1, "round_even") \
  X(TRUNC, 58, 1, "trunc")           X(IS_FINITE, 59, 1, "is_finite")   X(NEXTAFTER, 60, 2, "nextafter")   \
  X(ERF, 61, 1, "erf")               X(ERFC, 62, 1, "erfc")             X(ERF_INV, 63, 1, "erf_inv")       \
  X(LOGISTIC, 64, 1, "logistic")     X(LGAMMA, 65, 1, "lgamma")         X(DIGAMMA, 66, 1, "digamma")
/* clang-format on */
enum {
#define RICCI_X(NAME, number, arity, text) RICCI_S_##NAME = number,
  RICCI_SCALAR_OPS(RICCI_X)
#undef RICCI_X
      RICCI_S_COUNT = 67, /* of this version */
  RICCI_S_LIMIT = 256     /* every number below it is a scalar operation, of this version or a later one */
};

/* Structure operations, in the same number space. Operands a, b, c are value numbers; each line says what `imm` is. */
enum {
  RICCI_K_NOP = 256,    /* instruction 0 of every kernel, so that number 0 means none */
  RICCI_K_CONST = 257,  /* imm: the element's bits, zero-extended */
  RICCI_K_DOMAIN = 258, /* imm: dimension of the domain; the i64 coordinate of this point */
  RICCI_K_LOAD = 259,   /* buffer imm at linear element index a (i64) */
  RICCI_K_STORE = 260,  /* buffer imm at a = value b */
  RICCI_K_LOCAL = 261,  /* private array of imm elements of dtype; its content is undefined at first */
  RICCI_K_GET = 262,    /* element b of local a */
  RICCI_K_SET = 263,    /* element b of local a = value c */
  RICCI_K_FOR = 264,    /* loop from a to b - 1; value: the i64 index; imm 1: iterations are independent */
  RICCI_K_WHILE = 265,  /* begin; then instructions, COND, body, END */
  RICCI_K_COND = 266,   /* the loop goes on while a (bool) holds */
  RICCI_K_IF = 267,     /* runs to ELSE or END if a (bool) holds */
  RICCI_K_ELSE = 268,
  RICCI_K_END = 269, /* closes FOR, WHILE, IF */
  RICCI_K_REDUCE =
      270, /* loop from a to b - 1, value: the i64 index, up to its YIELD; imm: ADD MUL MAX MIN AND OR XOR */
  /* Closes REDUCE a: b is combined over all iterations (identity if there are none); value: the result. imm 1: of a
   * sum, b is a MUL of f32 or f64, of which each partial sum and the product are one fused multiply-add. */
  RICCI_K_YIELD = 271,
  RICCI_K_ASSUME_LESS = 272, /* no code: promises that 0 <= a < imm, an index in bounds */
  RICCI_K_CHECK = 273, /* a (bool) must hold wherever this is reached; else the run goes on, but fails as check imm */
  /* A prefix scan (Blelloch, "Prefix sums and their applications", 1990): a loop from a to b - 1, value: the i64 index,
   * of imm states, with an associative combiner. It is followed, in this order, by LEFT and RIGHT of each state, the
   * scalars of the combiner, COMBINED of each state; then the body, with one PREFIX for each state next to each other,
   * and END. Except for the prefixes, iterations are independent. */
  RICCI_K_SCAN = 274,
  RICCI_K_LEFT = 275,     /* of the combiner: the elements before, combined, of state imm; a: its identity */
  RICCI_K_RIGHT = 276,    /* of the combiner: the elements that follow, combined, of state imm */
  RICCI_K_COMBINED = 277, /* a: what the combiner gives for state imm, from LEFT, RIGHT and what is outside the loop */
  RICCI_K_PREFIX = 278,   /* a: the element of state imm in this iteration; value: all elements up to it, combined */
  /* The element at a of a buffer becomes it combined with b, by ADD, MUL, MAX or MIN; imm: RICCI_COMBINE(buffer,
   * combiner). Points of the domain and independent iterations may combine into one element. Nothing else in the kernel
   * reads or writes that buffer. */
  RICCI_K_COMBINE = 279
};
#define RICCI_COMBINE(buffer, combiner) ((int64_t)(buffer) | (int64_t)(combiner) << 32)
#define RICCI_COMBINER_OF(imm) ((uint32_t)((uint64_t)(imm) >> 32))
#define RICCI_BUFFER_OF(imm) ((uint32_t)(imm)) /* of LOAD, STORE, COMBINE */
/* 320 to 351: reserved for tiles (products of matrices on units of their own). */

typedef struct ricci_inst {
  uint16_t op;
  uint16_t dtype; /* of the value; 0 where there is none */
  uint32_t a, b, c;
  int64_t imm;
} ricci_inst;

/* ---- written by lowerings ----
 *
 * karr is an array of the kernel: an operand or result of the operation being lowered, a private array, a view, or a
 * value of an inlined program. Loading an operand pulls in the expression that produces it, so producers fuse. Index
 * arithmetic on constants folds at once. ricci_kernel_for may unroll loops of few iterations; a body must not depend on
 * it. */
#define RICCI_KFN RICCI_API RICCI_NODISCARD ricci_status*
/* 0 if out of range. */
RICCI_API ricci_karr ricci_kernel_operand(const ricci_kernel_builder* k RICCI_NULLABLE, uint32_t i);
RICCI_API ricci_karr ricci_kernel_result(const ricci_kernel_builder* k RICCI_NULLABLE, uint32_t i);
RICCI_API ricci_type ricci_kernel_array_type(const ricci_kernel_builder* k RICCI_NULLABLE, ricci_karr a);
RICCI_API uint32_t ricci_kernel_dtype(const ricci_kernel_builder* k RICCI_NULLABLE, ricci_sval v);
/* One element, given by its bytes. */
RICCI_KFN ricci_kernel_const(ricci_kernel_builder* k, uint32_t dtype, const void* element RICCI_LEN_OF(bytes, dtype),
                             ricci_sval* out);
RICCI_KFN ricci_kernel_const_index(ricci_kernel_builder* k, int64_t value, ricci_sval* out);
/* Scalar operation. `dtype` is that of the result for CONVERT and BITCAST, else 0. Operands have one dtype (SELECT:
 * bool, x, x). */
RICCI_KFN ricci_kernel_scalar(ricci_kernel_builder* k, uint32_t op, uint32_t dtype, const ricci_sval* in RICCI_LEN(n),
                              uint32_t n, ricci_sval* out);
/* a * b + c of numbers of one dtype. f32 and f64 are rounded once (FMA) where the target has RICCI_TARGET_FMA, else,
 * and of other dtypes, as MUL and ADD. */
RICCI_KFN ricci_kernel_multiply_add(ricci_kernel_builder* k, ricci_sval a, ricci_sval b, ricci_sval c, ricci_sval* out);
/* A complex number from its parts, two values of f32 or of f64, and back. In a lowering it is a value as others are: it
 * can be loaded, stored, selected, compared by EQ and NE, converted, summed by a reduction, passed through a scan, and
 * has ADD, SUB, MUL, DIV, NEG, ABS (a real value) and EXP. Kernels hold only the parts. */
RICCI_KFN ricci_kernel_complex(ricci_kernel_builder* k, ricci_sval re, ricci_sval im, ricci_sval* out);
RICCI_KFN ricci_kernel_parts(ricci_kernel_builder* k, ricci_sval v, ricci_sval* re, ricci_sval* im);
RICCI_KFN ricci_kernel_load(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index RICCI_LEN(n), uint32_t n,
                            ricci_sval* out);
/* Only results and private arrays; each element of a result is written exactly once, unless it is read back by the same
 * point. */
RICCI_KFN ricci_kernel_store(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index RICCI_LEN(n), uint32_t n,
                             ricci_sval v);
/* An element of `a`, a result, becomes it combined with `v` by `combiner`: RICCI_S_ADD, MUL, MAX or MIN. Several
 * iterations of parallel loops may combine into one element: their order depends on shapes alone, never on threads. For
 * lowerings with RICCI_LOWERING_UPDATES, which may not also load or store elements of that result. */
RICCI_KFN ricci_kernel_combine(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index RICCI_LEN(n), uint32_t n,
                               uint32_t combiner, ricci_sval v);
RICCI_KFN ricci_kernel_private(ricci_kernel_builder* k, ricci_type t, ricci_karr* out);
/* The slice of `a` at `index` along dimension `axis`, which disappears; shares elements with `a`. */
RICCI_KFN ricci_kernel_view(ricci_kernel_builder* k, ricci_karr a, uint32_t axis, ricci_sval index, ricci_karr* out);
/* dst (a result or private array) = src, element by element. */
RICCI_KFN ricci_kernel_copy(ricci_kernel_builder* k, ricci_karr dst, ricci_karr src);
/* `n` nested loops whose iterations are independent, from 0 to extents[i] - 1. One ricci_kernel_end closes them. */
RICCI_KFN ricci_kernel_parallel(ricci_kernel_builder* k, const int64_t* extents RICCI_LEN(n), uint32_t n,
                                ricci_sval* index RICCI_LEN(n));
RICCI_KFN ricci_kernel_for(ricci_kernel_builder* k, ricci_sval lo, ricci_sval hi, ricci_sval* index);
RICCI_KFN ricci_kernel_while(ricci_kernel_builder* k);
RICCI_KFN ricci_kernel_cond(ricci_kernel_builder* k, ricci_sval pred);
RICCI_KFN ricci_kernel_if(ricci_kernel_builder* k, ricci_sval pred);
RICCI_KFN ricci_kernel_else(ricci_kernel_builder* k);
RICCI_KFN ricci_kernel_end(ricci_kernel_builder* k);
/* `combiner`: RICCI_S_ADD, MUL, MAX, MIN, AND, OR or XOR. */
RICCI_KFN ricci_kernel_reduce(ricci_kernel_builder* k, uint32_t combiner, ricci_sval lo, ricci_sval hi,
                              ricci_sval* index);
RICCI_KFN ricci_kernel_yield(ricci_kernel_builder* k, ricci_sval v, ricci_sval* out);
/* A prefix scan from `lo` to `hi` - 1 of `n` states. First the combiner is written: from `left` and `right` (n values
 * each, given), and from earlier values, by scalar operations alone; it is associative, and combining with `identity`
 * (n) changes nothing. ricci_kernel_combiner takes its results (n) and begins the loop. In the loop, once and not
 * within a nested block, ricci_kernel_prefix takes the elements of this iteration and gives all elements up to them,
 * combined. ricci_kernel_end closes the loop. Except for the prefixes, iterations are independent. */
RICCI_KFN ricci_kernel_scan(ricci_kernel_builder* k, ricci_sval lo, ricci_sval hi,
                            const ricci_sval* identity RICCI_LEN(n), uint32_t n, ricci_sval* left RICCI_LEN(n),
                            ricci_sval* right RICCI_LEN(n));
RICCI_KFN ricci_kernel_combiner(ricci_kernel_builder* k, const ricci_sval* result RICCI_LEN(n), uint32_t n,
                                ricci_sval* index);
RICCI_KFN ricci_kernel_prefix(ricci_kernel_builder* k, const ricci_sval* element RICCI_LEN(n), uint32_t n,
                              ricci_sval* out RICCI_LEN(n));
/* Lowers the equations of `f` here. With `dst`, result i is written to dst[i] (a result, private array or view of one)
 * and out may be NULL. Otherwise out[i] can be loaded until the enclosing loop or branch ends. */
RICCI_KFN ricci_kernel_inline(ricci_kernel_builder* k, const ricci_program* f, const ricci_karr* in RICCI_LEN(n_in),
                              uint32_t n_in, const ricci_karr* dst RICCI_NULLABLE RICCI_LEN(n_out),
                              ricci_karr* out RICCI_NULLABLE RICCI_LEN(n_out), uint32_t n_out);
/* Wherever this is reached, `pred` (bool) must hold. Where it does not, the kernel goes on, so everything after must
 * stay within bounds, and the run returns a status of `code` with `msg` and the location of the operation. */
RICCI_KFN ricci_kernel_check(ricci_kernel_builder* k, ricci_sval pred, uint32_t code, const char* msg RICCI_LEN(len),
                             size_t len);

#ifdef __cplusplus
}
#endif
#endif
