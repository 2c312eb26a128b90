// What calls of the driver cost the host, and what keeps the GPU waiting between two runs.
#include <chrono>
#include <cstdio>

#include "probe.h"

namespace ricci::probe {
namespace {

constexpr int kRuns = 300;

double Now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::string Text(double value, const char* unit) {
  char out[64];
  std::snprintf(out, sizeof out, "%.1f %s", value, unit);
  return out;
}

// It is destroyed after its last use, and made again for the next one.
void AskContexts(const Probe& p) {
  CuContext context = nullptr;
  const double begin = Now();
  p->cuDevicePrimaryCtxRelease(0);
  const double released = Now();
  const CuResult result = p->cuDevicePrimaryCtxRetain(&context, 0);
  Answer("destroyed in " + Text((released - begin) * 1e-3, "ms") + ", made again in " +
             Text((Now() - released) * 1e-3, "ms") + ": " + p.Said(result),
         result == kCuSuccess);
}

void None(void*) {}

// What follows a run, by which the host could know of its end.
enum class End { kNothing, kEvent, kHostFunction };

struct Runs {
  const Probe& p;
  CuGraphExec exec;

  // us of a run, the second time.
  double Of(End end, bool waits) const {
    double taken = 0;
    CuEvent event = nullptr;
    p->cuEventCreate(&event, kCuEventDisableTiming);
    for (int round = 0; round < 2; ++round) {
      const double begin = Now();
      for (int i = 0; i < kRuns; ++i) {
        p->cuGraphLaunch(exec, p.stream());
        if (end == End::kEvent) p->cuEventRecord(event, p.stream());
        if (end == End::kHostFunction) p->cuLaunchHostFunc(p.stream(), None, nullptr);
        if (waits) p.Wait();
      }
      p.Wait();
      taken = (Now() - begin) / kRuns;
    }
    p->cuEventDestroy(event);
    return taken;
  }
  void Tell(const std::string& what, End end = End::kNothing) const {
    Answer(what + ": in a row " + Text(Of(end, false), "us") + ", waited for " + Text(Of(end, true), "us"));
  }
};

CuGraphExec Instantiated(const Probe& p, CuGraph graph) {
  CuGraphExec exec = nullptr;
  const CuResult result = p->cuGraphInstantiateWithFlags(&exec, graph, 0);
  if (result != kCuSuccess) Answer("instantiation " + p.Said(result), false);
  return exec;
}

// What a plan of one kernel is: the kernel, or with checks a word that is set, the kernel, the word is read; then an
// event. A function of the host in its place would report the end unasked.
void AskRuns(const Probe& p) {
  const CuFunction f = p.Find(p.Load("extern \"C\" __global__ void k(unsigned* m) { m[0] = 1; }\n"), "k");
  const CuPointer word = p.Allocate(4);
  const CuGraph one = p.NewGraph(), three = p.NewGraph();
  p.Add(one, f, {word});
  const CuMemsetNode set{word, 0, ~0u, sizeof(unsigned), 1, 1};
  CuGraphNode first = nullptr, last = nullptr;
  p->cuGraphAddMemsetNode(&first, three, nullptr, 0, &set, p.context());
  const CuGraphNode kernel = p.Add(three, f, {word}, {first});
  void* host = nullptr;
  p->cuMemHostAlloc(&host, 64, 0);
  CuCopyNode read{};
  read.src.type = kCuMemoryDevice, read.src.device = word;
  read.dst.type = kCuMemoryHost, read.dst.host = host;
  read.width_bytes = 4, read.height = read.depth = 1;
  p->cuGraphAddMemcpyNode(&last, three, &kernel, 1, &read, p.context());
  if (const CuGraphExec exec = Instantiated(p, one)) {
    Runs{p, exec}.Tell("a graph of one kernel");
    Runs{p, exec}.Tell("the same and an event", End::kEvent);
    Runs{p, exec}.Tell("the same and a function of the host", End::kHostFunction);
  }
  const CuGraphExec exec = Instantiated(p, three);
  if (exec == nullptr) return;
  Runs{p, exec}.Tell("memset, kernel and copy to the host");
  Runs{p, exec}.Tell("the same and an event", End::kEvent);
}

constexpr Question kQuestions[] = {
    {"contexts", "the primary context", AskContexts},
    {"runs", "a run", AskRuns},
};

}  // namespace

std::span<const Question> QuestionsOfTime() { return kQuestions; }

}  // namespace ricci::probe
