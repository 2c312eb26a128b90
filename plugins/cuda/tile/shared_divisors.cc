#include "cuda/tile/shared_divisors.h"

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

// The only loop that stores, if it stores groups and may be computed again before that; else 0.
uint32_t StoringLoop(const ricci_kernel_table& k, const codegen::Blocks& blocks, const KeptRows& rows,
                     const Vector& vector) {
  uint32_t loop = 0;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const uint16_t op = k.insts[i].op;
    if (op == RICCI_K_CHECK || op == RICCI_K_COMBINE || op == RICCI_K_SET) return 0;
    if (op != RICCI_K_STORE) continue;
    const uint32_t parent = blocks.parent[i];
    const bool is_group = rows.loops[parent] != 0 && vector.loops[parent] != 0 && k.insts[parent].op == RICCI_K_FOR;
    if (!is_group || vector.together[i] == 0 || (loop != 0 && loop != parent)) return 0;
    loop = parent;
  }
  return loop;
}

}  // namespace

SharedDivisors RowDivisorsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const KeptRows& rows,
                             const Vector& vector) {
  if (!rows.IsUsed() || vector.size == 1 || vector.pairs) return {};
  SharedDivisors out{.loop = StoringLoop(k, blocks, rows, vector)};
  std::map<uint32_t, uint32_t> first;
  for (uint32_t i = out.loop + 1; out.loop != 0 && i < blocks.close[out.loop]; ++i) {
    const ricci_inst& q = k.insts[i];
    if (blocks.parent[i] != out.loop) return {};  // a branch
    if (!IsDivision(q) || blocks.parent[q.b] != 0 || !rows.IsComputed(i)) continue;
    out.of.resize(k.n_insts);
    out.first.resize(k.n_insts);
    out.of[i] = 1;
    out.first[first.emplace(q.b, i).first->second] = 1;
  }
  return out.of.empty() ? SharedDivisors{} : out;
}

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
