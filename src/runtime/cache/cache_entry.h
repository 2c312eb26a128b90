// An entry of the cache of compiled code: the code with a header by which the reader knows that it is whole, and what
// it is of. Every cache holds entries, so none has to be trusted to give back what it was given.
//
// An entry has the SHA-256 of its key and a checksum, so an entry can be missing but not wrong. The key itself, mostly
// a text of the size of the code, would double each entry. Two keys of one SHA-256 are not known to exist.
#ifndef RICCI_RUNTIME_CACHE_ENTRY_H_
#define RICCI_RUNTIME_CACHE_ENTRY_H_
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace ricci { inline namespace v0 { namespace runtime {

// `code` with, before it: RICCODE, a NUL, the version (u32), 0 (u32), the key (32 bytes), the bytes of code (u64) and a
// checksum of all of this (u64); little-endian.
std::string WriteCacheEntry(const base::Digest& key, std::string_view code);
// The code in an entry of that key; nothing if it is anything else.
std::optional<std::string_view> ReadCacheEntry(const base::Digest& key, std::string_view entry);

}}}  // namespace ricci::v0::runtime
#endif
