#include "fuzz/jax_comparison.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fuzz/variation.h"
#include "ir/program.h"
#include "jax/replay_case.h"
#include "ricci/float_format.h"

namespace ricci::testing {
namespace {

// A program as JAX gets it, and what runs here.
struct JaxCase {
  Program given, runs;
  std::string transform;  // a line of the case file; empty: all values are results
  size_t left_out = 0;    // leading results of JAX that `runs` does not have
};

std::string Numbers(const auto& list) {
  std::string out;
  for (auto v : list) out += Text(" ", static_cast<int64_t>(v));
  return out;
}

// The same program with the results of all its equations as results.
Program WithAllValues(ricci_ctx* ctx, const Program& p) {
  std::string text = PrintProgram(p.get()), names;
  for (const ir::Equation& eqn : ir::FromAbi(p.get())->equations) {
    for (uint32_t i = 0; i < eqn.n_results; ++i) names += Text(names.empty() ? " %" : ", %", eqn.result(i));
  }
  const size_t at = text.rfind("\n  return") + 9, end = text.find('\n', at);
  text.replace(at, end - at, names);
  ricci_program* raw = nullptr;
  Check(ricci_program_parse(ctx, text.data(), text.size(), "", 0, &raw));
  return Own(raw);
}

std::optional<JaxCase> Transformed(ricci_ctx* ctx, const Program& p, Dice& dice) {
  const std::vector<ArrayType> params = ParamsOf(ctx, p.get()), results = ResultsOf(ctx, p.get());
  const int64_t roll = dice.Below(3);
  if (roll == 2) {
    const BatchAxes in = SomeInAxes(dice, params), out = SomeOutAxes(dice, results);
    return JaxCase{p, VmapOf(p, in, out), Text("vmap ", kBatch, " in", Numbers(in), " out", Numbers(out)), 0};
  }
  const Mask active = SomeFloating(dice, params);
  if (active.empty()) return {};
  if (roll == 0) return JaxCase{p, JvpOf(WithoutCustomVjp(p), active), "jvp" + Numbers(active), 0};
  return JaxCase{p, BackwardOf(ctx, p, active), "vjp" + Numbers(active), results.size()};
}

// Drawn only from the seed, so that comparing finds what was written.
JaxCase CaseOf(Trial& trial, uint64_t seed) {
  const Program p = trial.Draw();
  Dice dice(seed ^ 0x6a6178);
  if (dice.Chance(0.5)) {
    try {
      if (auto c = Transformed(trial.context(), p, dice)) return *c;
    } catch (const Error& e) {
      if (!MayBeRefused(e)) throw;
    }
  }
  const Program all = WithAllValues(trial.context(), p);
  return {all, all, "", 0};
}

void WriteCase(std::ofstream& out, ricci_ctx* ctx, uint64_t seed, const JaxCase& c, const std::vector<Bytes>& inputs) {
  const std::string text = PrintProgram(c.given.get());
  out << "case " << seed << "\nprogram " << text.size() << '\n' << text;
  if (!c.transform.empty()) out << c.transform << '\n';
  const std::vector<ArrayType> types = ParamsOf(ctx, c.runs.get());
  for (size_t i = 0; i < inputs.size(); ++i) {
    out << "input " << Text(types[i]) << ' ' << inputs[i].size() << '\n';
    out.write(reinterpret_cast<const char*>(inputs[i].data()), static_cast<std::streamsize>(inputs[i].size())) << '\n';
  }
  out << "end\n";
}

// The arrays of JAX, or why they are not results of the program.
RunResult ArraysOf(const replay::Case& c, const JaxCase& jax, const std::vector<ArrayType>& types) {
  if (c.results.size() != types.size() + jax.left_out)
    return {{}, Text(c.results.size(), " results, not ", types.size() + jax.left_out), 0};
  RunResult out;
  for (size_t i = 0; i < types.size(); ++i) {
    const replay::Array& a = c.results[i + jax.left_out];
    const std::string type = replay::TypeText(a.dtype, a.dims);
    if (type != Text(types[i])) return {{}, Text("result ", i, " is ", type, ", it must be ", types[i]), 0};
    const uint64_t wanted = static_cast<uint64_t>(types[i].elements()) * ricci_dtype_size(a.dtype);
    if (a.bytes.size() != wanted) return {{}, Text("result ", i, " has ", a.bytes.size(), " bytes, not ", wanted), 0};
    const auto* bytes = reinterpret_cast<const std::byte*>(a.bytes.data());
    out.arrays.emplace_back(bytes, bytes + a.bytes.size());
  }
  return out;
}

// XLA's code for processors takes subnormal numbers for zeros, also on the way, as in 2 atan2(x, 1 + sqrt(1 - x^2)):
// where it has a zero, and the number is subnormal or almost, they agree.
void AcceptZeros(RunResult& got, const RunResult& want, const std::vector<ArrayType>& types) {
  for (size_t i = 0; i < got.arrays.size(); ++i) {
    const auto dtype = static_cast<uint32_t>(types[i].dtype());
    uint32_t part = dtype;
    if (dtype == RICCI_C64) part = RICCI_F32;
    if (dtype == RICCI_C128) part = RICCI_F64;
    if (part != RICCI_BF16 && part != RICCI_F32 && part != RICCI_F64) continue;
    const ricci_float_format format = ricci_float_format_of(part);
    const size_t size = ricci_dtype_size(part);
    for (size_t at = 0; at < got.arrays[i].size(); at += size) {
      uint64_t ours = 0, theirs = 0;
      std::memcpy(&ours, want.arrays[i].data() + at, size);
      std::memcpy(&theirs, got.arrays[i].data() + at, size);
      const uint64_t magnitude = ours & ~format.sign, four_times_smallest = uint64_t{3} << format.mantissa_bits;
      if ((theirs & ~format.sign) != 0 || magnitude >= four_times_smallest) continue;
      std::memcpy(got.arrays[i].data() + at, &ours, size);
    }
  }
}

void CompareCase(const replay::Case& c, const TrialOptions& options, JaxTotals& totals) {
  const uint64_t seed = std::stoull(c.name);
  Totals drawn;
  Trial trial(seed, options, drawn);
  const JaxCase jax = CaseOf(trial, seed);
  ++totals.programs;
  Reference reference(trial.context(), jax.runs, trial.Inputs(jax.runs), totals.checks, Rounding::kJax);
  if (reference.want().error) return void(++totals.ended);
  ++totals.compared;
  const std::vector<ArrayType> types = ResultsOf(trial.context(), jax.runs.get());
  RunResult got = ArraysOf(c, jax, types);
  AcceptZeros(got, reference.want(), types);
  const Complaint complaint = reference.Compare(got, "JAX");
  if (!complaint) return;
  ++totals.failures;
  std::printf(
      "\nFAILED seed %s %s: %s\nrepeat: python tests/fuzz/against_jax.py build/tests/fuzz/ricci_fuzz --seed %s\n",
      c.name.c_str(), jax.transform.c_str(), complaint->c_str(), c.name.c_str());
  if (options.verbose) std::printf("%s", PrintProgram(jax.runs.get()).c_str());
  std::fflush(stdout);
}

}  // namespace

void WriteForJax(uint64_t seed, int64_t count, const TrialOptions& options, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  for (int64_t i = 0; i < count; ++i, ++seed) {
    Totals drawn;
    Trial trial(seed, options, drawn);
    const JaxCase c = CaseOf(trial, seed);
    WriteCase(out, trial.context(), seed, c, trial.Inputs(c.runs));
  }
}

JaxTotals CompareWithJax(const std::string& path, const TrialOptions& options) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string error;
  JaxTotals totals;
  for (const replay::Case& c : replay::ReadCases(text, error)) CompareCase(c, options, totals);
  if (!error.empty()) std::printf("%s: %s\n", path.c_str(), error.c_str());
  totals.failures += !error.empty();
  return totals;
}

}  // namespace ricci::testing
