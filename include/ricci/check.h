/* ricci/check.h: the laws that every primitive must obey, checked by running it.
 *
 * Every rule of a row is compared with what it means, on examples of operands. The laws, in the order in which they are
 * checked:
 *   rules                the row has jvp, transpose and batch, or `missing` says why not (of primitives)
 *   text                 the printed program parses to an equal one
 *   written              every element of every result is written: two runs into memory of different contents agree
 *   factors              the factor text fits operands and results, and each factor can be split as its kind says, no
 *                        better (ricci/primitive.h)
 *   view_maps            elements of operands are in the result where the rule `view_map` says, and no others
 *   optimized            `ref` gives the same before and after all passes; for every program of the other laws too
 *   device               every other device gives what `ref` gives
 *   jvp                  derivatives against central differences: by one operand at a time, then by all
 *   transpose            <ct, jvp(t)> = <vjp(ct), t>
 *   jvp of jvp, jvp of transpose, transpose of jvp
 *   vmap                 against a loop: every choice of batched operands, several axes
 *   batch                the batching rules alone, with the batch of each operand at several axes
 *   vmap of jvp, vmap of transpose, jvp of vmap, transpose of vmap
 * A failure names the rows whose rules made the programs that were compared, unless these are the row's own alone.
 * Derivatives are those of f64 operands; examples lie where the primitive is smooth. A law that does not apply to an
 * example (no f64, no result that could be batched) makes no comparison.
 */
#ifndef RICCI_CHECK_H_
#define RICCI_CHECK_H_
#include "ricci/build.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {                                       /* ricci_check_example.hdr.flags: laws that are left out */
       RICCI_CHECK_NO_DERIVATIVES = 1u << 0, /* the primitive has none, or not here */
       RICCI_CHECK_NO_BATCH = 1u << 1,
       RICCI_CHECK_REF_ONLY = 1u << 2,   /* other devices are not compared */
       RICCI_CHECK_FIRST_ORDER = 1u << 3 /* derivatives of derivatives are left out */
};

typedef struct ricci_check_operand { /* elements are drawn evenly from [low, high]; integers are rounded down */
  ricci_type type;
  uint32_t reserved0;
  double low, high;
} ricci_check_operand;

typedef struct ricci_check_example {
  ricci_hdr hdr;
  const ricci_check_operand* operands;
  const ricci_attr* attrs;
  uint32_t n_operands, n_attrs;
  uint64_t seed; /* of the drawn elements */
} ricci_check_example;

typedef struct ricci_check_law { /* the outcome of one law over all examples */
  ricci_hdr hdr;
  ricci_str name;       /* static */
  uint64_t comparisons; /* of arrays */
  double worst;         /* largest difference, relative to the larger of 1 and the expected element */
  ricci_str failure;    /* the first one; empty if the law holds */
} ricci_check_law;

typedef struct ricci_check_opts {
  ricci_hdr hdr;
  ricci_str device; /* the kind that is compared with `ref`; empty = all */
  void* sink;
  /* Called once for each law, in order, after all examples; texts live as long as the call. May be NULL. */
  void (*law)(void* sink, const ricci_check_law* law);
} ricci_check_opts;
static inline ricci_check_opts ricci_check_opts_default(void) {
  ricci_check_opts o = {{sizeof(ricci_check_opts), 0, NULL}, {NULL, 0}, NULL, NULL};
  return o;
}

/* OK if every law holds for every example; without examples (n = 0), for those of the row. FAILED_PRECONDITION if one
 * does not: the message gives the first law that fails, the example, the element, both values and the inputs. Other
 * codes: an example does not fit the primitive, or a rule failed or is missing. A rule that is NULL leaves its laws
 * out. `o` may be NULL. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_primitive(
    ricci_ctx* c, const char* name RICCI_LEN(len), size_t len, const ricci_check_example* examples RICCI_LEN(n),
    uint32_t n, const ricci_check_opts* o RICCI_NULLABLE) RICCI_ANY_THREAD;
/* The same for a program; `example` has no attributes and one operand for each parameter; NULL draws from the default
 * ranges of ricci_prim_def.examples. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_program(const ricci_program* f,
                                                            const ricci_check_example* example RICCI_NULLABLE,
                                                            const ricci_check_opts* o RICCI_NULLABLE);

#ifdef __cplusplus
}
#endif
#endif
