// The sums of a tile (product_tile.h) as text: products from shared memory, and what the points of the tile do with
// their sums.
//
// Sums end in registers of many threads. They go to shared memory once more, some rows at a time, and from there
// accesses of neighbouring columns are taken: so what a point does stands in the text once, whatever layout the sums
// had, and results are written in order.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
constexpr int64_t kThreadsAlong = 16;  // the rows, and the columns

}  // namespace

// Elements of shared memory that a thread reads at once, and rows (columns) next to each other that it has.
int64_t KernelPrinter::AtOnce(const TileProduct& p, Side side) const {
  return std::min<int64_t>(tile_->size.parts[static_cast<size_t>(side)],
                           kMostVectorBytes / codegen::SizeOfDType(At(p.product).dtype));
}

// Threads are in an order in which a warp has 4 rows and 8 columns of them, so that it reads little of shared memory.
void KernelPrinter::DeclareSums() {
  if (IsByWarpgroups()) return DeclareWarpgroupSums();
  if (tile_->on_tensor_cores()) return DeclareTensorSums();
  Line("const i32 thread_column = (i32)(threadIdx.x % 8 + threadIdx.x / 32 % 2 * 8);");
  Line("const i32 thread_row = (i32)(threadIdx.x / 8 % 4 + threadIdx.x / 64 * 4);");
  for (const TileProduct& p : tile_->sums) {
    const std::string rows = N(tile_->size.parts[0]), columns = N(tile_->size.parts[1]);
    Line(SumType(p) + " " + SumName(p) + "[" + rows + "][" + columns + "];");
    Line("#pragma unroll");
    Open("for (i32 e = 0; e < " + N(tile_->size.parts[0] * tile_->size.parts[1]) + "; ++e)");
    Line(SumName(p) + "[e / " + columns + "][e % " + columns + "] = " + Identity(RICCI_S_ADD, At(p.last).dtype) + ";");
    Close();
  }
}

// The rows `x` or columns `y` of a thread in one trip.
void KernelPrinter::ReadFactors(const TileProduct& p, Side side) {
  const bool rows = side == Side::kRows;
  const TileOperand& o = p.operands[rows ? 0 : 1];
  const int64_t n = AtOnce(p, side), chunks = tile_->size.parts[rows ? 0 : 1] / n;
  const std::string type = device_.Vector(Type(o.value), n), name = rows ? "x" : "y";
  const std::string thread = rows ? "thread_row" : "thread_column";
  const std::string first = "(" + thread + " + c * " + N(kThreadsAlong) + ") * " + N(n);
  Line(type + " " + name + "[" + N(chunks) + "];");
  Line("#pragma unroll");
  Line("for (i32 c = 0; c < " + N(chunks) + "; ++c)");
  ++depth_;
  Line(name + "[c] = *(const " + type + "*)(" + SlotOf(p, side, "used") + " + " +
       LayoutOf(p, side).OffsetText("trip", first) + ");");
  --depth_;
}

void KernelPrinter::AddProducts(const TileProduct& p) {
  if (IsByWarpgroups()) return AddWarpgroupProducts(p);
  if (tile_->on_tensor_cores()) return AddTensorProducts(p);
  const std::string step = N(tile_->size.step);
  Line("#pragma unroll");
  Open("for (i32 trip = 0; trip < " + step + "; ++trip)");
  if (p.trips % tile_->size.step != 0) Line("if (step * " + step + " + trip >= " + N(p.trips) + ") break;");
  for (const Side side : {Side::kRows, Side::kColumns}) ReadFactors(p, side);
  for (const Side side : {Side::kRows, Side::kColumns}) {
    const bool rows = side == Side::kRows;
    const std::string i = rows ? "i" : "j", n = N(AtOnce(p, side));
    Line("#pragma unroll");
    Open("for (i32 " + i + " = 0; " + i + " < " + N(tile_->size.parts[rows ? 0 : 1]) + "; ++" + i + ")");
    Let(p.operands[rows ? 0 : 1].value,
        std::string(rows ? "x" : "y") + "[" + i + " / " + n + "].at[" + i + " % " + n + "]");
  }
  Line(SumType(p) + "& r" + N(p.last) + " = " + SumName(p) + "[i][j];");
  const std::string sum = "r" + N(p.last);
  if (p.contracted) {
    Line(sum + " = " + MultipliedAndAdded(p.product, sum) + ";");
  } else {
    Instruction(p.product);
    Line(sum + " = " + Combined(RICCI_S_ADD, At(p.last).dtype, sum, V(p.product)) + ";");
  }
  Close();
  Close();
  Close();
}

// ---- results ----
// Rows next to each other, of each part of the tile; groups of warps have room for all.
int64_t KernelPrinter::RowsOfPart() const {
  if (IsByWarpgroups()) return tile_->size.extents[0];
  return tile_->on_tensor_cores() ? BlocksOfPass() * 16 : kThreadsAlong * AtOnce(tile_->sums[0], Side::kRows);
}
int64_t KernelPrinter::RowsOfPass() const {
  return RowsOfPart() * (tile_->kind == TileKind::kWarps ? tile_->size.parts[0] : 1);
}
// Lanes of a warp write neighbours of several rows at once, which are so in other banks.
int64_t KernelPrinter::LengthOfResults() const { return tile_->size.extents[1] + 8; }
int64_t KernelPrinter::BeginOfResults(size_t product) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < product; ++i) {
    bytes += RowsOfPass() * LengthOfResults() * int64_t{codegen::SizeOfDType(At(tile_->sums[i].last).dtype)};
  }
  return bytes;
}

void KernelPrinter::Results() {
  for (size_t i = 0; i < tile_->sums.size(); ++i) {
    const std::string type = SumType(tile_->sums[i]);
    Line(type + "* const results" + N(tile_->sums[i].first) + " = (" + type + "*)((u8*)shared + " +
         N(BeginOfResults(i)) + ");");
  }
  Line("#pragma unroll");
  Open("for (i32 pass = 0; pass < " + N(tile_->size.extents[0] / RowsOfPass()) + "; ++pass)");
  Line("__syncthreads();");
  for (const TileProduct& p : tile_->sums) StoreSums(p);
  Line("__syncthreads();");
  in_parts_ ? PartsOfPass() : PointsOfPass();
  Close();
}

void KernelPrinter::StoreSums(const TileProduct& p) {
  if (IsByWarpgroups()) return StoreWarpgroupSums(p);
  if (tile_->on_tensor_cores()) return StoreTensorSums(p);
  const int64_t rows = AtOnce(p, Side::kRows), columns = AtOnce(p, Side::kColumns);
  const std::string vector = device_.Vector(SumType(p), columns), n = N(columns);
  Line("#pragma unroll");
  Open("for (i32 i = 0; i < " + N(rows) + "; ++i)");
  Line("#pragma unroll");
  Open("for (i32 c = 0; c < " + N(tile_->size.parts[1] / columns) + "; ++c)");
  Line(vector + " of_row;");
  Line("#pragma unroll");
  Line("for (i32 e = 0; e < " + n + "; ++e) of_row.at[e] = " + SumName(p) + "[pass * " + N(rows) + " + i][c * " + n +
       " + e];");
  Line("*(" + vector + "*)(results" + N(p.first) + " + (thread_row * " + N(rows) + " + i) * " + N(LengthOfResults()) +
       " + (thread_column + c * " + N(kThreadsAlong) + ") * " + n + ") = of_row;");
  Close();
  Close();
}

// Each thread takes accesses of `n` of the rows of a pass.
void KernelPrinter::BeginPointsOfPass(int64_t n) {
  const int64_t rows = RowsOfPass(), along = tile_->size.extents[1] / n;
  Line("#pragma unroll 1");
  Open("for (u32 at = threadIdx.x; at < " + N(rows * along) + "; at += " + N(kTileThreads) + ")");
  Line("const i32 place = (i32)(at / " + N(along) + "), column = first_column + (i32)(at % " + N(along) + ")" +
       (n == 1 ? "" : " * " + N(n)) + ";");
  const std::string part = N(RowsOfPart());
  Line("const i32 row = first_row + pass * " + part + " + " +
       (rows == RowsOfPart() ? "place" : "place / " + part + " * " + N(PartOf(Side::kRows)) + " + place % " + part) +
       ";");
  std::string beyond;
  if (tile_->extents[0] % tile_->size.extents[0] != 0) beyond = "row >= " + N(tile_->extents[0]);
  if (tile_->extents[1] % tile_->size.extents[1] != 0) {
    beyond += (beyond.empty() ? "" : " || ") + std::string("column >= ") + N(tile_->extents[1]);
  }
  if (!beyond.empty()) Line("if (" + beyond + ") continue;");
  for (const TileProduct& p : tile_->sums) {
    const std::string type = n == 1 ? SumType(p) : device_.Vector(SumType(p), n);
    Line("const " + type + " s" + N(p.first) + " = *(const " + type + "*)(results" + N(p.first) + " + place * " +
         N(LengthOfResults()) + " + (column - first_column));");
  }
}

void KernelPrinter::PointsOfPass() {
  BeginPointsOfPass(tile_->points ? tile_->points->size : 1);
  PointsOfSums();
  Close();
}

// What the points of an access do with their sums.
void KernelPrinter::PointsOfSums() {
  for (const Side side : {Side::kRows, Side::kColumns}) {
    CoordinatesOf(side, side == Side::kRows ? "row" : "column", tile_->points ? &tile_->points->early : nullptr);
  }
  tile_->points ? PointsOfAccess() : Body(1, k_.n_insts);
}

void KernelPrinter::PointsOfAccess() {
  const VectorAccess& access = *tile_->points;
  const std::string n = N(access.size);
  const ResultForm* const piece = Piece();
  const auto is_store = [&](uint32_t i) { return access.together[i] != 0 && At(i).op == RICCI_K_STORE; };
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    const bool is_kept = access.each[i] != 0 && At(i).op == RICCI_K_LOAD;
    if (access.early[i] != 0 && (!is_kept || access.together[i] == 0)) Instruction(i);
    if (is_kept) {
      const std::string type = access.together[i] != 0 ? VectorType(i, access.size) : Type(i);
      Line("const " + type + " x" + N(i) + " = " + (access.together[i] != 0 ? LoadTogether(i, access.size) : V(i)) +
           ";");
    }
    if (is_store(i)) Line(VectorType(i, access.size) + " y" + N(i) + ";");
  }
  if (piece != nullptr) Line(device_.Vector(Type(piece->value), access.size) + " kept;");
  Line("#pragma unroll");
  Open("for (i32 e = 0; e < " + n + "; ++e)");
  CoordinatesOf(Side::kRows, "row", &access.each);
  CoordinatesOf(Side::kColumns, access.size > 1 ? "(column + e)" : "column", &access.each);
  for (const TileProduct& p : tile_->sums) {
    Let(p.first, "s" + N(p.first) + (access.size > 1 ? ".at[e]" : ""));
  }
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (access.each[i] == 0) continue;
    if (is_store(i)) {
      Line("y" + N(i) + ".at[e] = " + V(At(i).b) + ";");
    } else if (At(i).op == RICCI_K_LOAD) {
      if (access.together[i] != 0) access_vectors_[i] = "x" + N(i);
      if (IsOnlyWidened(i)) continue;
      Let(i, "x" + N(i) + (access.together[i] != 0 ? ".at[e]" : ""));
    } else {
      Instruction(i);
    }
  }
  if (piece != nullptr) Line("kept.at[e] = " + V(piece->value) + ";");
  Close();
  for (const uint32_t i : access.loads) access_vectors_[i].clear();
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (is_store(i)) Line(StoreTogether(i, access.size, "y" + N(i)) + ";");
  }
}

}  // namespace ricci::cuda
