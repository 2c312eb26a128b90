// Text of programs written in another way that means the same.
#ifndef RICCI_TESTS_FUZZ_SHUFFLED_TEXT_H_
#define RICCI_TESTS_FUZZ_SHUFFLED_TEXT_H_
#include <string>

#include "fuzz/dice.h"

namespace ricci::testing {

// The attributes of every equation in random order, those of nested programs too. `text` is what the printer gives.
std::string WithShuffledAttributes(const std::string& text, Dice& dice);

}  // namespace ricci::testing
#endif
