// A stable 64-bit hash: the same bytes give the same number on every run, machine and standard library.
//
// Cache keys, constant names in program text and structural hashes depend on it, so absl::Hash (seeded per process)
// cannot be used. The mixing step is that of wyhash's family (Wang Yi, 2019): multiply to 128 bits and fold.
#ifndef RICCI_BASE_HASH_H_
#define RICCI_BASE_HASH_H_
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ricci { inline namespace v0 { namespace base {

inline uint64_t Mix(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

class Hasher {
 public:
  Hasher& Add(uint64_t v) {
    state_ = Mix(state_, v);
    return *this;
  }
  Hasher& Add(std::string_view bytes) {
    Add(bytes.size());
    for (size_t i = 0; i < bytes.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, bytes.size() - i < 8 ? bytes.size() - i : 8);
      Add(word);
    }
    return *this;
  }
  uint64_t Done() const { return Mix(state_, 0x2545f4914f6cdd1du); }

 private:
  uint64_t state_ = 0x8ebc6af09c88c6e3u;
};

}}}  // namespace ricci::v0::base
#endif
