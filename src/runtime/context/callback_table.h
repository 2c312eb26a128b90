// Callbacks: the functions of the host that programs call, by name (ricci/callback.h).
//
// A name is never taken back, so a compiled program holds the address of what it calls.
#ifndef RICCI_RUNTIME_CALLBACK_TABLE_H_
#define RICCI_RUNTIME_CALLBACK_TABLE_H_
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ricci/callback.h"

namespace ricci { inline namespace v0 { namespace runtime {

// What names begin with that no host can give.
inline constexpr std::string_view kOurCallbacks = "ricci.";

class Callbacks {
 public:
  Callbacks();
  Callbacks(const Callbacks&) = delete;
  ~Callbacks();

  // Copies `f` and takes over its `self` on success; ALREADY_EXISTS if the name is taken. Any thread.
  absl::Status Add(std::string_view name, const ricci_callback& f);
  // NULL if there is none; lives as long as this.
  const ricci_callback* Find(std::string_view name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, ricci_callback, std::less<>> by_name_;
};

}}}  // namespace ricci::v0::runtime
#endif
