// What stages of day.sh count on: a driver, a GPU and a compiler whose code runs there.
#include <cstdio>

#include "probe.h"

namespace ricci::probe {
namespace {

constexpr int kComputeMode = 20, kExclusive = 3;  // CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_EXCLUSIVE_PROCESS

std::string Gigabytes(size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text;
}
std::string Version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 100 / 10); }

// A kernel of this NVRTC, on this GPU.
bool Runs(const Probe& p) {
  const CuFunction f = p.Find(p.Load("extern \"C\" __global__ void k(unsigned* m) { m[0] = 7; }\n"), "k");
  const CuPointer word = p.Allocate(4);
  return p.Launch(f, {word}) == kCuSuccess && p.Wait() == kCuSuccess && p.Read(word, 1)[0] == 7;
}

void AskMachine(const Probe& p) {
  char name[128] = "";
  int driver = 0, mode = 0;
  size_t free_bytes = 0, bytes = 0;
  p->cuDriverGetVersion(&driver);
  p->cuDeviceGetName(name, sizeof name - 1, 0);
  p->cuMemGetInfo(&free_bytes, &bytes);
  const bool is_exclusive = p->cuDeviceGetAttribute(&mode, kComputeMode, 0) == kCuSuccess && mode == kExclusive;
  const bool runs = Runs(p);
  Answer(std::string(name) + ", " + p.architecture() + ", driver of CUDA " + Version(driver) + ", " + p.compiler() +
             ", " + Gigabytes(free_bytes) + " of " + Gigabytes(bytes) + " free" +
             (is_exclusive ? ", for one process at a time" : "") +
             (runs ? "" : "; a kernel of this NVRTC does not run"),
         runs);
}

constexpr Question kQuestions[] = {{"machine", "the machine", AskMachine}};

}  // namespace

std::span<const Question> QuestionsOfMachine() { return kQuestions; }

}  // namespace ricci::probe
