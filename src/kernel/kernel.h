// Kernel and Plan: the owning forms of the flat tables that backends get (include/ricci/kernel.h, backend.h).
//
// Only data. View() lends a C table that points into the object and is valid until the object changes, moves or dies.
// Kernels are written with kernel/writer.h, which folds and verifies them.
//
// A run reports the lowest number of a CHECK that failed, so the report does not depend on the order of threads or
// lanes; the messages stay in the core (pass/pipeline.h). Where several equations share an instruction its location is
// that of the first. Kernels that differ only in locations are one (pass/merge_kernels), with those of the first.
#ifndef RICCI_KERNEL_KERNEL_H_
#define RICCI_KERNEL_KERNEL_H_
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ricci/backend.h"
#include "types/array_type.h"

namespace ricci { inline namespace v0 { namespace kernel {

struct HostStop;  // stop_request.h

struct Kernel {
  std::string name;
  std::vector<ricci_inst> insts;             // instruction 0 is NOP
  std::vector<ricci_kernel_buffer> buffers;  // in the order of the arguments of a KERNEL step
  std::vector<int64_t> domain;               // extents; empty = one point
  std::vector<uint64_t> locations;           // by instruction, 0 where unknown; empty: of all
  int32_t updates = -1;                      // buffer that holds data before and keeps what is not written; -1: none

  ricci_kernel_table View() const;
};

// The tables of kernels in the form that backends take; they point into `kernels`.
class KernelViews {
 public:
  explicit KernelViews(std::span<const Kernel> kernels) {
    tables_.reserve(kernels.size());
    for (const Kernel& k : kernels) tables_.push_back(k.View());
    for (const ricci_kernel_table& t : tables_) views_.push_back(&t);
  }
  KernelViews(const KernelViews&) = delete;

  const ricci_kernel_table* const* data() const { return views_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(views_.size()); }

 private:
  std::vector<ricci_kernel_table> tables_;
  std::vector<const ricci_kernel_table*> views_;
};

struct Plan {
  std::vector<ricci_plan_buffer> buffers;
  std::vector<ricci_plan_step> steps;
  std::vector<uint32_t> args;
  std::vector<ricci_plan_library> libraries;  // their states are owned by their makers,
  std::vector<ricci_plan_source> sources;     // and so are their texts
  uint32_t n_inputs = 0, n_outputs = 0, n_constants = 0;
  uint64_t arena_bytes = 0;

  // Appends a step with these buffers as arguments.
  void Step(uint32_t kind, uint32_t index, std::initializer_list<uint32_t> buffers, uint64_t location = 0);
  void Step(uint32_t kind, uint32_t index, const std::vector<uint32_t>& buffers, uint64_t location = 0);
  ricci_plan View() const;
};

// RICCI_ACCESS_*: what step `s` does to its argument `arg`.
uint32_t StepAccess(const ricci_plan& p, const ricci_kernel_table* const* kernels, const ricci_plan_step& s,
                    uint32_t arg);

// Whether a step opens, divides or closes a loop or branch.
constexpr bool IsControl(uint32_t kind) { return kind >= RICCI_STEP_WHILE && kind <= RICCI_STEP_END; }

// ---- print_kernel.cc: stable text, for dumps and golden tests ----
std::string ToText(const ricci_kernel_table& k);
std::string ToText(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels);
inline std::string ToText(const Kernel& k) { return ToText(k.View()); }

// ---- verify_kernel.cc: INTERNAL, naming kernel and instruction (or step), if a table is malformed ----
absl::Status Verify(const ricci_kernel_table& k);
// The same without the instructions, of which a saved kernel has none.
absl::Status VerifyTable(const ricci_kernel_table& k);
absl::Status Verify(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels);
inline absl::Status Verify(const Kernel& k) { return Verify(k.View()); }

// ---- What must hold of a plan between its stages, beyond the form of its tables. INTERNAL, naming buffer and step.
// ----
struct PlanFacts {
  std::vector<types::ArrayType> inputs, outputs;  // of the program
  std::span<const uint8_t> donate;                // per input, or empty
  std::span<const int32_t> output_alias;          // per output the donated input whose memory it takes, or -1; or empty
  bool has_offsets = false;                       // buffers of the arena have offsets
};
// verify_plan.cc: the form of the tables, then all below. Log-linear in the plan and its kernels.
absl::Status VerifyPlan(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts);
// verify_values.cc: buffers have the sizes of the program's types, and every read finds elements of its dtype that were
// written before on each path, also through loops without a trip and every branch of a CASE.
absl::Status VerifyValues(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts);
// verify_memory.cc: buffers that are live at once do not overlap, unless a kernel writes where it has just read.
absl::Status VerifyMemory(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts);

// ---- plan_edges.cc: which steps must wait for which, as ricci_plan_edges says. Tables must have been verified.
// Log-linear in the arguments of all steps. ----
struct PlanEdge {
  uint32_t earlier, later;
  bool operator==(const PlanEdge&) const = default;
};
std::vector<PlanEdge> PlanEdges(const ricci_plan& p, const ricci_kernel_table* const* kernels);

// ---- in_place_access.cc: may a kernel write over what it reads? ----
struct IndexSet {                     // a few index values; `many`: more than are kept
  static constexpr size_t kMost = 2;  // the parts of a complex number
  uint32_t at[kMost] = {};
  uint8_t n = 0;
  bool many = false;

  bool Has(uint32_t index) const { return (n > 0 && at[0] == index) || (n > 1 && at[1] == index); }
  bool Within(const IndexSet& other) const;
  void Add(uint32_t index);
};
struct BufferUse {  // how a kernel uses one of its buffers
  IndexSet loads, stores;
  uint32_t last_load = 0, first_store = ~0u;
  bool again = false;  // a store in a loop that does not change the index is followed by its other trips
};
// Per buffer, in one walk.
std::vector<BufferUse> BufferUses(const Kernel& k);
// Does each point load only those elements of `from`, and of `to`, that it stores to `to`, and nothing that may have
// been written over?
bool WritesWhereItReads(const BufferUse& from, const BufferUse& to);
// May result `r` use the memory of operand `a`? `uses`: of all buffers of `k`.
bool MayOverwrite(const Kernel& k, std::span<const BufferUse> uses, uint32_t a, uint32_t r);

// ---- count_flops.cc: floating operations of one run ----
uint64_t CountFlops(const ricci_kernel_table& k);
uint64_t CountFlops(const Plan& plan, std::span<const Kernel> kernels);

// ---- interpret.cc: the oracle. Floats are computed in double and rounded once to their dtype; sums and products of
// REDUCE are kept in double to the end. Every access is checked: INTERNAL, never undefined behaviour. ----
// `*failed_check` is lowered to the number of each CHECK that does not hold; NULL: such a check is FAILED_PRECONDITION.
// `buffers[i]` has buffers[i].elements elements. Thread-safe for distinct memory.
absl::Status Interpret(const ricci_kernel_table& k, void* const* buffers, uint32_t* failed_check = nullptr);
// `arena` has arena_bytes; it may be NULL if that is 0.
absl::Status Interpret(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                       void* const* inputs, void* const* outputs, void* arena, uint32_t* failed_check = nullptr);
// With all arguments of a run; constants and library calls are those of `a`. Fills `ended` unless it is NULL.
absl::Status Interpret(const ricci_plan& p, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                       const ricci_run_args& a, HostStop* ended = nullptr);

}}}  // namespace ricci::v0::kernel
#endif
