#include "runtime/array.h"

namespace ricci::inline v0::runtime {
namespace {

constexpr uint64_t kInlineBytes = 4096;  // data up to this size follows the header

constexpr size_t RoundUp(size_t n) { return (n + kArrayAlign - 1) / kArrayAlign * kArrayAlign; }
constexpr size_t kHeaderBytes = RoundUp(sizeof(Array));

}  // namespace

Array::Array(Device* device, types::TypeId type, uint64_t bytes, size_t block_bytes)
    : context_(device->context), device_(device), type_(type), bytes_(bytes), block_bytes_(block_bytes) {}

Array* Array::Allocate(Device* device, types::TypeId type, bool with_data) {
  const Context& context = *device->context;
  const uint64_t bytes = context.types().Get(type).bytes;
  const size_t block_bytes = kHeaderBytes + (with_data ? RoundUp(bytes) : 0);
  void* block = context.memory()->Allocate(block_bytes, kArrayAlign);
  return new (block) Array(device, type, bytes, block_bytes);
}

base::Ref<Array> Array::Create(Device* device, types::TypeId type) {
  const Context& context = *device->context;
  const uint64_t bytes = context.types().Get(type).bytes;
  const bool with_data = bytes <= kInlineBytes;
  auto array = base::Ref<Array>::Adopt(Allocate(device, type, with_data));
  if (with_data) {
    array->data_ = reinterpret_cast<char*>(array.get()) + kHeaderBytes;
  } else {
    array->data_ = context.memory()->Allocate(RoundUp(bytes), kArrayAlign);
    array->owns_data_ = 1;
  }
  return array;
}

base::Ref<Array> Array::Wrap(Device* device, types::TypeId type, void* data, Drop drop, void* arg) {
  auto array = base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/false));
  array->data_ = data;
  array->drop_ = drop;
  array->drop_arg_ = arg;
  return array;
}

base::Ref<Array> Array::Donate(types::TypeId type) {
  const bool small = owns_data_ == 0 && drop_ == nullptr;
  base::Ref<Array> to =
      small ? Create(device_, type) : base::Ref<Array>::Adopt(Allocate(device_, type, /*with_data=*/false));
  void* data = data_.exchange(nullptr, std::memory_order_acq_rel);
  if (data == nullptr) return {};
  if (small) {
    std::memcpy(to->data_, data, bytes_);
  } else {
    to->data_ = data;
    to->owns_data_ = std::exchange(owns_data_, 0);
    to->drop_ = std::exchange(drop_, nullptr);
    to->drop_arg_ = drop_arg_;
  }
  return to;
}

Array::~Array() {
  if (drop_ != nullptr) drop_(drop_arg_);
  if (owns_data_ != 0) context_->memory()->Free(data_, RoundUp(bytes_), kArrayAlign);
}

void Array::Destroy() const {
  const base::Ref<Context> context = context_;  // its memory outlives this block
  const size_t block_bytes = block_bytes_;
  auto* self = const_cast<Array*>(this);
  self->~Array();
  context->memory()->Free(self, block_bytes, kArrayAlign);
}

}  // namespace ricci::inline v0::runtime
