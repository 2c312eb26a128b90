#include "cuda/driver/conditions.h"

#include <algorithm>

#include "cuda/driver/condition_trial.h"

namespace ricci::cuda {

const char* const kConditionText =
    R"(extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);

// Whether a loop makes another trip.
extern "C" __global__ void ricci_loop(const unsigned char* predicate, unsigned long long condition) {
  cudaGraphSetConditional(condition, *predicate != 0);
}

// Sets the conditions of branches from `first` on, of which `which` says which are there: whether the branch is the one
// of `branches` that `number` names, which is clamped.
extern "C" __global__ void ricci_branches(const int* number, unsigned long long first, unsigned long long branches, unsigned long long which, unsigned long long c0, unsigned long long c1, unsigned long long c2, unsigned long long c3, unsigned long long c4, unsigned long long c5, unsigned long long c6, unsigned long long c7) {
  const long long n = *number, last = (long long)branches - 1;
  const long long taken = (n < 0 ? 0 : n > last ? last : n) - (long long)first;
  if (which & 1) cudaGraphSetConditional(c0, taken == 0);
  if (which & 2) cudaGraphSetConditional(c1, taken == 1);
  if (which & 4) cudaGraphSetConditional(c2, taken == 2);
  if (which & 8) cudaGraphSetConditional(c3, taken == 3);
  if (which & 16) cudaGraphSetConditional(c4, taken == 4);
  if (which & 32) cudaGraphSetConditional(c5, taken == 5);
  if (which & 64) cudaGraphSetConditional(c6, taken == 6);
  if (which & 128) cudaGraphSetConditional(c7, taken == 7);
}

// Sets the condition to the branch of `branches` that `number` names, which is clamped: another value would run none.
extern "C" __global__ void ricci_choice(const int* number, unsigned long long branches, unsigned long long condition) {
  const long long n = *number, last = (long long)branches - 1;
  cudaGraphSetConditional(condition, (unsigned)(n < 0 ? 0 : n > last ? last : n));
}
)";

namespace {

// That of CUDA 12.0: PTX names the version of the language that its compiler has, which may be newer than the driver,
// though these kernels use nothing new.
constexpr const char* kPtxVersion = ".version 8.0";
constexpr const char* kThem = "them";  // loops and branches
constexpr int kChoiceVersion = 12080;  // of drivers that have nodes with several bodies

std::string ForOlderDrivers(std::string ptx) {
  const size_t at = ptx.find(".version ");
  if (at != ptx.npos) ptx.replace(at, ptx.find('\n', at) - at, kPtxVersion);
  return ptx;
}

// Does the driver say that it does not know something, rather than that something went wrong?
bool IsRefusal(CuResult result) {
  constexpr CuResult kRefusals[] = {kCuInvalidValue,  kCuInvalidImage,   kCuNoBinaryForGpu, kCuInvalidPtx,
                                    kCuNoPtxCompiler, kCuUnsupportedPtx, kCuPtxDisabled,    kCuSymbolNotFound,
                                    kCuObjectInit,    kCuNotFound,       kCuNotPermitted,   kCuNotSupported};
  return std::find(std::begin(kRefusals), std::end(kRefusals), result) != std::end(kRefusals);
}

}  // namespace

ricci_status* Conditions::Prepare(uint32_t depth, Current& current, std::string& why_not) {
  std::unique_lock lock(mutex_);
  if (ricci_status* failed = LoadKernels(current, lock)) return failed;
  why_not = why_not_;
  if (why_not.empty() && depth >= refused_) why_not = why_refused_;
  if (!why_not.empty() || depth <= taken_) return nullptr;
  ConditionTrial trial(device_, loop_);
  for (uint32_t i = 0; i < depth; ++i) trial.AddLoop();
  trial.Instantiate();
  if (trial.result() == kCuSuccess) return taken_ = depth, nullptr;
  if (ricci_status* failed = Refusal(kThem, trial.call(), trial.result(), why_refused_)) return failed;
  why_refused_ += " (" + std::to_string(depth) + " in each other)";
  why_not = why_refused_;
  refused_ = depth;
  return nullptr;
}

ricci_status* Conditions::PrepareChoices(std::string& why_not) {
  const std::lock_guard lock(mutex_);
  if (!has_tried_choices_) {
    if (ricci_status* failed = TryChoices()) return failed;
    has_tried_choices_ = true;
  }
  why_not = why_no_choices_;
  return nullptr;
}

ricci_status* Conditions::TryChoices() {
  int version = 0;
  if (ricci_status* failed = device_.Check("cuDriverGetVersion", device_.driver().cuDriverGetVersion(&version))) {
    return failed;
  }
  if (version < kChoiceVersion) {
    why_no_choices_ = "the driver is older than CUDA 12.8";
    return nullptr;
  }
  ConditionTrial trial(device_, loop_);
  trial.AddChoice(kCuConditionIf, 2);
  trial.AddChoice(kCuConditionSwitch, 3);
  trial.Instantiate();
  if (trial.result() == kCuSuccess) return nullptr;
  return Refusal("nodes with several bodies", trial.call(), trial.result(), why_no_choices_);
}

// Of threads that make them at once the first one loads them.
ricci_status* Conditions::LoadKernels(Current& current, std::unique_lock<std::mutex>& lock) {
  if (IsKnown()) return nullptr;
  if (!device_.driver().HasConditions()) {
    why_not_ = "the driver is older than CUDA 12.4";
    return nullptr;
  }
  Module m{kConditionText};
  for (const bool again : {false, true}) {  // again: what the host kept may be of no use
    const auto make = [&] { return device_.compiler().MakePtx(m, again), nullptr; };
    lock.unlock();
    ricci_status* const failed = current.Outside(make);
    lock.lock();
    if (failed != nullptr || IsKnown()) return failed;
    if (m.image.empty() && !m.refused) return Fail(RICCI_INTERNAL, m.error);
    if (m.image.empty()) {
      why_not_ = m.error.substr(0, m.error.find_last_not_of('\n') + 1);
      return nullptr;
    }
    const char* call = "";
    const CuResult result = Load(ForOlderDrivers(m.image), call);
    if (result == kCuSuccess) return nullptr;
    Clear();
    if (!m.kept) return Refusal(kThem, call, result, why_not_);
  }
  return nullptr;
}

// A failure, unless the driver has said that it does not know something, and then why not.
ricci_status* Conditions::Refusal(const char* what, const char* call, CuResult result, std::string& why_not) const {
  if (!IsRefusal(result)) return device_.Check(call, result);
  why_not = "the driver refuses " + std::string(what) + ": " + device_.driver().ErrorText(call, result);
  return nullptr;
}

void Conditions::Clear() {
  if (module_ != nullptr) device_.driver().cuModuleUnload(module_);
  module_ = nullptr;
}

CuResult Conditions::Load(const std::string& ptx, const char*& call) {
  const Driver& d = device_.driver();
  call = "cuModuleLoadData";
  CuResult result = d.cuModuleLoadData(&module_, ptx.c_str());
  if (result != kCuSuccess) {
    module_ = nullptr;
    return result;
  }
  call = "cuModuleGetFunction";
  result = d.cuModuleGetFunction(&loop_.f, module_, "ricci_loop");
  if (result == kCuSuccess) result = d.cuModuleGetFunction(&branches_.f, module_, "ricci_branches");
  return result != kCuSuccess ? result : d.cuModuleGetFunction(&choice_.f, module_, "ricci_choice");
}

}  // namespace ricci::cuda
