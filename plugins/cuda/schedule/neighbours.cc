#include "cuda/schedule/neighbours.h"

#include <algorithm>

#include "codegen/analysis.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kMostDivisor = 64;  // more is of no use

// The largest power of two that divides it.
int64_t TwosOf(int64_t c) {
  const uint64_t bits = static_cast<uint64_t>(c) | kMostDivisor;
  return static_cast<int64_t>(bits & -bits);
}

}  // namespace

Neighbours::Neighbours(const ricci_kernel_table& k, const IndexRanges& ranges, uint32_t loop, int64_t size, bool flat)
    : k_(k),
      ranges_(ranges),
      loop_(loop),
      dimension_(k.domain_rank - 1),
      size_(size),
      flat_(flat),
      forms_(flat ? std::optional<IndexForms>(k) : std::nullopt),
      steps_(k.n_insts) {
  FindAll();
}

Neighbours::Neighbours(const ricci_kernel_table& k, const IndexRanges& ranges, uint32_t dimension, int64_t size)
    : k_(k), ranges_(ranges), loop_(0), dimension_(dimension), size_(size), flat_(false), steps_(k.n_insts) {
  FindAll();
}

void Neighbours::FindAll() {
  for (uint32_t v = 1; v < k_.n_insts; ++v) {
    steps_[v] = flat_ && IsPointNumber(forms_->Of(v)) ? Step{1, size_} : Find(v);
    if (v < loop_ && !steps_[v]) steps_[v] = Step{0, 1};
  }
}

std::optional<Neighbours::Step> Neighbours::Find(uint32_t v) const {
  const ricci_inst& q = k_.insts[v];
  if (v == loop_) return Step{1, size_};
  switch (q.op) {
    case RICCI_K_CONST:
      return Step{0, TwosOf(q.imm)};
    case RICCI_K_DOMAIN:
      if (flat_) return {};
      return loop_ == 0 && q.imm == dimension_ ? Step{1, size_} : Step{0, 1};
    case RICCI_K_FOR:
    case RICCI_K_REDUCE:
    case RICCI_K_SCAN:
      return Step{0, 1};
    case RICCI_K_LOAD:
      return IsSame(q.a) ? std::optional(Step{0, 1}) : std::nullopt;
    default:
      break;
  }
  if (!codegen::IsScalar(q.op)) return {};
  if (q.dtype == RICCI_I64) {
    if (const std::optional<Step> step = Arithmetic(q)) return step;
  }
  if (IsCut(q)) return Step{0, 1};
  for (const uint32_t operand : {q.a, q.b, q.c}) {
    if (operand != 0 && !IsSame(operand)) return {};
  }
  return Step{0, 1};
}

// The number of a point in their order, plus a multiple of the group's size.
bool Neighbours::IsPointNumber(const IndexForm& form) const {
  int64_t stride = 1;
  if (form.empty() || form.back() % size_ != 0) return false;
  for (uint32_t d = k_.domain_rank; d-- > 0;) {
    if (k_.domain[d] > 1 && form[d] != stride) return false;
    stride *= k_.domain[d];
  }
  return true;
}

std::optional<Neighbours::Step> Neighbours::Arithmetic(const ricci_inst& q) const {
  const std::optional<Step>&a = steps_[q.a], &b = steps_[q.b], &c = steps_[q.c];
  switch (q.op) {
    case RICCI_S_ADD:
    case RICCI_S_SUB: {
      int64_t step;
      if (!a || !b) return {};
      if (q.op == RICCI_S_ADD ? __builtin_add_overflow(a->step, b->step, &step)
                              : __builtin_sub_overflow(a->step, b->step, &step)) {
        return {};
      }
      return Step{step, std::min(a->divisor, b->divisor)};
    }
    case RICCI_S_MUL:
    case RICCI_S_SHL:
      return Product(q);
    case RICCI_S_SELECT:
      if (!IsSame(q.a) || !b || !c || b->step != c->step) return {};
      return Step{b->step, std::min(b->divisor, c->divisor)};
    default:
      return Quotient(q);
  }
}

std::optional<Neighbours::Step> Neighbours::Product(const ricci_inst& q) const {
  const bool is_shift = q.op == RICCI_S_SHL;
  const uint32_t constant = is_shift || k_.insts[q.b].op == RICCI_K_CONST ? q.b : q.a;
  const uint32_t other = constant == q.a ? q.b : q.a;
  int64_t factor = k_.insts[constant].imm, step;
  if (k_.insts[constant].op != RICCI_K_CONST || !steps_[other]) return {};
  if (is_shift && (factor < 0 || factor > 32)) return {};
  if (is_shift) factor = int64_t{1} << factor;
  if (__builtin_mul_overflow(steps_[other]->step, factor, &step)) return {};
  return Step{step, std::min(steps_[other]->divisor * TwosOf(factor), kMostDivisor)};
}

std::optional<int64_t> Neighbours::DivisorOf(const ricci_inst& q) const {
  const ricci_inst& b = k_.insts[q.b];
  if (b.op != RICCI_K_CONST || b.imm <= 0) return {};
  if (q.op == RICCI_S_DIV || q.op == RICCI_S_REM) return b.imm;
  if (q.op == RICCI_S_AND && (b.imm & (b.imm + 1)) == 0) return b.imm + 1;
  if (q.op == RICCI_S_SHR && b.imm < 32) return int64_t{1} << b.imm;
  return {};
}

// Of an index that is not negative by a constant. A group that begins at a multiple of its size crosses no multiple
// of a multiple of them.
std::optional<Neighbours::Step> Neighbours::Quotient(const ricci_inst& q) const {
  const std::optional<int64_t> by = DivisorOf(q);
  if (!by || !steps_[q.a] || !ranges_.Of(q.a) || ranges_.Of(q.a)->lo < 0) return {};
  const bool is_rest = q.op == RICCI_S_REM || q.op == RICCI_S_AND;
  if (!IsSame(q.a) && (!IsInOrder(q.a) || *by % size_ != 0)) return {};
  if (!is_rest) return Step{0, 1};
  return Step{steps_[q.a]->step, std::min(steps_[q.a]->divisor, TwosOf(*by))};
}

// Whether an index in order is below a bound that no group crosses.
bool Neighbours::IsCut(const ricci_inst& q) const {
  return (q.op == RICCI_S_LT || q.op == RICCI_S_GE) && IsInOrder(q.a) && k_.insts[q.b].op == RICCI_K_CONST &&
         k_.insts[q.b].dtype == RICCI_I64 && k_.insts[q.b].imm % size_ == 0;
}

}  // namespace ricci::cuda
