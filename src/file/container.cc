#include "file/container.h"

#include "base/hash.h"
#include "base/status.h"
#include "base/version.h"
#include "file/bytes.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr size_t kVersionBytes = 16, kHeaderBytes = 48, kEntryBytes = 32;
constexpr std::string_view kNames[] = {"texts", "types", "locations", "blobs", "primitives", "programs", "constants"};
static_assert(std::size(kNames) == kSectionKinds && base::kVersion.size() < kVersionBytes);

struct Entry {
  uint32_t kind, zero;
  uint64_t offset, size, sum;
};

uint64_t Sum(std::string_view bytes) { return base::Hasher().Add(bytes).Done(); }

// Header and table, with `sum` in the place of their checksum.
std::string Head(std::string_view table, uint64_t size, uint64_t sum) {
  ByteWriter w;
  w.AddBytes(kMagic);
  w.Add(kFormatVersion);
  w.Add(uint32_t{kSectionKinds});
  std::string version(base::kVersion);
  version.resize(kVersionBytes);
  w.AddBytes(version);
  w.Add(size);
  w.Add(sum);
  w.AddBytes(table);
  return w.Take();
}

std::string_view UpToZero(std::string_view text) { return text.substr(0, text.find('\0')); }

template <typename... Args>
absl::Status Damaged(std::string_view origin, const Args&... what) {
  return absl::DataLossError(base::Cat(origin, ": the file is damaged: ", what...));
}

absl::Status CheckVersion(uint32_t format, std::string_view library, std::string_view origin) {
  if (format == kFormatVersion && library == base::kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(base::Cat(origin, ": has format ", format, " of ricci ", library,
                                                 ", this is format ", kFormatVersion, " of ricci ", base::kVersion,
                                                 "; before version 1.0 they must be the same, so write it again"));
}

// The section that the entry describes.
absl::StatusOr<std::string_view> Content(std::string_view bytes, const Entry& e, uint32_t kind,
                                         std::string_view origin) {
  if (e.kind != kind || e.zero != 0 || e.offset % kAlignment != 0) return Damaged(origin, "its table of sections");
  if (e.offset > bytes.size() || e.size > bytes.size() - e.offset) {
    return Damaged(origin, "section ", kNames[kind], " is outside of it");
  }
  const std::string_view content = bytes.substr(e.offset, e.size);
  if (Sum(content) != e.sum) return Damaged(origin, "section ", kNames[kind], " does not have its checksum");
  return content;
}

}  // namespace

std::string WriteContainer(const Sections& sections) {
  ByteWriter table;
  size_t at = Aligned(kHeaderBytes + kSectionKinds * kEntryBytes), end = at;
  for (uint32_t kind = 0; kind < kSectionKinds; ++kind) {
    table.Add(kind);
    table.Add(uint32_t{0});
    table.Add(uint64_t{at});
    table.Add(uint64_t{sections[kind].size()});
    table.Add(Sum(sections[kind]));
    end = at + sections[kind].size();
    at = Aligned(end);
  }
  std::string out = Head(table.bytes(), end, Sum(Head(table.bytes(), end, 0)));
  out.reserve(end);
  for (std::string_view content : sections) {
    out.resize(Aligned(out.size()));
    out.append(content);
  }
  return out;
}

absl::StatusOr<Sections> ReadContainer(std::string_view bytes, std::string_view origin) {
  if (!IsBinary(bytes))
    return base::InvalidArgument(origin, ": not a binary program of ricci; ricci_program_parse reads text");
  ByteReader r(bytes.substr(kMagic.size()));
  const auto format = r.Get<uint32_t>(), n_sections = r.Get<uint32_t>();
  const std::string_view library = UpToZero(r.GetBytes(kVersionBytes));
  const auto size = r.Get<uint64_t>(), sum = r.Get<uint64_t>();
  if (r.failed()) return Damaged(origin, "it ends within its header");
  RICCI_TRY(CheckVersion(format, library, origin));
  if (size != bytes.size()) return Damaged(origin, "it has ", bytes.size(), " bytes, its header says ", size);
  if (n_sections != kSectionKinds) return Damaged(origin, "it has ", n_sections, " sections");
  const std::string_view table = r.GetBytes(kSectionKinds * kEntryBytes);
  if (r.failed()) return Damaged(origin, "it ends within its table of sections");
  if (Sum(Head(table, size, 0)) != sum) return Damaged(origin, "its header does not have its checksum");
  Sections out;
  ByteReader entries(table);
  for (uint32_t kind = 0; kind < kSectionKinds; ++kind) {
    RICCI_ASSIGN(out[kind], Content(bytes, entries.Get<Entry>(), kind, origin));
  }
  return out;
}

}}}  // namespace ricci::v0::file
