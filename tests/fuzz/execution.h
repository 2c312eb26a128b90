// Execution: a program compiled for one device and run on inputs, with guard bytes around every array.
#ifndef RICCI_TESTS_FUZZ_EXECUTION_H_
#define RICCI_TESTS_FUZZ_EXECUTION_H_
#include <memory>
#include <optional>
#include <string>

#include "fuzz/array_data.h"
#include "ricci/ricci.h"

namespace ricci::testing {

using Complaint = std::optional<std::string>;

struct RunResult {
  std::vector<Bytes> arrays;
  Complaint error;
  uint32_t code = 0;  // of the error, where a status told it
};

class Compiled {
 public:
  // A failure to compile is what every Run gives.
  Compiled(ricci_ctx* ctx, const ricci_program* p, std::string_view device);
  // Through bound pointers; inputs must stay as they were.
  RunResult Run(const std::vector<Bytes>& inputs) const;

 private:
  RunResult Call(ricci_call* call, const std::vector<Bytes>& inputs) const;

  std::shared_ptr<ricci_executable> executable_;
  std::vector<size_t> result_bytes_;
  RunResult failure_;
};

// All passes, then interpreted.
RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs);

}  // namespace ricci::testing
#endif
