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
    array->owns_data_ = true;
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

base::Ref<Array> Array::CreateEmpty(Device* device, types::TypeId type) {
  return base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/false));
}

bool Array::MoveDataTo(Array& to) {
  void* data = data_.exchange(nullptr, std::memory_order_acq_rel);
  if (data == nullptr) return false;
  to.data_ = data;
  to.owns_data_ = std::exchange(owns_data_, false);
  to.drop_ = std::exchange(drop_, nullptr);
  to.drop_arg_ = drop_arg_;
  return true;
}

void Array::DropData() {
  void* data = data_.exchange(nullptr, std::memory_order_acq_rel);
  if (auto drop = std::exchange(drop_, nullptr)) drop(drop_arg_);
  if (std::exchange(owns_data_, false)) context_->memory()->Free(data, RoundUp(bytes_), kArrayAlign);
}

Array::~Array() { DropData(); }

void Array::Destroy() const {
  const base::Ref<Context> context = context_;  // its memory outlives this block
  const size_t block_bytes = block_bytes_;
  auto* self = const_cast<Array*>(this);
  self->~Array();
  context->memory()->Free(self, block_bytes, kArrayAlign);
}

}  // namespace ricci::inline v0::runtime
