// Locations of long loops in the host's source, so that the error of a run that was ended says in which loop it was.
//
// Code says where it polled by the numbers of a step and of an instruction (run_state.h), which say nothing to people.
// Saved code has no instructions any more, so the locations of its loops are saved with it, as text: numbers of
// locations are those of one context. Loops without a bound count, and those of many trips; shorter ones are named by
// the loop around them.
//
// Loops in code that equal parts of a body share have no location.
#ifndef RICCI_CPU_LOOP_LOCATIONS_H_
#define RICCI_CPU_LOOP_LOCATIONS_H_
#include <string>
#include <string_view>
#include <vector>

#include "cpu/run/run_state.h"
#include "ricci/backend.h"

namespace ricci::cpu {

struct LoopLocation {
  uint32_t kernel, begin, end;  // instructions that open and close it
  uint32_t line;
  std::string file;
};

// Of the long loops of all kernels, as far as they are known, with inner loops after those around them.
std::vector<LoopLocation> LocationsOfLoops(const ricci_ctx* ctx, const ricci_compile_args& a);

// ` in the loop at f.py:3, after 4096 trips` for a run that ended there; empty if it was in no loop whose location is
// known. `loops` are those of its kernels.
std::string WhereStopped(const ricci_ctx* ctx, const ricci_compile_args& a, const std::vector<LoopLocation>& loops,
                         const StopPoint& at);

// As bytes; TakeFrom removes them, and is false if there are too few.
void AppendTo(std::string& bytes, const std::vector<LoopLocation>& loops);
bool TakeFrom(std::string_view& bytes, std::vector<LoopLocation>& loops);

}  // namespace ricci::cpu
#endif
