#include "runtime/cache/cache_entry.h"

#include <cstring>

#include "base/hash.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr char kMagic[8] = "RICCODE";
constexpr uint32_t kVersion = 1;
struct Header {
  char magic[8];
  uint32_t version, reserved0;
  base::Digest key;
  uint64_t bytes, checksum;
};
static_assert(sizeof(Header) == 64);

Header HeaderOf(const base::Digest& key, std::string_view code) {
  Header h{{}, kVersion, 0, key, code.size(), 0};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  const std::string_view begin(reinterpret_cast<const char*>(&h), offsetof(Header, checksum));
  h.checksum = base::Hasher().Add(begin).Add(code).Done();
  return h;
}

}  // namespace

std::string WriteCacheEntry(const base::Digest& key, std::string_view code) {
  const Header h = HeaderOf(key, code);
  std::string entry(reinterpret_cast<const char*>(&h), sizeof h);
  return entry.append(code);
}

// It is an entry of the key if writing its code gives the same header.
std::optional<std::string_view> ReadCacheEntry(const base::Digest& key, std::string_view entry) {
  if (entry.size() < sizeof(Header)) return std::nullopt;
  const std::string_view code = entry.substr(sizeof(Header));
  const Header h = HeaderOf(key, code);
  return std::memcmp(entry.data(), &h, sizeof h) == 0 ? std::optional(code) : std::nullopt;
}

}}}  // namespace ricci::v0::runtime
