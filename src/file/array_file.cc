#include "file/array_file.h"

#include "base/status.h"
#include "file/bytes.h"
#include "file/zip.h"
#include "ricci/exact.h"
#include "types/array_type.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr std::string_view kNpyEnding = ".npy";

absl::StatusOr<std::vector<FileArray>> ReadNpz(std::string_view bytes, std::string_view origin) {
  RICCI_ASSIGN(std::vector<ZipEntry> entries, ReadZip(bytes, origin));
  std::vector<FileArray> out;
  for (ZipEntry& e : entries) {
    RICCI_ASSIGN(FileArray a, ReadNpy(e.data, base::Cat(origin, ": ", e.name)));
    if (a.own.empty()) a.own = std::move(e.own);  // what `data` borrows from, if the file was deflated
    a.name = e.name.ends_with(kNpyEnding) ? e.name.substr(0, e.name.size() - kNpyEnding.size()) : e.name;
    out.push_back(std::move(a));
  }
  return out;
}

absl::StatusOr<std::string> WriteNpz(std::span<const FileArray> arrays) {
  std::vector<std::string> files;
  for (const FileArray& a : arrays) {
    RICCI_ASSIGN(std::string npy, WriteNpy(a));
    files.push_back(std::move(npy));
  }
  std::vector<ZipEntry> entries;
  for (size_t i = 0; i < files.size(); ++i) {
    entries.push_back({base::Cat(arrays[i].name, kNpyEnding), files[i], {}});
  }
  return WriteZip(entries);
}

// In an archive each array is found by its name.
absl::Status CheckNames(std::span<const FileArray> arrays) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name.empty()) return base::InvalidArgument("array ", i, " has no name");
    for (size_t k = 0; k < i; ++k) {
      if (arrays[k].name == arrays[i].name) {
        return base::InvalidArgument("arrays ", k, " and ", i, " are both named ", arrays[i].name);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArrayFormat> FormatOf(std::string_view bytes, std::string_view origin) {
  if (bytes.starts_with("\x93NUMPY")) return ArrayFormat::kNpy;
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return ArrayFormat::kNpz;
  ByteReader r(bytes);
  const auto header = r.Get<uint64_t>();
  if (!r.failed() && header <= bytes.size() - 8 && r.GetBytes(1) == "{") return ArrayFormat::kSafetensors;
  return base::InvalidArgument(origin, ": not a file of arrays; known: npy, npz, safetensors");
}

absl::StatusOr<ArrayFormat> FormatByEnding(std::string_view path) {
  if (path.ends_with(kNpyEnding)) return ArrayFormat::kNpy;
  if (path.ends_with(".npz")) return ArrayFormat::kNpz;
  if (path.ends_with(".safetensors")) return ArrayFormat::kSafetensors;
  return base::InvalidArgument(path, ": the ending does not name a format; known: .npy, .npz, .safetensors");
}

absl::StatusOr<std::vector<FileArray>> ReadArrays(ArrayFormat format, std::string_view bytes, std::string_view origin) {
  if (format == ArrayFormat::kNpz) return ReadNpz(bytes, origin);
  if (format == ArrayFormat::kSafetensors) return ReadSafetensors(bytes, origin);
  std::vector<FileArray> out;
  RICCI_ASSIGN(FileArray array, ReadNpy(bytes, origin));
  out.push_back(std::move(array));
  return out;
}

absl::StatusOr<std::string> WriteArrays(ArrayFormat format, std::span<const FileArray> arrays) {
  if (format == ArrayFormat::kNpy) {
    if (arrays.size() != 1) return base::InvalidArgument("npy holds one array, not ", arrays.size());
    return WriteNpy(arrays[0]);
  }
  RICCI_TRY(CheckNames(arrays));
  return format == ArrayFormat::kNpz ? WriteNpz(arrays) : WriteSafetensors(arrays);
}

absl::StatusOr<uint64_t> BytesWithin(uint32_t dtype, std::span<const int64_t> shape, uint64_t limit,
                                     std::string_view origin) {
  if (shape.size() > RICCI_MAX_RANK) {
    return base::InvalidArgument(origin, ": an array of rank ", shape.size(), " exceeds rank ", RICCI_MAX_RANK);
  }
  ricci_exact bytes = ricci_exact_of(types::Info(dtype).size);
  bool negative = false;
  for (int64_t d : shape) {
    negative |= d < 0;
    bytes = bytes * d;
  }
  int64_t n = 0;
  const auto most = static_cast<int64_t>(std::min<uint64_t>(limit, RICCI_MAX_DIM));
  if (!negative && ricci_exact_narrow(bytes, 0, most, &n) != 0) return static_cast<uint64_t>(n);
  return absl::DataLossError(base::Cat(origin, ": the file is damaged: an array is ", types::ToText(dtype, shape),
                                       ", and ", base::Count(limit, "byte is", "bytes are"), " there"));
}

absl::Status CheckBools(const FileArray& a, std::string_view origin) {
  if (a.dtype != RICCI_BOOL) return absl::OkStatus();
  for (size_t i = 0; i < a.data.size(); ++i) {
    const auto v = static_cast<unsigned char>(a.data[i]);
    if (v > 1) return base::InvalidArgument(origin, ": element ", i, " of a bool array is ", int{v}, ", not 0 or 1");
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::file
