// Programs with rounding made visible: every operation that rounds has its result moved by a few units in the last
// place, zeros get one sign and NaNs one payload.
//
// A result next to a value where something happens (1 as tanh rounds to it, 0 and infinity as exp fades and overflows,
// a whole number before floor, an equal one in a comparison) is on either side of it, or that value, as the backend
// rounds it: some variants move all results up or down, fading and overflow included, some round them to fewer bits, by
// which what is almost such a value becomes it.
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
inline constexpr uint32_t kNoiseVariants = 8;
// Of what noise leaves no digit (sin of 1e10 in f32, zero), or changes altogether (a comparison), a few are no measure.
inline constexpr uint32_t kManyNoiseVariants = 64;
// Variants differ in the way and the signs of the noise, and in the signs of zeros and of NaNs.
absl::StatusOr<ir::ProgramRef> WithNoise(const ir::Program& f, uint32_t variant, Rounding rounding);

}  // namespace ricci::testing
#endif
