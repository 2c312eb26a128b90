// ricci/jit.hpp: jit(f), a function of Arrays that traces and compiles f once per kind of argument.
//
// The object owns its cache; copies share it. The key is the types of all leaves, the structure of the arguments,
// every static value in them and the device. Arrays that f captures are hidden operands: they are kept with the
// compiled program as they were when it was traced. Called with Values of another traced function, it is f itself;
// pending Values, which operations on Arrays gave, are computed first, and the results are pending Values that are
// computed already. A call that was compiled before takes no lock and, but for its results, no memory from the heap. A
// C++ number that f captures stays what it was when f was traced: another value needs an argument, or another jit
// object.
//
// A call goes from here to JitCache::Call, which finds the entry, and JitCache::Results, which run it.
#ifndef RICCI_JIT_HPP_
#define RICCI_JIT_HPP_
#include "ricci/jit_cache.hpp"

namespace ricci { inline namespace v0 {

// The result of `lower`: the traced program and the compiled one.
struct Lowered {
  Program program;
  Executable executable;
  std::string text() const;
  std::string dump(std::string_view stage) const;
  ricci_executable_stats stats() const;
};

// An argument outside of a trace: a number becomes an Array, anything else stays where it is.
template <typename T>
using ConcreteArgument = std::conditional_t<Number<T>, Array, const T&>;
Array ConcreteNumber(ricci_ctx* ctx, const Operand& number);
template <typename T>
ConcreteArgument<T> Concrete(ricci_ctx* ctx, const T& arg) {
  if constexpr (Number<T>)
    return ConcreteNumber(ctx, arg);
  else
    return arg;
}
// Gives the call the context of the first leaf.
struct ContextOfLeaves {
  JitCache::Call& call;
  void operator()(const Array& leaf) { call.Look(leaf); }
  template <typename T>
  void In(const T& arg) {
    if constexpr (!Number<T>) ForEachLeaf(arg, *this);
  }
};
template <typename... A>
std::tuple<ConcreteArgument<A>...> ConcreteArguments(JitCache::Call& call, const A&... args) {
  static_assert((LeavesAre<std::remove_cvref_t<ConcreteArgument<A>>, Array>() && ...),
                "the arguments of a call mix Values with Arrays in one tree, or hold shapes; outside of a traced "
                "function all leaves are Arrays");
  static_assert((LeavesAre<Rebind<std::remove_cvref_t<ConcreteArgument<A>>, Value>, Value>() && ...),
                "a struct that crosses jit, grad or vmap outside of a trace must be a template over its leaf: "
                "Params<Array> outside, Params<Value> inside");
  ricci_ctx* ctx = nullptr;
  if constexpr ((Number<A> || ...)) {  // the context may be that of a later argument
    ContextOfLeaves look{call};
    (look.In(args), ...);
    ctx = call.context();
  }
  return std::tuple<ConcreteArgument<A>...>(Concrete(ctx, args)...);
}
template <typename... A>
using ArgumentRefs = std::tuple<const std::remove_cvref_t<ConcreteArgument<A>>&...>;
template <typename... T>
inline constexpr char kSignature = 0;  // its address tells lists of argument types, as f sees them, apart

template <typename F, typename... T>
[[gnu::cold]] const JitCache::Entry& CompileCall(JitCache::Call& call, const F& f, const std::tuple<const T&...>& in) {
  TracedFunction traced(f, in);
  const std::vector<size_t> counts =
      std::apply([](const T&... args) { return std::vector<size_t>{LeafCount(args)...}; }, in);
  return call.Compile(traced, traced.result(), counts);
}
// The entry for a call of f: found, or traced and compiled.
template <typename F, typename... T>
const JitCache::Entry& EntryFor(JitCache::Call& call, const F& f, const std::tuple<const T&...>& in) {
  std::apply([&](const T&... args) { (AppendKey(call.words, args, call), ...); }, in);
  const JitCache::Entry* const known = call.Find();
  return known != nullptr ? *known : CompileCall(call, f, in);
}
// f(args...) with Arrays or numbers, compiled.
template <typename F, typename... A>
auto CallOnArrays(const JitCache& cache, const F& f, const A&... args) {
  JitCache::Call call(cache, &kSignature<Traced<A>...>);
  const auto concrete = ConcreteArguments(call, args...);
  using Out = typename TracedFunction<F, ArgumentRefs<A...>>::Out;
  static_assert(
      LeavesAre<Rebind<Out, Array>, Array>(),
      "a struct that a function under jit, grad or vmap returns must be a template over its leaf: Params<Value> "
      "inside, Params<Array> outside");
  const JitCache::Entry& entry = EntryFor(call, f, ArgumentRefs<A...>(concrete));
  JitCache::Results results(call, entry);
  return MapLeaves<Array>(entry.result_like<Out>(), results);
}

// ---- calls with Values ----
// The arguments as Values of the program that the call goes to.
template <typename... A>
struct LiftedCall {
  CallSite site;
  std::tuple<Traced<A>...> in;
  std::tuple<const Traced<A>&...> refs() const {
    return std::apply([](const auto&... v) { return std::tuple<const Traced<A>&...>(v...); }, in);
  }
};
template <typename... A>
[[gnu::cold]] LiftedCall<A...> LiftCall(const JitCache& cache, const A&... args) {
  const CallSite site = SiteOfCall(cache.name(), cache.at(), args...);
  return {site, {LiftTree(site, args)...}};
}
// f outside of a trace, compiled, on pending Values that are computed.
template <typename F, typename... A>
[[gnu::cold]] auto CallOnPending(const JitCache& cache, const F& f, const LiftedCall<A...>& lifted) {
  using Out = typename TracedFunction<F, std::tuple<const Traced<A>&...>>::Out;
  JitCache::Call call(cache, &kSignature<Traced<A>...>);
  const JitCache::Entry& entry = EntryFor(call, f, lifted.refs());
  return Fill<Value>(entry.result_like<Out>(), JitCache::Results(call, entry).Pending(lifted.site));
}
// A result of f within a trace: numbers and Arrays become Values, which those of a compiled call are too.
struct LeafKeeper {
  const CallSite& site;
  Value operator()(const Value& leaf) { return leaf; }
  Value operator()(const Array& leaf) { return LiftLeaf(site, leaf); }
};
template <typename T>
Traced<T> KeepTree(const CallSite& site, const T& tree) {
  if constexpr (Number<T>) {
    return LiftNumber(site, Operand(tree, site.at));
  } else {
    LeafKeeper keep{site};
    return MapLeaves<Value>(tree, keep);
  }
}

template <typename F>
class Jit {
 public:
  explicit Jit(F f, JitOptions options = {}, Location at = {})
      : f_(std::move(f)), cache_("jit", at, std::move(options)) {}

  // Arrays or numbers in, Arrays out; Values in, Values out.
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...)) {
      const auto lifted = LiftCall(cache_, args...);
      if (lifted.site.is_outside()) return CallOnPending(cache_, f_, lifted);
      return CallLifted(lifted);
    } else {
      return CallOnArrays(cache_, f_, args...);
    }
  }
  // The same within the program of the Values, also where they are pending: for an operation that is made of others.
  using EmitsInside = void;
  template <typename... A>
  auto Emit(const A&... args) const {
    const CallSite site = SiteOfTrees("jit", cache_.at(), args...);
    return CallLifted(LiftedCall<A...>{site, {LiftTree(site, args)...}});
  }
  // Traces and compiles for arguments like these, without running.
  template <typename... A>
  Lowered lower(const A&... args) const {
    const auto use = [](JitCache::Call&, const JitCache::Entry& e) { return Lowered{e.program, e.executable}; };
    return WithEntry(use, args...);
  }
  // Runs equation by equation, slowly, and throws OUT_OF_RANGE at the first one that makes a NaN or an infinity of
  // operands without one. (JAX: debug_nans, debug_infs.)
  template <typename... A>
  void check_finite(const A&... args) const {
    WithEntry([](JitCache::Call& call, const JitCache::Entry& e) { call.CheckFinite(e); }, args...);
  }
  // How many kinds of arguments are compiled.
  size_t cache_size() const { return cache_.size(); }

 private:
  // use(call, entry) of the call f(args...) outside of a trace.
  template <typename Use, typename... A>
  auto WithEntry(const Use& use, const A&... args) const {
    JitCache::Call call(cache_, &kSignature<Traced<A>...>);
    if constexpr ((kHoldsValue<A> || ...)) {
      const auto lifted = LiftCall(cache_, args...);
      return use(call, EntryFor(call, f_, lifted.refs()));
    } else {
      const auto concrete = ConcreteArguments(call, args...);
      return use(call, EntryFor(call, f_, ArgumentRefs<A...>(concrete)));
    }
  }
  template <typename... A>
  [[gnu::cold]] auto CallLifted(const LiftedCall<A...>& lifted) const {
    using Out = std::remove_cvref_t<ResultOfCall<F, Traced<A>...>>;
    return KeepTree<Out>(lifted.site,
                         std::apply([&](auto... v) { return CallInside(f_, std::move(v)...); }, lifted.in));
  }

  F f_;
  JitCache cache_;
};

template <typename F>
Jit<F> jit(F f, JitOptions options = {}, Location at = Location::Here()) {
  return Jit<F>(std::move(f), std::move(options), at);
}

// A transform of a function as a function: with Values of a trace it emits into their program; with Arrays, and pending
// Values, it runs under jit.
template <typename Rule>
class Transformed {
 public:
  Transformed(std::string_view name, Location at, Rule rule) : rule_(std::move(rule)), cache_(name, at, JitOptions{}) {}
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...)) {
      const auto lifted = LiftCall(cache_, args...);
      if (lifted.site.is_outside()) return CallOnPending(cache_, *this, lifted);
      return std::apply([&](const auto&... v) { return rule_(lifted.site, v...); }, lifted.in);
    } else {
      return CallOnArrays(cache_, *this, args...);
    }
  }
  // The same within the program of the Values, also where they are pending: for an operation that is made of others.
  using EmitsInside = void;
  template <typename... A>
  [[gnu::cold]] auto Emit(const A&... args) const {
    const CallSite site = SiteOfTrees(cache_.name(), cache_.at(), args...);
    return rule_(site, LiftTree(site, args)...);
  }

 private:
  Rule rule_;
  JitCache cache_;
};

}}  // namespace ricci::v0
#endif
