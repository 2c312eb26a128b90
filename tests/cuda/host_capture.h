// HostCapture: what a host does with the graph of a stream that it captures: it begins, ends, and launches what came
// out.
#ifndef RICCI_TESTS_CUDA_HOST_CAPTURE_H_
#define RICCI_TESTS_CUDA_HOST_CAPTURE_H_
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cuda/driver/driver.h"
#include "cuda/of_standin.h"

namespace ricci::testing {

class HostCapture {
 public:
  explicit HostCapture(cuda::CuStream stream, int mode = cuda::kCuCaptureGlobal) : stream_(stream) {
    std::string error;
    driver_ = cuda::OpenDriver({RICCI_STANDIN}, error);
    EXPECT_EQ(OfStandin<int(cuda::CuStream, int)>("ricci_standin_begin_capture")(stream, mode), 0);
  }
  // Throws the graph away.
  ~HostCapture() {
    End();
    if (exec_ != nullptr) driver_->cuGraphExecDestroy(exec_);
    if (graph_ != nullptr) driver_->cuGraphDestroy(graph_);
  }
  HostCapture(const HostCapture&) = delete;

  // What cuStreamEndCapture returns; 0 if it was ended before.
  int End() {
    if (std::exchange(has_ended_, true)) return 0;
    return OfStandin<int(cuda::CuStream, cuda::CuGraph*)>("ricci_standin_end_capture")(stream_, &graph_);
  }
  bool IsValid() const {
    int state = 0;
    EXPECT_EQ(driver_->cuStreamIsCapturing(stream_, &state), 0);
    return state == cuda::kCuCaptures;
  }
  // Ends the capture first. A context is current.
  int Launch(cuda::CuStream stream) {
    if (const int failed = End()) return failed;
    if (exec_ == nullptr) {
      if (const int failed = driver_->cuGraphInstantiateWithFlags(&exec_, graph_, 0)) return failed;
    }
    return driver_->cuGraphLaunch(exec_, stream);
  }
  cuda::CuGraph graph() const { return graph_; }

 private:
  const cuda::CuStream stream_;
  std::unique_ptr<cuda::Driver> driver_;
  cuda::CuGraph graph_ = nullptr;
  cuda::CuGraphExec exec_ = nullptr;
  bool has_ended_ = false;
};

}  // namespace ricci::testing
#endif
