// Values, memory and queries of the Writer: each call checks, folds, and appends at most a few nodes.
#include "kernel/writer.h"

#include <utility>

#include "base/status.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/scalar/scalar_float.h"
#include "kernel/writer_state.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

uint64_t ArrayOfBuffer(uint32_t buffer) { return uint64_t{1} << 32 | buffer; }
uint64_t ArrayOfLocal(LocalId local) { return static_cast<uint32_t>(local); }

NodeKey LoadKey(uint32_t buffer, Val index, uint32_t dtype, uint32_t version) {
  return {RICCI_K_LOAD, static_cast<uint16_t>(dtype), index, 0, 0, version, buffer};
}
NodeKey GetKey(LocalId local, Val index, uint32_t dtype, uint32_t version) {
  return {RICCI_K_GET, static_cast<uint16_t>(dtype), static_cast<uint32_t>(local), index, 0, version, 0};
}

std::string_view NameOf(uint32_t dtype) { return types::Info(dtype).name; }

}  // namespace

Writer::Writer(std::string_view name) : impl_(std::make_unique<Impl>(name)) {}
Writer::~Writer() = default;

void Writer::ContractProducts() { impl_->contracts = true; }

Val Writer::MultiplyAdd(Val a, Val b, Val c) {
  const bool contracted = impl_->contracts && types::IsContracted(DType(a));
  return contracted ? Scalar(RICCI_S_FMA, 0, {{a, b, c}}) : Add(Mul(a, b), c);
}

// Is `term` a product that a sum takes in without rounding it?
bool Writer::IsContracted(uint32_t combiner, Val term) const {
  return impl_->contracts && combiner == RICCI_S_ADD && types::IsContracted(DType(term)) &&
         impl_->nodes.Is(term, RICCI_S_MUL);
}

// ---- checks ----
void Writer::Fail(absl::Status s) {
  if (status_.ok()) status_ = std::move(s);
}

bool Writer::Check(bool holds, std::string_view what) {
  if (!holds) Fail(base::InvalidArgument("kernel ", impl_->name, ": ", what));
  return holds && ok();
}

bool Writer::CheckValue(Val v, std::string_view where) {
  if (!ok()) return false;
  if (v == 0 || v >= impl_->nodes.size() || impl_->nodes.DType(v) == 0 || impl_->nodes.Is(v, RICCI_K_LOCAL)) {
    return Check(false, base::Cat(where, ": ", v, " is not a value"));
  }
  if (impl_->nodes.Usable(v)) return true;
  return Check(false, base::Cat(where, ": value ", v, " is used outside the block that defines it"));
}

bool Writer::CheckIndex(Val v, std::string_view where) {
  if (!CheckValue(v, where)) return false;
  if (DType(v) == RICCI_I64) return true;
  return Check(false, base::Cat(where, ": an index must be i64 but is ", NameOf(DType(v))));
}

bool Writer::CheckAccess(uint32_t buffer, uint32_t access, std::string_view where) {
  if (!ok()) return false;
  if (buffer >= impl_->buffers.size()) return Check(false, base::Cat(where, ": there is no buffer ", buffer));
  if ((impl_->buffers[buffer].access & access) != access) {
    return Check(false, base::Cat(where, ": buffer ", buffer, " does not allow it"));
  }
  const bool combines = access == (RICCI_ACCESS_READ | RICCI_ACCESS_WRITE);
  (combines ? impl_->combined : impl_->accessed)[buffer] = 1;
  return Check(!impl_->accessed[buffer] || !impl_->combined[buffer],
               base::Cat(where, ": where a kernel combines into a buffer (", buffer,
                         ") it may not access that buffer otherwise"));
}

bool Writer::CheckLocal(LocalId local, std::string_view where) {
  if (!ok()) return false;
  const auto v = static_cast<uint32_t>(local);
  const bool is = v != 0 && v < impl_->nodes.size() && impl_->nodes.Is(v, RICCI_K_LOCAL);
  if (!is) return Check(false, base::Cat(where, ": ", v, " is not a private array"));
  if (impl_->nodes.Usable(v)) return true;
  return Check(false, base::Cat(where, ": private array ", v, " is used outside the block that defines it"));
}

// ---- buffers ----
uint32_t Writer::Buffer(uint32_t dtype, int64_t elements, uint32_t access) {
  Check(types::InKernels(dtype) && elements >= 0, "buffer: dtype or size is not valid");
  impl_->buffers.push_back({dtype, access, elements});
  impl_->accessed.push_back(0), impl_->combined.push_back(0);
  return BufferCount() - 1;
}
uint32_t Writer::BufferCount() const { return static_cast<uint32_t>(impl_->buffers.size()); }
const ricci_kernel_buffer& Writer::BufferAt(uint32_t buffer) const { return impl_->buffers[buffer]; }

// ---- values ----
Val Writer::Const(uint32_t dtype, uint64_t bits) {
  if (!Check(types::InKernels(dtype), "constant: dtype is not valid")) return 0;
  const uint32_t width = 8 * types::Info(dtype).size;
  if (dtype == RICCI_BOOL) bits = bits != 0;
  return impl_->nodes.Constant(dtype, width == 64 ? bits : bits & ((uint64_t{1} << width) - 1));
}
Val Writer::Float(uint32_t dtype, double v) {
  if (!Check(types::IsFloating(dtype) && types::InKernels(dtype), "constant: dtype is not floating")) return 0;
  return impl_->nodes.Constant(dtype, EncodeFloat(dtype, v));
}
Val Writer::Index(int64_t v) { return ok() ? impl_->nodes.Integer(RICCI_I64, v) : 0; }
Val Writer::Bool(bool v) { return ok() ? impl_->nodes.Constant(RICCI_BOOL, v) : 0; }

Val Writer::Scalar(uint32_t op, uint32_t dtype, std::span<const Val> operands) {
  uint32_t dtypes[3] = {};
  const size_t n = operands.size();
  if (!Check(n >= 1 && n <= 3, "a scalar operation takes 1 to 3 operands")) return 0;
  for (size_t i = 0; i < n; ++i) {
    if (!CheckValue(operands[i], InfoOf(op).name)) return 0;
    dtypes[i] = DType(operands[i]);
  }
  const absl::StatusOr<uint32_t> result = ResultDType(op, dtype, {dtypes, n});
  if (!result.ok()) {
    Check(false, std::string(result.status().message()));
    return 0;
  }
  return impl_->folder.Fold(op, *result, operands.data(), static_cast<uint32_t>(n));
}

Val Writer::Linear(std::span<const Val> index, std::span<const int64_t> strides) {
  Val sum = Index(0);
  for (size_t i = 0; i < index.size(); ++i) sum = Add(sum, Mul(index[i], Index(strides[i])));
  return sum;
}

// ---- memory ----
Val Writer::Load(uint32_t buffer, Val index) {
  if (!CheckAccess(buffer, RICCI_ACCESS_READ, "load") || !CheckIndex(index, "load")) return 0;
  Impl& w = *impl_;
  const uint32_t dtype = w.buffers[buffer].dtype;
  const bool writable = w.buffers[buffer].access & RICCI_ACCESS_WRITE;
  const uint32_t version = writable ? w.memory.Version(ArrayOfBuffer(buffer), w.nodes.IntegerOf(index)) : 0;
  const NodeKey key = LoadKey(buffer, index, dtype, version);
  return w.nodes.Unique({key.op, key.dtype, index, 0, 0, buffer}, version);
}

void Writer::Store(uint32_t buffer, Val index, Val v) {
  if (!CheckAccess(buffer, RICCI_ACCESS_WRITE, "store") || !CheckIndex(index, "store") || !CheckValue(v, "store")) {
    return;
  }
  Impl& w = *impl_;
  const uint32_t dtype = w.buffers[buffer].dtype;
  if (DType(v) != dtype) {
    Check(false, base::Cat("store: buffer ", buffer, " is ", NameOf(dtype), " but the value is ", NameOf(DType(v))));
    return;
  }
  w.nodes.Append({RICCI_K_STORE, 0, index, v, 0, buffer});
  const std::optional<int64_t> element = w.nodes.IntegerOf(index);
  w.memory.Write(ArrayOfBuffer(buffer), element);
  w.nodes.Remember(LoadKey(buffer, index, dtype, w.memory.Version(ArrayOfBuffer(buffer), element)), v);
}

void Writer::Combine(uint32_t buffer, Val index, uint32_t combiner, Val v) {
  if (!CheckAccess(buffer, RICCI_ACCESS_READ | RICCI_ACCESS_WRITE, "combine") || !CheckIndex(index, "combine") ||
      !CheckValue(v, "combine") || !Check(IsUpdater(combiner), "combine: the combiner must be add, mul, max, min")) {
    return;
  }
  const uint32_t dtypes[] = {impl_->buffers[buffer].dtype, DType(v)};
  const absl::StatusOr<uint32_t> result = ResultDType(combiner, 0, dtypes);
  if (!Check(result.ok(), base::Cat("combine: buffer ", buffer, " is ", NameOf(dtypes[0]), " and the value is ",
                                    NameOf(dtypes[1])))) {
    return;
  }
  impl_->nodes.Append({RICCI_K_COMBINE, 0, index, v, 0, RICCI_COMBINE(buffer, combiner)});
  impl_->memory.Write(ArrayOfBuffer(buffer), std::nullopt);
}

LocalId Writer::Local(uint32_t dtype, int64_t elements) {
  if (!Check(types::InKernels(dtype) && elements >= 0, "local: dtype or size is not valid")) return LocalId{0};
  return static_cast<LocalId>(impl_->nodes.Append({RICCI_K_LOCAL, static_cast<uint16_t>(dtype), 0, 0, 0, elements}));
}

Val Writer::Get(LocalId local, Val index) {
  if (!CheckLocal(local, "get") || !CheckIndex(index, "get")) return 0;
  Impl& w = *impl_;
  const uint32_t version = w.memory.Version(ArrayOfLocal(local), w.nodes.IntegerOf(index));
  const NodeKey key = GetKey(local, index, LocalDType(local), version);
  return w.nodes.Unique({key.op, key.dtype, key.a, key.b, 0, 0}, version);
}

void Writer::Set(LocalId local, Val index, Val v) {
  if (!CheckLocal(local, "set") || !CheckIndex(index, "set") || !CheckValue(v, "set")) return;
  Impl& w = *impl_;
  const uint32_t dtype = LocalDType(local);
  if (DType(v) != dtype) {
    Check(false, base::Cat("set: the private array is ", NameOf(dtype), " but the value is ", NameOf(DType(v))));
    return;
  }
  w.nodes.Append({RICCI_K_SET, 0, static_cast<uint32_t>(local), index, v, 0});
  const std::optional<int64_t> element = w.nodes.IntegerOf(index);
  w.memory.Write(ArrayOfLocal(local), element);
  w.nodes.Remember(GetKey(local, index, dtype, w.memory.Version(ArrayOfLocal(local), element)), v);
}

uint32_t Writer::LocalDType(LocalId local) const { return impl_->nodes.DType(static_cast<Val>(local)); }
int64_t Writer::LocalElements(LocalId local) const { return impl_->nodes[static_cast<Val>(local)].inst.imm; }

uint64_t Writer::SetLocation(uint64_t location) { return std::exchange(impl_->nodes.location, location); }

void Writer::AssumeLess(Val v, int64_t bound) {
  if (!CheckIndex(v, "assume_less") || !Check(bound > 0, "assume_less: the bound must be positive")) return;
  Impl& w = *impl_;
  const Range r = w.nodes.RangeOf(v);
  if (r.min >= 0 && r.max < bound) return;
  w.nodes.Append({RICCI_K_ASSUME_LESS, 0, v, 0, 0, bound});
  // A value from outside the block may break the promise where this block does not run.
  if (w.nodes.ScopeOf(v) == w.nodes.scope()) w.nodes.Narrow(v, {0, bound - 1});
}

void Writer::Require(Val condition, uint32_t check) {
  if (!CheckValue(condition, "check")) return;
  if (!Check(DType(condition) == RICCI_BOOL, "check: the condition must be bool")) return;
  if (impl_->folder.Truth(condition) == true) return;
  impl_->nodes.Append({RICCI_K_CHECK, 0, condition, 0, 0, check});
}

// ---- questions ----
uint32_t Writer::DType(Val v) const { return v < impl_->nodes.size() ? impl_->nodes.DType(v) : 0; }

std::optional<uint64_t> Writer::ConstantBits(Val v) const {
  if (v == 0 || v >= impl_->nodes.size() || !impl_->nodes.IsConstant(v)) return std::nullopt;
  return impl_->nodes.Bits(v);
}

std::optional<int64_t> Writer::ConstantIndex(Val v) const {
  return v == 0 || v >= impl_->nodes.size() ? std::nullopt : impl_->nodes.IntegerOf(v);
}

Range Writer::RangeOf(Val v) const {
  return v < impl_->nodes.size() ? impl_->nodes.RangeOf(v) : Range{INT64_MIN, INT64_MAX};
}

std::optional<int64_t> Writer::StrideIn(Val v, Val index) const {
  const NodeTable& nodes = impl_->nodes;
  if (v == 0 || v >= nodes.size() || !HasForms(nodes.DType(v))) return std::nullopt;
  int64_t stride = 0;
  for (const Term& t : nodes.FormOf(v).terms) {
    if (t.atom == index) {
      stride = t.factor;
    } else if (t.atom > index) {
      return std::nullopt;  // made later, so it may depend on the index
    }
  }
  return stride;
}

bool Writer::Usable(Val v) const { return impl_->nodes.Usable(v); }
uint32_t Writer::Scope() const { return impl_->nodes.scope(); }
bool Writer::IsOpen(uint32_t scope) const { return impl_->nodes.IsOpen(scope); }
uint32_t Writer::Depth() const { return static_cast<uint32_t>(impl_->blocks.size()); }
size_t Writer::Size() const { return impl_->nodes.order.size(); }

absl::StatusOr<Kernel> Writer::Finish() {
  RICCI_TRY(status_);
  if (!Check(impl_->blocks.empty(), "finish: a block is still open")) return status_;
  Kernel kernel = FinishKernel(*impl_);
  RICCI_TRY(Verify(kernel));
  return kernel;
}

}}}  // namespace ricci::v0::kernel
