// Code: a compiled plan: one module of kernels, and the steps that a run gives to the driver, as graphs or
// individually.
#ifndef RICCI_CUDA_CODE_H_
#define RICCI_CUDA_CODE_H_
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/run/library_calls.h"
#include "cuda/run/plan_modules.h"
#include "cuda/run/run_slots.h"

namespace ricci::cuda {

class StepTimes;

class Code {
 public:
  // What is refused is named in `info`.
  static ricci_status* Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                              ricci_code_info& info);
  ~Code();
  Code(const Code&) = delete;

  const ricci_compile_args& given() const { return given_; }
  const Gpu& device() const { return device_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  // What of it runs as graphs.
  const PlanParts& parts() const { return plan_parts_; }
  // Why each branch is a node of its own; empty if a node has all branches of a CASE.
  const std::string& why_no_choices() const { return why_no_choices_; }
  // Adds a run to what the host captures in the stream of `a`.
  ricci_status* Capture(const ricci_run_args& a);
  ricci_status* Enqueue(const ricci_run_args& a, ricci_done_fn done, void* arg, void** event);

 private:
  // A loop of the plan whose trips the host issues.
  struct OpenLoop {
    uint32_t step;
    uint64_t trips;          // that have been issued
    const OpenLoop* around;  // NULL: none
  };
  struct Run {
    const ricci_run_args& args;
    Addresses addresses;
    CuStream stream;
    Current& current;
    LibraryRun libraries;
    RunSlot* slot = nullptr;
    const OpenLoop* loop = nullptr;  // the innermost one
    StepTimes* times = nullptr;      // of a profiled run by the records of CUPTI, else null
  };

  Code(Gpu& device, const ricci_compile_args& a)
      : device_(device), given_(a), blocks_(*a.plan), libraries_(device, *a.plan), slots_(device) {}
  ricci_status* LoadAll(PlanModules& plan, Current& current, ricci_code_info& info);
  ricci_status* LoadKernel(uint32_t i, CuModule module);
  ricci_status* LoadPairs(uint32_t i, CuModule module, const std::string& name);
  ricci_status* LoadSource(uint32_t i, CuModule module);
  ricci_status* Load(Module& m, Current& current, CuModule& out);
  ricci_status* Find(CuModule module, const std::string& name, Function& f);
  Function ByThreads(int64_t threads, uint64_t thread_bytes, uint64_t shared_bytes) const;
  uint64_t MemoryOf(uint32_t kernel) const;
  void LayOutMemory();
  ricci_status* FindParts(Current& current);
  ricci_status* MakeGraphs();
  ricci_status* PrepareRuns(Current& current);

  // ---- code_run.cc ----
  Work SetFailedCheck(const Run& run) const;
  Work ReadFailedCheck(const Run& run) const;
  Work WorkOf(const Run& run, const ricci_plan_step& step) const;
  Work LibraryWork(Run& run, const ricci_plan_step& step) const;
  Work Decide(const Run& run, const PlanNode& node) const;
  Work WorkOfNode(Run& run, const PlanNode& node) const;
  ricci_status* WhyNotCaptured(const ricci_run_args& a) const;
  std::string StepName(const ricci_plan_step& step) const;
  std::string WhereStopped(const Run& run) const;
  ricci_status* Stopped(const Run& run) const;
  bool MayLaunch(const Run& run, const PlanPart& part) const;
  const PlanPart* PartAt(const Run& run, uint32_t step) const;
  ricci_status* LaunchPart(Run& run, const PlanPart& part);
  ricci_status* Start(Run& run);
  ricci_status* StartSteps(Run& run);
  ricci_status* Steps(Run& run, StepRange range);
  ricci_status* Step(Run& run, uint32_t i);
  ricci_status* IssueStep(Run& run, const ricci_plan_step& step);
  std::optional<uint32_t> KnownTrips(const Run& run, uint32_t step) const;
  ricci_status* While(Run& run, uint32_t step);
  ricci_status* Trips(Run& run, OpenLoop& loop);
  ricci_status* Case(Run& run, uint32_t step);
  ricci_status* Read(Run& run, uint32_t buffer, uint32_t bytes);

  // ---- code_profile.cc ----
  uint32_t RecordsOf(const Run& run, const ricci_plan_step& step) const;
  ricci_status* IssueTimed(Run& run, uint32_t i);
  ricci_status* IssueByEvents(Run& run, uint32_t i);
  ricci_status* ReportSteps(Run& run);
  ricci_status* StartRecorded(Run& run);

  Gpu& device_;
  const ricci_compile_args given_;  // its tables live as long as the code
  std::vector<CuModule> modules_;
  std::map<CuFunction, uint64_t> shared_bytes_;  // that was asked for, of launches that give any
  std::vector<Function> kernels_, sources_;
  std::vector<Launch> launches_;  // of kernels
  std::vector<bool> has_checks_;  // by kernel
  bool any_checks_ = false;       // else runs neither set nor read the word of failed checks
  std::vector<Function> parts_;   // by kernel: what reduces parts before it; no function where there is none
  std::vector<Function> pairs_;   // by kernel: what takes its place where addresses are aligned; or no function
  // By kernel: what takes the place of its function with tiles where addresses are not aligned (Launch::alignment).
  std::vector<Function> unaligned_;
  std::vector<uint64_t> scratch_;  // by step: where its parts or arrays are, behind the arena
  uint64_t scratch_bytes_ = 0;
  const PlanBlocks blocks_;
  LibraryCalls libraries_;
  uint64_t bytes_ = 0;
  std::string why_no_choices_;
  PlanParts plan_parts_;
  std::vector<PlanGraph> graphs_;  // by part
  RunSlots slots_;
};

}  // namespace ricci::cuda
#endif
