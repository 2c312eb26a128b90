// LateCode, LateRun: code of a late device and one run of it: addresses become bytes when the run begins, and the
// interpreter runs the plan in an order drawn for each run from those that ricci_plan_edges allows.
#ifndef RICCI_TESTS_SUPPORT_LATE_RUNS_H_
#define RICCI_TESTS_SUPPORT_LATE_RUNS_H_
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "ricci/backend.h"
#include "support/late_memory.h"
#include "support/late_queues.h"

namespace ricci::testing {

class LateCode {
 public:
  // INTERNAL if the tables are malformed.
  static absl::StatusOr<std::shared_ptr<LateCode>> Create(const ricci_compile_args& a, uint64_t scratch_bytes);

  // The bytes to allocate for `arena`: the plan's, rounded up, and the scratch of this backend.
  uint64_t arena_bytes() const;
  const ricci_plan& plan() const { return *plan_; }
  const std::vector<uint64_t>& input_bytes() const { return input_bytes_; }
  const std::vector<uint64_t>& output_bytes() const { return output_bytes_; }
  const std::vector<uint64_t>& constant_bytes() const { return constant_bytes_; }
  // Whether output `i` may be the memory of input `from`.
  bool MayTake(uint32_t i, uint32_t from) const {
    return plan_->output_alias != nullptr && plan_->output_alias[i] == static_cast<int32_t>(from);
  }
  // Steps in a legal order; loops and choices stay in one piece.
  std::vector<ricci_plan_step> Shuffled(uint64_t seed) const;
  // `a`: the host's arguments. `seed` draws the order of the steps.
  absl::Status Run(const ricci_run_args& a, uint64_t seed) const;

  std::atomic<uint32_t> pending{0};  // runs that have not ended

 private:
  struct Block {  // an outermost step, with all steps inside it
    uint32_t begin, end, n_waits = 0;
    std::vector<uint32_t> waiting = {};  // blocks that wait for it
  };
  void FindBlocks();
  void FindBytes();

  const ricci_plan* plan_ = nullptr;
  std::vector<const ricci_kernel_table*> kernels_;
  uint64_t scratch_bytes_ = 0;
  std::vector<Block> blocks_;
  std::vector<uint64_t> input_bytes_, output_bytes_, constant_bytes_;
};

class LateRun {
 public:
  // Keeps copies of the arrays of `a`.
  LateRun(LateMemory& memory, std::shared_ptr<LateCode> code, const ricci_run_args& a, uint64_t seed);

  // Everything it will touch: inputs, outputs, constants, the arena, the word of failed checks.
  std::vector<LateAccess> Accesses() const;
  // Refuses addresses that are not live memory of the device, fills results and arena with poison, and then runs, or
  // fails with `failure`.
  absl::Status Run(absl::Status failure);
  uint32_t failed_check() const { return failed_check_; }

 private:
  using Bytes = LateMemory::Bytes;
  struct Found {  // the bytes for the addresses
    std::vector<Bytes> inputs, outputs, constants;
    Bytes arena, word;
  };
  absl::Status Find(Found& found) const;
  absl::Status CheckApart() const;
  void Poison(const Found& found) const;
  absl::Status RunOn(const Found& found);

  LateMemory& memory_;
  const std::shared_ptr<LateCode> code_;
  const uint64_t seed_;
  ricci_run_args args_;
  std::vector<void*> inputs_, outputs_;
  std::vector<const void*> constants_;
  std::vector<ricci_plan_library> libraries_;
  uint32_t failed_check_ = RICCI_NO_CHECK;
};

}  // namespace ricci::testing
#endif
