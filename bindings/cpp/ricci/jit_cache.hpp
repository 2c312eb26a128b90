// ricci/jit_cache.hpp: what jit has compiled, by kind of argument, and one call of it.
//
// The typed shells of jit.hpp walk the trees; everything else happens here, compiled once.
#ifndef RICCI_JIT_CACHE_HPP_
#define RICCI_JIT_CACHE_HPP_
#include "ricci/callable.hpp"

namespace ricci::inline v0 {

struct JitOptions {
  std::vector<uint32_t> donate_argnums = {};  // their Arrays are used up, so that results may take their memory
  std::optional<Context> context = {};        // needed only if no argument is an Array
  Device device = {};                         // where an argument is committed by default
};

// One compiled kind of call.
struct JitEntry {
  Program program;
  Executable executable;
  Arrays hidden;  // captured, in the order of the last parameters
  size_t n_out = 0;
  void* out = nullptr;  // structure of the result; its type follows from those of the arguments
  void (*drop)(void*) = nullptr;
};

class JitKey;

// Makes a copy of the structure of a traced function's result, and frees it.
struct ResultStructure {
  const void* shell;
  void* (*copy)(const void* shell);
  void (*drop)(void* out);
};

// The cache of one jit object. Copies share it. A lookup takes no lock.
class JitCache {
 public:
  JitCache(std::string_view name, const Location& at, JitOptions options);
  JitCache(const JitCache& o);
  JitCache& operator=(JitCache o) noexcept {
    std::swap(shared_, o.shared_);
    return *this;
  }
  ~JitCache();

  std::string_view name() const;
  const Location& at() const;
  const JitOptions& options() const;
  size_t size() const;
  // NULL if there is no such entry.
  const JitEntry* Find(const JitKey& key) const;
  // The entry; traces and compiles f where there is none. `leaf_counts`: of each argument.
  const JitEntry& FindOrCompile(const JitKey& key, LeafFunction f, std::span<const size_t> leaf_counts,
                                const ResultStructure& out) const;

 private:
  JitEntry Compile(const JitKey& key, LeafFunction f, std::span<const size_t> leaf_counts) const;
  const JitEntry& Add(const JitKey& key, JitEntry entry) const;

  struct Shared;
  Shared* shared_;
};

// The arguments of one call: what tells it from others, and the handles to run with.
class JitKey {
 public:
  // `signature`: an address per list of argument types.
  JitKey(const JitCache& cache, const void* signature) : cache_(cache) {
    words.push_back(reinterpret_cast<uintptr_t>(signature));
    words.push_back(0);  // the context
    words.push_back(0);  // the device
  }
  // Takes the context of the first array.
  void Look(const Array& a) {
    if (ctx_ == nullptr && !a.empty()) ctx_ = a.context();
  }
  // A leaf.
  void operator()(const Array& a) {
    Look(a);
    if (a.empty() || a.context() != ctx_) FailOn(a);
    words.push_back(a.type_id());
    handles.push_back(a.handle());
  }
  // That of the arguments, else of the options; throws if there is none.
  ricci_ctx* context() {
    if (ctx_ == nullptr) FindContext();
    return ctx_;
  }
  ricci_ctx* known_context() const { return ctx_; }
  // Where the call runs: on that of the options, else on that which an argument is committed to; NULL: on the context's
  // first.
  ricci_device* device() const;
  // All leaves are there.
  void Seal() {
    words.data()[1] = reinterpret_cast<uintptr_t>(context());
    words.data()[2] = reinterpret_cast<uintptr_t>(device());
  }
  const JitCache& cache() const { return cache_; }

  TreeKey words;
  SmallList<ricci_array*, 16> handles;

 private:
  void FindContext();
  [[noreturn]] void FailOn(const Array& a) const;

  const JitCache& cache_;
  ricci_ctx* ctx_ = nullptr;
};

// The results of one run; those not taken are released.
class JitResults {
 public:
  JitResults(JitKey& key, const JitEntry& entry);
  JitResults(const JitResults&) = delete;
  ~JitResults();
  // The next one, for a leaf of the result.
  Array operator()(const Value&) { return Array(ctx_, handles_.data()[next_++]); }

 private:
  ricci_ctx* ctx_;
  SmallList<ricci_array*, 16> handles_;
  size_t next_ = 0;
};

}  // namespace ricci::inline v0
#endif
