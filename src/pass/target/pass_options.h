// Options: for what a program is compiled, and what is reported meanwhile.
#ifndef RICCI_PASS_PASS_OPTIONS_H_
#define RICCI_PASS_PASS_OPTIONS_H_
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pass/target/target.h"
#include "transform/vmap_schedule.h"

namespace ricci { inline namespace v0 { namespace pass {

class BodyCosts;  // body_cost.cc
std::shared_ptr<BodyCosts> NewBodyCosts();

// Stages of the pipeline, bit i for stage i of StageNames().
using StageSet = uint64_t;
inline constexpr StageSet kAllStages = ~StageSet{0};

struct Lowered;

// What a backend expects a plan to cost (ricci_estimate).
struct Estimate {
  double cycles = 0;  // of one run on one thread
  double code = 0;    // operations to generate code for
};

struct Options {
  Target target;
  bool reference = false;  // no pass: each equation is lowered alone (the oracle)
  transform::Schedule vmap = transform::Schedule::kAuto;
  uint64_t alignment = 64;         // of the device's memory
  ricci_device* device = nullptr;  // for which library calls are planned
  void* native_context = nullptr;
  bool open_calls = false;           // the backend sees libraries and their states (RICCI_BACKEND_OPEN_CALLS)
  std::span<const uint8_t> donate;   // per parameter
  std::shared_ptr<BodyCosts> costs;  // of held programs, as far as they are known; Lower makes its own
  // The backend's estimate; empty: it gives none, and sizes of arrays decide.
  std::function<absl::StatusOr<Estimate>(const Lowered&)> estimate;
  std::vector<std::string>* decisions = nullptr;  // gets a text for each choice; may be NULL
  StageSet stages = kAllStages;                   // those that run; the stages that every plan needs always run
  // Called after each stage with its name and a function that prints it; may be empty.
  std::function<void(std::string_view stage, const std::function<std::string()>& text)> dump;
  std::function<bool(uint32_t done, uint32_t total)> progress;  // false cancels; may be empty
};

}}}  // namespace ricci::v0::pass
#endif
