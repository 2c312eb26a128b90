// ricci/eqn.hpp: one equation as a rule sees it: types, attributes, and the builder that the rule emits into.
//
// A view over the ABI's ricci_op, valid while the rule runs. Attributes are looked up by name, which is a scan over a
// handful; reading one that the row does not declare is an INTERNAL error, a bug of the rule.
#ifndef RICCI_EQN_HPP_
#define RICCI_EQN_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 {

class Eqn {
 public:
  // `b` is NULL at compile time, where nothing can be emitted.
  Eqn(const ricci_op* op, ricci_builder* b) : op_(op), builder_(b) {}

  const ricci_op& op() const { return *op_; }
  ricci_ctx* context() const { return op_->ctx; }
  ricci_builder* builder() const { return builder_; }
  std::string_view name() const {
    ricci_str s{};
    ricci_prim_name(op_->ctx, op_->prim, &s);
    return View(s);
  }

  // ---- types ----
  uint32_t n_in() const { return op_->n_in; }
  uint32_t n_out() const { return op_->n_out; }
  // INVALID_ARGUMENT if the operand or result does not exist; in the rule of types results do not exist yet.
  ricci_type in_id(uint32_t i) const {
    if (i >= n_in()) Fail("its rule reads operand ", i, ", but it has ", Count(n_in(), "operand"));
    return op_->in_types[i];
  }
  ArrayType in(uint32_t i) const { return ArrayType(op_->ctx, in_id(i)); }
  ArrayType out(uint32_t i = 0) const {
    if (i >= n_out()) Fail("its rule reads the type of result ", i, ", but it has ", Count(n_out(), "result"));
    return ArrayType(op_->ctx, op_->out_types[i]);
  }
  ArrayType Type(DType dtype, Dims dims) const { return ArrayType::Make(op_->ctx, dtype, dims); }

  // ---- attributes ----
  bool has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t integer(std::string_view name) const { return Get(name, RICCI_ATTR_INT).i; }
  bool flag(std::string_view name) const { return Get(name, RICCI_ATTR_BOOL).i != 0; }
  double number(std::string_view name) const { return Get(name, RICCI_ATTR_FLOAT).f; }
  DType dtype(std::string_view name) const { return static_cast<DType>(Get(name, RICCI_ATTR_DTYPE).i); }
  // The same of an optional one; `absent` is its value if it is left out.
  int64_t integer(std::string_view name, int64_t absent) const { return has(name) ? integer(name) : absent; }
  bool flag(std::string_view name, bool absent) const { return has(name) ? flag(name) : absent; }
  double number(std::string_view name, double absent) const { return has(name) ? number(name) : absent; }
  DType dtype(std::string_view name, DType absent) const { return has(name) ? dtype(name) : absent; }
  ricci_program* program(std::string_view name) const {
    return *static_cast<ricci_program* const*>(Get(name, RICCI_ATTR_PROGRAM).data);
  }
  std::span<ricci_program* const> programs(std::string_view name) const {
    return List<ricci_program*>(name, RICCI_ATTR_PROGRAMS);
  }
  // Empty if an optional list or text is absent.
  Dims ints(std::string_view name) const { return List<int64_t>(name, RICCI_ATTR_INTS); }
  std::span<const double> numbers(std::string_view name) const { return List<double>(name, RICCI_ATTR_FLOATS); }
  std::string_view str(std::string_view name) const {
    const auto chars = List<char>(name, RICCI_ATTR_STRING);
    return {chars.data(), chars.size()};
  }
  std::span<const ricci_attr> attrs() const { return {op_->attrs, op_->n_attrs}; }

  // ---- emitting ----
  // The same operation on other operands, with the given attributes replaced.
  Values EmitN(std::span<const Value> in, std::initializer_list<Attr> changed = {}) const {
    std::vector<ricci_attr> attrs(this->attrs().begin(), this->attrs().end());
    for (const Attr& c : changed) Replace(attrs, c);
    const Operands operands(in);
    ricci_builder* b = in.empty() ? builder_ : operands.builder;
    return ricci::Emit(b, operands.scope, op_->prim, attrs, operands.ids, op_->n_out);
  }
  Value Emit(std::span<const Value> in, std::initializer_list<Attr> changed = {}) const {
    return EmitN(in, changed)[0];
  }
  Value Emit(std::initializer_list<Value> in, std::initializer_list<Attr> changed = {}) const {
    return EmitN(std::span(in.begin(), in.size()), changed)[0];
  }

  // Throws INVALID_ARGUMENT `primitive: text`.
  template <typename... Parts>
  [[noreturn]] void Fail(const Parts&... parts) const {
    ricci::Fail(name(), ": ", parts...);
  }
  // Fails unless the operation has `n` operands.
  void WantOperands(uint32_t n) const {
    if (n_in() != n) Fail("takes ", Count(n, "operand"), ", not ", n_in());
  }

 private:
  const ricci_attr* Find(std::string_view name) const {
    for (uint32_t i = 0; i < op_->n_attrs; ++i) {
      if (View(op_->attrs[i].name) == name) return &op_->attrs[i];
    }
    return nullptr;
  }
  const ricci_attr& Get(std::string_view name, uint32_t kind) const {
    const ricci_attr* a = Find(name);
    if (a == nullptr || a->kind != kind) {
      throw Error(RICCI_INTERNAL, Text(this->name(), ": the rule reads attribute ", name, ", which the row lacks"));
    }
    return *a;
  }
  template <typename T>
  std::span<const T> List(std::string_view name, uint32_t kind) const {
    if (!has(name)) return {};
    const ricci_attr& a = Get(name, kind);
    return {static_cast<const T*>(a.data), a.count};
  }
  static void Replace(std::vector<ricci_attr>& attrs, const ricci_attr& by) {
    for (ricci_attr& a : attrs) {
      if (View(a.name) == View(by.name)) {
        a = by;
        return;
      }
    }
    attrs.push_back(by);
  }

  const ricci_op* op_;
  ricci_builder* builder_;
};

}}  // namespace ricci::v0
#endif
