// Runs of equal steps: what a program repeats (layers, trips of a loop in the host's language) needs code only once.
#ifndef RICCI_CODEGEN_REPEATS_H_
#define RICCI_CODEGEN_REPEATS_H_
#include <cstdint>
#include <span>
#include <vector>

namespace ricci::codegen {

// Steps [first, first + period), `times` in a row.
struct Repeat {
  uint32_t first, period, times;
  uint32_t end() const { return first + period * times; }
};

// Cuts a sequence of steps, in which equal steps have equal numbers, into runs that follow each other without a gap. If
// `times` is 1 nothing is repeated; else at least `worth` steps are saved. Takes time linear in the length.
std::vector<Repeat> RepeatsOf(std::span<const uint32_t> steps, uint32_t worth);

}  // namespace ricci::codegen
#endif
