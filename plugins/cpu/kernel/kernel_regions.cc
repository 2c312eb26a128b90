// Regions of a kernel: parts of a large body that are functions of their own, so that the compile time is linear in the
// length of the body.
//
// Values that one computes and another reads are in the frame, in the worker's scratch: a value is stored once, where
// its region ends, and loaded once by each region that reads it. Private arrays that several functions use are in
// scratch too. Equal parts of the kernel share a function (kernel_shared_parts.cc).
//
// A region has about 4,000 instructions at most, and its slots in the frame are reused after the last read. A body of
// 16,000 equations in lanes compiles in 0.6 s. One of 4,000 over f32[20] compiles in 5.5 s instead of 20.5 s, and runs
// as fast: in one function, LLVM's register allocation takes quadratic time.
//
// A region loads what others computed before the item that reads it first. It stores what others read where that is
// computed.
#include <utility>

#include "cpu/kernel/kernel_blocks.h"

namespace ricci::cpu {

void KernelEmitter::PrepareRegions() {
  if (schedule_.regions.functions.empty() && schedule_.regions.calls.empty()) return;
  regions_.last.assign(k_.n_insts, 0);
  regions_.home.assign(k_.n_insts, 0);
  regions_.slot.assign(k_.n_insts, {});
  regions_.shared.assign(k_.n_insts, 0);
  regions_.last_read = codegen::LastReads(k_, blocks_);
  std::vector<uint32_t> region(k_.n_insts, 0);  // the function that an instruction is in
  uint32_t count = 0;
  for (const codegen::Region& r : schedule_.regions.functions) {
    regions_.last[r.first] = r.last;
    std::fill(region.begin() + r.first, region.begin() + r.last, ++count);
  }
  for (const codegen::Part& p : schedule_.regions.calls) {
    std::fill(region.begin() + p.first, region.begin() + p.last, ++count);
  }
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    const ricci_inst& inst = k_.insts[i];
    if (inst.op != RICCI_K_GET && inst.op != RICCI_K_SET) continue;
    if (region[i] != region[inst.a]) regions_.shared[inst.a] = 1;
  }
  PrepareParts();
}

uint32_t KernelEmitter::CallRegion(uint32_t first) {
  const uint32_t last = regions_.last[first];
  V region = MakeRegion(first, last);
  StoreImports();
  EmitCall(region, first, last);
  FreeSlots(last);
  return last - 1;
}

// A function of its own. What it reads of others is in `imports` afterwards, if it is called by the kernel's own.
V KernelEmitter::MakeRegion(uint32_t first, uint32_t last) {
  const V function = function_, mask = mask_;
  const LLVMBasicBlockRef exit = exit_;
  const std::vector<V> buffers = buffers_;
  const uint64_t stack = std::exchange(stack_, 0);
  const uint32_t number = std::exchange(regions_.number, ++regions_.count);
  std::vector<Regions::Import> imports = std::exchange(regions_.imports, {});
  const LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b), block = regions_.block;
  const V before = regions_.before;
  Function(name_ + "_region" + std::to_string(regions_.number), [&] { Region(first, last); });
  const V region = function_;
  function_ = function, exit_ = exit, mask_ = mask, buffers_ = buffers, stack_ = stack;
  regions_.number = number, regions_.block = block, regions_.before = before;
  if (number != 0) regions_.imports = std::move(imports);
  LLVMPositionBuilderAtEnd(l_.b, here);
  return region;
}

void KernelEmitter::EmitCall(V region, uint32_t first, uint32_t last) {
  V bits = l_.I64(0);
  if (mask_ != nullptr) {
    bits = LLVMBuildBitCast(l_.b, mask_, LLVMIntTypeInContext(l_.ctx, l_.lanes), "");
    bits = LLVMBuildZExt(l_.b, bits, l_.i64(), "");
  }
  V args[] = {LLVMGetParam(function_, 0), bits, l_.I64(0), LLVMGetParam(function_, 3)};
  LLVMBuildCall2(l_.b, FunctionType(), region, args, 4, "");
  if (polls_.IsIn(first, last)) EmitEndIfStopped(l_, Run(), Exit());
}

void KernelEmitter::Region(uint32_t first, uint32_t last) {
  ForgetLocals(first, last);
  if (mask_ != nullptr) {
    V bits = LLVMBuildTrunc(l_.b, LLVMGetParam(function_, 1), LLVMIntTypeInContext(l_.ctx, l_.lanes), "");
    mask_ = LLVMBuildBitCast(l_.b, bits, l_.vec(l_.i1()), "mask");
  }
  const uint32_t around = std::exchange(regions_.first, first);
  Range(first, last);
  regions_.first = around;
  for (const Regions::Import& import : regions_.imports) {
    values_[import.id] = import.value;
    regions_.home[import.id] = import.home;
  }
  if (regions_.code != nullptr) return StoreResults(first, last);
  for (const uint32_t id : std::exchange(regions_.stored, {})) regions_.home[id] = Regions::kFrame;
}

// Code for a region may be made several times, each time a function.
void KernelEmitter::ForgetLocals(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    if (k_.insts[i].op == RICCI_K_LOCAL && !IsShared(i)) locals_[i] = {};
  }
}

// What is read after the region belongs to its block, so it is available after its item. It is stored at once, so that
// not all of it stays in registers until the end.
void KernelEmitter::Export(uint32_t first, uint32_t next, uint32_t last) {
  for (uint32_t id = first; id < next; ++id) {
    if (regions_.home[id] != regions_.number || regions_.last_read[id] < last) continue;
    const Value& v = values_[id];
    if (Content(v) == nullptr || LLVMIsConstant(Content(v))) continue;
    TakeSlot(id, SlotBytes(id, v), regions_.last_read[id]);
    ToFrame(id, v);
    regions_.stored.push_back(id);
  }
}

void KernelEmitter::BeginItem() {
  regions_.block = LLVMGetInsertBlock(l_.b);
  regions_.before = LLVMGetLastInstruction(regions_.block);
}

// Continues before the item of the region for which code is being made.
void KernelEmitter::PositionBeforeItem() {
  const V next =
      regions_.before != nullptr ? LLVMGetNextInstruction(regions_.before) : LLVMGetFirstInstruction(regions_.block);
  next != nullptr ? LLVMPositionBuilderBefore(l_.b, next) : LLVMPositionBuilderAtEnd(l_.b, regions_.block);
}

// What the kernel's own function computed is stored before each call: an earlier call may be in a branch.
void KernelEmitter::StoreImports() {
  for (const Regions::Import& import : regions_.imports) {
    if (import.home == 0) ToFrame(import.id, import.value);
  }
  regions_.imports.clear();
}

Value KernelEmitter::At(uint32_t id) {
  const Value v = values_[id];
  if (regions_.home.empty() || regions_.home[id] == regions_.number) return v;
  if (regions_.code != nullptr && k_.insts[id].op != RICCI_K_CONST) return Argument(id);
  if (LLVMIsConstant(Content(v))) return v;
  if (regions_.home[id] != 0 && regions_.home[id] != Regions::kFrame) Fail("a region reads a value of another region");
  if (regions_.number == 0) return FromFrame(id, v);
  if (regions_.home[id] == 0 && regions_.slot[id].bytes < SlotBytes(id, v)) TakeSlot(id, SlotBytes(id, v), k_.n_insts);
  return Imported(id, regions_.slot[id].at);
}

// A value of the kernel's own function or of another region, loaded from a slot in scratch before the item that reads
// it first: not all that a region reads stays in registers from its beginning on.
Value KernelEmitter::Imported(uint32_t id, uint64_t at) {
  const Value v = values_[id];
  const LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
  const LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(l_.b);
  PositionBeforeItem();
  const Value loaded = LoadValue(at, k_.insts[id].dtype, v);
  LLVMPositionBuilderAtEnd(l_.b, here);
  LLVMSetCurrentDebugLocation2(l_.b, location);
  regions_.imports.push_back({id, v, regions_.home[id]});
  Put(id, loaded);
  return loaded;
}

// The bytes of a value's slot.
uint64_t KernelEmitter::SlotBytes(uint32_t id, const Value& v) {
  const uint64_t bytes = uint64_t{SizeOfDType(k_.insts[id].dtype)} * (v.linear() ? 1 : l_.lanes);
  return (bytes + kSlotAlign - 1) / kSlotAlign * kSlotAlign;
}

V KernelEmitter::ScratchAt(uint64_t at) {
  return Element(l_.i8(), LLVMGetParam(function_, 3), l_.I64(static_cast<int64_t>(at)));
}

void KernelEmitter::StoreValue(uint64_t at, uint32_t dtype, const Value& v) {
  LLVMSetAlignment(LLVMBuildStore(l_.b, ToMemory(dtype, Content(v)), ScratchAt(at)), kSlotAlign);
}

Value KernelEmitter::LoadValue(uint64_t at, uint32_t dtype, const Value& like) {
  const LLVMTypeRef one = MemoryType(l_, dtype);
  V v = LLVMBuildLoad2(l_.b, like.linear() ? one : l_.vec(one), ScratchAt(at), "");
  LLVMSetAlignment(v, kSlotAlign);
  v = FromMemory(dtype, v);
  return like.linear() ? Value{v, nullptr, like.stride} : Value{nullptr, v, 0};
}

void KernelEmitter::ToFrame(uint32_t id, const Value& v) { StoreValue(regions_.slot[id].at, k_.insts[id].dtype, v); }

Value KernelEmitter::FromFrame(uint32_t id, const Value& like) {
  return LoadValue(regions_.slot[id].at, k_.insts[id].dtype, like);
}

void KernelEmitter::TakeSlot(uint32_t id, uint64_t bytes, uint32_t until) {
  std::vector<uint64_t>& free = regions_.free[bytes];
  if (free.empty()) free.push_back(TakeScratch(bytes));
  regions_.slot[id] = {free.back(), bytes};
  free.pop_back();
  regions_.taken.emplace(until, regions_.slot[id]);
}

void KernelEmitter::FreeSlots(uint32_t before) {
  const auto end = regions_.taken.lower_bound(before);
  for (auto at = regions_.taken.begin(); at != end; ++at) regions_.free[at->second.bytes].push_back(at->second.at);
  regions_.taken.erase(regions_.taken.begin(), end);
}

}  // namespace ricci::cpu
