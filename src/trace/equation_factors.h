// The factors of equations: what their rows say of them, read once and kept with the program.
#ifndef RICCI_TRACE_EQUATION_FACTORS_H_
#define RICCI_TRACE_EQUATION_FACTORS_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci::inline v0::trace {

// Those of equation `e` of `f`; NULL if its row says nothing of it. Any thread may ask. The error is one of the row's
// callback; what is wrong with its text is told in Factors::wrong.
absl::StatusOr<ir::FactorsRef> FactorsOf(const ir::Program& f, uint32_t e);
// One parallel factor for each dimension of the results, which the operands share: those of an equation with a SCALAR
// lowering whose row says nothing.
ir::FactorsRef ElementwiseFactors(const ir::Program& f, const ir::Equation& eqn);

}  // namespace ricci::inline v0::trace
#endif
