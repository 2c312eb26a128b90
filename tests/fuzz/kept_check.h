// Executables kept in a folder: a host with a cache in it computes what the host before it computed, with the
// executable that one has kept, and with an executable of its own if it compiles in another way.
//
// One program in 25 has this check, and so has what a transform makes of it. A third host compiles in another way
// (level, schedule, code, donated arguments). It must compute what it computes with a folder of its own, and without
// the first one's executable.
#ifndef RICCI_TESTS_FUZZ_KEPT_CHECK_H_
#define RICCI_TESTS_FUZZ_KEPT_CHECK_H_
#include "fuzz/seed_trial.h"

namespace ricci::testing {

// How a host compiles.
struct KeptWay {
  std::string vmap;  // as in MakeContext, like small_code
  bool small_code = false;
  DonateMask donate = 0;
  Form form = Form::kOtherText;
  uint32_t opt_level = 0;  // 0: drawn from the program
};

// Of one program on `cpu`; another way is drawn from the seed.
Complaint CheckKept(const KeptWay& way, const Program& p, const std::vector<Bytes>& inputs, uint64_t seed);

}  // namespace ricci::testing
#endif
