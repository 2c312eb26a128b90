// Probe: a GPU, and questions to its driver whose answers documents leave open.
//
// It uses the declarations of plugins/cuda/driver/driver.h, and otherwise nothing of the backend: what the driver says
// does not depend on what the backend gets right. Kernels are CUDA C++, compiled by NVRTC on that machine.
#ifndef RICCI_TESTS_GPU_PROBE_H_
#define RICCI_TESTS_GPU_PROBE_H_
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/driver/driver.h"

namespace ricci::probe {

using namespace ricci::cuda;  // the names of driver.h

class Probe {
 public:
  // Ends the process, with a line that says why, without a GPU.
  Probe(const std::string& driver, const std::string& compiler);

  const Driver* operator->() const { return driver_.get(); }
  CuContext context() const { return context_; }
  CuStream stream() const { return stream_; }
  const std::string& architecture() const { return architecture_; }
  std::string compiler() const { return compiler_->Version(); }

  // `CUDA_ERROR_INVALID_VALUE`, or `taken`.
  std::string Said(CuResult result) const;
  // Memory of the GPU, never given back; 0: there is not enough.
  CuPointer Allocate(uint64_t bytes) const;
  void Write(CuPointer at, const std::vector<unsigned>& words) const;
  std::vector<unsigned> Read(CuPointer at, size_t words) const;
  CuResult Wait() const { return driver_->cuStreamSynchronize(stream_); }

  // A module of this text, of which kernels are found. `as_ptx`: it calls functions that the driver links.
  CuModule Load(const std::string& text, bool as_ptx = false) const;
  std::string Ptx(const std::string& text) const;
  CuFunction Find(CuModule module, const char* name) const;
  CuResult Launch(CuFunction f, std::vector<CuPointer> arguments, unsigned threads = 1,
                  unsigned shared_bytes = 0) const;

  // ---- graphs ----
  CuGraph NewGraph() const;
  // A kernel of one thread after these nodes.
  CuGraphNode Add(CuGraph graph, CuFunction f, std::vector<CuPointer> arguments,
                  const std::vector<CuGraphNode>& after = {}) const;
  CuGraphNode AddCopy(CuGraph graph, CuPointer to, CuPointer from, uint64_t bytes, uint64_t pitch,
                      const std::vector<CuGraphNode>& after, CuResult& result) const;

 private:
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Compiler> compiler_;
  std::string architecture_;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  CuMemPool pool_ = nullptr;
};

// PTX in the language of CUDA 12.0, which any driver of it takes; NVRTC writes that of its own version.
std::string OfCuda12(std::string ptx);

// A kernel node as the driver takes it, which points into `arguments` and `pointers`.
CuKernelNode NodeOf(CuFunction f, std::vector<CuPointer>& arguments, std::vector<void*>& pointers);

// What has been found out: a line `question: what`; with DIFFERS if that is not as documented, or as the backend counts
// on it.
void Answer(const std::string& what, bool as_documented = true);

struct Question {
  const char *name, *about;
  void (*ask)(const Probe& p);
};
std::span<const Question> QuestionsOfMachine();  // probe_machine.cc
std::span<const Question> QuestionsOfGraphs();   // probe_graphs.cc
std::span<const Question> QuestionsOfMemory();   // probe_memory.cc
std::span<const Question> QuestionsOfMaps();     // probe_maps.cc
std::span<const Question> QuestionsOfTime();     // probe_times.cc

}  // namespace ricci::probe
#endif
