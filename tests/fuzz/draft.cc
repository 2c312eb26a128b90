#include "fuzz/draft.h"

#include "fuzz/array_data.h"
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

constexpr size_t kRecent = 12;

// The least or the greatest number of an integer dtype.
int64_t EndOf(DType d, bool least) {
  const int64_t bits = BitsOf(d);
  if (!In(d, kSigned)) return least ? 0 : bits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << bits) - 1);
  const auto top = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return least ? -top - 1 : top;
}

size_t ElementSize(uint32_t kind) {
  if (kind < RICCI_ATTR_STRING) return 0;
  return kind == RICCI_ATTR_STRING ? 1 : 8;
}

}  // namespace

std::vector<ricci_attr> DrawnEquation::Attrs() const {
  std::vector<ricci_attr> out;
  for (const HeldAttr& a : attrs) out.emplace_back(a.attr).data = a.data.data();
  return out;
}

const ricci_prim_def& RowOf(ricci_ctx* ctx, std::string_view primitive) {
  const ricci_prim wanted = FindPrimitive(ctx, primitive);
  ricci_prim id = 0;
  for (uint32_t i = 0;; ++i) {
    const ricci_prim_def* row = ricci_prim_at(ctx, i, &id);
    if (id == wanted) return *row;
  }
}

Draft::Draft(ricci_ctx* ctx, Dice& dice, const Palette& palette, DraftCounts& counts)
    : ctx_(ctx), dice_(dice), palette_(palette), counts_(counts) {
  Check(ricci_builder_create(ctx, "f", 1, nullptr, 0, &builder_, nullptr));
}

Draft::Draft(Draft& outer, const std::vector<ArrayType>& params)
    : ctx_(outer.ctx_),
      dice_(outer.dice_),
      palette_(outer.palette_),
      counts_(outer.counts_),
      nesting_(outer.nesting_ + 1) {
  std::vector<ricci_type> types;
  for (const ArrayType& t : params) types.push_back(t.id());
  std::vector<ricci_val> ids(types.size());
  Check(ricci_builder_nest(outer.builder_, "body", 4, types.data(), static_cast<uint32_t>(types.size()), &builder_,
                           ids.data()));
  for (ricci_val id : ids) params_.push_back({builder_, id});
  values_ = params_;
}

// ---- types ----
DType Draft::SomeDType(DTypeSet set) {
  // f32 and f64, i32 and bool come more often than their number says.
  constexpr DType kOften[] = {DType::kF32, DType::kF32, DType::kF64, DType::kI32, DType::kBool};
  const DTypeSet allowed = set & palette_.dtypes ? set & palette_.dtypes : set;
  if (dice_.Chance(0.6)) {
    const DType d = dice_.Pick(kOften);
    if (In(d, allowed)) return d;
  }
  std::vector<DType> all;
  for (uint32_t i = 1; i <= static_cast<uint32_t>(DType::kKey); ++i) {
    if (In(static_cast<DType>(i), allowed)) all.push_back(static_cast<DType>(i));
  }
  return all.empty() ? DType::kF32 : dice_.Pick(all);
}

Shape Draft::Limited(Shape shape) {
  while (ElementCount(shape) > palette_.max_elements / 2) {
    int64_t& longest = *std::max_element(shape.begin(), shape.end());
    longest = longest > 2 ? 2 : 1;
  }
  return shape;
}
Shape Draft::SomeShape(int64_t rank) {
  constexpr int64_t kSizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 7, 8}, kLong[] = {9, 15, 16, 17, 31, 33, 64, 65, 100, 130};
  Shape shape(static_cast<size_t>(rank));
  for (int64_t& n : shape) n = dice_.Chance(0.01) ? 0 : dice_.Pick(kSizes);
  if (rank > 0 && dice_.Chance(rank == 1 ? 0.4 : 0.15)) dice_.Pick(shape);
  if (rank > 0 && dice_.Chance(rank == 1 ? 0.4 : 0.15))
    shape[static_cast<size_t>(dice_.Below(rank))] = dice_.Pick(kLong);
  return Limited(std::move(shape));
}
Shape Draft::SomeShape() {
  constexpr int64_t kRanks[] = {0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6};
  return SomeShape(dice_.Pick(kRanks));
}

// ---- operands ----
Value Draft::Find(DTypeSet set, const std::function<bool(const ArrayType&)>& fits) {
  std::vector<size_t> found;
  for (size_t i = 0; i < values_.size(); ++i) {
    const ArrayType type = values_[i].type();
    if (In(type.dtype(), set) && (!fits || fits(type))) found.push_back(i);
  }
  if (found.empty()) return {};
  // The newest values are preferred, so chains grow long.
  const size_t at = dice_.Chance(0.5)
                        ? found.size() - 1 -
                              static_cast<size_t>(dice_.Below(std::min<int64_t>(3, static_cast<int64_t>(found.size()))))
                        : static_cast<size_t>(dice_.Below(static_cast<int64_t>(found.size())));
  return values_[found[at]];
}
Value Draft::Any(DTypeSet set) {
  const Value found = dice_.Chance(0.9) ? Find(set, {}) : Value{};
  return found.is_none() ? Fresh(Type(SomeDType(set), SomeShape())) : found;
}
Value Draft::AnyOfRank(int64_t low, int64_t high, DTypeSet set) {
  const Value found = Find(set, [&](const ArrayType& t) { return t.rank() >= low && t.rank() <= high; });
  if (!found.is_none() && dice_.Chance(0.9)) return found;
  return Fresh(Type(SomeDType(set), SomeShape(dice_.Between(low, std::min(high, low + 2)))));
}
Value Draft::Of(const ArrayType& type) {
  const Value found =
      dice_.Chance(0.85) ? Find(SetOf(type.dtype()), [&](const ArrayType& t) { return t == type; }) : Value{};
  return found.is_none() ? Fresh(type) : found;
}
Value Draft::AddParam(const ArrayType& type) {
  Value v{builder_, RICCI_VAL_NONE};
  Check(ricci_builder_param(builder_, type.id(), &v.id));
  params_.push_back(v);
  return v;
}
Value Draft::Fresh(const ArrayType& type) {
  if (IsComplex(type.dtype()) && dice_.Chance(0.8)) {
    const ArrayType part = type.WithDType(PartOf(type.dtype()));
    const Value re = Of(part);
    const Values made = Emit("complex", {re, Of(part)});
    if (!made.empty()) return made[0];
  }
  const bool of_host = type.dtype() != DType::kKey && !IsComplex(type.dtype());
  const bool may_be_param = nesting_ == 0 && params_.size() < 8 && of_host;
  const Value v = may_be_param && (params_.empty() || dice_.Chance(0.6)) ? AddParam(type) : Constant(type);
  Add({v});
  return v;
}
Value Draft::Constant(const ArrayType& type) {
  const bool splat = dice_.Chance(0.4) || type.elements() == 0;
  return ConstantOf(type, DrawElements(dice_, type.dtype(), splat ? 1 : type.elements(), palette_.special));
}
Value Draft::ConstantOf(const ArrayType& type, const std::vector<std::byte>& bytes) {
  Value v{builder_, RICCI_VAL_NONE};
  Check(ricci_builder_const(builder_, type.id(), bytes.data(), bytes.size(), &v.id));
  return v;
}
Value Draft::Hidden(const Value& v) {
  if (dice_.Chance(0.5)) return v;
  const Values hidden = Emit("optimization_barrier", {v});
  return hidden.empty() ? v : hidden[0];
}
Value Draft::Indices(Dims shape, int64_t bound) {
  constexpr DType kTypes[] = {DType::kI32, DType::kI32, DType::kI64, DType::kU32, DType::kU8};
  const ArrayType type = Type(palette_.smooth ? DType::kI32 : dice_.Pick(kTypes), shape);
  if (dice_.Chance(0.3)) {  // computed, so that the compiler knows nothing of them
    const Value found = Of(type);
    if (!found.is_none()) return found;
  }
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < type.elements(); ++i) {
    const int64_t wild = dice_.Chance(0.9) ? 0 : dice_.Between(-2, 2);
    const bool extreme = !palette_.smooth && dice_.Chance(0.01);
    if (extreme) Count("index at the end of its dtype");
    const Element e =
        Encode(type.dtype(), extreme ? EndOf(type.dtype(), dice_.Chance(0.5)) : dice_.Below(bound) + wild);
    for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
  }
  return bytes.empty() ? Constant(type) : Hidden(ConstantOf(type, bytes));
}
Value Draft::BoundedComplex(const Value& z) {
  const Value re = Bounded(lax::real(z)), im = Bounded(lax::imag(z));
  const Values v = Emit("complex", {re, im});
  return v.empty() ? z : v[0];
}
Value Draft::Bounded(const Value& x) {
  if (IsComplex(x.dtype())) return BoundedComplex(x);
  if (!palette_.smooth && dice_.Chance(0.2)) return x;
  const Values v = Emit(dice_.Chance(0.5) ? "sin" : "tanh", {x});
  return v.empty() ? x : v[0];
}
Value Draft::Positive(const Value& x) {
  if (!palette_.smooth && dice_.Chance(0.2)) return x;
  const Values v = Emit(dice_.Chance(0.5) ? "exp" : "square", {Bounded(x)});
  if (v.empty()) return x;
  const Values shifted = Emit("add", {v[0], Of(v[0].type())});
  (void)shifted;
  return v[0];
}

// ---- equations ----
void Draft::Add(const Values& made) { values_.insert(values_.end(), made.begin(), made.end()); }

Values Draft::SomeKept(size_t n) {
  Values out = kept_;
  dice_.Shuffle(out);
  out.resize(std::min(n, out.size()));
  return out;
}

Values Draft::Emit(std::string_view primitive, const Values& in, std::initializer_list<Attr> attrs) {
  return Emit(primitive, in, std::vector<ricci_attr>(attrs.begin(), attrs.end()));
}
std::optional<std::vector<ricci_type>> Draft::Infer(std::string_view primitive, const Values& in,
                                                    const std::vector<ricci_attr>& attrs) {
  std::vector<ricci_val> ids;
  for (const Value& v : in) ids.push_back(v.id);
  std::vector<ricci_type> types(64);
  uint32_t n = 0;
  const auto infer = [&] {
    Check(ricci_builder_infer(builder_, FindPrimitive(ctx_, primitive), attrs.data(),
                              static_cast<uint32_t>(attrs.size()), ids.data(), static_cast<uint32_t>(ids.size()),
                              types.data(), static_cast<uint32_t>(types.size()), &n));
  };
  try {
    infer();
    types.resize(n);
    if (n > 64) infer();  // more results than there was room for
  } catch (const Error& e) {
    if (e.code() == RICCI_INTERNAL) throw;
    ++counts_.refused[std::string(primitive)];
    counts_.refusal[std::string(primitive)] = e.message();
    return {};
  }
  return types;
}

std::vector<ricci_attr> Draft::WithSomeLeftOut(std::string_view primitive, const std::vector<ricci_attr>& attrs) {
  const ricci_prim_def& row = RowOf(ctx_, primitive);
  constexpr double kShares[] = {0, 0.5, 1};
  const double share_of_empty = dice_.Pick(kShares);
  std::vector<ricci_attr> out;
  for (const ricci_attr& a : attrs) {
    const std::string_view name(a.name.ptr, a.name.len);
    const auto optional = [&](const ricci_attr_spec& spec) {
      return std::string_view(spec.name.ptr, spec.name.len) == name && (spec.flags & RICCI_ATTR_OPTIONAL) != 0;
    };
    const bool may_go = std::any_of(row.attr_specs, row.attr_specs + row.n_attr_specs, optional);
    const bool empty = a.kind >= RICCI_ATTR_STRING ? a.count == 0 : a.i == 0 && a.f == 0;
    if (!may_go || !dice_.Chance(empty ? share_of_empty : 0.1)) out.push_back(a);
  }
  return out;
}

Values Draft::Emit(std::string_view primitive, const Values& in, const std::vector<ricci_attr>& given) {
  std::vector<ricci_attr> attrs = WithSomeLeftOut(primitive, given);
  dice_.Shuffle(attrs);
  auto types = Infer(primitive, in, attrs);
  if (types && attrs.size() < given.size()) Count("attribute left out");
  if (!types && attrs.size() < given.size()) types = Infer(primitive, in, attrs = given);
  if (!types) return {};
  for (ricci_type t : *types) {
    if (ArrayType(ctx_, t).elements() > palette_.max_elements) return {};
  }
  std::vector<ricci_val> ids;
  for (const Value& v : in) ids.push_back(v.id);
  const Values out =
      ricci::Emit(builder_, nullptr, FindPrimitive(ctx_, primitive), attrs, ids, static_cast<uint32_t>(types->size()));
  ++counts_.emitted[std::string(primitive)];
  ++equations_;
  Remember(primitive, in, attrs);
  Add(out);
  return out;
}

void Draft::Remember(std::string_view primitive, const Values& in, const std::vector<ricci_attr>& attrs) {
  if (recent_.size() == kRecent) recent_.erase(recent_.begin());
  const ricci_prim_def& row = RowOf(ctx_, primitive);
  DrawnEquation& e = recent_.emplace_back();
  e.primitive = primitive;
  e.in = in;
  for (const ricci_attr& a : attrs) {
    const auto* data = static_cast<const std::byte*>(a.data);
    e.attrs.push_back({a, {data, data + a.count * ElementSize(a.kind)}});
    for (const ricci_attr_spec& spec : std::span(row.attr_specs, row.n_attr_specs)) {
      const std::string_view name(spec.name.ptr, spec.name.len);
      if (name == std::string_view(a.name.ptr, a.name.len)) e.attrs.back().attr.name = spec.name;
    }
    if (a.kind != RICCI_ATTR_PROGRAM && a.kind != RICCI_ATTR_PROGRAMS) continue;
    for (uint32_t i = 0; i < a.count; ++i) {
      ricci_program* p = static_cast<ricci_program* const*>(a.data)[i];
      e.programs.emplace_back(ricci_program_retain(p), ricci_program_release);
    }
  }
}

Value Draft::Produce(const ArrayType& type) {
  const auto same = [&](const ArrayType& t) { return t == type; };
  const Value found = Find(SetOf(type.dtype()), same);
  const auto is_found = [&](const Value& v) { return v.id == found.id; };
  const bool is_param = std::any_of(params_.begin(), params_.end(), is_found);
  if (!found.is_none() && (!is_param || dice_.Chance(0.2))) return found;
  const Value x = found.is_none() ? Constant(type) : found;
  Values made;
  if (IsFloat(type.dtype())) made = Emit(dice_.Chance(0.5) ? "sin" : "tanh", {x});
  if (IsInt(type.dtype()) || IsComplex(type.dtype())) made = Emit("add", {x, Of(type)});
  if (type.dtype() == DType::kBool) made = Emit("not", {x});
  return made.empty() ? x : made[0];
}

void Draft::Grow(int64_t n) {
  const int64_t until = equations_ + n;
  for (int64_t tries = 0; equations_ < until && tries < 8 * n; ++tries) EmitSomething(*this);
}

std::shared_ptr<ricci_program> Draft::Finish(const Values& results) {
  std::vector<ricci_val> ids;
  for (const Value& v : results) ids.push_back(v.id);
  ricci_program* p = nullptr;
  Check(ricci_builder_finish(builder_, ids.data(), static_cast<uint32_t>(ids.size()), &p));
  builder_ = nullptr;
  return {p, ricci_program_release};
}

}  // namespace ricci::testing
