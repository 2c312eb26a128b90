// BareConditions: graphs with conditional nodes of the simulated driver, without the plugin, for tests of what the
// stand-in must do and see.
#ifndef RICCI_TESTS_CUDA_BARE_CONDITIONS_H_
#define RICCI_TESTS_CUDA_BARE_CONDITIONS_H_
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cuda/bare_driver.h"

namespace ricci::testing {

inline constexpr const char* kConditionKernels = R"(
extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);
extern "C" __global__ void sets(unsigned long long condition, unsigned long long value) {
  cudaGraphSetConditional(condition, (unsigned)value);
}
extern "C" __global__ void counts(unsigned long long condition, unsigned* m) {
  m[0] -= 1;
  cudaGraphSetConditional(condition, m[0] != 0);
}
extern "C" __global__ void adds(unsigned* m) { m[1] += 1; }
extern "C" __global__ void reads(unsigned* m) { [[maybe_unused]] const unsigned v = m[1]; }
)";

class BareConditions : public ::testing::Test {
 protected:
  using Nodes = std::vector<cuda::CuGraphNode>;

  BareConditions() {
    SetDriver(13000);
    std::string error;
    const auto compiler = cuda::OpenCompiler({RICCI_STANDIN}, error);
    ptx_ = compiler->CompileToPtx(kConditionKernels, {.architecture = "compute_75", .unlinked = true}, error);
    code_ = compiler->Compile(kConditionKernels, {.architecture = "sm_90", .unlinked = true}, error);
    EXPECT_EQ(driver_->cuModuleLoadData(&module_, ptx_.c_str()), 0) << error;
    driver_->cuStreamCreate(&stream_, 1);
    memory_ = driver_.Allocate(64, stream_);
    driver_->cuMemsetD32Async(memory_, 0, 16, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuGraphCreate(&graph_, 0);
  }
  ~BareConditions() override {
    if (exec_ != nullptr) driver_->cuGraphExecDestroy(exec_);
    driver_->cuGraphDestroy(graph_);
    driver_->cuMemFreeAsync(memory_, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuStreamDestroy(stream_);
    driver_->cuModuleUnload(module_);
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    SetDriver(12080);
  }
  static void SetDriver(int version) { OfStandin<void(int)>("ricci_standin_version")(version); }

  cuda::CuCondition NewCondition(cuda::CuGraph graph, unsigned first = 0, unsigned flags = 0) {
    cuda::CuCondition out = 0;
    EXPECT_EQ(driver_->cuGraphConditionalHandleCreate(&out, graph, driver_.context(), first, flags), 0);
    return out;
  }
  cuda::CuGraphNode Kernel(cuda::CuGraph graph, const char* name, std::vector<cuda::CuPointer> arguments,
                           const Nodes& after = {}, unsigned threads = 1) {
    const cuda::CuKernelNode node = KernelNode(name, arguments, threads);
    cuda::CuGraphNode out = nullptr;
    driver_->cuGraphAddKernelNode(&out, graph, after.data(), after.size(), &node);
    return out;
  }
  cuda::CuKernelNode KernelNode(const char* name, std::vector<cuda::CuPointer>& arguments, unsigned threads = 1) {
    pointers_.clear();
    for (cuda::CuPointer& a : arguments) pointers_.push_back(&a);
    return {driver_.Find(module_, name), {1, 1, 1}, {threads, 1, 1}, 0, pointers_.data(), nullptr, nullptr, nullptr};
  }
  cuda::CuNode NodeOf(int type, cuda::CuCondition condition, unsigned n_bodies = 1) const {
    cuda::CuNode node{};
    node.type = cuda::kCuNodeConditional;
    node.conditional = {condition, type, n_bodies, nullptr, driver_.context()};
    return node;
  }
  // A conditional node; its bodies.
  std::vector<cuda::CuGraph> Bodies(cuda::CuGraph graph, int type, unsigned n, cuda::CuCondition condition,
                                    const Nodes& after = {}) {
    cuda::CuNode node = NodeOf(type, condition, n);
    EXPECT_EQ(driver_->cuGraphAddNode(&conditional_, graph, after.data(), nullptr, after.size(), &node), 0);
    return {node.conditional.bodies, node.conditional.bodies + n};
  }
  cuda::CuGraph Body(cuda::CuGraph graph, int type, cuda::CuCondition condition, const Nodes& after = {}) {
    return Bodies(graph, type, 1, condition, after)[0];
  }
  // What is said of a node that is not taken.
  std::string Refused(cuda::CuGraph graph, cuda::CuNode node) {
    cuda::CuGraphNode out = nullptr;
    EXPECT_NE(driver_->cuGraphAddNode(&out, graph, nullptr, nullptr, 0, &node), 0);
    return BareDriver::Complaints();
  }
  std::string NotInstantiated(cuda::CuGraph graph) {
    cuda::CuGraphExec exec = nullptr;
    EXPECT_NE(driver_->cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    return BareDriver::Complaints();
  }
  std::string Launch() {
    if (exec_ == nullptr) driver_->cuGraphInstantiateWithFlags(&exec_, graph_, 0);
    driver_->cuGraphLaunch(exec_, stream_);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }
  void Write(unsigned word, unsigned value) {
    driver_->cuMemsetD32Async(memory_ + 4 * word, value, 1, stream_);
    driver_->cuStreamSynchronize(stream_);
  }
  unsigned Read(unsigned word) {
    unsigned value = 0;
    driver_->cuMemcpyDtoHAsync(&value, memory_ + 4 * word, 4, stream_);
    driver_->cuStreamSynchronize(stream_);
    return value;
  }

  const BareDriver driver_;
  std::string ptx_, code_;
  cuda::CuModule module_ = nullptr;
  cuda::CuStream stream_ = nullptr;
  cuda::CuPointer memory_ = 0;
  cuda::CuGraph graph_ = nullptr;
  cuda::CuGraphExec exec_ = nullptr;
  cuda::CuGraphNode conditional_ = nullptr;
  std::vector<void*> pointers_;
};

}  // namespace ricci::testing
#endif
