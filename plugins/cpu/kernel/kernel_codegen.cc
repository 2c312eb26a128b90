#include "cpu/kernel/kernel_codegen.h"

#include <algorithm>

#include "cpu/kernel/kernel_blocks.h"
#include "cpu/scalar/conversion_codegen.h"
#include "ricci/api_table.h"

namespace ricci::cpu {

void KernelEmitter::Emit(const std::string& name, Part part) {
  part_ = part;
  name_ = name;
  PrepareRegions();
  Function(name, [&] {
    (part == Part::kWhole ? out_.function : out_.partial) = function_;
    Domain();
  });
}

LLVMTypeRef KernelEmitter::FunctionType() {
  LLVMTypeRef params[] = {l_.ptr(), l_.i64(), l_.i64(), l_.ptr()};
  return LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), params, 4, 0);
}

V KernelEmitter::LoadBuffer(size_t i) {
  V slot = Element(l_.ptr(), LLVMGetParam(function_, 0), l_.I64(static_cast<int64_t>(i)));
  return LLVMBuildLoad2(l_.b, l_.ptr(), slot, "buffer");
}

LLVMBasicBlockRef KernelEmitter::Exit() {
  if (exit_ == nullptr) exit_ = l_.NewBlock("exit");
  return exit_;
}

CountedTrips KernelEmitter::BeginTrips(LoopPoll poll) {
  if (poll.every == 0) return {};
  CountedTrips trips;
  if (poll.every != 1) {
    trips.left = l_.Alloca(l_.i32(), "left");
    LLVMBuildStore(l_.b, l_.I32(static_cast<int32_t>(poll.every)), trips.left);
  }
  if (l_.stoppable) {
    trips.ended = l_.Alloca(l_.i64(), "ended");
    LLVMBuildStore(l_.b, l_.I64(0), trips.ended);
  }
  return trips;
}

void KernelEmitter::EndTrip(const CountedTrips& trips, LoopPoll poll) {
  if (poll.every == 0) return;
  const PollSite here{poll.loop, [&] {
                        V ended = LLVMBuildLoad2(l_.b, l_.i64(), trips.ended, "");
                        V now = LLVMBuildAdd(l_.b, ended, l_.I64(poll.every), "");
                        LLVMBuildStore(l_.b, now, trips.ended);
                        return now;
                      }};
  if (trips.left == nullptr) return PollRun(here);
  V now = LLVMBuildSub(l_.b, LLVMBuildLoad2(l_.b, l_.i32(), trips.left, ""), l_.I32(1), "");
  LLVMBuildStore(l_.b, now, trips.left);
  Branch(
      LLVMBuildICmp(l_.b, LLVMIntEQ, now, l_.I32(0), ""),
      [&] {
        PollRun(here);
        LLVMBuildStore(l_.b, l_.I32(static_cast<int32_t>(poll.every)), trips.left);
      },
      [] {});
}

bool KernelEmitter::Fail(const std::string& what) {
  if (out_.error.empty()) out_.error = what;
  return false;
}

void KernelEmitter::Domain() {
  if (IsSplitScan()) return ScanChunks();
  V begin = LLVMGetParam(function_, 1), end = LLVMGetParam(function_, 2);
  if (schedule_.copied) return part_ == Part::kPartial ? UpdateCopies(begin, end) : CombineCopies(begin, end);
  if (part_ == Part::kPartial) return Chunks();
  schedule_.shared == 0 ? Rows(begin, end) : Rows(l_.I64(0), CountRows());
}

V KernelEmitter::CountRows() {
  int64_t rows = k_.domain_rank == 1 ? k_.domain[0] : 1;
  for (uint32_t d = 0; d + 1 < k_.domain_rank; ++d) rows *= k_.domain[d];
  return l_.I64(rows);
}

// Rows [begin, end) of the domain, or points if it has one dimension.
void KernelEmitter::Rows(V begin, V end) {
  row_ = column_ = l_.I64(0);
  if (k_.domain_rank == 0) return Range(1, k_.n_insts);
  const int64_t inner = k_.domain[k_.domain_rank - 1];
  const auto columns = [&](V from, V to) {
    if (!schedule_.pieces.empty()) return SpreadPieces(schedule_.pieces, 0, from, to);
    // Tasks begin at multiples of the lanes, so only the last vector of all is partial.
    Spread(from, to, inner % l_.lanes == 0);
  };
  if (k_.domain_rank == 1) return columns(begin, end);
  if (!schedule_.squares.empty()) return Squares(begin, end);
  if (schedule_.rows_together) together_ = schedule_.dims[k_.domain_rank - 2];
  Loop(begin, end, 1, LoopPoll{polls_.units}, [&](V row) {
    row_ = row;
    SetRow(row, schedule_.rows_together ? 2 : 1);
    columns(l_.I64(0), l_.I64(inner));
  });
}

void KernelEmitter::SetRow(V row, uint32_t inner) {
  for (uint32_t d = k_.domain_rank - inner; d-- > 0;) {
    V extent = l_.I64(k_.domain[d]);
    if (schedule_.dims[d] != 0)
      Put(schedule_.dims[d], {d == 0 ? row : LLVMBuildURem(l_.b, row, extent, ""), nullptr, 0});
    if (d != 0) row = LLVMBuildUDiv(l_.b, row, extent, "");
  }
}

void KernelEmitter::Chunks() {
  V chunks = l_.I64(schedule_.chunks);
  Loop(LLVMGetParam(function_, 1), LLVMGetParam(function_, 2), 1, [&](V unit) {
    row_ = LLVMBuildUDiv(l_.b, unit, chunks, "");
    chunk_ = LLVMBuildURem(l_.b, unit, chunks, "");
    column_ = l_.I64(0);
    if (k_.domain_rank == 0) return Range(1, k_.n_insts);
    SetRow(row_, 1);
    const int64_t inner = k_.domain[k_.domain_rank - 1];
    Spread(l_.I64(0), l_.I64(inner), inner % l_.lanes == 0);
  });
}

// The chunks [begin, end) of a scan that runs on several threads.
void KernelEmitter::ScanChunks() {
  V chunks = l_.I64(schedule_.chunks);
  Loop(LLVMGetParam(function_, 1), LLVMGetParam(function_, 2), 1, LoopPoll{polls_.units}, [&](V unit) {
    row_ = LLVMBuildUDiv(l_.b, unit, chunks, "");
    chunk_ = LLVMBuildURem(l_.b, unit, chunks, "");
    SetRow(row_, 0);
    Range(1, k_.n_insts);
  });
}

void KernelEmitter::SpreadPieces(const std::vector<Piece>& pieces, uint32_t d, V begin, V end) {
  if (d + 1 == k_.domain_rank) {
    for (const Piece& p : pieces) {
      facts_ = &p.facts[0];
      V lo = l_.Fn("llvm.smax", begin, l_.I64(p.range.lo)), hi = l_.Fn("llvm.smin", end, l_.I64(p.range.hi));
      Spread(lo, hi, p.range.lo % l_.lanes == 0 && p.range.hi % l_.lanes == 0);
    }
    facts_ = nullptr;
    return;
  }
  const auto from = [&](size_t i, const auto& next) -> void {
    if (i + 1 == pieces.size()) return SpreadPieces(pieces[i].inner, d + 1, begin, end);
    V inside = LLVMBuildICmp(l_.b, LLVMIntSLT, One(schedule_.dims[d]), l_.I64(pieces[i].range.hi), "");
    Branch(
        inside, [&] { SpreadPieces(pieces[i].inner, d + 1, begin, end); }, [&] { next(i + 1, next); });
  };
  from(0, from);
}

void KernelEmitter::Spread(V begin, V end, bool even) {
  const uint32_t root = schedule_.dims[k_.domain_rank - 1];
  if (!schedule_.over_domain) {
    Loop(begin, end, 1, LoopPoll{polls_.columns}, [&](V x) {
      if (root != 0) Put(root, {x, nullptr, 0});
      column_ = x;
      Points();
    });
    return;
  }
  varying_ = FindVarying(k_, blocks_, root, 1, k_.n_insts);
  spreading_ = true;
  Loop(begin, end, l_.lanes, LoopPoll{polls_.columns}, [&](V x) {
    Put(root, {x, nullptr, 1});
    column_ = x;
    mask_ = even ? nullptr : TailMask(x, end);
    Points();
    mask_ = nullptr;
  });
  spreading_ = false;
}

void KernelEmitter::Points() {
  if (square_first_ != nullptr) return SquarePoints();
  if (together_ == 0) return Range(1, k_.n_insts);
  for (int64_t row = 0; row < k_.domain[k_.domain_rank - 2]; ++row) {
    Put(together_, {l_.I64(row), nullptr, 0});
    Range(1, k_.n_insts);
  }
  for (const Postponed& p : postponed_) {
    const ricci_inst& inst = k_.insts[p.store];
    Put(inst.a, p.index);
    Put(inst.b, p.value);
    Store(p.store, k_.n_insts);
  }
  postponed_.clear();
}

V KernelEmitter::TailMask(V x, V end) {
  V left = LLVMBuildSub(l_.b, end, x, "");
  return LLVMBuildICmp(l_.b, LLVMIntULT, l_.LaneNumbers(), l_.Splat(left), "mask");
}

void KernelEmitter::Define(uint32_t id, V v) {
  Put(id, LlvmBuilder::IsVector(v) ? Value{nullptr, v, 0} : Value{v, nullptr, 0});
}

V KernelEmitter::Constant(uint32_t dtype, int64_t bits) {
  const unsigned width = dtype == RICCI_BOOL ? 1 : 8 * codegen::SizeOfDType(dtype);
  const V number = LLVMConstInt(LLVMIntTypeInContext(l_.ctx, width), static_cast<uint64_t>(bits), 0);
  return IsFloat(dtype) ? LLVMConstBitCast(number, ValueType(l_, dtype)) : number;
}

void KernelEmitter::Scalar(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  if (Linear(id, inst)) return;
  std::vector<uint32_t> operands;
  for (uint32_t o : {inst.a, inst.b, inst.c}) {
    if (o != 0) operands.push_back(o);
  }
  bool vector = false;
  for (uint32_t o : operands) vector |= !At(o).uniform();
  std::vector<V> in;
  for (uint32_t o : operands) in.push_back(vector ? Each(o) : One(o));
  const uint32_t from = k_.insts[inst.op == RICCI_S_SELECT ? inst.b : inst.a].dtype;
  V r = EmitScalar(l_, inst.op, from, inst.dtype, in);
  if (r == nullptr) {
    Fail("no code for " + codegen::OperationName(inst.op) + " of " + std::string(codegen::DTypeName(from)));
    r = LLVMConstNull(vector ? l_.vec(ValueType(l_, inst.dtype)) : ValueType(l_, inst.dtype));
  }
  Define(id, r);
}

bool KernelEmitter::Linear(uint32_t id, const ricci_inst& inst) {
  if (inst.dtype == RICCI_I64 && inst.op == RICCI_S_SELECT) {  // all lanes take the same one
    const Value yes = At(inst.b), no = At(inst.c);
    if (!At(inst.a).uniform() || !yes.linear() || !no.linear() || yes.stride != no.stride) return false;
    Put(id, {LLVMBuildSelect(l_.b, One(inst.a), yes.one, no.one, ""), nullptr, yes.stride});
    return true;
  }
  if (inst.dtype != RICCI_I64 || (inst.op != RICCI_S_ADD && inst.op != RICCI_S_SUB && inst.op != RICCI_S_MUL))
    return false;
  const Value a = At(inst.a), b = At(inst.b);
  if (!a.linear() || !b.linear()) return false;
  if (inst.op == RICCI_S_MUL) {
    const auto ca = ConstantOf(k_, inst.a), cb = ConstantOf(k_, inst.b);
    if (!cb && !ca && (a.stride != 0 || b.stride != 0)) return false;
    int64_t stride = 0;
    const ricci_exact product = ricci_exact_of(cb ? a.stride : b.stride) * (cb ? *cb : ca ? *ca : 0);
    if (ricci_exact_narrow(product, INT64_MIN, INT64_MAX, &stride) == 0) return false;
    Put(id, {LLVMBuildMul(l_.b, a.one, b.one, ""), nullptr, stride});
    return true;
  }
  const bool add = inst.op == RICCI_S_ADD;
  int64_t stride = 0;
  const ricci_exact sum = add ? ricci_exact_of(a.stride) + b.stride : ricci_exact_of(a.stride) - b.stride;
  if (ricci_exact_narrow(sum, INT64_MIN, INT64_MAX, &stride) == 0) return false;
  V base = add ? LLVMBuildAdd(l_.b, a.one, b.one, "") : LLVMBuildSub(l_.b, a.one, b.one, "");
  Put(id, {base, nullptr, stride});
  return true;
}

namespace {

constexpr uint32_t kInlineMath = 16;  // special functions of one kind that a kernel holds inline,
constexpr uint32_t kInlineMathOfMany = 256;
constexpr double kManyPoints = 1024;  // for at least this many points

// Special functions that occur often (a long program of scalars) are called: inline they would be most of the code.
// Over many points the limit is much higher, since a call costs vectors half of their speed.
std::bitset<128> SharedMath(const ricci_kernel_table& k) {
  double points = 1;
  for (uint32_t d = 0; d < k.domain_rank; ++d) points *= static_cast<double>(k.domain[d]);
  const uint32_t most = points < kManyPoints ? kInlineMath : kInlineMathOfMany;
  uint32_t count[RICCI_S_COUNT] = {};
  std::bitset<128> shared;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const uint16_t op = k.insts[i].op;
    if (op < RICCI_S_COUNT && ++count[op] > most) shared.set(op);
  }
  return shared;
}

}  // namespace

ricci_target TargetOf(unsigned lanes, bool contracts) {
  ricci_target t{};
  t.hdr.size = sizeof t;
  ricci_target_init(&t);
  if (contracts) t.hdr.flags |= RICCI_TARGET_FMA;
  t.lanes = lanes;
  t.points_wanted = lanes;
  t.registers = lanes == 16 ? 32 : 16;
  t.cached_bytes_per_cycle = 2.0 * lanes;  // a vector stored or two loaded, and the work between
  return t;
}

KernelCode EmitKernel(const LlvmBuilder& builder, const ricci_kernel_table& k, const std::string& name,
                      uint32_t workers) {
  const Blocks blocks(k);
  const KernelSchedule schedule =
      codegen::ScheduleKernel(k, blocks, TargetOf(builder.lanes, builder.contracts), builder.cuts);
  KernelCode out;
  out.units = schedule.units, out.grain = schedule.grain;
  if (schedule.shared != 0) {  // however it is cut, the bits are the same
    const int64_t share = (out.units + workers - 1) / workers;
    out.grain = (std::max(out.grain, share) + out.grain - 1) / out.grain * out.grain;
  }
  LlvmBuilder l = builder;
  l.lanes = schedule.lanes;
  l.shared_math = SharedMath(k);
  const Polls polls = FindPolls(k, blocks, schedule, out.grain);
  out.polls = out.run_state = polls.any;
  out.poll_work = polls.work;
  for (uint32_t i = 0; i < k.n_insts; ++i) out.run_state |= k.insts[i].op == RICCI_K_CHECK;
  if (schedule.partials != 0) {
    KernelEmitter(l, k, blocks, schedule, polls, out).Emit(name + "_chunks", Part::kPartial);
    out.partial_chunks = schedule.partial_chunks, out.partials = schedule.partials;
  }
  KernelEmitter(l, k, blocks, schedule, polls, out).Emit(name, Part::kWhole);
  return out;
}

}  // namespace ricci::cpu
