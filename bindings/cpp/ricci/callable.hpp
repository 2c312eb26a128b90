// ricci/callable.hpp: calling a user's function on the parameters of a program, nested or outermost.
//
// Every transform takes the same three steps: close the function (trace it for the types of its arguments, with what it
// captures as extra parameters), transform the program, apply it to the leaves of the arguments and the captures. All
// of it is compiled once, over lists of leaves; a header only turns trees into leaves and back.
// What runs once per trace is marked cold here and in the headers of transforms: compilers then neither inline nor
// unroll it, which cuts the compile time of a host by a third.
#ifndef RICCI_CALLABLE_HPP_
#define RICCI_CALLABLE_HPP_
#include "ricci/refusals.hpp"

namespace ricci { inline namespace v0 {

// An argument or result as the traced function sees it: a number is a scalar Value.
template <typename T>
struct TracedArgument {
  using type = Rebind<T, Value>;
};
template <Number T>
struct TracedArgument<T> {
  using type = Value;
};
template <typename T>
using Traced = typename TracedArgument<std::remove_cvref_t<T>>::type;

// ---- arguments ----
// The Values among the leaves of any tree.
struct ValueCollector {
  Values out;
  void operator()(const Value& leaf) { AppendLeaf(out, leaf); }
  template <typename Other>
  void operator()(const Other&) {}
};
CallSite SiteOfValues(std::string_view name, const Location& at, const Values& leaves);
// The program that a call of `name` with these trees goes to.
template <typename... T>
CallSite SiteOfTrees(std::string_view name, const Location& at, const T&... trees) {
  ValueCollector collect;
  (ForEachLeaf(trees, collect), ...);
  return SiteOfValues(name, at, collect.out);
}
// The same for a function that is compiled: where all of the Values, at least one, are pending, the call is outside of
// any trace. Their elements are then computed, all in one run, and the program is a new one of operations on Arrays
// alone.
CallSite SiteOfCallOn(std::string_view name, const Location& at, const Values& leaves);
template <typename... T>
CallSite SiteOfCall(std::string_view name, const Location& at, const T&... trees) {
  ValueCollector collect;
  (ForEachLeaf(trees, collect), ...);
  return SiteOfCallOn(name, at, collect.out);
}
// An operand as a tree; a number or Array has no program, so it does not decide where a call is traced.
inline std::optional<Value> ValueOf(const Operand& x) {
  return x.is_value() ? std::optional<Value>(x.value) : std::optional<Value>();
}
// `leaf` as a value of `site`.
Value LiftLeaf(const CallSite& site, const Value& leaf);
Value LiftLeaf(const CallSite& site, const Array& leaf);
Value LiftNumber(const CallSite& site, const Operand& number);
struct LeafLifter {
  const CallSite& site;
  template <typename L>
  Value operator()(const L& leaf) {
    return LiftLeaf(site, leaf);
  }
};
template <typename T>
[[gnu::cold]] Traced<T> LiftTree(const CallSite& site, const T& tree) {
  if constexpr (Number<T>) {
    return LiftNumber(site, Operand(tree, site.at));
  } else {
    LeafLifter lift{site};
    return MapLeaves<Value>(tree, lift);
  }
}

// Takes the context of the first Array; throws if one was never set or another one has another context.
struct ContextFinder {
  CallSite& site;
  void operator()(const Array& leaf);
  template <typename Other>
  void operator()(const Other&) {}
};

// Throws unless `site` has a context; `advice` is the end of the message.
void WantContext(const CallSite& site, std::string_view advice);

// What transforms see of a function: leaves to leaves. Borrowed; `inside` is the call within the program being traced.
class LeafFunction {
 public:
  template <typename F>
  LeafFunction(F& f)  // NOLINT: a reference
      : self_(const_cast<std::remove_const_t<F>*>(&f)), call_([](void* self, const CallSite& inside, const Values& in) {
          return (*static_cast<F*>(self))(inside, in);
        }) {}
  LeafFunction(const LeafFunction&) = default;
  LeafFunction(LeafFunction& o) : LeafFunction(std::as_const(o)) {}
  Values operator()(const CallSite& inside, const Values& params) const { return call_(self_, inside, params); }

 private:
  void* self_;
  Values (*call_)(void*, const CallSite&, const Values&);
};

// The leaves of all trees; they are of type L.
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

// f(args...) within the program of the arguments. A transformed function would look whether it is outside of any trace,
// which costs a host's code; its Emit does not.
template <typename F, typename... A>
decltype(auto) CallInside(const F& f, A&&... args) {
  if constexpr (requires { typename F::EmitsInside; })
    return f.Emit(args...);
  else
    return f(std::forward<A>(args)...);
}
template <typename F, typename... A>
consteval auto TypeOfCall() {
  if constexpr (requires { typename F::EmitsInside; }) {
    return std::type_identity<decltype(std::declval<const F&>().Emit(std::declval<const A&>()...))>();
  } else if constexpr (IsCallable<F, A...>()) {
    return std::type_identity<std::invoke_result_t<const F&, A...>>();
  } else {
    return RefusedCall<F, A...>();
  }
}
template <typename F, typename... A>
using ResultOfCall = typename decltype(TypeOfCall<F, A...>())::type;
// The result of a function as a tree of Values: numbers become constants, Arrays are captured.
struct LiftResult {
  template <typename T>
  auto operator()(const CallSite& inside, const T& out) const {
    return LiftTree(inside, out);
  }
};
// A tree that references count.
template <typename Tree>
struct CountedTree final : Counted {
  // Of what make() gives.
  template <typename Make>
  explicit CountedTree(const Make& make) : tree(make()) {}
  const Tree tree;
};
// A user's function as a LeafFunction: it knows the structure of its arguments, which are like `like`, and after it was
// traced that of its result. TracedFunction traced(f, args).
template <typename F, typename Args, typename Lift = LiftResult>
class TracedFunction;
template <typename F, typename... T, typename Lift>
class TracedFunction<F, std::tuple<T...>, Lift> {
 public:
  using Raw = ResultOfCall<F, Rebind<std::remove_cvref_t<T>, Value>...>;
  static_assert(!std::is_void_v<Raw>, "the function given to a transform returns nothing; return its result");
  using Out = std::invoke_result_t<const Lift&, const CallSite&, const Raw&>;

  TracedFunction(const F& f, const std::tuple<T...>& like) : f_(f), like_(like) {}
  [[gnu::cold]] Values operator()(const CallSite& inside, const Values& params) {
    const auto call = [&] {
      const auto on_trees = [&](auto&&... trees) -> decltype(auto) {
        return CallInside(f_, std::forward<decltype(trees)>(trees)...);
      };
      return Lift()(inside, std::apply(on_trees, FillAll<Value>(like_, std::span<const Value>(params))));
    };
    result_ = Ref<Counted>(new CountedTree<Out>(call));
    return LeavesOf<Value>(this->out());
  }
  const Out& out() const { return static_cast<const CountedTree<Out>&>(*result_).tree; }
  // The same to keep, a CountedTree<Out>; none before f was traced.
  const Ref<Counted>& result() const { return result_; }

 private:
  const F& f_;
  const std::tuple<T...>& like_;
  Ref<Counted> result_;
};
template <typename F, typename... T>
TracedFunction(const F&, const std::tuple<T...>&) -> TracedFunction<F, std::tuple<T...>>;

// ---- closing: a function of leaves to a program ----
// `captured` are the operands for the parameters that follow those of the arguments.
template <typename L>
struct Closed {
  Program program;
  std::vector<L> captured;
};
// Closes f over parameters of `types`. L is Value for a program nested where `site` is, Array for one outside of any
// trace.
template <typename L = Value>
Closed<L> Close(const CallSite& site, LeafFunction f, std::span<const ricci_type> types);
template <>
Closed<Value> Close<Value>(const CallSite& site, LeafFunction f, std::span<const ricci_type> types);
template <>
Closed<Array> Close<Array>(const CallSite& site, LeafFunction f, std::span<const ricci_type> types);
// A program of `types` nested at `site` that captures nothing.
Program Wrapped(const CallSite& site, std::span<const ricci_type> types, LeafFunction f);

std::vector<ricci_type> TypesOf(const Values& leaves);
std::vector<ricci_type> TypesOf(const Arrays& leaves);

// ---- applying a program to leaves ----
Values Apply(const CallSite& site, const Program& f, const Values& in);
Arrays Apply(const CallSite& site, const Program& f, const Arrays& in);
Arrays RunOn(const Location& at, ricci_ctx* ctx, const Executable& x, const Arrays& in);

template <typename L>
std::vector<L> Joined(std::vector<L> a, const std::vector<L>& b) {
  for (const L& v : b) a.push_back(v);
  return a;
}
template <typename L>
std::vector<L> Part(const std::vector<L>& all, size_t first, size_t n) {
  const auto begin = all.begin() + static_cast<int64_t>(first);
  return std::vector<L>(begin, begin + static_cast<int64_t>(n));
}
// Which of the first `n` types are floating; 0 for the rest.
std::vector<uint8_t> FloatMask(ricci_ctx* ctx, std::span<const ricci_type> types, size_t n);
std::vector<uint8_t> FloatMask(const Values& leaves);
Values Selected(const Values& all, std::span<const uint8_t> mask);
// `some` where the mask is set, zeros like `all` elsewhere.
Values WithZeros(const Values& all, std::span<const Value> some, std::span<const uint8_t> mask);

}}  // namespace ricci::v0
#endif
