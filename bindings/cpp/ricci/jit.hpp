// ricci/jit.hpp: jit(f), a function of Arrays that traces and compiles f once per kind of argument.
//
// The object owns its cache; copies share it. The key is the types of all leaves, the structure of the arguments,
// every static value in them and the device. Arrays that f captures are hidden operands: they are kept with the
// compiled program as they were when it was traced. Called with Values, inside of another traced function, it is f
// itself. A call that was compiled before takes no lock and, but for its results, no memory from the heap. A C++ number
// that f captures stays what it was when f was traced: another value needs an argument, or another jit object.
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
template <typename... A>
inline constexpr char kSignature = 0;  // its address tells lists of argument types apart

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
  JitCache::Call call(cache, &kSignature<A...>);
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

template <typename F>
class Jit {
 public:
  explicit Jit(F f, JitOptions options = {}, Location at = {})
      : f_(std::move(f)), cache_("jit", at, std::move(options)) {}

  // Arrays or numbers in, Arrays out.
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...)) {
      const CallSite site = SiteOfTrees("jit", cache_.at(), args...);
      return f_(LiftTree(site, args)...);
    } else {
      return CallOnArrays(cache_, f_, args...);
    }
  }
  // Traces and compiles for arguments like these, without running.
  template <typename... A>
  Lowered lower(const A&... args) const {
    JitCache::Call call(cache_, &kSignature<A...>);
    const auto concrete = ConcreteArguments(call, args...);
    const JitCache::Entry& entry = EntryFor(call, f_, ArgumentRefs<A...>(concrete));
    return {entry.program, entry.executable};
  }
  // How many kinds of arguments are compiled.
  size_t cache_size() const { return cache_.size(); }

 private:
  F f_;
  JitCache cache_;
};

template <typename F>
Jit<F> jit(F f, JitOptions options = {}, Location at = Location::Here()) {
  return Jit<F>(std::move(f), std::move(options), at);
}

// A transform of a function as a function: with Values it emits into their program, with Arrays it runs under jit.
template <typename Rule>
class Transformed {
 public:
  Transformed(std::string_view name, Location at, Rule rule) : rule_(std::move(rule)), cache_(name, at, JitOptions{}) {}
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...))
      return Emit(args...);
    else
      return CallOnArrays(cache_, *this, args...);
  }

 private:
  template <typename... A>
  [[gnu::cold]] auto Emit(const A&... args) const {
    const CallSite site = SiteOfTrees(cache_.name(), cache_.at(), args...);
    return rule_(site, LiftTree(site, args)...);
  }
  Rule rule_;
  JitCache cache_;
};

}}  // namespace ricci::v0
#endif
