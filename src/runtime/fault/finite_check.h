// Finds the first equation of a program that makes a NaN or an infinity.
//
// Every equation is compiled and run as a program of its own, on any device, so that no pass stands between the numbers
// and the equation that is named. That costs what fusion and planning save, a compilation for each distinct equation,
// and the memory of all values that are still needed; nothing else in a program can be slower for it.
//
// An equation makes a NaN if none of its operands has one, and an infinity if all its operands are finite; what only
// passes one on (a mask of -inf that is selected) is not named. If the equation is written as others (call, checkpoint,
// custom derivatives) or runs programs that it holds (loops, branches, vmap; held_runs.h), those are looked at in turn:
// but only then, since what they make may be meant, such as exp(-x) = inf within a logistic function. In a loop the
// first trip that makes one is found by running the body as a whole, and only that trip is run equation by equation.
#ifndef RICCI_RUNTIME_FINITE_CHECK_H_
#define RICCI_RUNTIME_FINITE_CHECK_H_
#include "runtime/context/array.h"

namespace ricci { inline namespace v0 { namespace runtime {

// OUT_OF_RANGE, with the site of the equation, for the first one. Failures of compiling and running are passed on.
absl::Status CheckFinite(const ir::Program& f, Device* device, std::span<ricci_array* const> in);

}}}  // namespace ricci::v0::runtime
#endif
