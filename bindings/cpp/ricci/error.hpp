// ricci/error.hpp: the exception of the C++ binding, made from a status of the C ABI and turned back into one.
//
// Only this binding throws. The core never sees an exception: every function it calls goes through Guard, which turns
// whatever is thrown into a status. An Error keeps the status it came from, so a failure that passes through a rule
// reaches the host with its first primitive, rule and source location. The C ABI comes in through api_table.h, so that
// the same source calls functions in a host and slots of the core's table in a shared object.
#ifndef RICCI_ERROR_HPP_
#define RICCI_ERROR_HPP_
#include <concepts>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ricci/api_table.h"
#include "ricci/exact.h"

namespace ricci::inline v0 {

// ---- text of messages ----
inline void AppendText(std::string& out, std::string_view text) { out += text; }
inline void AppendText(std::string& out, ricci_str text) { out.append(text.ptr, text.len); }
inline void AppendText(std::string& out, std::integral auto number) { out += std::to_string(number); }
inline void AppendText(std::string& out, ricci_exact number) {
  char buffer[48];
  out += ricci_exact_text(number, buffer);
}
inline void AppendText(std::string& out, double number) { out += std::to_string(number); }
inline void AppendText(std::string& out, std::span<const int64_t> numbers) {
  out += '[';
  for (size_t i = 0; i < numbers.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  out += ']';
}
// All parts as one text: numbers, texts, lists of integers as `[1,2]`.
template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::string out;
  (AppendText(out, parts), ...);
  return out;
}
// "1 operand", "2 operands".
template <typename Int>
std::string Count(Int n, std::string_view what) {
  return Text(n, " ", what, n == 1 ? "" : "s");
}

// A failed call. Copies share the status.
class Error : public std::exception {
 public:
  // Takes ownership of `status`, which is not NULL.
  explicit Error(ricci_status* status) : held_(new Held{status, ricci_status_code(status), {}, 1}) {
    ricci_str text{};
    ricci_status_message(status, &text);
    held_->message.assign(text.ptr, text.len);
  }
  // `code`: RICCI_INVALID_ARGUMENT, ...
  Error(uint32_t code, std::string_view message) : Error(ricci_status_make(code, message.data(), message.size())) {}
  Error(const Error& o) noexcept : std::exception(o), held_(o.held_) {
    __atomic_add_fetch(&held_->uses, 1, __ATOMIC_RELAXED);
  }
  Error& operator=(Error o) noexcept {
    std::swap(held_, o.held_);
    return *this;
  }
  ~Error() override {
    if (__atomic_sub_fetch(&held_->uses, 1, __ATOMIC_ACQ_REL) != 0) return;
    if (held_->status != nullptr) ricci_status_free(held_->status);
    delete held_;
  }

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
    if (__atomic_load_n(&held_->uses, __ATOMIC_ACQUIRE) == 1 && held_->status != nullptr) {
      return std::exchange(held_->status, nullptr);
    }
    return ricci_status_make(code(), held_->message.data(), held_->message.size());
  }

 private:
  struct Held {
    ricci_status* status;  // NULL once released
    uint32_t code;
    std::string message;
    uint32_t uses;
  };
  struct Place {
    std::string_view primitive, rule, file;
    uint32_t line;
  };

  Place Site() const noexcept {
    ricci_str primitive{}, rule{}, file{};
    uint32_t line = 0;
    if (held_->status == nullptr) return {};
    ricci_status_site(held_->status, &primitive, &rule, &file, &line);
    return {{primitive.ptr, primitive.len}, {rule.ptr, rule.len}, {file.ptr, file.len}, line};
  }

  Held* held_;
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
    return status(RICCI_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace ricci::inline v0
#endif
