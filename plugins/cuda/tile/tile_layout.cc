#include "cuda/tile/tile_layout.h"

#include <algorithm>
#include <utility>

#include "cuda/schedule/vector_access.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kBankBytes = 128;  // of all banks

std::string N(int64_t v) { return std::to_string(v); }

}  // namespace

std::string TileLayout::OffsetText(const std::string& line, const std::string& inner) const {
  std::string begin = line + " * " + N(of_line()) + " + ", in_line = inner;
  if (panel != 0) {
    begin = inner + " / " + N(panel) + " * " + N(lines * panel) + " + " + begin;
    in_line = inner + " % " + N(panel);
  }
  if (mul == 0) return begin + in_line;
  const std::string lines = line + (div == 1 ? "" : " / " + N(div));
  const std::string exchange = "(" + (fold == 0 ? lines : "(" + lines + " ^ " + line + " / " + N(fold) + " % 2)") +
                               " % " + N(mod) + " * " + N(mul) + ")";
  return begin + "(" + in_line + " ^ " + exchange + ")";
}

// Lanes next to each other write accesses of the same rows, step / across of them: each of these gets its own part of
// the banks.
TileLayout RegisterLayout(int64_t extent, int64_t step, int64_t across, int64_t bytes) {
  TileLayout layout{.lines = step, .length = extent};
  if (across == 0) return layout;
  const int64_t of_banks = std::min(kBankBytes / bytes, extent);
  layout.div = across;
  layout.mul = std::max(kMostVectorBytes / bytes, of_banks * across / step);
  layout.mod = of_banks / layout.mul;
  return layout;
}

TileLayout TensorLayout(int64_t extent, int64_t step, bool along_sum, int64_t bytes) {
  constexpr int64_t kGroupsOfBanks = 8;
  TileLayout layout{.lines_of_side = along_sum || bytes != 2, .lines = step, .length = extent};
  if (layout.lines_of_side) std::swap(layout.lines, layout.length);
  layout.mul = kMostVectorBytes / bytes;
  layout.mod = std::min(layout.length / layout.mul, kGroupsOfBanks);
  layout.div = kGroupsOfBanks / layout.mod;
  if (bytes != 2) layout.fold = kGroupsOfBanks;
  return layout;
}

TileLayout WarpgroupLayout(int64_t extent, int64_t step, bool along_sum, int64_t part) {
  constexpr int64_t kMostOfLine = 64;
  if (along_sum) return TensorLayout(extent, step, along_sum);
  const int64_t panel = std::min(part, kMostOfLine);
  TileLayout layout = TensorLayout(panel, step, along_sum);
  layout.length = extent;
  layout.panel = panel == extent ? 0 : panel;
  return layout;
}

}  // namespace ricci::cuda
