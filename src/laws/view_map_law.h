// The law of view maps: elements of an operand are in the result where the row says (ricci_view_map), and each element
// of the result is exactly one element of one operand.
//
// Maps are read in every program that a law makes, and compared with its values once for each operation of the
// primitives under examination.
#ifndef RICCI_LAWS_VIEW_MAP_LAW_H_
#define RICCI_LAWS_VIEW_MAP_LAW_H_
#include "laws/operations.h"

namespace ricci { inline namespace v0 { namespace laws {

class ViewMapLaw {
 public:
  ViewMapLaw() = default;
  ViewMapLaw(ricci_ctx* ctx, const ricci_program* examined) : ctx_(ctx), operations_(examined) {}
  // Whether there was anything to compare.
  absl::StatusOr<bool> Check(ricci_device* ref, Runnable& p, const Arrays& inputs);

 private:
  ricci_ctx* ctx_ = nullptr;
  Operations operations_;
};

}}}  // namespace ricci::v0::laws
#endif
