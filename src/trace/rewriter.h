// Rewriter: where the values of one program are in another that is being built from it.
//
// Every walk that copies, differentiates, batches or prunes a program keeps this map and adds equations to the builder
// in the order of the program; what differs is what it appends for an equation. A value that nothing has been appended
// for is kNone.
#ifndef RICCI_TRACE_REWRITER_H_
#define RICCI_TRACE_REWRITER_H_
#include <functional>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace trace {

class Rewriter {
 public:
  // Both outlive this object.
  Rewriter(const Program& from, Builder& to) : from_(from), to_(to), values_(from.values.size(), kNone) {}

  Builder& to() const { return to_; }
  Val& operator[](ir::ValueId v) { return values_[v]; }
  Val operator[](ir::ValueId v) const { return values_[v]; }
  Vals operator[](std::span<const ir::ValueId> values) const;

  // The parameters are `params`, in order.
  void SetParams(std::span<const Val> params) { std::copy(params.begin(), params.end(), values_.begin()); }
  // The results of `eqn` are `out`.
  void SetResults(const ir::Equation& eqn, std::span<const Val> out) {
    std::copy(out.begin(), out.end(), values_.begin() + eqn.first_result);
  }
  absl::Status AddConstant(const ir::Constant& c);
  absl::Status AddConstants();
  // Appends `eqn` as it is; its operands are there.
  absl::Status Copy(const ir::Equation& eqn);
  absl::Status CopyAll();

  // What may be there without being copied: a value of the builder, or kNone for one that is to be computed again.
  using Given = std::function<absl::StatusOr<Val>(ir::ValueId)>;
  // Value `v`, with the constants and equations that it takes and that are not there yet; nothing is asked of `given`
  // twice. INTERNAL if it takes a parameter that is neither there nor given. No recursion, and linear in what it adds.
  absl::StatusOr<Val> Need(ir::ValueId v, const Given& given = {});

  // The results of the program.
  Vals Results() const { return (*this)[from_.results]; }

 private:
  absl::Status Collect(ir::ValueId v, const Given& given, std::vector<uint32_t>& equations);

  const Program& from_;
  Builder& to_;
  Vals values_;
  Vals operands_;  // of the equation being copied
};

}}}  // namespace ricci::v0::trace
#endif
