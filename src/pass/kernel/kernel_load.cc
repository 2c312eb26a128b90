// Loading in a kernel: an element of any kind of array.
//
// Loading an element of an equation that is not evaluated yet evaluates it at that index, which loads its operands in
// turn: this is where producers fuse into consumers. What is loaded twice at the same index in the same scope is
// evaluated once. An index is one value per dimension, or a flat position if everything is read in row-major order.
#include "pass/kernel/kernel_builder.h"
#include "prim/rule_call.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {

// ---- positions ----

// Dimension indices from a flat position: (n / stride) % extent.
Index KernelBuilder::ToDims(const ir::ArrayType& t, const Index& index) {
  if (!index.flat) return index;
  Index out;
  const std::vector<int64_t> strides = RowMajor(t.shape);
  for (size_t d = 0; d < t.shape.size(); ++d) {
    Val v = strides[d] == 1 ? index.at[0] : w_.Div(index.at[0], w_.Index(strides[d]));
    if (d != 0) v = w_.Rem(v, w_.Index(t.shape[d]));
    out.at.push_back(v);
  }
  return out;
}

Val KernelBuilder::Position(const ir::ArrayType& t, const Index& index) {
  return index.flat ? index.at[0] : w_.Linear(index.at, RowMajor(t.shape));
}

// The position of an element in its buffer or private array.
Val KernelBuilder::PositionInStorage(ArrayId id, const Index& index) {
  const ir::ArrayType& t = type(id);
  const Storage& storage = StorageOf(id);
  const bool contiguous = storage.strides == RowMajor(t.shape);
  const Val at = index.flat && contiguous ? index.at[0] : w_.Linear(ToDims(t, index).at, storage.strides);
  return storage.offset != 0 ? w_.Add(storage.offset, at) : at;
}

// ---- elements ----

absl::StatusOr<Val> KernelBuilder::Load(ArrayId a, std::span<const Val> index) {
  if (!Has(a)) return absl::InvalidArgumentError("kernel: load from something that is not an array");
  if (index.size() != type(a).rank()) {
    return base::InvalidArgument("kernel: ", base::Count(index.size(), "index", "indices"), " for ", ToText(type(a)));
  }
  RICCI_ASSIGN(Val v, LoadIndex(a, {{index.begin(), index.end()}, false}));
  RICCI_TRY(w_.status());
  return v;
}

absl::StatusOr<Val> KernelBuilder::LoadIndex(ArrayId id, const Index& index) {
  return std::visit([&](const auto& is) { return LoadFrom(id, is, index); }, arrays_[id].is);
}

absl::StatusOr<Val> KernelBuilder::LoadFrom(ArrayId id, const Storage& storage, const Index& index) {
  if (storage.of_row) RICCI_TRY(CheckRow(index));
  const Val at = PositionInStorage(id, index);
  return storage.local ? w_.Get(kernel::LocalId{storage.number}, at) : w_.Load(storage.number, at);
}

absl::StatusOr<Val> KernelBuilder::LoadFrom(ArrayId id, const Slice& slice, const Index& index) {
  Index full = ToDims(type(id), index);
  full.at.insert(full.at.begin() + slice.axis, slice.index);
  return LoadIndex(slice.base, full);
}

absl::StatusOr<Val> KernelBuilder::LoadFrom(ArrayId id, const Lazy& is, const Index& index) {
  std::vector<uint32_t> key{id, index.flat};
  key.insert(key.end(), index.at.begin(), index.at.end());
  if (auto it = memo_.find(key); it != memo_.end() && w_.IsOpen(it->second.scope) && w_.Usable(it->second.value)) {
    return it->second.value;
  }
  const uint32_t scope = w_.Scope();
  const Lazy lazy = is;  // a copy: evaluating adds arrays
  auto v = lazy.lowering->kind == RICCI_LOWER_SCALAR ? EvaluateScalar(lazy, index) : EvaluateIndex(lazy, index);
  if (!v.ok()) return transform::AtEquation(v.status(), *lazy.program, *lazy.eqn, "lower");
  RICCI_TRY(transform::AtEquation(w_.status(), *lazy.program, *lazy.eqn, "lower"));
  memo_[key] = {*v, scope};
  return *v;
}

namespace {

// What a SCALAR or INDEX lowering leaves: element `v` of a result of type `t`, and as many open blocks as before.
absl::Status CheckElement(const ElementWriter& w, const prim::Row& row, std::string_view rule, uint32_t depth,
                          uint32_t result, const ir::ArrayType& t, Val v) {
  RICCI_TRY(w.status());
  const uint32_t dtype = w.DType(v);
  if (dtype == 0) return prim::Violation(row, rule, base::Cat("gives no value for result ", result));
  if (dtype != t.dtype) {
    return prim::Violation(
        row, rule, base::Cat("gives ", types::Info(dtype).name, " for an element of result ", result, ", ", ToText(t)));
  }
  if (w.Depth() == depth) return absl::OkStatus();
  return prim::Violation(row, rule, "leaves a loop or branch open, or ends one too many");
}

}  // namespace

absl::StatusOr<Val> KernelBuilder::EvaluateScalar(const Lazy& lazy, const Index& index) {
  const trace::Op op(*lazy.program, *lazy.eqn);
  const prim::Row& row = registry_.Get(lazy.eqn->prim);
  const ir::ArrayType& own = registry_.vocabulary().types.Get(op->out_types[lazy.result]);
  std::vector<Val> in, out(op->n_out, 0);
  for (ArrayId o : lazy.operands) {
    // A scalar operand is the same for all elements.
    if (type(o).rank() != 0 && !std::ranges::equal(type(o).shape, own.shape)) {
      return prim::Violation(row, "scalar",
                             base::Cat("operand ", in.size(), " is ", ToText(type(o)), " and the result ", ToText(own),
                                       "; a SCALAR lowering works on equal shapes and on scalars"));
    }
    RICCI_ASSIGN(Val v, type(o).rank() == 0 ? LoadIndex(o, {}) : LoadIndex(o, index));
    in.push_back(v);
  }
  const Running running(*this, {lazy.operands, {}, lazy.program, lazy.eqn, w_.Depth()});
  const ricci_lowering& l = *lazy.lowering;
  const uint32_t depth = w_.Depth();
  RICCI_TRY(
      prim::CallRule(row, "scalar", [&] { return l.scalar(l.self, Abi(this), op.get(), in.data(), out.data()); }));
  RICCI_TRY(CheckElement(w_, row, "scalar", depth, lazy.result, own, out[lazy.result]));
  return out[lazy.result];
}

absl::StatusOr<Val> KernelBuilder::EvaluateIndex(const Lazy& lazy, const Index& index) {
  const trace::Op op(*lazy.program, *lazy.eqn);
  const Index dims = ToDims(registry_.vocabulary().types.Get(op->out_types[lazy.result]), index);
  const Running running(*this, {lazy.operands, {}, lazy.program, lazy.eqn, w_.Depth()});
  Val out = 0;
  const prim::Row& row = registry_.Get(lazy.eqn->prim);
  const ir::ArrayType& own = registry_.vocabulary().types.Get(op->out_types[lazy.result]);
  const ricci_lowering& l = *lazy.lowering;
  const uint32_t depth = w_.Depth();
  const auto call = [&] { return l.index(l.self, Abi(this), op.get(), lazy.result, dims.at.data(), &out); };
  RICCI_TRY(prim::CallRule(row, "index", call));
  RICCI_TRY(CheckElement(w_, row, "index", depth, lazy.result, own, out));
  return out;
}

absl::StatusOr<Val> KernelBuilder::LoadFrom(ArrayId id, const Literal& literal, const Index& index) {
  const ir::ArrayType& t = type(id);
  const std::byte* bytes = literal.data->bytes.data();
  if (literal.splat || t.elements == 1) return w_.Element(t.dtype, bytes);
  if (auto at = w_.ConstantIndex(Position(t, index))) {
    if (*at < 0 || *at >= t.elements) return base::InvalidArgument("kernel: index ", *at, " is outside ", ToText(t));
    return w_.Element(t.dtype, bytes + *at * types::Info(t.dtype).size);
  }
  if (literal.buffer != 0) return LoadIndex(literal.buffer, index);
  const ArrayId buffer = AddBuffer(type_id(id), RICCI_ACCESS_READ, {Binding::Kind::kConstant, 0, literal.data});
  std::get_if<Literal>(&arrays_[id].is)->buffer = buffer;
  return LoadIndex(buffer, index);
}

absl::StatusOr<Val> KernelBuilder::LoadFrom(ArrayId id, const Elements& elements, const Index& index) {
  const ir::ArrayType& t = type(id);
  if (elements.of_row) {
    RICCI_TRY(CheckRow(index));
    return elements.values[0];
  }
  if (auto at = w_.ConstantIndex(Position(t, index))) {
    if (*at < 0 || *at >= t.elements) return base::InvalidArgument("kernel: index ", *at, " is outside ", ToText(t));
    return elements.values[*at];
  }
  // A private array can only be used in its block.
  if (elements.spilled == 0 || !w_.Usable(StorageOf(elements.spilled).number)) RICCI_TRY(Spill(id));
  return LoadIndex(std::get_if<Elements>(&arrays_[id].is)->spilled, index);
}

// Stores the elements in a private array, from which they can be read at any index within this block.
absl::Status KernelBuilder::Spill(ArrayId id) {
  RICCI_ASSIGN(ArrayId spilled, Private(type_id(id)));
  const kernel::LocalId local{StorageOf(spilled).number};
  Elements& elements = *std::get_if<Elements>(&arrays_[id].is);
  const auto n = static_cast<int64_t>(elements.values.size());
  for (int64_t i = 0; i < n; ++i) w_.Set(local, w_.Index(i), elements.values[i]);
  elements.spilled = spilled;
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
