#include "runtime/cache/executable_entry.h"

#include "file/bytes.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

using file::ByteReader;
using file::ByteWriter;

constexpr std::string_view kMagic = "RICCIEXE";
constexpr uint32_t kVersion = 2;  // of this file and of saved_plan.h: raised when either changes

}  // namespace

std::string Written(const ExecutableEntry& entry) {
  ByteWriter w;
  w.AddBytes(kMagic);
  w.Add(kVersion);
  w.AddText(entry.name);
  w.AddText(entry.about);
  for (const std::string_view part : {entry.program, entry.plan, entry.code}) {
    w.Add(uint64_t{part.size()});
    w.AddBytes(part);
  }
  return w.Take();
}

std::optional<ExecutableEntry> ReadExecutableEntry(std::string_view bytes) {
  ByteReader r(bytes);
  if (r.GetBytes(kMagic.size()) != kMagic || r.Get<uint32_t>() != kVersion) return std::nullopt;
  ExecutableEntry entry;
  entry.name = r.GetText();
  entry.about = r.GetText();
  for (std::string_view* part : {&entry.program, &entry.plan, &entry.code}) *part = r.GetBytes(r.Get<uint64_t>());
  return r.finished() ? std::optional(entry) : std::nullopt;
}

bool IsExecutableEntry(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

}}}  // namespace ricci::v0::runtime
