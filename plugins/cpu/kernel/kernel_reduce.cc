// Reductions of a kernel: in order, spread over lanes with several accumulators, or in chunks that run on several
// threads.
//
// The tree in which parts are combined depends only on shapes.
//
// Sums in lanes have four accumulators, which hides the latency of additions. Chunks are for reductions with few
// results: few long rows, few columns, a total.
#include "cpu/kernel/kernel_blocks.h"
#include "cpu/scalar/combiner.h"
#include "cpu/scalar/conversion_codegen.h"

namespace ricci::cpu {

uint32_t SumsInLanes(uint32_t length) { return length < 2 * kShortBody ? 4 : 1; }
uint32_t SumsInOrder(std::optional<int64_t> trips, uint32_t length) {
  return trips && *trips >= kManyElements && length <= kShortBody ? 4 : 1;
}

void KernelEmitter::Finish(uint32_t yield, V sum, uint32_t acc_dtype, bool empty_possible) {
  const uint32_t dtype = k_.insts[yield].dtype;
  const uint32_t reduce = k_.insts[yield].a;
  if (k_.insts[reduce].imm == RICCI_S_ADD && IsFloat(dtype) && empty_possible) {
    sum = LLVMBuildFAdd(l_.b, sum, l_.RealLike(sum, 0.0), "");
  }
  Define(yield, EmitWiden(l_, acc_dtype, dtype, sum));
}

// `sum`, of `acc_dtype`, with what `yield` adds to it. Extrema may be found among integers (combiner.h).
V KernelEmitter::Added(uint32_t yield, uint32_t acc_dtype, bool vector, V sum) {
  const ricci_inst& inst = k_.insts[yield];
  const auto value = [&](uint32_t v) { return vector ? Each(v) : One(v); };
  if (inst.imm != 0) {
    const ricci_inst& product = k_.insts[inst.b];
    return l_.MultiplyAdd(value(product.a), value(product.b), sum);
  }
  const auto op = static_cast<uint32_t>(k_.insts[inst.a].imm);
  const uint32_t of_elements = AccumulatorDType(inst.dtype);
  V element = EmitWiden(l_, inst.dtype, of_elements, value(inst.b));
  return EmitCombine(l_, op, acc_dtype, sum, acc_dtype == of_elements ? element : EmitToKey(l_, op, element));
}

uint32_t KernelEmitter::Reduce(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  const uint32_t close = blocks_.close[id];
  const auto trips = TripsOf(k_, id);
  const bool bounds = At(inst.a).uniform() && At(inst.b).uniform();
  if (!spreading_ && bounds && Spreads(k_, blocks_, id, l_.lanes)) {
    const uint32_t acc = AccumulatorDType(k_.insts[close].dtype);
    Finish(close, ReduceSpread(id, close, One(inst.a), One(inst.b), trips), acc, false);
    return close;
  }
  return ReduceInOrder(id, close, trips, bounds);
}

uint32_t KernelEmitter::ReduceInOrder(uint32_t id, uint32_t close, std::optional<int64_t> trips, bool bounds) {
  const ricci_inst &inst = k_.insts[id], &yield = k_.insts[close];
  const auto op = static_cast<uint32_t>(inst.imm);
  const uint32_t acc = AccumulatorDType(yield.dtype);
  const bool vector = spreading_ && varying_[close];
  if (bounds && !Unrolls(k_, blocks_, id)) {
    const uint32_t sums = SumsInOrder(trips, close - id);
    Finish(close, Accumulate(id, One(inst.a), One(inst.b), vector, sums), acc, true);
    return close;
  }
  const LLVMTypeRef t = vector ? l_.vec(ValueType(l_, acc)) : ValueType(l_, acc);
  V slot = l_.Alloca(t, "sum"), identity = EmitIdentity(l_, op, acc);
  LLVMBuildStore(l_.b, vector ? l_.Splat(identity) : identity, slot);
  auto step = [&] {
    Range(id + 1, close);
    V old = LLVMBuildLoad2(l_.b, t, slot, "");
    V v = Added(close, acc, vector, old);
    if (vector && masked_depth_ > 0 && mask_ != nullptr) v = LLVMBuildSelect(l_.b, mask_, v, old, "");
    LLVMBuildStore(l_.b, v, slot);
  };
  if (!bounds) {
    LoopPerLane(id, step);
  } else {
    for (int64_t n = 0; n < *trips; ++n) {
      Put(id, {l_.I64(*ConstantOf(k_, inst.a) + n), nullptr, 0});
      step();
    }
  }
  Finish(close, LLVMBuildLoad2(l_.b, t, slot, ""), acc, true);
  return close;
}

V KernelEmitter::Accumulate(uint32_t id, V lo, V hi, bool vector, uint32_t sums) {
  const uint32_t close = blocks_.close[id];
  const ricci_inst &inst = k_.insts[id], &yield = k_.insts[close];
  const auto op = static_cast<uint32_t>(inst.imm);
  const uint32_t of_elements = AccumulatorDType(yield.dtype);
  const bool keys = vector && InKeys(op, of_elements);
  const uint32_t acc = keys ? static_cast<uint32_t>(RICCI_I32) : of_elements;
  const LLVMTypeRef t = vector ? l_.vec(ValueType(l_, acc)) : ValueType(l_, acc);
  V identity = EmitIdentity(l_, op, acc);
  std::vector<V> slots(sums);
  for (V& slot : slots) {
    slot = l_.Alloca(t, "sum");
    LLVMBuildStore(l_.b, vector ? l_.Splat(identity) : identity, slot);
  }
  const auto step = [&](V i, V slot) {
    Put(id, {i, nullptr, 0});
    Range(id + 1, close);
    V old = LLVMBuildLoad2(l_.b, t, slot, "");
    V v = Added(close, acc, vector, old);
    if (vector && masked_depth_ > 0 && mask_ != nullptr) v = LLVMBuildSelect(l_.b, mask_, v, old, "");
    LLVMBuildStore(l_.b, v, slot);
  };
  if (sums > 1) {
    const int64_t ways = sums;
    V count = LLVMBuildSub(l_.b, hi, lo, "");
    V whole = LLVMBuildAdd(l_.b, lo, LLVMBuildAnd(l_.b, count, l_.I64(-ways), ""), "");
    Loop(lo, whole, ways, PollOf(id), [&](V i) {
      for (size_t w = 0; w < slots.size(); ++w)
        step(LLVMBuildAdd(l_.b, i, l_.I64(static_cast<int64_t>(w)), ""), slots[w]);
    });
    lo = whole;
  }
  Loop(lo, hi, 1, sums > 1 ? LoopPoll{} : PollOf(id), [&](V i) { step(i, slots[0]); });
  std::vector<V> all;
  for (V slot : slots) all.push_back(LLVMBuildLoad2(l_.b, t, slot, ""));
  if (sums > 1)
    all[0] =
        EmitCombine(l_, op, acc, EmitCombine(l_, op, acc, all[0], all[1]), EmitCombine(l_, op, acc, all[2], all[3]));
  return keys ? EmitFromKey(l_, op, all[0]) : all[0];
}

V KernelEmitter::ReduceSpread(uint32_t id, uint32_t close, V lo, V hi, std::optional<int64_t> trips) {
  const ricci_inst &inst = k_.insts[id], &yield = k_.insts[close];
  const auto op = static_cast<uint32_t>(inst.imm);
  const uint32_t of_elements = AccumulatorDType(yield.dtype);
  const bool keys = InKeys(op, of_elements);
  const uint32_t acc = keys ? static_cast<uint32_t>(RICCI_I32) : of_elements;
  const LLVMTypeRef t = l_.vec(ValueType(l_, acc));
  const unsigned ways = SumsInLanes(close - id);
  V identity = l_.Splat(EmitIdentity(l_, op, acc));
  std::vector<V> slots;
  for (unsigned w = 0; w < ways; ++w) {
    slots.push_back(l_.Alloca(t, "sum"));
    LLVMBuildStore(l_.b, identity, slots[w]);
  }
  varying_ = FindVarying(k_, blocks_, id, id + 1, close);
  spreading_ = true;
  auto step = [&](V x, V slot, V mask) {
    Put(id, {x, nullptr, 1});
    mask_ = mask;
    Range(id + 1, close);
    V old = LLVMBuildLoad2(l_.b, t, slot, "");
    V v = Added(close, acc, true, old);
    if (mask != nullptr) v = LLVMBuildSelect(l_.b, mask, v, old, "");
    LLVMBuildStore(l_.b, v, slot);
    mask_ = nullptr;
  };
  const int64_t stride = static_cast<int64_t>(l_.lanes) * ways;
  V count = LLVMBuildSub(l_.b, hi, lo, "");
  V whole = LLVMBuildAdd(l_.b, lo,
                         LLVMBuildMul(l_.b, LLVMBuildSDiv(l_.b, count, l_.I64(stride), ""), l_.I64(stride), ""), "");
  Loop(lo, whole, stride, PollOf(id), [&](V x) {
    for (unsigned w = 0; w < ways; ++w) step(LLVMBuildAdd(l_.b, x, l_.I64(w * l_.lanes), ""), slots[w], nullptr);
  });
  if (!trips || *trips % stride != 0 || schedule_.split == id) {
    Loop(whole, hi, l_.lanes, [&](V x) { step(x, slots[0], TailMask(x, hi)); });
  }
  spreading_ = false;
  std::vector<V> sums;
  for (V slot : slots) sums.push_back(LLVMBuildLoad2(l_.b, t, slot, ""));
  while (sums.size() > 1) {
    std::vector<V> next;
    for (size_t i = 0; i + 1 < sums.size(); i += 2) next.push_back(EmitCombine(l_, op, acc, sums[i], sums[i + 1]));
    sums = next;
  }
  V sum = EmitAcross(l_, op, acc, sums[0]);
  if (op == RICCI_S_ADD && IsFloat(acc)) sum = LLVMBuildFAdd(l_.b, sum, LLVMConstReal(ValueType(l_, acc), 0), "");
  return keys ? EmitFromKey(l_, op, sum) : sum;
}

// The chunks of a row lie one after another, each with one sum per column.
uint32_t KernelEmitter::Split(uint32_t id) {
  const uint32_t close = blocks_.close[id];
  const ricci_inst& inst = k_.insts[id];
  const auto op = static_cast<uint32_t>(inst.imm);
  const uint32_t acc = AccumulatorDType(k_.insts[close].dtype);
  const bool vector = spreading_ && varying_[close];
  const int64_t inner = k_.domain_rank == 0 ? 1 : k_.domain[k_.domain_rank - 1];
  const LLVMTypeRef one = MemoryType(l_, acc), t = vector ? l_.vec(one) : one;
  const auto address_of = [&](V chunk) {
    V number = LLVMBuildAdd(l_.b, LLVMBuildMul(l_.b, row_, l_.I64(schedule_.chunks), ""), chunk, "");
    V at = LLVMBuildAdd(l_.b, LLVMBuildMul(l_.b, number, l_.I64(inner), ""), column_, "");
    return Element(one, Buffer(k_.n_buffers), at);
  };
  if (part_ == Part::kPartial) {
    V from = LLVMBuildAdd(l_.b, One(inst.a), LLVMBuildMul(l_.b, chunk_, l_.I64(schedule_.chunk_length), ""), "");
    V to = l_.Fn("llvm.smin", LLVMBuildAdd(l_.b, from, l_.I64(schedule_.chunk_length), ""), One(inst.b));
    const bool innermost = Innermost(k_, blocks_, id, l_.lanes);
    V sum = spreading_ || !innermost ? Accumulate(id, from, to, vector, innermost && close - id <= kShortBody ? 4 : 1)
                                     : ReduceSpread(id, close, from, to, std::nullopt);
    V memory = ToMemory(acc, sum), at = address_of(chunk_);
    if (vector && mask_ != nullptr) {
      l_.Intrinsic("llvm.masked.store", {t, l_.ptr()}, {memory, at, l_.I32(static_cast<int>(Align(acc))), mask_});
    } else {
      LLVMSetAlignment(LLVMBuildStore(l_.b, memory, at), Align(acc));
    }
    done_ = true;
    return close;
  }
  const LLVMTypeRef value = vector ? l_.vec(ValueType(l_, acc)) : ValueType(l_, acc);
  V slot = l_.Alloca(value, "sum"), identity = EmitIdentity(l_, op, acc);
  LLVMBuildStore(l_.b, vector ? l_.Splat(identity) : identity, slot);
  Loop(l_.I64(0), l_.I64(schedule_.chunks), 1, [&](V chunk) {
    V part = LLVMBuildLoad2(l_.b, t, address_of(chunk), "");  // after the last column lie other sums, or room for them
    LLVMSetAlignment(part, Align(acc));
    V old = LLVMBuildLoad2(l_.b, value, slot, "");
    LLVMBuildStore(l_.b, EmitCombine(l_, op, acc, old, FromMemory(acc, part)), slot);
  });
  Finish(close, LLVMBuildLoad2(l_.b, value, slot, ""), acc, true);
  return close;
}

}  // namespace ricci::cpu
