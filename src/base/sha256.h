// SHA-256 (FIPS 180-4): a name for bytes that no other bytes have.
//
// For keys of code that is kept on disk: with the 64 bits of base/hash.h somebody could find two programs of one key.
#ifndef RICCI_BASE_SHA256_H_
#define RICCI_BASE_SHA256_H_
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ricci { inline namespace v0 { namespace base {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(std::string_view bytes);
// 64 digits.
std::string Hex(const Digest& d);

}}}  // namespace ricci::v0::base
#endif
