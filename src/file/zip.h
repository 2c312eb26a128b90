// Zip archives without compression (PKWARE's APPNOTE 6.3), as far as .npz needs them.
//
// Deflated entries are refused by name: NumPy writes them only with savez_compressed. Archives of more than 4 GB
// (zip64) are refused too; safetensors has no such limit.
#ifndef RICCI_FILE_ZIP_H_
#define RICCI_FILE_ZIP_H_
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ricci { inline namespace v0 { namespace file {

struct ZipEntry {
  std::string name;
  std::string_view data;
};

// The files of the archive, in the order of its directory; their checksums were compared.
absl::StatusOr<std::vector<ZipEntry>> ReadZip(std::string_view bytes, std::string_view origin);
absl::StatusOr<std::string> WriteZip(std::span<const ZipEntry> entries);

}}}  // namespace ricci::v0::file
#endif
