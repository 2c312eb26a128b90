#include "fuzz/object_job.h"

#include <algorithm>

#include "fuzz/generators.h"
#include "fuzz/program_transforms.h"
#include "ricci/lax.hpp"

namespace ricci::testing {
namespace {

// Words of C and C++, names of their libraries, of what objects hold, of the headers' macros, and usual ones: the tool
// must refuse a name or make an object and a header that work.
constexpr std::string_view kNames[] = {"int",
                                       "class",
                                       "bitand",
                                       "xor_eq",
                                       "thread_local",
                                       "static_assert",
                                       "wchar_t",
                                       "char8_t",
                                       "_Bool",
                                       "typeof",
                                       "co_await",
                                       "typeid",
                                       "sinh",
                                       "expm1f",
                                       "y0",
                                       "abs",
                                       "gamma",
                                       "printf",
                                       "puts",
                                       "strlen",
                                       "time",
                                       "signal",
                                       "main",
                                       "errno",
                                       "stdin",
                                       "INT64_MAX",
                                       "int_fast8_t",
                                       "NULL",
                                       "memcpy",
                                       "cosl",
                                       "lgamma_r",
                                       "workspace",
                                       "in0",
                                       "out0",
                                       "libraries",
                                       "args",
                                       "run",
                                       "failed",
                                       "product0",
                                       "entry",
                                       "ricci_tan",
                                       "task",
                                       "kernel0",
                                       "constant0",
                                       "ricci_cpu_parallel",
                                       "ricci_each_lane1f",
                                       "f_grad",
                                       "linux",
                                       "INT_LEAST8_MIN",
                                       "uint_fast16_t",
                                       "a_WORKSPACE_BYTES",
                                       "final",
                                       "override",
                                       "x",
                                       "_",
                                       "_f",
                                       "A1",
                                       "ricci_digamma",
                                       "ricci_ratio",
                                       "ricci_reduce_sine",
                                       "ricci_cpu_library",
                                       "llvm",
                                       "plan",
                                       "start",
                                       "alloca"};
constexpr std::string_view kProcessors[] = {"native", "native", "native", "x86-64-v2", "x86-64-v3", "x86-64-v4", ""};
constexpr std::string_view kDerivatives[] = {"grad", "jvp", "hvp"};
constexpr double kOddName = 0.12, kDerivative = 0.2, kBatched = 0.25, kOwn = 0.2, kLibrary = 0.2, kSomeWrt = 0.5,
                 kChecked = 0.15, kComplex = 0.12, kBinary = 0.5;

// An object for it runs here.
bool IsHere(std::string_view processor) {
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (processor == "x86-64-v3") return has_v3;
  return processor != "x86-64-v4" || (has_v3 && __builtin_cpu_supports("avx512f") &&
                                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
}

uint32_t Count(const auto& list) { return static_cast<uint32_t>(list.size()); }

bool WantsGradients(const ObjectOptions& options) {
  return std::any_of(options.derivatives.begin(), options.derivatives.end(),
                     [](const std::string& d) { return d != "jvp"; });
}

bool IsPart(const ArrayType& t) { return t.dtype() == DType::kF32 || t.dtype() == DType::kF64; }

// A builder of a program that begins as `p`, with its results.
struct Extended {
  std::unique_ptr<ricci_builder, decltype(&ricci_builder_abandon)> builder{nullptr, ricci_builder_abandon};
  std::vector<ricci_val> params, results;

  // With `complex`, arguments that can be parts of complex numbers are their sums.
  Extended(ricci_ctx* ctx, const Program& p, bool complex = false) : results(ResultsOf(ctx, p.get()).size()) {
    std::vector<ricci_type> types;
    for (const ArrayType& t : ParamsOf(ctx, p.get()))
      types.push_back(complex && IsPart(t) ? t.WithDType(ComplexOf(t.dtype())).id() : t.id());
    params.resize(types.size());
    ricci_builder* b = nullptr;
    Check(ricci_builder_create(ctx, "f", 1, types.data(), Count(types), &b, params.data()));
    builder.reset(b);
    for (ricci_val& v : params) {
      const Value x{b, v};
      if (complex && IsComplex(x.dtype())) v = lax::add(lax::real(x), lax::imag(x)).id;
    }
    Check(ricci_builder_inline(b, p.get(), params.data(), Count(params), results.data(), Count(results)));
  }
  Program Finish() {
    ricci_program* out = nullptr;
    Check(ricci_builder_finish(builder.get(), results.data(), Count(results), &out));
    (void)builder.release();
    return Own(out);
  }
};

// The parameters to differentiate by: those of `--wrt`, or all that are floating.
std::vector<uint32_t> Wanted(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  const std::vector<ArrayType> params = ParamsOf(ctx, p.get());
  std::vector<uint32_t> all, some;
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (!IsFloat(params[i].dtype()) && !IsComplex(params[i].dtype())) continue;
    all.push_back(i);
    if (options.wrt >> (i % 64) & 1) some.push_back(i);
  }
  return some.empty() ? all : some;
}

Program Tangents(ricci_ctx* ctx, const Program& p, const std::vector<uint32_t>& wanted) {
  Mask active(ParamsOf(ctx, p.get()).size(), 0);
  for (uint32_t i : wanted) active[i] = 1;
  return JvpOf(p, active);
}
Program Gradients(const Program& p, const std::vector<uint32_t>& wanted) {
  ricci_program* out = nullptr;
  Check(ricci_grad(p.get(), wanted.data(), Count(wanted), 0, &out));
  return Own(out);
}
// The last `n` results.
Program LastResults(ricci_ctx* ctx, const Program& p, size_t n) {
  std::vector<uint8_t> used(ResultsOf(ctx, p.get()).size(), 0), used_params(ParamsOf(ctx, p.get()).size());
  std::fill(used.end() - static_cast<int64_t>(n), used.end(), uint8_t{1});
  ricci_program* out = nullptr;
  Check(ricci_dce(p.get(), used.data(), Count(used), used_params.data(), &out));
  return Own(out);
}
Program Derivative(ricci_ctx* ctx, const Program& p, const std::string& which, const std::vector<uint32_t>& wanted) {
  if (which == "jvp") return Tangents(ctx, p, wanted);
  const Program gradients = Gradients(p, wanted);
  if (which == "grad") return gradients;
  return LastResults(ctx, Tangents(ctx, gradients, wanted), wanted.size());
}

Program Batched(ricci_ctx* ctx, const Program& p, int64_t size) {
  const std::vector<int32_t> in(ParamsOf(ctx, p.get()).size(), 0), results(ResultsOf(ctx, p.get()).size(), 0);
  ricci_program* out = nullptr;
  Check(ricci_vmap(p.get(), in.data(), Count(in), results.data(), Count(results), size, nullptr, &out));
  return Own(out);
}

Value Sum(const Value& x) {
  Shape axes;
  for (int64_t i = 0; i < x.type().rank(); ++i) axes.push_back(i);
  return axes.empty() ? x : lax::reduce_sum(x, axes);
}

// Results of such programs depend on checks: the first on all of them.
Program WithChecks(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  const Mask floating = FloatingOf(ParamsOf(ctx, p.get()));
  const auto param = std::find(floating.begin(), floating.end(), uint8_t{1});
  if (options.checks.empty() || param == floating.end() || ResultsOf(ctx, p.get()).empty()) return p;
  Extended e(ctx, p);
  const Value x{e.builder.get(), e.params[static_cast<size_t>(param - floating.begin())]};
  const Value sum = lax::convert_element_type(Sum(x), DType::kF64);
  ricci_prim check = 0;
  Check(ricci_prim_find(ctx, "check", 5, &check));
  for (size_t i = 0; i < options.checks.size(); ++i) {
    const std::string message = Text("check ", i, " of the fuzzer");
    const ricci_attr attrs[] = {Attr("code", static_cast<int64_t>(kBrokenPromise)),
                                Attr("message", std::string_view(message))};
    const ricci_val in[] = {lax::lt(sum, lax::full_like(sum, options.checks[i])).id, e.results[0]};
    Check(ricci_builder_emit(e.builder.get(), check, attrs, 2, in, 2, e.results.data(), 1));
  }
  return e.Finish();
}

// For gradients the sum of the first floating result comes first.
Program WithScalarFirst(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  const std::vector<ArrayType> types = ResultsOf(ctx, p.get());
  const auto floating = std::find_if(types.begin(), types.end(), [](const ArrayType& t) { return IsFloat(t.dtype()); });
  if (!WantsGradients(options) || floating == types.end()) return p;
  Extended e(ctx, p);
  const Value x{e.builder.get(), e.results[static_cast<size_t>(floating - types.begin())]};
  e.results.insert(e.results.begin(), Sum(x).id);
  return e.Finish();
}

Program WithComplexNumbers(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  if (!options.complex) return p;
  Extended e(ctx, p, /*complex=*/true);
  const std::vector<ArrayType> types = ResultsOf(ctx, p.get());
  for (size_t i = 0; i < types.size(); ++i) {
    const Value x{e.builder.get(), e.results[i]};
    if (IsPart(types[i])) e.results[i] = lax::complex(x, lax::neg(x)).id;
  }
  return e.Finish();
}

Program Named(ricci_ctx* ctx, const Program& p, const std::string& name) {
  std::string text = PrintProgram(p.get());
  const size_t from = text.find(' ') + 1;
  text.replace(from, text.find('(') - from, name);
  ricci_program* out = nullptr;
  Check(ricci_program_parse(ctx, text.data(), text.size(), "", 0, &out));
  return Own(out);
}

}  // namespace

ObjectOptions SomeObjectOptions(uint64_t seed, std::string_view vmap) {
  Dice dice(seed ^ 0x6f626a65);
  ObjectOptions o;
  o.vmap = vmap;
  o.usual_name = !dice.Chance(kOddName);
  o.name = o.usual_name ? Text("f", seed) : std::string(dice.Pick(kNames));
  for (std::string_view d : kDerivatives) {
    if (dice.Chance(kDerivative)) o.derivatives.emplace_back(d);
  }
  o.wrt = dice.Chance(kSomeWrt) ? dice.Bits() : 0;
  o.batch = dice.Chance(kBatched) ? dice.Between(1, 5) : 0;
  o.processor = dice.Pick(kProcessors);
  if (!IsHere(o.processor)) o.processor = "native";
  o.opt_level = static_cast<uint32_t>(dice.Between(1, 3));
  o.own_workspace = dice.Chance(kOwn);
  o.library = dice.Chance(kLibrary);
  for (int64_t n = dice.Chance(kChecked) ? dice.Between(1, 3) : 0; n > 0; --n) o.checks.push_back(dice.Real(-2, 4));
  o.complex = dice.Chance(kComplex);
  o.binary = dice.Chance(kBinary);
  return o;
}

Program AsWritten(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  return Named(ctx, WithScalarFirst(ctx, WithComplexNumbers(ctx, WithChecks(ctx, p, options), options), options),
               options.name);
}

std::vector<ObjectFunction> ObjectFunctions(ricci_ctx* ctx, const Program& p, const ObjectOptions& options) {
  std::vector<ObjectFunction> out = {{options.name, p}};
  const std::vector<uint32_t> wanted = Wanted(ctx, p, options);
  for (const std::string& d : options.derivatives) {
    out.push_back({options.name + "_" + d, Derivative(ctx, p, d, wanted)});
  }
  for (ObjectFunction& f : out) {
    if (options.batch != 0) f.program = Batched(ctx, f.program, options.batch);
  }
  return out;
}

std::string OptionWords(ricci_ctx* ctx, const Program& written, const ObjectOptions& options) {
  std::string words = Text(" --opt ", options.opt_level, " --config vmap=", options.vmap);
  if (!options.derivatives.empty()) {
    words += " --derivatives ";
    for (const std::string& d : options.derivatives) words += (d == options.derivatives[0] ? "" : ",") + d;
    std::string list;
    for (uint32_t i : Wanted(ctx, written, options)) list += Text(list.empty() ? "" : ",", i);
    if (options.wrt != 0 && !list.empty()) words += " --wrt " + list;
  }
  if (options.batch != 0) words += Text(" --vmap ", options.batch);
  if (options.own_workspace) words += " --workspace own";
  return words;
}

}  // namespace ricci::testing
