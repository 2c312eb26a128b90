// Checks of kernel tables. Backends and the interpreter rely on everything that is checked here.
#include <vector>

#include "base/abi_text.h"
#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/kernel.h"
#include "kernel/scalar/scalar_eval.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

class KernelVerifier {
 public:
  explicit KernelVerifier(const ricci_kernel_table& k) : k_(k), scope_of_(k.n_insts) {}

  absl::Status Run() {
    RICCI_TRY(CheckTable());
    if (k_.inst_size != sizeof(ricci_inst)) return Error(base::Cat("inst_size is ", k_.inst_size));
    accessed_.assign(k_.n_buffers, 0), combined_.assign(k_.n_buffers, 0);
    if (k_.n_insts == 0 || k_.insts[0].op != RICCI_K_NOP) return Error("instruction 0 is not nop");
    for (at_ = 1; at_ < k_.n_insts; ++at_) {
      RICCI_TRY(CheckOne(k_.insts[at_]));
      scope_of_[at_] = blocks_.back().scope;
    }
    return blocks_.size() == 1 ? absl::OkStatus() : Error("a block is not closed");
  }

  // All but the instructions.
  absl::Status CheckTable() const {
    if (k_.buffer_size != sizeof(ricci_kernel_buffer)) return Error(base::Cat("buffer_size is ", k_.buffer_size));
    if (k_.domain_rank > RICCI_MAX_RANK) return Error("the domain has too many dimensions");
    for (uint32_t d = 0; d < k_.domain_rank; ++d) {
      const int64_t extent = k_.domain[d];
      if (extent < 0 || extent > RICCI_MAX_DIM) return Error(base::Cat("the domain has an extent of ", extent));
    }
    for (uint32_t i = 0; i < k_.n_buffers; ++i) {
      const ricci_kernel_buffer& b = k_.buffers[i];
      const bool fits = types::InKernels(b.dtype) && b.elements >= 0 && b.access >= 1 && b.access <= 3;
      if (!fits) return Error(base::Cat("buffer ", i, " has no supported dtype, a negative size or no access"));
    }
    return absl::OkStatus();
  }

 private:
  struct Open {
    uint32_t begin, scope;
    bool has_else = false, has_cond = false;
    int64_t parts = 0;  // of a SCAN, so far
  };

  absl::Status Error(std::string_view what) const {
    return absl::InternalError(base::Cat("kernel ", base::View(k_.name), ": instruction ", at_, ": ", what));
  }

  // ---- operands ----
  absl::Status CheckVisible(uint32_t v) const {
    if (v == 0 || v >= at_) return Error(base::Cat("operand ", v, " is not defined before"));
    if (open_[scope_of_[v]]) return absl::OkStatus();
    return Error(base::Cat("operand ", v, " is defined in a closed block"));
  }
  absl::Status CheckOperand(uint32_t v, uint32_t dtype) const {
    RICCI_TRY(CheckVisible(v));
    if (k_.insts[v].op == RICCI_K_LOCAL) return Error(base::Cat("operand ", v, " is a private array"));
    if (k_.insts[v].dtype == dtype && dtype != 0) return absl::OkStatus();
    return Error(base::Cat("operand ", v, " is ", types::Info(k_.insts[v].dtype).name, " but must be ",
                           types::Info(dtype).name));
  }
  absl::Status CheckLocal(uint32_t v) const {
    RICCI_TRY(CheckVisible(v));
    return k_.insts[v].op == RICCI_K_LOCAL ? absl::OkStatus() : Error(base::Cat(v, " is not a private array"));
  }
  absl::Status CheckDType(const ricci_inst& inst, uint32_t dtype) const {
    return inst.dtype == dtype ? absl::OkStatus()
                               : Error(base::Cat("the value is declared as ", types::Info(inst.dtype).name, " but is ",
                                                 types::Info(dtype).name));
  }

  // ---- instructions ----
  absl::Status CheckOne(const ricci_inst& inst) {
    if (IsScalar(inst.op)) return CheckScalar(inst);
    switch (inst.op) {
      case RICCI_K_CONST:
        return types::InKernels(inst.dtype) ? absl::OkStatus() : Error("a constant without a supported dtype");
      case RICCI_K_DOMAIN:
        if (inst.imm < 0 || inst.imm >= k_.domain_rank)
          return Error(base::Cat("the domain has no dimension ", inst.imm));
        return CheckDType(inst, RICCI_I64);
      case RICCI_K_LOAD:
      case RICCI_K_STORE:
        return CheckBuffer(inst);
      case RICCI_K_COMBINE:
        return CheckCombine(inst);
      case RICCI_K_LOCAL:
        return types::InKernels(inst.dtype) && inst.imm >= 0
                   ? absl::OkStatus()
                   : Error("a private array without a supported dtype, or of negative size");
      case RICCI_K_GET:
        RICCI_TRY(CheckLocal(inst.a));
        RICCI_TRY(CheckDType(inst, k_.insts[inst.a].dtype));
        RICCI_TRY(CheckOperand(inst.b, RICCI_I64));
        return CheckElement(inst.b, k_.insts[inst.a].imm);
      case RICCI_K_SET:
        RICCI_TRY(CheckLocal(inst.a));
        RICCI_TRY(CheckOperand(inst.b, RICCI_I64));
        RICCI_TRY(CheckElement(inst.b, k_.insts[inst.a].imm));
        return CheckOperand(inst.c, k_.insts[inst.a].dtype);
      case RICCI_K_ASSUME_LESS:
        return CheckOperand(inst.a, RICCI_I64);
      case RICCI_K_CHECK:
        if (inst.imm < 0 || inst.imm >= RICCI_NO_CHECK) return Error("the number of the check is out of range");
        return CheckOperand(inst.a, RICCI_BOOL);
      default:
        return CheckBlock(inst);
    }
  }

  absl::Status CheckScalar(const ricci_inst& inst) const {
    const uint32_t in[] = {inst.a, inst.b, inst.c}, n = InfoOf(inst.op).arity;
    uint32_t dtypes[3] = {};
    for (uint32_t i = 0; i < n; ++i) {
      RICCI_TRY(CheckVisible(in[i]));
      dtypes[i] = k_.insts[in[i]].op == RICCI_K_LOCAL ? 0 : k_.insts[in[i]].dtype;
    }
    const absl::StatusOr<uint32_t> result = ResultDType(inst.op, inst.dtype, {dtypes, n});
    return result.ok() ? CheckDType(inst, *result) : Error(std::string(result.status().message()));
  }

  // A number that is known must be that of an element. Loops over nothing may access arrays that have none.
  absl::Status CheckElement(uint32_t index, int64_t elements) const {
    const ricci_inst& at = k_.insts[index];
    if (at.op != RICCI_K_CONST || elements == 0 || (at.imm >= 0 && at.imm < elements)) return absl::OkStatus();
    return Error(base::Cat("element ", at.imm, " of an array of ", elements));
  }

  absl::Status CheckBuffer(const ricci_inst& inst) {
    if (inst.imm < 0 || inst.imm >= k_.n_buffers) return Error(base::Cat("there is no buffer ", inst.imm));
    const ricci_kernel_buffer& b = k_.buffers[inst.imm];
    const bool load = inst.op == RICCI_K_LOAD;
    if (combined_[static_cast<size_t>(inst.imm)] != 0)
      return Error(base::Cat("buffer ", inst.imm, " is combined into and accessed otherwise"));
    accessed_[static_cast<size_t>(inst.imm)] = 1;
    if (!(b.access & (load ? RICCI_ACCESS_READ : RICCI_ACCESS_WRITE)))
      return Error(base::Cat("buffer ", inst.imm, " may not be ", load ? "loaded from" : "stored to"));
    RICCI_TRY(CheckOperand(inst.a, RICCI_I64));
    RICCI_TRY(CheckElement(inst.a, b.elements));
    return load ? CheckDType(inst, b.dtype) : CheckOperand(inst.b, b.dtype);
  }

  absl::Status CheckCombine(const ricci_inst& inst) {
    const uint32_t buffer = RICCI_BUFFER_OF(inst.imm), combiner = RICCI_COMBINER_OF(inst.imm);
    if (buffer >= k_.n_buffers) return Error(base::Cat("there is no buffer ", buffer));
    constexpr uint32_t kBoth = RICCI_ACCESS_READ | RICCI_ACCESS_WRITE;
    if ((k_.buffers[buffer].access & kBoth) != kBoth) return Error(base::Cat("buffer ", buffer, " may not be updated"));
    if (accessed_[buffer] != 0) return Error(base::Cat("buffer ", buffer, " is combined into and accessed otherwise"));
    combined_[buffer] = 1;
    RICCI_TRY(CheckOperand(inst.a, RICCI_I64));
    RICCI_TRY(CheckElement(inst.a, k_.buffers[buffer].elements));
    const uint32_t dtype = k_.buffers[buffer].dtype, operands[] = {dtype, dtype};
    if (!IsUpdater(combiner)) return Error("elements are only combined by add, mul, max, min");
    if (!ResultDType(combiner, 0, operands).ok()) return Error("elements of this dtype are not combined in that way");
    return CheckOperand(inst.b, dtype);
  }

  absl::Status CheckBlock(const ricci_inst& inst) {
    switch (inst.op) {
      case RICCI_K_FOR:
      case RICCI_K_REDUCE:
      case RICCI_K_SCAN:
        RICCI_TRY(CheckOperand(inst.a, RICCI_I64));
        RICCI_TRY(CheckOperand(inst.b, RICCI_I64));
        RICCI_TRY(CheckDType(inst, RICCI_I64));
        if (inst.op == RICCI_K_REDUCE && !IsCombiner(static_cast<uint32_t>(inst.imm))) {
          return Error("reduce only combines by add, mul, max, min, and, or, xor");
        }
        if (inst.op == RICCI_K_SCAN && (inst.imm < 1 || inst.imm >= k_.n_insts)) {
          return Error("a scan has at least one state");
        }
        break;
      case RICCI_K_WHILE:
        break;
      case RICCI_K_IF:
        RICCI_TRY(CheckOperand(inst.a, RICCI_BOOL));
        break;
      default:
        return CheckInner(inst);
    }
    blocks_.push_back({at_, OpenScope()});
    return absl::OkStatus();
  }

  // LEFT and RIGHT of all states directly after SCAN, COMBINED of all next to each other, PREFIX of all next to each
  // other.
  absl::Status CheckPartOfScan(const ricci_inst& inst, Open& scan) {
    const int64_t states = k_.insts[scan.begin].imm, state = scan.parts % states;
    if (inst.op != RICCI_K_LEFT + scan.parts / states || inst.imm != state)
      return Error("parts of a scan out of order");
    if (state != 0 && k_.insts[at_ - 1].op != inst.op) return Error("parts of a scan that are not adjacent");
    if (scan.parts < 2 * states && at_ != scan.begin + 1 + scan.parts)
      return Error("a scan begins with left and right");
    const uint32_t dtype = k_.insts[scan.begin + 1 + state].dtype;
    if (inst.dtype != dtype) return Error("the states of a scan change their dtype");
    if (inst.op != RICCI_K_RIGHT) RICCI_TRY(CheckOperand(inst.a, dtype));
    if (inst.op == RICCI_K_LEFT && inst.a > scan.begin) return Error("an identity is computed in the scan");
    ++scan.parts;
    if (scan.parts == 3 * states) return CloseCombiner(scan);
    return absl::OkStatus();
  }
  absl::Status CloseCombiner(Open& scan) {  // the scope of the loop begins
    for (uint32_t i = scan.begin + 1; i <= at_; ++i) {
      const ricci_inst& inst = k_.insts[i];
      const bool part = IsPartOfScan(inst.op);
      if (!part && !IsScalar(inst.op)) return Error("a combiner has only scalar operations");
      const bool reads_index = inst.a == scan.begin || inst.b == scan.begin || inst.c == scan.begin;
      if (!part && reads_index) return Error("a combiner reads the index");
    }
    open_[scan.scope] = 0;
    scan.scope = scope_of_[scan.begin] = OpenScope();
    return absl::OkStatus();
  }

  // Instructions within a block, or that end it.
  absl::Status CheckInner(const ricci_inst& inst) {
    Open& top = blocks_.back();
    const uint32_t opened = top.begin == 0 ? uint32_t{RICCI_K_NOP} : k_.insts[top.begin].op;
    switch (inst.op) {
      case RICCI_K_COND:
        if (opened != RICCI_K_WHILE || top.has_cond) return Error("cond is not in a while");
        top.has_cond = true;
        return CheckOperand(inst.a, RICCI_BOOL);
      case RICCI_K_ELSE:
        if (opened != RICCI_K_IF || top.has_else) return Error("else is not in an if");
        top.has_else = true;
        open_[top.scope] = 0;
        top.scope = OpenScope();
        return absl::OkStatus();
      case RICCI_K_YIELD:
        if (opened != RICCI_K_REDUCE || inst.a != top.begin) return Error("yield is not in its reduce");
        RICCI_TRY(CheckYield(inst));
        break;
      case RICCI_K_LEFT:
      case RICCI_K_RIGHT:
      case RICCI_K_COMBINED:
      case RICCI_K_PREFIX:
        if (opened != RICCI_K_SCAN) return Error("part of a scan outside a scan");
        return CheckPartOfScan(inst, top);
      case RICCI_K_END:
        if (opened == RICCI_K_SCAN && top.parts != 4 * k_.insts[top.begin].imm) return Error("the scan has no prefix");
        if (opened != RICCI_K_FOR && opened != RICCI_K_SCAN && opened != RICCI_K_IF &&
            !(opened == RICCI_K_WHILE && top.has_cond)) {
          return Error("end closes nothing");
        }
        break;
      default:
        return Error(base::Cat("there is no operation with number ", inst.op));
    }
    open_[top.scope] = 0;
    blocks_.pop_back();
    return absl::OkStatus();
  }

  uint32_t OpenScope() {
    open_.push_back(1);
    return static_cast<uint32_t>(open_.size() - 1);
  }

  absl::Status CheckContracted(const ricci_inst& inst) const {
    const bool sums = k_.insts[inst.a].imm == RICCI_S_ADD && types::IsContracted(inst.dtype);
    const bool holds = inst.imm == 1 && sums && inst.b > inst.a && k_.insts[inst.b].op == RICCI_S_MUL;
    return holds ? absl::OkStatus() : Error("only products of f32 or f64 are contracted with a sum");
  }
  absl::Status CheckYield(const ricci_inst& inst) const {
    RICCI_TRY(CheckOperand(inst.b, inst.dtype));
    if (inst.imm != 0) RICCI_TRY(CheckContracted(inst));
    const uint32_t operands[] = {inst.dtype, inst.dtype};
    return ResultDType(static_cast<uint32_t>(k_.insts[inst.a].imm), 0, operands).ok()
               ? absl::OkStatus()
               : Error(base::Cat("reduce cannot combine ", types::Info(inst.dtype).name, " by ",
                                 InfoOf(static_cast<uint32_t>(k_.insts[inst.a].imm)).name));
  }

  const ricci_kernel_table& k_;
  std::vector<uint32_t> scope_of_;
  std::vector<Open> blocks_{{0, 0}};
  std::vector<uint8_t> open_{1};              // per scope
  std::vector<uint8_t> accessed_, combined_;  // per buffer: loaded or stored; combined into
  uint32_t at_ = 0;
};

}  // namespace

absl::Status Verify(const ricci_kernel_table& k) { return KernelVerifier(k).Run(); }
absl::Status VerifyTable(const ricci_kernel_table& k) { return KernelVerifier(k).CheckTable(); }

}}}  // namespace ricci::v0::kernel
