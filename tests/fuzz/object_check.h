// Programs compiled ahead of time, compared: what the functions of an object give is what `ref` gives, within the noise
// of the program, and on this processor what `cpu` gives, bit for bit. A program that cannot be an object is refused
// with a reason that is one of a few (object_check.cc), and leaves no file.
//
// The number that a function returns is that of the check that fails on `cpu`; in a batch, of one that fails.
#ifndef RICCI_TESTS_FUZZ_OBJECT_CHECK_H_
#define RICCI_TESTS_FUZZ_OBJECT_CHECK_H_
#include <functional>

#include "fuzz/object_batch.h"

namespace ricci::testing {

struct ObjectSubject {
  ricci_ctx* ctx;
  Program p;
  ObjectOptions options;
  std::function<std::vector<Bytes>(const Program&)> inputs;
};

struct ObjectCounts {
  int64_t programs = 0, functions = 0;
  int64_t exact = 0;                       // functions whose bits were compared with those of `cpu`
  int64_t failed_checks = 0;               // functions that returned the number of a check
  std::map<std::string, int64_t> refused;  // by reason
};

// The complaint about each program. `block` decides how the host is built.
std::vector<Complaint> CheckObjects(const ObjectTool& tool, uint64_t block, const std::vector<ObjectSubject>& subjects,
                                    CheckCounts& checks, ObjectCounts& counts);

}  // namespace ricci::testing
#endif
