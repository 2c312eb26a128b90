// A profile of one run as a trace for chrome://tracing and Perfetto.
//
// The run is a slice of thread 0, in it lie the steps of the plan in the order in which they ran; what workers did of a
// step is a slice of their thread. Format: Chromium's "Trace Event Format", complete events (`X`).
#ifndef RICCI_CLI_TRACE_FILE_H_
#define RICCI_CLI_TRACE_FILE_H_
#include <mutex>

#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

class Profile {
 public:
  Profile();
  Profile(const Profile&) = delete;
  // For ricci_run_opts; outlived by the profile.
  const ricci_profile* hook() const { return &hook_; }
  // Around the run.
  void Begin();
  void End();
  // Throws if the file cannot be written.
  void Write(const std::string& path, std::string_view program) const;

 private:
  struct Slice {
    uint32_t kind, step, thread, line;
    std::string name, file;
    uint64_t begin_ns, end_ns;
  };
  static void Add(void* self, const ricci_span* span);  // any thread
  std::string Event(const Slice& s) const;

  ricci_profile hook_{};
  std::mutex mutex_;
  std::vector<Slice> slices_;
  uint64_t begin_ns_ = 0, end_ns_ = 0;
};

}}}  // namespace ricci::v0::cli
#endif
