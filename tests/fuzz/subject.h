// Subject: one program with its inputs, and everything that must hold of it. The answer is the first thing that does
// not, as text, or nothing.
#ifndef RICCI_TESTS_FUZZ_SUBJECT_H_
#define RICCI_TESTS_FUZZ_SUBJECT_H_
#include <memory>
#include <optional>
#include <string>

#include "fuzz/array_data.h"
#include "ricci/ricci.h"

namespace ricci::testing {

using Program = std::shared_ptr<ricci_program>;
inline Program Own(ricci_program* p) { return {p, ricci_program_release}; }

std::vector<ArrayType> ParamsOf(ricci_ctx* ctx, const ricci_program* p);
std::vector<ArrayType> ResultsOf(ricci_ctx* ctx, const ricci_program* p);
std::string PrintProgram(const ricci_program* p);
// Inputs for the parameters of `p`: those of one seed.
std::vector<Bytes> DrawInputs(ricci_ctx* ctx, const ricci_program* p, uint64_t seed, bool special);

struct CheckOptions {
  std::vector<std::string> devices = {"cpu"};  // that are compared with `ref`
  bool passes = true;                          // all passes, interpreted, too
  int64_t comparisons = 0, skipped = 0;        // counted: elements compared, and of them those that noise decides
};

using Complaint = std::optional<std::string>;
// Print and parse, verify, and equality of `ref`, the passes and every device.
Complaint CheckProgram(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, CheckOptions& options);

// ---- parts ----
Complaint CheckText(ricci_ctx* ctx, const Program& p);
struct RunResult {
  std::vector<Bytes> arrays;
  Complaint error;
};
// Through bound pointers, with guard bytes around every result.
RunResult RunOn(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs, std::string_view device);
RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs);

}  // namespace ricci::testing
#endif
