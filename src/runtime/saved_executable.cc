#include "runtime/saved_executable.h"

#include "file/bytes.h"
#include "runtime/saved_plan.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

using file::ByteReader;
using file::ByteWriter;

constexpr std::string_view kMagic = "RICCIEXE";
constexpr uint32_t kVersion = 2;  // of this file and of saved_plan.h: raised when either changes

// The parts of an entry, in their order; all are views of it.
struct Parts {
  std::string_view name, about, program, plan, code;
};

std::string Written(const Parts& p) {
  ByteWriter w;
  w.AddBytes(kMagic);
  w.Add(kVersion);
  w.AddText(p.name);
  w.AddText(p.about);
  for (const std::string_view part : {p.program, p.plan, p.code}) {
    w.Add(uint64_t{part.size()});
    w.AddBytes(part);
  }
  return w.Take();
}

std::optional<Parts> Read(std::string_view entry) {
  ByteReader r(entry);
  if (r.GetBytes(kMagic.size()) != kMagic || r.Get<uint32_t>() != kVersion) return std::nullopt;
  Parts p;
  p.name = r.GetText();
  p.about = r.GetText();
  for (std::string_view* part : {&p.program, &p.plan, &p.code}) *part = r.GetBytes(r.Get<uint64_t>());
  return r.finished() ? std::optional(p) : std::nullopt;
}

absl::StatusOr<base::Ref<CompiledCode>> FromParts(const Parts& parts, const CompileKey& key) {
  RICCI_ASSIGN(auto lowered, ReadPlan(parts.plan, *key.program, key.PassOptions()));
  return CompiledCode::CreateSaved(key, std::move(lowered), parts.code);
}

}  // namespace

std::optional<SavedAbout> ReadSavedAbout(std::string_view code) {
  const std::optional<Parts> parts = Read(code);
  if (!parts) return std::nullopt;
  return SavedAbout{parts->name, parts->about};
}

bool IsSavedExecutable(std::string_view code) { return code.substr(0, kMagic.size()) == kMagic; }

base::Ref<CompiledCode> LoadExecutable(CodeCache& cache, const ExecutableKey& wanted, const CompileKey& key) {
  base::Ref<CompiledCode> found;
  cache.LoadExecutable(wanted.Text(), [&](std::string_view entry) {
    const std::optional<Parts> parts = Read(entry);
    if (!parts || parts->about != wanted.about || parts->program != wanted.program) return false;
    auto code = FromParts(*parts, key);
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
