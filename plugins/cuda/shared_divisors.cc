#include "shared_divisors.h"

#include <map>

namespace ricci::cuda {
namespace {

bool IsDivision(const ricci_inst& q) { return q.op == RICCI_S_DIV && q.dtype == RICCI_F32; }

// It may be computed again as long as it has stored nothing.
bool MayRepeat(const ricci_kernel_table& k, const codegen::Blocks& blocks) {
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& q = k.insts[i];
    if (blocks.parent[i] != 0) return false;
    const bool is_plain = codegen::IsScalar(q.op) || q.op == RICCI_K_CONST || q.op == RICCI_K_DOMAIN ||
                          q.op == RICCI_K_ASSUME_LESS || q.op == RICCI_K_NOP;
    const uint32_t access = q.op == RICCI_K_LOAD    ? uint32_t{RICCI_ACCESS_READ}
                            : q.op == RICCI_K_STORE ? uint32_t{RICCI_ACCESS_WRITE}
                                                    : uint32_t{RICCI_ACCESS_READ_WRITE};
    if (!is_plain && (access == RICCI_ACCESS_READ_WRITE || k.buffers[RICCI_BUFFER_OF(q.imm)].access != access)) {
      return false;
    }
  }
  return true;
}

}  // namespace

SharedDivisors SharedDivisorsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks) {
  std::map<uint32_t, std::vector<uint32_t>> by_divisor;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    if (IsDivision(k.insts[i])) by_divisor[k.insts[i].b].push_back(i);
  }
  SharedDivisors out;
  for (const auto& [divisor, divisions] : by_divisor) {
    if (divisions.size() < 2) continue;
    out.of.resize(k.n_insts);
    out.first.resize(k.n_insts);
    out.first[divisions[0]] = 1;
    for (const uint32_t i : divisions) out.of[i] = 1;
  }
  return MayRepeat(k, blocks) ? out : SharedDivisors{};
}

}  // namespace ricci::cuda
