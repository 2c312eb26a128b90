// merge_kernels: steps whose kernels are equal except for the name run one kernel; kernels get different names.
//
// Layers of a network, repeated stages of an integrator and the like lower to the same kernel again and again; code
// generation is by far the largest part of compile time, so each is generated once. Long loops of different locations
// stay apart: a run that the host ends says in which of them it was.
#include <cstring>

#include "base/hash.h"
#include "base/hash_map.h"
#include "kernel/long_loops.h"
#include "pass/plan/lower_plan.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

template <typename T>
std::string_view Bytes(const std::vector<T>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}
static_assert(sizeof(ricci_inst) == 24 && sizeof(ricci_kernel_buffer) == 16, "compared as bytes: no padding");

uint64_t HashOf(const kernel::Kernel& k) {
  return base::Hasher().Add(Bytes(k.insts)).Add(Bytes(k.buffers)).Add(Bytes(k.domain)).Add(k.updates).Done();
}

bool Same(const kernel::Kernel& a, const kernel::Kernel& b) {
  return Bytes(a.insts) == Bytes(b.insts) && Bytes(a.buffers) == Bytes(b.buffers) && a.domain == b.domain &&
         a.updates == b.updates && kernel::LocationsOfLongLoops(a) == kernel::LocationsOfLongLoops(b);
}

// The second kernel with a name becomes `name_2`, and so on, so that dumps and profiles distinguish them.
void TellApart(std::vector<kernel::Kernel>& kernels) {
  base::HashSet<std::string> taken;
  base::HashMap<std::string, uint32_t> count;
  for (const kernel::Kernel& k : kernels) taken.insert(k.name);
  for (kernel::Kernel& k : kernels) {
    const std::string name = k.name;
    for (uint32_t& n = count[name]; n++ > 0;) {
      k.name = base::Cat(name, "_", n);
      if (taken.insert(k.name).second) break;
    }
  }
}

}  // namespace

absl::Status MergeKernels(const Options&, Lowered& out) {
  std::vector<kernel::Kernel> kept;
  std::vector<uint32_t> renumbered;
  base::HashMap<uint64_t, std::vector<uint32_t>> by_hash;  // kept kernels
  for (kernel::Kernel& k : out.kernels) {
    std::vector<uint32_t>& equal = by_hash[HashOf(k)];
    uint32_t found = static_cast<uint32_t>(kept.size());
    for (uint32_t candidate : equal) {
      if (Same(kept[candidate], k)) found = candidate;
    }
    if (found == kept.size()) {
      equal.push_back(found);
      kept.push_back(std::move(k));
    }
    renumbered.push_back(found);
  }
  out.kernels = std::move(kept);
  TellApart(out.kernels);
  for (ricci_plan_step& step : out.plan.steps) {
    if (step.kind == RICCI_STEP_KERNEL) step.index = renumbered[step.index];
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
