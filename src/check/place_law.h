// The law of places: what a row says of where elements of an operand go (ricci_place) is where they are in its result,
// and each element of the result is told by one operand once.
//
// Places are read in every program that a law makes, and held against its values once for each operation of the
// primitives under examination.
#ifndef RICCI_CHECK_PLACE_LAW_H_
#define RICCI_CHECK_PLACE_LAW_H_
#include "check/operations.h"

namespace ricci::inline v0::check {

class PlaceLaw {
 public:
  PlaceLaw() = default;
  PlaceLaw(ricci_ctx* ctx, const ricci_program* examined) : ctx_(ctx), operations_(examined) {}
  // Whether there was anything to hold.
  absl::StatusOr<bool> Check(ricci_device* ref, Runnable& p, const Arrays& inputs);

 private:
  ricci_ctx* ctx_ = nullptr;
  Operations operations_;
};

}  // namespace ricci::inline v0::check
#endif
