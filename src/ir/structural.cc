#include "ir/structural.h"

#include <bit>

#include "base/abi_text.h"
#include "ir/walk.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

using base::Hasher;

using base::View;
std::string_view BytesOf(const ConstantData& d) {
  return {reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()};
}

// Elements of an INTS, FLOATS or STRING attribute as bytes.
std::string_view DataOf(const ricci_attr& a) {
  const size_t size = a.kind == RICCI_ATTR_STRING ? 1 : 8;
  const bool has = a.kind == RICCI_ATTR_STRING || a.kind == RICCI_ATTR_INTS || a.kind == RICCI_ATTR_FLOATS;
  return has ? std::string_view(static_cast<const char*>(a.data), a.count * size) : std::string_view();
}

bool SameType(const ArrayType& a, const ArrayType& b) {
  return a.dtype == b.dtype && std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end());
}
bool SameValue(const Program& a, ValueId v, const Program& b, ValueId w) {
  const Value &x = a.values[v], &y = b.values[w];
  if (x.kind != y.kind || !SameType(a.type(v), b.type(w))) return false;
  if (x.kind == ValueKind::kConstant) return SameElements(a.constants[x.index], b.constants[y.index]);
  if (x.index != y.index) return false;
  return x.kind == ValueKind::kParam || v - a.equations[x.index].first_result == w - b.equations[y.index].first_result;
}

uint64_t HashType(const ArrayType& t) {
  Hasher h;
  h.Add(t.dtype).Add(t.shape.size());
  for (int64_t d : t.shape) h.Add(static_cast<uint64_t>(d));
  return h.Done();
}

}  // namespace

bool SameElements(const Constant& a, const Constant& b) {
  const ConstantData &c = *a.data, &d = *b.data;
  return &c == &d || (c.hash == d.hash && BytesOf(c) == BytesOf(d));
}

// ---- hash ----
uint64_t Structure::HashOf(const Program& p) {
  if (!hashes_.contains(&p)) {
    for (const Program* inner : NestedFirst(p)) hashes_[inner] = HashOne(*inner);
  }
  return hashes_.at(&p);
}

// Parameters by position, constants by content, results by equation and position: the numbers of values do not count.
uint64_t Structure::HashOne(const Program& p) {
  std::vector<uint64_t> of(p.values.size());
  Hasher h;
  for (ValueId v = 0; v < of.size(); ++v) {
    const Value& value = p.values[v];
    Hasher one;
    one.Add(static_cast<uint64_t>(value.kind)).Add(HashType(p.type(v)));
    if (value.kind == ValueKind::kParam) one.Add(value.index);
    if (value.kind == ValueKind::kConstant) one.Add(p.constants[value.index].data->hash);
    if (value.kind == ValueKind::kResult) one.Add(value.index).Add(v - p.equations[value.index].first_result);
    of[v] = one.Done();
    if (value.kind == ValueKind::kParam) h.Add(of[v]);
  }
  for (const Equation& e : p.equations) {
    h.Add(std::string_view(p.vocabulary()->PrimName(e.prim))).Add(e.operands.size());
    for (ValueId v : e.operands) h.Add(of[v]);
    for (const ricci_attr& a : e.attrs) AddAttr(h, a);
    for (uint32_t i = 0; i < e.n_results; ++i) h.Add(of[e.result(i)]);
  }
  for (ValueId r : p.results) h.Add(of[r]);
  return h.Done();
}

uint64_t Structure::HashOfOperation(const Program& p, const Equation& e) {
  Hasher h;
  h.Add(std::string_view(p.vocabulary()->PrimName(e.prim)));
  for (const ricci_attr& a : e.attrs) AddAttr(h, a);
  return h.Done();
}

void Structure::AddAttr(Hasher& h, const ricci_attr& a) {
  h.Add(View(a.name)).Add(a.kind).Add(static_cast<uint64_t>(a.i)).Add(std::bit_cast<uint64_t>(a.f)).Add(DataOf(a));
  for (ricci_program* p : Programs(a)) h.Add(HashOf(*FromAbi(p)));
}

// ---- equality ----
bool Structure::Same(const Program& a, const Program& b) {
  if (&a == &b || same_.contains({&a, &b})) return true;
  if (a.n_params() != b.n_params() || a.n_results() != b.n_results() || a.equations.size() != b.equations.size()) {
    return false;
  }
  for (uint32_t i = 0; i < a.n_params(); ++i) {
    if (!SameType(a.type(i), b.type(i))) return false;
  }
  for (size_t i = 0; i < a.equations.size(); ++i) {
    if (!SameEquation(a, a.equations[i], b, b.equations[i])) return false;
  }
  for (uint32_t i = 0; i < a.n_results(); ++i) {
    if (!SameValue(a, a.results[i], b, b.results[i])) return false;
  }
  same_.insert({&a, &b});
  return true;
}

bool Structure::SameAttr(const ricci_attr& a, const ricci_attr& b) {
  if (a.kind != b.kind || a.count != b.count || a.i != b.i || View(a.name) != View(b.name) || DataOf(a) != DataOf(b) ||
      std::bit_cast<uint64_t>(a.f) != std::bit_cast<uint64_t>(b.f)) {
    return false;
  }
  const auto f = Programs(a), g = Programs(b);
  return std::equal(f.begin(), f.end(), g.begin(), g.end(),
                    [&](ricci_program* p, ricci_program* q) { return Same(*FromAbi(p), *FromAbi(q)); });
}

bool Structure::SameOperation(const Program& a, const Equation& e, const Program& b, const Equation& f) {
  return a.vocabulary()->PrimName(e.prim) == b.vocabulary()->PrimName(f.prim) &&
         std::equal(e.attrs.begin(), e.attrs.end(), f.attrs.begin(), f.attrs.end(),
                    [&](const ricci_attr& x, const ricci_attr& y) { return SameAttr(x, y); });
}

bool Structure::SameEquation(const Program& a, const Equation& e, const Program& b, const Equation& f) {
  if (e.operands.size() != f.operands.size() || e.n_results != f.n_results ||
      (locations_ && e.location != f.location)) {
    return false;
  }
  for (size_t i = 0; i < e.operands.size(); ++i) {
    if (!SameValue(a, e.operands[i], b, f.operands[i])) return false;
  }
  for (uint32_t i = 0; i < e.n_results; ++i) {
    if (!SameType(a.type(e.result(i)), b.type(f.result(i)))) return false;
  }
  return SameOperation(a, e, b, f);
}

uint64_t Hash(const Program& p) { return Structure().HashOf(p); }

bool Equal(const Program& a, const Program& b) { return Structure().Same(a, b); }

bool EqualWithLocations(const Program& a, const Program& b) { return Structure(/*locations=*/true).Same(a, b); }

}}}  // namespace ricci::v0::ir
