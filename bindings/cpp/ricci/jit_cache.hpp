// ricci/jit_cache.hpp: what jit has compiled, by kind of call, and one call of it.
//
// The templates of jit.hpp walk the trees; everything else happens here, compiled once. A lookup takes no lock. The
// cache is bounded, so that a host whose shapes vary without end does not grow without end: it holds at most
// JitOptions::max_entries kinds of call. The first half of them stay as long as the jit object does, and finding one
// costs nothing for the bound; of the others the least recently used goes when another one is compiled. A call that
// runs keeps what it runs.
#ifndef RICCI_JIT_CACHE_HPP_
#define RICCI_JIT_CACHE_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

struct JitOptions {
  std::vector<uint32_t> donate_argnums = {};  // their Arrays are used up, so that results may take their memory
  std::optional<Context> context = {};        // needed only if no argument is an Array
  Device device = {};                         // where an argument is committed by default
  size_t max_entries = 4096;                  // kinds of call kept, at least 1; the default is that of JAX
  RunOptions run = {};                        // what ends its runs early, and what collects their steps
};

// Copies share the entries.
class JitCache {
 public:
  struct Entry;
  class Call;
  class Results;

  // Throws if options.max_entries is 0.
  JitCache(std::string_view name, const Location& at, JitOptions options);
  JitCache(const JitCache& o);
  JitCache& operator=(const JitCache& o);
  ~JitCache();

  std::string_view name() const;
  const Location& at() const;
  const JitOptions& options() const;
  // How many entries there are.
  size_t size() const;

 private:
  struct Shared;
  Ref<Shared> shared_;
};

// One compiled kind of call.
struct JitCache::Entry : Counted {
  Program program;
  Executable executable;
  Arrays hidden;  // captured, in the order of the last parameters
  size_t n_out = 0;
  Ref<Counted> result;  // CountedTree<Out>, the structure of the result; Out follows from the types of the arguments
  template <typename Out>
  const Out& result_like() const {
    return static_cast<const CountedTree<Out>&>(*result).tree;
  }
};

// One call: its kind, its arguments as handles, and the entry that it runs.
class JitCache::Call {
 public:
  // `signature`: an address per list of argument types.
  Call(const JitCache& cache, const void* signature) : cache_(cache) {
    words.push_back(reinterpret_cast<uintptr_t>(signature));
    words.push_back(0);  // the context
    words.push_back(0);  // the device
  }
  // A leaf of the arguments.
  void operator()(const Array& a) {
    if (ctx_ == nullptr) ctx_ = a.context();
    if (a.empty() || a.context() != ctx_) FailOn(a);
    words.push_back(a.type_id());
    handles.push_back(a.handle());
  }
  // The same for a pending Value, which keeps its elements; throws for a Value of a function that is being traced.
  void operator()(const Value& v);
  // Takes the context of `a`, a leaf to come, if it is the first one.
  void Look(const Array& a) {
    if (ctx_ == nullptr) ctx_ = a.context();
  }
  // That of the arguments, else of the options; throws if there is none.
  ricci_ctx* context() {
    if (ctx_ == nullptr) FindContext();
    return ctx_;
  }
  // After the last leaf: the entry of this kind of call, NULL if there is none. It lives as long as this object.
  const Entry* Find() {
    words.data()[1] = reinterpret_cast<uintptr_t>(context());
    words.data()[2] = reinterpret_cast<uintptr_t>(device());
    return FindSealed();
  }
  // The entry after Find found none: traces and compiles f, of which `result` is the structure of the result as soon as
  // it was traced. `leaf_counts`: of each argument.
  const Entry& Compile(LeafFunction f, const Ref<Counted>& result, std::span<const size_t> leaf_counts);

  // After Find or Compile: throws at the first equation that makes a NaN or an infinity (Program::check_finite).
  void CheckFinite(const Entry& entry);

  TreeKey words;
  SmallList<ricci_array*, 16> handles;

 private:
  friend class Results;
  friend struct Shared;
  const Entry* FindSealed();
  // Where the call runs: on the device of the options, else on that which an argument is committed to; NULL: on the
  // context's first.
  ricci_device* device() const;
  void FindContext();
  [[noreturn]] void FailOn(const Array& a) const;

  const JitCache& cache_;
  ricci_ctx* ctx_ = nullptr;
  Ref<Entry> held_;  // unless the entry stays anyway
};

// The results of one run; those not taken are released.
class JitCache::Results {
 public:
  Results(Call& call, const Entry& entry);
  Results(const Results&) = delete;
  ~Results();
  // The next one, for a leaf of the result.
  Array operator()(const Value&) { return Array(ctx_, handles_.data()[next_++]); }
  // All of them, as values of `site`, a program of operations on Arrays alone.
  Values Pending(const CallSite& site);

 private:
  ricci_ctx* ctx_;
  SmallList<ricci_array*, 16> handles_;
  size_t next_ = 0;
};

}}  // namespace ricci::v0
#endif
