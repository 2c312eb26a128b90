// Variations: a random transform of a program, or two nested ones.
#ifndef RICCI_TESTS_FUZZ_VARIATION_H_
#define RICCI_TESTS_FUZZ_VARIATION_H_
#include <string>

#include "fuzz/subject.h"

namespace ricci::testing {

struct Variation {
  std::string name;  // `jvp vmap`
  Program program;   // null: none was drawn, or a rule is missing
  Complaint complaint;
};
Variation SomeVariation(ricci_ctx* ctx, Dice& dice, const Program& p);

}  // namespace ricci::testing
#endif
