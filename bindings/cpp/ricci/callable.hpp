// ricci/callable.hpp: calling a user's function on the parameters of a program, nested or outermost.
//
// Every transform does the same three steps: close the function (trace it for the types of its arguments, with what it
// captures as extra parameters), transform the program, apply it to the leaves of the arguments and the captures. Here
// are the first and the last, once for leaves that are Values (inside of a trace) and once for Arrays (outside).
#ifndef RICCI_CALLABLE_HPP_
#define RICCI_CALLABLE_HPP_
#include "ricci/tree.hpp"

namespace ricci::inline v0 {

template <typename T>
inline constexpr bool kHoldsValue = !std::same_as<T, Rebind<T, Array>>;

// An argument as the traced function sees it: a number is a scalar Value.
template <typename T>
struct TracedArgument {
  using type = Rebind<T, Value>;
};
template <Number T>
struct TracedArgument<T> {
  using type = Value;
};
template <typename T>
using Traced = typename TracedArgument<T>::type;

// As Check, but an error that knows no place gets that of the caller.
inline void CheckAt(const Location& at, ricci_status* status) {
  if (status == nullptr) return;
  Error e(status);
  if (!e.file().empty() || at.file == nullptr) throw e;
  throw Error(e.code(), Text(at.file, ":", at.line, ": ", e.message()));
}
template <typename Call>
Program MakeProgramAt(const Location& at, Call&& call) {
  ricci_program* p = nullptr;
  CheckAt(at, call(&p));
  return Program(p);
}

// ---- arguments ----
// The program that a call of `name` with these trees goes to.
template <typename... T>
Place PlaceOfTrees(std::string_view name, const Location& at, const T&... trees) {
  std::vector<Operand> leaves;
  auto collect = [&](const auto& leaf) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Value>) leaves.emplace_back(leaf, at);
  };
  (ForEachLeaf(trees, collect), ...);
  if (leaves.empty()) FailAt(at, name, ": no argument holds a traced value");
  return PlaceOf(name, leaves);
}
template <typename T>
Traced<T> LiftTree(const Place& p, const T& tree) {
  if constexpr (Number<T>) {
    return p.Lift(Operand(tree, p.at), kDefaultDType<T>);
  } else {
    return MapLeaves<Value>(tree, [&](const auto& leaf) { return p.Lift(Operand(leaf, p.at), DType::kNone); });
  }
}

// ---- closing: function and structure of arguments to program ----
// `captured` are the operands behind the parameters after those of the arguments; `out` has the structure of the
// result.
template <typename Out, typename L>
struct Closed {
  Program program;
  std::vector<L> captured;
  Out out;
};

// The types of leaves.
inline std::vector<ricci_type> TypesOf(const Values& leaves) {
  std::vector<ricci_type> out;
  for (const Value& v : leaves) out.push_back(ricci_builder_type(v.builder, v.id));
  return out;
}
inline std::vector<ricci_type> TypesOf(const std::vector<Array>& leaves) {
  std::vector<ricci_type> out;
  for (const Array& a : leaves) out.push_back(a.type().id());
  return out;
}
template <typename L, typename... T>
std::vector<L> LeavesOfAll(const std::tuple<T...>& trees) {
  std::vector<L> out;
  std::apply([&](const auto&... t) { (AppendLeaves(out, t), ...); }, trees);
  return out;
}
// The trees of `like` filled with `leaves`, in order.
template <typename L, typename... T>
auto FillAll(const std::tuple<T...>& like, std::span<const L> leaves) {
  size_t next = 0;
  return std::apply(
      [&](const auto&... t) {
        return std::tuple<Rebind<std::remove_cvref_t<decltype(t)>, L>...>{Fill<L>(t, leaves, next)...};
      },
      like);
}
template <typename F, typename... T>
auto CallOnParams(const F& f, const std::tuple<T...>& like, const Values& params) {
  return std::apply(f, FillAll<Value>(like, std::span<const Value>(params)));
}
template <typename Out>
Values CheckedResults(const Location& at, std::string_view name, const Out& out) {
  Values leaves = LeavesOf<Value>(out);
  for (const Value& v : leaves) CheckOpen(v, at, name);
  return leaves;
}

// Closes f over parameters of `types` in a program nested at `p`; `like` gives the structure of its arguments.
template <typename F, typename... T>
auto Close(const Place& p, const F& f, std::span<const ricci_type> types, const std::tuple<T...>& like) {
  Tracing tracing(Value{p.builder, RICCI_VAL_NONE, p.scope}, types);
  SetLocation(tracing.params().empty() ? p.builder : tracing.params()[0].builder, p.at);
  auto out = CallOnParams(f, like, tracing.params());
  Program program = tracing.Finish(CheckedResults(p.at, p.name, out));
  return Closed<decltype(out), Value>{std::move(program), tracing.captured(), std::move(out)};
}
template <typename F, typename... T>
auto Close(const Place& p, const F& f, const std::tuple<T...>& args) {
  return Close(p, f, TypesOf(LeavesOfAll<Value>(args)), args);
}

// An outermost program and the place of its caller.
struct Outside {
  std::string_view name;
  Location at;
  ricci_ctx* ctx = nullptr;
};
template <typename F, typename... T>
auto Close(const Outside& o, const F& f, const std::tuple<T...>& args) {
  Tracing tracing(o.ctx, TypesOf(LeavesOfAll<Array>(args)));
  auto out = CallOnParams(f, args, tracing.params());
  Program program = tracing.Finish(CheckedResults(o.at, o.name, out));
  return Closed<decltype(out), Array>{std::move(program), tracing.arrays(), std::move(out)};
}

// ---- applying a program to leaves ----
inline Values Apply(const Place& p, const Program& f, const Values& in) {
  if (!in.empty()) {
    const Operands operands(in);
    SetLocation(operands.builder, p.at);
    return Inline(f, in);
  }
  std::vector<ricci_val> ids(f.results().size());
  CheckAt(p.at, ricci_builder_inline(p.builder, f.handle(), nullptr, 0, ids.data(), static_cast<uint32_t>(ids.size())));
  Values out;
  for (ricci_val id : ids) out.push_back({p.builder, id, p.scope});
  return out;
}
inline std::vector<Array> RunOn(ricci_ctx* ctx, const Executable& x, std::span<ricci_array* const> in, size_t n_out) {
  std::vector<ricci_array*> handles(n_out);
  x.run(in, handles);
  std::vector<Array> out;
  out.reserve(n_out);
  for (ricci_array* a : handles) out.emplace_back(ctx, a);
  return out;
}
inline std::vector<Array> Apply(const Outside& o, const Program& f, const std::vector<Array>& in) {
  std::vector<ricci_array*> handles;
  for (const Array& a : in) handles.push_back(a.handle());
  return RunOn(o.ctx, Executable::compile(f, in.empty() ? Device() : in[0].device()), handles, f.results().size());
}
template <typename L>
std::vector<L> Joined(std::vector<L> a, const std::vector<L>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace ricci::inline v0
#endif
