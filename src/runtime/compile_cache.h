// CompileCache: the programs a context compiled lately, found by structure and options.
//
// Compiled code refers to its context, and the context to this cache: the context empties the cache when its last
// handle goes (Context::ReleaseHandle), so that the ring is broken. Two threads that compile the same program at once
// both do the work and then share the first result; a lock is never held while compiling. Where a program was traced
// does not count, unless it holds checks: their failure names the line.
#ifndef RICCI_RUNTIME_COMPILE_CACHE_H_
#define RICCI_RUNTIME_COMPILE_CACHE_H_
#include <list>
#include <mutex>

#include "runtime/compiled_code.h"

namespace ricci::inline v0::runtime {

class CompileCache {
 public:
  // The code for `key`, or a NULL Ref.
  base::Ref<CompiledCode> Find(const CompileKey& key);
  // Keeps `code`, or returns what another thread has kept meanwhile. Nothing is kept once `context` has no handle.
  base::Ref<CompiledCode> Keep(const Context& context, base::Ref<CompiledCode> code);
  void Clear();

 private:
  static constexpr size_t kCapacity = 128;  // the longest unused goes first
  using Entries = std::list<base::Ref<CompiledCode>>;
  base::Ref<CompiledCode> FindLocked(const CompileKey& key);

  std::mutex mutex_;
  Entries entries_;  // the last used first
};

}  // namespace ricci::inline v0::runtime
#endif
