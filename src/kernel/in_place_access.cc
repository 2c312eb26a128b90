// May a kernel write a result over an operand?
//
// It may if it reads an element only at the index at which it writes it, and before: value numbering has made equal
// indices one value, so it is enough that all are the same. A store in a loop that does not change the index is
// followed by the other trips of that loop.
#include <algorithm>

#include "kernel/block_ops.h"
#include "kernel/kernel.h"

namespace ricci::inline v0::kernel {

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
      a.index = BufferUse::kSeveral;
      continue;
    }
    a.index = a.index == 0 || a.index == inst.a ? inst.a : BufferUse::kSeveral;
    if (inst.op == RICCI_K_LOAD) {
      a.last_load = i;
    } else {
      a.first_store = std::min(a.first_store, i);
      a.again |= !open.empty() && open.back() > inst.a;
    }
  }
  return out;
}

bool WritesWhereItReads(const BufferUse& from, const BufferUse& to) {
  const uint32_t index = from.index != 0 ? from.index : to.index;
  if (index == 0 || index == BufferUse::kSeveral || (to.index != 0 && to.index != index)) return false;
  return from.last_load < to.first_store && !to.again;
}

bool MayOverwrite(const Kernel& k, std::span<const BufferUse> uses, uint32_t a, uint32_t r) {
  return k.buffers[a].access == RICCI_ACCESS_READ && k.buffers[a].elements == k.buffers[r].elements &&
         WritesWhereItReads(uses[a], uses[r]);
}

}  // namespace ricci::inline v0::kernel
