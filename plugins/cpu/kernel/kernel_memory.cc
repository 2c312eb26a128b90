// Memory of a kernel: buffers and private arrays, read and written by one value or by all lanes.
//
// An index that is linear in the lane with step 1 or -1 becomes a vector load or store. Steps of 2 to 4, those of
// complex numbers, points and pixels, are loaded as vectors and sorted in registers, and both parts of complex numbers
// are stored together. Any other varying index becomes a gather or scatter. A private array that differs between lanes
// holds one vector per element.
//
// A gather takes several times as long as loading whole vectors and sorting them. A row of complex numbers that ends
// within a vector is loaded and stored under a mask that has each lane twice. Gathers and scatters took five times as
// long there.
#include <utility>

#include "cpu/kernel/kernel_emitter.h"

namespace ricci::cpu {
namespace {

constexpr uint64_t kStackLocals = 16;          // private arrays, of the largest size, that a kernel keeps on the stack
constexpr int64_t kElementsClearedAlone = 64;  // most of them are in registers; larger arrays are cleared as memory

}  // namespace

V KernelEmitter::FromMemory(uint32_t dtype, V v) {
  if (dtype != RICCI_BOOL) return v;
  return LLVMBuildICmp(l_.b, LLVMIntNE, v, l_.IntLike(v, 0), "");
}

V KernelEmitter::ToMemory(uint32_t dtype, V v) {
  if (dtype != RICCI_BOOL) return v;
  return LLVMBuildZExt(l_.b, v, LlvmBuilder::IsVector(v) ? l_.vec(l_.i8()) : l_.i8(), "");
}

V KernelEmitter::Reversed(V v) {
  std::vector<V> from;
  for (unsigned i = l_.lanes; i-- > 0;) from.push_back(l_.I32(static_cast<int>(i)));
  return LLVMBuildShuffleVector(l_.b, v, LLVMGetUndef(LLVMTypeOf(v)), LLVMConstVector(from.data(), l_.lanes), "");
}

// The first element in memory of those that the lanes read or write one after another, upwards or downwards.
V KernelEmitter::RunAddress(LLVMTypeRef t, V base, const Value& index) {
  V first = index.one;
  if (index.stride < 0) first = LLVMBuildSub(l_.b, first, l_.I64(static_cast<int64_t>(l_.lanes) - 1), "");
  return Element(t, base, first);
}

// Adjacent elements, or zeros where the mask is off; NULL: it is on.
V KernelEmitter::LoadRun(LLVMTypeRef t, unsigned align, V p, V mask) {
  if (mask != nullptr) {
    return l_.Intrinsic("llvm.masked.load", {l_.vec(t), l_.ptr()},
                        {p, l_.I32(static_cast<int>(align)), mask, LLVMConstNull(l_.vec(t))});
  }
  V v = LLVMBuildLoad2(l_.b, l_.vec(t), p, "");
  LLVMSetAlignment(v, align);
  return v;
}
void KernelEmitter::StoreRun(V v, unsigned align, V p, V mask) {
  if (mask == nullptr) return LLVMSetAlignment(LLVMBuildStore(l_.b, v, p), align);
  l_.Intrinsic("llvm.masked.store", {LLVMTypeOf(v), l_.ptr()}, {v, p, l_.I32(static_cast<int>(align)), mask});
}

// Of adjacent elements from `start` on: whether lane i is on, for element `stride` i and, with `all`, those after it up
// to the next lane's.
V KernelEmitter::MaskApart(int64_t stride, int64_t start, bool all) {
  std::vector<V> from;
  for (int64_t at = start; at < start + static_cast<int64_t>(l_.lanes); ++at) {
    from.push_back(l_.I32(static_cast<int>(all || at % stride == 0 ? at / stride : l_.lanes)));
  }
  V off = LLVMConstNull(LLVMTypeOf(mask_));
  return LLVMBuildShuffleVector(l_.b, mask_, off, LLVMConstVector(from.data(), l_.lanes), "");
}

// Elements 0, stride, 2 stride, ... from as many loads as `stride`, none of which goes beyond the last of them, or
// accesses what is between those of lanes that are on and others.
V KernelEmitter::LoadApart(LLVMTypeRef t, unsigned align, V base, const Value& index) {
  const auto lanes = static_cast<int64_t>(l_.lanes), last = index.stride * (lanes - 1);
  V out = nullptr;
  for (int64_t part = 0; part < index.stride; ++part) {
    const int64_t start = std::min(part * lanes, last + 1 - lanes);
    V p = Element(t, base, LLVMBuildAdd(l_.b, index.one, l_.I64(start), ""));
    V v = LoadRun(t, align, p, mask_ == nullptr ? nullptr : MaskApart(index.stride, start, /*all=*/false));
    if (part == 0) {
      out = v;
      continue;
    }
    std::vector<V> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = index.stride * lane, earlier = part == 1 ? at : lane;
      const bool later = at >= (part + 1) * lanes;  // taken then
      from.push_back(l_.I32(static_cast<int>(later ? 0 : at < part * lanes ? earlier : lanes + at - start)));
    }
    out = LLVMBuildShuffleVector(l_.b, out, v, LLVMConstVector(from.data(), l_.lanes), "");
  }
  return out;
}

void KernelEmitter::LoadFrom(uint32_t id, uint32_t dtype, V base, const Value& index, uint32_t index_id) {
  const LLVMTypeRef t = MemoryType(l_, dtype);
  if (index.uniform()) {
    V v = LLVMBuildLoad2(l_.b, t, Element(t, base, index.one), "");
    LLVMSetAlignment(v, Align(dtype));
    return Define(id, FromMemory(dtype, v));
  }
  V v;
  if (IsRun(index)) {
    const bool backwards = index.stride < 0;
    V p = RunAddress(t, base, index), mask = mask_ != nullptr && backwards ? Reversed(mask_) : mask_;
    v = LoadRun(t, Align(dtype), p, mask);
    if (backwards) v = Reversed(v);
  } else if (index.linear() && codegen::IsNear(index.stride)) {
    v = LoadApart(t, Align(dtype), base, index);
  } else {
    V p = Element(t, base, Each(index_id));
    v = l_.Intrinsic("llvm.masked.gather", {l_.vec(t), l_.vec(l_.ptr())},
                     {p, l_.I32(static_cast<int>(Align(dtype))), MaskOrAll(), LLVMConstNull(l_.vec(t))});
  }
  Define(id, FromMemory(dtype, v));
}

void KernelEmitter::StoreTo(uint32_t dtype, V base, const Value& index, uint32_t index_id, uint32_t value_id) {
  const LLVMTypeRef t = MemoryType(l_, dtype);
  if (!spreading_ || (index.uniform() && mask_ == nullptr)) {
    V s = LLVMBuildStore(l_.b, ToMemory(dtype, FirstLane(value_id)), Element(t, base, index.one));
    LLVMSetAlignment(s, Align(dtype));
    return;
  }
  V each = ToMemory(dtype, Each(value_id));
  if (IsRun(index)) {
    const bool backwards = index.stride < 0;
    V p = RunAddress(t, base, index), mask = mask_ != nullptr && backwards ? Reversed(mask_) : mask_;
    if (backwards) each = Reversed(each);
    return StoreRun(each, Align(dtype), p, mask);
  }
  l_.Intrinsic("llvm.masked.scatter", {l_.vec(t), l_.vec(l_.ptr())},
               {each, Element(t, base, Each(index_id)), l_.I32(static_cast<int>(Align(dtype))), MaskOrAll()});
}

bool KernelEmitter::IsPairOfStores(const Value& index) const {
  return spreading_ && index.linear() && index.stride == 2;
}

// The elements of `even` and `odd` in turn, from `index` on.
void KernelEmitter::StorePair(uint32_t dtype, V base, const Value& index, V even, V odd) {
  const LLVMTypeRef t = MemoryType(l_, dtype);
  V a = ToMemory(dtype, even), b = ToMemory(dtype, odd);
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<V> from;
    for (unsigned i = half * l_.lanes; i < (half + 1) * l_.lanes; ++i) {
      from.push_back(l_.I32(static_cast<int>(i / 2 + (i % 2 == 0 ? 0 : l_.lanes))));
    }
    V v = LLVMBuildShuffleVector(l_.b, a, b, LLVMConstVector(from.data(), l_.lanes), "");
    V at = LLVMBuildAdd(l_.b, index.one, l_.I64(static_cast<int64_t>(half) * l_.lanes), "");
    const int64_t start = static_cast<int64_t>(half) * l_.lanes;
    StoreRun(v, Align(dtype), Element(t, base, at), mask_ == nullptr ? nullptr : MaskApart(2, start, /*all=*/true));
  }
}

void KernelEmitter::Store(uint32_t id, uint32_t last) {
  const ricci_inst& inst = k_.insts[id];
  const Value index = At(inst.a);
  const uint32_t dtype = k_.buffers[inst.imm].dtype, first = std::exchange(first_of_pair_, 0);
  V base = Buffer(static_cast<size_t>(inst.imm));
  if (first != 0) return StorePair(dtype, base, At(k_.insts[first].a), Each(k_.insts[first].b), Each(inst.b));
  const uint32_t second = codegen::NextElementStore(k_, id);
  bool pair = second != 0 && second < last && IsPairOfStores(index);
  for (uint32_t i = id + 1; pair && i <= second; ++i) pair = !IsRegion(i) && !IsPart(i);
  if (pair) {
    first_of_pair_ = id;
    return;
  }
  StoreTo(dtype, base, index, inst.a, inst.b);
}

void KernelEmitter::DeclareLocal(uint32_t id) {
  if (locals_[id].declared) return;  // declared in a loop: one slot serves all trips
  const ricci_inst& inst = k_.insts[id];
  Local& local = locals_[id];
  local.declared = true;
  local.per_lane = spreading_ && varying_[id];
  const LLVMTypeRef t = MemoryType(l_, inst.dtype);
  // If no memory could hold it, the size is clamped to a limit, and the run fails before its first instruction.
  const ricci_exact size = ricci_exact_of(inst.imm) * SizeOfDType(inst.dtype) * (local.per_lane ? l_.lanes : 1);
  const auto bytes = static_cast<uint64_t>(ricci_exact_clamp(size, 0, RICCI_MAX_DIM));
  const LLVMTypeRef element = local.per_lane ? l_.vec(t) : t;
  if (!IsShared(id) && bytes <= l_.stack_local && stack_ + bytes <= kStackLocals * l_.stack_local) {
    stack_ += bytes;
    local.stack = l_.Alloca(LLVMArrayType2(element, static_cast<uint64_t>(inst.imm)), "local");
    return;
  }
  local.scratch = TakeScratch(bytes);
}

uint64_t KernelEmitter::TakeScratch(uint64_t bytes) {
  const uint64_t offset = (scratch_ + 63) / 64 * 64;
  scratch_ = std::min<uint64_t>(offset + bytes, RICCI_MAX_DIM);
  out_.scratch_bytes = std::max(out_.scratch_bytes, scratch_);
  return offset;
}

// Lanes that are switched off compute too, and their operands affect the time: with whatever is in memory, sines of
// huge numbers and sums of subnormal ones take a hundred times as long.
void KernelEmitter::ClearSwitchedOff(uint32_t id) {
  const Local local = LocalAt(id);
  if (!local.per_lane || mask_ == nullptr || masked_depth_ == 0) return;
  const ricci_inst& inst = k_.insts[id];
  const LLVMTypeRef t = l_.vec(MemoryType(l_, inst.dtype));
  const unsigned align = std::min(64u, l_.lanes * Align(inst.dtype));
  if (inst.imm > kElementsClearedAlone) {
    const ricci_exact bytes = ricci_exact_of(inst.imm) * SizeOfDType(inst.dtype) * l_.lanes;
    LLVMBuildMemSet(l_.b, Memory(local), LLVMConstNull(l_.i8()), l_.I64(ricci_exact_clamp(bytes, 0, RICCI_MAX_DIM)),
                    align);
    return;
  }
  for (int64_t i = 0; i < inst.imm; ++i) {
    LLVMSetAlignment(LLVMBuildStore(l_.b, LLVMConstNull(t), Element(t, Memory(local), l_.I64(i))), align);
  }
}

// An address in scratch is formed at each use: the block of the first use may not dominate the others.
V KernelEmitter::Memory(const Local& local) {
  if (local.stack != nullptr) return local.stack;
  return Element(l_.i8(), LLVMGetParam(function_, 3), l_.I64(static_cast<int64_t>(local.scratch)));
}

void KernelEmitter::Get(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const Local local = LocalAt(inst.a);
  const Value index = At(inst.b);
  if (!local.per_lane) return LoadFrom(id, inst.dtype, Memory(local), index, inst.b);
  const LLVMTypeRef t = MemoryType(l_, inst.dtype);
  if (index.uniform()) {
    V v = LLVMBuildLoad2(l_.b, l_.vec(t), Element(l_.vec(t), Memory(local), index.one), "");
    LLVMSetAlignment(v, std::min(64u, l_.lanes * Align(inst.dtype)));
    return Define(id, FromMemory(inst.dtype, v));
  }
  V p = Element(t, Memory(local), LaneAddress(inst.b));
  V v = l_.Intrinsic("llvm.masked.gather", {l_.vec(t), l_.vec(l_.ptr())},
                     {p, l_.I32(static_cast<int>(Align(inst.dtype))), MaskOrAll(), LLVMConstNull(l_.vec(t))});
  Define(id, FromMemory(inst.dtype, v));
}

void KernelEmitter::Set(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const Local local = LocalAt(inst.a);
  const uint32_t dtype = k_.insts[inst.a].dtype;
  const Value index = At(inst.b);
  if (!local.per_lane) return StoreTo(dtype, Memory(local), index, inst.b, inst.c);
  const LLVMTypeRef t = MemoryType(l_, dtype);
  V each = ToMemory(dtype, Each(inst.c));
  if (index.uniform()) {
    V p = Element(l_.vec(t), Memory(local), index.one);
    const unsigned align = std::min(64u, l_.lanes * Align(dtype));
    if (mask_ != nullptr &&
        masked_depth_ > 0) {  // lanes beyond the end may hold anything; switched-off ones keep theirs
      V old = LLVMBuildLoad2(l_.b, l_.vec(t), p, "");
      LLVMSetAlignment(old, align);
      each = LLVMBuildSelect(l_.b, mask_, each, old, "");
    }
    LLVMSetAlignment(LLVMBuildStore(l_.b, each, p), align);
    return;
  }
  l_.Intrinsic(
      "llvm.masked.scatter", {l_.vec(t), l_.vec(l_.ptr())},
      {each, Element(t, Memory(local), LaneAddress(inst.b)), l_.I32(static_cast<int>(Align(dtype))), MaskOrAll()});
}

}  // namespace ricci::cpu
