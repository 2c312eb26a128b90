// The law of places: elements of an operand are in the result where the row says (ricci_place), and each element of the
// result is the place of exactly one element of one operand.
//
// Places are read in every program that a law makes, and compared with its values once for each operation of the
// primitives under examination.
#ifndef RICCI_LAWS_PLACE_LAW_H_
#define RICCI_LAWS_PLACE_LAW_H_
#include "laws/operations.h"

namespace ricci { inline namespace v0 { namespace laws {

class PlaceLaw {
 public:
  PlaceLaw() = default;
  PlaceLaw(ricci_ctx* ctx, const ricci_program* examined) : ctx_(ctx), operations_(examined) {}
  // Whether there was anything to compare.
  absl::StatusOr<bool> Check(ricci_device* ref, Runnable& p, const Arrays& inputs);

 private:
  ricci_ctx* ctx_ = nullptr;
  Operations operations_;
};

}}}  // namespace ricci::v0::laws
#endif
