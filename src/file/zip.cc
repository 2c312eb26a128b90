#include "file/zip.h"

#include <array>

#include "base/status.h"
#include "file/bytes.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kDirectory = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kEndBytes = 22, kMost = 0xffffffff;
constexpr uint16_t kStored = 0, kDeflated = 8, kVersion = 20, kDate = 0x21;  // 1980-01-01: the same bytes every day

// CRC-32 of IEEE 802.3, by a table of all bytes.
constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t v = i;
    for (int bit = 0; bit < 8; ++bit) v = (v >> 1) ^ ((v & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = v;
  }
  return table;
}();
uint32_t Crc(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

template <typename... Args>
absl::Status Damaged(std::string_view origin, const Args&... what) {
  return absl::DataLossError(base::Cat(origin, ": the file is damaged: ", what...));
}

// What the directory and each file of the archive say about it.
struct Fields {
  uint16_t method = kStored;
  uint32_t crc = 0, packed = 0, size = 0;
};

void AddFields(ByteWriter& w, const Fields& f, std::string_view name) {
  w.Add(kVersion);
  w.Add(uint16_t{0});
  w.Add(f.method);
  w.Add(uint16_t{0});
  w.Add(kDate);
  w.Add(f.crc);
  w.Add(f.packed);
  w.Add(f.size);
  w.Add(static_cast<uint16_t>(name.size()));
  w.Add(uint16_t{0});
}

// One line of the directory, and the bytes that it describes.
absl::StatusOr<ZipEntry> ReadEntry(std::string_view bytes, ByteReader& r, std::string_view origin) {
  if (r.Get<uint32_t>() != kDirectory) return Damaged(origin, "its directory cannot be read");
  r.GetBytes(4);
  const auto flags = r.Get<uint16_t>();
  Fields f;
  f.method = r.Get<uint16_t>();
  r.GetBytes(4);
  f.crc = r.Get<uint32_t>(), f.packed = r.Get<uint32_t>(), f.size = r.Get<uint32_t>();
  const auto name = r.Get<uint16_t>(), extra = r.Get<uint16_t>(), comment = r.Get<uint16_t>();
  r.GetBytes(8);
  const auto offset = r.Get<uint32_t>();
  ZipEntry out{std::string(r.GetBytes(name)), {}};
  r.GetBytes(size_t{extra} + comment);
  if (r.failed()) return Damaged(origin, "it ends within its directory");
  if ((flags & 1) != 0) return absl::UnimplementedError(base::Cat(origin, ": ", out.name, " is encrypted"));
  if (f.method != kStored) {
    return absl::UnimplementedError(base::Cat(origin, ": ", out.name, " is compressed (",
                                              f.method == kDeflated ? "deflate" : "another method",
                                              "), which is not supported; write it with numpy.savez"));
  }
  if (f.size == kMost || offset == kMost) {
    return absl::UnimplementedError(base::Cat(origin, ": ", out.name,
                                              " is in the zip64 form, for archives of more "
                                              "than 4 GB, which is not supported; use safetensors"));
  }
  ByteReader local(bytes.substr(std::min<size_t>(offset, bytes.size())));
  const bool begins = local.Get<uint32_t>() == kLocal;
  local.GetBytes(kLocalBytes - 8);
  const auto name_again = local.Get<uint16_t>(), extra_again = local.Get<uint16_t>();
  local.GetBytes(size_t{name_again} + extra_again);
  out.data = local.GetBytes(f.size);
  if (!begins || local.failed() || f.packed != f.size) return Damaged(origin, out.name, " is outside of it");
  if (Crc(out.data) != f.crc) return Damaged(origin, out.name, " does not have its checksum");
  return out;
}

}  // namespace

absl::StatusOr<std::vector<ZipEntry>> ReadZip(std::string_view bytes, std::string_view origin) {
  constexpr size_t kLongestComment = 0xffff;
  const size_t from = bytes.size() - std::min(bytes.size(), kEndBytes + kLongestComment);
  const size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string_view::npos || end < from) return Damaged(origin, "it has no directory");
  ByteReader r(bytes.substr(end));
  r.GetBytes(10);
  const auto n = r.Get<uint16_t>();
  const auto size = r.Get<uint32_t>(), offset = r.Get<uint32_t>();
  r.Get<uint16_t>();
  if (r.failed() || offset > end || size > end - offset) return Damaged(origin, "its directory is outside of it");
  ByteReader directory(bytes.substr(offset, size));
  std::vector<ZipEntry> out;
  uint64_t total = 0;  // bounds the time: files that share bytes could be many times the archive
  for (uint32_t i = 0; i < n; ++i) {
    RICCI_ASSIGN(ZipEntry e, ReadEntry(bytes, directory, origin));
    if ((total += e.data.size()) > bytes.size()) return Damaged(origin, "its files overlap");
    out.push_back(std::move(e));
  }
  return out;
}

absl::StatusOr<std::string> WriteZip(std::span<const ZipEntry> entries) {
  ByteWriter files, directory;
  for (const ZipEntry& e : entries) {
    if (e.name.size() > 0xffff) return base::InvalidArgument("a name in an npz has at most 65535 bytes");
    if (e.data.size() >= kMost - files.bytes().size() || entries.size() >= 0xffff) {
      return base::InvalidArgument("an npz has less than 4 GB and 65535 arrays; use safetensors");
    }
    const auto size = static_cast<uint32_t>(e.data.size()), offset = static_cast<uint32_t>(files.bytes().size());
    const Fields f{kStored, Crc(e.data), size, size};
    files.Add(kLocal);
    AddFields(files, f, e.name);
    files.AddBytes(e.name);
    files.AddBytes(e.data);
    directory.Add(kDirectory);
    directory.Add(kVersion);
    AddFields(directory, f, e.name);
    directory.AddBytes(std::string(10, '\0'));
    directory.Add(offset);
    directory.AddBytes(e.name);
  }
  const auto n = static_cast<uint16_t>(entries.size());
  const auto offset = static_cast<uint32_t>(files.bytes().size()),
             size = static_cast<uint32_t>(directory.bytes().size());
  files.AddBytes(directory.bytes());
  files.Add(kEnd);
  files.Add(uint32_t{0});
  files.Add(n);
  files.Add(n);
  files.Add(size);
  files.Add(offset);
  files.Add(uint16_t{0});
  return files.Take();
}

}}}  // namespace ricci::v0::file
