// ricci/callback.h: functions of the host that programs call by name, and the log of a context.
#include "api/arguments.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_context_add_callback(ricci_ctx* c, const char* name, size_t len, const ricci_callback* f) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"name", name}, {"f", f}}));
    return FromAbi(c)->callbacks().Add(View(name, len), *f);
  });
}

const ricci_callback* ricci_context_callback(const ricci_ctx* c, const char* name, size_t len) {
  return c == nullptr || name == nullptr ? nullptr : FromAbi(c)->callbacks().Find(View(name, len));
}

void ricci_context_log(const ricci_ctx* c, uint32_t level, const char* text, size_t len) {
  if (c != nullptr && text != nullptr) FromAbi(c)->Log(level, View(text, len));
}
}
