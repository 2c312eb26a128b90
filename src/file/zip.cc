#include "file/zip.h"

#include <array>

#include "base/status.h"
#include "file/bytes.h"
#include "file/deflate.h"

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

// One line of the directory.
struct Line {
  std::string name;
  uint16_t flags = 0;
  Fields fields;
  uint32_t offset = 0;  // of the file, with a header before its bytes
};

absl::StatusOr<Line> ReadLine(ByteReader& r, std::string_view origin) {
  if (r.Get<uint32_t>() != kDirectory) return Damaged(origin, "its directory cannot be read");
  Line out;
  Fields& f = out.fields;
  r.GetBytes(4);
  out.flags = r.Get<uint16_t>();
  f.method = r.Get<uint16_t>();
  r.GetBytes(4);
  f.crc = r.Get<uint32_t>(), f.packed = r.Get<uint32_t>(), f.size = r.Get<uint32_t>();
  const auto name = r.Get<uint16_t>(), extra = r.Get<uint16_t>(), comment = r.Get<uint16_t>();
  r.GetBytes(8);
  out.offset = r.Get<uint32_t>();
  out.name = r.GetBytes(name);
  r.GetBytes(size_t{extra} + comment);
  if (r.failed()) return Damaged(origin, "it ends within its directory");
  return out;
}

// UNIMPLEMENTED for what this reader does not know.
absl::Status CheckForm(const Line& line, std::string_view origin) {
  const auto no = [&](std::string_view what) {
    return absl::UnimplementedError(base::Cat(origin, ": ", line.name, what));
  };
  const Fields& f = line.fields;
  if ((line.flags & 1) != 0) return no(" is encrypted");
  if (f.method == kDeflated && !CanInflate()) {
    return no(" is deflated, and this build has no zlib to read it; write it with numpy.savez");
  }
  if (f.method != kStored && f.method != kDeflated) {
    return no(base::Cat(" is compressed by method ", f.method,
                        ", which is not supported; write it with numpy.savez or numpy.savez_compressed"));
  }
  if (f.size != kMost && f.packed != kMost && line.offset != kMost) return absl::OkStatus();
  return no(" is in the zip64 form, for archives of more than 4 GB, which is not supported; use safetensors");
}

// The bytes that the archive has for a file.
absl::StatusOr<std::string_view> PackedBytes(std::string_view bytes, const Line& line, std::string_view origin) {
  ByteReader local(bytes.substr(std::min<size_t>(line.offset, bytes.size())));
  const bool begins = local.Get<uint32_t>() == kLocal;
  local.GetBytes(kLocalBytes - 8);
  const auto name = local.Get<uint16_t>(), extra = local.Get<uint16_t>();
  local.GetBytes(size_t{name} + extra);
  const std::string_view packed = local.GetBytes(line.fields.packed);
  if (!begins || local.failed()) return Damaged(origin, line.name, " is outside of it");
  return packed;
}

absl::StatusOr<ZipEntry> Unpack(const Line& line, std::string_view packed, std::string_view origin) {
  const Fields& f = line.fields;
  ZipEntry out{line.name, packed, {}};
  if (f.method == kDeflated) {
    std::optional<std::vector<char>> inflated = Inflate(packed, f.size);
    if (!inflated.has_value()) {
      return Damaged(origin, line.name, " is not ", base::Count(f.size, "byte"), " in deflated form");
    }
    out.own = *std::move(inflated);
    out.data = {out.own.data(), out.own.size()};
  }
  if (out.data.size() != f.size) return Damaged(origin, line.name, " is outside of it");
  if (Crc(out.data) != f.crc) return Damaged(origin, line.name, " does not have its checksum");
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
  uint64_t total = 0;  // bounds time and memory: files that share bytes could be many times the archive
  for (uint32_t i = 0; i < n; ++i) {
    RICCI_ASSIGN(const Line line, ReadLine(directory, origin));
    RICCI_TRY(CheckForm(line, origin));
    RICCI_ASSIGN(const std::string_view packed, PackedBytes(bytes, line, origin));
    if ((total += packed.size()) > bytes.size()) return Damaged(origin, "its files overlap");
    RICCI_ASSIGN(ZipEntry e, Unpack(line, packed, origin));
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
