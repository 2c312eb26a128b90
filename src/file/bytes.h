// ByteWriter and ByteReader: little-endian numbers and texts in sequence.
//
// A reader trusts nothing: it stays within its bytes, remembers the first read that did not fit, and gives zeros from
// there on. Code that allocates for a count asks `Count`, which refuses one that the rest of the bytes cannot hold, so
// that no file makes a reader allocate more than a small multiple of its own size. The code is for little-endian
// machines, the only ones that Ricci runs on.
#ifndef RICCI_FILE_BYTES_H_
#define RICCI_FILE_BYTES_H_
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace ricci { inline namespace v0 { namespace file {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  template <typename T>
  void Add(T v) {
    static_assert(std::is_arithmetic_v<T>);  // no padding, whose bytes would vary
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void AddCount(size_t n) { Add(static_cast<uint32_t>(n)); }
  void AddBytes(std::string_view bytes) { bytes_.append(bytes); }
  void AddText(std::string_view text) {
    AddCount(text.size());
    AddBytes(text);
  }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Get() {
    T v{};
    const std::string_view from = GetBytes(sizeof v);
    if (!from.empty()) std::memcpy(&v, from.data(), sizeof v);
    return v;
  }
  // A count of things of at least `each` bytes; 0, and a failure, if the rest cannot hold them.
  uint32_t Count(size_t each) {
    const auto n = Get<uint32_t>();
    if (n <= rest_.size() / each) return n;
    Fail();
    return 0;
  }
  std::string_view GetBytes(size_t n) {
    if (n > rest_.size()) {
      Fail();
      return {};
    }
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  std::string_view GetText() { return GetBytes(Get<uint32_t>()); }

  bool failed() const { return failed_; }
  std::string_view Rest() const { return rest_; }
  // Everything was read, and nothing beyond it.
  bool finished() const { return !failed_ && rest_.empty(); }

 private:
  void Fail() {
    failed_ = true;
    rest_ = {};
  }
  std::string_view rest_;
  bool failed_ = false;
};

}}}  // namespace ricci::v0::file
#endif
