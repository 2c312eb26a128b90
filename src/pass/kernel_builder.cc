#include "pass/kernel_builder.h"

#include "base/status_abi.h"
#include "kernel/scalar_eval.h"
#include "trace/attrs.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci::inline v0::pass {
namespace {

std::vector<int64_t> RowMajor(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
  return strides;
}

}  // namespace

absl::StatusOr<const ricci_lowering*> ChooseLowering(const prim::Row& row, const ricci_op& op, const Target& target,
                                                     uint32_t kinds) {
  for (const ricci_lowering& l : row.lowerings) {
    const std::string_view for_target(l.target.ptr, l.target.len);
    if (!(kinds & 1u << l.kind) || (for_target != "*" && for_target != target.kind)) continue;
    uint32_t accept = 1;
    if (l.match != nullptr) RICCI_TRY(base::FromAbi(l.match(l.self, &op, &accept)));
    if (accept) return &l;
  }
  return nullptr;
}

KernelBuilder::KernelBuilder(prim::Registry& registry, std::string_view name, const Target& target)
    : registry_(registry), target_(target), w_(name) {}

ArrayId KernelBuilder::Add(Array a) {
  arrays_.push_back(std::move(a));
  return static_cast<ArrayId>(arrays_.size() - 1);
}

// Whether it is flat is known of its operands, so it is found once for each array, not once for each path to it.
ArrayId KernelBuilder::AddLazy(ir::TypeId t, Lazy lazy) {
  const ir::ArrayType& own = registry_.vocabulary().types.Get(t);
  const bool scalar = lazy.lowering->kind == RICCI_LOWER_SCALAR;
  lazy.flat = std::all_of(lazy.operands.begin(), lazy.operands.end(),
                          [&](ArrayId o) { return scalar ? IsFlat(o, own) : type(o).rank() == 0; });
  Array a;
  a.type = t;
  a.kind = Kind::kLazy;
  a.lazy = std::move(lazy);
  return Add(std::move(a));
}

ArrayId KernelBuilder::AddBuffer(ir::TypeId t, uint32_t access, Binding binding) {
  const ir::ArrayType& type = registry_.vocabulary().types.Get(t);
  Array a;
  a.type = t;
  a.place.number = w_.Buffer(type.dtype, type.elements, access);
  a.place.strides = RowMajor(type.shape);
  bindings_.push_back(std::move(binding));
  return Add(std::move(a));
}

ArrayId KernelBuilder::AddLiteral(ir::TypeId t, const ir::Constant& c) {
  Array a;
  a.type = t;
  a.kind = Kind::kLiteral;
  a.literal = {c.splat, c.data, 0};
  return Add(std::move(a));
}

// An operand or result, seen through its slot.
absl::StatusOr<ArrayId> KernelBuilder::AddSlot(ir::TypeId t, uint32_t access, Binding binding, const Slot* slot) {
  if (slot == nullptr || slot->length < 0) return AddBuffer(t, access, std::move(binding));
  types::TypeTable& types = registry_.vocabulary().types;
  const ir::ArrayType& element = types.Get(t);
  std::vector<int64_t> shape{slot->length};
  shape.insert(shape.end(), element.shape.begin(), element.shape.end());
  RICCI_ASSIGN(ir::TypeId stack_type, types.WithShape(element, shape));
  const ArrayId stack = AddBuffer(stack_type, access, std::move(binding));
  RICCI_ASSIGN(ir::TypeId counter_type, types.Intern(RICCI_I64, {}));
  uint32_t counter = 0;
  for (; counter < bindings_.size(); ++counter) {
    if (bindings_[counter].kind == Binding::Kind::kCounter && bindings_[counter].index == slot->loop) break;
  }
  if (counter == bindings_.size()) {
    AddBuffer(counter_type, RICCI_ACCESS_READ, {Binding::Kind::kCounter, slot->loop, nullptr});
  }
  Val index = w_.Load(counter, w_.Index(0));
  if (slot->length > 0) w_.AssumeLess(index, slot->length);  // else this never runs
  if (slot->reverse) index = w_.Sub(w_.Index(slot->length - 1), index);
  return View(stack, 0, index);
}

absl::StatusOr<KernelBuilder::Result> KernelBuilder::Lower(const ir::Program& p, const ir::Equation& eqn,
                                                           std::span<const Slot> slots) {
  const trace::Op op(p, eqn);
  const prim::Row& row = registry_.Get(eqn.prim);
  std::vector<ArrayId> operands, results;
  auto slot = [&](uint32_t i) { return slots.empty() ? nullptr : &slots[i]; };
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), target_, kKernelKinds));
  if (l == nullptr) {
    return transform::AtEquation(
        absl::UnimplementedError(base::Cat(row.name, ": no lowering for target ", target_.kind)), p, eqn, "lower");
  }
  const bool update = IsUpdate(*l);
  if (update) operands.push_back(0);
  base::HashMap<ir::ValueId, ArrayId> bound;
  for (uint32_t i = update; i < eqn.operands.size(); ++i) {
    const ir::ValueId v = eqn.operands[i];
    if (const auto before = bound.find(v); before != bound.end()) {
      operands.push_back(before->second);
      continue;
    }
    if (const ir::Constant* c = p.constant(v)) {
      operands.push_back(AddLiteral(p.type_id(v), *c));
    } else {
      RICCI_ASSIGN(ArrayId a, AddSlot(p.type_id(v), RICCI_ACCESS_READ, {Binding::Kind::kOperand, i, nullptr}, slot(i)));
      operands.push_back(a);
    }
    bound[v] = operands.back();
  }
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    RICCI_ASSIGN(ArrayId a,
                 AddSlot(p.type_id(eqn.result(i)), RICCI_ACCESS_READ_WRITE, {Binding::Kind::kResult, i, nullptr},
                         slot(static_cast<uint32_t>(eqn.operands.size()) + i)));
    results.push_back(a);
  }
  if (update) operands[0] = results[0];
  const int64_t n_rows = row.flow == prim::Flow::kFusion ? trace::IntOf(eqn.attrs, "rows") : 0;
  auto run = [&]() -> absl::Status {
    if (n_rows > 0) {
      return InlineFusion(eqn, static_cast<uint32_t>(n_rows), operands, results);
    }
    if (l->kind == RICCI_LOWER_LOOPS) return RunLoops(p, eqn, *l, operands, results, update).status();
    std::vector<ArrayId> lazy;
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      lazy.push_back(AddLazy(p.type_id(eqn.result(i)), {&p, &eqn, l, operands, i}));
    }
    return CopyGroup(results, lazy);
  };
  RICCI_TRY(transform::AtEquation(run(), p, eqn, "lower"));
  Result out;
  auto kernel = w_.Finish();
  if (!kernel.ok()) return transform::AtEquation(kernel.status(), p, eqn, "lower");
  out.kernel = *std::move(kernel);
  if (update) out.kernel.updates = static_cast<int32_t>(arrays_[results[0]].place.number);
  out.bindings = std::move(bindings_);
  out.checks = std::move(checks_);
  return out;
}

absl::StatusOr<KernelBuilder::Result> KernelBuilder::LowerCopy(ir::TypeId t, const Slot& from, const Slot& to) {
  RICCI_ASSIGN(ArrayId src, AddSlot(t, RICCI_ACCESS_READ, {Binding::Kind::kOperand, 0, nullptr}, &from));
  RICCI_ASSIGN(ArrayId dst, AddSlot(t, RICCI_ACCESS_READ_WRITE, {Binding::Kind::kResult, 0, nullptr}, &to));
  RICCI_TRY(Copy(dst, src));
  Result out;
  RICCI_ASSIGN(out.kernel, w_.Finish());
  out.bindings = std::move(bindings_);
  return out;
}

absl::StatusOr<std::vector<ArrayId>> KernelBuilder::RunLoops(const ir::Program& f, const ir::Equation& eqn,
                                                             const ricci_lowering& l, std::vector<ArrayId> operands,
                                                             std::span<const ArrayId> results, bool updates) {
  const trace::Op op(f, eqn);
  Context inner{std::move(operands), {results.begin(), results.end()}, &f, &eqn, w_.Depth(), updates};
  std::swap(context_, inner);
  const absl::Status status = base::FromAbi(l.loops(l.self, Abi(this), op.get()));
  std::swap(context_, inner);
  RICCI_TRY(transform::AtEquation(status, f, eqn, "lower"));
  RICCI_TRY(w_.status());
  return inner.results;
}

absl::Status KernelBuilder::Require(Val condition, absl::Status otherwise) {
  RICCI_TRY(base::Invariant(context_.eqn != nullptr, "kernel: a check outside of a lowering"));
  w_.Require(condition, static_cast<uint32_t>(checks_.size()));
  RICCI_TRY(w_.status());
  // A message that begins with a primitive is about that one: `check` speaks for what it was derived from.
  const std::string_view text(otherwise.message().data(), otherwise.message().size());
  const std::string_view first = text.substr(0, text.find(": "));
  if (registry_.Find(first) != nullptr) otherwise = base::WithSite(otherwise, {.primitive = std::string(first)});
  checks_.push_back(transform::AtEquation(std::move(otherwise), *context_.program, *context_.eqn, "run"));
  return absl::OkStatus();
}

// ---- loading ----

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

absl::StatusOr<Val> KernelBuilder::Load(ArrayId a, std::span<const Val> index) {
  if (!Has(a)) return absl::InvalidArgumentError("kernel: load of no array");
  if (index.size() != type(a).rank()) {
    return base::InvalidArgument("kernel: ", base::Count(index.size(), "index", "indices"), " for ", ToText(type(a)));
  }
  RICCI_ASSIGN(Val v, LoadIndex(a, {{index.begin(), index.end()}, false}));
  RICCI_TRY(w_.status());
  return v;
}

absl::StatusOr<Val> KernelBuilder::LoadIndex(ArrayId id, const Index& index) {
  const Array& a = arrays_[id];
  switch (a.kind) {
    case Kind::kPlace:
      return LoadPlace(a, index);
    case Kind::kLazy:
      return LoadLazy(id, index);
    case Kind::kLiteral:
      return LoadLiteral(id, index);
    case Kind::kElements:
      return LoadElements(id, index);
    case Kind::kSlice:
      break;
  }
  Index full = ToDims(type(id), index);
  const Slice slice = a.slice;
  full.at.insert(full.at.begin() + slice.axis, slice.index);
  return LoadIndex(slice.base, full);
}

absl::StatusOr<Val> KernelBuilder::LoadPlace(const Array& a, const Index& index) {
  if (a.place.of_row) RICCI_TRY(CheckRow(index));
  const Val at = PositionInPlace(a, index);
  return a.place.local ? w_.Get(kernel::LocalId{a.place.number}, at) : w_.Load(a.place.number, at);
}

absl::StatusOr<Val> KernelBuilder::LoadLazy(ArrayId id, const Index& index) {
  std::vector<uint32_t> key{id, index.flat};
  key.insert(key.end(), index.at.begin(), index.at.end());
  if (auto it = memo_.find(key); it != memo_.end() && w_.IsOpen(it->second.scope) && w_.Usable(it->second.value)) {
    return it->second.value;
  }
  const uint32_t scope = w_.Scope();
  const Lazy lazy = arrays_[id].lazy;  // a copy: evaluating adds arrays
  auto v = lazy.lowering->kind == RICCI_LOWER_SCALAR ? EvaluateScalar(lazy, index) : EvaluateIndex(lazy, index);
  if (!v.ok()) return transform::AtEquation(v.status(), *lazy.program, *lazy.eqn, "lower");
  RICCI_TRY(transform::AtEquation(w_.status(), *lazy.program, *lazy.eqn, "lower"));
  memo_[key] = {*v, scope};
  return *v;
}

absl::StatusOr<Val> KernelBuilder::EvaluateScalar(const Lazy& lazy, const Index& index) {
  const trace::Op op(*lazy.program, *lazy.eqn);
  std::vector<Val> in, out(op->n_out, 0);
  for (ArrayId o : lazy.operands) {
    // A scalar operand is the same for all elements.
    RICCI_ASSIGN(Val v, type(o).rank() == 0 ? LoadIndex(o, {}) : LoadIndex(o, index));
    in.push_back(v);
  }
  Context inner{lazy.operands, {}, lazy.program, lazy.eqn, w_.Depth()};
  std::swap(context_, inner);
  const absl::Status status =
      base::FromAbi(lazy.lowering->scalar(lazy.lowering->self, Abi(this), op.get(), in.data(), out.data()));
  std::swap(context_, inner);
  RICCI_TRY(status);
  return out[lazy.result];
}

absl::StatusOr<Val> KernelBuilder::EvaluateIndex(const Lazy& lazy, const Index& index) {
  const trace::Op op(*lazy.program, *lazy.eqn);
  const Index dims = ToDims(registry_.vocabulary().types.Get(op->out_types[lazy.result]), index);
  Context inner{lazy.operands, {}, lazy.program, lazy.eqn, w_.Depth()};
  std::swap(context_, inner);
  Val out = 0;
  const absl::Status status =
      base::FromAbi(lazy.lowering->index(lazy.lowering->self, Abi(this), op.get(), lazy.result, dims.at.data(), &out));
  std::swap(context_, inner);
  RICCI_TRY(status);
  return out;
}

absl::StatusOr<Val> KernelBuilder::LoadLiteral(ArrayId id, const Index& index) {
  const ir::ArrayType& t = type(id);
  const uint32_t size = types::Info(t.dtype).size;
  const Literal literal = arrays_[id].literal;
  const std::byte* bytes = literal.data->bytes.data();
  if (literal.splat || t.elements == 1) return w_.Element(t.dtype, bytes);
  const Val position = Position(t, index);
  if (auto at = w_.ConstantIndex(position)) {
    if (*at < 0 || *at >= t.elements) return base::InvalidArgument("kernel: index ", *at, " is outside of ", ToText(t));
    return w_.Element(t.dtype, bytes + *at * size);
  }
  if (literal.buffer == 0) {
    const ArrayId buffer = AddBuffer(arrays_[id].type, RICCI_ACCESS_READ, {Binding::Kind::kConstant, 0, literal.data});
    arrays_[id].literal.buffer = buffer;
  }
  return LoadPlace(arrays_[arrays_[id].literal.buffer], index);
}

absl::StatusOr<Val> KernelBuilder::LoadElements(ArrayId id, const Index& index) {
  const ir::ArrayType& t = type(id);
  if (arrays_[id].elements.of_row) {
    RICCI_TRY(CheckRow(index));
    return arrays_[id].elements.values[0];
  }
  if (auto at = w_.ConstantIndex(Position(t, index))) {
    if (*at < 0 || *at >= t.elements) return base::InvalidArgument("kernel: index ", *at, " is outside of ", ToText(t));
    return arrays_[id].elements.values[*at];
  }
  const ArrayId known = arrays_[id].elements.spilled;
  // A private array is a value of its block.
  if (known == 0 || !w_.Usable(arrays_[known].place.number)) RICCI_TRY(Spill(id));
  return LoadPlace(arrays_[arrays_[id].elements.spilled], index);
}

// Elements in a private array, from which they can be read by any index within this block.
absl::Status KernelBuilder::Spill(ArrayId id) {
  RICCI_ASSIGN(ArrayId spilled, Private(arrays_[id].type));
  const kernel::LocalId local{arrays_[spilled].place.number};
  const auto n = static_cast<int64_t>(arrays_[id].elements.values.size());
  for (int64_t i = 0; i < n; ++i) w_.Set(local, w_.Index(i), arrays_[id].elements.values[i]);
  arrays_[id].elements.spilled = spilled;
  return absl::OkStatus();
}

// ---- storing, views, copies ----

absl::Status KernelBuilder::Store(ArrayId a, std::span<const Val> index, Val v) {
  if (!Has(a)) return absl::InvalidArgumentError("kernel: store to no array");
  if (index.size() != type(a).rank())
    return base::InvalidArgument("kernel: ", base::Count(index.size(), "index", "indices"), " for ", ToText(type(a)));
  RICCI_TRY(StoreIndex(a, {{index.begin(), index.end()}, false}, v));
  return w_.status();
}

// Of an element in its buffer or private array.
Val KernelBuilder::PositionInPlace(const Array& a, const Index& index) {
  const ir::ArrayType& t = registry_.vocabulary().types.Get(a.type);
  const bool contiguous = a.place.strides == RowMajor(t.shape);
  const Val at = index.flat && contiguous ? index.at[0] : w_.Linear(ToDims(t, index).at, a.place.strides);
  return a.place.offset != 0 ? w_.Add(a.place.offset, at) : at;
}

// Where more than the update of a buffer goes on, and of complex numbers, all is done by one point in order.
absl::Status KernelBuilder::Combine(ArrayId a, std::span<const Val> index, uint32_t combiner, Val v) {
  const bool update = Has(a) && context_.updates && a == result(0) && index.size() == type(a).rank();
  if (update && !types::IsComplex(type(a).dtype)) {
    w_.Combine(arrays_[a].place.number, PositionInPlace(arrays_[a], {{index.begin(), index.end()}}), combiner, v);
    return w_.status();
  }
  if (!kernel::IsUpdater(combiner)) {
    return absl::InvalidArgumentError("kernel: elements are combined by add, mul, max or min");
  }
  w_.InOrder(context_.depth);
  RICCI_ASSIGN(const Val old, Load(a, index));
  return Store(a, index, w_.Op(combiner, old, v));
}

absl::Status KernelBuilder::StoreIndex(ArrayId id, const Index& index, Val v) {
  const Array& a = arrays_[id];
  if (a.kind != Kind::kPlace)
    return absl::InvalidArgumentError("kernel: only results and private arrays can be stored to");
  if (a.place.of_row) RICCI_TRY(CheckRow(index));
  const Val at = PositionInPlace(a, index);
  if (a.place.local) {
    w_.Set(kernel::LocalId{a.place.number}, at, v);
  } else {
    w_.Store(a.place.number, at, v);
  }
  return absl::OkStatus();
}

absl::StatusOr<ArrayId> KernelBuilder::Private(ir::TypeId t) {
  if (!registry_.vocabulary().types.Has(t)) {
    return base::InvalidArgument("kernel: a private array of type ", t, ", which is not known");
  }
  const ir::ArrayType& type = registry_.vocabulary().types.Get(t);
  Array a;
  a.type = t;
  a.place.local = true;
  a.place.number = static_cast<uint32_t>(w_.Local(type.dtype, std::max<int64_t>(type.elements, 1)));
  a.place.strides = RowMajor(type.shape);
  RICCI_TRY(w_.status());
  return Add(std::move(a));
}

absl::StatusOr<ArrayId> KernelBuilder::View(ArrayId id, uint32_t axis, Val index) {
  if (!Has(id) || axis >= type(id).rank())
    return absl::InvalidArgumentError("kernel: view along a dimension that is not there");
  const ir::ArrayType& t = type(id);
  std::vector<int64_t> shape(t.shape.begin(), t.shape.end());
  shape.erase(shape.begin() + axis);
  Array v;
  RICCI_ASSIGN(v.type, registry_.vocabulary().types.WithShape(t, shape));
  const Array& a = arrays_[id];
  v.kind = a.kind == Kind::kPlace ? Kind::kPlace : Kind::kSlice;
  if (a.kind == Kind::kPlace) {
    v.place = a.place;
    if (a.place.of_row) return LeaveRow("a slice of all rows is taken");
    const Val step = w_.Mul(index, w_.Index(a.place.strides[axis]));
    v.place.offset = a.place.offset == 0 ? step : w_.Add(a.place.offset, step);
    v.place.strides.erase(v.place.strides.begin() + axis);
  } else {
    v.slice = {id, axis, index};
  }
  RICCI_TRY(w_.status());
  return Add(std::move(v));
}

// Does element n of `id`, seen as one of type `t`, need only elements n of what it reads?
bool KernelBuilder::IsFlat(ArrayId id, const ir::ArrayType& t) const {
  const Array& a = arrays_[id];
  const ir::ArrayType& own = type(id);
  if (own.rank() == 0) return true;
  if (!std::equal(own.shape.begin(), own.shape.end(), t.shape.begin(), t.shape.end())) return false;
  switch (a.kind) {
    case Kind::kPlace:
      return !a.place.of_row && a.place.strides == RowMajor(own.shape);
    case Kind::kElements:
      return !a.elements.of_row;
    case Kind::kLiteral:
      return true;
    case Kind::kSlice:
      return false;
    case Kind::kLazy:
      return a.lazy.flat;
  }
  return false;
}

absl::Status KernelBuilder::Copy(ArrayId dst, ArrayId src) {
  if (!Has(dst) || !Has(src)) return absl::InvalidArgumentError("kernel: copy of no array");
  if (type_id(dst) != type_id(src)) {
    return base::InvalidArgument("kernel: copy of ", ToText(type(src)), " to ", ToText(type(dst)));
  }
  return CopyGroup({&dst, 1}, {&src, 1});
}

// dst[i] = src[i], in as few loop nests as their shapes allow.
absl::Status KernelBuilder::CopyGroup(std::span<const ArrayId> dst, std::span<const ArrayId> src) {
  for (size_t first = 0; first < dst.size();) {
    const ir::ArrayType& t = type(dst[first]);
    size_t last = first;
    bool flat = true;
    while (last < dst.size() &&
           std::equal(t.shape.begin(), t.shape.end(), type(dst[last]).shape.begin(), type(dst[last]).shape.end())) {
      flat &= IsFlat(src[last], t) && IsFlat(dst[last], t);
      ++last;
    }
    auto at = [&](const Index& index) -> absl::Status {
      std::vector<Val> values;  // all are read before any is written
      for (size_t i = first; i < last; ++i) {
        RICCI_ASSIGN(Val v, LoadIndex(src[i], index));
        values.push_back(v);
      }
      for (size_t i = first; i < last; ++i) RICCI_TRY(StoreIndex(dst[i], index, values[i - first]));
      return w_.status();
    };
    if (t.rank() == 0) {
      RICCI_TRY(at({}));
    } else if (w_.Depth() > 0 && t.elements <= MostElements() && row_.extents.empty()) {
      for (int64_t n = 0; n < t.elements; ++n) RICCI_TRY(at({{w_.Index(n)}, true}));
    } else if (t.elements > 0) {
      Index index;
      index.flat = flat;
      index.at.resize(flat ? 1 : t.rank());
      RICCI_TRY(Parallel(flat ? std::span<const int64_t>(&t.elements, 1) : t.shape, index.at.data()));
      RICCI_TRY(at(index));
      w_.End();
    }
    first = last;
  }
  return w_.status();
}

}  // namespace ricci::inline v0::pass
