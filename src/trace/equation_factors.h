// The factors of equations: what their rows say about them, read once and kept with the program.
#ifndef RICCI_TRACE_EQUATION_FACTORS_H_
#define RICCI_TRACE_EQUATION_FACTORS_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace trace {

// The factors of equation `e` of `f`; NULL if its row says nothing about it. Any thread may call this. An error is one
// of the row's callback; what is wrong with its text is reported in Factors::wrong.
absl::StatusOr<ir::FactorsRef> FactorsOf(const ir::Program& f, uint32_t e);
// One parallel factor for each dimension of the results, which the operands share: the factors of an equation with a
// SCALAR lowering whose row says nothing.
ir::FactorsRef ElementwiseFactors(const ir::Program& f, const ir::Equation& eqn);

}}}  // namespace ricci::v0::trace
#endif
