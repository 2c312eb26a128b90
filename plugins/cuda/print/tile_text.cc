// Tiles (product_tile.h) as text: which tile a block takes, and the steps of its sums.
//
// While one step is computed, what a later one needs is on its way (tile_operands.cc). Rows, columns and trips beyond
// the last one repeat it: what is computed from them is not used.
//
// On tensor cores trips beyond the last one are zeros, so a sum of which all products are -0 is 0 there.
#include "cuda/print/kernel_printer.h"
#include "cuda/schedule/team.h"

namespace ricci::cuda {
namespace {

static_assert(kTileThreads == kBlock, "kernels are launched in blocks of one size");

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }

bool HasCopies(const TileProduct& p) { return p.operands[0].is_copy || p.operands[1].is_copy; }

// For the text.
std::string WayOf(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const std::string along = std::string(" along the ") + (o.along_sum           ? "sum"
                                                          : side == Side::kRows ? "rows"
                                                                                : "columns");
  const std::string at_once = o.access.bytes == 0 ? "one at a time" : N(o.access.bytes) + " bytes at once";
  return at_once + along + (o.is_copy ? ", copied" : ", through registers");
}

}  // namespace

// A function for aligned addresses, and one for others: code for both would hold the registers of both. Hosts choose
// (Launch::alignment), but where the plan knows all addresses, or nothing depends on them. Where pairs of blocks take
// all that are aligned, others are left.
void KernelPrinter::Tiles(const std::string& name) {
  const Alignment all = pair_tile_.IsUsed() ? Alignment{} : AlignmentOfTiles();
  launch_.alignment = {.arguments = {}, .bytes = all.bytes};
  static_assert(kMostVectorBytes == kArenaAlignment);
  for (const uint32_t b : all.arguments) {
    if (in_arena_[b] == 0) launch_.alignment.arguments.push_back(b);
  }
  if (all.IsUsed()) TilesWhereAligned(name, /*aligned=*/true);
  if (all.IsUsed() && !launch_.alignment.IsUsed()) return;
  is_again_ = all.IsUsed();
  TilesWhereAligned(is_again_ ? name + "_unaligned" : name, /*aligned=*/false);
  is_again_ = false;
}

// Of large tiles two blocks should share a processor.
void KernelPrinter::TilesWhereAligned(const std::string& name, bool aligned) {
  constexpr int64_t kManySums = 64;
  const bool is_large = tile_->size.extents[0] * tile_->size.extents[1] >= kManySums * kTileThreads;
  is_aligned_ = aligned;
  source_line_.clear();
  Line("");
  Line("// " + Summary());
  Open("extern \"C\" __global__ " + std::string(is_large ? "__launch_bounds__(256, 2) " : "") + "void " + name + "(" +
       Parameters() + MapParameters(launch_.maps) + ")");
  Line(std::string("[[maybe_unused]] constexpr bool aligned = ") + (aligned ? "true;" : "false;"));
  TilesOfBlocks();
  Close();
}

void KernelPrinter::LaunchTiles() {
  MakeMaps();
  LaunchPairs();
  if (tile_->size.cuts == 1) {
    launch_.tiles = tile_->tiles();
    return;
  }
  launch_.vector = tile_->points ? tile_->points->size : 1;
  launch_.parts = tile_->size.cuts;
  launch_.parts_threads = tile_->tiles() * tile_->size.cuts * kTileThreads;
  for (const TileProduct& p : tile_->sums) {
    launch_.parts_bytes +=
        static_cast<uint64_t>(launch_.points * launch_.parts) * codegen::SizeOfDType(At(p.last).dtype);
  }
}

void KernelPrinter::TilesOfBlocks() {
  const int64_t of_batch = tile_->TilesOf(Side::kRows) * tile_->TilesOf(Side::kColumns), tiles = tile_->tiles();
  const int64_t batches = tile_->extents[2], cuts = tile_->size.cuts;
  Decide(tile_->reason);
  if (HasBoxes()) Decide("where addresses are aligned the GPU copies boxes of both factors by itself");
  if (!tile_->why_no_forms.empty()) Decide("threads copy both factors; " + tile_->why_no_forms);
  if (cuts > 1) Decide("first of two launches: " + N(cuts) + " parts of each sum");
  TileMemory();
  if (HasBoxes()) BeginBarriers();
  Open("for (i32 tile = (i32)blockIdx.x; tile < " + N(tiles * cuts) + "; tile += (i32)gridDim.x)");
  if (cuts > 1) Line("const i32 part = tile / " + N(tiles) + ";");
  BeginOfTile(of_batch == tiles * cuts ? "tile" : "tile % " + N(of_batch), tile_->size.extents[0]);
  if (batches > 1) Line("const i32 batch = tile / " + N(of_batch) + (cuts == 1 ? "" : " % " + N(batches)) + ";");
  CoordinatesOf(Side::kBatch, batches > 1 ? "batch" : "0", nullptr);
  DeclareSums();
  for (const TileProduct& p : tile_->products) Multiply(p);
  Results();
  Close();
}

// Blocks that run at the same time should read the same rows and columns, from the cache: tiles go column by column
// through bands of 8 rows of tiles. `height`: the rows of a tile, or of those that blocks compute together, of which
// this one has those from `of_block` on.
void KernelPrinter::BeginOfTile(const std::string& number, int64_t height, const std::string& of_block) {
  constexpr int64_t kBand = 8;
  const int64_t rows = CeilDiv(tile_->extents[0], height), columns = tile_->TilesOf(Side::kColumns);
  const std::string first = " * " + N(height) + of_block + ";", width = N(tile_->size.extents[1]);
  if (rows <= kBand) {
    Line("const i32 first_row = " + number + " % " + N(rows) + first);
    return Line("const i32 first_column = " + number + " / " + N(rows) + " * " + width + ";");
  }
  const std::string of_band = N(kBand * columns), left = N(rows) + " - band";
  Line("const i32 band = " + number + " / " + of_band + " * " + N(kBand) + ", in_band = " + number + " % " + of_band +
       ";");
  Line("const i32 rows_of_band = " +
       (rows % kBand == 0 ? N(kBand) : left + " < " + N(kBand) + " ? " + left + " : " + N(kBand)) + ";");
  Line("const i32 first_row = (band + in_band % rows_of_band)" + first);
  Line("const i32 first_column = in_band / rows_of_band * " + width + ";");
}

int64_t KernelPrinter::BytesOfTile() const {
  int64_t bytes = BeginOfResults(tile_->sums.size());
  for (const TileProduct& p : tile_->products) {
    bytes = std::max(bytes, BytesOfStep(p) * tile_->size.stages);
  }
  return (bytes + kMostVectorBytes - 1) / kMostVectorBytes * kMostVectorBytes;
}

void KernelPrinter::TileMemory() {
  const int64_t bytes = BytesOfTile() + BytesOfBarriers();
  if (IsByWarpgroups()) {
    launch_.tile_shared_bytes = std::max(launch_.tile_shared_bytes, static_cast<uint64_t>(bytes));
    return Line("extern __shared__ __align__(1024) u8 shared[];  // " + N(bytes) + " bytes");
  }
  Line("__shared__ " + device_.Vector("u64", 2) + " shared[" + N(bytes / kMostVectorBytes) + "];");
}

std::vector<uint8_t> KernelPrinter::BuffersTogether(const VectorAccess& access) const {
  std::vector<uint8_t> buffers(k_.n_buffers);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (access.together[i] != 0) buffers[RICCI_BUFFER_OF(At(i).imm)] = 1;
  }
  return buffers;
}

// That of all that is accessed in vectors.
Alignment KernelPrinter::AlignmentOfTiles() const {
  std::vector<uint8_t> together(k_.n_buffers);
  int64_t bytes = 1;
  const auto take = [&](const VectorAccess& access) {
    bytes = std::max(bytes, access.bytes);
    const std::vector<uint8_t> buffers = BuffersTogether(access);
    for (uint32_t b = 0; b < k_.n_buffers; ++b) together[b] |= buffers[b];
  };
  for (const TileProduct& p : tile_->products) {
    for (const TileOperand& o : p.operands) {
      take(o.access);
      if (tile_->has_forms) together[o.form.buffer] = 1;
    }
  }
  if (tile_->has_forms) bytes = std::max(bytes, TensorMap::kAlignment);
  if (tile_->points && !in_parts_) take(*tile_->points);
  return Alignment::Of(together, static_cast<uint64_t>(bytes));
}

// Whether a marked instruction is an index of a loop, or a coordinate of that side.
bool KernelPrinter::Wants(const std::vector<uint8_t>& marks, uint16_t op, Side side) const {
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (marks[i] == 0 || At(i).op != op) continue;
    if (op != RICCI_K_DOMAIN || tile_->sides[static_cast<size_t>(At(i).imm)] == side) return true;
  }
  return false;
}

// Those of some dimensions, from the outermost, by the number that they make together; of `marks` if given only those
// that these want.
void KernelPrinter::CoordinatesAlong(const std::vector<uint32_t>& dims, const std::string& number,
                                     const std::vector<uint8_t>* marks) {
  int64_t inner = 1, all = 1;
  std::vector<uint8_t> wanted(k_.domain_rank, marks == nullptr ? 1 : 0);
  for (uint32_t i = 1; marks != nullptr && i < k_.n_insts; ++i) {
    if ((*marks)[i] != 0 && At(i).op == RICCI_K_DOMAIN) wanted[static_cast<size_t>(At(i).imm)] = 1;
  }
  for (const uint32_t d : dims) all *= k_.domain[d];
  for (size_t at = dims.size(); at-- > 0;) {
    const uint32_t d = dims[at];
    const bool is_first = inner * k_.domain[d] == all;
    const std::string outer = inner == 1 ? number : number + " / " + N(inner);
    if (wanted[d] != 0) {
      Line("const " + PointType() + " d" + N(d) + " = " + outer + (is_first ? "" : " % " + N(k_.domain[d])) + ";");
    }
    inner *= k_.domain[d];
  }
}

void KernelPrinter::CoordinatesOf(Side side, const std::string& number, const std::vector<uint8_t>* marks) {
  std::vector<uint32_t> dims;
  for (uint32_t d = 0; d < k_.domain_rank; ++d) {
    if (tile_->sides[d] == side) dims.push_back(d);
  }
  CoordinatesAlong(dims, number, marks);
}

// ---- one product ----
void KernelPrinter::Multiply(const TileProduct& p) {
  const std::string first = tile_->size.cuts == 1 ? "0" : "first_step";
  Open("");
  if (HasBoxes()) {
    MultiplyBoxes(p);
    return Close();
  }
  BeginSteps(p);
  for (const Side side : {Side::kRows, Side::kColumns}) DeclareLoaded(p, side);
  Open("if (next < last_step)");
  for (const Side side : {Side::kRows, Side::kColumns}) LoadOperand(p, side);
  Close();
  if (HasCopies(p)) Line(CommitCopies(device_) + "();");
  Open("if (step >= " + first + ")");
  AddProducts(p);
  Close();
  if (!p.operands[0].is_copy || !p.operands[1].is_copy) {
    Open("if (next < last_step)");
    for (const Side side : {Side::kRows, Side::kColumns}) KeepOperand(p, side);
    Close();
  }
  if (HasCopies(p)) Line(WaitForCopies(device_, tile_->size.stages - 2) + "();");
  if (IsByWarpgroups()) Line(ShowToTensorCores(device_) + "();");
  Line("__syncthreads();");
  Line("filled = used;");
  Close();
  Close();
}

// The two factors in shared memory.
void KernelPrinter::BeginOfOperands(const TileProduct& p) {
  int64_t begin = 0;
  for (const Side side : {Side::kRows, Side::kColumns}) {
    const std::string type(TypeName(p.operands[Number(side)].dtype));
    Line(type + "* const " + KeptName(side) + " = (" + type + "*)((u8*)shared + " + N(begin) + ");  // " +
         WayOf(p, side));
    begin += BytesOfOperand(p, side) * tile_->size.stages;
  }
}

int64_t KernelPrinter::StepsOfPart(const TileProduct& p) const {
  return CeilDiv(CeilDiv(p.trips, tile_->size.step), tile_->size.cuts);
}

// The first step, which is 0 unless sums are cut into parts, and the last one (exclusive).
void KernelPrinter::BoundsOfSteps(const TileProduct& p) {
  const int64_t cuts = tile_->size.cuts, all = CeilDiv(p.trips, tile_->size.step), per_part = StepsOfPart(p);
  if (cuts == 1) return Line("const i32 last_step = " + N(all) + ";");
  Line("const i32 first_step = part * " + N(per_part) + ", end = first_step + " + N(per_part) + ";");
  Line("const i32 last_step = end < " + N(all) + " ? end : " + N(all) + ";");
}

// The loop over steps; `next` is on its way to the slot `filled`, `step` is at the slot `used`.
void KernelPrinter::BeginSteps(const TileProduct& p) {
  const int64_t ahead = tile_->size.stages - 1;
  BeginOfOperands(p);
  Line("__syncthreads();");
  Line("i32 filled = 0;");
  BoundsOfSteps(p);
  Open("for (i32 step = " + (tile_->size.cuts == 1 ? N(-ahead) : "first_step - " + N(ahead)) +
       "; step < last_step; ++step)");
  Line("const i32 next = step + " + N(ahead) + ", used = filled == " + N(ahead) + " ? 0 : filled + 1;");
}

}  // namespace ricci::cuda
