#include "runtime/context/dlpack.h"

#include "runtime/context/device_put.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr uint32_t kMajor = 1, kMinor = 1;
constexpr int32_t kCpu = 1;
constexpr uint64_t kReadOnly = 1;

struct Code {
  uint32_t dtype;
  uint8_t code, bits;
};
constexpr Code kCodes[] = {{RICCI_BOOL, 6, 8},
                           {RICCI_I8, 0, 8},
                           {RICCI_I16, 0, 16},
                           {RICCI_I32, 0, 32},
                           {RICCI_I64, 0, 64},
                           {RICCI_U8, 1, 8},
                           {RICCI_U16, 1, 16},
                           {RICCI_U32, 1, 32},
                           {RICCI_U64, 1, 64},
                           {RICCI_F16, 2, 16},
                           {RICCI_F32, 2, 32},
                           {RICCI_F64, 2, 64},
                           {RICCI_BF16, 4, 16},
                           {RICCI_C64, 5, 64},
                           {RICCI_C128, 5, 128},
                           // Since version 1.1. Its 4-bit floats may share bytes and have no place here.
                           {RICCI_F8E4M3FN, 10, 8},
                           {RICCI_F8E5M2, 12, 8},
                           {RICCI_F8E8M0FNU, 14, 8}};

// A tensor with what it points to, and the array whose memory it is.
struct Exported {
  DlManagedTensor managed{};
  base::Ref<const Array> array;
  std::vector<int64_t> shape, strides;
};

std::vector<int64_t> RowMajorStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> out(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) out[d - 1] = out[d] * std::max<int64_t>(shape[d], 1);
  return out;
}

absl::StatusOr<uint32_t> DTypeOf(const DlTensor::DType& t) {
  for (const Code& c : kCodes) {
    if (c.code == t.code && c.bits == t.bits && t.lanes == 1) return c.dtype;
  }
  return base::InvalidArgument("dlpack: elements of type code ", int{t.code}, " with ", int{t.bits}, " bits and ",
                               base::Count(t.lanes, "lane"), " are not supported");
}

// Strides of dimensions of length 1 mean nothing.
absl::Status CheckStrides(const DlTensor& t, const types::ArrayType& type) {
  if (t.strides == nullptr || type.elements == 0) return absl::OkStatus();
  const std::vector<int64_t> expected = RowMajorStrides(type.shape);
  for (size_t d = 0; d < expected.size(); ++d) {
    if (type.shape[d] == 1 || t.strides[d] == expected[d]) continue;
    return base::InvalidArgument("dlpack: the stride of dimension ", d, " is ", t.strides[d], ", not ", expected[d],
                                 " as in a row-major ", ToText(type), "; copy it first");
  }
  return absl::OkStatus();
}

// A DLDevice.
struct DlpackDevice {
  int32_t type, id;
};
absl::StatusOr<DlpackDevice> DlpackDeviceOf(const Device& d) {
  if (d.host_memory) return DlpackDevice{kCpu, 0};
  if (d.backend.dlpack_type == 0) {
    return absl::UnimplementedError(base::Cat("dlpack: device ", d.Name(), " does not share its memory"));
  }
  return DlpackDevice{static_cast<int32_t>(d.backend.dlpack_type), static_cast<int32_t>(d.backend.dlpack_id)};
}

absl::StatusOr<types::TypeId> TypeOf(Device* device, const DlManagedTensor& t) {
  if (t.major != kMajor) {
    return absl::FailedPreconditionError(
        base::Cat("dlpack: version ", t.major, ".", t.minor, "; this is version ", kMajor));
  }
  RICCI_ASSIGN(const DlpackDevice own, DlpackDeviceOf(*device));
  if (t.tensor.device_type != own.type || (!device->host_memory && t.tensor.device_id != own.id)) {
    return base::InvalidArgument("dlpack: memory of device type ", t.tensor.device_type, ", number ",
                                 t.tensor.device_id, ", but that of device ", device->Name(), " is of type ", own.type,
                                 ", number ", own.id, "; copy it there first");
  }
  RICCI_ASSIGN(const uint32_t dtype, DTypeOf(t.tensor.dtype));
  if (t.tensor.ndim < 0 || (t.tensor.ndim > 0 && t.tensor.shape == nullptr)) {
    return base::InvalidArgument("dlpack: a tensor of rank ", t.tensor.ndim, " without a shape");
  }
  return device->context->types().Intern(dtype, {t.tensor.shape, static_cast<size_t>(t.tensor.ndim)});
}

void Delete(void* tensor) {
  auto* t = static_cast<DlManagedTensor*>(tensor);
  if (t->deleter != nullptr) t->deleter(t);
}

// A copy that is complete. `written`: what may still write the data; NULL: it is written.
absl::StatusOr<base::Ref<Array>> Copied(Device* device, types::TypeId id, const void* data, const EventRef& written) {
  const uint64_t bytes = device->context->types().Get(id).bytes;
  if (device->host_memory || bytes == 0) return FromHost(device, id, data, nullptr);
  RICCI_ASSIGN(const StreamRef stream, device->DefaultStream());
  RICCI_ASSIGN(auto copy, Array::Create(device, id, stream.get()));
  RICCI_TRY(stream->Wait(written.get()));
  const EventRef end = Event::AtPoint(stream);
  RICCI_ASSIGN(void* const native, device->CopyBetween(copy->data(), data, *device, bytes, stream.get()));
  end->Started(native);
  RICCI_TRY(end->Await());
  return copy;
}

}  // namespace

absl::StatusOr<DlManagedTensor*> ToDlpack(const Array& a) {
  RICCI_ASSIGN(const DlpackDevice target, DlpackDeviceOf(*a.device()));
  RICCI_TRY(a.CheckData("ricci_array_to_dlpack"));
  const types::ArrayType& type = a.type();
  const auto code = std::ranges::find(kCodes, type.dtype, &Code::dtype);
  if (code == std::end(kCodes)) {
    return absl::UnimplementedError(base::Cat("dlpack: it has no dtype ", types::Info(type.dtype).name));
  }
  auto out = std::make_unique<Exported>();
  out->array = base::Ref<const Array>(&a);
  out->shape.assign(type.shape.begin(), type.shape.end());
  out->strides = RowMajorStrides(type.shape);
  const auto drop = [](DlManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  out->managed = {kMajor, kMinor, out.get(), drop, kReadOnly, {}};
  out->managed.tensor = {
      a.data(),          target.type,         target.id, static_cast<int32_t>(type.rank()), {code->code, code->bits, 1},
      out->shape.data(), out->strides.data(), 0};
  return &out.release()->managed;
}

absl::StatusOr<base::Ref<Array>> FromDlpack(Device* device, DlManagedTensor* t, Stream* stream) {
  RICCI_ASSIGN(const types::TypeId id, TypeOf(device, *t));
  const types::ArrayType& type = device->context->types().Get(id);
  RICCI_TRY(CheckStrides(t->tensor, type));
  auto* data = static_cast<std::byte*>(t->tensor.data);
  if (data == nullptr && type.bytes != 0)
    return base::InvalidArgument("dlpack: a tensor of ", ToText(type), " without data");
  if (data != nullptr) data += t->tensor.byte_offset;
  RICCI_TRY(device->CheckOwns(data, type.bytes, "dlpack: the data"));
  EventRef written;
  if (stream != nullptr && !device->host_memory) {
    RICCI_ASSIGN(written, stream->Record());
  }
  const bool aligned = reinterpret_cast<uintptr_t>(data) % types::Info(types::PartOf(type.dtype)).size == 0;
  if (type.bytes != 0 && aligned && (t->flags & kReadOnly) == 0) {
    auto array = Array::Wrap(device, id, data, Delete, t);
    if (written) array->SetWritten(std::move(written));
    return array;
  }
  RICCI_ASSIGN(auto copy, Copied(device, id, data, written));
  Delete(t);
  return copy;
}

}}}  // namespace ricci::v0::runtime
