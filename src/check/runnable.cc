#include "check/runnable.h"

#include "base/status_abi.h"
#include "ir/program.h"
#include "ricci/array.h"
#include "ricci/transform.h"
#include "transform/vmap.h"

namespace ricci::inline v0::check {
namespace {

using Array = std::unique_ptr<ricci_array, void (*)(ricci_array*)>;

absl::StatusOr<std::vector<Bytes>> EncodeAll(const std::vector<Type>& types, const Arrays& numbers) {
  RICCI_TRY(base::Invariant(types.size() == numbers.size(), "one list of numbers per parameter"));
  std::vector<Bytes> out;
  for (size_t i = 0; i < types.size(); ++i) {
    RICCI_ASSIGN(out.emplace_back(), Encode(types[i], numbers[i]));
  }
  return out;
}
absl::StatusOr<Arrays> DecodeAll(const std::vector<Type>& types, const std::vector<Bytes>& bytes) {
  Arrays out;
  for (size_t i = 0; i < types.size(); ++i) {
    RICCI_ASSIGN(out.emplace_back(), Decode(types[i], bytes[i]));
  }
  return out;
}

absl::Status Interpret(const pass::Lowered& lowered, std::vector<Bytes>& in, std::vector<Bytes>& out) {
  std::vector<ricci_kernel_table> tables;
  std::vector<const ricci_kernel_table*> kernels;
  for (const kernel::Kernel& k : lowered.kernels) tables.push_back(k.View());
  for (const ricci_kernel_table& t : tables) kernels.push_back(&t);
  const auto n = static_cast<uint32_t>(kernels.size());
  RICCI_TRY(kernel::Verify(lowered.plan.View(), kernels.data(), n));
  std::vector<void*> inputs, outputs;
  for (Bytes& b : in) inputs.push_back(b.data());
  for (Bytes& b : out) outputs.push_back(b.data());
  std::vector<std::max_align_t> arena(lowered.plan.arena_bytes / sizeof(std::max_align_t) + 1);
  return kernel::Interpret(lowered.plan.View(), kernels.data(), n, inputs.data(), outputs.data(), arena.data());
}

}  // namespace

absl::StatusOr<RunnableRef> Runnable::Of(ricci_ctx* ctx, ricci_program* owned) {
  Program program = Own(owned);
  RICCI_ASSIGN(Signature signature, SignatureOf(ctx, owned));
  return RunnableRef(new Runnable(ctx, std::move(program), std::move(signature)));
}

bool Runnable::differentiable() const {
  bool in = false, out = false;
  for (const Type& t : params()) in |= t.real();
  for (const Type& t : results()) out |= t.real();
  return in && out;
}

std::vector<uint8_t> Runnable::RealParams() const {
  std::vector<uint8_t> out;
  for (const Type& t : params()) out.push_back(t.real());
  return out;
}

// ---- running ----
absl::StatusOr<Runnable::Executable> Runnable::Compiled(ricci_device* device) {
  for (const auto& [known, executable] : executables_) {
    if (known == device) return executable;
  }
  ricci_compile_opts options{};
  options.hdr.size = sizeof options;
  options.device = device;
  ricci_executable* raw = nullptr;
  RICCI_TRY(base::FromAbi(ricci_compile(program(), &options, &raw)));
  return executables_.emplace_back(device, Executable(raw, ricci_executable_release)).second;
}

absl::StatusOr<Arrays> Runnable::Run(ricci_device* device, const Arrays& inputs) {
  RICCI_ASSIGN(const Executable executable, Compiled(device));
  RICCI_ASSIGN(const std::vector<Bytes> encoded, EncodeAll(params(), inputs));
  std::vector<Array> owned;
  std::vector<ricci_array*> in, out(results().size());
  for (size_t i = 0; i < encoded.size(); ++i) {
    ricci_array* a = nullptr;
    RICCI_TRY(base::FromAbi(ricci_array_from_host(device, params()[i].id, encoded[i].data(), &a)));
    owned.emplace_back(a, ricci_array_release);
    in.push_back(a);
  }
  RICCI_TRY(base::FromAbi(ricci_executable_run(executable.get(), in.data(), static_cast<uint32_t>(in.size()),
                                               out.data(), static_cast<uint32_t>(out.size()))));
  std::vector<Bytes> got;
  for (ricci_array* a : out) owned.emplace_back(a, ricci_array_release);
  for (ricci_array* a : out) {
    Bytes& bytes = got.emplace_back(ricci_array_bytes(a));
    RICCI_TRY(base::FromAbi(ricci_array_copy_to_host(a, bytes.data(), bytes.size())));
  }
  return DecodeAll(results(), got);
}

absl::StatusOr<Arrays> Runnable::RunOptimized(const Arrays& inputs) {
  if (optimized_ == nullptr) {
    RICCI_ASSIGN(optimized_, pass::Lower(*ir::FromAbi(program()), pass::Options()));
  }
  RICCI_ASSIGN(std::vector<Bytes> in, EncodeAll(params(), inputs));
  std::vector<Bytes> out;
  for (const Type& t : results()) {
    out.emplace_back(static_cast<size_t>(t.elements) * ricci_dtype_size(t.dtype));
  }
  RICCI_TRY(Interpret(*optimized_, in, out));
  return DecodeAll(results(), out);
}

// ---- programs made from it ----
absl::StatusOr<RunnableRef> Runnable::Jvp(const std::vector<uint8_t>& active) const {
  ricci_program* out = nullptr;
  RICCI_TRY(base::FromAbi(ricci_jvp(program(), active.data(), static_cast<uint32_t>(active.size()), &out)));
  return Of(ctx_, out);
}
absl::StatusOr<RunnableRef> Runnable::Jvp() {
  if (jvp_ == nullptr) {
    RICCI_ASSIGN(jvp_, Jvp(RealParams()));
  }
  return jvp_;
}

absl::StatusOr<Pullback> Runnable::Vjp() {
  if (vjp_.bwd != nullptr) return vjp_;
  const std::vector<uint8_t> wanted = RealParams();
  ricci_program *fwd = nullptr, *bwd = nullptr;
  RICCI_TRY(base::FromAbi(ricci_vjp(program(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd)));
  absl::StatusOr<RunnableRef> owned_fwd = Of(ctx_, fwd), owned_bwd = Of(ctx_, bwd);
  RICCI_ASSIGN(vjp_.fwd, std::move(owned_fwd));
  RICCI_ASSIGN(vjp_.bwd, std::move(owned_bwd));
  return vjp_;
}

absl::StatusOr<RunnableRef> Runnable::Vmap(const std::vector<int32_t>& in_axes, const std::vector<int32_t>& out_axes,
                                           int64_t size) const {
  ricci_program* out = nullptr;
  RICCI_TRY(base::FromAbi(ricci_vmap(program(), in_axes.data(), static_cast<uint32_t>(in_axes.size()), out_axes.data(),
                                     static_cast<uint32_t>(out_axes.size()), size, "", 0, &out)));
  return Of(ctx_, out);
}

absl::StatusOr<RunnableRef> Runnable::Batch(const std::vector<int32_t>& in_axes, int64_t size) const {
  const transform::Mask all(results().size(), 1);
  RICCI_ASSIGN(transform::BatchProgram made,
               transform::BatchAt(*ir::FromAbi(program()), in_axes, size, /*axis_name=*/"", all));
  return Of(ctx_, ir::Abi(made.program.Detach()));
}

}  // namespace ricci::inline v0::check
