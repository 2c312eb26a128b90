// May a kernel write a result over an operand?
//
// It may if a point reads only elements that it writes itself, and reads them before: an element of a result is written
// by one point. Value numbering has made equal indices one value, so it is enough to compare values. A store in a loop
// that does not change the index is followed by the other trips of that loop.
#include <algorithm>

#include "kernel/block_ops.h"
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {

bool IndexSet::Within(const IndexSet& other) const {
  if (many || other.many) return false;
  return std::all_of(at, at + n, [&](uint32_t index) { return other.Has(index); });
}
void IndexSet::Add(uint32_t index) {
  if (Has(index)) return;
  many |= n == kMost;
  if (!many) at[n++] = index;
}

// One walk for all buffers: a kernel may have a thousand operands and as many results.
std::vector<BufferUse> BufferUses(const Kernel& k) {
  std::vector<BufferUse> out(k.buffers.size());
  std::vector<uint32_t> open;  // loops and branches, by the instructions that begin them
  for (uint32_t i = 0; i < k.insts.size(); ++i) {
    const ricci_inst& inst = k.insts[i];
    if (OpensBlock(inst.op)) open.push_back(i);
    if (ClosesBlock(inst.op)) open.pop_back();
    if (inst.op != RICCI_K_LOAD && inst.op != RICCI_K_STORE && inst.op != RICCI_K_COMBINE) continue;
    BufferUse& a = out[RICCI_BUFFER_OF(inst.imm)];
    if (inst.op == RICCI_K_COMBINE) {
      a.loads.many = a.stores.many = true;
      continue;
    }
    if (inst.op == RICCI_K_LOAD) {
      a.loads.Add(inst.a);
      a.last_load = i;
    } else {
      a.stores.Add(inst.a);
      a.first_store = std::min(a.first_store, i);
      a.again |= !open.empty() && open.back() > inst.a;
    }
  }
  return out;
}

bool WritesWhereItReads(const BufferUse& from, const BufferUse& to) {
  if (to.stores.n == 0 || !from.stores.Within(to.stores)) return false;
  if (!from.loads.Within(to.stores) || !to.loads.Within(to.stores)) return false;
  return from.last_load < to.first_store && !to.again;
}

bool MayOverwrite(const Kernel& k, std::span<const BufferUse> uses, uint32_t a, uint32_t r) {
  return k.buffers[a].access == RICCI_ACCESS_READ && k.buffers[a].elements == k.buffers[r].elements &&
         WritesWhereItReads(uses[a], uses[r]);
}

}}}  // namespace ricci::v0::kernel
