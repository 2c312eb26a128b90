// ricci/dlpack.h: arrays shared with other libraries.
#include "ricci/dlpack.h"

#include "api/arguments.h"
#include "runtime/dlpack.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_array_to_dlpack(const ricci_array* a, ricci_dlpack** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}, {"out", out}}));
    RICCI_ASSIGN(runtime::DlManagedTensor * tensor, runtime::ToDlpack(*FromAbi(a)));
    *out = reinterpret_cast<ricci_dlpack*>(tensor);
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_from_dlpack(ricci_device* d, ricci_dlpack* t, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"t", t}, {"out", out}}));
    RICCI_ASSIGN(auto array, runtime::FromDlpack(FromAbi(d), reinterpret_cast<runtime::DlManagedTensor*>(t)));
    *out = runtime::Abi(array.Detach());
    return absl::OkStatus();
  });
}
}
