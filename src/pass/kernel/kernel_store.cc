// Storing in a kernel: elements of storage, views of arrays, and copies from any array to storage.
//
// The loops of most kernels come from copies: the results are stored by one loop nest over their elements, flat if
// everything is read and written in row-major order.
//
// A COMBINE is an update in any order: points of the domain may update the same element, so the domain of a scatter is
// all its windows. Within loops, lanes and private arrays a load, an operation and a store are written instead, and the
// loops run in order: there one point does everything.
#include "kernel/scalar/scalar_eval.h"
#include "pass/kernel/kernel_builder.h"

namespace ricci { inline namespace v0 { namespace pass {

// ---- elements ----

absl::Status KernelBuilder::Store(ArrayId a, std::span<const Val> index, Val v) {
  if (!Has(a)) return absl::InvalidArgumentError("kernel: store to something that is not an array");
  if (index.size() != type(a).rank())
    return base::InvalidArgument("kernel: ", base::Count(index.size(), "index", "indices"), " for ", ToText(type(a)));
  RICCI_TRY(StoreIndex(a, {{index.begin(), index.end()}, false}, v));
  return w_.status();
}

// If the kernel does more than update a buffer, and for complex numbers, one point does everything in order.
absl::Status KernelBuilder::Combine(ArrayId a, std::span<const Val> index, uint32_t combiner, Val v) {
  const bool update = Has(a) && context_.updates && a == result(0) && index.size() == type(a).rank();
  if (update && !types::IsComplex(type(a).dtype)) {
    w_.Combine(StorageOf(a).number, PositionInStorage(a, {{index.begin(), index.end()}}), combiner, v);
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
  if (!IsStorage(id)) return absl::InvalidArgumentError("kernel: only results and private arrays can be stored to");
  if (StorageOf(id).of_row) RICCI_TRY(CheckRow(index));
  const Val at = PositionInStorage(id, index);
  const Storage& storage = StorageOf(id);
  if (storage.local) {
    w_.Set(kernel::LocalId{storage.number}, at, v);
  } else {
    w_.Store(storage.number, at, v);
  }
  return absl::OkStatus();
}

absl::StatusOr<ArrayId> KernelBuilder::Private(ir::TypeId t) {
  if (!registry_.vocabulary().types.Has(t)) {
    return base::InvalidArgument("kernel: a private array of type ", t, ", which is not known");
  }
  const ir::ArrayType& type = registry_.vocabulary().types.Get(t);
  Storage storage;
  storage.local = true;
  storage.number = static_cast<uint32_t>(w_.Local(type.dtype, std::max<int64_t>(type.elements, 1)));
  storage.strides = RowMajor(type.shape);
  RICCI_TRY(w_.status());
  return Add({t, std::move(storage)});
}

// ---- views ----

absl::StatusOr<ArrayId> KernelBuilder::View(ArrayId id, uint32_t axis, Val index) {
  if (!Has(id) || axis >= type(id).rank())
    return absl::InvalidArgumentError("kernel: view along a dimension that does not exist");
  const ir::ArrayType& t = type(id);
  std::vector<int64_t> shape(t.shape.begin(), t.shape.end());
  shape.erase(shape.begin() + axis);
  RICCI_ASSIGN(const ir::TypeId of_view, registry_.vocabulary().types.WithShape(t, shape));
  if (!IsStorage(id)) {
    RICCI_TRY(w_.status());
    return Add({of_view, Slice{id, axis, index}});
  }
  Storage view = StorageOf(id);
  if (view.of_row) return LeaveRow("a slice of all rows is taken");
  const Val step = w_.Mul(index, w_.Index(view.strides[axis]));
  view.offset = view.offset == 0 ? step : w_.Add(view.offset, step);
  view.strides.erase(view.strides.begin() + axis);
  RICCI_TRY(w_.status());
  return Add({of_view, std::move(view)});
}

// ---- copies ----

// Does element n of `id`, seen as an array of type `t`, need only elements n of what it reads?
bool KernelBuilder::IsFlat(ArrayId id, const ir::ArrayType& t) const {
  const ir::ArrayType& own = type(id);
  if (own.rank() == 0) return true;
  if (!std::equal(own.shape.begin(), own.shape.end(), t.shape.begin(), t.shape.end())) return false;
  struct Flat {
    const ir::ArrayType& own;
    bool operator()(const Storage& p) const { return !p.of_row && p.strides == RowMajor(own.shape); }
    bool operator()(const Lazy& l) const { return l.flat; }
    bool operator()(const Slice&) const { return false; }
    bool operator()(const Literal&) const { return true; }
    bool operator()(const Elements& e) const { return !e.of_row; }
  };
  return std::visit(Flat{own}, arrays_[id].is);
}

absl::Status KernelBuilder::Copy(ArrayId dst, ArrayId src) {
  if (!Has(dst) || !Has(src)) return absl::InvalidArgumentError("kernel: copy of something that is not an array");
  if (type_id(dst) != type_id(src)) {
    return base::InvalidArgument("kernel: copy of ", ToText(type(src)), " to ", ToText(type(dst)));
  }
  return CopyGroup({&dst, 1}, {&src, 1});
}

// dst[i] = src[i], in as few loop nests as their shapes allow.
absl::Status KernelBuilder::CopyGroup(std::span<const ArrayId> dst, std::span<const ArrayId> src) {
  for (size_t first = 0, last = 0; first < dst.size(); first = last) {
    const std::span<const int64_t> shape = type(dst[first]).shape;
    const auto alike = [&](ArrayId a) {
      return std::equal(shape.begin(), shape.end(), type(a).shape.begin(), type(a).shape.end());
    };
    while (last < dst.size() && alike(dst[last])) ++last;
    RICCI_TRY(CopyAlike(dst.subspan(first, last - first), src.subspan(first, last - first)));
  }
  return w_.status();
}

// The same for arrays of one shape.
absl::Status KernelBuilder::CopyAlike(std::span<const ArrayId> dst, std::span<const ArrayId> src) {
  const ir::ArrayType& t = type(dst[0]);
  if (t.rank() == 0) return CopyAt(dst, src, {});
  if (w_.Depth() > 0 && t.elements <= MostElements() && row_.extents.empty()) {
    for (int64_t n = 0; n < t.elements; ++n) RICCI_TRY(CopyAt(dst, src, {{w_.Index(n)}, true}));
    return absl::OkStatus();
  }
  if (t.elements == 0) return absl::OkStatus();
  const auto is_flat = [&](ArrayId a) { return IsFlat(a, t); };
  Index index;
  index.flat = std::all_of(src.begin(), src.end(), is_flat) && std::all_of(dst.begin(), dst.end(), is_flat);
  index.at.resize(index.flat ? 1 : t.rank());
  RICCI_TRY(Parallel(index.flat ? std::span<const int64_t>(&t.elements, 1) : t.shape, index.at.data()));
  RICCI_TRY(CopyAt(dst, src, index));
  w_.End();
  return absl::OkStatus();
}

// Copies elements `index` of all; all are read before any is written.
absl::Status KernelBuilder::CopyAt(std::span<const ArrayId> dst, std::span<const ArrayId> src, const Index& index) {
  std::vector<Val> values;
  for (ArrayId a : src) {
    RICCI_ASSIGN(Val v, LoadIndex(a, index));
    values.push_back(v);
  }
  for (size_t i = 0; i < dst.size(); ++i) RICCI_TRY(StoreIndex(dst[i], index, values[i]));
  return w_.status();
}

}}}  // namespace ricci::v0::pass
