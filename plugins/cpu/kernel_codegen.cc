#include "kernel_codegen.h"

#include <algorithm>

#include "scalar_codegen.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

constexpr uint64_t kStackLocal = 16 << 10;  // bytes of one private array on the stack; larger ones are in scratch
constexpr int64_t kUnrollInsts = 512;       // instructions that unrolling a small loop may make
constexpr int64_t kReduceChunk = 1 << 16;   // elements of one chunk of a long reduction
constexpr double kTaskCost = 1 << 16;       // scalar operations of one task

// A kernel value: the same for all lanes (`one`), or linear in the lane (`one` + stride * lane), or one per lane
// (`each`).
struct Value {
  V one = nullptr, each = nullptr;
  int64_t stride = 0;

  bool uniform() const { return one != nullptr && stride == 0; }
  bool linear() const { return one != nullptr; }
};

struct Local {
  V memory = nullptr;
  bool per_lane = false;
};

enum class Part : uint8_t { kWhole, kPartial };

class Codegen {
 public:
  Codegen(const LlvmBuilder& l, const ricci_kernel_table& k, KernelCode& out)
      : l_(l), k_(k), out_(out), blocks_(k), values_(k.n_insts), locals_(k.n_insts), varying_(k.n_insts, 0) {}

  void Emit(const std::string& name, Part part) {
    part_ = part;
    LLVMTypeRef params[] = {l_.ptr(), l_.i64(), l_.i64(), l_.ptr()};
    function_ = LLVMAddFunction(l_.module, name.c_str(), LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), params, 4, 0));
    LLVMSetLinkage(function_, LLVMInternalLinkage);
    (part == Part::kWhole ? out_.function : out_.partial) = function_;
    LLVMPositionBuilderAtEnd(l_.b, LLVMAppendBasicBlockInContext(l_.ctx, function_, "entry"));
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, function_, "start");
    LLVMPositionBuilderAtEnd(l_.b, start);
    for (uint32_t i = 0; i < k_.n_buffers + (split_ != 0); ++i) {
      V slot = Element(l_.ptr(), LLVMGetParam(function_, 0), l_.I64(i));
      buffers_.push_back(LLVMBuildLoad2(l_.b, l_.ptr(), slot, "buffer"));
    }
    Domain();
    LLVMBuildRetVoid(l_.b);
    LLVMPositionBuilderAtEnd(l_.b, LLVMGetEntryBasicBlock(function_));
    LLVMBuildBr(l_.b, start);
  }

  // The top-level REDUCE that is long enough to be split over threads, or 0.
  uint32_t FindSplit() {
    if (k_.domain_rank != 0) return 0;
    uint32_t found = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (blocks_.parent[i] != 0) continue;
      if (op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_LOCAL) return 0;
      if (op != RICCI_K_REDUCE) continue;
      const auto trips = TripsOf(k_, i);
      if (found != 0 || !trips || *trips < 2 * kReduceChunk) return 0;
      found = i;
    }
    return found;
  }
  void SetSplit(uint32_t reduce) {
    split_ = reduce;
    out_.partial_chunks = (*TripsOf(k_, reduce) + kReduceChunk - 1) / kReduceChunk;
  }

 private:
  bool Fail(const std::string& what) {
    if (out_.error.empty()) out_.error = what;
    return false;
  }

  // ---- the domain ----

  void Domain() {
    const uint32_t rank = k_.domain_rank;
    last_dim_ = 0;
    std::vector<uint32_t> dims(rank, 0);
    for (uint32_t i = 0; i < k_.n_insts; ++i) {
      if (k_.insts[i].op == RICCI_K_DOMAIN) dims[static_cast<size_t>(k_.insts[i].imm)] = i;
    }
    V begin = LLVMGetParam(function_, 1), end = LLVMGetParam(function_, 2);
    const bool lanes = LanesOverDomain(k_, blocks_, l_.lanes);
    if (rank == 0) {
      out_.units = 1;
      Range(1, k_.n_insts);
      return;
    }
    const int64_t inner = k_.domain[rank - 1];
    if (rank == 1) {
      out_.units = inner;
      // Tasks begin at multiples of the lanes, so only the last vector of all is partial.
      Spread(dims[0], begin, end, lanes, inner % l_.lanes == 0);
    } else {
      out_.units = 1;
      for (uint32_t d = 0; d + 1 < rank; ++d) out_.units *= k_.domain[d];
      Loop(begin, end, 1, [&](V row) {
        V rest = row;
        for (uint32_t d = rank - 1; d-- > 0;) {
          V extent = l_.I64(k_.domain[d]);
          if (dims[d] != 0) values_[dims[d]] = {d == 0 ? rest : LLVMBuildURem(l_.b, rest, extent, ""), nullptr, 0};
          if (d != 0) rest = LLVMBuildUDiv(l_.b, rest, extent, "");
        }
        Spread(dims[rank - 1], l_.I64(0), l_.I64(inner), lanes, inner % l_.lanes == 0);
      });
    }
  }

  // The body for all points [begin, end) of the innermost dimension.
  void Spread(uint32_t dim, V begin, V end, bool lanes, bool even) {
    const uint32_t root = dim == 0 ? 0 : dim;
    if (!lanes || dim == 0) {
      Loop(begin, end, 1, [&](V x) {
        if (root != 0) values_[root] = {x, nullptr, 0};
        Range(1, k_.n_insts);
      });
      return;
    }
    varying_ = FindVarying(k_, blocks_, root, 1, k_.n_insts);
    spreading_ = true;
    Loop(begin, end, l_.lanes, [&](V x) {
      values_[root] = {x, nullptr, 1};
      mask_ = even ? nullptr : TailMask(x, end);
      Range(1, k_.n_insts);
      mask_ = nullptr;
    });
    spreading_ = false;
  }

  V TailMask(V x, V end) {
    V left = LLVMBuildSub(l_.b, end, x, "");
    return LLVMBuildICmp(l_.b, LLVMIntULT, l_.LaneNumbers(), l_.Splat(left), "mask");
  }

  template <typename Body>
  void Loop(V lo, V hi, int64_t step, Body body) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(l_.b), head = l_.NewBlock("loop"), inside = l_.NewBlock("body"),
                      after = l_.NewBlock("done");
    LLVMBuildBr(l_.b, head);
    LLVMPositionBuilderAtEnd(l_.b, head);
    V i = LLVMBuildPhi(l_.b, l_.i64(), "i");
    LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntSLT, i, hi, ""), inside, after);
    LLVMPositionBuilderAtEnd(l_.b, inside);
    body(i);
    V next = LLVMBuildNSWAdd(l_.b, i, l_.I64(step), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(l_.b);
    LLVMBuildBr(l_.b, head);
    V from[] = {lo, next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(i, from, blocks, 2);
    LLVMPositionBuilderAtEnd(l_.b, after);
  }

  // ---- values ----

  V Each(uint32_t id) {  // as a vector
    Value& v = values_[id];
    if (v.each != nullptr && !v.linear()) return v.each;
    V base = l_.Splat(v.one);
    if (v.stride == 0) return base;
    return LLVMBuildAdd(l_.b, base, LLVMBuildMul(l_.b, l_.LaneNumbers(), l_.Splat(l_.I64(v.stride)), ""), "");
  }
  V One(uint32_t id) { return values_[id].one; }
  void Define(uint32_t id, V v) {
    values_[id] = LlvmBuilder::IsVector(v) ? Value{nullptr, v, 0} : Value{v, nullptr, 0};
  }

  V Constant(uint32_t dtype, int64_t bits) {
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

  void Scalar(uint32_t id) {
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
      Fail("operation " + std::to_string(inst.op) + " is not supported for dtype " + std::to_string(from));
      r = LLVMConstNull(vector ? l_.vec(ValueType(l_, inst.dtype)) : ValueType(l_, inst.dtype));
    }
    Define(id, r);
  }

  // Index arithmetic on values linear in the lane stays scalar.
  bool Linear(uint32_t id, const ricci_inst& inst) {
    if (inst.dtype != RICCI_I64 || (inst.op != RICCI_S_ADD && inst.op != RICCI_S_SUB && inst.op != RICCI_S_MUL))
      return false;
    const Value &a = values_[inst.a], &b = values_[inst.b];
    if (!a.linear() || !b.linear()) return false;
    if (inst.op == RICCI_S_MUL) {
      const auto ca = ConstantOf(k_, inst.a), cb = ConstantOf(k_, inst.b);
      if (!cb && !ca && (a.stride != 0 || b.stride != 0)) return false;
      const int64_t stride = cb ? a.stride * *cb : ca ? b.stride * *ca : 0;
      values_[id] = {LLVMBuildMul(l_.b, a.one, b.one, ""), nullptr, stride};
      return true;
    }
    const bool add = inst.op == RICCI_S_ADD;
    V base = add ? LLVMBuildAdd(l_.b, a.one, b.one, "") : LLVMBuildSub(l_.b, a.one, b.one, "");
    values_[id] = {base, nullptr, add ? a.stride + b.stride : a.stride - b.stride};
    return true;
  }

  // ---- memory ----

  V FromMemory(uint32_t dtype, V v) {
    if (dtype != RICCI_BOOL) return v;
    return LLVMBuildICmp(l_.b, LLVMIntNE, v, l_.IntLike(v, 0), "");
  }
  V ToMemory(uint32_t dtype, V v) {
    if (dtype != RICCI_BOOL) return v;
    return LLVMBuildZExt(l_.b, v, LlvmBuilder::IsVector(v) ? l_.vec(l_.i8()) : l_.i8(), "");
  }
  unsigned Align(uint32_t dtype) { return ricci_size(dtype); }
  static unsigned ricci_size(uint32_t dtype) {
    switch (dtype) {
      case RICCI_BOOL:
      case RICCI_I8:
      case RICCI_U8:
        return 1;
      case RICCI_I16:
      case RICCI_U16:
      case RICCI_F16:
      case RICCI_BF16:
        return 2;
      case RICCI_I32:
      case RICCI_U32:
      case RICCI_F32:
        return 4;
      default:
        return 8;
    }
  }
  V Element(LLVMTypeRef t, V base, V index) { return LLVMBuildGEP2(l_.b, t, base, &index, 1, ""); }

  void LoadFrom(uint32_t id, uint32_t dtype, V base, const Value& index, uint32_t index_id) {
    const LLVMTypeRef t = MemoryType(l_, dtype);
    if (index.uniform()) {
      V v = LLVMBuildLoad2(l_.b, t, Element(t, base, index.one), "");
      LLVMSetAlignment(v, Align(dtype));
      return Define(id, FromMemory(dtype, v));
    }
    V v;
    if (index.linear() && index.stride == 1) {
      V p = Element(t, base, index.one);
      if (mask_ == nullptr) {
        v = LLVMBuildLoad2(l_.b, l_.vec(t), p, "");
        LLVMSetAlignment(v, Align(dtype));
      } else {
        v = l_.Intrinsic("llvm.masked.load", {l_.vec(t), l_.ptr()},
                         {p, l_.I32(static_cast<int>(Align(dtype))), mask_, LLVMConstNull(l_.vec(t))});
      }
    } else {
      V p = Element(t, base, Each(index_id));
      v = l_.Intrinsic("llvm.masked.gather", {l_.vec(t), l_.vec(l_.ptr())},
                       {p, l_.I32(static_cast<int>(Align(dtype))), MaskOrAll(), LLVMConstNull(l_.vec(t))});
    }
    Define(id, FromMemory(dtype, v));
  }

  void StoreTo(uint32_t dtype, V base, const Value& index, uint32_t index_id, uint32_t value_id) {
    const LLVMTypeRef t = MemoryType(l_, dtype);
    if (!spreading_ || (index.uniform() && mask_ == nullptr)) {
      const Value& value = values_[value_id];
      V one = value.uniform() ? value.one : LLVMBuildExtractElement(l_.b, Each(value_id), l_.I32(0), "");
      V s = LLVMBuildStore(l_.b, ToMemory(dtype, one), Element(t, base, index.one));
      LLVMSetAlignment(s, Align(dtype));
      return;
    }
    V each = ToMemory(dtype, Each(value_id));
    if (index.linear() && index.stride == 1) {
      V p = Element(t, base, index.one);
      if (mask_ == nullptr) {
        LLVMSetAlignment(LLVMBuildStore(l_.b, each, p), Align(dtype));
      } else {
        l_.Intrinsic("llvm.masked.store", {l_.vec(t), l_.ptr()},
                     {each, p, l_.I32(static_cast<int>(Align(dtype))), mask_});
      }
      return;
    }
    l_.Intrinsic("llvm.masked.scatter", {l_.vec(t), l_.vec(l_.ptr())},
                 {each, Element(t, base, Each(index_id)), l_.I32(static_cast<int>(Align(dtype))), MaskOrAll()});
  }

  V MaskOrAll() { return mask_ != nullptr ? mask_ : l_.IntLike(LLVMConstNull(l_.vec(l_.i1())), 1); }

  void DeclareLocal(uint32_t id) {
    if (locals_[id].memory != nullptr) return;  // declared in a loop: one place serves all trips
    const ricci_inst& inst = k_.insts[id];
    Local& local = locals_[id];
    local.per_lane = spreading_ && varying_[id];
    const LLVMTypeRef t = MemoryType(l_, inst.dtype);
    const uint64_t bytes = static_cast<uint64_t>(inst.imm) * ricci_size(inst.dtype) * (local.per_lane ? l_.lanes : 1);
    const LLVMTypeRef element = local.per_lane ? l_.vec(t) : t;
    if (bytes <= kStackLocal && stack_ + bytes <= 16 * kStackLocal) {
      stack_ += bytes;
      local.memory = l_.Alloca(LLVMArrayType2(element, static_cast<uint64_t>(inst.imm)), "local");
      return;
    }
    const uint64_t offset = (scratch_ + 63) / 64 * 64;
    scratch_ = offset + bytes;
    out_.scratch_bytes = std::max(out_.scratch_bytes, scratch_);
    local.memory = Element(l_.i8(), LLVMGetParam(function_, 3), l_.I64(static_cast<int64_t>(offset)));
  }

  void Get(uint32_t id) {
    const ricci_inst& inst = k_.insts[id];
    const Local& local = locals_[inst.a];
    const Value& index = values_[inst.b];
    if (!local.per_lane) return LoadFrom(id, inst.dtype, local.memory, index, inst.b);
    const LLVMTypeRef t = MemoryType(l_, inst.dtype);
    if (index.uniform()) {
      V v = LLVMBuildLoad2(l_.b, l_.vec(t), Element(l_.vec(t), local.memory, index.one), "");
      LLVMSetAlignment(v, std::min(64u, l_.lanes * Align(inst.dtype)));
      return Define(id, FromMemory(inst.dtype, v));
    }
    V p = Element(t, local.memory, LaneAddress(inst.b));
    V v = l_.Intrinsic("llvm.masked.gather", {l_.vec(t), l_.vec(l_.ptr())},
                       {p, l_.I32(static_cast<int>(Align(inst.dtype))), MaskOrAll(), LLVMConstNull(l_.vec(t))});
    Define(id, FromMemory(inst.dtype, v));
  }

  V LaneAddress(uint32_t index_id) {  // index * lanes + lane
    return LLVMBuildAdd(l_.b, LLVMBuildMul(l_.b, Each(index_id), l_.Splat(l_.I64(l_.lanes)), ""), l_.LaneNumbers(), "");
  }

  void Set(uint32_t id) {
    const ricci_inst& inst = k_.insts[id];
    const Local& local = locals_[inst.a];
    const uint32_t dtype = k_.insts[inst.a].dtype;
    const Value& index = values_[inst.b];
    if (!local.per_lane) return StoreTo(dtype, local.memory, index, inst.b, inst.c);
    const LLVMTypeRef t = MemoryType(l_, dtype);
    V each = ToMemory(dtype, Each(inst.c));
    if (index.uniform()) {
      V p = Element(l_.vec(t), local.memory, index.one);
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
        {each, Element(t, local.memory, LaneAddress(inst.b)), l_.I32(static_cast<int>(Align(dtype))), MaskOrAll()});
  }

  // ---- blocks ----

  void Range(uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& inst = k_.insts[i];
      switch (inst.op) {
        case RICCI_K_NOP:
        case RICCI_K_DOMAIN:
        case RICCI_K_ASSUME_LESS:
          break;
        case RICCI_K_CONST:
          values_[i] = {Constant(inst.dtype, inst.imm), nullptr, 0};
          break;
        case RICCI_K_LOAD:
          LoadFrom(i, inst.dtype, buffers_[static_cast<size_t>(inst.imm)], values_[inst.a], inst.a);
          break;
        case RICCI_K_STORE:
          StoreTo(k_.buffers[inst.imm].dtype, buffers_[static_cast<size_t>(inst.imm)], values_[inst.a], inst.a, inst.b);
          break;
        case RICCI_K_LOCAL:
          DeclareLocal(i);
          break;
        case RICCI_K_GET:
          Get(i);
          break;
        case RICCI_K_SET:
          Set(i);
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
        case RICCI_K_REDUCE:
          i = i == split_ ? Split(i) : Reduce(i);
          if (done_) return;
          break;
        default:
          Scalar(i);
          break;
      }
    }
  }

  uint32_t For(uint32_t id) {
    const ricci_inst& inst = k_.insts[id];
    const uint32_t close = blocks_.close[id];
    const auto trips = TripsOf(k_, id);
    if (!values_[inst.a].uniform() || !values_[inst.b].uniform()) return ForPerLane(id, close);
    if (!spreading_ && inst.imm == 1 && Innermost(id) && (!trips || *trips >= 4)) return ForSpread(id, close);
    if (trips && *trips * (close - id) <= kUnrollInsts) {
      for (int64_t t = 0; t < *trips; ++t) {
        values_[id] = {l_.I64(*ConstantOf(k_, inst.a) + t), nullptr, 0};
        Range(id + 1, close);
      }
      return close;
    }
    Loop(One(inst.a), One(inst.b), 1, [&](V i) {
      values_[id] = {i, nullptr, 0};
      Range(id + 1, close);
    });
    return close;
  }

  // No loop whose iterations could be spread over lanes instead is inside.
  bool Innermost(uint32_t id) const {
    for (uint32_t i = id + 1; i < blocks_.close[id]; ++i) {
      const ricci_inst& inst = k_.insts[i];
      const auto trips = inst.op == RICCI_K_FOR || inst.op == RICCI_K_REDUCE ? TripsOf(k_, i) : std::nullopt;
      const bool spreads = inst.op == RICCI_K_REDUCE || (inst.op == RICCI_K_FOR && inst.imm == 1);
      if (spreads && (!trips || *trips >= static_cast<int64_t>(l_.lanes))) return false;
    }
    return true;
  }

  uint32_t ForSpread(uint32_t id, uint32_t close) {
    const ricci_inst& inst = k_.insts[id];
    V end = One(inst.b);
    const auto trips = TripsOf(k_, id);
    const bool even = trips && *trips % l_.lanes == 0;
    varying_ = FindVarying(k_, blocks_, id, id + 1, close);
    for (uint32_t i = 0; i < id; ++i) varying_[i] = 0;
    spreading_ = true;
    Loop(One(inst.a), end, l_.lanes, [&](V x) {
      values_[id] = {x, nullptr, 1};
      mask_ = even ? nullptr : TailMask(x, end);
      Range(id + 1, close);
      mask_ = nullptr;
    });
    spreading_ = false;
    return close;
  }

  V Any(V mask) { return l_.Intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask}); }

  // Bounds differ between lanes: a loop that lanes leave one by one.
  uint32_t ForPerLane(uint32_t id, uint32_t close) {
    const ricci_inst& inst = k_.insts[id];
    V counter = l_.Alloca(l_.vec(l_.i64()), "counter"), hi = Each(inst.b);
    LLVMBuildStore(l_.b, Each(inst.a), counter);
    WhileActive(
        [&] {
          V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
          values_[id] = {nullptr, now, 0};
          return LLVMBuildICmp(l_.b, LLVMIntSLT, now, hi, "");
        },
        [&] {
          Range(id + 1, close);
          V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
          LLVMBuildStore(l_.b, LLVMBuildAdd(l_.b, now, l_.Splat(l_.I64(1)), ""), counter);
        });
    return close;
  }

  // Runs `body` while any active lane's `condition` (a vector) holds; the others are switched off.
  template <typename Condition, typename Body>
  void WhileActive(Condition condition, Body body) {
    V outer = mask_, active = l_.Alloca(l_.vec(l_.i1()), "active");
    LLVMBuildStore(l_.b, MaskOrAll(), active);
    LLVMBasicBlockRef head = l_.NewBlock("while"), inside = l_.NewBlock("body"), after = l_.NewBlock("done");
    LLVMBuildBr(l_.b, head);
    LLVMPositionBuilderAtEnd(l_.b, head);
    ++masked_depth_;
    mask_ = LLVMBuildLoad2(l_.b, l_.vec(l_.i1()), active, "");
    V on = LLVMBuildAnd(l_.b, mask_, condition(), "");
    LLVMBuildStore(l_.b, on, active);
    LLVMBuildCondBr(l_.b, Any(on), inside, after);
    LLVMPositionBuilderAtEnd(l_.b, inside);
    mask_ = on;
    body();
    LLVMBuildBr(l_.b, head);
    --masked_depth_;
    LLVMPositionBuilderAtEnd(l_.b, after);
    mask_ = outer;
  }

  uint32_t While(uint32_t id) {
    const uint32_t cond = blocks_.middle[id], close = blocks_.close[id];
    if (spreading_ && varying_[k_.insts[cond].a]) {
      WhileActive(
          [&] {
            Range(id + 1, cond);
            return Each(k_.insts[cond].a);
          },
          [&] { Range(cond + 1, close); });
      return close;
    }
    LLVMBasicBlockRef head = l_.NewBlock("while"), inside = l_.NewBlock("body"), after = l_.NewBlock("done");
    LLVMBuildBr(l_.b, head);
    LLVMPositionBuilderAtEnd(l_.b, head);
    Range(id + 1, cond);
    LLVMBuildCondBr(l_.b, One(k_.insts[cond].a), inside, after);
    LLVMPositionBuilderAtEnd(l_.b, inside);
    Range(cond + 1, close);
    LLVMBuildBr(l_.b, head);
    LLVMPositionBuilderAtEnd(l_.b, after);
    return close;
  }

  uint32_t If(uint32_t id) {
    const uint32_t other = blocks_.middle[id], close = blocks_.close[id];
    const Value& condition = values_[k_.insts[id].a];
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

  template <typename Then, typename Else>
  void Branch(V condition, Then then, Else otherwise) {
    LLVMBasicBlockRef yes = l_.NewBlock("then"), no = l_.NewBlock("else"), join = l_.NewBlock("join");
    LLVMBuildCondBr(l_.b, condition, yes, no);
    LLVMPositionBuilderAtEnd(l_.b, yes);
    then();
    LLVMBuildBr(l_.b, join);
    LLVMPositionBuilderAtEnd(l_.b, no);
    otherwise();
    LLVMBuildBr(l_.b, join);
    LLVMPositionBuilderAtEnd(l_.b, join);
  }

  // ---- reductions ----

  uint32_t AccumulatorDType(uint32_t dtype) const {
    return dtype == RICCI_F16 || dtype == RICCI_BF16 ? static_cast<uint32_t>(RICCI_F32) : dtype;
  }

  V Identity(uint32_t op, uint32_t dtype) {
    const LLVMTypeRef t = ValueType(l_, dtype);
    const bool real = dtype >= RICCI_F16 && dtype <= RICCI_F64, is_signed = dtype >= RICCI_I8 && dtype <= RICCI_I64;
    const unsigned bits = dtype == RICCI_BOOL ? 1 : ricci_size(dtype) * 8;
    const uint64_t ones = bits == 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
    switch (op) {
      case RICCI_S_MUL:
        return real ? LLVMConstReal(t, 1) : LLVMConstInt(t, 1, 0);
      case RICCI_S_AND:
        return LLVMConstInt(t, ones, 0);
      case RICCI_S_MAX:
        if (real) return LLVMConstReal(t, -__builtin_inf());
        return LLVMConstInt(t, is_signed ? top : 0, 0);
      case RICCI_S_MIN:
        if (real) return LLVMConstReal(t, __builtin_inf());
        return LLVMConstInt(t, is_signed ? top - 1 : ones, 0);
      case RICCI_S_ADD:
        return real ? LLVMConstReal(t, -0.0) : LLVMConstNull(t);
      default:
        return LLVMConstNull(t);
    }
  }
  V Combine(uint32_t op, uint32_t dtype, V a, V b) {
    const V in[] = {a, b};
    if (dtype == RICCI_BOOL && (op == RICCI_S_MAX || op == RICCI_S_ADD)) op = RICCI_S_OR;
    if (dtype == RICCI_BOOL && (op == RICCI_S_MIN || op == RICCI_S_MUL)) op = RICCI_S_AND;
    return EmitScalar(l_, op, dtype, dtype, in);
  }
  V Widen(uint32_t from, uint32_t to, V v) {
    const V in[] = {v};
    return from == to ? v : EmitScalar(l_, RICCI_S_CONVERT, from, to, in);
  }
  // An empty sum is +0 although its identity is -0.
  void Finish(uint32_t yield, V sum, uint32_t acc_dtype, bool empty_possible) {
    const uint32_t dtype = k_.insts[yield].dtype;
    const uint32_t reduce = k_.insts[yield].a;
    if (k_.insts[reduce].imm == RICCI_S_ADD && dtype >= RICCI_F16 && dtype <= RICCI_F64 && empty_possible) {
      sum = LLVMBuildFAdd(l_.b, sum, l_.RealLike(sum, 0.0), "");
    }
    Define(yield, Widen(acc_dtype, dtype, sum));
  }

  uint32_t Reduce(uint32_t id) {
    const ricci_inst& inst = k_.insts[id];
    const uint32_t close = blocks_.close[id];
    const auto trips = TripsOf(k_, id);
    const bool bounds = values_[inst.a].uniform() && values_[inst.b].uniform();
    if (!spreading_ && bounds && Innermost(id) && (!trips || *trips >= static_cast<int64_t>(l_.lanes))) {
      const uint32_t acc = AccumulatorDType(k_.insts[close].dtype);
      Finish(close, ReduceSpread(id, close, One(inst.a), One(inst.b), trips), acc, false);
      return close;
    }
    return ReduceInOrder(id, close, trips, bounds);
  }

  // One accumulator, per lane where lanes differ.
  uint32_t ReduceInOrder(uint32_t id, uint32_t close, std::optional<int64_t> trips, bool bounds) {
    const ricci_inst &inst = k_.insts[id], &yield = k_.insts[close];
    const auto op = static_cast<uint32_t>(inst.imm);
    const uint32_t acc = AccumulatorDType(yield.dtype);
    const bool vector = spreading_ && varying_[close];
    const LLVMTypeRef t = vector ? l_.vec(ValueType(l_, acc)) : ValueType(l_, acc);
    V slot = l_.Alloca(t, "sum"), identity = Identity(op, acc);
    LLVMBuildStore(l_.b, vector ? l_.Splat(identity) : identity, slot);
    auto step = [&] {
      Range(id + 1, close);
      V old = LLVMBuildLoad2(l_.b, t, slot, "");
      V v = Combine(op, acc, old, Widen(yield.dtype, acc, vector ? Each(yield.b) : One(yield.b)));
      if (vector && masked_depth_ > 0 && mask_ != nullptr) v = LLVMBuildSelect(l_.b, mask_, v, old, "");
      LLVMBuildStore(l_.b, v, slot);
    };
    if (!bounds) {
      V counter = l_.Alloca(l_.vec(l_.i64()), "counter"), hi = Each(inst.b);
      LLVMBuildStore(l_.b, Each(inst.a), counter);
      WhileActive(
          [&] {
            V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
            values_[id] = {nullptr, now, 0};
            return LLVMBuildICmp(l_.b, LLVMIntSLT, now, hi, "");
          },
          [&] {
            step();
            V now = LLVMBuildLoad2(l_.b, l_.vec(l_.i64()), counter, "");
            LLVMBuildStore(l_.b, LLVMBuildAdd(l_.b, now, l_.Splat(l_.I64(1)), ""), counter);
          });
    } else if (trips && *trips * (close - id) <= kUnrollInsts) {
      for (int64_t n = 0; n < *trips; ++n) {
        values_[id] = {l_.I64(*ConstantOf(k_, inst.a) + n), nullptr, 0};
        step();
      }
    } else {
      Loop(One(inst.a), One(inst.b), 1, [&](V i) {
        values_[id] = {i, nullptr, 0};
        step();
      });
    }
    Finish(close, LLVMBuildLoad2(l_.b, t, slot, ""), acc, true);
    return close;
  }

  // Lanes over the reduction, four accumulators to hide latency, combined in a fixed tree. Leaves +0 for empty sums.
  V ReduceSpread(uint32_t id, uint32_t close, V lo, V hi, std::optional<int64_t> trips) {
    const ricci_inst &inst = k_.insts[id], &yield = k_.insts[close];
    const auto op = static_cast<uint32_t>(inst.imm);
    const uint32_t acc = AccumulatorDType(yield.dtype);
    const LLVMTypeRef t = l_.vec(ValueType(l_, acc));
    const unsigned ways = close - id < 64 ? 4 : 1;
    V identity = l_.Splat(Identity(op, acc));
    std::vector<V> slots;
    for (unsigned w = 0; w < ways; ++w) {
      slots.push_back(l_.Alloca(t, "sum"));
      LLVMBuildStore(l_.b, identity, slots[w]);
    }
    varying_ = FindVarying(k_, blocks_, id, id + 1, close);
    spreading_ = true;
    auto step = [&](V x, V slot, V mask) {
      values_[id] = {x, nullptr, 1};
      mask_ = mask;
      Range(id + 1, close);
      V v = Widen(yield.dtype, acc, Each(yield.b));
      if (mask != nullptr) v = LLVMBuildSelect(l_.b, mask, v, identity, "");
      LLVMBuildStore(l_.b, Combine(op, acc, LLVMBuildLoad2(l_.b, t, slot, ""), v), slot);
      mask_ = nullptr;
    };
    const int64_t stride = static_cast<int64_t>(l_.lanes) * ways;
    V count = LLVMBuildSub(l_.b, hi, lo, "");
    V whole = LLVMBuildAdd(l_.b, lo,
                           LLVMBuildMul(l_.b, LLVMBuildSDiv(l_.b, count, l_.I64(stride), ""), l_.I64(stride), ""), "");
    Loop(lo, whole, stride, [&](V x) {
      for (unsigned w = 0; w < ways; ++w) step(LLVMBuildAdd(l_.b, x, l_.I64(w * l_.lanes), ""), slots[w], nullptr);
    });
    if (!trips || *trips % stride != 0 || split_ == id) {
      Loop(whole, hi, l_.lanes, [&](V x) { step(x, slots[0], TailMask(x, hi)); });
    }
    spreading_ = false;
    std::vector<V> sums;
    for (V slot : slots) sums.push_back(LLVMBuildLoad2(l_.b, t, slot, ""));
    while (sums.size() > 1) {
      std::vector<V> next;
      for (size_t i = 0; i + 1 < sums.size(); i += 2) next.push_back(Combine(op, acc, sums[i], sums[i + 1]));
      sums = next;
    }
    V sum = Across(op, acc, sums[0]);
    if (op == RICCI_S_ADD && acc >= RICCI_F16 && acc <= RICCI_F64)
      sum = LLVMBuildFAdd(l_.b, sum, LLVMConstReal(ValueType(l_, acc), 0), "");
    return sum;
  }

  // The lanes of `v` combined, halves first.
  V Across(uint32_t op, uint32_t dtype, V v) {
    for (unsigned width = l_.lanes / 2; width >= 1; width /= 2) {
      std::vector<V> low, high;
      for (unsigned i = 0; i < width; ++i) {
        low.push_back(l_.I32(static_cast<int>(i)));
        high.push_back(l_.I32(static_cast<int>(i + width)));
      }
      const V undef = LLVMGetUndef(LLVMTypeOf(v));
      V a = LLVMBuildShuffleVector(l_.b, v, undef, LLVMConstVector(low.data(), width), "");
      V b = LLVMBuildShuffleVector(l_.b, v, undef, LLVMConstVector(high.data(), width), "");
      if (width == 1) {
        a = LLVMBuildExtractElement(l_.b, a, l_.I32(0), "");
        b = LLVMBuildExtractElement(l_.b, b, l_.I32(0), "");
      }
      v = Combine(op, dtype, a, b);
    }
    return v;
  }

  // A reduction whose chunks run on several threads: here either the chunks, or what combines them.
  uint32_t Split(uint32_t id) {
    const uint32_t close = blocks_.close[id];
    const ricci_inst& inst = k_.insts[id];
    const uint32_t acc = AccumulatorDType(k_.insts[close].dtype);
    const LLVMTypeRef t = MemoryType(l_, acc);
    V partials = buffers_[k_.n_buffers];
    if (part_ == Part::kPartial) {
      V hi = One(inst.b);
      Loop(LLVMGetParam(function_, 1), LLVMGetParam(function_, 2), 1, [&](V chunk) {
        V from = LLVMBuildAdd(l_.b, One(inst.a), LLVMBuildMul(l_.b, chunk, l_.I64(kReduceChunk), ""), "");
        V to = l_.Fn("llvm.smin", LLVMBuildAdd(l_.b, from, l_.I64(kReduceChunk), ""), hi);
        V sum = ReduceSpread(id, close, from, to, std::nullopt);
        LLVMBuildStore(l_.b, ToMemory(acc, sum), Element(t, partials, chunk));
      });
      done_ = true;
      return close;
    }
    V slot = l_.Alloca(ValueType(l_, acc), "sum");
    LLVMBuildStore(l_.b, Identity(static_cast<uint32_t>(inst.imm), acc), slot);
    Loop(l_.I64(0), l_.I64(out_.partial_chunks), 1, [&](V chunk) {
      V part = FromMemory(acc, LLVMBuildLoad2(l_.b, t, Element(t, partials, chunk), ""));
      V old = LLVMBuildLoad2(l_.b, ValueType(l_, acc), slot, "");
      LLVMBuildStore(l_.b, Combine(static_cast<uint32_t>(inst.imm), acc, old, part), slot);
    });
    Finish(close, LLVMBuildLoad2(l_.b, ValueType(l_, acc), slot, ""), acc, false);
    return close;
  }

  const LlvmBuilder& l_;
  const ricci_kernel_table& k_;
  KernelCode& out_;
  const Blocks blocks_;
  std::vector<Value> values_;
  std::vector<Local> locals_;
  std::vector<uint8_t> varying_;
  std::vector<V> buffers_;
  V function_ = nullptr;
  V mask_ = nullptr;        // lanes that are on; NULL = all
  int masked_depth_ = 0;    // branches and loops around that switch lanes off
  bool spreading_ = false;  // inside of the loop that is spread over lanes
  bool done_ = false;
  uint32_t split_ = 0, last_dim_ = 0;
  Part part_ = Part::kWhole;
  uint64_t stack_ = 0, scratch_ = 0;
};

}  // namespace

KernelCode EmitKernel(const LlvmBuilder& l, const ricci_kernel_table& k, const std::string& name) {
  KernelCode out;
  const uint32_t split = Codegen(l, k, out).FindSplit();
  Codegen whole(l, k, out);
  if (split != 0) {
    Codegen partial(l, k, out);
    partial.SetSplit(split);
    partial.Emit(name + "_chunks", Part::kPartial);
    whole.SetSplit(split);
  }
  whole.Emit(name, Part::kWhole);
  const Blocks blocks(k);
  double per_unit = std::max(1.0, CostOfPoint(k, blocks));
  if (k.domain_rank > 1) per_unit *= static_cast<double>(k.domain[k.domain_rank - 1]);
  const int64_t align = k.domain_rank == 1 ? l.lanes * 4 : 1;
  const auto grain = static_cast<int64_t>(kTaskCost / per_unit);
  out.grain = std::max<int64_t>(1, (grain + align - 1) / align) * align;
  return out;
}

}  // namespace ricci::cpu
