// ricci_fuzz: random programs, checked: `ricci_fuzz --seed N --count M`; a failure prints how to repeat it and the
// smallest program found that fails in the same way.
//
// Seed s makes the same program on every machine. Without --seed the base rotates: RICCI_FUZZ_SEED of the environment,
// else the number that the build was given (from the commit).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fuzz/hostile_text.h"
#include "fuzz/jax_comparison.h"
#include "fuzz/kinds.h"
#include "fuzz/object_trials.h"
#include "fuzz/seed_trial.h"

#ifndef RICCI_FUZZ_BASE
#define RICCI_FUZZ_BASE 1
#endif

namespace ricci::testing { namespace {

constexpr double kProgressSeconds = 60;  // between lines of progress

struct Options {
  uint64_t seed = 0;
  bool one = false;      // --seed without --count: exactly this program
  int64_t count = 1000;  // with --against: how many programs must have been compared
  double seconds = 0;    // 0: no limit
  bool coverage = false;
  bool hostile = false;        // texts with hostile integers in place of programs
  std::string write, against;  // case files for JAX, and with its results
  int64_t failures = 5;
  TrialOptions trial;
};

// Rows that are never drawn, each with its reason.
constexpr std::string_view kNotDrawn[] = {
    "custom_linear",  // comes from custom_vjp under jvp
};

// Names of the rows that were never drawn.
std::vector<std::string> NotCovered(const Totals& totals) {
  const Context ctx = MakeContext("auto");
  std::vector<std::string> out;
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(ctx.get(), i, &id); ++i) {
    const std::string name(row->name.ptr, row->name.len);
    if (std::find(std::begin(kNotDrawn), std::end(kNotDrawn), name) != std::end(kNotDrawn)) continue;
    if (!totals.rows.contains(name)) out.push_back(name);
  }
  return out;
}

// What was never drawn: rows, and kinds of programs and runs.
std::vector<std::string> Missing(const Totals& totals, bool draw_only) {
  std::vector<std::string> out = NotCovered(totals);
  if (draw_only) return out;  // many kinds are counted by a run
  for (const std::string& kind : WantedKinds()) {
    if (!totals.draft.kinds.contains(kind)) out.push_back(kind);
  }
  return out;
}

void PrintCounts(const Totals& totals) {
  for (const auto& [name, n] : totals.draft.kinds) std::printf("%s: %lld\n", name.c_str(), static_cast<long long>(n));
  for (const auto& [name, n] : totals.rows)
    std::printf("%-24s in %lld programs\n", name.c_str(), static_cast<long long>(n));
  for (const auto& [name, n] : totals.draft.refused)
    std::printf("%-24s refused %lld times: %s\n", name.c_str(), static_cast<long long>(n),
                totals.draft.refusal.at(name).c_str());
  for (const auto& [message, n] : totals.laws.missing)
    std::printf("rule missing, %lld times: %s\n", static_cast<long long>(n), message.c_str());
}
void PrintTotals(const Totals& totals, double seconds) {
  std::printf(
      "%lld programs (%lld smooth) of %.1f equations, %lld transformed ones, %lld elements compared (%lld decided by "
      "noise), %lld failures, %.1f s\n",
      static_cast<long long>(totals.programs), static_cast<long long>(totals.smooth),
      static_cast<double>(totals.equations) / static_cast<double>(std::max<int64_t>(totals.programs, 1)),
      static_cast<long long>(totals.transformed), static_cast<long long>(totals.checks.compared),
      static_cast<long long>(totals.checks.undecided), static_cast<long long>(totals.failures), seconds);
  for (const auto& [law, n] : totals.laws.held)
    std::printf("law %s: %lld programs\n", law.c_str(), static_cast<long long>(n));
  std::printf("law one rounding: %lld results\n", static_cast<long long>(totals.rounded_once));
  std::printf("laws: %lld elements of loops (%lld decided by noise), %lld of derivatives (%lld undecided)\n",
              static_cast<long long>(totals.laws.loops.compared), static_cast<long long>(totals.laws.loops.undecided),
              static_cast<long long>(totals.laws.elements), static_cast<long long>(totals.laws.undecided));
}

Options Parse(int argc, char** argv) {
  Options o;
  const char* base = std::getenv("RICCI_FUZZ_SEED");
  o.seed = base != nullptr ? std::strtoull(base, nullptr, 10) : RICCI_FUZZ_BASE;
  bool counted = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::strtod(argv[++i], nullptr) : 0.0; };
    if (a == "--seed") {
      o.seed = i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0;
      o.one = true;
    } else if (a == "--count") {
      o.count = static_cast<int64_t>(number());
      counted = true;
    } else if (a == "--seconds") {
      o.seconds = number();
    } else if (a == "--failures") {
      o.failures = static_cast<int64_t>(number());
    } else if (a == "--ways") {
      o.trial.ways = static_cast<int>(number());
    } else if (a == "--verbose") {
      o.trial.verbose = o.trial.objects.verbose = true;
    } else if (a == "--coverage") {
      o.coverage = true;
    } else if (a == "--draw-only") {
      o.trial.draw_only = true;
    } else if (a == "--hostile") {
      o.hostile = true;
    } else if (a == "--write" && i + 1 < argc) {
      o.write = argv[++i];
    } else if (a == "--against" && i + 1 < argc) {
      o.against = argv[++i];
    } else if (a == "--gpu" && i + 1 < argc) {
      o.trial.gpu.driver = argv[++i];
    } else if (a == "--compiler" && i + 1 < argc) {
      o.trial.gpu.compiler = argv[++i];
    } else if (a == "--objects" && i + 1 < argc) {
      o.trial.objects.path = std::filesystem::absolute(argv[++i]);
    } else if (a == "--aarch64") {
      o.trial.objects.aarch64 = true;
    } else if (a == "--no-shrink") {
      o.trial.shrink = false;
    } else {
      std::fprintf(
          stderr,
          "ricci_fuzz [--seed N] [--count N] [--seconds S] [--failures N] [--coverage] [--draw-only] "
          "[--hostile] [--write FILE] [--against FILE] [--gpu DRIVER [--compiler NVRTC]] [--objects TOOL [--aarch64]] "
          "[--ways N] [--verbose] [--no-shrink]\n");
      std::exit(2);
    }
  }
  if (o.one && !counted) o.count = 1;
  return o;
}

// Texts with hostile integers; some must still be programs, or the test shows nothing.
int RunHostile(const Options& options, const std::function<double()>& taken) {
  HostileTotals totals;
  for (int64_t i = 0; i < options.count && totals.failures < options.failures; ++i) {
    if (options.seconds > 0 && taken() > options.seconds) break;
    TryHostileText(options.seed + static_cast<uint64_t>(i), options.trial, totals);
  }
  PrintHostileTotals(totals);
  return totals.failures != 0 || (totals.texts >= 100 && totals.accepted * 20 < totals.texts) ? 1 : 0;
}

// Programs compiled ahead of time.
int RunObjects(const Options& options, const std::function<double()>& taken) {
  ObjectTotals totals;
  const auto stop = [&] { return options.seconds > 0 && taken() > options.seconds; };
  TryObjects(options.seed, options.count, options.failures, options.trial, stop, totals);
  PrintObjectTotals(totals, taken());
  const bool few = totals.counts.programs >= 100 && totals.counts.functions * 2 < totals.counts.programs;
  if (few) std::printf("too few functions were compared; it must be one for two programs\n");
  return totals.trials.failures != 0 || few ? 1 : 0;
}

// Programs for JAX, or what it gives for them.
int RunWithJax(const Options& options) {
  if (!options.write.empty()) return WriteForJax(options.seed, options.count, options.trial, options.write), 0;
  const JaxTotals totals = CompareWithJax(options.against, options.trial);
  std::printf(
      "%lld programs compared with JAX, %lld end with an error, %lld elements (%lld decided by noise), %lld "
      "failures\n",
      static_cast<long long>(totals.compared), static_cast<long long>(totals.ended),
      static_cast<long long>(totals.checks.compared), static_cast<long long>(totals.checks.undecided),
      static_cast<long long>(totals.failures));
  const int64_t least = std::max<int64_t>(options.count, 1);
  if (totals.compared < least) std::printf("too few were compared; it must be %lld\n", static_cast<long long>(least));
  return totals.failures != 0 || totals.compared < least ? 1 : 0;
}

// Prints a line of progress from time to time.
void RunSeeds(const Options& options, const std::function<double()>& taken, Totals& totals) {
  const Context kept = KeptGpu(options.trial.gpu);
  double next_line = kProgressSeconds;
  for (int64_t i = 0; i < options.count && totals.failures < options.failures; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    if (options.seconds > 0 && taken() > options.seconds) break;
    if (taken() > next_line) {
      next_line = taken() + kProgressSeconds;
      std::printf("seed %llu: %lld of %lld programs, %lld failures, %.0f s\n", static_cast<unsigned long long>(seed),
                  static_cast<long long>(i), static_cast<long long>(options.count),
                  static_cast<long long>(totals.failures), taken());
      std::fflush(stdout);
    }
    Trial(seed, options.trial, totals).Run();
  }
  if (totals.checks.calls > 0) totals.draft.kinds["call of a function of the host"] = totals.checks.calls;
  if (totals.checks.calls_elsewhere > 0)
    totals.draft.kinds["call of the host by a device whose memory it cannot see"] = totals.checks.calls_elsewhere;
  if (totals.checks.late > 0) totals.draft.kinds["runs on devices with time of their own"] = totals.checks.late;
  if (totals.checks.in_place > 0)
    totals.draft.kinds["result in the memory of a donated argument"] = totals.checks.in_place;
}

int Main(int argc, char** argv) {
  Options options = Parse(argc, argv);
  Totals totals;
#ifdef RICCI_TEST_CPU
  options.trial.devices = {"cpu"};
#endif
  if (!options.trial.gpu.empty()) options.trial.devices = {"cuda"};
  if (!options.write.empty() || !options.against.empty()) return RunWithJax(options);
  std::printf("seeds from %llu, %lld programs\n", static_cast<unsigned long long>(options.seed),
              static_cast<long long>(options.count));
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const auto taken = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  if (options.hostile) return RunHostile(options, taken);
  if (!options.trial.objects.empty()) return RunObjects(options, taken);
  RunSeeds(options, taken, totals);
  const std::vector<std::string> missing =
      options.coverage ? Missing(totals, options.trial.draw_only) : std::vector<std::string>();
  for (const std::string& name : missing) std::printf("never drawn: %s\n", name.c_str());
  if (options.coverage) PrintCounts(totals);
  PrintTotals(totals, taken());
  return totals.failures != 0 || !missing.empty() ? 1 : 0;
}

}  // namespace
}  // namespace ricci::testing

int main(int argc, char** argv) { return ricci::testing::Main(argc, argv); }
