// Processors that the pool's threads may run on, written as Linux does: `0-3,6`.
#ifndef RICCI_CPU_AFFINITY_H_
#define RICCI_CPU_AFFINITY_H_
#include <sched.h>

#include <string>
#include <string_view>

namespace ricci::cpu {

// Reads a list of processors that this process may use. False with `error` if the text is not such a list, or names a
// processor that does not exist.
bool ParseProcessors(std::string_view text, cpu_set_t& out, std::string& error);

}  // namespace ricci::cpu
#endif
