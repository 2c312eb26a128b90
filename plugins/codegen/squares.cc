#include "codegen/squares.h"

#include <algorithm>

namespace ricci::codegen {
namespace {

constexpr double kSquareCode = 1024;  // operations of all rows of a square

// Whether there are only scalars, loads and stores, and no buffer is both read and written.
bool IsPlain(const ricci_kernel_table& k) {
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    const bool store = inst.op == RICCI_K_STORE;
    if (store && k.buffers[inst.imm].access != RICCI_ACCESS_WRITE) return false;
    if (!store && !IsScalar(inst.op) && inst.op != RICCI_K_CONST && inst.op != RICCI_K_DOMAIN &&
        inst.op != RICCI_K_LOAD) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<uint32_t> SquareLoads(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<uint32_t>& dims,
                                  unsigned lanes) {
  const uint32_t rank = k.domain_rank;
  if (rank < 2 || dims[rank - 1] == 0 || dims[rank - 2] == 0 || lanes < 2) return {};
  // A short row leaves some lanes over, which repeat loads.
  if (2 * k.domain[rank - 1] <= lanes || k.domain[rank - 2] < lanes || !IsPlain(k)) return {};
  if (CostOfPoint(k, blocks) * lanes > kSquareCode) return {};
  Strides along(k, dims[rank - 1], k.n_insts, nullptr), across(k, dims[rank - 2], k.n_insts, nullptr);
  std::vector<uint32_t> loads;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    if (inst.op != RICCI_K_LOAD || along.InOrder(inst.a) || !along.Of(inst.a)) continue;
    if (across.Of(inst.a) == 1) loads.push_back(i);
  }
  return loads;
}

}  // namespace ricci::codegen
