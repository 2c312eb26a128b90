// ricci/dlpack.h: arrays shared with other libraries.
#include "ricci/dlpack.h"

#include "api/arguments.h"
#include "runtime/context/dlpack.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;

namespace {

absl::Status CheckContext(Arguments args, const ricci_stream* s, const runtime::Device* of) {
  if (s == nullptr || FromAbi(s)->device()->context == of->context) return absl::OkStatus();
  return args.Wrong("s and a belong to different contexts");
}

}  // namespace

extern "C" {

ricci_status* ricci_array_to_dlpack(const ricci_array* a, ricci_dlpack** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}, {"out", out}}));
    RICCI_TRY(FromAbi(a)->Wait("ricci_array_to_dlpack"));
    RICCI_ASSIGN(runtime::DlManagedTensor * tensor, runtime::ToDlpack(*FromAbi(a)));
    *out = reinterpret_cast<ricci_dlpack*>(tensor);
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_to_dlpack_on(const ricci_array* a, ricci_stream* s, ricci_dlpack** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}, {"out", out}}));
    RICCI_TRY(CheckContext(args, s, FromAbi(a)->device()));
    if (s != nullptr) RICCI_TRY(FromAbi(a)->Handed(*FromAbi(s), "ricci_array_to_dlpack_on"));
    RICCI_ASSIGN(runtime::DlManagedTensor * tensor, runtime::ToDlpack(*FromAbi(a)));
    *out = reinterpret_cast<ricci_dlpack*>(tensor);
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_from_dlpack(ricci_device* d, ricci_dlpack* t, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"t", t}, {"out", out}}));
    RICCI_ASSIGN(auto array, runtime::FromDlpack(FromAbi(d), reinterpret_cast<runtime::DlManagedTensor*>(t), nullptr));
    *out = runtime::Abi(array.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_from_dlpack_on(ricci_device* d, ricci_stream* s, ricci_dlpack* t, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"t", t}, {"out", out}}));
    if (s != nullptr && FromAbi(s)->device() != FromAbi(d)) {
      return args.Wrong("the stream is of device ", FromAbi(s)->device()->Name(), ", not ", FromAbi(d)->Name());
    }
    auto* const tensor = reinterpret_cast<runtime::DlManagedTensor*>(t);
    RICCI_ASSIGN(auto array, runtime::FromDlpack(FromAbi(d), tensor, s == nullptr ? nullptr : FromAbi(s)));
    *out = runtime::Abi(array.Detach());
    return absl::OkStatus();
  });
}
}
