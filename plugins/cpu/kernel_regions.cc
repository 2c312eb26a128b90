// Regions of a kernel: parts of a large body that are functions of their own, so that the compile time is linear in the
// length of the body.
//
// What one computes and another reads lies in the frame, in the worker's scratch: a value is stored once, where
// its region ends, and loaded once by each region that reads it. Private arrays that several functions use lie in
// scratch too.
#include <utility>

#include "kernel_blocks.h"

namespace ricci::cpu {
namespace {

constexpr uint64_t kAlign = 64;

V Content(const Value& v) { return v.linear() ? v.one : v.each; }

}  // namespace

void KernelEmitter::PrepareRegions() {
  if (schedule_.regions.empty()) return;
  regions_.last.assign(k_.n_insts, 0);
  regions_.home.assign(k_.n_insts, 0);
  regions_.place.assign(k_.n_insts, {});
  regions_.shared.assign(k_.n_insts, 0);
  regions_.last_read = codegen::LastReads(k_, blocks_);
  std::vector<uint32_t> region(k_.n_insts, 0);  // by the instruction it begins with
  for (const codegen::Region& r : schedule_.regions) {
    regions_.last[r.first] = r.last;
    std::fill(region.begin() + r.first, region.begin() + r.last, r.first);
  }
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    const ricci_inst& inst = k_.insts[i];
    if (inst.op != RICCI_K_GET && inst.op != RICCI_K_SET) continue;
    if (region[i] != region[inst.a]) regions_.shared[inst.a] = 1;
  }
}

uint32_t KernelEmitter::CallRegion(uint32_t first) {
  const uint32_t last = regions_.last[first];
  const V function = function_, mask = mask_;
  const LLVMBasicBlockRef exit = exit_;
  const std::vector<V> buffers = buffers_;
  const uint64_t stack = std::exchange(stack_, 0);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
  regions_.number = ++regions_.count;
  Function(name_ + "_region" + std::to_string(regions_.number), [&] { Region(first, last); });
  const V region = function_;
  function_ = function, exit_ = exit, mask_ = mask, buffers_ = buffers, stack_ = stack;
  regions_.number = 0;
  LLVMPositionBuilderAtEnd(l_.b, here);
  StoreImports();
  V bits = l_.I64(0);
  if (mask_ != nullptr) {
    bits = LLVMBuildBitCast(l_.b, mask_, LLVMIntTypeInContext(l_.ctx, l_.lanes), "");
    bits = LLVMBuildZExt(l_.b, bits, l_.i64(), "");
  }
  V args[] = {LLVMGetParam(function_, 0), bits, l_.I64(0), LLVMGetParam(function_, 3)};
  LLVMBuildCall2(l_.b, FunctionType(), region, args, 4, "");
  if (looks_.IsIn(first, last)) EmitEndIfStopped(l_, Run(), Exit());
  FreePlaces(last);
  return last - 1;
}

void KernelEmitter::Region(uint32_t first, uint32_t last) {
  ForgetLocals(first, last);
  if (mask_ != nullptr) {
    V bits = LLVMBuildTrunc(l_.b, LLVMGetParam(function_, 1), LLVMIntTypeInContext(l_.ctx, l_.lanes), "");
    mask_ = LLVMBuildBitCast(l_.b, bits, l_.vec(l_.i1()), "mask");
  }
  Range(first, last);
  for (const Regions::Import& import : regions_.imports) {
    values_[import.id] = import.value;
    regions_.home[import.id] = import.home;
  }
  Export(first, last);
}

// Code for a region may be made several times, each time a function.
void KernelEmitter::ForgetLocals(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    if (k_.insts[i].op == RICCI_K_LOCAL && !IsShared(i)) locals_[i] = {};
  }
}

// What is read after the region belongs to its block, so it is available at the end.
void KernelEmitter::Export(uint32_t first, uint32_t last) {
  for (uint32_t id = first; id < last; ++id) {
    if (regions_.home[id] != regions_.number || regions_.last_read[id] < last) continue;
    const Value& v = values_[id];
    if (Content(v) == nullptr || LLVMIsConstant(Content(v))) continue;
    TakePlace(id, PlaceBytes(id, v), regions_.last_read[id]);
    ToFrame(id, v);
    regions_.home[id] = Regions::kFrame;
  }
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
  if (regions_.home.empty() || regions_.home[id] == regions_.number || LLVMIsConstant(Content(v))) return v;
  if (regions_.home[id] != 0 && regions_.home[id] != Regions::kFrame) Fail("a region reads a value of another region");
  if (regions_.number == 0) return FromFrame(id, v);
  if (regions_.home[id] == 0 && regions_.place[id].bytes < PlaceBytes(id, v))
    TakePlace(id, PlaceBytes(id, v), k_.n_insts);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l_.b);
  LLVMPositionBuilderAtEnd(l_.b, LLVMGetEntryBasicBlock(function_));
  const Value loaded = FromFrame(id, v);
  LLVMPositionBuilderAtEnd(l_.b, here);
  regions_.imports.push_back({id, v, regions_.home[id]});
  Put(id, loaded);
  return loaded;
}

// The bytes of a value's place.
uint64_t KernelEmitter::PlaceBytes(uint32_t id, const Value& v) {
  const uint64_t bytes = uint64_t{SizeOfDType(k_.insts[id].dtype)} * (v.linear() ? 1 : l_.lanes);
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

V KernelEmitter::PlaceOf(uint32_t id) {
  return Element(l_.i8(), LLVMGetParam(function_, 3), l_.I64(static_cast<int64_t>(regions_.place[id].at)));
}

void KernelEmitter::ToFrame(uint32_t id, const Value& v) {
  LLVMSetAlignment(LLVMBuildStore(l_.b, ToMemory(k_.insts[id].dtype, Content(v)), PlaceOf(id)), kAlign);
}

Value KernelEmitter::FromFrame(uint32_t id, const Value& like) {
  const uint32_t dtype = k_.insts[id].dtype;
  const LLVMTypeRef one = MemoryType(l_, dtype);
  V v = LLVMBuildLoad2(l_.b, like.linear() ? one : l_.vec(one), PlaceOf(id), "");
  LLVMSetAlignment(v, kAlign);
  v = FromMemory(dtype, v);
  return like.linear() ? Value{v, nullptr, like.stride} : Value{nullptr, v, 0};
}

void KernelEmitter::TakePlace(uint32_t id, uint64_t bytes, uint32_t until) {
  std::vector<uint64_t>& free = regions_.free[bytes];
  if (free.empty()) free.push_back(TakeScratch(bytes));
  regions_.place[id] = {free.back(), bytes};
  free.pop_back();
  regions_.taken.emplace(until, regions_.place[id]);
}

void KernelEmitter::FreePlaces(uint32_t before) {
  const auto end = regions_.taken.lower_bound(before);
  for (auto at = regions_.taken.begin(); at != end; ++at) regions_.free[at->second.bytes].push_back(at->second.at);
  regions_.taken.erase(regions_.taken.begin(), end);
}

}  // namespace ricci::cpu
