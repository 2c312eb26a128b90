#include "cuda/tile/tile_forms.h"

#include <utility>

#include "cuda/tile/tile_layout.h"

namespace ricci::cuda {
TensorSides SidesOf(const ricci_kernel_table& k, const Tile& tile, Side side) {
  TensorSides out;
  for (uint32_t d = 0; d < k.domain_rank; ++d) {
    if (tile.sides[d] == side) out.side.push_back(d);
    if (tile.sides[d] == Side::kBatch) out.batch.push_back(d);
  }
  return out;
}

namespace {

// Only for what threads copy too, where addresses are not aligned.
TensorForm FormOf(const ricci_kernel_table& k, const Tile& tile, const TileProduct& p, Side side) {
  const auto i = static_cast<size_t>(side);
  const TileOperand& o = p.operands[i];
  if (o.dtype != k.insts[o.value].dtype) return {.why_not = "it is converted"};
  const TileLayout layout =
      WarpgroupLayout(tile.size.extents[i], tile.size.step, o.along_sum, tile.size.extents[i] / tile.size.parts[i]);
  const TensorBox box{.along_sum = o.along_sum, .of_line = layout.of_line(), .lines = layout.lines};
  TensorForm form = TensorFormOf(k, o.value, p.loops, SidesOf(k, tile, side), box);
  if (form.is_there() && !o.is_copy) return {.why_not = "its lines have odd lengths"};
  return form;
}

}  // namespace

void FindTensorForms(const ricci_kernel_table& k, Tile& tile) {
  for (TileProduct& p : tile.products) {
    for (const Side side : {Side::kRows, Side::kColumns}) {
      TensorForm& form = p.operands[static_cast<size_t>(side)].form;
      form = FormOf(k, tile, p, side);
      if (form.is_there() || !tile.why_no_forms.empty()) continue;
      tile.why_no_forms =
          std::string("of the ") + (side == Side::kRows ? "rows" : "columns") + " no tensor map: " + form.why_not;
    }
  }
  tile.has_forms = tile.why_no_forms.empty();
}

}  // namespace ricci::cuda
