// Container: the frame of a binary file of Ricci: a header, a table of sections, and the sections.
//
//   header   magic (8 bytes), format version (u32), number of sections (u32), version of the library (16 bytes, padded
//            with zeros), size of the file (u64), checksum of header and table with this field zero (u64)
//   table    for each section: what it is (u32), zero (u32), offset in the file (u64), size (u64), checksum (u64)
//   sections in the order of the table, each at a multiple of kAlignment
//
// All numbers are little-endian. The first byte of the magic is not ASCII and the others contain a line end and an end
// of text, as in PNG, so that a text is never taken for a file, and one that a transfer "as text" has changed is
// noticed. The alignment is that of a cache line and of arrays on `cpu`: a process that maps the file can use its
// contents in place. A checksum finds damage, not malice: the readers of sections check their contents again.
#ifndef RICCI_FILE_CONTAINER_H_
#define RICCI_FILE_CONTAINER_H_
#include <array>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ricci { inline namespace v0 { namespace file {

inline constexpr std::string_view kMagic("\x89RICCI\n\x1a", 8);
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kAlignment = 64;
constexpr size_t Aligned(size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// What a section holds: the numbers are in files.
enum SectionKind : uint32_t { kTexts, kTypes, kLocations, kBlobs, kPrimitives, kPrograms, kConstants, kSectionKinds };

// The content of each section, by kind.
using Sections = std::array<std::string_view, kSectionKinds>;

// Do these bytes begin like a binary file?
inline bool IsBinary(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

std::string WriteContainer(const Sections& sections);
// The sections are parts of `bytes`. INVALID_ARGUMENT for bytes of something else, FAILED_PRECONDITION for another
// version of format or library (with both), DATA_LOSS for damage. `origin` names the file in messages.
absl::StatusOr<Sections> ReadContainer(std::string_view bytes, std::string_view origin);

}}}  // namespace ricci::v0::file
#endif
