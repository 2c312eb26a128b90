// Splitting an operation along its factors: the operation is run on both parts, and the results are compared with what
// the kind of the factor says (ricci/primitive.h).
//
// What can be shown false, kind by kind:
//   parallel   the results of the parts are not those of the whole
//   reduced    (sum, max, ...) the results of the parts do not combine to those of the whole
//   seq        neither half of the results can be computed without the other half of the operands
//   window     one end of the results needs the other end of an operand; examples are larger than the window
//   indexed    points need each other
// and for whole, seq, window and indexed that the factor is parallel or reduced after all: such a text costs speed and
// nothing else would ever show it, so it is an error. That a `whole` factor is really `seq` is never reported: a first
// part that needs nothing else is not yet a state from which to continue (a scatter that drops what is out of range has
// such a part).
//
// A part is the operation on slices of the operands, with attributes that hold the factor's size changed with it. If no
// such change gives the types that the text promises, the operation cannot be run on parts. Then the points of a
// parallel factor must at least not need each other, which is tested by disturbing the others. Sizes below 2 are not
// split, nor operations of more than 65,536 elements, since the interpreter runs them a hundred times.
#ifndef RICCI_LAWS_SPLIT_FACTOR_H_
#define RICCI_LAWS_SPLIT_FACTOR_H_
#include "ir/factors.h"
#include "laws/runnable.h"

namespace ricci { inline namespace v0 { namespace laws {

// FAILED_PRECONDITION names the factor. `draws` are operands of `op`; that a kind promises too little is only reported
// if there are several and all of them show it.
absl::Status CheckSplits(ricci_device* ref, const ricci_op& op, const ir::Factors& factors,
                         const std::vector<std::vector<Bytes>>& draws);

}}}  // namespace ricci::v0::laws
#endif
