// ObjectJob: a program as `ricci compile -o` gets it, drawn from a seed: its name, derivatives and batch, the processor
// and other options; and the same functions, made here, which say what those of the object must give.
//
// Drawn too: `--wrt`, level, whose workspace, object or library, checks that fail, and names that are words of C or
// collide. A seventh of the programs have large matrices, for the blocks that only objects have.
#ifndef RICCI_TESTS_FUZZ_OBJECT_JOB_H_
#define RICCI_TESTS_FUZZ_OBJECT_JOB_H_
#include "fuzz/subject.h"

namespace ricci::testing {

struct ObjectOptions {
  std::string name;  // of the program; some are words of C
  bool usual_name = true;
  std::vector<std::string> derivatives;  // of grad, jvp, hvp
  uint64_t wrt = 0;                      // bit i % 64: by parameter i, if it is floating; none: by all that are
  int64_t batch = 0;                     // 0: none
  std::string processor;                 // of this machine; empty: the default
  std::string vmap;                      // auto, batched or lanes
  uint32_t opt_level = 0;
  std::vector<double> checks;  // the sum of the first floating parameter must be less than each
  bool own_workspace = false, library = false;
  bool binary = false;   // the tool reads the program in binary form
  bool complex = false;  // arguments and results of 32 and 64 bits become complex
};

ObjectOptions SomeObjectOptions(uint64_t seed, std::string_view vmap);

struct ObjectFunction {
  std::string name;
  Program program;
};
// What `--derivatives` and `--vmap` make of a program; throws the Error of the transform that refuses.
std::vector<ObjectFunction> ObjectFunctions(ricci_ctx* ctx, const Program& p, const ObjectOptions& options);
// The program as it is written for the tool: with the name of the options, its checks and, for gradients, a
// scalar as first result.
Program AsWritten(ricci_ctx* ctx, const Program& p, const ObjectOptions& options);
// Words of the command line but for files and the processor.
std::string OptionWords(ricci_ctx* ctx, const Program& written, const ObjectOptions& options);

}  // namespace ricci::testing
#endif
