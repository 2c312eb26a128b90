// Trial: the test of one seed: a program, a transform of it, and every law, each checked; a failure is shrunk and
// printed with the line that repeats it.
#ifndef RICCI_TESTS_FUZZ_SEED_TRIAL_H_
#define RICCI_TESTS_FUZZ_SEED_TRIAL_H_
#include <functional>

#include "fuzz/draft.h"
#include "fuzz/gpu_calls.h"
#include "fuzz/object_check.h"
#include "fuzz/whole_program_laws.h"
#include "support/late_backend.h"

namespace ricci::testing {

// Of a GPU, which may be a simulated one: then one library is both.
struct GpuLibraries {
  std::string driver, compiler;  // no compiler: that of the driver's library, or the plugin's choice
  GpuCalls calls = GpuCalls::kNone;
  bool empty() const { return driver.empty(); }
};

struct TrialOptions {
  std::vector<std::string> devices;  // compared with `ref`
  bool verbose = false, shrink = true;
  bool draw_only = false;  // programs are only counted, not checked
  int ways = 1;            // to compile, that the law of one rounding compares with the first
  GpuLibraries gpu;        // the device `cuda`; without laws, which compile many programs
  ObjectTool objects;      // programs are compiled ahead of time (object_trials.h)
};

struct Totals {
  int64_t programs = 0, smooth = 0, transformed = 0, equations = 0, failures = 0;
  CheckCounts checks;
  LawCounts laws;
  int64_t rounded_once = 0;  // results that were compared bit by bit
  DraftCounts draft;
  std::map<std::string, int64_t> rows;  // by name: programs that hold it
};

using Context = std::shared_ptr<ricci_ctx>;
// `vmap`: auto, batched or lanes.
// `small_code`: the CPU backend generates code as for large bodies, a GPU sorts the updates of small scatters too.
// `late`: devices to add, or NULL. `gpu`: as in TrialOptions.
Context MakeContext(std::string_view vmap, bool small_code = false, LateDevices* late = nullptr,
                    const GpuLibraries& gpu = {});

// One that keeps a GPU's own context as long as it lives: else each program makes and destroys it, which takes far
// longer than the program. Null without a GPU, and for a simulated one, which reports what each program leaves there.
Context KeptGpu(const GpuLibraries& gpu);

// How a program is given to what runs it: as it was made, read from text, or loaded from a file that was saved.
enum class Form : uint8_t { kMade, kOtherText, kFile };

class Trial {
 public:
  Trial(uint64_t seed, const TrialOptions& options, Totals& totals);
  void Run();
  // The program of the seed, and inputs for it or for one made from it.
  Program Draw();
  std::vector<Bytes> Inputs(const Program& p) const { return DrawInputs(ctx_.get(), p.get(), seed_, palette_.special); }
  ricci_ctx* context() const { return ctx_.get(); }
  // The program with what becomes of it as an object; it borrows from this.
  ObjectSubject DrawObject();
  using Verdict = std::function<Complaint(const Program&)>;
  // Prints a failure, and the smallest program that fails in the same way.
  void Report(const Program& p, const std::string& complaint, const Verdict& verdict);

 private:
  void RunAll();
  void RunOnGpu();
  std::vector<std::string> Devices() const;
  bool OnCpu() const;
  void DrawEquations(Draft& d);
  Verdict Equality();
  Verdict Kept();  // by a cache; for a share of the programs
  Verdict OneRounding();
  Verdict OtherText();
  Verdict Laws();
  // Whether it failed.
  bool Check(const Program& p, const Verdict& verdict);
  bool CheckTransformed(const Program& p);
  void PrintReplay(const Program& p);

  const uint64_t seed_;
  const TrialOptions& options_;
  Totals& totals_;
  Dice dice_;
  Palette palette_;
  std::string mode_;
  const bool small_code_;
  const std::unique_ptr<LateDevices> late_;  // NULL: not with this seed
  Context ctx_;
  DonateMask donate_;
  const Form form_;
};

}  // namespace ricci::testing
#endif
