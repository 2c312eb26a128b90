// Deflate (RFC 1951), the compression of zip archives, by zlib.
#ifndef RICCI_FILE_DEFLATE_H_
#define RICCI_FILE_DEFLATE_H_
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ricci { inline namespace v0 { namespace file {

// Whether this build has zlib: CMake found it, or not, and said so.
bool CanInflate();

// The `size` bytes that `packed` is the deflated form of, all of it; nothing if it is damaged or of another size. Bytes
// cannot be made to take much memory: deflate shortens by a factor of at most 1032 (258 bytes in two bits), so that a
// larger `size` is refused before there is memory for it.
std::optional<std::vector<char>> Inflate(std::string_view packed, uint32_t size);

}}}  // namespace ricci::v0::file
#endif
