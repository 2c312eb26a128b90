// How well `vmap` is scheduled: each example at several batch sizes as `auto`, `batched` and `lanes`, side by side on
// one thread. Prints a Markdown table of times, the ratios of auto to the better one, and both means.
//
//   ricci_schedules [--small] [--explain] [--only TEXT] [--dump DIR]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "schedule_programs.h"

namespace bench { namespace {

constexpr const char* kModes[] = {"auto", "batched", "lanes"};
constexpr int64_t kBatches[] = {3, 16, 17, 256};
constexpr double kShortest = 20e-6;  // seconds; below this, calls and the clock would be measured

struct Arguments {
  bool small = false, explain = false;
  std::string_view only, dump;
};

ContextRef ContextOf(const char* mode, std::string_view dump) {
  ContextRef ctx = MakeContext();
  const auto set = [&](std::string_view key, std::string_view value) {
    ricci::Check(ricci_context_config(ctx.get(), key.data(), key.size(), value.data(), value.size()));
  };
  set("vmap", mode);
  set("threads", "1");
  if (!dump.empty()) set("dump_dir", dump);
  return ctx;
}

ProgramRef MappedProgram(ricci_ctx* ctx, const Example& e, int64_t batch) {
  ProgramRef f = Trace(ctx, e.params, e.f);
  if (e.grad != 0) f = Grad(f.get(), e.grad);
  std::vector<int32_t> in_axes;
  for (const bool own : e.own) in_axes.push_back(own ? 0 : -1);
  return Vmap(f.get(), batch, in_axes);
}

// Small values, so that chains of products stay finite; integers count up.
std::vector<std::vector<float>> Inputs(const Example& e, int64_t batch) {
  std::vector<std::vector<float>> inputs;
  for (size_t i = 0; i < e.params.size(); ++i) {
    int64_t n = e.own[i] ? batch : 1;
    for (const int64_t d : e.params[i].shape) n *= d;
    inputs.push_back(Uniform(n, static_cast<uint32_t>(i)));
    for (size_t k = 0; k < inputs.back().size(); ++k) {
      const auto count = static_cast<int32_t>(k);
      float& x = inputs.back()[k];
      if (e.params[i].dtype == ricci::DType::kI32)
        std::memcpy(&x, &count, sizeof x);
      else
        x *= 0.3f;
    }
  }
  return inputs;
}

struct Mode {
  ContextRef ctx;
  std::unique_ptr<Bound> bound;
  double compile = 0, check = 0;
  std::string decisions;
  std::vector<double> times;
};

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

Mode Prepare(const Example& e, const char* name, int64_t batch, std::string_view dump) {
  Mode m{ContextOf(name, dump), nullptr, 0, 0, {}, {}};
  const ProgramRef f = MappedProgram(m.ctx.get(), e, batch);
  const double start = Now();
  const ExecutableRef x = Compile(f.get());
  m.compile = Now() - start;
  const auto append = [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); };
  ricci::Check(ricci_executable_dump(x.get(), "decisions", 9, &m.decisions, append));
  m.bound = std::make_unique<Bound>(m.ctx.get(), x, Inputs(e, batch));
  m.bound->Run();
  m.check = m.bound->Check();
  return m;
}

double TimeOf(const Mode& m, int64_t runs) {
  const double start = Now();
  for (int64_t i = 0; i < runs; ++i) m.bound->Run();
  return (Now() - start) / static_cast<double>(runs);
}

struct Row {
  double time[3], compile[3];
  std::string decisions;  // of auto
  double slower() const { return time[0] / std::min(time[1], time[2]); }
  double compiles() const { return compile[0] / compile[time[1] <= time[2] ? 1 : 2]; }
};

Row Measure(const Example& e, int64_t batch, const Arguments& a) {
  std::vector<Mode> modes;
  for (const char* name : kModes) modes.push_back(Prepare(e, name, batch, a.dump));
  for (const Mode& m : modes) {
    if (!(std::abs(m.check - modes[0].check) <= 1e-3 * std::abs(modes[0].check))) {
      std::fprintf(stderr, "%s x %lld: results differ: %g and %g\n", e.name.c_str(), static_cast<long long>(batch),
                   modes[0].check, m.check);
      std::exit(1);
    }
  }
  const int rounds = a.small ? 1 : 15;
  std::vector<int64_t> runs;
  for (const Mode& m : modes) runs.push_back(std::max<int64_t>(1, static_cast<int64_t>(1e-3 / TimeOf(m, 1))));
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < modes.size(); ++i) modes[i].times.push_back(TimeOf(modes[i], a.small ? 1 : runs[i]));
  }
  Row row;
  for (size_t i = 0; i < modes.size(); ++i) {
    row.time[i] = Median(modes[i].times);
    row.compile[i] = modes[i].compile;
  }
  row.decisions = modes[0].decisions;
  return row;
}

struct Means {
  double log_time = 0, worst = 0, log_compile = 0, worst_compile = 0;
  int count = 0;
  void Add(const Row& r) {
    ++count;
    log_time += std::log(r.slower());
    log_compile += std::log(r.compiles());
    worst = std::max(worst, r.slower());
    worst_compile = std::max(worst_compile, r.compiles());
  }
};

void Run(const Arguments& a) {
  std::vector<Example> examples = LoopExamples();
  for (Example& e : ArrayExamples()) examples.push_back(std::move(e));
  std::printf("| example | batch | auto us | batched us | lanes us | auto / better | compile ms | batched | lanes |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  Means means;
  for (const Example& e : examples) {
    if (e.name.find(a.only) == std::string::npos) continue;
    for (const int64_t batch : kBatches) {
      if (a.small && batch != 3) continue;
      const Row r = Measure(e, batch, a);
      const bool counts = std::min(r.time[1], r.time[2]) >= kShortest;
      if (counts) means.Add(r);
      std::printf("| %s | %lld | %.1f | %.1f | %.1f | %.2f%s | %.0f | %.0f | %.0f |\n", e.name.c_str(),
                  static_cast<long long>(batch), r.time[0] * 1e6, r.time[1] * 1e6, r.time[2] * 1e6, r.slower(),
                  counts ? "" : " (short)", r.compile[0] * 1e3, r.compile[1] * 1e3, r.compile[2] * 1e3);
      if (a.explain) std::printf("%s", r.decisions.c_str());
      std::fflush(stdout);
    }
  }
  if (means.count == 0) return;
  std::printf(
      "\n%d of at least %.0f us: auto / better %.3f in the geometric mean, %.2f at worst; compile time %.2f, %.2f\n",
      means.count, kShortest * 1e6, std::exp(means.log_time / means.count), means.worst,
      std::exp(means.log_compile / means.count), means.worst_compile);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--small") {
      a.small = true;
    } else if (word == "--explain") {
      a.explain = true;
    } else if (word == "--only" && i + 1 < argc) {
      a.only = argv[++i];
    } else if (word == "--dump" && i + 1 < argc) {
      a.dump = argv[++i];
    } else {
      std::fprintf(stderr, "usage: ricci_schedules [--small] [--explain] [--only TEXT] [--dump DIR]\n");
      return 2;
    }
  }
  bench::Run(a);
  return 0;
}
