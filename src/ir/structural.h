// Structural hash and equality of programs: what they compute, not how it is named.
//
// Names of programs, numbers of values, source locations, unused constants and sharing of nested programs do not count;
// constants count by type and bytes, nested programs by structure. The hash is stable over runs and machines.
#ifndef RICCI_IR_STRUCTURAL_H_
#define RICCI_IR_STRUCTURAL_H_
#include <cstdint>

#include "ir/program.h"

namespace ricci::inline v0::ir {

// Linear in the size of `p` and all programs in it.
uint64_t Hash(const Program& p);
// Programs of one context or of two.
bool Equal(const Program& a, const Program& b);
// Equal, and every equation has the same source location. Programs of one context.
bool EqualWithLocations(const Program& a, const Program& b);

}  // namespace ricci::inline v0::ir
#endif
