// Tiles of points that read across (transpose_tile.h), as text: what a block brings into shared memory, and its points.
//
// A thread takes elements of a tile, or groups of them, in an order in which lanes of a warp access neighbours of
// memory and different banks of shared memory: while elements are brought along the rows, for points along the columns.
#include <algorithm>

#include "cuda/print/kernel_printer.h"
#include "cuda/schedule/team.h"

namespace ricci::cuda {
namespace {

static_assert(kTileThreads == kBlock, "kernels are launched in blocks of one size");
// Accesses of a thread that memory answers at the same time: four take more registers than all threads of a processor
// have.
constexpr int64_t kInFlight = 2;
constexpr int64_t kLanesOfLine = 8;  // that read a line of memory, 16 bytes each

std::string N(int64_t v) { return std::to_string(v); }
// ` * 4`, or nothing for 1.
std::string Times(int64_t n) { return n == 1 ? "" : " * " + N(n); }

}  // namespace

void KernelPrinter::TransposeTiles(const std::string& name) {
  Signature(name);
  Decide(transposed_.reason);
  vector_.size > 1
      ? Decide(N(vector_.size) + " points for a thread: " + N(vector_.bytes) + " bytes at once of " + vector_.buffers)
      : Note("no vectors: " + vector_.reason);
  TransposeMemory();
  const std::string aligned = AreBroughtAligned();
  if (aligned != "true") Line("const bool aligned = " + aligned + ";");
  const std::string type = PointType();
  Open("for (" + type + " tile = (" + type + ")blockIdx.x; tile < " + N(transposed_.tiles()) + "; tile += (" + type +
       ")gridDim.x)");
  BeginOfTransposeTile();
  Line("__syncthreads();");
  for (const BroughtLoad& b : transposed_.loads) Bring(b);
  Line("__syncthreads();");
  if (vector_.size == 1) {
    PointsOfTransposeTile(1);
  } else {
    Open("if (aligned)");
    PointsOfTransposeTile(vector_.size);
    Else();
    PointsOfTransposeTile(1);
    Close();
  }
  Close();
  Close();
}

// Whether all that is accessed at once is aligned.
std::string KernelPrinter::AreBroughtAligned() const {
  std::vector<uint8_t> together(k_.n_buffers);
  int64_t bytes = transposed_.bytes;
  if (vector_.size > 1) bytes = std::max(bytes, vector_.bytes);
  for (const BroughtLoad& b : transposed_.loads) {
    if (b.second != 0 || b.at_once > 1) together[RICCI_BUFFER_OF(At(b.load).imm)] = 1;
  }
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (OtherOfPair(i) != 0 || (vector_.size > 1 && vector_.together[i] != 0)) {
      together[RICCI_BUFFER_OF(At(i).imm)] = 1;
    }
  }
  return AreAligned(together, bytes);
}

// Columns first, so that blocks that run at the same time write the same pages of memory.
void KernelPrinter::BeginOfTransposeTile() {
  const TransposeSide &columns = transposed_.columns, &rows = transposed_.rows;
  const std::string type = PointType(), of_row = N(columns.tiles()), of_batch = N(columns.tiles() * rows.tiles());
  const bool is_batched = transposed_.batch.extent > 1;
  Line("const " + type + " first_column = tile % " + of_row + Times(columns.of_tile) + ";");
  Line("const " + type + " first_row = tile / " + of_row + (is_batched ? " % " + N(rows.tiles()) : "") +
       Times(rows.of_tile) + ";");
  if (is_batched) Line("const " + type + " batch = tile / " + of_batch + ";");
  CoordinatesAlong(transposed_.batch.dims, is_batched ? "batch" : "0", nullptr);
}

// The elements of a column are next to each other.
void KernelPrinter::TransposeMemory() {
  for (const BroughtLoad& b : transposed_.loads) {
    for (const uint32_t i : {b.load, b.second}) {
      if (i == 0) continue;
      const int64_t bytes = codegen::SizeOfDType(At(i).dtype), together = b.second != 0 ? 2 : b.at_once;
      Line("__shared__ " + Type(i) + " t" + N(i) + "[" + N(transposed_.columns.of_tile) + " * " +
           N(transposed_.LengthOf(bytes)) + "];  // of b" + N(RICCI_BUFFER_OF(At(i).imm)) + ", " +
           (together == 1 ? "one at a time" : N(together * bytes) + " bytes at once"));
    }
  }
}

std::string KernelPrinter::Brought(uint32_t load, const std::string& row) const {
  const std::string column = in_group_ ? "(column + e)" : "column";
  return "t" + N(load) + "[" + column + " * " + N(transposed_.LengthOf(codegen::SizeOfDType(At(load).dtype))) + " + " +
         row + "]";
}

// A loop over groups of `n` rows, or columns, of the tile: `lanes` take groups next to each other, those after them the
// same groups of the next column, or row.
void KernelPrinter::BeginPointsOfTile(int64_t n, int64_t lanes, bool along_rows) {
  const TransposeSide& along = along_rows ? transposed_.rows : transposed_.columns;
  const TransposeSide& across = along_rows ? transposed_.columns : transposed_.rows;
  const std::string type = PointType(), cast = "(" + type + ")", lane = "at % " + N(lanes);
  const int64_t groups = along.of_tile * across.of_tile / n;
  Open("for (u32 turn = 0; turn < " + N((groups + kTileThreads - 1) / kTileThreads) + "; ++turn)");
  Line("const u32 at = threadIdx.x + turn * " + N(kTileThreads) + ";");
  if (groups % kTileThreads != 0) Line("if (at >= " + N(groups) + ") break;");
  const bool is_line = lanes * n == along.of_tile;
  const std::string group = is_line ? lane : "at / " + N(lanes * across.of_tile) + Times(lanes) + " + " + lane;
  const std::string at_along = cast + "(" + (is_line || n == 1 ? group : "(" + group + ")") + Times(n) + ")";
  const std::string at_across = cast + "(at / " + N(lanes) + (is_line ? "" : " % " + N(across.of_tile)) + ")";
  Line("const " + type + " row = " + (along_rows ? at_along : at_across) +
       ", column = " + (along_rows ? at_across : at_along) + ";");
  std::string beyond;
  if (transposed_.rows.IsCut()) beyond = "first_row + row >= " + N(transposed_.rows.extent);
  if (transposed_.columns.IsCut()) {
    beyond += (beyond.empty() ? "" : " || ") + std::string("first_column + column >= ") + N(transposed_.columns.extent);
  }
  if (!beyond.empty()) Line("if (" + beyond + ") continue;");
}

// Those of the rows and the columns that `marks` want.
void KernelPrinter::CoordinatesOfTile(const std::vector<uint8_t>& marks) {
  const auto number = [](const TransposeSide& side, const std::string& name) {
    const std::string sum = "first_" + name + " + " + name;
    return side.dims.size() == 1 ? sum : "(" + sum + ")";
  };
  CoordinatesAlong(transposed_.rows.dims, number(transposed_.rows, "row"), &marks);
  CoordinatesAlong(transposed_.columns.dims, number(transposed_.columns, "column"), &marks);
}

void KernelPrinter::Bring(const BroughtLoad& b) {
  if (b.at_once == 1) return BringBy(b, b.second == 0 ? 1 : 2);
  Open("if (aligned)");
  BringBy(b, b.at_once);
  Else();
  BringBy(b, 1);
  Close();
}

// In accesses of `n` elements.
void KernelPrinter::BringBy(const BroughtLoad& b, int64_t n) {
  const int64_t rows = b.second == 0 ? n : 1;
  Line("#pragma unroll " + N(kInFlight));
  BeginPointsOfTile(rows, rows > 1 ? kLanesOfLine : transposed_.rows.of_tile, /*along_rows=*/true);
  CoordinatesOfTile(b.for_index);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (b.for_index[i] != 0) Instruction(i);
  }
  SourceLine(b.load);
  if (n > 1) {
    BringTogether(b);
  } else {
    Line(Brought(b.load, "row") + " = b" + N(RICCI_BUFFER_OF(At(b.load).imm)) + "[" + V(At(b.load).a) + "];");
  }
  Close();
}

// Two neighbours of memory, each for an array of its own, or `at_once` of them for a column.
void KernelPrinter::BringTogether(const BroughtLoad& b) {
  const int64_t n = b.second != 0 ? 2 : b.at_once;
  const std::string x = "x" + N(b.load), type = VectorType(b.load, n);
  Line("const " + type + " " + x + " = " +
       (b.second != 0 ? LoadTogether(b.load, n) : "*(const " + type + "*)(" + Address(b.load) + ")") + ";");
  if (b.second != 0) {
    Line(Brought(b.load, "row") + " = " + x + ".at[0];");
    return Line(Brought(b.second, "row") + " = " + x + ".at[1];");
  }
  Line("#pragma unroll");
  Line("for (i32 e = 0; e < " + N(n) + "; ++e) " + Brought(b.load, "row + e") + " = " + x + ".at[e];");
}

void KernelPrinter::PointsOfTransposeTile(int64_t n) {
  Line("#pragma unroll 1");
  BeginPointsOfTile(n, transposed_.LanesAlong(n), /*along_rows=*/false);
  CoordinatesOfTile(transposed_.for_points);
  n > 1 ? Group(0) : Body(1, k_.n_insts);
  Close();
}

// The access of the element before or after, which is made together with this one; 0: there is none.
uint32_t KernelPrinter::OtherOfPair(uint32_t access) const {
  if (!transposed_.IsUsed()) return 0;
  return std::max(transposed_.first_of_pair[access], transposed_.second_of_pair[access]);
}

// At the first of the two, which comes before the second.
void KernelPrinter::LoadPair(uint32_t load) {
  const uint32_t before = transposed_.first_of_pair[load];
  const std::string x = "x" + N(before != 0 ? before : load);
  if (before == 0) Line("const " + VectorType(load, 2) + " " + x + " = " + LoadTogether(load, 2) + ";");
  Let(load, x + (before == 0 ? ".at[0]" : ".at[1]"));
}

// At the later one of the two.
void KernelPrinter::StorePair(uint32_t store) {
  const uint32_t other = OtherOfPair(store);
  if (store < other) return;
  const uint32_t first = transposed_.second_of_pair[store] != 0 ? store : other;
  const uint32_t second = first == store ? other : store;
  const std::string y = "y" + N(first);
  Line(VectorType(first, 2) + " " + y + ";");
  Line(y + ".at[0] = " + V(At(first).b) + ";");
  Line(y + ".at[1] = " + V(At(second).b) + ";");
  Line(StoreTogether(first, 2, y) + ";");
}

}  // namespace ricci::cuda
