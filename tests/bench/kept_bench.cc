// ricci_kept_bench: how long it takes from a program to its executable where a cache holds the executable.
//
//   ricci_kept_bench PROGRAM FOLDER [ROUNDS]
//
// The first context compiles and keeps; each round is a context of its own, like another process, that must find what
// was kept. Prints the best and the median of the whole (ricci_compile) and of its phases, which run once more by
// themselves. PROGRAM is text or binary.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ricci/ricci.h"
#include "runtime/cache/cache_entry.h"
#include "runtime/compile/saved_executable.h"
#include "runtime/context/context.h"

namespace ricci { namespace {

using Clock = std::chrono::steady_clock;

void Check(ricci_status* s) {
  if (s == nullptr) return;
  ricci_str text;
  ricci_status_message(s, &text);
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.len), text.ptr);
  std::exit(1);
}

class Times {
 public:
  template <typename Body>
  auto Measure(const std::string& phase, Body body) {
    const auto from = Clock::now();
    const double cpu_from = ProcessorSeconds();
    auto result = body();
    Add(phase, std::chrono::duration<double>(Clock::now() - from).count(), ProcessorSeconds() - cpu_from);
    return result;
  }
  void Print() const {
    for (const std::string& phase : order_) {
      const auto [best, median] = BestAndMedian(times_.at(phase));
      const auto [cpu, cpu_median] = BestAndMedian(cpu_.at(phase));
      std::printf("%-42s best %8.3f ms, median %8.3f ms; of a processor %8.3f, %8.3f ms\n", phase.c_str(), best * 1e3,
                  median * 1e3, cpu * 1e3, cpu_median * 1e3);
    }
  }

 private:
  // Without the time in which others had it.
  static double ProcessorSeconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  static std::pair<double, double> BestAndMedian(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return {times[0], times[times.size() / 2]};
  }
  void Add(const std::string& phase, double seconds, double cpu) {
    if (times_[phase].empty()) order_.push_back(phase);
    times_[phase].push_back(seconds);
    cpu_[phase].push_back(cpu);
  }
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_, cpu_;
};

// A host with a cache and the program.
class Host {
 public:
  Host(const std::string& bytes, const std::string& folder, Times& times) {
    Check(ricci_context_create(nullptr, &ctx_));
    for (const auto plugin : {ricci_plugin_query_lax, ricci_plugin_query_nn, ricci_plugin_query_cpu}) {
      Check(ricci_context_add_plugin(ctx_, plugin));
    }
    Check(ricci_context_config(ctx_, "cache_dir", 9, folder.data(), folder.size()));
    times.Measure("reading the program", [&] {
      const bool binary = ricci_program_is_binary(bytes.data(), bytes.size()) != 0;
      Check(binary ? ricci_program_deserialize(ctx_, bytes.data(), bytes.size(), "bench", 5, &program_)
                   : ricci_program_parse(ctx_, bytes.data(), bytes.size(), "bench", 5, &program_));
      return 0;
    });
  }
  ~Host() {
    ricci_program_release(program_);
    ricci_context_release(ctx_);
  }
  Host(const Host&) = delete;

  ricci_executable* Compile() const {
    ricci_executable* x = nullptr;
    Check(ricci_compile(program_, nullptr, &x));
    return x;
  }
  const std::string& sizes() const { return sizes_; }
  uint64_t hits() const {
    ricci_cache_stats s{};
    s.hdr.size = sizeof s;
    ricci_cache_info(ctx_, &s);
    return s.executable_hits;
  }
  // What ricci_compile does, part by part.
  void Phases(Times& times) {
    runtime::Context& context = *runtime::FromAbi(ctx_);
    const auto key = times.Measure("  hash, for the programs of this process", [&] {
      return runtime::CompileKey::Make(ir::ProgramRef(ir::FromAbi(program_)), {context.device(0)}, 2,
                                       transform::Schedule::kAuto, pass::kAllStages, {}, false);
    });
    const auto kept =
        times.Measure("  key: versions, and the program as bytes", [&] { return runtime::ExecutableKey::Of(key); });
    const std::string text = kept->Text();
    size_t entry = 0;
    times.Measure("  reading and checking the entry", [&] {
      return context.code_cache().LoadExecutable(text,
                                                 [&](std::string_view code) { return entry = code.size(), true; });
    });
    const auto code = times.Measure("  the same, then plan and code",
                                    [&] { return runtime::LoadExecutable(context.code_cache(), *kept, key); });
    sizes_ = "program " + std::to_string(kept->program.size()) + " bytes, entry " + std::to_string(entry) +
             ", machine code " + std::to_string(code->stats().code_bytes);
  }

 private:
  ricci_ctx* ctx_ = nullptr;
  ricci_program* program_ = nullptr;
  std::string sizes_;
};

int Main(const std::string& path, const std::string& folder, int rounds) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Times first, times;
  {
    const Host host(bytes, folder, first);
    ricci_executable_release(first.Measure("compiling, or what was kept before", [&] { return host.Compile(); }));
  }
  first.Print();
  std::string sizes;
  for (int i = 0; i < rounds; ++i) {
    Host host(bytes, folder, times);
    ricci_executable* const x = times.Measure("from the program to its executable", [&] { return host.Compile(); });
    ricci_executable_release(x);
    if (host.hits() != 1) return std::fprintf(stderr, "the executable was not kept\n"), 1;
    host.Phases(times);
    sizes = host.sizes();
  }
  times.Print();
  std::printf("%s\n", sizes.c_str());
  return 0;
}

}}  // namespace ricci

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: ricci_kept_bench PROGRAM FOLDER [ROUNDS]\n"), 2;
  return ricci::Main(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 20);
}
