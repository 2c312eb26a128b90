// The text of a program, written in another way with the same meaning.
#ifndef RICCI_TESTS_FUZZ_SHUFFLED_TEXT_H_
#define RICCI_TESTS_FUZZ_SHUFFLED_TEXT_H_
#include <string>

#include "fuzz/dice.h"

namespace ricci::testing {

// Puts the attributes of every equation in random order, also in nested programs. `text` comes from the printer.
std::string WithShuffledAttributes(const std::string& text, Dice& dice);

}  // namespace ricci::testing
#endif
