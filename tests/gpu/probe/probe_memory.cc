// Copies, shared and local memory: what a driver takes, and what it keeps for itself.
#include "probe.h"

namespace ricci::probe {
namespace {

void AskCopy(const Probe& p) {
  constexpr uint64_t kBytes = (uint64_t{3} << 30) + 4096;
  const CuPointer from = p.Allocate(kBytes), to = p.Allocate(kBytes);
  if (from == 0 || to == 0) return Answer("not asked: no memory for two arrays of 3 GB");
  p->cuMemsetD32Async(from, 7, kBytes / 4, p.stream());
  for (const uint64_t pitch : {uint64_t{0}, kBytes}) {
    p->cuMemsetD32Async(to, 0, kBytes / 4, p.stream());
    const CuGraph graph = p.NewGraph();
    CuResult result = kCuSuccess;
    p.AddCopy(graph, to, from, kBytes, pitch, {}, result);
    CuGraphExec exec = nullptr;
    if (result == kCuSuccess) result = p->cuGraphInstantiateWithFlags(&exec, graph, 0);
    if (result == kCuSuccess) result = p->cuGraphLaunch(exec, p.stream());
    if (result == kCuSuccess) result = p.Wait();
    const unsigned last = p.Read(to + kBytes - 4, 1)[0];
    Answer((pitch == 0 ? "no pitch: " : "the bytes as pitch: ") + p.Said(result) + ", the last word is " +
               std::to_string(last),
           pitch != 0 || last == 7);
  }
}

// Where swizzled tiles count on 1024 bytes.
void AskShared(const Probe& p) {
  constexpr unsigned kBytes = 98352;
  const CuFunction f = p.Find(p.Load(R"(
extern "C" __global__ void where(unsigned* out) {
  extern __shared__ __align__(1024) unsigned char shared[];
#ifdef __CUDA_ARCH__
  out[0] = (unsigned)__cvta_generic_to_shared(shared) % 1024;
#else
  out[0] = 0;
#endif
})"),
                              "where");
  const CuResult most = p->cuFuncSetAttribute(f, kCuFunctionMostShared, kBytes);
  const CuPointer out = p.Allocate(4);
  const CuResult launched = p.Launch(f, {out}, 1, kBytes), ended = p.Wait();
  const unsigned at = p.Read(out, 1)[0];
  Answer("attribute " + p.Said(most) + ", launch " + p.Said(launched) + ", run " + p.Said(ended) + ", begins at " +
             std::to_string(at) + " of 1024",
         at == 0);
}

std::string Gigabytes(double bytes) { return std::to_string(bytes / 1e9).substr(0, 5) + " GB"; }

// One thread of a kernel whose threads have so many bytes of private arrays, which the compiler cannot keep in
// registers.
void AskStack(const Probe& p, int bytes) {
  const std::string elements = std::to_string(bytes / 4);
  const std::string text = "extern \"C\" __global__ void k(unsigned* out, unsigned* at) {\n  unsigned a[" + elements +
                           "];\n  for (int i = 0; i < " + elements + "; ++i) a[i] = i + at[0];\n  out[0] = a[at[1] % " +
                           elements + "];\n}\n";
  const CuFunction f = p.Find(p.Load(text), "k");
  const CuPointer words = p.Allocate(16);
  p.Write(words, {0, 3, 5});
  size_t before = 0, after = 0, total = 0;
  p->cuMemGetInfo(&before, &total);
  const CuResult launched = p.Launch(f, {words, words + 4}), ended = p.Wait();
  p->cuMemGetInfo(&after, &total);
  Answer(std::to_string(bytes) + " bytes a thread: launch " + p.Said(launched) + ", run " + p.Said(ended) + ", takes " +
         Gigabytes(static_cast<double>(before) - static_cast<double>(after)) + " of " +
         Gigabytes(static_cast<double>(total)));
}
void AskStacks(const Probe& p) {
  for (const int bytes : {1 << 10, 4 << 10, 16000, 64 << 10, 240 << 10}) AskStack(p, bytes);
}

constexpr Question kQuestions[] = {
    {"copy", "a copy node of 3 GB", AskCopy},
    {"shared", "dynamic shared memory", AskShared},
    {"stack", "local memory", AskStacks},
};

}  // namespace

std::span<const Question> QuestionsOfMemory() { return kQuestions; }

}  // namespace ricci::probe
