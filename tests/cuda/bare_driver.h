// BareDriver: the simulated driver without the plugin, for tests of what the stand-in must see.
#ifndef RICCI_TESTS_CUDA_BARE_DRIVER_H_
#define RICCI_TESTS_CUDA_BARE_DRIVER_H_
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/driver/driver.h"
#include "cuda/of_standin.h"

namespace ricci::testing {

class BareDriver {
 public:
  BareDriver() {
    std::string error;
    driver_ = cuda::OpenDriver({RICCI_STANDIN}, error);
    compiler_ = cuda::OpenCompiler({RICCI_STANDIN}, error);
    Complaints();
    driver_->cuDevicePrimaryCtxRetain(&context_, 0);
    driver_->cuCtxPushCurrent(context_);
    cuda::CuPoolProperties properties{};
    properties.allocation_type = properties.location.type = 1;
    driver_->cuMemPoolCreate(&pool_, &properties);
  }
  ~BareDriver() {
    driver_->cuMemPoolDestroy(pool_);
    driver_->cuCtxPopCurrent(&context_);
    driver_->cuDevicePrimaryCtxRelease(0);
  }
  BareDriver(const BareDriver&) = delete;

  const cuda::Driver* operator->() const { return driver_.get(); }
  cuda::CuContext context() const { return context_; }
  // Memory of the first GPU.
  cuda::CuPointer Allocate(uint64_t bytes, cuda::CuStream stream) const {
    cuda::CuPointer p = 0;
    driver_->cuMemAllocFromPoolAsync(&p, bytes, pool_, stream);
    return p;
  }
  // A module of this text, which need not be one that NVRTC takes. Null, with `error`, if it does not compile.
  cuda::CuModule Load(const std::string& text, std::string& error) const {
    const auto compile_for_real = OfStandin<uint32_t(uint32_t)>("ricci_standin_every");
    const uint32_t before = compile_for_real(0);
    const std::string code = compiler_->Compile(text, {"sm_90"}, error);
    compile_for_real(before);
    cuda::CuModule module = nullptr;
    if (!code.empty()) driver_->cuModuleLoadData(&module, code.data());
    return module;
  }
  cuda::CuFunction Find(cuda::CuModule module, const std::string& name) const {
    cuda::CuFunction f = nullptr;
    driver_->cuModuleGetFunction(&f, module, name.c_str());
    return f;
  }
  // What went wrong since the last time.
  static std::string Complaints() { return OfStandin<const char*()>("ricci_standin_complaints")(); }

 private:
  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Compiler> compiler_;
  cuda::CuContext context_ = nullptr;
  cuda::CuMemPool pool_ = nullptr;
};

}  // namespace ricci::testing
#endif
