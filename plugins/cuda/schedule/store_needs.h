// Which instructions compute the addresses of stores, and which the values.
#ifndef RICCI_CUDA_STORE_NEEDS_H_
#define RICCI_CUDA_STORE_NEEDS_H_
#include <cstdint>
#include <vector>

#include "cuda/schedule/kept_rows.h"

namespace ricci::cuda {

enum class Need : uint8_t { kAddresses, kValues };
// By instruction of the loop, itself too: whether the stores in it need it, from operand to operand up to values that
// are kept.
inline std::vector<uint8_t> NeededByStores(const ricci_kernel_table& k, const codegen::Blocks& blocks,
                                           const KeptRows& rows, uint32_t loop, Need need) {
  std::vector<uint8_t> needed(k.n_insts);
  for (uint32_t i = blocks.close[loop]; --i > loop;) {
    const ricci_inst& q = k.insts[i];
    if (q.op == RICCI_K_STORE) {
      needed[need == Need::kAddresses ? q.a : q.b] = 1;
    } else if (needed[i] != 0 && rows.IsComputed(i)) {
      for (const uint32_t operand : {q.a, q.b, q.c}) needed[operand] = 1;
    }
  }
  return needed;
}

}  // namespace ricci::cuda
#endif
