// CallBackend: the one way to call a function of a backend's table, and what to say of one that breaks the contract.
//
// Whatever such a function throws, and each of its failures without a message, becomes a status that names the kind of
// the backend and the function. Functions that return no status clean up; base::CallQuietly calls those.
#ifndef RICCI_RUNTIME_BACKEND_CALL_H_
#define RICCI_RUNTIME_BACKEND_CALL_H_
#include "base/abi_text.h"
#include "base/foreign_call.h"
#include "ricci/backend.h"

namespace ricci { inline namespace v0 { namespace runtime {

// `backend late: alloc`.
inline std::string NameOfFunction(const ricci_backend& b, std::string_view function) {
  return base::Cat("backend ", base::View(b.kind), ": ", function);
}

// The status that `f`, the function of that name, returns for these arguments.
template <typename... Params, typename... Args>
absl::Status CallBackend(const ricci_backend& b, std::string_view function, ricci_status* (*f)(Params...),
                         Args... args) {
  return base::CallForeign([&] { return NameOfFunction(b, function); }, [&] { return f(args...); });
}

// INTERNAL: what a function did against the contract, for example `gave NULL without an error`.
inline absl::Status Broken(const ricci_backend& b, std::string_view function, std::string_view what) {
  return absl::InternalError(base::Cat(NameOfFunction(b, function), ": ", what));
}
// OK if `made`, what the function gave with its OK, is something.
inline absl::Status CheckMade(const ricci_backend& b, std::string_view function, const void* made) {
  return made != nullptr ? absl::OkStatus() : Broken(b, function, "gave NULL without an error");
}

}}}  // namespace ricci::v0::runtime
#endif
