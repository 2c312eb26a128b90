/* ricci/check.h: the laws that every primitive must obey, checked by running it.
 *
 * A plugin author gives a primitive and examples of operands; every rule that the row has is then held against what it
 * means: jvp against central differences, transpose against jvp (dot test), jvp again for the jvp itself, batching
 * rules and vmap against a loop (each choice of batched operands, several axes), vmap of the derivative and the
 * derivative of vmap, `ref` against every other device, print and parse. Derivatives are checked for f64 operands;
 * examples lie where the primitive is smooth.
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
       RICCI_CHECK_REF_ONLY = 1u << 2 /* other devices are not compared */
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

/* OK if every law holds for every example. FAILED_PRECONDITION if one does not: the message tells the law, the example,
 * the element, both values and the inputs. Other codes: the example does not fit the primitive, or a rule failed.
 * `laws`, if not NULL, receives the number of comparisons made. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_primitive(ricci_ctx* c, const char* name, size_t len,
                                                              const ricci_check_example* examples, uint32_t n,
                                                              uint64_t* laws);
/* The same for a program; `example` has no attributes and one operand for each parameter. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_check_program(const ricci_program* f, const ricci_check_example* example,
                                                            uint64_t* laws);

#ifdef __cplusplus
}
#endif
#endif
