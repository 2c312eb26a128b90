// Arrays as tensors of DLPack 1, and back, without copies.
//
// The structs are declared here, as the specification fixes them, so that no version of DLPack's header is needed to
// build; ricci/dlpack.h names only the outermost.
#ifndef RICCI_RUNTIME_DLPACK_H_
#define RICCI_RUNTIME_DLPACK_H_
#include "runtime/context/array.h"

namespace ricci { inline namespace v0 { namespace runtime {

struct DlTensor {
  struct DType {
    uint8_t code, bits;
    uint16_t lanes;
  };
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  DType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; NULL: row-major without gaps
  uint64_t byte_offset;
};
struct DlManagedTensor {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DlManagedTensor* self);  // may be NULL
  uint64_t flags;
  DlTensor tensor;
};
static_assert(sizeof(DlManagedTensor) == 80 && sizeof(DlTensor) == 48);

// Does not wait for what writes the array.
absl::StatusOr<DlManagedTensor*> ToDlpack(const Array& a);
// Takes over `t` if it succeeds. What was enqueued to `stream` of the device may still write it; NULL: it is written.
absl::StatusOr<base::Ref<Array>> FromDlpack(Device* device, DlManagedTensor* t, Stream* stream);

}}}  // namespace ricci::v0::runtime
#endif
