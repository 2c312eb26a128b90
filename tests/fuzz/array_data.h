// Elements of arrays as bytes: drawing them, reading them as numbers, writing them as literals.
#ifndef RICCI_TESTS_FUZZ_ARRAY_DATA_H_
#define RICCI_TESTS_FUZZ_ARRAY_DATA_H_
#include <string>
#include <vector>

#include "fuzz/dice.h"
#include "ricci/element.hpp"
#include "ricci/value.hpp"

namespace ricci::testing {

using Bytes = std::vector<std::byte>;

// `n` elements: floats mostly from [-2, 2], integers mostly small; with `special`, some arrays also hold NaN,
// infinities, -0, denormals and the extremes of integers.
Bytes DrawElements(Dice& dice, DType dtype, int64_t n, bool special);

// Floats of any width, exactly.
double ReadFloat(DType dtype, const std::byte* from);
// Any element as program text.
std::string ElementText(DType dtype, const std::byte* from);
std::string ArrayText(const ArrayType& type, const Bytes& bytes);

}  // namespace ricci::testing
#endif
