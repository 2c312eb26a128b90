#include "tile_layout.h"

#include <algorithm>
#include <utility>

#include "packet.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kBankBytes = 128;  // of all banks

std::string N(int64_t v) { return std::to_string(v); }

}  // namespace

std::string TileLayout::Place(const std::string& line, const std::string& inner) const {
  const std::string begin = line + " * " + N(length) + " + ";
  if (mul == 0) return begin + inner;
  const std::string exchange = "(" + line + (div == 1 ? "" : " / " + N(div)) + " % " + N(mod) + " * " + N(mul) + ")";
  return begin + "(" + inner + " ^ " + exchange + ")";
}

// Lanes next to each other write packets of the same rows, step / across of them: each of these gets its own part of
// the banks.
TileLayout RegisterLayout(int64_t extent, int64_t step, int64_t across, int64_t bytes) {
  TileLayout layout{.lines = step, .length = extent};
  if (across == 0) return layout;
  const int64_t of_banks = std::min(kBankBytes / bytes, extent);
  layout.div = across;
  layout.mul = std::max(kMostPacketBytes / bytes, of_banks * across / step);
  layout.mod = of_banks / layout.mul;
  return layout;
}

TileLayout TensorLayout(int64_t extent, int64_t step, bool along_sum) {
  constexpr int64_t kGroup = 8, kGroupsOfBanks = 8;
  TileLayout layout{.lines_of_side = along_sum, .lines = step, .length = extent};
  if (along_sum) std::swap(layout.lines, layout.length);
  layout.mul = kGroup;
  layout.mod = std::min(layout.length / kGroup, kGroupsOfBanks);
  layout.div = kGroupsOfBanks / layout.mod;
  return layout;
}

}  // namespace ricci::cuda
