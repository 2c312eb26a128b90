#include "cuda/print/pair_results_text.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
constexpr int64_t kHalf = 4;  // of a part, which is what a thread reads at once
constexpr int64_t kColumnsOfPass = 64, kRowsOfWarp = 16;

static_assert(PairResults::kBytes == PairTile::kRows * kColumnsOfPass * int64_t{sizeof(float)});

// Rows of 256 bytes, in which parts of 32 change places by the row, and in the second half of the row the halves of a
// part: lanes that write 4 rows, and those that read a row, meet all banks.
std::string ElementInPass(const std::string& half = "") {
  return "results + place * " + N(kColumnsOfPass) + " + (at ^ place % 8 * 8 ^ at / 32 * 4" + half + ")";
}

}  // namespace

// The warp is the same for all its lanes, which the compiler must know: else it would take lanes apart in the loop of
// products too, where descriptors are then no longer kept once for a warp.
void PairResults::Begin(int64_t begin) {
  if (!form_.IsUsed()) {
    return p_.Line("f32* const results = (f32*)(pair_shared + " + N(begin) + ") + (group_row + warp * 16) * 64;");
  }
  const std::string type(TypeName(form_.dtype));
  p_.Line(type + "* const results = (" + type + "*)(pair_shared + " + N(begin) + " + (group - 1) * " +
          N(ResultForm::kPieces * ResultForm::kPieceBytes) + ");");
  p_.Line("const bool stores = __shfl_sync(0xffffffffu, warp, 0) == 0 && " + IsElected(p_.device_) + "();");
}

void PairResults::OfTile() {
  const int64_t columns = form_.IsUsed() ? form_.columns() : kColumnsOfPass;
  p_.Line("#pragma unroll");
  p_.Open("for (i32 pass = 0; pass < " + N(PairTile::kColumns / columns) + "; ++pass)");
  if (form_.IsUsed()) {
    StorePiece();
  } else {
    p_.Line("__syncwarp();");
    StorePass();
    p_.Line("__syncwarp();");
    PointsOfWarp();
  }
  p_.Close();
}

// Shared memory must be there until all is read; then nothing is left to wait for but memory itself.
void PairResults::End() {
  if (form_.IsUsed()) p_.Line("if (stores) " + WaitForStores(p_.device_) + "();");
}

std::string PairResults::Decision() const {
  if (!form_.IsUsed()) return "threads store results: " + form_.why_not;
  return "the GPU stores results in boxes of " + N(ResultForm::kRows) + " x " + N(form_.columns()) +
         " while the next tile is computed";
}

// ---- stored by the GPU ----
void PairResults::StorePiece() {
  DeviceText& d = p_.device_;
  const std::string meet = MeetGroup(d) + "(group);";
  p_.Line(std::string(TypeName(form_.dtype)) + "* const piece = results + pass % " + N(ResultForm::kPieces) + " * " +
          N(ResultForm::kRows * form_.columns()) + ";");
  p_.Line("if (stores) " + WaitForReads(d, ResultForm::kPieces - 1) + "();");
  p_.Line(meet);
  ricci_dtype_size(form_.dtype) == 2 ? KeepMatrices() : KeepPairs();
  p_.Line(ShowToTensorCores(d) + "();");
  p_.Line(meet);
  const auto rank = static_cast<uint32_t>(form_.form.dimensions.size());
  std::string at;
  for (const TensorForm::Dimension& dimension : form_.form.dimensions) {
    const bool is_row = dimension.along == TensorForm::Along::kSum;
    at += ", " +
          p_.CoordinateOf(dimension, is_row ? "first_row + group_row" : "first_column + pass * " + N(form_.columns()));
  }
  p_.Open("if (stores)");
  p_.Line(StoreBox(d, std::string(TypeName(form_.dtype)), rank) + "(piece, map2" + at + ");");
  p_.Line(CommitStores(d) + "();");
  p_.Close();
}

// Four matrices are two rows and two columns of them. Lanes 8 m to 8 m + 7 give the rows of matrix m, of 16 bytes,
// which are in other banks, since they change places by the row.
void PairResults::KeepMatrices() {
  p_.Line("#pragma unroll");
  p_.Open("for (i32 j = 0; j < " + N(form_.columns() / 16) + "; ++j)");
  p_.Line("u32 matrices[4];");
  p_.Line("#pragma unroll");
  p_.Open("for (i32 m = 0; m < 4; ++m)");
  PointsOfTwo("m % 2", "j * 2 + m / 2");
  p_.Line("matrices[m] = " +
          (form_.is_rounded ? PairOfF32(p_.device_, form_.dtype, "kept.at[0]", "kept.at[1]")
                            : PairOfBits(p_.device_, "kept.at[0]", "kept.at[1]")) +
          ";");
  p_.Close();
  p_.Line(StoreMatrices(p_.device_) + "(piece + (warp * 16 + lane % 16) * " + N(form_.columns()) +
          " + (j * 2 + lane / 16 ^ lane % 8) * 8, matrices);");
  p_.Close();
}

// Lanes of odd rows write the two matrices of a row in the other order: else two rows would meet the same banks.
void PairResults::KeepPairs() {
  const std::string type = p_.device_.Vector(p_.Type(form_.value), 2);
  p_.Line("#pragma unroll");
  p_.Open("for (i32 j = 0; j < " + N(form_.columns() / 8) + "; ++j)");
  p_.Line("const i32 place = warp * 16 + lane / 4 + j % 2 * 8, at = j / 2 * 8 + lane % 4 * 2, odd = place % 2 * 16;");
  p_.Line(type + " first, second;");
  p_.Line("#pragma unroll");
  p_.Open("for (i32 m = 0; m < 2; ++m)");
  PointsOfTwo("j % 2", "j / 2 + m * 2");
  p_.Line("#pragma unroll");
  p_.Open("for (i32 e = 0; e < 2; ++e)");
  p_.Line("if (m == 0 || odd != 0) first.at[e] = kept.at[e];");
  p_.Line("if (m == 0 || odd == 0) second.at[e] = kept.at[e];");
  p_.Close();
  p_.Close();
  for (const bool is_first : {true, false}) {
    p_.Line("*(" + type + "*)(piece + place * " + N(form_.columns()) + " + (at + " + (is_first ? "odd" : "(16 - odd)") +
            " ^ place % 8 * 4)) = " + (is_first ? "first;" : "second;"));
  }
  p_.Close();
}

// A lane has two neighbours of row lane / 4 of a matrix of 8 x 8, which is the upper or the lower one of its warp, and
// the one with this number of the piece. Points beyond the edges read what is at these, and are not stored.
void PairResults::PointsOfTwo(const std::string& lower, const std::string& matrix) {
  const TileProduct& p = p_.tile_->sums[0];
  const VectorAccess& points = *p_.tile_->points;
  const auto coordinate = [&](Side side, const std::string& text, int64_t of_tile) {
    if (!p_.Wants(points.early, RICCI_K_DOMAIN, side) && !p_.Wants(points.each, RICCI_K_DOMAIN, side)) return;
    const std::string name = side == Side::kRows ? "row" : "column";
    const int64_t size = p_.tile_->extents[static_cast<size_t>(side)];
    const std::string last = N(size - (side == Side::kRows ? 1 : 2));
    if (size % of_tile == 0) return p_.Line("const i32 " + name + " = " + text + ";");
    p_.Line("const i32 any_" + name + " = " + text + ", " + name + " = any_" + name + " > " + last + " ? " + last +
            " : any_" + name + ";");
  };
  coordinate(Side::kRows, "first_row + group_row + warp * 16 + lane / 4 + " + lower + " * 8",
             PairTile::kBlocks * PairTile::kRows);
  coordinate(Side::kColumns, "first_column + pass * " + N(form_.columns()) + " + (" + matrix + ") * 8 + lane % 4 * 2",
             PairTile::kColumns);
  const std::string sum = "s" + N(p.first), sums = p_.SumName(p);
  p_.Line("const i32 number = (pass * " + N(form_.columns() / 8) + " + " + matrix + ") * 4 + " + lower + " * 2;");
  p_.Line(p_.device_.Vector("f32", 2) + " " + sum + ";");
  p_.Line(sum + ".at[0] = " + sums + "[number], " + sum + ".at[1] = " + sums + "[number + 1];");
  p_.PointsOfSums();
}

// ---- stored by threads ----
void PairResults::StorePass() {
  const TileProduct& p = p_.tile_->sums[0];
  const std::string two = p_.device_.Vector("f32", 2), numbers = N(kColumnsOfPass / 4);
  p_.Line("#pragma unroll");
  p_.Open("for (i32 j = 0; j < " + numbers + "; ++j)");
  p_.Line("const i32 place = lane / 4 + j % 2 * 8, at = j / 2 * 8 + lane % 4 * 2;");
  p_.Line(two + " two;");
  p_.Line("two.at[0] = " + p_.SumName(p) + "[(pass * " + numbers + " + j) * 2], two.at[1] = " + p_.SumName(p) +
          "[(pass * " + numbers + " + j) * 2 + 1];");
  p_.Line("*(" + two + "*)(" + ElementInPass() + ") = two;");
  p_.Close();
}

void PairResults::PointsOfWarp() {
  const Tile& tile = *p_.tile_;
  const TileProduct& p = tile.sums[0];
  const int64_t n = tile.points ? tile.points->size : 1, along = kColumnsOfPass / n;
  const std::string type = n == 1 ? "f32" : p_.device_.Vector("f32", n);
  p_.Line("#pragma unroll 1");
  p_.Open("for (i32 number = lane; number < " + N(kRowsOfWarp * along) + "; number += 32)");
  p_.Line("const i32 place = number / " + N(along) + ", at = number % " + N(along) + (n == 1 ? "" : " * " + N(n)) +
          ";");
  p_.Line("const i32 row = first_row + group_row + warp * 16 + place, column = first_column + pass * " +
          N(kColumnsOfPass) + " + at;");
  std::string beyond;
  if (tile.extents[0] % (PairTile::kBlocks * PairTile::kRows) != 0) beyond = "row >= " + N(tile.extents[0]);
  if (tile.extents[1] % PairTile::kColumns != 0) {
    beyond += (beyond.empty() ? "" : " || ") + std::string("column >= ") + N(tile.extents[1]);
  }
  if (!beyond.empty()) p_.Line("if (" + beyond + ") continue;");
  const std::string sum = "s" + N(p.first);
  if (n <= kHalf) {
    p_.Line("const " + type + " " + sum + " = *(const " + type + "*)(" + ElementInPass() + ");");
  } else {
    const std::string half = p_.device_.Vector("f32", kHalf);
    p_.Line(type + " " + sum + ";");
    p_.Line("*(" + half + "*)" + sum + ".at = *(const " + half + "*)(" + ElementInPass() + ");");
    p_.Line("*(" + half + "*)(" + sum + ".at + 4) = *(const " + half + "*)(" + ElementInPass(" ^ 4") + ");");
  }
  p_.PointsOfSums();
  p_.Close();
}

}  // namespace ricci::cuda
