// Loops and branches of a kernel.
//
// Conditions that are the same for all lanes are plain control flow. A branch on a varying condition runs each side
// under a mask, and not at all if no lane takes it; a loop that lanes leave at different times runs until the last has
// left.
#include "cpu/kernel/kernel_blocks.h"

#include "cpu/llvm/debug_info.h"

namespace ricci::cpu {

void KernelEmitter::Range(uint32_t first, uint32_t last) {
  const bool of_region = regions_.number != 0 && regions_.first == first;
  for (uint32_t i = first; i < last && !done_; ++i) {
    if (l_.debug != nullptr) l_.debug->At(k_.locations == nullptr ? 0 : k_.locations[i]);
    const uint32_t begin = i;
    if (of_region) BeginItem();
    i = Item(i, last);
    if (of_region && regions_.code == nullptr) Export(begin, i + 1, last);
  }
}

// Instruction `i` of a range that ends at `last`, with the block that it opens. Returns the last instruction of that.
uint32_t KernelEmitter::Item(uint32_t i, uint32_t last) {
  if (IsRegion(i)) return CallRegion(i);
  if (IsPart(i)) return CallPart(i);
  if (facts_ != nullptr && IsKnown(i)) return i;
  const ricci_inst& inst = k_.insts[i];
  switch (inst.op) {
    case RICCI_K_NOP:
    case RICCI_K_DOMAIN:
    case RICCI_K_ASSUME_LESS:
      break;
    case RICCI_K_CONST:
      Put(i, {Constant(inst.dtype, inst.imm), nullptr, 0});
      break;
    case RICCI_K_LOAD:
      if (IsSquareLoad(i)) {
        LoadSquare(i, inst.dtype, Buffer(static_cast<size_t>(inst.imm)), At(inst.a));
        break;
      }
      LoadFrom(i, inst.dtype, Buffer(static_cast<size_t>(inst.imm)), At(inst.a), inst.a);
      break;
    case RICCI_K_STORE:
      if (together_ != 0) {
        postponed_.push_back({i, At(inst.a), At(inst.b)});
      } else {
        Store(i, last);
      }
      break;
    case RICCI_K_COMBINE:
      Update(i);
      break;
    case RICCI_K_LOCAL:
      DeclareLocal(i);
      ClearSwitchedOff(i);
      break;
    case RICCI_K_GET:
      Get(i);
      break;
    case RICCI_K_SET:
      Set(i);
      break;
    case RICCI_K_CHECK:
      Check(inst);
      break;
    case RICCI_K_FOR:
      i = For(i);
      break;
    case RICCI_K_WHILE:
      i = While(i);
      break;
    case RICCI_K_IF:
      i = If(i);
      break;
    case RICCI_K_SCAN:
      i = i == schedule_.split ? ScanChunk(i) : Scan(i);
      break;
    case RICCI_K_PREFIX:
      Prefixes(i);
      i += static_cast<uint32_t>(scan_.states.size()) - 1;
      break;
    case RICCI_K_REDUCE:
      i = i == schedule_.split ? Split(i) : Reduce(i);
      break;
    default:
      Scalar(i);
      break;
  }
  return i;
}

bool KernelEmitter::IsKnown(uint32_t& i) {
  switch (facts_->is(i)) {
    case Facts::Is::kComputed:
      return false;
    case Facts::Is::kDead:
      if (k_.insts[i].op == RICCI_K_REDUCE) i = blocks_.close[i];
      return true;
    case Facts::Is::kSame:
      Put(i, At(facts_->same(i)));
      return true;
    case Facts::Is::kConstant:
      Put(i, {Constant(k_.insts[i].dtype, facts_->constant(i)), nullptr, 0});
      return true;
  }
  return false;
}

void KernelEmitter::Check(const ricci_inst& inst) {
  const Value condition = At(inst.a);
  V bad = condition.uniform() && mask_ == nullptr
              ? LLVMBuildNot(l_.b, condition.one, "")
              : Any(LLVMBuildAnd(l_.b, MaskOrAll(), LLVMBuildNot(l_.b, Each(inst.a), ""), ""));
  Branch(
      bad,
      [&] {
        V failed = EmitLoadOfArgs(l_, Run(), offsetof(ricci_run_args, failed_check), "failed_check");
        LLVMBuildAtomicRMW(l_.b, LLVMAtomicRMWBinOpUMin, failed, l_.I32(static_cast<int>(inst.imm)),
                           LLVMAtomicOrderingMonotonic, 0);
      },
      [] {});
}

uint32_t KernelEmitter::For(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const uint32_t close = blocks_.close[id];
  const auto trips = TripsOf(k_, id);
  if (!At(inst.a).uniform() || !At(inst.b).uniform()) return ForPerLane(id, close);
  if (!spreading_ && Spreads(k_, blocks_, id, l_.lanes)) return ForSpread(id, close);
  if (Unrolls(k_, blocks_, id)) {
    for (int64_t t = 0; t < *trips; ++t) {
      Put(id, {l_.I64(*ConstantOf(k_, inst.a) + t), nullptr, 0});
      Range(id + 1, close);
    }
    return close;
  }
  Loop(One(inst.a), One(inst.b), 1, PollOf(id), [&](V i) {
    Put(id, {i, nullptr, 0});
    Range(id + 1, close);
  });
  return close;
}

void KernelEmitter::BeginSpread(uint32_t loop) {
  varying_ = FindVarying(k_, blocks_, loop, loop + 1, blocks_.close[loop]);
  std::fill(varying_.begin(), varying_.begin() + loop, 0);
  spreading_ = true;
}

uint32_t KernelEmitter::ForSpread(uint32_t id, uint32_t close) {
  const ricci_inst& inst = k_.insts[id];
  V lo = One(inst.a), hi = One(inst.b);
  if (id == schedule_.shared) {
    hi = LLVMBuildAdd(l_.b, lo, LLVMGetParam(function_, 2), "");
    lo = LLVMBuildAdd(l_.b, lo, LLVMGetParam(function_, 1), "");
  }
  BeginSpread(id);
  const auto spread = [&](V begin, V end, bool even) {
    Loop(begin, end, l_.lanes, PollOf(id), [&](V x) {
      Put(id, {x, nullptr, 1});
      mask_ = even ? nullptr : TailMask(x, end);
      Range(id + 1, close);
      mask_ = nullptr;
    });
  };
  std::vector<Piece> pieces;
  if (facts_ == nullptr && id != schedule_.shared) pieces = CutLoop(k_, blocks_, id, l_.lanes);
  for (const Piece& p : pieces) {
    facts_ = &p.facts[0];
    spread(l_.I64(p.range.lo), l_.I64(p.range.hi), (p.range.hi - p.range.lo) % l_.lanes == 0);
    facts_ = nullptr;
  }
  const auto trips = TripsOf(k_, id);
  if (pieces.empty()) spread(lo, hi, trips && *trips % l_.lanes == 0);
  spreading_ = false;
  return close;
}

uint32_t KernelEmitter::ForPerLane(uint32_t id, uint32_t close) {
  LoopPerLane(id, [&] { Range(id + 1, close); });
  return close;
}

void KernelEmitter::LoopPerLane(uint32_t id, const std::function<void()>& body) {
  const ricci_inst& inst = k_.insts[id];
  V counter = l_.Alloca(l_.vec(l_.i64()), "counter"), hi = Each(inst.b);
  LLVMBuildStore(l_.b, Each(inst.a), counter);
  WhileActive(
      PollOf(id),
      [&] {
        V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
        Put(id, {nullptr, now, 0});
        return LLVMBuildICmp(l_.b, LLVMIntSLT, now, hi, "");
      },
      [&] {
        body();
        V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
        LLVMBuildStore(l_.b, LLVMBuildAdd(l_.b, now, l_.Splat(l_.I64(1)), ""), counter);
      });
}

uint32_t KernelEmitter::While(uint32_t id) {
  const uint32_t cond = blocks_.middle[id], close = blocks_.close[id];
  if (spreading_ && varying_[k_.insts[cond].a]) {
    WhileActive(
        PollOf(id),
        [&] {
          Range(id + 1, cond);
          return Each(k_.insts[cond].a);
        },
        [&] { Range(cond + 1, close); });
    return close;
  }
  const CountedTrips trips = BeginTrips(PollOf(id));
  LLVMBasicBlockRef head = l_.NewBlock("while"), inside = l_.NewBlock("body"), after = l_.NewBlock("done");
  LLVMBuildBr(l_.b, head);
  LLVMPositionBuilderAtEnd(l_.b, head);
  Range(id + 1, cond);
  LLVMBuildCondBr(l_.b, One(k_.insts[cond].a), inside, after);
  LLVMPositionBuilderAtEnd(l_.b, inside);
  Range(cond + 1, close);
  EndTrip(trips, PollOf(id));
  LLVMBuildBr(l_.b, head);
  LLVMPositionBuilderAtEnd(l_.b, after);
  return close;
}

uint32_t KernelEmitter::If(uint32_t id) {
  const uint32_t other = blocks_.middle[id], close = blocks_.close[id];
  const Value condition = At(k_.insts[id].a);
  if (condition.uniform()) {
    Branch(
        condition.one, [&] { Range(id + 1, other != 0 ? other : close); },
        [&] {
          if (other != 0) Range(other + 1, close);
        });
    return close;
  }
  V outer = mask_, all = MaskOrAll(), yes = Each(k_.insts[id].a);
  ++masked_depth_;
  V on = LLVMBuildAnd(l_.b, all, yes, "");
  Branch(
      Any(on),
      [&] {
        mask_ = on;
        Range(id + 1, other != 0 ? other : close);
      },
      [] {});
  if (other != 0) {
    V off = LLVMBuildAnd(l_.b, all, LLVMBuildNot(l_.b, yes, ""), "");
    Branch(
        Any(off),
        [&] {
          mask_ = off;
          Range(other + 1, close);
        },
        [] {});
  }
  --masked_depth_;
  mask_ = outer;
  return close;
}

}  // namespace ricci::cpu
