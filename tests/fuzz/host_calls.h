// HostCalls: the functions of the host that drawn programs call, and a record of the calls.
//
// `fuzz.mix`, for pure_callback, gives sums of its operands, element by element, so a batch of calls is a call with a
// batch. `fuzz.note`, for io_callback and debug_callback, does the same and records its operands, and what debug_print
// prints is recorded as the numbers in it. All use only operations that IEEE 754 rounds once: NumPy gives the same bits
// (jax_rows.py).
//
// An eighth of the programs call them. Calls with an effect are compared like results: how many, in which order, with
// which operands. A batch makes those of its elements (the loop law). Devices whose memory the host cannot see (`late`,
// `cuda`) make the same.
#ifndef RICCI_TESTS_FUZZ_HOST_CALLS_H_
#define RICCI_TESTS_FUZZ_HOST_CALLS_H_
#include <mutex>

#include "fuzz/array_data.h"

namespace ricci::testing {

// What a function was given.
struct HostCall {
  std::string what;  // everything but the numbers: the function, types, printed words
  std::vector<DType> dtypes;
  std::vector<Bytes> operands;
};
// The same functions in the same order, whatever the numbers.
bool SameFunctions(const std::vector<HostCall>& a, const std::vector<HostCall>& b);

class HostCalls {
 public:
  // Those of a context that has them.
  static HostCalls& Of(ricci_ctx* ctx);

  HostCalls() = default;
  HostCalls(const HostCalls&) = delete;
  // Its log hook records; for the creation of a context. Both borrow from this.
  ricci_hooks Hooks();
  void AddTo(ricci_ctx* ctx);
  // The calls since the last time, in their order.
  std::vector<HostCall> Take();

 private:
  static ricci_status* Mix(void* self, const ricci_callback_call* call);
  static ricci_status* Note(void* self, const ricci_callback_call* call);
  void Record(HostCall call);

  std::mutex mutex_;
  std::vector<HostCall> calls_;
};

// Whether the program, or one that it holds, calls functions of the host.
bool CallsHost(const ricci_program* p);

// How a drawn debug_print begins; other lines of the log are none.
inline constexpr std::string_view kPrintPrefix = "fuzz ";

}  // namespace ricci::testing
#endif
