#include "laws/runnable.h"

#include <cstring>

#include "base/status_abi.h"
#include "ir/program.h"
#include "ricci/array.h"
#include "ricci/transform.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

// An array without elements needs an address too.
void* DataOf(Bytes& b) {
  b.reserve(1);
  return b.data();
}

// Bytes in memory to which a call on a device can be bound: where they are, or in an array with a copy of them.
class BoundMemory {
 public:
  BoundMemory(ricci_device* device, ricci_type type, Bytes& bytes) : device_(device), type_(type), bytes_(bytes) {}

  absl::Status BindTo(ricci_call* call, uint32_t slot) {
    ricci_device_desc desc{};
    desc.hdr.size = sizeof desc;
    ricci_device_info(device_, &desc);
    void* data = DataOf(bytes_);
    if (desc.host_memory == 0) {
      ricci_array* array = nullptr;
      RICCI_TRY(base::FromAbi(ricci_array_from_host(device_, type_, data, nullptr, &array)));
      array_ = {array, ricci_array_release};
      RICCI_TRY(base::FromAbi(ricci_array_wait(array)));
      data = ricci_array_device_data(array);
    }
    return base::FromAbi(ricci_call_bind(call, slot, data, bytes_.size()));
  }
  absl::Status ReadBack() {
    if (array_ == nullptr) return absl::OkStatus();
    return base::FromAbi(ricci_array_copy_to_host(array_.get(), bytes_.data(), bytes_.size()));
  }

 private:
  ricci_device* device_;
  ricci_type type_;
  Bytes& bytes_;
  std::shared_ptr<ricci_array> array_;
};

absl::Status Interpret(const pass::Lowered& lowered, std::vector<Bytes>& in, std::vector<Bytes>& out, uint8_t fill) {
  const kernel::KernelViews kernels(lowered.kernels);
  RICCI_TRY(kernel::Verify(lowered.plan.View(), kernels.data(), kernels.size()));
  std::vector<void*> inputs, outputs;
  for (Bytes& b : in) inputs.push_back(DataOf(b));
  for (Bytes& b : out) outputs.push_back(DataOf(b));
  std::vector<std::max_align_t> arena(lowered.plan.arena_bytes / sizeof(std::max_align_t) + 1);
  std::memset(arena.data(), fill, arena.size() * sizeof(std::max_align_t));
  return kernel::Interpret(lowered.plan.View(), kernels.data(), kernels.size(), inputs.data(), outputs.data(),
                           arena.data());
}

}  // namespace

absl::StatusOr<Program> OneEquation(ricci_ctx* ctx, ricci_prim prim, std::span<const ricci_attr> attrs,
                                    std::span<const ricci_type> in) {
  std::vector<ricci_val> params(in.size());
  const auto n_in = static_cast<uint32_t>(in.size()), n_attrs = static_cast<uint32_t>(attrs.size());
  ricci_builder* b = nullptr;
  RICCI_TRY(base::FromAbi(ricci_builder_create(ctx, "checked", 7, in.data(), n_in, &b, params.data())));
  std::unique_ptr<ricci_builder, void (*)(ricci_builder*)> guard(b, ricci_builder_abandon);
  uint32_t n = 0;
  RICCI_TRY(base::FromAbi(ricci_builder_infer(b, prim, attrs.data(), n_attrs, params.data(), n_in, nullptr, 0, &n)));
  std::vector<ricci_val> results(n);
  RICCI_TRY(base::FromAbi(ricci_builder_emit(b, prim, attrs.data(), n_attrs, params.data(), n_in, results.data(), n)));
  ricci_program* p = nullptr;
  RICCI_TRY(base::FromAbi(ricci_builder_finish(b, results.data(), n, &p)));
  (void)guard.release();
  return Own(p);
}

absl::StatusOr<RunnableRef> Runnable::Of(ricci_ctx* ctx, ricci_program* owned, RulesUsed used) {
  Program program = Own(owned);
  RICCI_ASSIGN(Signature signature, SignatureOf(ctx, owned));
  return RunnableRef(new Runnable(ctx, std::move(program), std::move(signature), std::move(used)));
}

bool Runnable::differentiable() const {
  bool in = false, out = false;
  for (const Type& t : params()) in |= t.precise();
  for (const Type& t : results()) out |= t.precise();
  return in && out;
}

std::vector<uint8_t> Runnable::PreciseParams() const {
  std::vector<uint8_t> out;
  for (const Type& t : params()) out.push_back(t.precise());
  return out;
}

// ---- running ----
bool Runnable::TakeFirstRun(ricci_device* device) {
  if (std::find(has_run_.begin(), has_run_.end(), device) != has_run_.end()) return false;
  has_run_.push_back(device);
  return true;
}

absl::StatusOr<Runnable::Call> Runnable::Compiled(ricci_device* device) {
  for (const auto& [known, call] : calls_) {
    if (known == device) return call;
  }
  ricci_compile_opts options = ricci_compile_opts_default();
  options.devices = &device;
  options.n_devices = 1;
  ricci_executable* executable = nullptr;
  RICCI_TRY(base::FromAbi(ricci_compile(program(), &options, &executable)));
  ricci_call* call = nullptr;
  const absl::Status made = base::FromAbi(ricci_call_create(executable, &call));
  ricci_executable_release(executable);
  RICCI_TRY(made);
  return calls_.emplace_back(device, Call(call, ricci_call_release)).second;
}

// A bound call, since it writes results into memory that was filled before.
absl::Status Runnable::RunInto(ricci_device* device, std::vector<Bytes>& in, std::vector<Bytes>& out) {
  RICCI_ASSIGN(const Call call, Compiled(device));
  std::vector<BoundMemory> bound;
  for (size_t i = 0; i < in.size(); ++i) bound.emplace_back(device, params()[i].id, in[i]);
  for (size_t i = 0; i < out.size(); ++i) bound.emplace_back(device, results()[i].id, out[i]);
  for (uint32_t slot = 0; slot < bound.size(); ++slot) RICCI_TRY(bound[slot].BindTo(call.get(), slot));
  RICCI_TRY(base::FromAbi(ricci_call_run(call.get())));
  for (size_t i = in.size(); i < bound.size(); ++i) RICCI_TRY(bound[i].ReadBack());
  return absl::OkStatus();
}

absl::Status Runnable::RunOptimized(std::vector<Bytes>& in, std::vector<Bytes>& out, uint8_t fill) {
  if (optimized_ == nullptr) {
    const RuleWatch watch = Watch();
    RICCI_ASSIGN(optimized_, pass::Lower(*ir::FromAbi(program()), pass::Options()));
    used_by_passes_ = watch.Since(used_);
  }
  return Interpret(*optimized_, in, out, fill);
}

absl::StatusOr<std::vector<Bytes>> Runnable::RunBytes(ricci_device* device, const std::vector<Bytes>& inputs,
                                                      uint8_t fill) {
  std::vector<Bytes> in = inputs;
  return RunOver(device, in, fill);
}

// A run on memory that the caller can look at afterwards.
absl::StatusOr<std::vector<Bytes>> Runnable::RunOver(ricci_device* device, std::vector<Bytes>& in, uint8_t fill) {
  std::vector<Bytes> out;
  for (const Type& t : results()) {
    out.emplace_back(static_cast<size_t>(t.elements) * ricci_dtype_size(t.dtype), static_cast<std::byte>(fill));
  }
  RICCI_TRY(device == nullptr ? RunOptimized(in, out, fill) : RunInto(device, in, out));
  return out;
}

absl::StatusOr<Arrays> Runnable::Run(ricci_device* device, const Arrays& inputs) {
  RICCI_ASSIGN(const std::vector<Bytes> in, EncodeAll(params(), inputs));
  RICCI_ASSIGN(const std::vector<Bytes> out, RunBytes(device, in));
  return DecodeAll(results(), out);
}

absl::StatusOr<std::optional<Arrays>> Runnable::RunFor(std::string_view kind, const Arrays& inputs) {
  pass::Options options;
  options.target = pass::Target(kind);
  RICCI_ASSIGN(const auto lowered, pass::Lower(*ir::FromAbi(program()), options));
  if (!lowered->plan.libraries.empty() || !lowered->plan.sources.empty()) return std::nullopt;
  RICCI_ASSIGN(std::vector<Bytes> in, EncodeAll(params(), inputs));
  std::vector<Bytes> out;
  for (const Type& t : results()) out.emplace_back(static_cast<size_t>(t.elements) * ricci_dtype_size(t.dtype));
  RICCI_TRY(Interpret(*lowered, in, out, 0));
  return DecodeAll(results(), out);
}

bool Runnable::HoldsCheck() const {
  if (optimized_ == nullptr) return false;
  return std::ranges::any_of(optimized_->kernels, [](const kernel::Kernel& k) {
    return std::ranges::any_of(k.insts, [](const ricci_inst& i) { return i.op == RICCI_K_CHECK; });
  });
}

absl::Status Runnable::CheckWritten(ricci_device* device, const Arrays& inputs) {
  constexpr uint8_t kPoisons[] = {0x5a, 0xa5};
  RICCI_ASSIGN(const std::vector<Bytes> in, EncodeAll(params(), inputs));
  std::vector<Bytes> used = in;
  const auto first = RunOver(device, used, kPoisons[0]), second = RunBytes(device, in, kPoisons[1]);
  if (!first.ok() || !second.ok()) return absl::OkStatus();
  for (size_t i = 0; i < params().size(); ++i) {
    if (used[i] == in[i]) continue;
    const auto at = std::mismatch(used[i].begin(), used[i].end(), in[i].begin()).first - used[i].begin();
    return absl::FailedPreconditionError(
        base::Cat("element ", static_cast<size_t>(at) / ricci_dtype_size(params()[i].dtype), " of operand ", i,
                  " was changed by the lowering, which may only read it"));
  }
  for (size_t i = 0; i < results().size(); ++i) {
    const Bytes &a = (*first)[i], &b = (*second)[i];
    const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
    if (at == static_cast<int64_t>(a.size())) continue;
    const auto byte = static_cast<size_t>(at);
    const bool untouched = a[byte] == std::byte{kPoisons[0]} && b[byte] == std::byte{kPoisons[1]};
    return absl::FailedPreconditionError(
        base::Cat("element ", byte / ricci_dtype_size(results()[i].dtype), " of result ", i,
                  untouched ? " was never written by the lowering" : " depends on memory that was never written"));
  }
  return absl::OkStatus();
}

// ---- programs made from it ----
RuleWatch Runnable::Watch() const { return RuleWatch(prim::Registry::Of(*ir::FromAbi(program()))); }

absl::StatusOr<RunnableRef> Runnable::Jvp(const std::vector<uint8_t>& active) const {
  const RuleWatch watch = Watch();
  ricci_program* out = nullptr;
  RICCI_TRY(base::FromAbi(ricci_jvp(program(), active.data(), static_cast<uint32_t>(active.size()), &out)));
  return Of(ctx_, out, watch.Since(used_));
}
absl::StatusOr<RunnableRef> Runnable::Jvp() {
  if (jvp_ == nullptr) {
    RICCI_ASSIGN(jvp_, Jvp(PreciseParams()));
  }
  return jvp_;
}

absl::StatusOr<Pullback> Runnable::Vjp() {
  if (vjp_.bwd != nullptr) return vjp_;
  const RuleWatch watch = Watch();
  const std::vector<uint8_t> wanted = PreciseParams();
  ricci_program *fwd = nullptr, *bwd = nullptr;
  RICCI_TRY(base::FromAbi(ricci_vjp(program(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd)));
  const RulesUsed used = watch.Since(used_);
  absl::StatusOr<RunnableRef> owned_fwd = Of(ctx_, fwd, used), owned_bwd = Of(ctx_, bwd, used);
  RICCI_ASSIGN(vjp_.fwd, std::move(owned_fwd));
  RICCI_ASSIGN(vjp_.bwd, std::move(owned_bwd));
  return vjp_;
}

absl::StatusOr<RunnableRef> Runnable::Vmap(const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes,
                                           int64_t size) const {
  ricci_program* out = nullptr;
  RICCI_TRY(base::FromAbi(ricci_vmap(program(), in_axes.data(), static_cast<uint32_t>(in_axes.size()), out_axes.data(),
                                     static_cast<uint32_t>(out_axes.size()), size, nullptr, &out)));
  return Of(ctx_, out, used_);
}

absl::StatusOr<RunnableRef> Runnable::Batch(const std::vector<int32_t>& in_axes, int64_t size) const {
  const RuleWatch watch = Watch();
  const transform::Mask all(results().size(), 1);
  auto made = transform::BatchAt(*ir::FromAbi(program()), in_axes, size, /*axis_name=*/"", all);
  if (!made.ok()) return base::FromAbi(base::ToAbi(made.status()));  // with primitive and location, as users see it
  return Of(ctx_, ir::Abi(made->program.Detach()), watch.Since(used_));
}

}}}  // namespace ricci::v0::laws
