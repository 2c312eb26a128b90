// Arrays in files of other programs: .npy and .npz of NumPy, and safetensors.
//
// Each format is one pair of functions, over bytes: they know nothing of contexts and devices. What a file says is
// checked before anything is allocated for it: an array never has more bytes than its file.
#ifndef RICCI_FILE_ARRAY_FILE_H_
#define RICCI_FILE_ARRAY_FILE_H_
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/arena.h"

namespace ricci { inline namespace v0 { namespace file {

enum class ArrayFormat : uint32_t { kByEnding, kNpy, kNpz, kSafetensors };

// One array: row-major, little-endian elements. The bytes are those of the file, or `own`.
struct FileArray {
  std::string name;
  uint32_t dtype = 0;
  std::vector<int64_t> shape;
  std::string_view data;
  std::vector<char> own;
};

// The format of a file, by its first bytes.
absl::StatusOr<ArrayFormat> FormatOf(std::string_view bytes, std::string_view origin);
// By the ending of its name.
absl::StatusOr<ArrayFormat> FormatByEnding(std::string_view path);

// INVALID_ARGUMENT for bytes of another format, UNIMPLEMENTED for element types and compressions that are not
// supported, by their names, DATA_LOSS for damage. The arrays borrow from `bytes`.
absl::StatusOr<std::vector<FileArray>> ReadArrays(ArrayFormat format, std::string_view bytes, std::string_view origin);
// INVALID_ARGUMENT if the format has no such element type, or no such list of arrays.
absl::StatusOr<std::string> WriteArrays(ArrayFormat format, std::span<const FileArray> arrays);

// ---- one format each ----
absl::StatusOr<FileArray> ReadNpy(std::string_view bytes, std::string_view origin);
absl::StatusOr<std::string> WriteNpy(const FileArray& array);
absl::StatusOr<std::vector<FileArray>> ReadSafetensors(std::string_view bytes, std::string_view origin);
absl::StatusOr<std::string> WriteSafetensors(std::span<const FileArray> arrays);
bool SafetensorsHas(uint32_t dtype);

// ---- shared by the formats ----
// The bytes of an array of that type and shape, if they are at most `limit`; DATA_LOSS if not.
absl::StatusOr<uint64_t> BytesWithin(uint32_t dtype, std::span<const int64_t> shape, uint64_t limit,
                                     std::string_view origin);
// INVALID_ARGUMENT if an element of a bool array is neither 0 nor 1.
absl::Status CheckBools(const FileArray& a, std::string_view origin);

}}}  // namespace ricci::v0::file
#endif
