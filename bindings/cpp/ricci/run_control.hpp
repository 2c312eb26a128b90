// ricci/run_control.hpp: runs that end early, and what their steps took.
//
//   Stop stop;
//   const auto f = jit(Simulate, {.run = {.stop = stop}});
//   stop.set_deadline(0.5);  // f(x) throws DEADLINE_EXCEEDED half a second from now; stop.request() is for other
//   threads
//
// Copies share what they are a handle of. On a device that runs later than the host, one copy stays until the results
// are ready.
#ifndef RICCI_RUN_CONTROL_HPP_
#define RICCI_RUN_CONTROL_HPP_
#include <optional>
#include <string>
#include <vector>

#include "ricci/handle.hpp"
#include "ricci/ricci.h"

namespace ricci { inline namespace v0 {

// What ends the runs that take it.
class Stop {
 public:
  Stop() : words_(new Words()) {}
  // Runs end soon, with CANCELLED, later ones too until `clear`. Any thread, also in a handler of a signal.
  void request() const { __atomic_store_n(&words_->cancel, 1u, __ATOMIC_RELEASE); }
  bool requested() const { return __atomic_load_n(&words_->cancel, __ATOMIC_ACQUIRE) != 0; }
  // Runs that begin after this call and still run that many seconds from now end, with DEADLINE_EXCEEDED.
  void set_deadline(double seconds) const;
  // Neither is wanted any more.
  void clear() const;
  void AddTo(ricci_run_opts& o) const;

 private:
  struct Words final : Counted {
    uint32_t cancel = 0;
    uint64_t deadline_ns = 0;
  };
  Ref<Words> words_;
};

// One execution of a step of the plan, or of a part of it on one thread.
struct ProfiledStep {
  std::string name;                   // of the kernel, or what is called
  std::string file;                   // of the equation that it comes from; empty if unknown
  uint32_t line = 0, kind = 0;        // RICCI_SPAN_KERNEL, ...
  uint32_t step = 0, thread = 0;      // its number in the plan; 0: all of the step, i + 1: the part of worker i
  uint64_t begin_ns = 0, end_ns = 0;  // of CLOCK_MONOTONIC
  double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
};

// Collects the steps of the runs that take it. Their program is compiled for it: some 50 ns more for each step.
class Profile {
 public:
  Profile();
  // Those of all runs so far, in the order in which they ended.
  std::vector<ProfiledStep> steps() const;
  void clear() const;
  void AddTo(ricci_run_opts& o) const;

 private:
  Ref<Counted> log_;
};

struct RunOptions {
  std::optional<Stop> stop = {};
  std::optional<Profile> profile = {};  // the program is compiled with CompileOptions::profiled
  bool empty() const { return !stop && !profile; }
  ricci_run_opts ToAbi() const;
};

}}  // namespace ricci::v0
#endif
