// Programs with rounding made visible: every operation that rounds has its result moved by a few units in the last
// place, zeros get one sign and NaNs one payload.
//
// A result next to a critical value (1 as tanh rounds to it, 0 and infinity as exp fades and overflows, a whole number
// before floor, an equal one in a comparison) is on either side of it, or equals it, depending on the rounding of the
// backend: some variants move all results up or down, including those that fade or overflow, and some round them to
// fewer bits, so that a result close to such a value becomes that value.
//
// The distance between a program and its noisy versions on `ref` shows the condition of each result, with all effects
// of the program itself: cancellation, thresholds crossed, 1/-0. That is the tolerance for other backends; a result
// that noise does not move must be equal bit for bit.
//
// Noise has many sizes: noise of one size cancels, as in `pow(exp(x), -1)`. An operation in which terms cancel (a sum,
// or digamma next to its zero) has its operands moved. So have sums of products, which may be one operation that rounds
// once.
#ifndef RICCI_TESTS_FUZZ_NOISE_H_
#define RICCI_TESTS_FUZZ_NOISE_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci::testing {

// Which operations count as rounding.
enum class Rounding : uint8_t {
  kFree,  // what a backend may round in its own way
  kJax,   // the same of JAX, which may take subnormal numbers for zeros, and knows some functions with fewer digits
  kAll    // conversions and reduced precision too, which are exact in one direction of a derivative only
};
inline constexpr uint32_t kNoiseVariants = 8;
// If noise leaves no digit (sin of 1e10 in f32, zero) or changes a result completely (a comparison), 8 are too few.
inline constexpr uint32_t kManyNoiseVariants = 64;
// Variants differ in the kind and the signs of the noise, and in the signs of zeros and NaNs.
absl::StatusOr<ir::ProgramRef> WithNoise(const ir::Program& f, uint32_t variant, Rounding rounding);

}  // namespace ricci::testing
#endif
