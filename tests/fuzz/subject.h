// Subject: one program with its inputs, and the checks that every program must pass: its text reads back as the same
// program, it verifies, and the passes and every device agree with `ref`. The result is the first check that fails, as
// text, or nothing.
//
// The text is also read with attributes in another order. Two fifths of the programs continue as read from text, and as
// many as loaded from a file that was saved. What a transform makes of these is saved and loaded too. A fifth of them
// donate arguments: these run on separate memory, in the memory of the arguments, and on arrays. A program with a
// `check` that does not hold may fail, but only where `ref` does.
#ifndef RICCI_TESTS_FUZZ_SUBJECT_H_
#define RICCI_TESTS_FUZZ_SUBJECT_H_
#include "fuzz/execution.h"

namespace ricci::testing {

using Program = std::shared_ptr<ricci_program>;
inline Program Own(ricci_program* p) { return {p, ricci_program_release}; }

std::vector<ArrayType> ParamsOf(ricci_ctx* ctx, const ricci_program* p);
std::vector<ArrayType> ResultsOf(ricci_ctx* ctx, const ricci_program* p);
std::string PrintProgram(const ricci_program* p);
// What a file of the program holds: its text or its binary form.
std::string FileOf(const Program& p, bool binary);
// Inputs for the parameters of `p`, drawn from a seed.
std::vector<Bytes> DrawInputs(ricci_ctx* ctx, const ricci_program* p, uint64_t seed, bool special);

struct CheckCounts {
  int64_t compared = 0, undecided = 0;  // elements, and those of them that noise determines
  int64_t late = 0;                     // programs run on devices with time of their own
  int64_t calls = 0;                    // programs that call the host
  int64_t calls_elsewhere = 0;          // the same on devices whose memory it cannot see
  int64_t donated = 0, in_place = 0;    // programs with donated arguments, and those in which results took their memory
};

Complaint CheckText(ricci_ctx* ctx, const Program& p);
// The binary form reads back as the same program, which has the same bytes.
Complaint CheckBinary(ricci_ctx* ctx, const Program& p);
// The program read from text whose attributes are in another order; throws the Error of the parser.
Program Reread(ricci_ctx* ctx, const Program& p, uint64_t seed);
// The program saved in a file and loaded again; throws the Error of saving or loading. Its constants share their bytes
// where these are equal, as those of no other program do.
Program Reloaded(ricci_ctx* ctx, const Program& p);
// A run that fails because a drawn `check` does not hold: nothing can be compared.
bool IsBrokenPromise(const RunResult& r);
// A run of a program that is refused for its calls of the host, which not every place of a program allows: an ordered
// one within a batch, one next to a check in a branch of a batch.
bool IsRefusedCall(const Program& p, const RunResult& r);
// CheckText, CheckBinary, and equality of `ref`, the passes and these devices. With donated arguments the devices run
// in three ways: on separate memory, in the memory of the arguments, and on arrays. If a run fails on `ref`, because a
// promise is broken or, with `may_end`, with any code of the program's own (a `check` with another code, a loop beyond
// its bound), it fails with that code everywhere, unless the failing equation is dropped as unused.
Complaint CheckProgram(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs,
                       const std::vector<std::string>& devices, DonateMask donate, CheckCounts& counts,
                       bool may_end = false);

}  // namespace ricci::testing
#endif
