// ricci/emit.hpp: appends one equation, by the name of its primitive.
//
// The layer between the C builder and lax.hpp: attributes as name and value, operands brought into one builder, results
// as Values. An attribute is a view of its data, so attributes are written inside the call that emits.
#ifndef RICCI_EMIT_HPP_
#define RICCI_EMIT_HPP_
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ricci/element.hpp"
#include "ricci/value.hpp"

namespace ricci { inline namespace v0 {

// One attribute: a view of texts, lists and programs, which must outlive the call.
struct Attr : ricci_attr {
  Attr(std::string_view name, std::integral auto v) : Attr(name, RICCI_ATTR_INT, 1) {
    if (!std::in_range<int64_t>(v)) Fail("the attribute ", name, " is ", v, "; the largest is ", INT64_MAX);
    i = static_cast<int64_t>(v);
  }
  Attr(std::string_view name, bool v) : Attr(name, RICCI_ATTR_BOOL, 1) { i = v; }
  Attr(std::string_view name, double v) : Attr(name, RICCI_ATTR_FLOAT, 1) { f = v; }
  Attr(std::string_view name, DType v) : Attr(name, RICCI_ATTR_DTYPE, 1) { i = static_cast<int64_t>(v); }
  Attr(std::string_view name, const char* v) : Attr(name, std::string_view(v)) {}
  Attr(std::string_view name, std::string_view v) : Attr(name, RICCI_ATTR_STRING, v.size()) { data = v.data(); }
  Attr(std::string_view name, Dims v) : Attr(name, RICCI_ATTR_INTS, v.size()) { data = v.data(); }
  Attr(std::string_view name, const Shape& v) : Attr(name, Dims(v)) {}
  Attr(std::string_view name, std::span<const double> v) : Attr(name, RICCI_ATTR_FLOATS, v.size()) { data = v.data(); }
  Attr(std::string_view name, ricci_program* const& v) : Attr(name, RICCI_ATTR_PROGRAM, 1) { data = &v; }
  Attr(std::string_view name, std::span<ricci_program* const> v) : Attr(name, RICCI_ATTR_PROGRAMS, v.size()) {
    data = v.data();
  }
  explicit Attr(const ricci_attr& a) : ricci_attr(a) {}

 private:
  Attr(std::string_view name, uint32_t kind, size_t count)
      : ricci_attr{ToAbi(name), kind, static_cast<uint32_t>(count), 0, 0.0, nullptr} {}
};

// The operands of one equation, all in one builder.
struct Operands {
  ricci_builder* builder = nullptr;
  ScopeRef scope = nullptr;
  std::vector<ricci_val> ids;

  explicit Operands(std::span<const Value> in) {
    bool mixed = false;
    for (const Value& v : in) {
      v.WantOpen();
      if (v.scope != nullptr && (scope == nullptr || v.scope->depth() > scope->depth())) scope = v.scope;
      mixed |= builder != nullptr && v.builder != builder;
      builder = v.builder;
    }
    ids.reserve(in.size());
    if (mixed && scope != nullptr) builder = scope->builder();
    for (const Value& v : in) {
      const bool foreign = mixed && scope != nullptr && v.builder != builder;
      ids.push_back(foreign ? scope->Capture(v).id : v.id);
    }
  }
};

inline ricci_prim FindPrimitive(ricci_ctx* ctx, std::string_view name) {
  ricci_prim p = 0;
  Check(ricci_prim_find(ctx, name.data(), name.size(), &p));
  return p;
}

// Appends prim(in), which has `n_out` results.
inline Values Emit(ricci_builder* b, Scope* scope, ricci_prim prim, std::span<const ricci_attr> attrs,
                   std::span<const ricci_val> in, uint32_t n_out) {
  std::vector<ricci_val> ids(n_out, RICCI_VAL_NONE);
  Check(ricci_builder_emit(b, prim, attrs.data(), static_cast<uint32_t>(attrs.size()), in.data(),
                           static_cast<uint32_t>(in.size()), ids.data(), n_out));
  Values out;
  out.reserve(n_out);
  for (ricci_val id : ids) out.push_back({b, id, scope});
  return out;
}

inline std::vector<ricci_attr> Plain(std::initializer_list<Attr> attrs) { return {attrs.begin(), attrs.end()}; }

// Appends an operation with one result. `in` is not empty.
inline Value Emit1(std::string_view prim, std::span<const Value> in, std::initializer_list<Attr> attrs = {}) {
  const Operands operands(in);
  const ricci_prim p = FindPrimitive(ricci_builder_context(operands.builder), prim);
  return Emit(operands.builder, operands.scope, p, Plain(attrs), operands.ids, 1)[0];
}
inline Value Emit1(std::string_view prim, std::initializer_list<Value> in, std::initializer_list<Attr> attrs = {}) {
  return Emit1(prim, std::span(in.begin(), in.size()), attrs);
}
// Appends an operation with `n_out` results.
inline Values EmitN(uint32_t n_out, std::string_view prim, std::span<const Value> in,
                    std::initializer_list<Attr> attrs = {}) {
  const Operands operands(in);
  const ricci_prim p = FindPrimitive(ricci_builder_context(operands.builder), prim);
  return Emit(operands.builder, operands.scope, p, Plain(attrs), operands.ids, n_out);
}
// Appends an operation without operands.
inline Value EmitNullary(ricci_builder* b, std::string_view prim, std::initializer_list<Attr> attrs = {}) {
  const ricci_prim p = FindPrimitive(ricci_builder_context(b), prim);
  return Emit(b, nullptr, p, Plain(attrs), {}, 1)[0];
}

}}  // namespace ricci::v0
#endif
