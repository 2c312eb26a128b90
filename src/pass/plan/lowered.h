// Lowered: what a backend compiles.
#ifndef RICCI_PASS_LOWERED_H_
#define RICCI_PASS_LOWERED_H_
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace pass {

// What a rule wrote for the compiler of the target, and where in the program, for errors.
struct SourceText {
  std::string text, entry, file;
  std::vector<ricci_source_scalar> scalars;
  ricci_plan_source call{};  // points to them
  base::StatusSite site;
};

// The equation of a library call, in `optimized` or a program in it.
struct LibrarySite {
  const ir::Program* program;
  const ir::Equation* equation;
};

// What a backend compiles; it keeps kernels and the plan's constants alive.
struct Lowered {
  Lowered() = default;
  Lowered(const Lowered&) = delete;
  ~Lowered();  // drops the states of library calls

  // The plan owns `call.state` from here on; it has room for the call.
  void AddLibrary(std::string_view name, const ricci_plan_library& call) {
    plan.libraries.push_back(call);
    const std::string& kept = library_names.emplace_back(name);
    plan.libraries.back().name = {kept.data(), kept.size()};
  }

  ir::ProgramRef optimized;
  std::vector<kernel::Kernel> kernels;
  kernel::Plan plan;
  std::vector<std::shared_ptr<const ir::ConstantData>> constants;  // the plan's CONSTANT buffers point into them
  std::vector<std::unique_ptr<const SourceText>> sources;          // what the plan's sources point to
  std::deque<std::string> library_names;                           // the primitive of each library call of the plan
  std::vector<absl::Status> checks;    // what a run returns when the CHECK of that number does not hold
  std::vector<int32_t> output_alias;   // [results]: the donated parameter whose memory result i takes, or -1
  std::vector<std::string> decisions;  // what was chosen, and why
  uint64_t flops = 0;
  double transform_s = 0, lower_s = 0;
  std::vector<LibrarySite> call_sites;  // of each library call of the plan
};

}}}  // namespace ricci::v0::pass
#endif
