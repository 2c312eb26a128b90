#include "runtime/compile/saved_executable.h"

#include "runtime/cache/executable_entry.h"
#include "runtime/cache/saved_plan.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

absl::StatusOr<base::Ref<CompiledCode>> FromEntry(const ExecutableEntry& entry, const CompileKey& key) {
  RICCI_ASSIGN(auto lowered, ReadPlan(entry.plan, *key.program, key.PassOptions()));
  return CompiledCode::CreateSaved(key, std::move(lowered), entry.code);
}

}  // namespace

base::Ref<CompiledCode> LoadExecutable(CodeCache& cache, const ExecutableKey& wanted, const CompileKey& key) {
  base::Ref<CompiledCode> found;
  cache.LoadExecutable(wanted.Text(), [&](std::string_view bytes) {
    const std::optional<ExecutableEntry> entry = ReadExecutableEntry(bytes);
    if (!entry || entry->about != wanted.about || entry->program != wanted.program) return false;
    auto code = FromEntry(*entry, key);
    if (!code.ok()) return false;
    found = *std::move(code);
    return true;
  });
  return found;
}

void StoreExecutable(CodeCache& cache, const ExecutableKey& key, const CompiledCode& code,
                     std::string_view machine_code) noexcept {
  try {
    const absl::StatusOr<std::string> plan = WritePlan(code.lowered());
    if (!plan.ok()) return;
    cache.StoreExecutable(key.Text(), Written({code.program().name, key.about, key.program, *plan, machine_code}));
  } catch (...) {  // no memory: it is not kept
  }
}

}}}  // namespace ricci::v0::runtime
