// CompiledCode: the result of compilation: the backend's code, the tables it refers to, and working memory to run it.
//
// Shared by all executables of equal programs. Running needs a frame: pointers of arguments and results, then the
// arena and the backend's scratch, in one block where memory is the host's. Frames are kept in a few slots and taken by
// an atomic exchange, so that a run neither locks nor allocates, and as many threads as there are slots run at once
// without a new frame. (A linked free list would need a guard against reuse of a node between load and exchange; fixed
// slots do not.) A frame whose run is in flight is put back at once: the next run of the same stream comes after it
// anyway.
#ifndef RICCI_RUNTIME_COMPILED_CODE_H_
#define RICCI_RUNTIME_COMPILED_CODE_H_
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/structural.h"
#include "pass/pipeline.h"
#include "ricci/executable.h"
#include "runtime/context/array.h"

namespace ricci { inline namespace v0 { namespace runtime {

// What two compilations must have in common to share their code.
struct CompileKey {
  ir::ProgramRef program;
  std::vector<Device*> devices;  // one today
  uint32_t opt_level;
  transform::Schedule vmap;
  pass::StageSet stages;
  std::vector<uint8_t> donate;  // empty, or one per parameter
  bool profiled = false;        // the code reports its steps
  uint64_t hash = 0;            // of all of this

  static CompileKey Make(ir::ProgramRef program, std::vector<Device*> devices, uint32_t opt_level,
                         transform::Schedule vmap, pass::StageSet stages, std::vector<uint8_t> donate, bool profiled);
  // For the pipeline; borrows `donate`.
  pass::Options PassOptions() const;
  bool operator==(const CompileKey& o) const;
};

class CompiledCode;

// What the device expects the plan to cost; `text`, if not NULL, gets how each kernel would run.
absl::StatusOr<pass::Estimate> EstimateOn(const ricci_backend& backend, const pass::Lowered& lowered,
                                          std::string* text);

// Whether it is a stage that CompiledCode::Dump knows on every device, or the name of a pass.
bool IsStage(std::string_view name);
using Progress = std::function<bool(uint32_t done, uint32_t total)>;

// Working memory of one run at a time.
struct RunFrame {
  ricci_run_args args;  // points into this frame
  void** inputs;
  void** outputs;
  Array** results;
  size_t block_bytes;
  uint32_t failed_check;         // args.failed_check points here where memory is the host's
  void* device_block;            // else: arena, scratch and that word
  StreamRef stream;              // in whose order the block is used
  EventRef last;                 // the last run with this frame
  const ricci_profile* profile;  // of this run, or NULL
  const CompiledCode* code;
  bool is_captured = false;  // a run with this frame is part of a graph of the host
};

class CompiledCode final : public base::Shared {
 public:
  // Passes the tables of `lowered` to the backend; `progress` as in CompileOptions. `to_save`, if not NULL, gets the
  // code as the backend saves it; nothing if it cannot.
  static absl::StatusOr<base::Ref<CompiledCode>> Create(CompileKey key, std::unique_ptr<pass::Lowered> lowered,
                                                        const Progress& progress, std::string* to_save = nullptr);
  // From what was saved: `lowered` is of ReadPlan, `machine_code` what the backend gave.
  static absl::StatusOr<base::Ref<CompiledCode>> CreateSaved(CompileKey key, std::unique_ptr<pass::Lowered> lowered,
                                                             std::string_view machine_code);

  const CompileKey& key() const { return key_; }
  Device* device() const { return key_.devices[0]; }
  const ir::Program& program() const { return *key_.program; }
  const pass::Lowered& lowered() const { return *lowered_; }
  const ricci_executable_stats& stats() const { return stats_; }
  // It comes from CreateSaved: nothing was compiled.
  bool is_saved() const { return is_saved_; }
  // Would a run of `f`, which is equal to the program, report the same locations?
  bool ReportsSameLocations(const ir::Program& f) const;
  // The parameter whose memory result `i` may take over, or -1.
  int32_t alias(uint32_t i) const { return lowered_->output_alias.empty() ? -1 : lowered_->output_alias[i]; }
  bool donates(uint32_t param) const { return !key_.donate.empty() && key_.donate[param] != 0; }

  // Counts executables. When the last one is gone, only the cache may still hold the code, so its frames are freed.
  void AddUser() const { users_.fetch_add(1, std::memory_order_relaxed); }
  void DropUser() const;

  // Takes a frame for a run on `stream` (NULL in host memory), and puts it back.
  absl::StatusOr<RunFrame*> TakeFrame(Stream* stream) const;
  void ReturnFrame(RunFrame* frame) const;
  absl::StatusOr<RunFrame*> NewFrame(Stream* stream) const;
  void FreeFrame(RunFrame* frame) const;

  // Has no border around it, because a bound call comes straight here: what a backend throws ends in it.
  ricci_status* Run(RunFrame& frame) const noexcept {
    frame.failed_check = RICCI_NO_CHECK;
    ricci_status* s = nullptr;
    try {
      s = device()->backend.run(code_, &frame.args);
    } catch (...) {
      return RunThrew();
    }
    if (s != nullptr) return RunFailed(s);
    return frame.failed_check == RICCI_NO_CHECK ? nullptr : FailedCheck(frame.failed_check);
  }
  // Starts a run, on devices whose runs are enqueued; it uses what `after` wrote. After a failure nothing has been
  // enqueued.
  absl::StatusOr<EventRef> Enqueue(RunFrame& frame, const StreamRef& stream, std::vector<EventRef> after) const;
  // Adds a run with the frame to the graph that the host captures in `stream`. If it does not, or if the run cannot be
  // part of it, the status says so.
  absl::Status Capture(RunFrame& frame, const Stream& stream) const;
  // What the last launch of a captured run found; it has ended.
  absl::Status LastCheck(const RunFrame& frame) const;
  // What `args.span` of a profiled run calls, with the frame: the host gets the step by its name and line.
  static void ReportSpan(void* frame, uint32_t step, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
  // Of a function of the backend that runs this code, for messages.
  std::string FunctionName(std::string_view function) const;
  // The status for the value `check` of the word of the failed check.
  absl::Status CheckStatus(uint32_t check) const;
  // The text of a stage, of a form that the device has, or of the program after a pass, for which the passes run again;
  // code that was saved is compiled in full for that. INVALID_ARGUMENT lists what there is.
  absl::StatusOr<std::string> Dump(std::string_view stage) const;

 private:
  CompiledCode(CompileKey key, std::unique_ptr<pass::Lowered> lowered);
  ~CompiledCode() override;
  // Calls the backend's compile; `args` says what to save, or what was saved.
  absl::Status Generate(ricci_compile_args args, const Progress& progress);
  absl::Status Refused(absl::Status status, const ricci_code_info& info) const;
  void FreeIdleFrames() const;
  ricci_status* FailedCheck(uint32_t check) const;
  ricci_status* RunThrew() const;  // only within a catch block
  ricci_status* RunFailed(ricci_status* status) const;
  absl::Status UploadConstants();
  bool MayUse(const RunFrame& frame, const Stream* stream) const;
  // The kernel, library call or source that a step runs, or `copy`.
  std::string_view StepName(const ricci_plan_step& step) const;
  bool ReportsLocations() const;
  // ---- memory_use.cc ----
  // Working memory of a run in the device's memory; if there is not enough, the status says what it is needed for.
  absl::StatusOr<void*> AllocateArena(const Stream* stream) const;
  // The same where it is the host's memory, which the frame's block has.
  absl::Status CountArena() const;
  absl::Status WithLargestBuffers(absl::Status status, uint64_t bytes) const;
  // Memory of the host, for a frame and its arena.
  absl::StatusOr<char*> AllocateBlock(uint64_t bytes) const;
  std::string LargestBuffers() const;
  // ---- dump.cc ----
  absl::StatusOr<base::Ref<const CompiledCode>> InFull() const;
  absl::StatusOr<std::string> DumpDecisions() const;
  // A line for each check: its number, and what a run returns when it does not hold.
  std::string DumpChecks() const;
  absl::StatusOr<std::string> DumpPass(std::string_view pass) const;
  absl::StatusOr<std::string> DumpForm(std::string_view form) const;

  const CompileKey key_;
  const std::unique_ptr<pass::Lowered> lowered_;
  const kernel::KernelViews kernels_;
  ricci_plan plan_{};
  std::vector<const void*> constants_;  // in the device's memory
  void* constant_block_ = nullptr;      // where that is not the host's
  uint64_t constant_block_bytes_ = 0;
  void* code_ = nullptr;
  ricci_executable_stats stats_{};
  uint64_t arena_bytes_ = 0;  // with the backend's scratch
  mutable std::atomic<uint32_t> users_{0};
  mutable std::array<std::atomic<RunFrame*>, 8> frames_{};
  bool is_saved_ = false;
  mutable std::mutex in_full_mutex_;
  mutable base::Ref<const CompiledCode> in_full_;  // the same, compiled, if its texts were wanted
};

}}}  // namespace ricci::v0::runtime
#endif
