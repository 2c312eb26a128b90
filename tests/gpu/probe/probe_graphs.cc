// Conditional nodes: whether the driver links what decides, takes loops and branches, and lets their nodes be changed.
#include "probe.h"

namespace ricci::probe {
namespace {

constexpr const char* kKernels = R"(
extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);
extern "C" __global__ void sets(unsigned long long condition, unsigned long long value) {
  cudaGraphSetConditional(condition, (unsigned)value);
}
extern "C" __global__ void counts(unsigned long long condition, unsigned* m) {
  m[0] -= 1;
  m[1] += 1;
  cudaGraphSetConditional(condition, m[0] != 0);
}
extern "C" __global__ void writes(unsigned* m, unsigned long long value) { m[0] = (unsigned)value; }
)";

// What a while loop of `trips` turns leaves: 0, the turns, and their number by a copy in the body.
struct Loop {
  CuPointer words = 0;
  CuCondition condition = 0;
  CuGraph graph = nullptr, body = nullptr;
  CuGraphNode counting = nullptr;
  CuGraphExec exec = nullptr;
  CuResult copied = kCuSuccess, made = kCuSuccess;
};

Loop LoopOf(const Probe& p, CuModule m, unsigned trips) {
  Loop loop{.words = p.Allocate(64), .graph = p.NewGraph()};
  p.Write(loop.words, {trips, 0, 0, 0});
  loop.made = p->cuGraphConditionalHandleCreate(&loop.condition, loop.graph, p.context(), /*first=*/1, /*flags=*/1);
  if (loop.made != kCuSuccess) return loop;
  CuNode node{};
  node.type = kCuNodeConditional;
  node.conditional = {loop.condition, kCuConditionWhile, 1, nullptr, p.context()};
  CuGraphNode made = nullptr;
  loop.made = p->cuGraphAddNode(&made, loop.graph, nullptr, nullptr, 0, &node);
  if (loop.made != kCuSuccess) return loop;
  const CuGraph body = loop.body = node.conditional.bodies[0];
  loop.counting = p.Add(body, p.Find(m, "counts"), {loop.condition, loop.words});
  p.AddCopy(body, loop.words + 8, loop.words + 4, 4, /*pitch=*/0, {loop.counting}, loop.copied);
  loop.made = p->cuGraphInstantiateWithFlags(&loop.exec, loop.graph, 0);
  return loop;
}

void AskWhile(const Probe& p) {
  const Loop loop = LoopOf(p, p.Load(kKernels, /*as_ptx=*/true), 5);
  Answer("node and instantiation " + p.Said(loop.made) + ", a copy in the body " + p.Said(loop.copied),
         loop.made == kCuSuccess && loop.copied == kCuSuccess);
  if (loop.exec == nullptr) return;
  const CuResult launched = p->cuGraphLaunch(loop.exec, p.stream()), ended = p.Wait();
  const std::vector<unsigned> found = p.Read(loop.words, 3);
  Answer("launch " + p.Said(launched) + ", run " + p.Said(ended) + ", " + std::to_string(found[1]) + " turns of 5, " +
             std::to_string(found[2]) + " copied",
         found[1] == 5 && found[2] == 5);
}

void AskOtherAddress(const Probe& p) {
  const CuModule m = p.Load(kKernels, /*as_ptx=*/true);
  const Loop loop = LoopOf(p, m, 3);
  if (loop.exec == nullptr) return Answer("no loop", false);
  const CuPointer other = p.Allocate(64);
  p.Write(other, {4, 0});
  std::vector<CuPointer> arguments{loop.condition, other};
  std::vector<void*> pointers;
  const CuKernelNode node = NodeOf(p.Find(m, "counts"), arguments, pointers);
  const CuResult changed = p->cuGraphExecKernelNodeSetParams(loop.exec, loop.counting, &node);
  const CuResult launched = p->cuGraphLaunch(loop.exec, p.stream()), ended = p.Wait();
  const unsigned turns = p.Read(other, 2)[1];
  Answer("change " + p.Said(changed) + ", launch " + p.Said(launched) + ", run " + p.Said(ended) + ", " +
             std::to_string(turns) + " turns of 4",
         changed == kCuSuccess && turns == 4);
}

// The graph of a copy that is captured in another stream, as a library would enqueue it.
CuGraph CapturedCopy(const Probe& p, CuPointer to, CuPointer from, CuResult& result) {
  CuStream stream = nullptr;
  CuGraph graph = nullptr;
  p->cuStreamCreate(&stream, kCuStreamNonBlocking);
  result = p->cuStreamBeginCapture(stream, kCuCaptureOfThread);
  if (result == kCuSuccess) result = p->cuMemcpyDtoDAsync(to, from, 4, stream);
  const CuResult ended = p->cuStreamEndCapture(stream, &graph);
  if (result == kCuSuccess) result = ended;
  p->cuStreamDestroy(stream);
  return graph;
}

// What a library enqueues as a child graph in a loop's body, then with another address.
void AskChild(const Probe& p) {
  Loop loop = LoopOf(p, p.Load(kKernels, /*as_ptx=*/true), 5);
  if (loop.exec == nullptr) return Answer("no loop", false);
  CuResult captured = kCuSuccess;
  const CuGraph child = CapturedCopy(p, loop.words + 12, loop.words + 4, captured);
  CuGraphNode made = nullptr;
  p->cuGraphExecDestroy(loop.exec);
  const CuResult added = p->cuGraphAddChildGraphNode(&made, loop.body, &loop.counting, 1, child);
  const CuResult taken = p->cuGraphInstantiateWithFlags(&loop.exec, loop.graph, 0);
  Answer(
      "capture " + p.Said(captured) + ", child graph in a body " + p.Said(added) + ", instantiation " + p.Said(taken),
      captured == kCuSuccess && added == kCuSuccess && taken == kCuSuccess);
  if (taken != kCuSuccess || added != kCuSuccess) return;
  p->cuGraphLaunch(loop.exec, p.stream());
  p.Wait();
  const unsigned copied = p.Read(loop.words, 4)[3];
  p.Write(loop.words, {5, 0, 0, 0, 0});
  const CuGraph other = CapturedCopy(p, loop.words + 16, loop.words + 4, captured);
  const CuResult changed = p->cuGraphExecChildGraphNodeSetParams(loop.exec, made, other);
  p->cuGraphLaunch(loop.exec, p.stream());
  p.Wait();
  const std::vector<unsigned> found = p.Read(loop.words, 5);
  Answer(std::to_string(copied) + " copied of 5; change " + p.Said(changed) + ", then " + std::to_string(found[4]) +
             " to the other address, " + std::to_string(found[3]) + " to the first one (0)",
         copied == 5 && changed == kCuSuccess && found[4] == 5 && found[3] == 0);
}
void AskEmptyChild(const Probe& p) {
  const CuGraph graph = p.NewGraph(), child = p.NewGraph();
  CuGraphNode made = nullptr;
  CuGraphExec exec = nullptr;
  const CuResult added = p->cuGraphAddChildGraphNode(&made, graph, nullptr, 0, child);
  const CuResult taken = p->cuGraphInstantiateWithFlags(&exec, graph, 0);
  Answer("a child graph without nodes " + p.Said(added) + ", instantiation " + p.Said(taken) +
         " (the backend adds none)");
}

// Which body runs for a value: each writes its number, from 10 on.
void AskChoice(const Probe& p, int type, unsigned bodies, unsigned value, unsigned wanted) {
  const CuModule m = p.Load(kKernels, /*as_ptx=*/true);
  const CuPointer word = p.Allocate(64);
  p.Write(word, {0});
  const CuGraph graph = p.NewGraph();
  CuCondition condition = 0;
  p->cuGraphConditionalHandleCreate(&condition, graph, p.context(), 0, 0);
  const CuGraphNode sets = p.Add(graph, p.Find(m, "sets"), {condition, value});
  CuNode node{};
  node.type = kCuNodeConditional;
  node.conditional = {condition, type, bodies, nullptr, p.context()};
  CuGraphNode made = nullptr;
  const CuResult added = p->cuGraphAddNode(&made, graph, &sets, nullptr, 1, &node);
  if (added != kCuSuccess) return Answer("node " + p.Said(added), false);
  for (unsigned b = 0; b < bodies; ++b) p.Add(node.conditional.bodies[b], p.Find(m, "writes"), {word, 10 + b});
  CuGraphExec exec = nullptr;
  const CuResult taken = p->cuGraphInstantiateWithFlags(&exec, graph, 0);
  if (taken != kCuSuccess) return Answer("instantiation " + p.Said(taken), false);
  p->cuGraphLaunch(exec, p.stream());
  const CuResult ended = p.Wait();
  const unsigned found = p.Read(word, 1)[0];
  Answer("run " + p.Said(ended) + ", value " + std::to_string(value) + " gives " + std::to_string(found) + " (" +
             std::to_string(wanted) + ")",
         found == wanted);
}
void AskIf(const Probe& p) {
  AskChoice(p, kCuConditionIf, 2, 1, 10);
  AskChoice(p, kCuConditionIf, 2, 0, 11);
}
void AskSwitch(const Probe& p) {
  AskChoice(p, kCuConditionSwitch, 3, 2, 12);
  AskChoice(p, kCuConditionSwitch, 3, 3, 0);
}

// As NVRTC writes it, and as the backend lowers it for older drivers.
void AskPtx(const Probe& p) {
  const std::string ptx = p.Ptx(kKernels), of_cuda12 = OfCuda12(ptx);
  const size_t at = ptx.find(".version ");
  CuModule module = nullptr;
  const CuResult as_it_is = p->cuModuleLoadData(&module, ptx.c_str());
  const CuResult lowered = p->cuModuleLoadData(&module, of_cuda12.c_str());
  Answer(ptx.substr(at, ptx.find('\n', at) - at) + " " + p.Said(as_it_is) + ", .version 8.0 " + p.Said(lowered),
         lowered == kCuSuccess);
}

constexpr Question kQuestions[] = {
    {"ptx", "PTX that calls cudaGraphSetConditional", AskPtx},
    {"while", "a loop in a graph", AskWhile},
    {"other_address", "another address in a loop's body", AskOtherAddress},
    {"child", "what a library enqueues, in a loop's body, and with another address", AskChild},
    {"empty_child", "a child graph without nodes", AskEmptyChild},
    {"if", "an IF with two bodies", AskIf},
    {"switch", "a SWITCH with three bodies", AskSwitch},
};

}  // namespace

std::span<const Question> QuestionsOfGraphs() { return kQuestions; }

}  // namespace ricci::probe
