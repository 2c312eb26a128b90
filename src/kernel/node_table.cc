#include "kernel/node_table.h"

#include <algorithm>

#include "kernel/scalar/scalar_eval.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

bool Commutes(uint32_t op) { return IsCombiner(op) || op == RICCI_S_EQ || op == RICCI_S_NE || op == RICCI_S_MULHI; }

NodeKey KeyOf(const ricci_inst& inst, uint32_t version) {
  NodeKey key{inst.op, inst.dtype, inst.a, inst.b, inst.c, version, inst.imm};
  if (Commutes(inst.op) && key.a > key.b) std::swap(key.a, key.b);
  return key;
}

Range Intersection(Range a, Range b) {
  const Range both{std::max(a.min, b.min), std::min(a.max, b.max)};
  return both.min <= both.max ? both : a;
}

}  // namespace

bool HasForms(uint32_t dtype) { return dtype == RICCI_I64 || dtype == RICCI_I32; }

Range WidestRange(uint32_t dtype) {
  const types::DTypeInfo& info = types::Info(dtype);
  if (info.cls == types::DTypeClass::kBool) return {0, 1};
  if (!types::IsInteger(dtype) || info.size == 8) return {INT64_MIN, INT64_MAX};
  const uint32_t bits = 8 * info.size;
  if (info.cls == types::DTypeClass::kUnsigned) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

NodeTable::NodeTable() { nodes_.emplace_back().inst.op = RICCI_K_NOP; }

Val NodeTable::Append(const ricci_inst& inst) {
  const Val v = static_cast<Val>(nodes_.size());
  Node& n = nodes_.emplace_back();
  n.inst = inst;
  n.scope = scope_;
  n.location = location;
  n.range = WidestRange(inst.dtype);
  order.push_back(v);
  return v;
}

Val NodeTable::Unique(const ricci_inst& inst, uint32_t version, bool* fresh) {
  Val& v = known_[KeyOf(inst, version)];
  const bool make = !Usable(v);
  if (make) v = Append(inst);
  if (fresh) *fresh = make;
  return v;
}

Val NodeTable::Constant(uint32_t dtype, uint64_t bits) {
  const ricci_inst inst{RICCI_K_CONST, static_cast<uint16_t>(dtype), 0, 0, 0, static_cast<int64_t>(bits)};
  Val& v = known_[KeyOf(inst, 0)];
  if (v != 0) return v;
  v = static_cast<Val>(nodes_.size());
  Node& n = nodes_.emplace_back();
  n.inst = inst;
  n.range = WidestRange(dtype);
  if (const std::optional<int64_t> i = IntegerOf(v)) n.range = {*i, *i};
  return v;
}

Val NodeTable::Integer(uint32_t dtype, int64_t v) { return Constant(dtype, EncodeInteger(dtype, v)); }

std::optional<int64_t> NodeTable::IntegerOf(Val v) const {
  if (!IsConstant(v)) return std::nullopt;
  const uint32_t dtype = DType(v);
  if (!types::IsInteger(dtype) && dtype != RICCI_BOOL) return std::nullopt;
  return DecodeInteger(dtype, Bits(v));
}

LinearForm NodeTable::FormOf(Val v) const {
  if (const std::optional<int64_t> c = IntegerOf(v)) return LinearForm::OfConstant(*c);
  const Node& n = nodes_[v];
  if (!n.has_form) return LinearForm::Of(v);
  LinearForm f;
  for (uint32_t i = 0; i < n.n_terms; ++i) f.terms.push_back(terms_[n.first_term + i]);
  f.constant = n.form_constant;
  return f;
}

Val NodeTable::FindForm(const LinearForm& f, uint32_t dtype) const {
  const auto it = by_form_.find(HashOf(f, dtype));
  if (it == by_form_.end() || !Usable(it->second) || DType(it->second) != dtype) return 0;
  return FormOf(it->second) == f ? it->second : 0;
}

void NodeTable::SetForm(Val v, const LinearForm& f) {
  Node& n = nodes_[v];
  n.has_form = true;
  n.first_term = static_cast<uint32_t>(terms_.size());
  n.n_terms = static_cast<uint8_t>(f.terms.size());
  n.form_constant = f.constant;
  terms_.insert(terms_.end(), f.terms.begin(), f.terms.end());
  by_form_[HashOf(f, n.inst.dtype)] = v;
  if (const std::optional<Range> r = ExactRange(f, n.inst.dtype)) n.range = Intersection(n.range, *r);
}

std::optional<Range> NodeTable::ExactRange(const LinearForm& f, uint32_t dtype) const {
  using Wide = __int128;
  const Range widest = WidestRange(dtype);
  const Wide limit = Wide{1} << 100;
  Wide min = f.constant, max = f.constant;
  for (const Term& t : f.terms) {
    const Range r = nodes_[t.atom].range;
    const Wide a = static_cast<Wide>(r.min) * t.factor, b = static_cast<Wide>(r.max) * t.factor;
    min += std::min(a, b), max += std::max(a, b);
    if (min < -limit || max > limit) return std::nullopt;
  }
  if (min < widest.min || max > widest.max) return std::nullopt;
  return Range{static_cast<int64_t>(min), static_cast<int64_t>(max)};
}

Range NodeTable::RangeOf(Val v) const {
  const Node& n = nodes_[v];
  if (!n.has_form) return n.range;
  const std::optional<Range> r = ExactRange(FormOf(v), n.inst.dtype);
  return r ? Intersection(n.range, *r) : n.range;
}

void NodeTable::Narrow(Val v, Range r) { nodes_[v].range = Intersection(nodes_[v].range, r); }

uint32_t NodeTable::OpenScope() {
  scope_open_.push_back(1);
  return scope_ = static_cast<uint32_t>(scope_open_.size() - 1);
}

void NodeTable::CloseScope(uint32_t outer) {
  scope_open_[scope_] = 0;
  scope_ = outer;
}

}}}  // namespace ricci::v0::kernel
