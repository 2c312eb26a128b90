// PlanWriter: appends steps to a plan, with the buffers and kernels that they need.
//
// It knows types, buffers and kernels but no program; PlanLowering knows what the steps are for (plan_lowering.h). Each
// value has a buffer of its own here, and those in the arena have no offset yet.
#ifndef RICCI_PASS_PLAN_WRITER_H_
#define RICCI_PASS_PLAN_WRITER_H_
#include <vector>

#include "base/hash_map.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/plan/lowered.h"
#include "pass/target/pass_options.h"

namespace ricci { inline namespace v0 { namespace pass {

// Where a value is: a buffer, or a slice of it.
struct BufferRef {
  static constexpr uint32_t kNone = ~0u;
  uint32_t buffer = kNone;
  KernelBuilder::Slot slot;

  bool known() const { return buffer != kNone; }
  bool whole() const { return slot.length < 0; }
  bool operator==(const BufferRef& o) const {
    return buffer == o.buffer && slot.loop == o.slot.loop && whole() == o.whole();
  }
};
using BufferRefs = std::vector<BufferRef>;

class PlanWriter {
 public:
  PlanWriter(prim::Registry& registry, const Target& target, Lowered& out)
      : registry_(registry), types_(registry.vocabulary().types), target_(target), plan_(out.plan), out_(out) {}

  // ---- buffers ----
  uint32_t AddBuffer(uint32_t kind, uint32_t index, uint64_t bytes, const void* data = nullptr);
  BufferRef InArena(ir::TypeId t) { return {AddBuffer(RICCI_BUFFER_ARENA, 0, types_.Get(t).bytes), {}}; }
  absl::StatusOr<BufferRef> ScalarInArena(uint32_t dtype);
  // One buffer for the data of constants of one dtype, however often it is used; a complex number is two elements.
  uint32_t AddConstant(const std::shared_ptr<const ir::ConstantData>& data, uint32_t dtype);

  // ---- steps ----
  void Step(uint32_t kind, uint32_t index, const std::vector<uint32_t>& buffers, uint64_t location) {
    plan_.Step(kind, index, buffers, location);
  }
  // Room for one more call, so that AddLibrary can always take over its state.
  void ReserveLibrary();
  // The plan owns `call.state` from here on. Returns the number of the call.
  uint32_t AddLibrary(std::string_view name, const ricci_plan_library& call, LibrarySite site);
  // Returns the number of an equal one if there is one.
  uint32_t AddSource(std::unique_ptr<SourceText> source);
  absl::Status Copy(ir::TypeId t, const BufferRef& from, const BufferRef& to);
  // Adds a kernel whose bindings name these operands and results.
  absl::Status Kernel(KernelBuilder::Result lowered, const BufferRefs& operands, const BufferRefs& results,
                      uint64_t location);
  // Sets all elements of a buffer to `element`.
  absl::Status Fill(std::string_view name, uint32_t buffer, uint32_t dtype, int64_t elements, const std::byte* element);

  // ---- counters of loops: an i64 in memory ----
  absl::Status StartCounter(std::string_view name, uint32_t counter);
  // predicate = counter < length
  absl::Status CompareCounter(uint32_t counter, uint32_t predicate, int64_t length);
  absl::Status CountUp(uint32_t counter);
  // predicate = predicate and trips < most, ++trips; if the predicate holds at the bound, the run fails with
  // `otherwise`.
  absl::Status BoundTrips(uint32_t trips, uint32_t predicate, int64_t most, absl::Status otherwise, uint64_t location);

 private:
  uint32_t BufferOf(const KernelBuilder::Binding& binding, uint32_t dtype, const BufferRefs& operands,
                    const BufferRefs& results);
  void KernelStep(kernel::Kernel k, const std::vector<uint32_t>& buffers, uint64_t location);

  prim::Registry& registry_;
  types::TypeTable& types_;
  const Target& target_;
  kernel::Plan& plan_;
  Lowered& out_;
  base::HashMap<std::pair<const ir::ConstantData*, uint32_t>, uint32_t> constant_buffer_;
  base::HashMap<std::string, uint32_t> source_number_;
};

}}}  // namespace ricci::v0::pass
#endif
