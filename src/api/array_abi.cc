// ricci/array.h: arrays.
#include "api/arguments.h"
#include "runtime/array.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::Array;
using runtime::FromAbi;

namespace {

absl::Status CheckType(Arguments args, const ricci_device* d, ricci_type t) {
  if (FromAbi(d)->context->types().Has(t)) return absl::OkStatus();
  return args.Wrong("type ", t, " is not known to the context of the device");
}

}  // namespace

extern "C" {

ricci_status* ricci_array_from_host(ricci_device* d, ricci_type t, const void* data, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"out", out}}));
    RICCI_TRY(CheckType(args, d, t));
    RICCI_TRY(args.Array("data", data, FromAbi(d)->context->types().Get(t).bytes));
    auto array = Array::Create(FromAbi(d), t);
    if (array->bytes() != 0) std::memcpy(array->data(), data, array->bytes());
    *out = runtime::Abi(array.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_wrap(ricci_device* d, ricci_type t, void* data, void (*drop)(void* arg), void* arg,
                               ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"data", data}, {"out", out}}));
    RICCI_TRY(CheckType(args, d, t));
    const types::ArrayType& type = FromAbi(d)->context->types().Get(t);
    const uint32_t align = types::Info(type.dtype).size;
    if (reinterpret_cast<uintptr_t>(data) % align != 0) {
      return args.Wrong("data of ", ToText(type), " is not aligned to ", base::Count(align, "byte"));
    }
    *out = runtime::Abi(Array::Wrap(FromAbi(d), t, data, drop, arg).Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_copy_to_host(const ricci_array* a, void* dst, size_t bytes) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}}));
    RICCI_TRY(args.Array("dst", dst, bytes));
    const Array& array = *FromAbi(a);
    if (bytes != array.bytes()) {
      return args.Wrong(ToText(array.type()), " has ", base::Count(array.bytes(), "byte"), ", not ", bytes);
    }
    const void* data = array.data();
    if (data == nullptr) {
      return absl::FailedPreconditionError(
          base::Cat("ricci_array_copy_to_host: the array was donated to a run and has no data any more"));
    }
    if (bytes != 0) std::memcpy(dst, data, bytes);
    return absl::OkStatus();
  });
}

ricci_type ricci_array_type(const ricci_array* a) { return a == nullptr ? 0 : FromAbi(a)->type_id(); }
uint64_t ricci_array_bytes(const ricci_array* a) { return a == nullptr ? 0 : FromAbi(a)->bytes(); }
const void* ricci_array_data(const ricci_array* a) { return a == nullptr ? nullptr : FromAbi(a)->data(); }
ricci_device* ricci_array_device(const ricci_array* a) {
  return a == nullptr ? nullptr : runtime::Abi(FromAbi(a)->device());
}

ricci_array* ricci_array_retain(ricci_array* a) {
  if (a != nullptr) FromAbi(a)->Retain();
  return a;
}

void ricci_array_release(ricci_array* a) {
  if (a != nullptr) FromAbi(a)->Release();
}
}
