// Sums of tiles that are cut into parts (tile_size.h), as text: the first launch leaves the sums of each part in
// memory, part by part, the second one adds the parts of a point in their order and goes on with it.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }

}  // namespace

// The sums of a product: for each part, batch and row those of all columns.
std::string KernelPrinter::PartOfTile(const TileProduct& p) const {
  int64_t begin = 0;
  for (const TileProduct& other : tile_->sums) {
    if (other.first == p.first) break;
    begin += launch_.points * launch_.parts * int64_t{codegen::SizeOfDType(At(other.last).dtype)};
  }
  return "((" + SumType(p) + "*)(parts + " + N(begin) + "))";
}

void KernelPrinter::PartsOfPass() {
  const int64_t bytes = codegen::SizeOfDType(At(tile_->sums[0].last).dtype), widest = kMostVectorBytes / bytes;
  const int64_t n = tile_->extents[1] % widest == 0 ? widest : 1;
  BeginPointsOfPass(n);
  const std::string rows = N(tile_->extents[0]), columns = N(tile_->extents[1]);
  const std::string line = tile_->extents[2] == 1 ? "part" : "(part * " + N(tile_->extents[2]) + " + batch)";
  Line("const i64 place_of_part = ((i64)" + line + " * " + rows + " + row) * " + columns + " + column;");
  for (const TileProduct& p : tile_->sums) {
    const std::string type = n == 1 ? SumType(p) : device_.Vector(SumType(p), n);
    Line("*(" + type + "*)(" + PartOfTile(p) + " + place_of_part) = s" + N(p.first) + ";");
  }
  Close();
}

// `s7`: the sums of `p` in this access of points.
void KernelPrinter::AddParts(const TileProduct& p) {
  const int64_t n = launch_.vector;
  const std::string type = n == 1 ? SumType(p) : device_.Vector(SumType(p), n), sum = "s" + N(p.first);
  const std::string from = PartOfTile(p) + " + p * " + N(n), e = n == 1 ? "" : ".at[e]";
  Line(type + " " + sum + " = *(const " + type + "*)(" + from + ");");
  Open("for (i32 part = 1; part < " + N(launch_.parts) + "; ++part)");
  Line("const " + type + " other = *(const " + type + "*)(" + from + " + (i64)part * " + N(launch_.points) + ");");
  if (n > 1) Line("#pragma unroll");
  if (n > 1) Open("for (i32 e = 0; e < " + N(n) + "; ++e)");
  Line(sum + e + " = " + Combined(RICCI_S_ADD, At(p.last).dtype, sum + e, "other" + e) + ";");
  if (n > 1) Close();
  Close();
}

void KernelPrinter::CombineTiles(const std::string& name) {
  const int64_t n = launch_.vector, along = tile_->extents[1] / n;
  Signature(name);
  Decide("second of two launches: " + N(launch_.parts) + " parts of each sum are added");
  if (tile_->points && tile_->points->bytes != 0) {
    Line("const bool aligned = " + AreAligned(BuffersTogether(*tile_->points), tile_->points->bytes) + ";");
  }
  Open("for (i64 p = (i64)blockIdx.x * blockDim.x + threadIdx.x; p < " + N(launch_.points / n) +
       "; p += (i64)gridDim.x * blockDim.x)");
  Line("const i32 column = (i32)(p % " + N(along) + ")" + (n == 1 ? "" : " * " + N(n)) + ", row = (i32)(p / " +
       N(along) + " % " + N(tile_->extents[0]) + ");");
  CoordinatesOf(Side::kBatch, "(i32)(p / " + N(along * tile_->extents[0]) + ")", nullptr);
  for (const TileProduct& p : tile_->sums) AddParts(p);
  PointsOfSums();
  Close();
  Close();
}

}  // namespace ricci::cuda
