// Sums of a tile by groups of four warps (wgmma of sm_90a) as text: each group has 64 rows and some columns of the
// tile, and tensor cores read both factors from shared memory, in the layout that copies have left there
// (tile_layout.h).
//
// Products of a step are issued together. Where threads copy, they are waited for at the end of the step; what later
// steps need arrives meanwhile, and two blocks share a processor, so one multiplies while the other one waits. Where
// the GPU copies (tile_bulk.cc), the products of the next step are issued before.
//
// There are two groups. A step is 64 trips, of which 3 or 4 are in up to 112 KB of shared memory; that much is asked
// for when the code is loaded (`cuFuncSetAttribute`). Tiles and parts are those of the other kinds. Architectures with
// and without `wgmma` may add the products of an element in other groups, and so differ in the last bits.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
constexpr int64_t kTrips = 16;             // of one product
constexpr int64_t kLinesTogether = 8;      // that one stride is for
constexpr int64_t kBytes = 2, kUnit = 16;  // of an element; that descriptors count in

}  // namespace

// The group is the same for all lanes of a warp, which the compiler must know: descriptors are kept once for a warp.
void KernelPrinter::DeclareWarpgroupSums() {
  const std::string columns = N(tile_->size.parts[1]);
  Line("const i32 lane = (i32)(threadIdx.x % 32), warp = (i32)(threadIdx.x / 32 % 4);");
  Line("const i32 group = __shfl_sync(0xffffffffu, (i32)(threadIdx.x / 128), 0);");
  Line("const i32 group_row = group / " + columns + " * " + N(kRowsOfWarpgroup) + ", group_column = group % " +
       columns + " * " + N(ColumnsOfWarpgroup()) + ";");
  for (const TileProduct& p : tile_->sums) {
    Line("f32 " + SumName(p) + "[" + N(ColumnsOfWarpgroup() / 2) + "] = {};");
  }
}

// The rows (columns) of the group, in the step that is at the slot `slot`.
std::string KernelPrinter::MatrixOf(const TileProduct& p, Side side, const std::string& slot) {
  const TileLayout layout = LayoutOf(p, side);
  const int64_t line = layout.of_line() * kBytes, leading = layout.lines_of_side ? kUnit : layout.lines * line;
  const std::string first = side == Side::kRows ? "group_row" : "group_column";
  return MatrixInShared(device_, line) + "(" + SlotOf(p, side, slot) + " + " + first + " * " +
         N(layout.lines_of_side ? layout.length : layout.lines) + ", " + N(leading) + ", " + N(line * kLinesTogether) +
         ")";
}

// How far `trip` is from there, in units of the descriptor.
std::string KernelPrinter::MatrixAt(const TileProduct& p, Side side) const {
  const TileLayout layout = LayoutOf(p, side);
  const std::string name = side == Side::kRows ? "rows" : "columns";
  if (layout.lines_of_side) return name + " + trip / " + N(kUnit / kBytes);
  return name + " + trip * " + N(layout.of_line() * kBytes / kUnit);
}

void KernelPrinter::IssueWarpgroupProducts(const TileProduct& p, const std::string& slot) {
  const int64_t columns = ColumnsOfWarpgroup();
  const WarpgroupProduct product{p.operands[0].dtype, columns, LayoutOf(p, Side::kRows).lines_of_side,
                                 LayoutOf(p, Side::kColumns).lines_of_side};
  Line("const u64 rows = " + MatrixOf(p, Side::kRows, slot) + ";");
  Line("const u64 columns = " + MatrixOf(p, Side::kColumns, slot) + ";");
  Line(BeginProducts(device_, columns) + "(" + SumName(p) + ");");
  Line("#pragma unroll");
  Open("for (u32 trip = 0; trip < " + N(tile_->size.step) + "; trip += " + N(kTrips) + ")");
  Line(MultiplyShared(device_, product) + "(" + SumName(p) + ", " + MatrixAt(p, Side::kRows) + ", " +
       MatrixAt(p, Side::kColumns) + ");");
  Close();
}

void KernelPrinter::AddWarpgroupProducts(const TileProduct& p) {
  IssueWarpgroupProducts(p, "used");
  Line(FinishProducts(device_, ColumnsOfWarpgroup()) + "(" + SumName(p) + ");");
}

// Each warp has 16 rows of its group; a lane two neighbours of row lane / 4 of each 8 columns, and two of the row 8
// below it.
void KernelPrinter::StoreWarpgroupSums(const TileProduct& p) {
  const std::string two = device_.Vector("f32", 2);
  Line("#pragma unroll");
  Open("for (i32 j = 0; j < " + N(ColumnsOfWarpgroup() / 4) + "; ++j)");
  Line(two + " two;");
  Line("two.at[0] = " + SumName(p) + "[j * 2], two.at[1] = " + SumName(p) + "[j * 2 + 1];");
  Line("*(" + two + "*)(results" + N(p.first) + " + (group_row + warp * 16 + lane / 4 + j % 2 * 8) * " +
       N(LengthOfResults()) + " + group_column + j / 2 * 8 + lane % 4 * 2) = two;");
  Close();
}

}  // namespace ricci::cuda
