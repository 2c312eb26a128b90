#include "codegen/updates.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace ricci::codegen {
namespace {

constexpr int64_t kLargeFactor = int64_t{1} << 31, kNoAddress = int64_t{1} << 62;

// An address as a sum of coordinates, each times its stride, and of a rest within an interval.
struct Sum {
  std::vector<int64_t> strides;  // of the dimensions of the domain
  int64_t lo = 0, hi = 0;
};
// Clamped to bounds that no address reaches.
int64_t Held(ricci_exact v) { return ricci_exact_clamp(v, -kNoAddress, kNoAddress); }
int64_t AddTimes(int64_t a, int64_t b, int64_t factor) { return Held(ricci_exact_of(b) * factor + a); }

class Addresses {
 public:
  Addresses(const ricci_kernel_table& k, const Facts& facts, const std::vector<uint32_t>& dims)
      : k_(k), facts_(facts), dims_(dims) {}

  // The number of leading dimensions whose stride exceeds all that the dimensions after them and the rest can add.
  uint32_t Apart(uint32_t address) const {
    Sum sum{std::vector<int64_t>(dims_.size())};
    if (!Add(address, 1, sum)) return 0;
    std::vector<int64_t> width(dims_.size() + 1, AddTimes(sum.hi, sum.lo, -1));
    for (size_t d = dims_.size(); d-- > 0;) {
      width[d] = AddTimes(width[d + 1], std::abs(sum.strides[d]), k_.domain[d] - 1);
    }
    uint32_t apart = 0;
    while (apart < dims_.size() && std::abs(sum.strides[apart]) > width[apart + 1]) ++apart;
    return apart;
  }

 private:
  // `factor` times v.
  bool Add(uint32_t v, int64_t factor, Sum& sum) const {
    const ricci_inst& inst = k_.insts[v];
    if (inst.op == RICCI_K_DOMAIN) {
      int64_t& stride = sum.strides[static_cast<size_t>(inst.imm)];
      stride = AddTimes(stride, factor, 1);
      return true;
    }
    if (inst.op == RICCI_S_ADD) return Add(inst.a, factor, sum) && Add(inst.b, factor, sum);
    if (inst.op == RICCI_S_SUB) return Add(inst.a, factor, sum) && Add(inst.b, -factor, sum);
    const auto times = inst.op == RICCI_S_MUL ? ConstantOf(k_, inst.b) : std::nullopt;
    if (times && std::abs(factor) < kLargeFactor && *times > -kLargeFactor && *times < kLargeFactor) {
      return Add(inst.a, factor * *times, sum);
    }
    const auto range = facts_.RangeOf(v);
    if (!range) return false;
    sum.lo = AddTimes(sum.lo, factor < 0 ? range->hi - 1 : range->lo, factor);
    sum.hi = AddTimes(sum.hi, factor < 0 ? range->lo : range->hi - 1, factor);
    return true;
  }

  const ricci_kernel_table& k_;
  const Facts& facts_;
  const std::vector<uint32_t>& dims_;
};

// A number that divides value v in the first trip of `loop`; 0: v is 0.
int64_t FactorOf(const ricci_kernel_table& k, uint32_t v, uint32_t loop) {
  const ricci_inst& inst = k.insts[v];
  if (v == loop) return ConstantOf(k, inst.a) == 0 ? 0 : 1;
  if (const auto c = ConstantOf(k, v)) return inst.dtype == RICCI_I64 && *c > -kLargeFactor ? std::abs(*c) : 1;
  if (inst.op == RICCI_S_ADD || inst.op == RICCI_S_SUB) {
    return std::gcd(FactorOf(k, inst.a, loop), FactorOf(k, inst.b, loop));
  }
  if (inst.op != RICCI_S_MUL) return 1;
  const int64_t a = FactorOf(k, inst.a, loop), b = FactorOf(k, inst.b, loop);
  return a < kLargeFactor && b < kLargeFactor ? a * b : std::max(a, b);
}

// The innermost FOR around `update`, if no two of its trips ever update one element.
uint32_t ApartLoop(const ricci_kernel_table& k, const Blocks& blocks, uint32_t update) {
  const uint32_t loop = blocks.parent[update], address = k.insts[update].a;
  if (loop == 0 || k.insts[loop].op != RICCI_K_FOR || k.insts[loop].imm != 1) return 0;
  const auto trips = TripsOf(k, loop);
  const auto stride = Strides(k, loop, k.n_insts, nullptr).Of(address);
  if (!trips || !stride || *stride == 0 || *stride <= -kLargeFactor || *stride >= kLargeFactor) return 0;
  if (*trips >= kLargeFactor) return 0;
  const int64_t factor = FactorOf(k, address, loop);
  return factor == 0 || *trips * std::abs(*stride) <= factor ? loop : 0;
}

// Whether the combination of nothing is an element: a float of 8 or 4 bits may have no zero and no infinity.
bool HasIdentity(uint32_t dtype) { return dtype < RICCI_F8E4M3FN || dtype > RICCI_F4E2M1FN; }

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const Blocks& blocks, const std::vector<uint32_t>& dims)
      : k_(k), blocks_(blocks), dims_(dims), facts_(k, blocks, {}) {}

  std::optional<Updates> Run() {
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (op == RICCI_K_STORE || op == RICCI_K_CHECK) alone_ = false;
      if (op == RICCI_K_COMBINE) Add(i);
    }
    if (found_ && !alone_) found_->elements.reset(), found_->loop = 0;
    return found_;
  }

 private:
  void Add(uint32_t i) {
    const ricci_inst& inst = k_.insts[i];
    const uint32_t into = RICCI_BUFFER_OF(inst.imm), apart = Addresses(k_, facts_, dims_).Apart(inst.a);
    const auto elements = HasIdentity(k_.buffers[into].dtype) ? facts_.RangeOf(inst.a) : std::nullopt;
    const uint32_t loop = ApartLoop(k_, blocks_, i);
    if (!found_) {
      found_ = {apart, elements, loop};
      first_ = inst;
      return;
    }
    found_->apart = std::min(found_->apart, apart);
    if (found_->loop != loop || first_.a != inst.a) found_->loop = 0;
    if (RICCI_BUFFER_OF(first_.imm) != into || first_.imm != inst.imm) alone_ = false;
    if (!elements || !found_->elements) {
      found_->elements.reset();
    } else {
      found_->elements = {std::min(found_->elements->lo, elements->lo), std::max(found_->elements->hi, elements->hi)};
    }
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const std::vector<uint32_t>& dims_;
  const Facts facts_;
  std::optional<Updates> found_;
  ricci_inst first_{};
  bool alone_ = true;
};

}  // namespace

std::optional<Updates> FindUpdates(const ricci_kernel_table& k, const Blocks& blocks,
                                   const std::vector<uint32_t>& dims) {
  const bool any =
      std::any_of(k.insts, k.insts + k.n_insts, [](const ricci_inst& i) { return i.op == RICCI_K_COMBINE; });
  return any ? Finder(k, blocks, dims).Run() : std::nullopt;
}

}  // namespace ricci::codegen
