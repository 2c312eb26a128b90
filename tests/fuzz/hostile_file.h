// Hostile files: binary files of valid programs in which some bytes, numbers or pieces of sections are changed, with
// checksums that fit again, so that what reads them sees what is wrong.
#ifndef RICCI_TESTS_FUZZ_HOSTILE_FILE_H_
#define RICCI_TESTS_FUZZ_HOSTILE_FILE_H_
#include <string>

#include "fuzz/dice.h"

namespace ricci::testing {

// `bytes` are what ricci_program_save writes. One to three changes, most often in the section of programs.
std::string MutatedFile(Dice& dice, const std::string& bytes);

}  // namespace ricci::testing
#endif
