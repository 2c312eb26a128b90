// What rules and lowerings of scan share.
#ifndef RICCI_CONTROL_SCAN_H_
#define RICCI_CONTROL_SCAN_H_
#include "control/parts.h"
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

// The number of trips in one iteration of the lowered loop: as many as `unroll` asks for, but no more than `length`,
// and no more copies of a large body than are worth their code. At least 1. What a scan computes does not depend on it.
int64_t TripsPerIteration(const Program& body, int64_t length, int64_t unroll);

// scan{body} with the trip count, direction and run_in of `like`.
absl::StatusOr<Vals> EmitScan(Builder& b, const ScanParts& like, const Program& body, uint32_t n_consts,
                              uint32_t n_carry, std::span<const Val> in);

// The derivative and batching rules, in scan_rules.cc.
absl::Status ScanJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a);
absl::Status ScanPartialEval(const StructuralOp& h, const ricci_partial_eval_args& a);
absl::Status ScanTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a);
absl::Status ScanBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a);
absl::Status ScanDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a);

// `f` with parameters and results in another order: new parameter i is old parameter params[i], and likewise for
// results.
absl::StatusOr<ProgramRef> Permute(const Program& f, std::span<const uint32_t> params,
                                   std::span<const uint32_t> results);

}}}  // namespace ricci::v0::control
#endif
