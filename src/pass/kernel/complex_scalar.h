// Scalar operations on complex numbers, each a few operations on their parts.
#ifndef RICCI_PASS_COMPLEX_SCALAR_H_
#define RICCI_PASS_COMPLEX_SCALAR_H_
#include "pass/kernel/element_writer.h"

namespace ricci { inline namespace v0 { namespace pass {

// `op` of RICCI_S_*, if an operand, or the result (`dtype`), is complex. The writer fails if complex numbers do not
// have the operation.
Val ComplexScalar(ElementWriter& w, uint32_t op, uint32_t dtype, std::span<const Val> operands);

}}}  // namespace ricci::v0::pass
#endif
