// ricci/array.h: arrays.
#include "ricci/array.h"

#include "api/arguments.h"
#include "runtime/context/device_put.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::Array;
using runtime::EventRef;
using runtime::FromAbi;

namespace {

absl::Status CheckType(Arguments args, const ricci_device* d, ricci_type t) {
  if (FromAbi(d)->context->types().Has(t)) return absl::OkStatus();
  return args.Wrong("type ", t, " is not known to the context of the device");
}

absl::StatusOr<ricci_array_opts> Options(Arguments args, const ricci_device* d, const ricci_array_opts* given) {
  RICCI_ASSIGN(const ricci_array_opts o, api::ReadOptions(given, ricci_array_opts_default(), "array options",
                                                          {RICCI_FLAG(RICCI_ARRAY_UNCOMMITTED)}));
  if (o.memory_kind != RICCI_MEMORY_DEVICE) {
    return base::InvalidArgument("array options: device ", FromAbi(d)->Name(), " has no memory of kind ", o.memory_kind,
                                 "; known: 0 (RICCI_MEMORY_DEVICE)");
  }
  if (o.stream != nullptr && FromAbi(o.stream)->device() != FromAbi(d)) {
    return args.Wrong("the stream is of device ", FromAbi(o.stream)->device()->Name(), ", not ", FromAbi(d)->Name());
  }
  return o;
}

void Give(base::Ref<Array> array, const ricci_array_opts& o, ricci_array** out) {
  if (o.hdr.flags & RICCI_ARRAY_UNCOMMITTED) array->set_committed(false);
  *out = runtime::Abi(array.Detach());
}

}  // namespace

extern "C" {

ricci_status* ricci_array_from_host(ricci_device* d, ricci_type t, const void* data, const ricci_array_opts* opts,
                                    ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"out", out}}));
    RICCI_TRY(CheckType(args, d, t));
    RICCI_TRY(args.Array("data", data, FromAbi(d)->context->types().Get(t).bytes));
    RICCI_ASSIGN(const ricci_array_opts o, Options(args, d, opts));
    RICCI_ASSIGN(auto array, runtime::FromHost(FromAbi(d), t, data, o.stream == nullptr ? nullptr : FromAbi(o.stream)));
    Give(std::move(array), o, out);
    return absl::OkStatus();
  });
}

ricci_status* ricci_array_wrap(ricci_device* d, ricci_type t, void* data, void (*drop)(void* arg), void* arg,
                               const ricci_array_opts* opts, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"data", data}, {"out", out}}));
    RICCI_TRY(CheckType(args, d, t));
    const types::ArrayType& type = FromAbi(d)->context->types().Get(t);
    const uint32_t align = types::Info(types::PartOf(type.dtype)).size;
    if (reinterpret_cast<uintptr_t>(data) % align != 0) {
      return args.Wrong("data of ", ToText(type), " is not aligned to ", base::Count(align, "byte"));
    }
    RICCI_TRY(FromAbi(d)->CheckOwns(data, type.bytes, "ricci_array_wrap: data"));
    RICCI_ASSIGN(const ricci_array_opts o, Options(args, d, opts));
    EventRef written;  // made first: once the array is there, nothing may fail
    if (o.stream != nullptr && !FromAbi(d)->host_memory) {
      RICCI_ASSIGN(written, FromAbi(o.stream)->Record());
    }
    auto array = Array::Wrap(FromAbi(d), t, data, drop, arg);
    if (written) array->SetWritten(std::move(written));
    Give(std::move(array), o, out);
    return absl::OkStatus();
  });
}

ricci_status* ricci_device_put(const ricci_array* a, ricci_device* d, ricci_array** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}, {"d", d}, {"out", out}}));
    const Array& array = *FromAbi(a);
    if (array.device()->context != FromAbi(d)->context) return args.Wrong("a and d belong to different contexts");
    if (array.device() == FromAbi(d) && array.committed()) {
      array.Retain();
      *out = runtime::Abi(&array);
      return absl::OkStatus();
    }
    if (array.data() == nullptr) return array.Wait("ricci_device_put");
    RICCI_ASSIGN(auto copy, runtime::DevicePut(array, FromAbi(d)));
    *out = runtime::Abi(copy.Detach());
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
    return runtime::CopyToHost(array, dst, "ricci_array_copy_to_host");
  });
}

ricci_status* ricci_array_wait(const ricci_array* a) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"a", a}}));
    return FromAbi(a)->Wait("ricci_array_wait");
  });
}

// An array that cannot be asked counts as ready: a caller that waits for it gets the reason.
uint32_t ricci_array_is_ready(const ricci_array* a) { return a == nullptr || FromAbi(a)->IsReady().value_or(true); }
uint32_t ricci_array_is_committed(const ricci_array* a) { return a != nullptr && FromAbi(a)->committed(); }
ricci_type ricci_array_type(const ricci_array* a) { return a == nullptr ? 0 : FromAbi(a)->type_id(); }
uint64_t ricci_array_bytes(const ricci_array* a) { return a == nullptr ? 0 : FromAbi(a)->bytes(); }

const void* ricci_array_data(const ricci_array* a) {
  if (a == nullptr || !FromAbi(a)->device()->host_visible) return nullptr;
  if (FromAbi(a)->device()->host_memory) return FromAbi(a)->data();
  ricci_status* failure = base::AtBorder([&] { return FromAbi(a)->Wait(""); });
  if (failure == nullptr) return FromAbi(a)->data();
  ricci_status_free(failure);
  return nullptr;
}

void* ricci_array_device_data(const ricci_array* a) { return a == nullptr ? nullptr : FromAbi(a)->data(); }
ricci_device* ricci_array_device(const ricci_array* a) {
  return a == nullptr ? nullptr : runtime::Abi(FromAbi(a)->device());
}
uint32_t ricci_array_shard_count(const ricci_array* a) { return a == nullptr ? 0 : 1; }

ricci_array* ricci_array_retain(ricci_array* a) {
  if (a != nullptr) FromAbi(a)->Retain();
  return a;
}

void ricci_array_release(ricci_array* a) {
  if (a != nullptr) FromAbi(a)->Release();
}
}
