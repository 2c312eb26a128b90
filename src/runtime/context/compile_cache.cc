#include "runtime/context/compile_cache.h"

namespace ricci { inline namespace v0 { namespace runtime {

base::Ref<CompiledCode> CompileCache::FindLocked(const CompileKey& key) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (!((*it)->key() == key) || !(*it)->ReportsSameLocations(*key.program)) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front();
  }
  return {};
}

base::Ref<CompiledCode> CompileCache::Find(const CompileKey& key) {
  std::lock_guard lock(mutex_);
  return FindLocked(key);
}

base::Ref<CompiledCode> CompileCache::Keep(const Context& context, base::Ref<CompiledCode> code) {
  Entries dropped;  // released after the lock: the end of code runs functions of its plugin
  std::lock_guard lock(mutex_);
  if (base::Ref<CompiledCode> known = FindLocked(code->key())) return known;
  if (!context.has_handles()) return code;
  entries_.push_front(code);
  if (entries_.size() > kCapacity) dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  return code;
}

void CompileCache::Clear() {
  Entries dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(entries_);
}

}}}  // namespace ricci::v0::runtime
