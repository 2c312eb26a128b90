// ricci_bench: our side of the measured cases; measure.py runs it and the peers in turn.
#include <cstdio>
#include <exception>

#include "bench_program.h"

namespace {

// What a fresh process does until its first result.
void FirstResult() {
  const bench::ContextRef ctx = bench::MakeContext();
  for (const bench::Case& c : bench::CallCases(ctx.get())) {
    if (c.name == "call4") c.prepare({}).run();
  }
}

int Run(int argc, char** argv) {
  const bench::ContextRef ctx = bench::MakeContext();
  std::vector<bench::Case> cases;
  for (auto* group : {bench::CallCases, bench::ElementwiseCases, bench::ProductCases, bench::LoopCases,
                      bench::PairCases, bench::TrainingCases, bench::GptCases, bench::SpectralCases}) {
    for (bench::Case& c : group(ctx.get())) cases.push_back(std::move(c));
  }
  return bench::Serve(argc, argv, "ricci", cases, FirstResult);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
