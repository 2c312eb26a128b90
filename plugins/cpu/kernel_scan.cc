// Prefix scans of a kernel: trip by trip, or a vector of trips at once.
//
// In lanes the elements of a vector are combined with those 1, 2, 4, ... lanes before them (Hillis and Steele, "Data
// parallel algorithms", 1986), and all with what was combined before; the last lane is what the next vector begins
// with.
#include <utility>

#include "kernel_emitter.h"

namespace ricci::cpu {

namespace {

constexpr uint32_t kShortCombiner = 4;  // scalars

}  // namespace

LLVMTypeRef KernelEmitter::StateType(uint32_t state) {
  const LLVMTypeRef t = ValueType(l_, k_.insts[state].dtype);
  return scan_.in_lanes || (spreading_ && varying_[state]) ? l_.vec(t) : t;
}

uint32_t KernelEmitter::Scan(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const ScanParts parts(k_, blocks_, id);
  const RunningScan around = std::exchange(scan_, {});
  scan_.id = id;
  const bool uniform = At(inst.a).uniform() && At(inst.b).uniform();
  scan_.in_lanes = !spreading_ && uniform && Spreads(k_, blocks_, id, l_.lanes);
  for (uint32_t s = 0; s < parts.states; ++s) {
    const uint32_t left = parts.left + s;
    const LLVMTypeRef t = StateType(left);
    const uint32_t identity = k_.insts[left].a;
    scan_.states.push_back(l_.Alloca(t, "state"));
    const bool vector = LLVMGetTypeKind(t) == LLVMVectorTypeKind;
    LLVMBuildStore(l_.b, vector ? Each(identity) : One(identity), scan_.states.back());
    if (scan_.in_lanes) scan_.identities.push_back(Hidden(Each(identity)));
  }
  if (scan_.in_lanes) {
    ScanSpread(id);
  } else if (uniform) {
    Loop(One(inst.a), One(inst.b), 1, [&](V i) {
      Put(id, {i, nullptr, 0});
      Range(parts.body, blocks_.close[id]);
    });
  } else {
    LoopPerLane(id, [&] { Range(parts.body, blocks_.close[id]); });
  }
  scan_ = around;
  return blocks_.close[id];
}

void KernelEmitter::ScanSpread(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const uint32_t close = blocks_.close[id];
  varying_ = FindVarying(k_, blocks_, id, id + 1, close);
  for (uint32_t i = 0; i < id; ++i) varying_[i] = 0;
  spreading_ = true;
  const auto trips = TripsOf(k_, id);
  const bool even = trips && *trips % l_.lanes == 0;
  V end = One(inst.b);
  Loop(One(inst.a), end, l_.lanes, [&](V x) {
    Put(id, {x, nullptr, 1});
    mask_ = even ? nullptr : TailMask(x, end);
    Range(ScanParts(k_, blocks_, id).body, close);
    mask_ = nullptr;
  });
  spreading_ = false;
}

std::vector<Value> KernelEmitter::CombineStates(const ScanParts& parts, const std::vector<Value>& left,
                                                const std::vector<Value>& right) {
  for (uint32_t s = 0; s < parts.states; ++s) {
    Put(parts.left + s, left[s]);
    Put(parts.right + s, right[s]);
  }
  Range(parts.combiner, parts.combined);
  std::vector<Value> combined;
  for (uint32_t s = 0; s < parts.states; ++s) combined.push_back(At(k_.insts[parts.combined + s].a));
  return combined;
}

// Lane i is lane i - distance of `v`, and that of `fill` where there is none.
V KernelEmitter::ShiftedUp(V v, V fill, unsigned distance) {
  std::vector<V> from;
  for (unsigned i = 0; i < l_.lanes; ++i) {
    from.push_back(l_.I32(static_cast<int>(i < distance ? l_.lanes + i : i - distance)));
  }
  return LLVMBuildShuffleVector(l_.b, v, fill, LLVMConstVector(from.data(), l_.lanes), "");
}

// `v` as something that LLVM knows nothing about: to shift in what it knows to be zeros it takes an instruction that is
// five times as slow as a permutation of two registers.
V KernelEmitter::Hidden(V v) {
  V slot = l_.Alloca(LLVMTypeOf(v), "hidden");
  LLVMSetVolatile(LLVMBuildStore(l_.b, v, slot), 1);
  V hidden = LLVMBuildLoad2(l_.b, LLVMTypeOf(v), slot, "");
  LLVMSetVolatile(hidden, 1);
  return hidden;
}

Value KernelEmitter::LastLane(const Value& v) {
  std::vector<V> last(l_.lanes, l_.I32(static_cast<int>(l_.lanes) - 1));
  V each = AsVector(v);
  return {
      nullptr,
      LLVMBuildShuffleVector(l_.b, each, LLVMGetUndef(LLVMTypeOf(each)), LLVMConstVector(last.data(), l_.lanes), ""),
      0};
}

// What the trips of one vector add, without what was before.
void KernelEmitter::CombineWithinVector(const ScanParts& parts, std::vector<Value>& elements) {
  for (uint32_t s = 0; s < parts.states; ++s) {
    V each = AsVector(elements[s]);
    // Behind the last trip lie elements that change nothing.
    if (mask_ != nullptr) each = LLVMBuildSelect(l_.b, mask_, each, scan_.identities[s], "");
    elements[s] = {nullptr, each, 0};
  }
  for (unsigned distance = 1; distance < l_.lanes; distance *= 2) {
    std::vector<Value> before;
    for (uint32_t s = 0; s < parts.states; ++s) {
      before.push_back({nullptr, ShiftedUp(AsVector(elements[s]), scan_.identities[s], distance), 0});
    }
    elements = CombineStates(parts, before, elements);
  }
}

void KernelEmitter::Prefixes(uint32_t first) {
  const ScanParts parts(k_, blocks_, scan_.id);
  std::vector<Value> before, elements;
  for (uint32_t s = 0; s < parts.states; ++s) {
    V state = LLVMBuildLoad2(l_.b, StateType(parts.left + s), scan_.states[s], "");
    before.push_back(LlvmBuilder::IsVector(state) ? Value{nullptr, state, 0} : Value{state, nullptr, 0});
    elements.push_back(At(k_.insts[first + s].a));
  }
  if (scan_.in_lanes) CombineWithinVector(parts, elements);
  const std::vector<Value> prefixes = CombineStates(parts, before, elements);
  std::vector<Value> next = prefixes;
  if (scan_.in_lanes) {
    // A short combiner once more: so the next vector waits for nothing else.
    const bool again = parts.combined - parts.combiner <= kShortCombiner;
    next = again ? elements : prefixes;
    for (Value& v : next) v = LastLane(v);
    if (again) next = CombineStates(parts, before, next);
  }
  for (uint32_t s = 0; s < parts.states; ++s) {
    Put(first + s, prefixes[s]);
    StoreState(s, before[s], next[s]);
  }
}

void KernelEmitter::StoreState(uint32_t state, const Value& before, const Value& next) {
  if (before.linear()) {
    LLVMBuildStore(l_.b, next.one, scan_.states[state]);
    return;
  }
  V v = AsVector(next);
  if (!scan_.in_lanes && mask_ != nullptr && masked_depth_ > 0) v = LLVMBuildSelect(l_.b, mask_, v, before.each, "");
  LLVMBuildStore(l_.b, v, scan_.states[state]);
}

}  // namespace ricci::cpu
