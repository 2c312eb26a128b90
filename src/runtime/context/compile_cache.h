// CompileCache: the programs that a context compiled recently, found by structure and options.
//
// Compiled code refers to its context, and the context to this cache. The context empties the cache when its last
// handle is released (Context::ReleaseHandle), which breaks this cycle. Two threads that compile the same program at
// once both do the work and then share the first result; no lock is held while compiling. Source locations do not
// count, except those of long loops, which errors name, and where the program holds checks all.
//
// The name of a program counts too, because messages of a run contain it.
#ifndef RICCI_RUNTIME_COMPILE_CACHE_H_
#define RICCI_RUNTIME_COMPILE_CACHE_H_
#include <list>
#include <mutex>

#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

class CompileCache {
 public:
  // The code for `key`, or a NULL Ref.
  base::Ref<CompiledCode> Find(const CompileKey& key);
  // Keeps `code`, or returns what another thread has kept meanwhile. Keeps nothing once `context` has no handle.
  base::Ref<CompiledCode> Keep(const Context& context, base::Ref<CompiledCode> code);
  void Clear();

 private:
  static constexpr size_t kCapacity = 128;  // the least recently used is dropped first
  using Entries = std::list<base::Ref<CompiledCode>>;
  base::Ref<CompiledCode> FindLocked(const CompileKey& key);

  std::mutex mutex_;
  Entries entries_;  // the most recently used first
};

}}}  // namespace ricci::v0::runtime
#endif
