// The functions that are compiled once for each instruction set, and whether the processor has it.
#ifndef RICCI_TESTS_CPU_INSTRUCTION_SETS_H_
#define RICCI_TESTS_CPU_INSTRUCTION_SETS_H_
#include <string>
#include <vector>

#include "cpu/tiles/factor_tile.h"
#include "cpu/tiles/fft_lines.h"
#include "cpu/tiles/plane_tile.h"

namespace ricci::testing {

struct InstructionSet {
  std::string name;
  cpu::GemmTileFn tile;
  cpu::FactorRowsFn rows;
  cpu::SolveBlockFn solve;
  cpu::LuPanelFn panel;
  cpu::PlaneTileFn planes;
  cpu::FftLinesFn lines;
};
// Those that the processor has.
inline std::vector<InstructionSet> InstructionSets() {
  std::vector<InstructionSet> sets = {{"sse2", cpu::GemmTileSse2, cpu::FactorRowsSse2, cpu::SolveBlockSse2,
                                       cpu::LuPanelSse2, cpu::PlaneTileSse2, cpu::FftLinesSse2}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back({"avx2", cpu::GemmTileAvx2, cpu::FactorRowsAvx2, cpu::SolveBlockAvx2, cpu::LuPanelAvx2,
                    cpu::PlaneTileAvx2, cpu::FftLinesAvx2});
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    sets.push_back({"avx512", cpu::GemmTileAvx512, cpu::FactorRowsAvx512, cpu::SolveBlockAvx512, cpu::LuPanelAvx512,
                    cpu::PlaneTileAvx512, cpu::FftLinesAvx512});
    if (__builtin_cpu_supports("avx512bf16")) {
      sets.push_back(sets.back());
      sets.back().name = "avx512_bf16", sets.back().tile = cpu::GemmTileAvx512Bf16;
    }
  }
  return sets;
}

// Elements aligned as scratch is.
template <typename T>
class AlignedElements {
 public:
  explicit AlignedElements(int64_t n) : lines_((static_cast<size_t>(n) * sizeof(T) + 63) / 64) {}
  T* data() { return reinterpret_cast<T*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines_;
};

}  // namespace ricci::testing
#endif
