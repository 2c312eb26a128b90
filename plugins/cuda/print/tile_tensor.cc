// Sums of a tile on tensor cores (product_tile.h) as text: each warp has some rows and columns of the tile, in blocks
// of 16 rows and 8 columns, whose elements are spread over its lanes. Of the sum an instruction takes 32 bytes.
#include "cuda/device/tensor_format.h"
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
constexpr int64_t kRows = 16, kColumns = 8;  // of a block

}  // namespace

int64_t KernelPrinter::PartOf(Side side) const {
  const auto i = static_cast<size_t>(side);
  return tile_->size.extents[i] / tile_->size.parts[i];
}

// As many as shared memory holds.
int64_t KernelPrinter::BlocksOfPass() const {
  int64_t row = 0, blocks = PartOf(Side::kRows) / kRows;
  for (const TileProduct& p : tile_->sums) row += LengthOfResults() * int64_t{codegen::SizeOfDType(At(p.last).dtype)};
  while (blocks > 1 && blocks * kRows * tile_->size.parts[0] * row > kSharedBytes) blocks /= 2;
  return blocks;
}

void KernelPrinter::DeclareTensorSums() {
  const std::string columns = N(tile_->size.parts[1]);
  Line("const i32 lane = (i32)(threadIdx.x % 32), warp = (i32)(threadIdx.x / 32);");
  Line("const i32 warp_row = warp / " + columns + " * " + N(PartOf(Side::kRows)) + ", warp_column = warp % " + columns +
       " * " + N(PartOf(Side::kColumns)) + ";");
  for (const TileProduct& p : tile_->sums) {
    Line(SumType(p) + " " + SumName(p) + "[" + N(PartOf(Side::kRows) / kRows) + "][" +
         N(PartOf(Side::kColumns) / kColumns) + "][4] = {};");
  }
}

// `x` of the rows, `y` of the columns, two blocks at once. Each lane names a line of 16 bytes.
void KernelPrinter::LoadFragments(const TileProduct& p, Side side) {
  const bool rows = side == Side::kRows;
  const uint32_t dtype = p.operands[rows ? 0 : 1].dtype;
  const TileLayout layout = LayoutOf(p, side);
  const std::string name = rows ? "x" : "y", first = std::string(rows ? "warp_row" : "warp_column") + " + i * 16";
  const std::string group = N(kMostVectorBytes / int64_t{codegen::SizeOfDType(dtype)});
  const std::string low = "lane % 16", high = "lane / 16 * " + group, turned = "lane % 8 + lane / 16 * 8",
                    middle = "lane / 8 % 2 * " + group;
  const bool by_sixteen = rows == layout.lines_of_side;
  const std::string line = by_sixteen ? low : turned, inner = by_sixteen ? high : middle;
  const std::string in_side = "(" + first + " + " + (layout.lines_of_side ? line : inner) + ")";
  const std::string trip = "(trip + " + (layout.lines_of_side ? inner : line) + ")";
  const std::string blocks = N(PartOf(side) / 16);
  Line("u32 " + name + "[" + blocks + "][4];");
  Line("#pragma unroll");
  Open("for (i32 i = 0; i < " + blocks + "; ++i)");
  const std::string from = SlotOf(p, side, "used") + " + " +
                           (layout.lines_of_side ? layout.OffsetText(in_side, trip) : layout.OffsetText(trip, in_side));
  Line(LoadMatrices(device_, !layout.lines_of_side) + "(" + name + "[i], " +
       (IsReadEitherWay(dtype) ? from : "(const u16*)(" + from + ")") + ");");
  if (dtype == RICCI_F32) Line(RoundToTf32(device_) + "(" + name + "[i]);");
  Close();
}

void KernelPrinter::AddTensorProducts(const TileProduct& p) {
  Line("#pragma unroll");
  Open("for (i32 trip = 0; trip < " + N(tile_->size.step) + "; trip += " + N(TripsOfMatrices(p.operands[0].dtype)) +
       ")");
  for (const Side side : {Side::kRows, Side::kColumns}) LoadFragments(p, side);
  Line("#pragma unroll");
  Open("for (i32 i = 0; i < " + N(PartOf(Side::kRows) / kRows) + "; ++i)");
  Line("#pragma unroll");
  Open("for (i32 j = 0; j < " + N(PartOf(Side::kColumns) / kColumns) + "; ++j)");
  Line(MultiplyMatrices(device_, p.operands[0].dtype, p.operands[1].dtype) + "(" + SumName(p) +
       "[i][j], x[i], y[j / 2] + j % 2 * 2);");
  Close();
  Close();
  Close();
}

// A lane has two neighbours of row lane / 4 of each block, and two of the row 8 below it.
void KernelPrinter::StoreTensorSums(const TileProduct& p) {
  const std::string two = device_.Vector(SumType(p), 2), blocks = N(BlocksOfPass());
  Line("#pragma unroll");
  Open("for (i32 i = 0; i < " + blocks + "; ++i)");
  Line("#pragma unroll");
  Open("for (i32 j = 0; j < " + N(PartOf(Side::kColumns) / kColumns * 2) + "; ++j)");
  Line("const " + SumType(p) + "* const sums = " + SumName(p) + "[pass * " + blocks + " + i][j / 2] + j % 2 * 2;");
  Line(two + " two;");
  Line("two.at[0] = sums[0], two.at[1] = sums[1];");
  Line("*(" + two + "*)(results" + N(p.first) + " + (warp_row / " + N(PartOf(Side::kRows)) + " * " +
       N(BlocksOfPass() * kRows) + " + i * 16 + lane / 4 + j % 2 * 8) * " + N(LengthOfResults()) +
       " + warp_column + j / 2 * 8 + lane % 4 * 2) = two;");
  Close();
  Close();
}

}  // namespace ricci::cuda
