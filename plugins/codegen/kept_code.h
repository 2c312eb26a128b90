// KeptCode: machine code that the host keeps for the next process (ricci/cache.h).
#ifndef RICCI_CODEGEN_KEPT_CODE_H_
#define RICCI_CODEGEN_KEPT_CODE_H_
#include <string>
#include <string_view>

#include "ricci/cache.h"

namespace ricci::codegen {

// All that code depends on, as bytes: no two lists of parts give the same ones.
class CodeKey {
 public:
  CodeKey& Add(std::string_view part) {
    bytes_ += std::to_string(part.size()) + " ";
    bytes_ += part;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class KeptCode {
 public:
  explicit KeptCode(ricci_ctx* ctx = nullptr) : ctx_(ctx) {}  // NULL: nothing is kept
  bool is_on() const { return ricci_cache_is_on(ctx_) != 0; }

  // Empty if there is none.
  std::string Load(const CodeKey& key) const {
    std::string code;
    const auto append = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
    ricci_cache_load(ctx_, key.bytes().data(), key.bytes().size(), &code, append);
    return code;
  }
  void Store(const CodeKey& key, std::string_view code) const {
    ricci_cache_store(ctx_, key.bytes().data(), key.bytes().size(), code.data(), code.size());
  }

 private:
  ricci_ctx* ctx_;
};

}  // namespace ricci::codegen
#endif
