#include "bench_program.h"

#include <cmath>

namespace bench {

using ricci::Check;
using ricci::Value;
using ricci::Values;

ContextRef MakeContext() {
  ricci_ctx* ctx = nullptr;
  Check(ricci_context_create(nullptr, &ctx));
  ContextRef owner(ctx, ricci_context_release);
  Check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  Check(ricci_context_add_plugin(ctx, ricci_plugin_query_nn));
#ifdef RICCI_HAS_CPU
  Check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
#endif
  return owner;
}

namespace {
ProgramRef Own(ricci_program* p) { return {p, ricci_program_release}; }
}  // namespace

ProgramRef Trace(ricci_ctx* ctx, const std::vector<Param>& params, const std::function<Values(const Values&)>& f) {
  std::vector<ricci_type> types;
  for (const Param& p : params) types.push_back(ricci::ArrayType::Make(ctx, p.dtype, p.shape).id());
  std::vector<ricci_val> ids(types.size());
  ricci_builder* b = nullptr;
  Check(ricci_builder_create(ctx, "bench", 5, types.data(), static_cast<uint32_t>(types.size()), &b, ids.data()));
  Values in;
  for (ricci_val id : ids) in.push_back({b, id});
  std::vector<ricci_val> results;
  for (const Value& v : f(in)) results.push_back(v.id);
  ricci_program* out = nullptr;
  Check(ricci_builder_finish(b, results.data(), static_cast<uint32_t>(results.size()), &out));
  return Own(out);
}

Values Inline(const ricci_program* f, const Values& in) {
  uint32_t n = 0;
  ricci_program_signature(f, nullptr, nullptr, &n, nullptr);
  std::vector<ricci_val> ids, out(n);
  for (const Value& v : in) ids.push_back(v.id);
  Check(ricci_builder_inline(in[0].builder, f, ids.data(), static_cast<uint32_t>(ids.size()), out.data(), n));
  Values results;
  for (ricci_val id : out) results.push_back({in[0].builder, id});
  return results;
}

ProgramRef Grad(const ricci_program* f, uint32_t n) {
  std::vector<uint32_t> argnums;
  for (uint32_t i = 0; i < n; ++i) argnums.push_back(i);
  ricci_program* out = nullptr;
  Check(ricci_grad(f, argnums.data(), n, /*with_value=*/0, &out));
  return Own(out);
}

ProgramRef Vmap(const ricci_program* f, int64_t size, std::vector<int32_t> in_axes) {
  uint32_t n_in = 0, n_out = 0;
  const ricci_type *params = nullptr, *results = nullptr;
  ricci_program_signature(f, &n_in, &params, &n_out, &results);
  if (in_axes.empty()) in_axes.assign(n_in, 0);
  const std::vector<int32_t> out_axes(n_out, 0);
  ricci_program* out = nullptr;
  Check(ricci_vmap(f, in_axes.data(), n_in, out_axes.data(), n_out, size, nullptr, &out));
  return Own(out);
}

Values Scan(const ricci_program* body, const Values& carry, int64_t length) {
  ricci_program* const held = const_cast<ricci_program*>(body);
  const auto n = static_cast<uint32_t>(carry.size());
  return ricci::EmitN(
      n, "scan", carry,
      {{"body", held}, {"length", length}, {"reverse", false}, {"num_consts", 0}, {"num_carry", n}, {"unroll", 1}});
}

ExecutableRef Compile(const ricci_program* f) {
  ricci_executable* x = nullptr;
  Check(ricci_compile(f, nullptr, &x));
  return {x, ricci_executable_release};
}

Bound::Bound(ricci_ctx* ctx, ExecutableRef executable, const std::vector<std::vector<float>>& inputs)
    : executable_(std::move(executable)), buffers_(inputs), n_inputs_(inputs.size()) {
  uint32_t n_results = 0;
  const ricci_type* results = nullptr;
  ricci_executable_signature(executable_.get(), nullptr, nullptr, &n_results, &results);
  for (uint32_t i = 0; i < n_results; ++i) {
    buffers_.emplace_back(static_cast<size_t>(ricci::ArrayType(ctx, results[i]).elements()));
  }
  ricci_call* call = nullptr;
  ricci::Check(ricci_call_create(executable_.get(), &call));
  call_ = {call, ricci_call_release};
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    ricci::Check(ricci_call_bind(call, i, buffers_[i].data(), buffers_[i].size() * sizeof(float)));
  }
}

double Bound::Check() const {
  double sum = 0;
  for (size_t i = n_inputs_; i < buffers_.size(); ++i) sum += Magnitude(buffers_[i]);
  return sum;
}

double Bound::Bytes() const {
  double bytes = 0;
  for (const std::vector<float>& b : buffers_) bytes += static_cast<double>(b.size() * sizeof(float));
  return bytes;
}

Prepared Ready(ricci_ctx* ctx, const ricci_program* f, const std::vector<std::vector<float>>& inputs, double work) {
  const ExecutableRef executable = Compile(f);
  auto bound = std::make_shared<Bound>(ctx, executable, inputs);
  ricci_executable_stats stats{};
  stats.hdr.size = sizeof stats;
  ricci_executable_info(executable.get(), &stats);
  Prepared p;
  p.run = [bound] { bound->Run(); };
  p.check = [bound] { return bound->Check(); };
  p.work = work;
  p.bytes = bound->Bytes();
  p.flops = static_cast<double>(stats.flops);
  return p;
}

}  // namespace bench
