// ricci/jit.hpp: jit(f), a function of Arrays that traces and compiles f once per kind of argument.
//
// The object owns its cache; copies share it. The key is the types of all leaves, the structure of the arguments,
// every static value in them and the device. Arrays that f captures are hidden operands: they are kept with the
// compiled program as they were when it was traced. Called with Values, inside of another traced function, it is f
// itself. A call that was compiled before takes no lock and, but for its results, no memory from the heap. A C++ number
// that f captures stays what it was when f was traced: another value needs an argument, or another jit object.
#ifndef RICCI_JIT_HPP_
#define RICCI_JIT_HPP_
#include "ricci/jit_cache.hpp"

namespace ricci::inline v0 {

// What `lower` gives: the traced program, and the compiled one.
struct Lowered {
  Program program;
  Executable executable;
  std::string text() const;
  std::string dump(std::string_view stage) const;
  ricci_executable_stats stats() const;
};
Lowered LoweredOf(const JitEntry& entry);

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

template <typename... T>
inline constexpr char kSignature = 0;  // its address tells lists of argument types apart

// One call of f under jit. T: arguments as they are outside; numbers are Arrays already.
template <typename F, typename... T>
struct JitCall {
  static_assert((LeavesAre<std::remove_cvref_t<T>, Array>() && ...),
                "the arguments of a call mix Values with Arrays in one tree, or hold shapes; outside of a traced "
                "function all leaves are Arrays");
  static_assert((LeavesAre<Rebind<std::remove_cvref_t<T>, Value>, Value>() && ...),
                "a struct that crosses jit, grad or vmap outside of a trace must be a template over its leaf: "
                "Params<Array> outside, Params<Value> inside");
  using FShell = Shell<F, LiftResult, const T&...>;
  using Out = typename FShell::Out;
  static_assert(LeavesAre<Rebind<Out, Array>, Array>(),
                "a struct that a function gives to jit, grad or vmap must be a template over its leaf: Params<Value> "
                "inside, Params<Array> outside");

  static const JitEntry& Find(const JitCache& cache, const F& f, JitKey& key, const T&... args) {
    (AppendKey(key.words, args, key), ...);
    key.Seal();
    if (const JitEntry* known = cache.Find(key)) return *known;
    return Compile(cache, f, key, args...);
  }
  [[gnu::cold]] static const JitEntry& Compile(const JitCache& cache, const F& f, JitKey& key, const T&... args) {
    const std::tuple<const T&...> in(args...);
    FShell shell(f, in);
    const size_t counts[] = {LeafCount(args)..., 0};
    const ResultStructure out{&shell,
                              [](const void* s) -> void* { return new Out(static_cast<const FShell*>(s)->out()); },
                              [](void* o) { delete static_cast<Out*>(o); }};
    return cache.FindOrCompile(key, shell, {counts, sizeof...(T)}, out);
  }
  static Rebind<Out, Array> Run(const JitCache& cache, const F& f, JitKey& key, const T&... args) {
    const JitEntry& entry = Find(cache, f, key, args...);
    JitResults results(key, entry);
    return MapLeaves<Array>(*static_cast<const Out*>(entry.out), results);
  }
};
// The first context among the leaves.
struct ContextFinder {
  JitKey& key;
  void operator()(const Array& leaf) { key.Look(leaf); }
  template <typename T>
  void LookIn(const T& arg) {
    if constexpr (!Number<T>) ForEachLeaf(arg, *this);
  }
};
// use(call, key, arguments...) with concrete arguments.
template <typename F, typename Use, typename... A>
decltype(auto) WithConcrete(const JitCache& cache, const F&, const Use& use, const A&... args) {
  JitKey key(cache, &kSignature<A...>);
  if constexpr ((Number<A> || ...)) {
    ContextFinder find{key};
    (find.LookIn(args), ...);
    return use(JitCall<F, std::remove_cvref_t<ConcreteArgument<A>>...>(), key,
               static_cast<ConcreteArgument<A>>(Concrete(key.context(), args))...);
  } else {
    return use(JitCall<F, A...>(), key, args...);
  }
}
template <typename F>
struct RunCall {
  const JitCache& cache;
  const F& f;
  template <typename Call, typename... T>
  auto operator()(Call, JitKey& key, const T&... args) const {
    return Call::Run(cache, f, key, args...);
  }
};
template <typename F, typename... A>
auto CallOnArrays(const JitCache& cache, const F& f, const A&... args) {
  return WithConcrete(cache, f, RunCall<F>{cache, f}, args...);
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
    return WithConcrete(
        cache_, f_,
        [&](auto call, JitKey& key, const auto&... concrete) {
          return LoweredOf(call.Find(cache_, f_, key, concrete...));
        },
        args...);
  }
  // How many kinds of arguments have been compiled.
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
  Transformed(std::string_view name, Location at, Rule rule)
      : traced_{name, at, std::move(rule)}, cache_(name, at, JitOptions{}) {}
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...))
      return traced_(args...);
    else
      return CallOnArrays(cache_, traced_, args...);
  }

 private:
  struct OnValues {
    std::string_view name;
    Location at;
    Rule rule;
    template <typename... A>
    [[gnu::cold]] auto operator()(const A&... args) const {
      const CallSite site = SiteOfTrees(name, at, args...);
      return rule(site, LiftTree(site, args)...);
    }
  };
  OnValues traced_;
  JitCache cache_;
};

}  // namespace ricci::inline v0
#endif
