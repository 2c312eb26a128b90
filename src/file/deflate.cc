#include "file/deflate.h"

#ifdef RICCI_HAS_ZLIB
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#endif

namespace ricci { inline namespace v0 { namespace file {

#ifdef RICCI_HAS_ZLIB

namespace {

constexpr uint64_t kMostRatio = 1032;
constexpr int kRawDeflate = -MAX_WBITS;  // without the header and the checksum of zlib's own format

}  // namespace

bool CanInflate() { return true; }

std::optional<std::vector<char>> Inflate(std::string_view packed, uint32_t size) {
  if (size > packed.size() * kMostRatio || packed.size() > UINT32_MAX) return std::nullopt;
  std::vector<char> out;
  out.reserve(std::max(size, 1u));  // zlib takes no null pointer, even for no bytes
  out.resize(size);
  z_stream z{};
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));  // zlib never writes to it
  z.avail_in = static_cast<uint32_t>(packed.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = size;
  if (inflateInit2(&z, kRawDeflate) != Z_OK) throw std::bad_alloc();  // its only error that is not a wrong argument
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&z, inflateEnd);
  const int status = inflate(&z, Z_FINISH);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_STREAM_END || z.avail_in != 0 || z.avail_out != 0) return std::nullopt;
  return out;
}

#else

bool CanInflate() { return false; }
std::optional<std::vector<char>> Inflate(std::string_view, uint32_t) { return std::nullopt; }

#endif

}}}  // namespace ricci::v0::file
