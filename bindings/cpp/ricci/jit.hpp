// ricci/jit.hpp: jit(f), a function of Arrays that traces and compiles f once per kind of argument.
//
// The object owns its cache; copies share it. The key is the types of all leaves, the structure of the arguments and
// every static value in them. Arrays that f captures are hidden operands: they are kept with the compiled program as
// they were when it was traced. Called with Values, inside of another traced function, it is f itself.
#ifndef RICCI_JIT_HPP_
#define RICCI_JIT_HPP_
#include <mutex>

#include "ricci/callable.hpp"

namespace ricci::inline v0 {

struct JitOptions {
  std::vector<uint32_t> donate_argnums;  // their Arrays are used up, so that results may take their memory
  std::optional<Context> context;        // needed only if no argument is an Array
  Device device;                         // that of the first Array by default
};

// What `lower` gives: the traced program, and the compiled one.
struct Lowered {
  Program program;
  Executable executable;
  std::string text() const { return program.text(); }
  std::string dump(std::string_view stage) const { return executable.dump(stage); }
  ricci_executable_stats stats() const { return executable.stats(); }
};

// An argument outside of a trace: a number becomes an Array, anything else stays where it is.
template <typename T>
using ConcreteArgument = std::conditional_t<Number<T>, Array, const T&>;

template <typename F>
class Jit {
 public:
  explicit Jit(F f, JitOptions options = {}, Location at = {})
      : f_(std::move(f)), at_(at), state_(std::make_shared<State>()) {
    state_->options = std::move(options);
  }

  // Arrays or numbers in, Arrays out.
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...)) {
      const Place p = PlaceOfTrees("jit", at_, args...);
      return f_(LiftTree(p, args)...);
    } else {
      return OnArrays([&](ricci_ctx* ctx, const auto&... concrete) { return Run(ctx, concrete...); }, args...);
    }
  }
  // Traces and compiles for arguments like these, without running.
  template <typename... A>
  Lowered lower(const A&... args) const {
    return OnArrays(
        [&](ricci_ctx* ctx, const auto&... concrete) {
          const auto entry = Find(ctx, concrete...);
          return Lowered{entry->program, entry->executable};
        },
        args...);
  }
  // How many kinds of arguments have been compiled.
  size_t cache_size() const {
    const std::lock_guard lock(state_->mutex);
    return state_->entries.size();
  }

 private:
  struct Entry {
    TreeKey key;
    Program program;
    Executable executable;
    std::vector<Array> hidden;
    std::shared_ptr<const void> out;  // structure of the result; its type follows from those of the arguments
    size_t n_out = 0;
  };
  struct State {
    JitOptions options;
    std::mutex mutex;
    std::vector<std::shared_ptr<const Entry>> entries;
  };
  template <typename... T>
  using OutOf = std::invoke_result_t<const F&, Rebind<T, Value>...>;
  template <typename... T>
  static constexpr char kSignature = 0;  // its address tells lists of argument types apart

  template <typename Use, typename... A>
  auto OnArrays(Use&& use, const A&... args) const {
    ricci_ctx* ctx = nullptr;
    auto look = [&](const auto& leaf) {
      if constexpr (requires { leaf.context(); }) ctx = ctx == nullptr && !leaf.empty() ? leaf.context() : ctx;
    };
    (ForEachLeaf(args, look), ...);
    if (ctx == nullptr && state_->options.context) ctx = state_->options.context->handle();
    if (ctx == nullptr) FailAt(at_, "jit: no argument is an array; give a context in the options");
    return use(ctx, static_cast<ConcreteArgument<A>>(Concrete(ctx, args))...);
  }
  template <typename T>
  static ConcreteArgument<T> Concrete(ricci_ctx* ctx, const T& arg) {
    if constexpr (Number<T>) {
      const Element e = Encode(kDefaultDType<T>, arg);
      return Array(Context(ctx), kDefaultDType<T>, {}, e.bytes.data());
    } else {
      return arg;
    }
  }

  template <typename... T>
  Rebind<OutOf<T...>, Array> Run(ricci_ctx* ctx, const T&... args) const {
    const std::shared_ptr<const Entry> entry = Find(ctx, args...);
    std::vector<ricci_array*> in;
    in.reserve(entry->program.params().size());
    auto push = [&](const Array& a) { in.push_back(a.handle()); };
    (ForEachLeaf(args, push), ...);
    for (const Array& a : entry->hidden) push(a);
    const std::vector<Array> out = RunOn(ctx, entry->executable, in, entry->n_out);
    return Fill<Array>(*static_cast<const OutOf<T...>*>(entry->out.get()), out);
  }
  template <typename... T>
  std::shared_ptr<const Entry> Find(ricci_ctx* ctx, const T&... args) const {
    TreeKey key{reinterpret_cast<uintptr_t>(ctx), reinterpret_cast<uintptr_t>(&kSignature<T...>)};
    (AppendKey(key, args), ...);
    const std::lock_guard lock(state_->mutex);
    for (const auto& e : state_->entries) {
      if (e->key == key) return e;
    }
    state_->entries.push_back(Compile(std::move(key), ctx, args...));
    return state_->entries.back();
  }
  template <typename... T>
  std::shared_ptr<const Entry> Compile(TreeKey key, ricci_ctx* ctx, const T&... args) const {
    auto closed = Close(Outside{"jit", at_, ctx}, f_, std::tuple<const T&...>(args...));
    auto entry = std::make_shared<Entry>();
    entry->key = std::move(key);
    entry->program = closed.program;
    entry->hidden = std::move(closed.captured);
    entry->n_out = closed.program.results().size();
    entry->out = std::make_shared<const OutOf<T...>>(std::move(closed.out));
    std::vector<uint8_t> donate;
    uint32_t number = 0;
    auto mark = [&](const auto& arg) {
      const auto& list = state_->options.donate_argnums;
      donate.insert(donate.end(), LeafCount(arg), std::find(list.begin(), list.end(), number) != list.end());
      ++number;
    };
    (mark(args), ...);
    donate.resize(entry->program.params().size(), 0);
    entry->executable = Executable::compile(entry->program, DeviceFor(args...), donate);
    return entry;
  }
  template <typename... T>
  Device DeviceFor(const T&... args) const {
    Device d = state_->options.device;
    auto look = [&](const Array& a) { d = d.handle() == nullptr ? a.device() : d; };
    (ForEachLeaf(args, look), ...);
    return d;
  }

  F f_;
  Location at_;
  std::shared_ptr<State> state_;
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
      : traced_{name, at, std::move(rule)}, jit_(traced_, {}, at) {}
  template <typename... A>
  auto operator()(const A&... args) const {
    if constexpr ((kHoldsValue<A> || ...))
      return traced_(args...);
    else
      return jit_(args...);
  }

 private:
  struct OnValues {
    std::string_view name;
    Location at;
    Rule rule;
    template <typename... A>
    auto operator()(const A&... args) const {
      const Place p = PlaceOfTrees(name, at, args...);
      return rule(p, LiftTree(p, args)...);
    }
  };
  OnValues traced_;
  Jit<OnValues> jit_;
};

}  // namespace ricci::inline v0
#endif
