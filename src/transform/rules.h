// Calling a row's rule: arguments in the layout of the ABI, every slot checked afterwards.
//
// A violation is an error that names plugin, primitive and rule. A missing rule falls back on a decomposition that its
// plugin declared transformable, else it is UNIMPLEMENTED with the reason that the row gives; never a silent guess.
#ifndef RICCI_TRANSFORM_RULES_H_
#define RICCI_TRANSFORM_RULES_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

using trace::Builder;
using trace::kNone;
using trace::kZero;
using trace::Val;
using trace::Vals;

struct Tangents {
  Vals primals, tangents;  // of the results; tangents may be kZero
};
absl::StatusOr<Tangents> ApplyJvp(Builder& b, const ir::Program& p, const ir::Equation& eqn,
                                  std::span<const Val> primals, std::span<const Val> tangents);

// Cotangents of the operands with linear[i] != 0; kZero elsewhere.
absl::StatusOr<Vals> ApplyTranspose(Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> cts,
                                    MaskView linear, std::span<const Val> operands);

struct Batched {
  Vals out;
  std::vector<int32_t> dims;  // -1: not batched
};
struct BatchAxis {
  int64_t size;
  std::string_view name;
};
absl::StatusOr<Batched> ApplyBatch(Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> in,
                                   std::span<const int32_t> dims, const BatchAxis& axis);

// The program that lowering `l` (of kind DECOMPOSE) makes of an equation: operands -> results.
absl::StatusOr<ir::ProgramRef> Decompose(prim::Registry& registry, const ricci_op& op, const ricci_lowering& l,
                                         uint32_t depth);

// A status with the primitive, rule and host location of an equation.
absl::Status AtEquation(absl::Status status, const ir::Program& p, const ir::Equation& eqn, const char* rule);
base::StatusSite SiteOf(const ir::Program& p, const ir::Equation& eqn, const char* rule);

}}}  // namespace ricci::v0::transform
#endif
