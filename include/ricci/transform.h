/* ricci/transform.h: functions from program to program. Each returns a new owned program; inputs stay as they are. */
#ifndef RICCI_TRANSFORM_H_
#define RICCI_TRANSFORM_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Results: [the value of f's single scalar result and its other results as auxiliary values, if with_value,] then the
 * gradient of result 0 by each parameter in argnums. f: result 0 must be a floating scalar. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_grad(const ricci_program* f, const uint32_t* argnums RICCI_LEN(n),
                                                   uint32_t n, uint32_t with_value, ricci_program** out RICCI_OWNED);
/* Parameters: those of f, then a tangent for each one with active[i] != 0. Results: those of f, then a tangent for each
 * floating result. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_jvp(const ricci_program* f, const uint8_t* active RICCI_LEN(n),
                                                  uint32_t n, ricci_program** out RICCI_OWNED);
/* Like ricci_jvp, but tangents that are zero are left out: out_nonzero[results of f] says which are there. Where
 * out_nonzero[i] != 0 on entry, the tangent of result i is given even if it is zero (loop carries need it). */
RICCI_API RICCI_NODISCARD ricci_status* ricci_jvp_sparse(const ricci_program* f, const uint8_t* active RICCI_LEN(n),
                                                         uint32_t n, uint8_t* out_nonzero RICCI_LEN_OF(results, f),
                                                         ricci_program** out RICCI_OWNED);
/* fwd: parameters of f -> results of f, residuals. bwd: residuals, one cotangent per floating result -> one cotangent
 * per parameter with wanted[i] != 0. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_vjp(const ricci_program* f, const uint8_t* wanted RICCI_LEN(n),
                                                  uint32_t n, ricci_program** fwd RICCI_OWNED,
                                                  ricci_program** bwd RICCI_OWNED);
typedef struct ricci_partial_eval_opts { /* all 0 but hdr.size: the defaults */
  ricci_hdr hdr;                         /* flags: RICCI_PARTIAL_EVAL_APART (ricci/primitive.h), or 0 */
  const uint8_t* force_unknown;          /* [results of f] those that must be unknown; NULL: none */
  /* What may become a residual: `everything`; `nothing`; `dots`, the results of products; `dots_with_no_batch_dims`;
   * `names:a,b`, what the primitive `name` calls a or b; `names_but:a,b`, what it calls anything else. With `|` between
   * several, what any of them saves: `dots|names:a`. Empty: `everything`. */
  ricci_str policy;
} ricci_partial_eval_opts;
static inline ricci_partial_eval_opts ricci_partial_eval_opts_default(void) {
  ricci_partial_eval_opts o = {{sizeof(ricci_partial_eval_opts), 0, NULL}, NULL, {NULL, 0}};
  return o;
}
/* Splits f by known parameters. known: known parameters -> known results (those with out_known[i] != 0), residuals.
 * unknown: residuals, unknown parameters -> unknown results. What out_known holds on entry does not matter. `o` may be
 * NULL. A residual that is a parameter is that parameter as a result of `known` (ricci_program_result_param).
 */
RICCI_API RICCI_NODISCARD ricci_status* ricci_partial_eval(const ricci_program* f, const uint8_t* known RICCI_LEN(n),
                                                           uint32_t n, const ricci_partial_eval_opts* o RICCI_NULLABLE,
                                                           uint8_t* out_known RICCI_LEN_OF(results, f),
                                                           uint32_t* n_residuals, ricci_program** known_out RICCI_OWNED,
                                                           ricci_program** unknown_out RICCI_OWNED);
/* f is linear in the parameters with linear[i] != 0. Result: non-linear parameters, one cotangent per result of f with
 * ct_nonzero[i] != 0 (NULL = all) -> cotangents of the linear parameters. in_nonzero[i] (may be NULL) says which are
 * not zero, and only those are given; with NULL all are given. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_linear_transpose(
    const ricci_program* f, const uint8_t* linear RICCI_LEN(n), uint32_t n,
    const uint8_t* ct_nonzero RICCI_NULLABLE RICCI_LEN_OF(results, f),
    uint8_t* in_nonzero RICCI_NULLABLE RICCI_LEN_OF(params, f), ricci_program** out RICCI_OWNED);
enum { /* ricci_vmap_opts.schedule: how the map runs, see the option `vmap` of ricci_context_config */
       RICCI_SCHEDULE_AUTO = 0,
       RICCI_SCHEDULE_BATCHED = 1,
       RICCI_SCHEDULE_LANES = 2
};
typedef struct ricci_vmap_opts { /* all 0 but hdr.size: the defaults */
  ricci_hdr hdr;
  ricci_str axis_name; /* may be empty */
  /* For this map and its derivatives, whatever the context's option says. A schedule that is not possible (a check in a
   * branch cannot be batched; what no kernel can run cannot be in lanes) is an error of ricci_compile. */
  uint32_t schedule, reserved0;
} ricci_vmap_opts;
static inline ricci_vmap_opts ricci_vmap_opts_default(void) {
  ricci_vmap_opts o = {{sizeof(ricci_vmap_opts), 0, NULL}, {NULL, 0}, RICCI_SCHEDULE_AUTO, 0};
  return o;
}
/* in_axes[i] = batched axis of parameter i or -1; out_axes likewise (-1 is an error if the result is batched). `size`
 * is the batch. `options` may be NULL. The result holds one structural vmap equation. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_vmap(const ricci_program* f, const int32_t* in_axes RICCI_LEN(n_in),
                                                   uint32_t n_in, const int32_t* out_axes RICCI_LEN(n_out),
                                                   uint32_t n_out, int64_t size,
                                                   const ricci_vmap_opts* options RICCI_NULLABLE,
                                                   ricci_program** out RICCI_OWNED);
typedef struct ricci_batch_opts { /* all 0 but hdr.size: the defaults */
  ricci_hdr hdr;
  ricci_str axis_name; /* may be empty */
} ricci_batch_opts;
static inline ricci_batch_opts ricci_batch_opts_default(void) {
  ricci_batch_opts o = {{sizeof(ricci_batch_opts), 0, NULL}, {NULL, 0}};
  return o;
}
/* f by batching rules instead: a vmap equation is left only around a branch or loop that may fail (check, max_trips)
 * and that not all elements take, since it must fail only for those that do. in_batched[i] != 0: parameter i has the
 * batch as axis 0. out_batched[results]: which results have it (as axis 0); != 0 on entry forces it. `o` may be
 * NULL. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_batch(const ricci_program* f, const uint8_t* in_batched RICCI_LEN(n),
                                                    uint32_t n, int64_t size, const ricci_batch_opts* o RICCI_NULLABLE,
                                                    uint8_t* out_batched RICCI_LEN_OF(results, f),
                                                    ricci_program** out RICCI_OWNED);
enum { /* ricci_checkpoint_opts.hdr.flags */
       /* What the derivative computes again may be merged with what was computed before, which may cost the memory that
        * was to be saved: JAX's prevent_cse=False. Without the flag the recomputation goes through an
        * optimization_barrier with all that the derivative reads, so that it does not begin before its cotangents are
        * there. In a loop whose backward pass is a loop of its own, no barrier is needed, and none is made. */
       RICCI_CHECKPOINT_ALLOW_CSE = 1u << 0
};
typedef struct ricci_checkpoint_opts { /* all 0 but hdr.size: the defaults */
  ricci_hdr hdr;
  ricci_str policy; /* what is saved, see ricci_partial_eval; empty: `nothing` */
} ricci_checkpoint_opts;
static inline ricci_checkpoint_opts ricci_checkpoint_opts_default(void) {
  ricci_checkpoint_opts o = {{sizeof(ricci_checkpoint_opts), 0, NULL}, {NULL, 0}};
  return o;
}
/* The same function; its derivative recomputes what the policy does not save. `options` may be NULL. A context without
 * the primitive optimization_barrier can compile such derivatives only with RICCI_CHECKPOINT_ALLOW_CSE: NOT_FOUND. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_checkpoint(const ricci_program* f,
                                                         const ricci_checkpoint_opts* options RICCI_NULLABLE,
                                                         ricci_program** out RICCI_OWNED);
/* f with the derivative `rule`: primals, tangents (all parameters of f) -> results of f, their tangents. Where the rule
 * applies the function itself, it emits `custom_jvp` with attributes call = f and self = 1 (2: that of the custom_jvp
 * around it, and so on) on operands of the types of f's parameters. That refers to the program returned here, so it has
 * derivatives of every order. custom_vjp does the same. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_custom_jvp(const ricci_program* f, const ricci_program* rule,
                                                         ricci_program** out RICCI_OWNED);
/* f with fwd: parameters -> results, residuals; bwd: residuals, cotangents of all results -> cotangents of all
 * parameters. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_custom_vjp(const ricci_program* f, const ricci_program* fwd,
                                                         const ricci_program* bwd, ricci_program** out RICCI_OWNED);
/* The x with A x = b, as a program: constants of matvec, of vecmat, of solve and of transpose_solve, b -> x. Vectors
 * such as b and x are lists of arrays of the types of matvec's results. Each program takes constants of its own, then a
 * vector, and gives one: matvec A x; vecmat A^T y; solve the x with A x = b; transpose_solve the y with A^T y = c. The
 * derivative is that of the solution by the constants of matvec and by b, and never goes through solve. vecmat and
 * transpose_solve may both be NULL; then there is no reverse mode. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_custom_linear_solve(const ricci_program* matvec,
                                                                  const ricci_program* vecmat RICCI_NULLABLE,
                                                                  const ricci_program* solve,
                                                                  const ricci_program* transpose_solve RICCI_NULLABLE,
                                                                  ricci_program** out RICCI_OWNED);
/* f without the equations that no used result needs. used[results]; parameters stay, and used_params says which are
 * used. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_dce(const ricci_program* f, const uint8_t* used RICCI_LEN(n), uint32_t n,
                                                  uint8_t* used_params RICCI_LEN_OF(params, f),
                                                  ricci_program** out RICCI_OWNED);

#ifdef __cplusplus
}
#endif
#endif
