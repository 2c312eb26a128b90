// A library with the functions of NVTX, which notes its ranges and complains of those that are not closed in order.
#include <memory>
#include <utility>

#include "standin.h"

namespace ricci::cuda::standin { namespace {

// Those of a thread that are open, the last one innermost.
struct Open {
  std::vector<std::string> names;
  ~Open() {
    if (names.empty()) return;
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    m.Complain("a thread has ended with the range " + names.back() + " open");
  }
};
std::vector<std::string>& OpenRanges() {
  thread_local const std::unique_ptr<Open> open(new Open);
  return open->names;
}
std::string& noted = *new std::string;  // with the mutex of the machine

}  // namespace
}  // namespace ricci::cuda::standin

extern "C" {
using ricci::cuda::standin::Machine;
namespace standin = ricci::cuda::standin;

// As the real one: how many ranges are open around this one.
int nvtxRangePushA(const char* name) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  standin::noted += std::string(2 * standin::OpenRanges().size(), ' ') + name + "\n";
  standin::OpenRanges().emplace_back(name);
  return static_cast<int>(standin::OpenRanges().size()) - 1;
}
int nvtxRangePop() {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (standin::OpenRanges().empty()) return m.Complain("nvtxRangePop without a range"), -1;
  standin::OpenRanges().pop_back();
  return static_cast<int>(standin::OpenRanges().size());
}
// The ranges since the last time, a line each, indented by those around them; and how many are open on this thread.
const char* ricci_standin_ranges() {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static std::string given;
  given = std::exchange(standin::noted, {});
  return given.c_str();
}
int ricci_standin_open_ranges() { return static_cast<int>(standin::OpenRanges().size()); }
}
