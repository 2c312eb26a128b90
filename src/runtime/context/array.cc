#include "runtime/context/array.h"

#include "absl/cleanup/cleanup.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

constexpr uint64_t kInlineBytes = 4096;  // data up to this size follows the header
constexpr size_t kHeaderAlign = 64;

constexpr size_t RoundUp(size_t n) { return (n + kHeaderAlign - 1) / kHeaderAlign * kHeaderAlign; }
constexpr size_t kHeaderBytes = RoundUp(sizeof(Array));

bool DataFollows(const Device& device, uint64_t bytes) {
  return device.host_memory && bytes <= kInlineBytes && device.alignment <= kHeaderAlign;
}

}  // namespace

Array::Array(Device* device, types::TypeId type, uint64_t bytes, size_t block_bytes)
    : context_(device->context), type_(type), block_bytes_(block_bytes), buffer_{device, RICCI_MEMORY_DEVICE,
                                                                                 bytes,  {},
                                                                                 {},     {}} {}

Array* Array::Allocate(Device* device, types::TypeId type, bool with_data) {
  const Context& context = *device->context;
  const uint64_t bytes = context.types().Get(type).bytes;
  const size_t block_bytes = kHeaderBytes + (with_data ? RoundUp(bytes) : 0);
  void* block = context.memory()->Allocate(block_bytes, kHeaderAlign);
  return new (block) Array(device, type, bytes, block_bytes);
}

// Its destructor counts the memory out.
absl::StatusOr<base::Ref<Array>> Array::CreateInline(Device* device, types::TypeId type, uint64_t bytes) {
  RICCI_TRY(device->CountIn(bytes));
  absl::Cleanup undo = [&] { device->CountOut(bytes); };
  auto array = base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/true));
  std::move(undo).Cancel();
  device->CountMade(bytes);
  array->SetData(reinterpret_cast<char*>(array.get()) + kHeaderBytes);
  return array;
}

absl::StatusOr<base::Ref<Array>> Array::Create(Device* device, types::TypeId type, Stream* stream) {
  const uint64_t bytes = device->context->types().Get(type).bytes;
  const bool with_data = DataFollows(*device, bytes);
  if (with_data) return CreateInline(device, type, bytes);
  auto array = base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/false));
  RICCI_ASSIGN(void* data, device->Allocate(bytes, stream));
  array->SetData(data);
  array->owns_data_ = true;
  array->buffer_.stream = StreamRef(stream);
  return array;
}

base::Ref<Array> Array::Wrap(Device* device, types::TypeId type, void* data, Drop drop, void* arg) {
  auto array = base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/false));
  array->SetData(data);
  array->drop_ = drop;
  array->drop_arg_ = arg;
  return array;
}

base::Ref<Array> Array::CreateEmpty(Device* device, types::TypeId type) {
  return base::Ref<Array>::Adopt(Allocate(device, type, /*with_data=*/false));
}

// ---- donation ----
bool Array::MoveDataTo(Array& to) {
  void* data = buffer_.data.exchange(nullptr, std::memory_order_acq_rel);
  if (data == nullptr) return false;
  to.SetData(data);
  to.owns_data_ = std::exchange(owns_data_, false);
  to.buffer_.stream = buffer_.stream;
  to.drop_ = std::exchange(drop_, nullptr);
  to.drop_arg_ = drop_arg_;
  return true;
}

void Array::DropData() {
  void* data = buffer_.data.exchange(nullptr, std::memory_order_acq_rel);
  const Drop drop = std::exchange(drop_, nullptr);
  FreeData(data, std::exchange(owns_data_, false), drop);
}

// Memory of a device is freed in the order of the stream for which it was allocated, after its uses in other streams.
// If all uses have ended, no order is needed. For memory that is not ours the host waits.
void Array::FreeData(void* data, bool owned, Drop drop) {
  if (!owned && drop == nullptr) return;
  std::vector<EventRef> uses;
  if (!device()->host_memory) {
    std::lock_guard lock(device()->mutex);
    uses.swap(buffer_.reads);
    if (buffer_.written) uses.push_back(buffer_.written);
  }
  if (buffer_.stream && !buffer_.stream->owned()) {  // a stream of the host may be gone once all work has completed
    for (const EventRef& use : uses) use->Query().IgnoreError();
  }
  const auto settled = [](const EventRef& e) { return e->settled(); };
  const bool unused = !uses.empty() && std::all_of(uses.begin(), uses.end(), settled);
  const bool usable = !unused && buffer_.stream && buffer_.stream->CheckUsable().ok();
  for (const EventRef& use : uses) {
    const bool ordered = usable && buffer_.stream->Wait(use.get()).ok();
    if (!ordered) use->Await().IgnoreError();
  }
  if (drop != nullptr) drop(drop_arg_);
  if (owned) device()->Free(data, bytes(), usable ? buffer_.stream.get() : nullptr);
}

Array::~Array() {
  FreeData(buffer_.data.load(std::memory_order_relaxed), owns_data_, drop_);
  if (block_bytes_ > kHeaderBytes) device()->CountOut(bytes());
}

void Array::Destroy() const {
  auto* self = const_cast<Array*>(this);
  const base::Ref<Context> context = std::move(self->context_);  // its memory outlives this block
  const size_t block_bytes = block_bytes_;
  self->~Array();
  context->memory()->Free(self, block_bytes, kHeaderAlign);
}

// ---- time ----
EventRef Array::written() const {
  if (device()->host_memory) return {};
  std::lock_guard lock(device()->mutex);
  return buffer_.written;
}

void Array::SetWritten(EventRef run) {
  std::vector<EventRef> reads;  // released without the lock
  std::lock_guard lock(device()->mutex);
  reads.swap(buffer_.reads);
  std::swap(buffer_.written, run);
}

void Array::AddRead(const EventRef& run) const {
  EventRef before;  // goes without the lock
  try {
    std::lock_guard lock(device()->mutex);
    for (EventRef& read : buffer_.reads) {
      if (read->stream() != run->stream()) continue;
      before = std::exchange(read, run);
      return;
    }
    buffer_.reads.push_back(run);
  } catch (const std::bad_alloc&) {
    run->Await().IgnoreError();
  }
}

absl::Status Array::Order(const Stream& stream, bool for_writing) const {
  std::vector<EventRef> before;
  {
    std::lock_guard lock(device()->mutex);
    if (for_writing) before = buffer_.reads;
    if (buffer_.written) before.push_back(buffer_.written);
  }
  for (const EventRef& e : before) RICCI_TRY(stream.Wait(e.get()));
  return absl::OkStatus();
}

absl::Status Array::Handed(const Stream& stream, std::string_view who) const {
  if (const EventRef run = written(); run && run->failed()) return run->Wait();
  RICCI_TRY(CheckData(who));
  RICCI_TRY(stream.CheckUsable());
  return Order(stream, /*for_writing=*/false);
}

absl::Status Array::Wait(std::string_view who) const {
  if (const EventRef run = written()) RICCI_TRY(run->Wait());
  return CheckData(who);
}

absl::Status Array::CheckData(std::string_view who) const {
  if (data() != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(base::Cat(who, ": the array was donated to a run and has no data"));
}

absl::StatusOr<bool> Array::IsReady() const {
  const EventRef run = written();
  return run ? run->Query() : true;
}

}}}  // namespace ricci::v0::runtime
