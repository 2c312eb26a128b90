#include "kernel_codegen.h"

#include <algorithm>

#include "kernel_emitter.h"
#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

std::string NameOf(uint16_t op) {
  constexpr const char* kNames[] = {"nothing",
#define RICCI_X(NAME, number, arity, text) text,
                                    RICCI_SCALAR_OPS(RICCI_X)
#undef RICCI_X
  };
  static_assert(std::size(kNames) == RICCI_S_COUNT);
  return op < RICCI_S_COUNT ? kNames[op] : "instruction " + std::to_string(op);
}
std::string DTypeName(uint32_t dtype) {
  ricci_str name;
  ricci_dtype_name(dtype, &name);
  return {name.ptr, name.len};
}

}  // namespace

void KernelEmitter::Emit(const std::string& name, Part part) {
  part_ = part;
  LLVMTypeRef params[] = {l_.ptr(), l_.i64(), l_.i64(), l_.ptr()};
  function_ = LLVMAddFunction(l_.module, name.c_str(), LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), params, 4, 0));
  LLVMSetLinkage(function_, LLVMInternalLinkage);
  (part == Part::kWhole ? out_.function : out_.partial) = function_;
  LLVMPositionBuilderAtEnd(l_.b, LLVMAppendBasicBlockInContext(l_.ctx, function_, "entry"));
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, function_, "start");
  LLVMPositionBuilderAtEnd(l_.b, start);
  for (size_t i = 0; CountBuffers() <= kHeldBuffers && i < CountBuffers(); ++i) buffers_.push_back(LoadBuffer(i));
  Domain();
  LLVMBuildRetVoid(l_.b);
  LLVMPositionBuilderAtEnd(l_.b, LLVMGetEntryBasicBlock(function_));
  LLVMBuildBr(l_.b, start);
}

V KernelEmitter::LoadBuffer(size_t i) {
  V slot = Element(l_.ptr(), LLVMGetParam(function_, 0), l_.I64(static_cast<int64_t>(i)));
  return LLVMBuildLoad2(l_.b, l_.ptr(), slot, "buffer");
}

uint32_t KernelEmitter::FindSplit() {
  uint32_t found = 0;
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    const uint16_t op = k_.insts[i].op;
    if (blocks_.parent[i] != 0) continue;
    if (op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_LOCAL) return 0;
    if ((op == RICCI_K_STORE || op == RICCI_K_CHECK) && found == 0) return 0;
    if (op != RICCI_K_REDUCE) continue;
    const auto trips = TripsOf(k_, i);
    if (found != 0 || !trips || *trips < 2 * ChunkLength(i)) return 0;
    found = i;
  }
  const uint32_t rank = k_.domain_rank;
  if (found == 0 || rank == 0) return found;
  const bool lanes = LanesOverDomain(k_, blocks_, l_.lanes);
  int64_t tasks = rank == 1 ? k_.domain[0] : 1;
  for (uint32_t d = 0; d + 1 < rank; ++d) tasks *= k_.domain[d];
  if (rank == 1 && lanes) tasks /= int64_t{4} * l_.lanes;
  return tasks < kFewTasks ? found : 0;
}

// Trips of the reductions within `reduce` for one trip of its own.
int64_t KernelEmitter::NestedTrips(uint32_t reduce) const {
  int64_t most = 1;
  for (uint32_t i = reduce + 1; i < blocks_.close[reduce]; ++i) {
    if (k_.insts[i].op != RICCI_K_REDUCE) continue;
    const ricci_exact trips = ricci_exact_of(TripsOf(k_, i).value_or(1)) * NestedTrips(i);
    most = std::max(most, ricci_exact_clamp(trips, 0, kReduceChunk));
    i = blocks_.close[i];
  }
  return most;
}

int64_t KernelEmitter::ChunkLength(uint32_t reduce) const {
  const int64_t inner = k_.domain_rank == 0 ? 1 : std::max<int64_t>(k_.domain[k_.domain_rank - 1], 1);
  const int64_t nested = NestedTrips(reduce);
  if (nested > 1) return std::max(kReduceChunk / inner / nested, int64_t{1});
  return std::max(kReduceChunk / inner / kLeastChunk, int64_t{1}) * kLeastChunk;
}

void KernelEmitter::SetSplit(uint32_t reduce) {
  split_ = reduce;
  chunk_length_ = ChunkLength(reduce);
  chunks_ = (*TripsOf(k_, reduce) + chunk_length_ - 1) / chunk_length_;
  int64_t rows = 1;
  for (uint32_t d = 0; d + 1 < k_.domain_rank; ++d) rows *= k_.domain[d];
  out_.partial_chunks = rows * chunks_;
  out_.partials = out_.partial_chunks * (k_.domain_rank == 0 ? 1 : k_.domain[k_.domain_rank - 1]);
}

bool KernelEmitter::Fail(const std::string& what) {
  if (out_.error.empty()) out_.error = what;
  return false;
}

void KernelEmitter::Domain() {
  const uint32_t rank = k_.domain_rank;
  std::vector<uint32_t>& dims = dims_;
  dims.assign(rank, 0);
  for (uint32_t i = 0; i < k_.n_insts; ++i) {
    if (k_.insts[i].op == RICCI_K_DOMAIN) dims[static_cast<size_t>(k_.insts[i].imm)] = i;
  }
  if (part_ == Part::kPartial) return Chunks();
  V begin = LLVMGetParam(function_, 1), end = LLVMGetParam(function_, 2);
  const bool lanes = LanesOverDomain(k_, blocks_, l_.lanes);
  row_ = column_ = l_.I64(0);
  if (rank == 0) {
    out_.units = 1;
    Range(1, k_.n_insts);
    return;
  }
  const int64_t inner = k_.domain[rank - 1];
  const bool together = split_ == 0 && lanes && rank > 2 && dims[rank - 2] != 0 && RowsTogether();
  std::vector<Piece> pieces;
  if (!together && split_ == 0) pieces = CutDomain(k_, blocks_, dims, l_.lanes);
  if (rank == 1) {
    out_.units = inner;
    // Tasks begin at multiples of the lanes, so only the last vector of all is partial.
    if (!pieces.empty()) return SpreadPieces(pieces, 0, begin, end, lanes);
    Spread(dims[0], begin, end, lanes, inner % l_.lanes == 0);
  } else {
    if (together) together_ = dims[rank - 2];
    const uint32_t outer = rank - 1 - together;
    out_.units = 1;
    for (uint32_t d = 0; d < outer; ++d) out_.units *= k_.domain[d];
    Loop(begin, end, 1, [&](V row) {
      row_ = row;
      SetRow(row, 1 + together);
      if (!pieces.empty()) return SpreadPieces(pieces, 0, l_.I64(0), l_.I64(inner), lanes);
      Spread(dims[rank - 1], l_.I64(0), l_.I64(inner), lanes, inner % l_.lanes == 0);
    });
  }
}

void KernelEmitter::SetRow(V row, uint32_t inner) {
  for (uint32_t d = k_.domain_rank - inner; d-- > 0;) {
    V extent = l_.I64(k_.domain[d]);
    if (dims_[d] != 0) values_[dims_[d]] = {d == 0 ? row : LLVMBuildURem(l_.b, row, extent, ""), nullptr, 0};
    if (d != 0) row = LLVMBuildUDiv(l_.b, row, extent, "");
  }
}

void KernelEmitter::Chunks() {
  const uint32_t rank = k_.domain_rank;
  Loop(LLVMGetParam(function_, 1), LLVMGetParam(function_, 2), 1, [&](V unit) {
    row_ = LLVMBuildUDiv(l_.b, unit, l_.I64(chunks_), "");
    chunk_ = LLVMBuildURem(l_.b, unit, l_.I64(chunks_), "");
    column_ = l_.I64(0);
    if (rank == 0) return Range(1, k_.n_insts);
    SetRow(row_, 1);
    const int64_t inner = k_.domain[rank - 1];
    const bool lanes = LanesOverDomain(k_, blocks_, l_.lanes);
    Spread(dims_[rank - 1], l_.I64(0), l_.I64(inner), lanes, inner % l_.lanes == 0);
  });
}

void KernelEmitter::SpreadPieces(const std::vector<Piece>& pieces, uint32_t d, V begin, V end, bool lanes) {
  if (d + 1 == k_.domain_rank) {
    for (const Piece& p : pieces) {
      facts_ = &p.facts[0];
      V lo = l_.Fn("llvm.smax", begin, l_.I64(p.range.lo)), hi = l_.Fn("llvm.smin", end, l_.I64(p.range.hi));
      const bool even = p.range.lo % l_.lanes == 0 && p.range.hi % l_.lanes == 0;
      Spread(dims_[d], lo, hi, lanes, even);
    }
    facts_ = nullptr;
    return;
  }
  const auto from = [&](size_t i, const auto& next) -> void {
    if (i + 1 == pieces.size()) return SpreadPieces(pieces[i].inner, d + 1, begin, end, lanes);
    V inside = LLVMBuildICmp(l_.b, LLVMIntSLT, One(dims_[d]), l_.I64(pieces[i].range.hi), "");
    Branch(
        inside, [&] { SpreadPieces(pieces[i].inner, d + 1, begin, end, lanes); }, [&] { next(i + 1, next); });
  };
  from(0, from);
}

void KernelEmitter::Spread(uint32_t dim, V begin, V end, bool lanes, bool even) {
  const uint32_t root = dim == 0 ? 0 : dim;
  if (!lanes || dim == 0) {
    Loop(begin, end, 1, [&](V x) {
      if (root != 0) values_[root] = {x, nullptr, 0};
      column_ = x;
      Points();
    });
    return;
  }
  varying_ = FindVarying(k_, blocks_, root, 1, k_.n_insts);
  spreading_ = true;
  Loop(begin, end, l_.lanes, [&](V x) {
    values_[root] = {x, nullptr, 1};
    column_ = x;
    mask_ = even ? nullptr : TailMask(x, end);
    Points();
    mask_ = nullptr;
  });
  spreading_ = false;
}

// Many short rows of which few make a matrix: the rows of one are computed together, so that what they all read is
// loaded once. Nothing may be read back, since the stores of all come last.
bool KernelEmitter::RowsTogether() const {
  const int64_t rows = k_.domain[k_.domain_rank - 2], width = k_.domain[k_.domain_rank - 1];
  if (rows > kRowsTogether || width > l_.lanes) return false;
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    const ricci_inst& inst = k_.insts[i];
    if (inst.op == RICCI_K_STORE && (blocks_.parent[i] != 0 || k_.buffers[inst.imm].access != RICCI_ACCESS_WRITE)) {
      return false;
    }
  }
  return CostOfPoint(k_, blocks_) * static_cast<double>(rows) <= static_cast<double>(kUnrollInsts);
}

void KernelEmitter::Points() {
  if (together_ == 0) return Range(1, k_.n_insts);
  for (int64_t row = 0; row < k_.domain[k_.domain_rank - 2]; ++row) {
    values_[together_] = {l_.I64(row), nullptr, 0};
    Range(1, k_.n_insts);
  }
  for (const Postponed& p : postponed_) {
    const ricci_inst& inst = k_.insts[p.store];
    values_[inst.a] = p.index, values_[inst.b] = p.value;
    StoreTo(k_.buffers[inst.imm].dtype, Buffer(static_cast<size_t>(inst.imm)), p.index, inst.a, inst.b);
  }
  postponed_.clear();
}

V KernelEmitter::TailMask(V x, V end) {
  V left = LLVMBuildSub(l_.b, end, x, "");
  return LLVMBuildICmp(l_.b, LLVMIntULT, l_.LaneNumbers(), l_.Splat(left), "mask");
}

void KernelEmitter::Define(uint32_t id, V v) {
  values_[id] = LlvmBuilder::IsVector(v) ? Value{nullptr, v, 0} : Value{v, nullptr, 0};
}

V KernelEmitter::Constant(uint32_t dtype, int64_t bits) {
  const LLVMTypeRef t = ValueType(l_, dtype);
  switch (dtype) {
    case RICCI_F16:
    case RICCI_BF16:
      return LLVMConstBitCast(LLVMConstInt(LLVMInt16TypeInContext(l_.ctx), static_cast<uint64_t>(bits), 0), t);
    case RICCI_F32:
      return LLVMConstBitCast(LLVMConstInt(l_.i32(), static_cast<uint64_t>(bits), 0), t);
    case RICCI_F64:
      return LLVMConstBitCast(LLVMConstInt(l_.i64(), static_cast<uint64_t>(bits), 0), t);
    default:
      return LLVMConstInt(t, static_cast<uint64_t>(bits), 0);
  }
}

void KernelEmitter::Scalar(uint32_t id) {
  const ricci_inst& inst = k_.insts[id];
  if (Linear(id, inst)) return;
  std::vector<uint32_t> operands;
  for (uint32_t o : {inst.a, inst.b, inst.c}) {
    if (o != 0) operands.push_back(o);
  }
  bool vector = false;
  for (uint32_t o : operands) vector |= !values_[o].uniform();
  std::vector<V> in;
  for (uint32_t o : operands) in.push_back(vector ? Each(o) : One(o));
  const uint32_t from = k_.insts[inst.op == RICCI_S_SELECT ? inst.b : inst.a].dtype;
  V r = EmitScalar(l_, inst.op, from, inst.dtype, in);
  if (r == nullptr) {
    Fail("no code for " + NameOf(inst.op) + " of " + DTypeName(from));
    r = LLVMConstNull(vector ? l_.vec(ValueType(l_, inst.dtype)) : ValueType(l_, inst.dtype));
  }
  Define(id, r);
}

bool KernelEmitter::Linear(uint32_t id, const ricci_inst& inst) {
  if (inst.dtype != RICCI_I64 || (inst.op != RICCI_S_ADD && inst.op != RICCI_S_SUB && inst.op != RICCI_S_MUL))
    return false;
  const Value &a = values_[inst.a], &b = values_[inst.b];
  if (!a.linear() || !b.linear()) return false;
  if (inst.op == RICCI_S_MUL) {
    const auto ca = ConstantOf(k_, inst.a), cb = ConstantOf(k_, inst.b);
    if (!cb && !ca && (a.stride != 0 || b.stride != 0)) return false;
    int64_t stride = 0;
    const ricci_exact product = ricci_exact_of(cb ? a.stride : b.stride) * (cb ? *cb : ca ? *ca : 0);
    if (ricci_exact_narrow(product, INT64_MIN, INT64_MAX, &stride) == 0) return false;
    values_[id] = {LLVMBuildMul(l_.b, a.one, b.one, ""), nullptr, stride};
    return true;
  }
  const bool add = inst.op == RICCI_S_ADD;
  int64_t stride = 0;
  const ricci_exact sum = add ? ricci_exact_of(a.stride) + b.stride : ricci_exact_of(a.stride) - b.stride;
  if (ricci_exact_narrow(sum, INT64_MIN, INT64_MAX, &stride) == 0) return false;
  V base = add ? LLVMBuildAdd(l_.b, a.one, b.one, "") : LLVMBuildSub(l_.b, a.one, b.one, "");
  values_[id] = {base, nullptr, stride};
  return true;
}

namespace {

// Whether a point is one long chain of dependent steps, such as a time integration over little private state. Two
// vectors of lanes then run beside each other and hide each other's latency; their state must fit the registers.
bool IsLongChain(const ricci_kernel_table& k, const Blocks& blocks, unsigned lanes) {
  if (k.domain_rank == 0 || k.domain[k.domain_rank - 1] < kChainPoints || !LanesOverDomain(k, blocks, 2 * lanes)) {
    return false;
  }
  bool chain = false;
  int64_t state = 0;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    if (inst.dtype == RICCI_F64 || inst.op == RICCI_K_WHILE || inst.op == RICCI_K_REDUCE) return false;
    if (inst.op == RICCI_K_LOCAL && inst.imm <= kChainState) state += inst.imm;
    if (inst.op != RICCI_K_FOR) continue;
    const auto trips = TripsOf(k, i);
    if (inst.imm == 1 || !trips || blocks.close[i] - i > kChainInsts) return false;
    chain |= *trips > kUnrollInsts / (blocks.close[i] - i);
  }
  return chain && state <= kChainState;
}

// A short innermost dimension needs no more lanes than it has points.
unsigned LanesOfShortRows(const ricci_kernel_table& k, unsigned lanes) {
  if (k.domain_rank < 1 || !LanesOverDomain(k, Blocks(k), lanes)) return lanes;
  while (lanes > kFewestLanes && lanes / 2 >= k.domain[k.domain_rank - 1]) lanes /= 2;
  return lanes;
}

// Special functions of which there are many (a long program of scalars) are called: their code would be most of what is
// compiled. Over many points they stay inline much longer, since a call costs vectors half of their speed.
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

KernelCode EmitKernel(const LlvmBuilder& builder, const ricci_kernel_table& k, const std::string& name) {
  KernelCode out;
  LlvmBuilder l = builder;
  if (IsLongChain(k, Blocks(k), l.lanes)) l.lanes *= 2;
  l.lanes = LanesOfShortRows(k, l.lanes);
  l.shared_math = SharedMath(k);
  for (uint32_t i = 0; i < k.n_insts; ++i) out.checks |= k.insts[i].op == RICCI_K_CHECK;
  const uint32_t split = KernelEmitter(l, k, out).FindSplit();
  KernelEmitter whole(l, k, out);
  if (split != 0) {
    KernelEmitter partial(l, k, out);
    partial.SetSplit(split);
    partial.Emit(name + "_chunks", Part::kPartial);
    whole.SetSplit(split);
  }
  whole.Emit(name, Part::kWhole);
  const Blocks blocks(k);
  double per_unit = std::max(1.0, CostOfPoint(k, blocks));
  for (uint32_t d = 0; d < k.domain_rank; ++d) per_unit *= static_cast<double>(k.domain[d]);
  per_unit /= static_cast<double>(std::max<int64_t>(out.units, 1));
  const int64_t align = k.domain_rank == 1 && LanesOverDomain(k, blocks, l.lanes) ? l.lanes * 4 : 1;
  const auto grain = static_cast<int64_t>(kTaskCost / per_unit);
  if (split != 0) {  // little is left to do
    out.grain = out.units;
    return out;
  }
  out.grain = std::max<int64_t>({1, (grain + align - 1) / align, (out.units / kTasks + align - 1) / align}) * align;
  return out;
}

}  // namespace ricci::cpu
