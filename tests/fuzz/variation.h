// Variations: a random transform of a program, or two nested ones.
#ifndef RICCI_TESTS_FUZZ_VARIATION_H_
#define RICCI_TESTS_FUZZ_VARIATION_H_
#include "fuzz/program_transforms.h"

namespace ricci::testing {

struct Variation {
  std::string name;  // `jvp vmap`
  Program program;   // null: none was drawn, or a rule is missing
  Complaint complaint;
};
Variation SomeVariation(ricci_ctx* ctx, Dice& dice, const Program& p);

// Axes for VmapOf: some parameters are not batched, and results have the batch at any axis.
BatchAxes SomeInAxes(Dice& dice, const std::vector<ArrayType>& params);
BatchAxes SomeOutAxes(Dice& dice, const std::vector<ArrayType>& results);
// Some of the floating parameters; empty if there are none.
Mask SomeFloating(Dice& dice, const std::vector<ArrayType>& params);

}  // namespace ricci::testing
#endif
