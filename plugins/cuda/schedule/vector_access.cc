#include "cuda/schedule/vector_access.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

class Maker {
 public:
  Maker(const ricci_kernel_table& k, const std::vector<uint8_t>& given, const Neighbours& neighbours, int64_t size,
        VectorAccess& out)
      : k_(k), given_(given), neighbours_(neighbours), access_(out) {
    access_ = {};
    access_.size = size;
    for (auto* marks : {&access_.early, &access_.each, &access_.together}) marks->resize(k.n_insts);
  }

  bool Make(std::span<const uint32_t> roots) {
    for (const uint32_t root : roots) {
      if (k_.insts[root].op == RICCI_K_STORE ? !TakeStore(root) : !TakeEach(root)) return false;
    }
    std::sort(access_.loads.begin(), access_.loads.end());
    return access_.bytes <= kMostVectorBytes;
  }

 private:
  static bool IsPlain(uint16_t op) {
    return codegen::IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN || op == RICCI_K_REDUCE;
  }
  bool IsAlone() const { return access_.size == 1; }

  bool TakeAccess(uint32_t i, uint32_t dtype) {
    const uint32_t index = k_.insts[i].a;
    const bool is_load = k_.insts[i].op == RICCI_K_LOAD;
    if (!IsAlone() && !(is_load && neighbours_.IsSame(index))) {
      if (!neighbours_.IsInOrder(index)) return false;
      access_.together[i] = 1;
      access_.bytes = std::max(access_.bytes, access_.size * int64_t{codegen::SizeOfDType(dtype)});
    }
    return TakeEarly(index);
  }
  bool TakeStore(uint32_t i) {
    access_.each[i] = 1;
    return TakeAccess(i, k_.insts[k_.insts[i].b].dtype) && TakeEach(k_.insts[i].b);
  }

  // Indices of loops and coordinates are there for each element.
  bool TakeEach(uint32_t v) {
    if (given_[v] != 0 || access_.each[v] != 0) return true;
    access_.each[v] = 1;
    if (k_.insts[v].op != RICCI_K_LOAD) return TakeOperands(v, &Maker::TakeEach);
    access_.loads.push_back(v);
    access_.early[v] = 1;
    return TakeAccess(v, k_.insts[v].dtype);
  }
  bool TakeEarly(uint32_t v) {
    if (given_[v] != 0) return false;
    if (access_.early[v] != 0) return k_.insts[v].op != RICCI_K_LOAD || IsAlone() || neighbours_.IsSame(v);
    access_.early[v] = 1;
    if (k_.insts[v].op == RICCI_K_LOAD) return TakeEarly(k_.insts[v].a);
    return TakeOperands(v, &Maker::TakeEarly);
  }
  bool TakeOperands(uint32_t v, bool (Maker::*take)(uint32_t)) {
    const ricci_inst& q = k_.insts[v];
    if (!IsPlain(q.op)) return false;
    if (!codegen::IsScalar(q.op)) return true;
    for (const uint32_t operand : {q.a, q.b, q.c}) {
      if (operand != 0 && !(this->*take)(operand)) return false;
    }
    return true;
  }

  const ricci_kernel_table& k_;
  const std::vector<uint8_t>& given_;
  const Neighbours& neighbours_;
  VectorAccess& access_;
};

}  // namespace

bool MakeVectorAccess(const ricci_kernel_table& k, std::span<const uint32_t> roots, const std::vector<uint8_t>& given,
                      const Neighbours& neighbours, int64_t size, VectorAccess& out) {
  return Maker(k, given, neighbours, size, out).Make(roots);
}

}  // namespace ricci::cuda
