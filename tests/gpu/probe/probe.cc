// ricci_gpu_probe: asks a driver one question: ricci_gpu_probe LIBCUDA NVRTC QUESTION, or --list for their names.
#include "probe.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ricci::probe {
namespace {

std::string question;

[[noreturn]] void End(const std::string& why) {
  Answer("not asked: " + why, /*as_documented=*/false);
  std::exit(1);
}

}  // namespace

void Answer(const std::string& what, bool as_documented) {
  std::printf("%s: %s%s\n", question.c_str(), what.c_str(), as_documented ? "" : "   DIFFERS");
  std::fflush(stdout);
}

Probe::Probe(const std::string& driver, const std::string& compiler) {
  std::string error;
  if ((driver_ = OpenDriver({driver}, error)) == nullptr) End(error);
  if ((compiler_ = OpenCompiler({compiler}, error)) == nullptr) End(error);
  CuDevice device = 0;
  int major = 0, minor = 0;
  CuResult result = driver_->cuInit(0);
  if (result == kCuSuccess) result = driver_->cuDeviceGet(&device, 0);
  if (result == kCuSuccess) result = driver_->cuDevicePrimaryCtxRetain(&context_, device);
  if (result != kCuSuccess) End(Said(result));
  driver_->cuCtxPushCurrent(context_);
  driver_->cuDeviceGetAttribute(&major, kCuAttributeMajor, device);
  driver_->cuDeviceGetAttribute(&minor, kCuAttributeMinor, device);
  architecture_ = "sm_" + std::to_string(major) + std::to_string(minor);
  CuPoolProperties properties{};
  properties.allocation_type = properties.location.type = 1;
  driver_->cuMemPoolCreate(&pool_, &properties);
  driver_->cuStreamCreate(&stream_, kCuStreamNonBlocking);
}

std::string Probe::Said(CuResult result) const {
  const char* name = nullptr;
  if (result == kCuSuccess) return "taken";
  if (driver_->cuGetErrorName(result, &name) != kCuSuccess || name == nullptr) return std::to_string(result);
  return name;
}

CuPointer Probe::Allocate(uint64_t bytes) const {
  CuPointer p = 0;
  return driver_->cuMemAllocFromPoolAsync(&p, bytes, pool_, stream_) == kCuSuccess ? p : 0;
}
void Probe::Write(CuPointer at, const std::vector<unsigned>& words) const {
  driver_->cuMemcpyHtoDAsync(at, words.data(), words.size() * sizeof(unsigned), stream_);
  Wait();
}
std::vector<unsigned> Probe::Read(CuPointer at, size_t words) const {
  std::vector<unsigned> out(words, ~0u);
  driver_->cuMemcpyDtoHAsync(out.data(), at, words * sizeof(unsigned), stream_);
  Wait();
  return out;
}

std::string OfCuda12(std::string ptx) {
  const size_t at = ptx.find(".version "), end = ptx.find('\n', at);
  return ptx.replace(at, end - at, ".version 8.0");
}

std::string Probe::Ptx(const std::string& text) const {
  std::string error;
  const std::string ptx = compiler_->CompileToPtx(text, {.architecture = "compute_75", .unlinked = true}, error);
  if (ptx.empty()) End(error);
  return ptx;
}
CuModule Probe::Load(const std::string& text, bool as_ptx) const {
  std::string error;
  const std::string image =
      as_ptx ? OfCuda12(Ptx(text)) : compiler_->Compile(text, {.architecture = architecture_}, error);
  if (image.empty()) End(error);
  CuModule module = nullptr;
  const CuResult result = driver_->cuModuleLoadData(&module, image.c_str());
  if (result != kCuSuccess) End("cuModuleLoadData: " + Said(result));
  return module;
}
CuFunction Probe::Find(CuModule module, const char* name) const {
  CuFunction f = nullptr;
  if (driver_->cuModuleGetFunction(&f, module, name) != kCuSuccess) End(std::string("no kernel ") + name);
  return f;
}

CuResult Probe::Launch(CuFunction f, std::vector<CuPointer> arguments, unsigned threads, unsigned shared_bytes) const {
  std::vector<void*> pointers;
  for (CuPointer& a : arguments) pointers.push_back(&a);
  return driver_->cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, shared_bytes, stream_, pointers.data(), nullptr);
}

CuKernelNode NodeOf(CuFunction f, std::vector<CuPointer>& arguments, std::vector<void*>& pointers) {
  pointers.clear();
  for (CuPointer& a : arguments) pointers.push_back(&a);
  return {f, {1, 1, 1}, {1, 1, 1}, 0, pointers.data(), nullptr, nullptr, nullptr};
}
CuGraph Probe::NewGraph() const {
  CuGraph graph = nullptr;
  driver_->cuGraphCreate(&graph, 0);
  return graph;
}
CuGraphNode Probe::Add(CuGraph graph, CuFunction f, std::vector<CuPointer> arguments,
                       const std::vector<CuGraphNode>& after) const {
  std::vector<void*> pointers;
  const CuKernelNode node = NodeOf(f, arguments, pointers);
  CuGraphNode out = nullptr;
  const CuResult result = driver_->cuGraphAddKernelNode(&out, graph, after.data(), after.size(), &node);
  if (result != kCuSuccess) End("cuGraphAddKernelNode: " + Said(result));
  return out;
}
CuGraphNode Probe::AddCopy(CuGraph graph, CuPointer to, CuPointer from, uint64_t bytes, uint64_t pitch,
                           const std::vector<CuGraphNode>& after, CuResult& result) const {
  CuCopyNode copy{};
  copy.src.type = copy.dst.type = kCuMemoryDevice;
  copy.src.device = from, copy.dst.device = to;
  copy.src.pitch = copy.dst.pitch = pitch;
  copy.width_bytes = bytes, copy.height = copy.depth = 1;
  CuGraphNode node = nullptr;
  result = driver_->cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &copy, context_);
  return node;
}

int Main(int argc, char** argv) {
  std::vector<Question> questions;
  for (const auto of : {QuestionsOfMachine, QuestionsOfGraphs, QuestionsOfMemory, QuestionsOfMaps, QuestionsOfTime}) {
    for (const Question& q : of()) questions.push_back(q);
  }
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Question& q : questions) std::printf("%s\n", q.name);
    return 0;
  }
  for (const Question& q : questions) {
    if (argc != 4 || std::strcmp(argv[3], q.name) != 0) continue;
    question = q.about;
    q.ask(Probe(argv[1], argv[2]));
    return 0;
  }
  std::fprintf(stderr, "ricci_gpu_probe LIBCUDA NVRTC QUESTION, or --list\n");
  return 2;
}

}  // namespace ricci::probe

int main(int argc, char** argv) { return ricci::probe::Main(argc, argv); }
