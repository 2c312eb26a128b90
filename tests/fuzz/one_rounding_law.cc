#include "fuzz/one_rounding_law.h"

#include <cmath>
#include <cstring>

#include "fuzz/program_transforms.h"
#include "ir/walk.h"
#include "kernel/scalar/scalar_float.h"
#include "prim/registry.h"
#include "types/dtype.h"

namespace ricci::testing {
namespace {

// Rows with loops (and one with a decomposition) that move or choose elements, or compute each by itself.
constexpr std::string_view kEachByItself[] = {"sort",
                                              "argmax",
                                              "argmin",
                                              "reduce_max",
                                              "reduce_min",
                                              "reduce_and",
                                              "reduce_or",
                                              "reduce_xor",
                                              "cummax",
                                              "cummin",
                                              "top_k",
                                              "scatter",
                                              "scatter-min",
                                              "scatter-max",
                                              "dynamic_update_slice",
                                              "check",
                                              "igamma",
                                              "igammac",
                                              "igamma_grad_a",
                                              "random_gamma_grad",
                                              "zeta",
                                              "polygamma",
                                              "regularized_incomplete_beta",
                                              "bessel_i0e",
                                              "bessel_i1e",
                                              "platform_index"};

bool HoldsPrograms(const ir::Equation& eqn) {
  return std::ranges::any_of(eqn.attrs, [](const ricci_attr& a) { return !ir::Programs(a).empty(); });
}

// Its own work, apart from the programs that it holds.
bool IsExact(const ir::Program& f, const ir::Equation& eqn) {
  const prim::Row& row = prim::Registry::Of(f).Get(eqn.prim);
  if (HoldsPrograms(eqn) && row.name != "reduce" && !row.name.starts_with("reduce_window")) return true;
  const auto inexact = [&](ir::ValueId v) { return IsInexact(static_cast<DType>(f.type(v).dtype)); };
  if (std::ranges::none_of(eqn.operands, inexact)) return true;
  if (std::ranges::find(kEachByItself, row.name) != std::end(kEachByItself)) return true;
  return std::ranges::all_of(row.lowerings, [](const ricci_lowering& l) {
    return l.kind == RICCI_LOWER_SCALAR || l.kind == RICCI_LOWER_INDEX;
  });
}

// Of equations that hold programs it is not known which of their results a sum in them goes into: all.
bool IsExactThroughout(const ir::Program& f, const ir::Equation& eqn) {
  if (!IsExact(f, eqn)) return false;
  for (const ricci_attr& a : eqn.attrs) {
    for (const ricci_program* held : ir::Programs(a)) {
      for (const ir::Program* g : ir::NestedFirst(*ir::FromAbi(held))) {
        if (!std::ranges::all_of(g->equations, [&](const ir::Equation& e) { return IsExact(*g, e); })) return false;
      }
    }
  }
  return true;
}

// How a program is compiled.
struct Way {
  std::string_view vmap, skip = "";
  uint32_t level = 0;
  bool small_code = false;
  int64_t batch = 0;  // of so many equal elements; 0: alone

  std::string ToText(bool on_gpu) const {
    return Text(on_gpu ? "on cuda" : "on cpu", " with vmap ", vmap, ", without `", skip, "`, level ", level,
                small_code ? ", short functions" : "", ", batch ", batch);
  }
};
constexpr Way kWays[] = {{"batched"},
                         {"lanes"},
                         {"auto"},
                         {"auto", "fuse"},
                         {"lanes", "fuse"},
                         {"batched", "fuse"},
                         {"auto", "hoist"},
                         {"lanes", "hoist,cse_again"},
                         {"auto", "schedule_loops"},
                         {"auto", "fold_again,simplify_again"},
                         {"auto", "", 1},
                         {"auto", "", 3},
                         {"lanes", "", 1},
                         {"auto", "", 0, true},
                         {"lanes", "", 0, true},
                         {"batched", "fuse", 0, true},
                         // Vectors and their tails.
                         {"lanes", "", 0, false, 5},
                         {"lanes", "", 0, false, 64},
                         {"batched", "", 0, false, 17},
                         {"auto", "", 0, false, 17}};

std::vector<Bytes> Repeated(const std::vector<Bytes>& arrays, int64_t times) {
  std::vector<Bytes> out(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    for (int64_t n = 0; n < times; ++n) out[i].insert(out[i].end(), arrays[i].begin(), arrays[i].end());
  }
  return out;
}

// A batch gives the results of all its elements in sequence.
RunResult RunIn(const Way& way, const std::string& text, std::vector<Bytes> inputs, const GpuLibraries& gpu = {}) {
  const Context ctx = MakeContext(way.vmap, way.small_code, /*late=*/nullptr, gpu);
  ricci_program* raw = nullptr;
  Check(ricci_program_parse(ctx.get(), text.data(), text.size(), "rounding", 8, &raw));
  Program p = Own(raw);
  if (way.batch != 0) {
    p = VmapOf(p, BatchAxes(inputs.size(), 0), BatchAxes(ResultsOf(ctx.get(), raw).size(), 0), way.batch);
    inputs = Repeated(inputs, way.batch);
  }
  return Compiled(ctx.get(), p.get(), gpu.empty() ? "cpu" : "cuda", /*donate=*/0, way.level, way.skip).Run(inputs);
}

// The same; nothing if the program has no batch.
std::optional<RunResult> RunIfPossible(const Way& way, const std::string& text, const std::vector<Bytes>& inputs,
                                       const GpuLibraries& gpu) {
  if (way.batch != 0 && inputs.empty()) return {};
  try {
    return RunIn(way, text, inputs, gpu);
  } catch (const Error& e) {
    if (way.batch == 0 || !MayBeRefused(e)) throw;
    return {};
  }
}

double Number(uint32_t dtype, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, types::Info(dtype).size);
  return types::IsFloating(dtype) ? kernel::DecodeFloat(dtype, bits) : static_cast<double>(bits);
}

// Equal bits, or both NaN, or zeros: the sign of a zero is not specified. Complex numbers are compared by parts. Each
// element of a batch in `b` is compared with `a`.
Complaint Compare(const ArrayType& type, const Bytes& a, const Bytes& b) {
  const uint32_t part = types::PartOf(static_cast<uint32_t>(type.dtype())), size = types::Info(part).size;
  for (size_t at = 0; at < b.size(); at += size) {
    const std::byte* const alone = &a[at % a.size()];
    if (std::memcmp(alone, &b[at], size) == 0) continue;
    const double x = Number(part, alone), y = Number(part, &b[at]);
    if (types::IsFloating(part) && (x == y || (std::isnan(x) && std::isnan(y)))) continue;
    return Text("number ", at / size, " is ", y, ", but ", x);
  }
  return {};
}

}  // namespace

std::vector<uint8_t> HaveOneRounding(const Program& p) {
  const ir::Program& f = *ir::FromAbi(p.get());
  std::vector<uint8_t> exact(f.values.size(), 1);
  for (const ir::Equation& eqn : f.equations) {
    const bool operands = std::ranges::all_of(eqn.operands, [&](ir::ValueId v) { return exact[v] != 0; });
    const bool all = operands && IsExactThroughout(f, eqn);
    for (uint32_t i = 0; i < eqn.n_results; ++i) exact[eqn.result(i)] = all;
  }
  std::vector<uint8_t> out;
  for (const ir::ValueId r : f.results) out.push_back(exact[r]);
  return out;
}

Complaint CheckOneRounding(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, std::string_view vmap,
                           uint64_t seed, const TrialOptions& options, int64_t& compared) {
  const std::vector<uint8_t> have = HaveOneRounding(p);
  if (std::ranges::none_of(have, [](uint8_t h) { return h != 0; })) return {};
  const std::string text = PrintProgram(p.get());
  const RunResult first = RunIn({vmap}, text, inputs);
  if (first.error) return {};  // the other checks judge that
  const std::vector<ArrayType> types = ResultsOf(ctx, p.get());
  compared += std::ranges::count(have, 1);
  Dice dice(seed ^ 0x726f756e);
  const bool on_gpu = !options.gpu.empty();
  for (int n = 0; n < (on_gpu ? 1 : options.ways); ++n) {
    const Way way = on_gpu ? Way{vmap} : dice.Pick(kWays);
    const std::optional<RunResult> other = RunIfPossible(way, text, inputs, options.gpu);
    if (!other || other->error) continue;
    for (size_t i = 0; i < have.size(); ++i) {
      const Complaint c = have[i] != 0 ? Compare(types[i], first.arrays[i], other->arrays[i]) : Complaint();
      if (c) return Text("rounding: result ", i, " ", way.ToText(on_gpu), ": ", *c, " on cpu with vmap ", vmap);
    }
  }
  return {};
}

}  // namespace ricci::testing
