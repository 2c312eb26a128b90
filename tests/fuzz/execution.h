// Execution: a program compiled for one device and run on inputs, with guard bytes around every array.
//
// Results are bound between guard bytes, and inputs must not change.
#ifndef RICCI_TESTS_FUZZ_EXECUTION_H_
#define RICCI_TESTS_FUZZ_EXECUTION_H_
#include <memory>
#include <optional>
#include <string>

#include "fuzz/dice.h"
#include "fuzz/host_calls.h"
#include "ricci/ricci.h"

namespace ricci::testing {

using Complaint = std::optional<std::string>;

struct RunResult {
  std::vector<Bytes> arrays;
  Complaint error;
  uint32_t code = 0;                 // of the error, if it came with a status
  std::vector<HostCall> calls = {};  // that have an effect
};

// Bit i % 8: argument i is donated.
using DonateMask = uint8_t;

// The optimization level that is drawn for a program.
uint32_t LevelOf(const ricci_program* p);

class Compiled {
 public:
  // A failure to compile is the result of every run. An optimization level of 0 is drawn from the program's hash.
  // `skip`: passes that are left out.
  Compiled(ricci_ctx* ctx, const ricci_program* p, std::string_view device, DonateMask donate = 0,
           uint32_t opt_level = 0, std::string_view skip = {});
  // Through bound pointers; inputs must stay as they were.
  RunResult Run(const std::vector<Bytes>& inputs) const;
  // The same, but results that may take the memory of a donated argument are bound to it.
  RunResult RunInPlace(const std::vector<Bytes>& inputs) const;
  // With arrays; the donated ones are consumed.
  RunResult RunOnArrays(const std::vector<Bytes>& inputs) const;
  // On a device with time of its own: a few runs are under way at once, some in one stream, and arguments are on any
  // device. All that are read, in any order, must give the same bits, and all make the same calls of the host; the last
  // one consumes the donated arguments. On a GPU some are not waited for before the context goes.
  RunResult RunUnderWay(const std::vector<Bytes>& inputs, Dice dice) const;
  // The number of results that may take the memory of an argument.
  size_t n_in_place() const;

 private:
  RunResult OnArrays(const std::vector<Bytes>& inputs) const;
  RunResult Bound(const std::vector<Bytes>& inputs, bool in_place) const;
  RunResult Call(ricci_call* call, const std::vector<Bytes>& inputs, bool in_place) const;
  int32_t ArgumentOf(size_t result) const;  // the argument whose memory it may take, or -1
  using Array = std::shared_ptr<ricci_array>;
  Array SomewhereElse(size_t param, const Bytes& bytes, Dice& dice) const;
  RunResult Enqueue(const std::vector<Array>& in, ricci_stream* stream, std::vector<Array>& out) const;
  RunResult Read(const std::vector<Array>& arrays, Dice& dice) const;
  std::vector<size_t> ReadRuns(size_t runs, Dice& dice) const;
  RunResult SeveralRuns(const std::vector<Bytes>& inputs, size_t runs, Dice& dice) const;

  ricci_ctx* ctx_;
  ricci_device* device_;
  std::shared_ptr<ricci_executable> executable_;
  std::vector<ricci_type> params_;
  std::vector<size_t> result_bytes_;
  RunResult failure_;
};

// All passes, then interpreted.
RunResult RunThroughPasses(ricci_ctx* ctx, const ricci_program* p, const std::vector<Bytes>& inputs);

}  // namespace ricci::testing
#endif
