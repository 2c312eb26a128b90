// The cost of a call: tiny programs through a bound call, through array handles and through jit of the C++ binding.
#include "bench_program.h"
#include "ricci/jit.hpp"
#include "ricci/operators.hpp"

namespace bench {
namespace {

using ricci::Value;
using ricci::Values;

constexpr int64_t kElements = 4;

ProgramRef Twice(ricci_ctx* ctx) {
  return Trace(ctx, {{{kElements}}},
               [](const Values& in) { return Values{ricci::lax::add(ricci::lax::mul(in[0], 2.0), 1.0)}; });
}

Prepared Call32(ricci_ctx* ctx) {
  const std::vector<Param> params(32, Param{{kElements}});
  const ProgramRef f = Trace(ctx, params, [](const Values& in) {
    Values out;
    for (const Value& v : in) out.push_back(ricci::lax::add(v, 1.0));
    return out;
  });
  std::vector<std::vector<float>> inputs;
  for (uint32_t i = 0; i < 32; ++i) inputs.push_back(Uniform(kElements, i));
  return Ready(ctx, f.get(), inputs);
}

// A new array for every result, as ricci_executable_run gives it.
Prepared Handles(ricci_ctx* ctx) {
  const ExecutableRef x = Compile(Twice(ctx).get());
  const std::vector<float> data = Uniform(kElements);
  const ricci::ArrayType type = ricci::ArrayType::Make(ctx, ricci::DType::kF32, ricci::Shape{kElements});
  ricci_array* a = nullptr;
  ricci::Check(ricci_array_from_host(ricci_device_get(ctx, 0), type.id(), data.data(), nullptr, &a));
  const std::shared_ptr<ricci_array> in(a, ricci_array_release);
  const auto run = [x, in]() -> std::shared_ptr<ricci_array> {
    ricci_array *operand = in.get(), *out = nullptr;
    ricci::Check(ricci_executable_run(x.get(), &operand, 1, &out, 1, nullptr));
    return {out, ricci_array_release};
  };
  Prepared p;
  p.run = [x, in] {
    ricci_array *operand = in.get(), *out = nullptr;
    ricci::Check(ricci_executable_run(x.get(), &operand, 1, &out, 1, nullptr));
    ricci_array_release(out);
  };
  p.check = [run] { return Magnitude(static_cast<const float*>(ricci_array_data(run().get())), kElements); };
  return p;
}

// jit(f)(x) of the binding: the lookup by types, the run, a new Array.
Prepared Binding(ricci_ctx* ctx) {
  const auto f = ricci::jit([](Value x) { return x * 2.0 + 1.0; });
  const ricci::Array in(ricci::Context(ctx), Uniform(kElements));
  Prepared p;
  p.run = [f, in] { f(in); };
  p.check = [f, in] { return Magnitude(f(in).to_vector<float>()); };
  return p;
}

}  // namespace

std::vector<Case> CallCases(ricci_ctx* ctx) {
  return {
      {"call4", "us", [=](const Settings&) { return Ready(ctx, Twice(ctx).get(), {Uniform(kElements)}); }},
      {"call4_handles", "us", [=](const Settings&) { return Handles(ctx); }},
      {"call_cpp", "us", [=](const Settings&) { return Binding(ctx); }},
      {"call32", "us", [=](const Settings&) { return Call32(ctx); }},
  };
}

}  // namespace bench
