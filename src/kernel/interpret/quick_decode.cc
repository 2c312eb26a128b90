// From a kernel table to QuickInst: one pass with a stack of open blocks, whose jumps are filled in when they close.
#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/interpret/quick_kernel.h"
#include "kernel/scalar/scalar_float.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

constexpr int64_t kMostPrivateElements = int64_t{1} << 32;

QuickOp Sized(QuickOp first, uint32_t size) {
  const int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return static_cast<QuickOp>(static_cast<int>(first) + step);
}

QuickOp ScalarOp(const ricci_inst& inst) {
  if (inst.dtype == RICCI_I64 && inst.op == RICCI_S_ADD) return QuickOp::kAddI64;
  if (inst.dtype == RICCI_I64 && inst.op == RICCI_S_MUL) return QuickOp::kMulI64;
  if (inst.dtype == RICCI_F32 && inst.op == RICCI_S_ADD) return QuickOp::kAddF32;
  if (inst.dtype == RICCI_F32 && inst.op == RICCI_S_MUL) return QuickOp::kMulF32;
  return QuickOp::kScalar;
}

}  // namespace

class QuickDecoder {
 public:
  QuickDecoder(const ricci_kernel_table& k, QuickKernel* out) : k_(k), out_(*out) {}

  absl::Status Run() {
    out_.name_.assign(k_.name.ptr, k_.name.len);
    out_.registers_.assign(k_.n_insts, 0);
    out_.local_begin_.assign(k_.n_insts, 0);
    out_.local_size_.assign(k_.n_insts, 0);
    out_.domain_.assign(k_.domain, k_.domain + k_.domain_rank);
    out_.loops_ = LongLoopsOf(k_);
    for (uint32_t i = 0; i < k_.n_buffers; ++i) out_.elements_.push_back(k_.buffers[i].elements);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      RICCI_TRY(DecodeOne(i, k_.insts[i]));
      if (k_.insts[i].op == RICCI_K_SCAN) i = LastOfCombiner(i);
    }
    return absl::OkStatus();
  }

 private:
  struct Open {
    uint32_t begin;  // instruction number
    uint32_t body;   // code position after the opening instruction
    int64_t leave;   // code position of the jump that leaves the block; -1: none yet
  };

  uint32_t Here() const { return static_cast<uint32_t>(out_.code_.size()); }
  QuickInst& Emit(QuickOp op, uint32_t number, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, int64_t imm = 0) {
    return out_.code_.emplace_back(
        QuickInst{op, static_cast<uint8_t>(k_.insts[number].dtype), number, a, b, c, 0, imm, nullptr});
  }

  absl::Status DecodeOne(uint32_t i, const ricci_inst& inst) {
    if (IsScalar(inst.op)) {
      const uint32_t last = inst.c ? inst.c : inst.b ? inst.b : inst.a;
      Emit(ScalarOp(inst), i, inst.a, inst.b, inst.c).fn = FindScalarFn(inst.op, k_.insts[last].dtype, inst.dtype);
      return absl::OkStatus();
    }
    switch (inst.op) {
      case RICCI_K_CONST:
        out_.registers_[i] = static_cast<uint64_t>(inst.imm);
        return absl::OkStatus();
      case RICCI_K_DOMAIN:
        Emit(QuickOp::kDomain, i, 0, 0, 0, inst.imm);
        return absl::OkStatus();
      case RICCI_K_LOAD:
        Emit(Sized(QuickOp::kLoad1, BufferWidth(inst)), i, inst.a, 0, 0, inst.imm);
        break;
      case RICCI_K_STORE:
        Emit(Sized(QuickOp::kStore1, BufferWidth(inst)), i, inst.a, inst.b, 0, inst.imm);
        break;
      case RICCI_K_COMBINE:
        DecodeCombine(i, inst);
        break;
      case RICCI_K_LOCAL:
        return AddLocal(i, inst);
      case RICCI_K_GET:
        Emit(QuickOp::kGet, i, inst.a, inst.b);
        break;
      case RICCI_K_SET:
        Emit(QuickOp::kSet, i, inst.a, inst.b, inst.c);
        break;
      case RICCI_K_ASSUME_LESS:
        Emit(QuickOp::kAssume, i, inst.a, 0, 0, inst.imm);
        break;
      case RICCI_K_CHECK:
        Emit(QuickOp::kCheck, i, inst.a, 0, 0, inst.imm);
        break;
      default:
        DecodeBlock(i, inst);
    }
    return absl::OkStatus();
  }

  // The element is loaded into the register of this instruction, combined there and stored from it.
  void DecodeCombine(uint32_t i, const ricci_inst& inst) {
    const uint32_t buffer = RICCI_BUFFER_OF(inst.imm), dtype = k_.buffers[buffer].dtype;
    const uint32_t width = types::Info(dtype).size;
    Emit(Sized(QuickOp::kLoad1, width), i, inst.a, 0, 0, buffer);
    QuickInst& combine = Emit(QuickOp::kScalar, i, i, inst.b);
    combine.dtype = static_cast<uint8_t>(dtype);
    combine.fn = FindScalarFn(RICCI_COMBINER_OF(inst.imm), dtype, dtype);
    Emit(Sized(QuickOp::kStore1, width), i, inst.a, i, 0, buffer);
  }

  uint32_t BufferWidth(const ricci_inst& inst) const { return types::Info(k_.buffers[inst.imm].dtype).size; }

  absl::Status AddLocal(uint32_t i, const ricci_inst& inst) {
    out_.local_begin_[i] = out_.private_elements_;
    out_.local_size_[i] = inst.imm;
    if (inst.imm > kMostPrivateElements - static_cast<int64_t>(out_.private_elements_)) {
      return absl::ResourceExhaustedError(base::Cat("kernel ", out_.name_, ": private arrays are too large"));
    }
    out_.private_elements_ += static_cast<size_t>(inst.imm);
    return absl::OkStatus();
  }

  void DecodeBlock(uint32_t i, const ricci_inst& inst) {
    switch (inst.op) {
      case RICCI_K_FOR:
      case RICCI_K_REDUCE:
        Emit(inst.op == RICCI_K_FOR ? QuickOp::kFor : QuickOp::kReduce, i, inst.a, inst.b);
        open_.push_back({i, Here(), Here() - 1});
        break;
      case RICCI_K_SCAN:
        for (uint32_t s = i + 1; s <= i + inst.imm; ++s) Emit(QuickOp::kCopy, s, k_.insts[s].a);
        Emit(QuickOp::kFor, i, inst.a, inst.b);
        open_.push_back({i, Here(), Here() - 1});
        break;
      case RICCI_K_PREFIX:
        if (inst.imm + 1 == k_.insts[open_.back().begin].imm) DecodePrefixes(i, open_.back().begin);
        break;
      case RICCI_K_WHILE:
        Emit(QuickOp::kCopy, i, /*a=*/0);  // no trip yet: the register of instruction 0 is never written
        open_.push_back({i, Here(), -1});
        break;
      case RICCI_K_IF:
        Emit(QuickOp::kUnless, i, inst.a);
        open_.push_back({i, Here(), Here() - 1});
        break;
      case RICCI_K_COND:
        open_.back().leave = Here();
        Emit(QuickOp::kUnless, i, inst.a);
        break;
      case RICCI_K_ELSE:
        Emit(QuickOp::kJump, i);
        out_.code_[open_.back().leave].jump = Here();
        open_.back().leave = Here() - 1;
        break;
      case RICCI_K_YIELD:
        Close(i, inst);
        break;
      default:
        Close(i, inst);  // END
    }
  }

  void Close(uint32_t i, const ricci_inst& inst) {
    const Open block = open_.back();
    open_.pop_back();
    const ricci_inst& begin = k_.insts[block.begin];
    if (begin.op == RICCI_K_FOR || begin.op == RICCI_K_SCAN)
      Emit(QuickOp::kNext, i, block.begin, begin.b).jump = block.body;
    if (begin.op == RICCI_K_WHILE) Emit(QuickOp::kAgain, i, block.begin).jump = block.body;
    if (begin.op == RICCI_K_REDUCE) DecodeYield(i, inst, block);
    out_.code_[block.leave].jump = Here();
  }

  uint32_t LastOfCombiner(uint32_t scan) const {
    const auto states = static_cast<uint32_t>(k_.insts[scan].imm);
    uint32_t i = scan + 1 + 2 * states;
    while (k_.insts[i].op != RICCI_K_COMBINED) ++i;
    return i + states - 1;
  }

  // The states are in the registers of LEFT.
  void DecodePrefixes(uint32_t last, uint32_t scan) {
    const auto states = static_cast<uint32_t>(k_.insts[scan].imm);
    const uint32_t left = scan + 1, right = left + states, prefix = last + 1 - states;
    const uint32_t combined = LastOfCombiner(scan) + 1 - states;
    for (uint32_t s = 0; s < states; ++s) Emit(QuickOp::kCopy, right + s, k_.insts[prefix + s].a);
    for (uint32_t i = right + states; i < combined; ++i) (void)DecodeOne(i, k_.insts[i]);
    for (uint32_t s = 0; s < states; ++s) Emit(QuickOp::kCopy, prefix + s, k_.insts[combined + s].a);
    for (uint32_t s = 0; s < states; ++s) Emit(QuickOp::kCopy, left + s, prefix + s);
  }

  void DecodeYield(uint32_t i, const ricci_inst& inst, const Open& block) {
    const ricci_inst& begin = k_.insts[block.begin];
    const auto combiner = static_cast<uint32_t>(begin.imm);
    const bool wide = types::IsFloating(inst.dtype) && (combiner == RICCI_S_ADD || combiner == RICCI_S_MUL);
    const uint64_t identity = IdentityOf(combiner, wide ? uint32_t{RICCI_F64} : inst.dtype);
    QuickInst& reduce = out_.code_[block.leave];
    reduce.op = wide ? QuickOp::kReduceWide : QuickOp::kReduce;
    reduce.dtype = static_cast<uint8_t>(inst.dtype);
    reduce.c = i;
    reduce.imm = static_cast<int64_t>(identity);
    QuickInst& yield = Emit(wide ? QuickOp::kYieldWide : QuickOp::kYield, i, block.begin, inst.b, begin.b);
    yield.fn = FindScalarFn(combiner, wide ? uint32_t{RICCI_F64} : inst.dtype, 0);
    yield.jump = block.body;
  }

  const ricci_kernel_table& k_;
  QuickKernel& out_;
  std::vector<Open> open_;
};

absl::StatusOr<QuickKernel> QuickKernel::Decode(const ricci_kernel_table& k) {
  RICCI_TRY(Verify(k));
  QuickKernel quick;
  RICCI_TRY(QuickDecoder(k, &quick).Run());
  return quick;
}

}}}  // namespace ricci::v0::kernel
