// The law of factors: each operation's text fits its operands and results, and each factor can be split as its kind
// says (split_factor).
//
// Texts are read in every program that a law makes. Splitting is expensive, so it is done once for each operation
// (primitive, types and attributes) of the primitives under examination: others have examples of their own. That a kind
// promises too little is only reported from several draws of an example's own operands: in programs made from it,
// operands may be zeros or equal by construction, and then parts combine that otherwise do not.
#ifndef RICCI_LAWS_FACTOR_LAW_H_
#define RICCI_LAWS_FACTOR_LAW_H_
#include "laws/operations.h"

namespace ricci { inline namespace v0 { namespace laws {

class FactorLaw {
 public:
  FactorLaw() = default;
  // Splits the operations of those primitives that occur in `examined`.
  FactorLaw(ricci_ctx* ctx, const ricci_program* examined) : ctx_(ctx), operations_(examined) {}
  // `draws`: inputs of `p`; several, if they are drawn from the ranges of the example.
  absl::Status Check(ricci_device* ref, Runnable& p, const std::vector<Arrays>& draws);

 private:
  ricci_ctx* ctx_ = nullptr;
  Operations operations_;
};

}}}  // namespace ricci::v0::laws
#endif
