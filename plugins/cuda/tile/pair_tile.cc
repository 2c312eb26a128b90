#include "cuda/tile/pair_tile.h"

#include <algorithm>
#include <iterator>

namespace ricci::cuda {
namespace {

constexpr int64_t kStep = 64, kPairsAtOnce = 64;  // of 128 processors
constexpr int64_t kMostWaste = 8;                 // of points an eighth may be beyond the edges

std::string N(int64_t v) { return std::to_string(v); }

int64_t PairsOf(const Tile& t) {
  return CeilDiv(t.extents[0], PairTile::kBlocks * PairTile::kRows) * CeilDiv(t.extents[1], PairTile::kColumns) *
         t.extents[2];
}

// Boxes of other lengths than the tile's own are made of rows (columns) that are one dimension.
bool HaveParts(const TileProduct& p) {
  return std::any_of(std::begin(p.operands), std::end(p.operands), [](const TileOperand& o) {
    return std::any_of(o.form.dimensions.begin(), o.form.dimensions.end(), [](const TensorForm::Dimension& d) {
      return d.along == TensorForm::Along::kSide && !(d.inner == 1 && d.is_outermost);
    });
  });
}

std::string WhyNot(const Tile& t, const TextTarget& target) {
  if (!t.has_forms) return "threads copy factors";
  if (t.products.size() != 1) return "it has " + N(static_cast<int64_t>(t.products.size())) + " products";
  if (HaveParts(t.products[0])) return "its rows or columns are several dimensions";
  if (t.size.cuts != 1) return "its sums are cut into parts";
  if (t.size.step != kStep || t.products[0].trips < target.least_trips_of_pairs) return "its sums are short";
  const int64_t pairs = PairsOf(t), computed = pairs * PairTile::kBlocks * PairTile::kRows * PairTile::kColumns;
  // In all turns together three of four blocks must have work.
  if (CeilDiv(pairs, kPairsAtOnce) * kPairsAtOnce * 3 > pairs * 4) {
    return "its " + N(pairs) + " tiles of 256 x 256 would leave too many processors without one";
  }
  const int64_t points = t.extents[0] * t.extents[1] * t.extents[2];
  if (computed - points > points / kMostWaste) return "tiles of 256 x 256 would be too empty";
  return {};
}

}  // namespace

PairTile PairTileOf(const ricci_kernel_table& k, const IndexRanges& ranges, const Tile& by_warpgroups,
                    const TextTarget& target) {
  PairTile out;
  if (by_warpgroups.kind != TileKind::kWarpgroups) return out;
  if (const std::string why_not = WhyNot(by_warpgroups, target); !why_not.empty()) {
    out.tile.reason = "no pairs of blocks: " + why_not;
    return out;
  }
  out.tile = by_warpgroups;
  out.tile.size = {.extents = {PairTile::kRows, PairTile::kColumns},
                   .step = kStep,
                   .stages = PairTile::kStages,
                   .parts = {PairTile::kGroups, 1}};
  out.pairs = PairsOf(by_warpgroups);
  out.tile.reason = "where addresses are aligned on sm_90a pairs of blocks compute " + N(out.pairs) +
                    " tiles of 256 x 256 in sequence: of each block one group of warps copies, " +
                    N(PairTile::kGroups) + " multiply";
  out.result = ResultFormOf(k, ranges, by_warpgroups);
  if (out.result.IsUsed()) out.tile.points = out.result.points;
  return out;
}

}  // namespace ricci::cuda
