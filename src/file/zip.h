// Zip archives (PKWARE's APPNOTE 6.3), as far as .npz needs them.
//
// Files of an archive are stored (numpy.savez) or deflated (numpy.savez_compressed); ours are stored. Archives of more
// than 4 GB (zip64) are refused; safetensors has no such limit.
#ifndef RICCI_FILE_ZIP_H_
#define RICCI_FILE_ZIP_H_
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ricci { inline namespace v0 { namespace file {

// One file of an archive. Its bytes are in the archive or, if it was deflated, in `own`.
struct ZipEntry {
  std::string name;
  std::string_view data;
  std::vector<char> own;
};

// The files of the archive, in the order of its directory; their checksums were compared. UNIMPLEMENTED for encryption
// and other compressions, by their names, and for deflate in a build without zlib; DATA_LOSS for damage.
absl::StatusOr<std::vector<ZipEntry>> ReadZip(std::string_view bytes, std::string_view origin);
absl::StatusOr<std::string> WriteZip(std::span<const ZipEntry> entries);

}}}  // namespace ricci::v0::file
#endif
