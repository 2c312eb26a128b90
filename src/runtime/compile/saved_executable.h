// Whole executables in the cache of compiled code: what is found there runs without a pass, lowering or code
// generation.
//
// An entry (executable_entry.h) holds its key in full (executable_key.h), the plan (saved_plan.h), the backend's code
// and the statistics of its compilation. Nothing here fails: whatever is missing, of something else, or cannot be used
// is a miss, and the program is compiled.
//
// Where a text of the code is wanted (`--dump`, `--explain`, `dump_dir`), the program is compiled in full. Machine code
// is kept twice, in its executable and by itself: if only source lines of a program have moved, the second is found.
#ifndef RICCI_RUNTIME_SAVED_EXECUTABLE_H_
#define RICCI_RUNTIME_SAVED_EXECUTABLE_H_
#include <string_view>

#include "runtime/cache/code_cache.h"
#include "runtime/compile/executable_key.h"

namespace ricci { inline namespace v0 { namespace runtime {

// The code of `key`, or a NULL Ref.
base::Ref<CompiledCode> LoadExecutable(CodeCache& cache, const ExecutableKey& wanted, const CompileKey& key);

// Keeps `code`, of which the backend saved `machine_code`.
void StoreExecutable(CodeCache& cache, const ExecutableKey& key, const CompiledCode& code,
                     std::string_view machine_code) noexcept;

}}}  // namespace ricci::v0::runtime
#endif
