#include "fuzz/draft.h"

#include "fuzz/array_data.h"
#include "fuzz/generators.h"

namespace ricci::testing {

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
  while (ElementCount(shape) > palette_.max_elements / 2) *std::max_element(shape.begin(), shape.end()) = 2;
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
  // The newest ones are liked best: chains grow long.
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
  const bool may_be_param = nesting_ == 0 && params_.size() < 8 && type.dtype() != DType::kKey;
  const Value v = may_be_param && (params_.empty() || dice_.Chance(0.6)) ? AddParam(type) : Constant(type);
  Add({v});
  return v;
}
Value Draft::Constant(const ArrayType& type) {
  Value v{builder_, RICCI_VAL_NONE};
  const bool splat = dice_.Chance(0.4) || type.elements() == 0;
  const std::vector<std::byte> bytes = DrawElements(dice_, type.dtype(), splat ? 1 : type.elements(), palette_.special);
  Check(ricci_builder_const(builder_, type.id(), bytes.data(), bytes.size(), &v.id));
  return v;
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
    const Element e = Encode(type.dtype(), dice_.Below(bound) + wild);
    for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
  }
  Value v{builder_, RICCI_VAL_NONE};
  if (bytes.empty()) return Constant(type);
  Check(ricci_builder_const(builder_, type.id(), bytes.data(), bytes.size(), &v.id));
  if (dice_.Chance(0.5)) return v;
  const Values hidden = Emit("optimization_barrier", {v});
  return hidden.empty() ? v : hidden[0];
}
Value Draft::Bounded(const Value& x) {
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

Values Draft::Emit(std::string_view primitive, const Values& in, std::initializer_list<Attr> attrs) {
  return Emit(primitive, in, std::vector<ricci_attr>(attrs.begin(), attrs.end()));
}
Values Draft::Emit(std::string_view primitive, const Values& in, const std::vector<ricci_attr>& attrs) {
  const std::string name(primitive);
  const ricci_prim prim = FindPrimitive(ctx_, primitive);
  std::vector<ricci_val> ids;
  for (const Value& v : in) ids.push_back(v.id);
  ricci_type types[64];
  uint32_t n = 0;
  try {
    Check(ricci_builder_infer(builder_, prim, attrs.data(), static_cast<uint32_t>(attrs.size()), ids.data(),
                              static_cast<uint32_t>(ids.size()), types, 64, &n));
  } catch (const Error& e) {
    if (e.code() == RICCI_INTERNAL) throw;
    ++counts_.refused[name];
    counts_.refusal[name] = e.message();
    return {};
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (ArrayType(ctx_, types[i]).elements() > palette_.max_elements) return {};
  }
  const Values out = ricci::Emit(builder_, nullptr, prim, attrs, ids, n);
  ++counts_.emitted[name];
  ++equations_;
  Add(out);
  return out;
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
  if (IsInt(type.dtype())) made = Emit("add", {x, Of(type)});
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
