// QuickKernel: a kernel decoded for the interpreter: jumps resolved, functions looked up, constants in their registers.
//
// Registers hold bits of elements, one per instruction; private arrays have 64 bits per element. Sums and products of
// floats in a REDUCE stay in double until the end. About 100 million instructions per second.
#ifndef RICCI_KERNEL_QUICK_KERNEL_H_
#define RICCI_KERNEL_QUICK_KERNEL_H_
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernel/kernel.h"
#include "kernel/long_loops.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/stop_request.h"

namespace ricci { inline namespace v0 { namespace kernel {

enum class QuickOp : uint8_t {
  kScalar,
  kAddI64,
  kMulI64,
  kAddF32,
  kMulF32,
  kDomain,
  kLoad1,
  kLoad2,
  kLoad4,
  kLoad8,
  kStore1,
  kStore2,
  kStore4,
  kStore8,
  kGet,
  kSet,
  kFor,   // a, b: bounds; jump: after the loop
  kNext,  // a: the FOR, b: its upper bound; jump: the body
  kJump,
  kAgain,   // a: the WHILE, whose trip ends; jump: its condition
  kUnless,  // a: condition; jump if it does not hold
  kReduce,  // as kFor; c: register of the accumulator; imm: what it starts with
  kReduceWide,
  kYield,      // a: the REDUCE, b: value; c: the upper bound; jump: the body
  kYieldWide,  // the accumulator is a double
  kCopy,       // a: register
  kAssume,
  kCheck  // a: condition, imm: number of the check
};

struct QuickInst {
  QuickOp op;
  uint8_t dtype;
  uint32_t number;  // of the instruction, and the register of its value
  uint32_t a, b, c;
  uint32_t jump;
  int64_t imm;
  ScalarFn fn;
};

class QuickKernel {
 public:
  // Verifies and decodes; keeps no pointer into `k`.
  static absl::StatusOr<QuickKernel> Decode(const ricci_kernel_table& k);
  // Fills `ended` if the host ends the run.
  absl::Status Run(void* const* buffers, uint32_t* failed_check, const StopRequest& stop, HostStop& ended) const;

 private:
  friend class QuickDecoder;
  friend class QuickMachine;

  std::string name_;
  std::vector<QuickInst> code_;
  std::vector<uint64_t> registers_;  // with the constants
  std::vector<int64_t> elements_;    // of the buffers
  std::vector<int64_t> domain_;
  std::vector<LongLoop> loops_;      // the register of each has the number of its trip
  std::vector<size_t> local_begin_;  // of a LOCAL's instruction number, in the private memory
  std::vector<int64_t> local_size_;
  size_t private_elements_ = 0;
};

}}}  // namespace ricci::v0::kernel
#endif
