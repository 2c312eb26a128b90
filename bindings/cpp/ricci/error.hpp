// ricci/error.hpp: the exception of the C++ binding, made from a status of the C ABI and turned back into one.
//
// No exception passes through the core: every function of this binding that it calls goes through Guard, which turns
// whatever is thrown into a status. An Error keeps the status it came from, so a failure that passes through a rule
// reaches the host with its first primitive, rule and source location.
#ifndef RICCI_ERROR_HPP_
#define RICCI_ERROR_HPP_
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "ricci/handle.hpp"
#include "ricci/text.hpp"

namespace ricci { inline namespace v0 {

// A failed call. Copies share the status.
class Error : public std::exception {
 public:
  // Takes ownership of `status`, which is not NULL.
  explicit Error(ricci_status* status) : held_(new Held(status)) {}
  // `code`: RICCI_INVALID_ARGUMENT, ...
  Error(uint32_t code, std::string_view message) : Error(ricci_status_make(code, message.data(), message.size())) {}

  const char* what() const noexcept override { return held_->message.c_str(); }
  std::string_view message() const noexcept { return held_->message; }
  uint32_t code() const noexcept { return held_->code; }
  // Primitive and rule at fault; empty when unknown. Borrowed from this object.
  std::string_view primitive() const noexcept { return Site().primitive; }
  std::string_view rule() const noexcept { return Site().rule; }
  // Where the host asked for the operation; empty and 0 when unknown.
  std::string_view file() const noexcept { return Site().file; }
  uint32_t line() const noexcept { return Site().line; }

  // The status for the core, which owns it; this object and its copies keep only code and text.
  ricci_status* Release() noexcept {
    if (held_->alone() && held_->status != nullptr) return std::exchange(held_->status, nullptr);
    return ricci_status_make(code(), held_->message.data(), held_->message.size());
  }

 private:
  struct Held final : Counted {
    explicit Held(ricci_status* status) : status(status), code(ricci_status_code(status)) {
      ricci_str text{};
      ricci_status_message(status, &text);
      message = View(text);
    }
    ~Held() override {
      if (status != nullptr) ricci_status_free(status);
    }
    using Counted::alone;
    ricci_status* status;  // NULL once released
    uint32_t code;
    std::string message;
  };
  struct Origin {
    std::string_view primitive, rule, file;
    uint32_t line;
  };

  Origin Site() const noexcept {
    ricci_str primitive{}, rule{}, file{};
    uint32_t line = 0;
    if (held_->status == nullptr) return {};
    ricci_status_site(held_->status, &primitive, &rule, &file, &line);
    return {View(primitive), View(rule), View(file), line};
  }

  Ref<Held> held_;
};

[[noreturn, gnu::noinline, gnu::cold]] inline void Throw(ricci_status* status) { throw Error(status); }
// Throws Error unless `status` is OK (NULL).
inline void Check(ricci_status* status) {
  if (status != nullptr) Throw(status);
}

// Throws INVALID_ARGUMENT with the text of all parts.
template <typename... Parts>
[[noreturn, gnu::noinline, gnu::cold]] void Fail(const Parts&... parts) {
  throw Error(RICCI_INVALID_ARGUMENT, Text(parts...));
}

// Runs `f` and returns what it threw as a status; NULL if nothing. Every function that the core calls is one Guard.
template <typename F>
ricci_status* Guard(F&& f) noexcept {
  const auto status = [](uint32_t code, std::string_view text) {
    return ricci_status_make(code, text.data(), text.size());
  };
  try {
    std::forward<F>(f)();
    return nullptr;
  } catch (Error& e) {
    return e.Release();
  } catch (const std::bad_alloc&) {
    return status(RICCI_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& e) {
    return status(RICCI_INTERNAL, e.what());
  } catch (...) {
    return status(RICCI_INTERNAL, "it threw something that is not a std::exception");
  }
}

}}  // namespace ricci::v0
#endif
