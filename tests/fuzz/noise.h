// Programs with rounding made visible: every operation that rounds has its result moved by a few units in the last
// place, zeros get one sign and NaNs one payload.
//
// How far apart a program and its noisy versions are on `ref` tells the condition of each result, with all effects of
// the program itself: cancellation, thresholds crossed, 1/-0. That is the tolerance for other backends; a result that
// noise does not move must be equal to the bit.
#ifndef RICCI_TESTS_FUZZ_NOISE_H_
#define RICCI_TESTS_FUZZ_NOISE_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci::testing {

// What is taken to round.
enum class Rounding : uint8_t {
  kFree,  // what a backend may round in its own way
  kAll    // conversions and reduced precision too, which are exact in one direction of a derivative only
};
// Variants differ in the signs of the noise, of zeros and of NaNs.
absl::StatusOr<ir::ProgramRef> WithNoise(const ir::Program& f, uint32_t variant, Rounding rounding);

}  // namespace ricci::testing
#endif
