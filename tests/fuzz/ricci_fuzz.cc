// ricci_fuzz: random programs, checked: `ricci_fuzz --seed N --count M`; a failure prints how to repeat it and the
// smallest program found that fails in the same way.
//
// Seed s makes the same program on every machine. Without --seed the base rotates: RICCI_FUZZ_SEED of the environment,
// else the number that the build was given (from the commit).
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "fuzz/generators.h"
#include "fuzz/shrink.h"
#include "fuzz/variation.h"

#ifndef RICCI_FUZZ_BASE
#define RICCI_FUZZ_BASE 1
#endif

namespace ricci::testing {
namespace {

struct Options {
  uint64_t seed = 0;
  bool one = false;  // --seed: exactly this program
  int64_t count = 1000;
  double seconds = 0;  // 0: no limit
  bool verbose = false, coverage = false, shrink = true;
  int64_t failures = 5;
};

struct Totals {
  int64_t programs = 0, transformed = 0, laws = 0, equations = 0, failures = 0;
  CheckOptions checks;
  DraftCounts draft;
};

using Context = std::shared_ptr<ricci_ctx>;
// `vmap`: auto, batched or lanes.
Context MakeContext(std::string_view vmap) {
  ricci_ctx* raw = nullptr;
  Check(ricci_context_create(nullptr, &raw));
  Context ctx(raw, ricci_context_release);
  Check(ricci_context_add_plugin(raw, ricci_plugin_query_lax));
#ifdef RICCI_TEST_CPU
  Check(ricci_context_add_plugin(raw, ricci_plugin_query_cpu));
#endif
  Check(ricci_context_config(raw, "vmap", 4, vmap.data(), vmap.size()));
  Check(ricci_context_config(raw, "threads", 7, "2", 1));
  return ctx;
}

Palette PaletteOf(Dice& dice) {
  Palette p;
  if (dice.Chance(0.4)) p.dtypes = SetOf(DType::kF32) | SetOf(DType::kI32) | SetOf(DType::kBool);
  p.special = dice.Chance(0.5);
  if (dice.Chance(0.03)) p.max_elements = 1 << 14;
  return p;
}
int64_t SizeOfProgram(Dice& dice) {
  const int64_t roll = dice.Below(20);
  if (roll < 10) return dice.Between(1, 6);
  return roll < 18 ? dice.Between(4, 20) : dice.Between(20, 60);
}
Values ResultsOfDraft(Draft& d) {
  Values out;
  for (int64_t n = d.dice().Between(1, 4); n > 0; --n) {
    const Value v = d.Find(kAny, {});
    if (!v.is_none()) out.push_back(v);
  }
  return out;
}

// The program of a seed.
Program MakeProgram(const Context& ctx, Dice& dice, const Palette& palette, int64_t size, DraftCounts& counts) {
  Draft d(ctx.get(), dice, palette, counts);
  d.Grow(size);
  Values results = ResultsOfDraft(d);
  if (results.empty()) results.push_back(d.Fresh(d.Type(DType::kF32, {})));
  return d.Finish(results);
}

class Run {
 public:
  Run(const Options& options, Totals& totals) : options_(options), totals_(totals) {}

  void One(uint64_t seed) {
    constexpr std::string_view kModes[] = {"auto", "auto", "batched", "lanes"};
    Dice dice(seed);
    mode_ = dice.Pick(kModes);
    const Context ctx = MakeContext(mode_);
    seed_ = seed;
    const Palette palette = PaletteOf(dice);
    special_ = palette.special;
    Program p;
    try {
      p = MakeProgram(ctx, dice, palette, SizeOfProgram(dice), totals_.draft);
    } catch (const Error& e) {
      return Report(ctx, nullptr, Text("generation: ", e.message()));
    }
    if (options_.verbose)
      std::printf("// seed %llu, vmap %s\n%s", static_cast<unsigned long long>(seed), std::string(mode_).c_str(),
                  PrintProgram(p.get()).c_str());
    if (options_.verbose) std::fflush(stdout);
    ++totals_.programs;
    totals_.equations += ricci_program_equation_count(p.get());
    if (CheckOne(ctx, p)) return;
    const Variation variation = SomeVariation(ctx.get(), dice, p);
    if (variation.complaint) return Report(ctx, p, *variation.complaint);
    if (variation.program == nullptr) return;
    if (options_.verbose)
      std::printf("// %s\n%s", variation.name.c_str(), PrintProgram(variation.program.get()).c_str());
    ++totals_.transformed;
    CheckOne(ctx, variation.program);
  }

 private:
  // Whether it failed.
  bool CheckOne(const Context& ctx, const Program& p) {
    const Complaint c = Verdict(ctx, p, totals_.checks);
    if (c) Report(ctx, p, *c);
    return c.has_value();
  }
  Complaint Verdict(const Context& ctx, const Program& p, CheckOptions& checks) {
    return CheckProgram(ctx.get(), p, DrawInputs(ctx.get(), p.get(), seed_, special_), checks);
  }
  // Which part complains: `cpu`, `passes`, `parse`, and the kind of error.
  static std::string KindOf(const Complaint& c) { return c->substr(0, c->find_first_of(":(0123456789")); }

  void Report(const Context& ctx, Program p, const std::string& complaint) {
    ++totals_.failures;
    const auto seed = static_cast<unsigned long long>(seed_);
    std::printf("\nFAILED seed %llu: %s\nrepeat: build/tests/fuzz/ricci_fuzz --seed %llu\n", seed, complaint.c_str(),
                seed);
    std::fflush(stdout);
    if (p == nullptr || !options_.shrink) return;
    std::string last = complaint;
    const auto fails = [&](const Program& candidate) {
      CheckOptions checks = totals_.checks;
      const Complaint c = Verdict(ctx, candidate, checks);
      if (!c || KindOf(c) != KindOf(complaint)) return false;
      last = *c;
      return true;
    };
    p = Shrink(ctx.get(), p, fails, 2000);
    std::printf("smallest program found (vmap %s): %s\n%s", std::string(mode_).c_str(), last.c_str(),
                PrintProgram(p.get()).c_str());
    const std::vector<Bytes> inputs = DrawInputs(ctx.get(), p.get(), seed_, special_);
    const std::vector<ArrayType> types = ParamsOf(ctx.get(), p.get());
    std::printf("replay it: ricci run --device cpu");
    for (size_t i = 0; i < types.size(); ++i)
      std::printf(" --input '%zu=%s'", i, ArrayText(types[i], inputs[i]).c_str());
    std::printf(" FILE\n");
    std::fflush(stdout);
  }

  const Options& options_;
  Totals& totals_;
  uint64_t seed_ = 0;
  bool special_ = false;
  std::string_view mode_;
};

// Rows that no program can hold by itself, each for a reason.
constexpr std::string_view kNotDrawn[] = {
    "fusion",         // made by the compiler
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
    if (!totals.draft.emitted.contains(name)) out.push_back(name);
  }
  return out;
}

void PrintCounts(const Totals& totals) {
  for (const auto& [name, n] : totals.draft.emitted) {
    const auto refused = totals.draft.refused.find(name);
    std::printf("%-24s %7lld drawn %7lld refused %s\n", name.c_str(), static_cast<long long>(n),
                static_cast<long long>(refused == totals.draft.refused.end() ? 0 : refused->second),
                refused == totals.draft.refused.end() ? "" : totals.draft.refusal.at(name).c_str());
  }
}

Options Parse(int argc, char** argv) {
  Options o;
  const char* base = std::getenv("RICCI_FUZZ_SEED");
  o.seed = base != nullptr ? std::strtoull(base, nullptr, 10) : RICCI_FUZZ_BASE;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::strtod(argv[++i], nullptr) : 0.0; };
    if (a == "--seed") {
      o.seed = i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0;
      o.one = true;
    } else if (a == "--count") {
      o.count = static_cast<int64_t>(number());
      o.one = false;
    } else if (a == "--seconds") {
      o.seconds = number();
    } else if (a == "--failures") {
      o.failures = static_cast<int64_t>(number());
    } else if (a == "--verbose") {
      o.verbose = true;
    } else if (a == "--coverage") {
      o.coverage = true;
    } else if (a == "--no-shrink") {
      o.shrink = false;
    } else {
      std::fprintf(
          stderr,
          "ricci_fuzz [--seed N] [--count N] [--seconds S] [--failures N] [--coverage] [--verbose] [--no-shrink]\n");
      std::exit(2);
    }
  }
  if (o.one) o.count = 1;
  return o;
}

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  Totals totals;
#ifndef RICCI_TEST_CPU
  totals.checks.devices.clear();
#endif
  std::printf("seeds from %llu, %lld programs\n", static_cast<unsigned long long>(options.seed),
              static_cast<long long>(options.count));
  const auto start = std::chrono::steady_clock::now();
  const auto taken = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Run run(options, totals);
  for (int64_t i = 0; i < options.count && totals.failures < options.failures; ++i) {
    if (options.seconds > 0 && taken() > options.seconds) break;
    run.One(options.seed + static_cast<uint64_t>(i));
  }
  const std::vector<std::string> missing = options.coverage ? NotCovered(totals) : std::vector<std::string>();
  for (const std::string& name : missing) std::printf("never drawn: %s\n", name.c_str());
  if (options.verbose || options.coverage) PrintCounts(totals);
  std::printf(
      "%lld programs of %.1f equations, %lld transformed ones, %lld elements compared (%lld decided by noise), %lld "
      "failures, %.1f s\n",
      static_cast<long long>(totals.programs),
      static_cast<double>(totals.equations) / static_cast<double>(std::max<int64_t>(totals.programs, 1)),
      static_cast<long long>(totals.transformed), static_cast<long long>(totals.checks.comparisons),
      static_cast<long long>(totals.checks.skipped), static_cast<long long>(totals.failures), taken());
  return totals.failures != 0 || !missing.empty() ? 1 : 0;
}

}  // namespace
}  // namespace ricci::testing

int main(int argc, char** argv) { return ricci::testing::Main(argc, argv); }
