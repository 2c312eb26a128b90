// Tiles (product_tile.h) as text: which tile a block takes, and how the factors of its products come into shared
// memory.
//
// A sum goes in steps. While one step is computed, what a later one needs is on its way: loaded into registers before
// the products, computed from there and kept in shared memory after them, so that threads do not wait for memory.
// Rows, columns and trips beyond the last one repeat it: what is computed from them is not used.
#include "kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }
const char* NameOf(Side side) { return side == Side::kRows ? "row" : side == Side::kColumns ? "column" : "batch"; }
// Of what is kept in shared memory; `x` and `y` are what was loaded for it.
const char* KeptName(Side side) { return side == Side::kRows ? "left" : "right"; }
std::string LoadedName(Side side, uint32_t load) { return (side == Side::kRows ? "x" : "y") + std::to_string(load); }

}  // namespace

TileLayout KernelPrinter::LayoutOf(const TileProduct& p, Side side) const {
  const TileOperand& o = p.operands[Number(side)];
  const int64_t extent = tile_->size.extents[Number(side)], step = tile_->size.step;
  if (tile_->on_tensor_cores) return TensorLayout(extent, step, o.along_sum);
  return RegisterLayout(extent, step, o.along_sum ? o.packet.size : 0, codegen::SizeOfDType(o.dtype));
}

int64_t KernelPrinter::BytesOfOperand(const TileProduct& p, Side side) const {
  return LayoutOf(p, side).elements() * codegen::SizeOfDType(p.operands[Number(side)].dtype);
}

// ---- the frame ----
// One function, which the compiler makes into code for addresses that are aligned and code for others, so that loops
// need not ask. Of large tiles two blocks should share a processor.
void KernelPrinter::Tiles(const std::string& name) {
  constexpr int64_t kManySums = 64;
  const std::string aligned = AreTilesAligned();
  std::string arguments;
  for (uint32_t i = 0; i < k_.n_buffers; ++i) arguments += "b" + N(i) + ", ";
  arguments += in_parts_ ? "failed, parts" : "failed";
  const bool is_large = tile_->size.extents[0] * tile_->size.extents[1] >= kManySums * kTileThreads;
  Line("");
  Open("static __device__ __forceinline__ void " + name + "_tiles(bool aligned, " + Parameters() + ")");
  TilesOfKinds();
  Close();
  Line("");
  Open(std::string("extern \"C\" __global__ ") + (is_large ? "__launch_bounds__(256, 2) " : "") + "void " + name + "(" +
       Parameters() + ")");
  if (aligned != "true") {
    Open("if (" + aligned + ")");
    Line(name + "_tiles(true, " + arguments + ");");
    --depth_;
    Line("} else {");
    ++depth_;
  }
  Line(name + "_tiles(false, " + arguments + ");");
  if (aligned != "true") Close();
  Close();
}

void KernelPrinter::LaunchTiles() {
  if (tile_->size.cuts == 1) {
    launch_.tiles = tile_->tiles();
    return;
  }
  launch_.vector = tile_->points ? tile_->points->size : 1;
  launch_.parts = tile_->size.cuts;
  launch_.parts_threads = tile_->tiles() * tile_->size.cuts * kTileThreads;
  for (const TileProduct& p : tile_->products) {
    launch_.parts_bytes +=
        static_cast<uint64_t>(launch_.points * launch_.parts) * codegen::SizeOfDType(At(p.last).dtype);
  }
}

void KernelPrinter::TilesOfKinds() {
  if (!tensor_tile_.IsUsed()) return TilesOfKind();
  Line("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800");
  device_.SetForSome(true);
  tile_ = &tensor_tile_;
  TilesOfKind();
  Line("#else");
  tile_ = &register_tile_;
  TilesOfKind();
  device_.SetForSome(false);
  Line("#endif");
}

void KernelPrinter::TilesOfKind() {
  const int64_t of_batch = tile_->TilesOf(Side::kRows) * tile_->TilesOf(Side::kColumns), tiles = tile_->tiles();
  const int64_t batches = tile_->extents[2], cuts = tile_->size.cuts;
  Line("// " + tile_->reason);
  if (cuts > 1) Line("// first of two launches: " + N(cuts) + " parts of each sum");
  TileMemory();
  Open("for (i32 tile = (i32)blockIdx.x; tile < " + N(tiles * cuts) + "; tile += (i32)gridDim.x)");
  if (cuts > 1) Line("const i32 part = tile / " + N(tiles) + ";");
  PlaceOfTile(of_batch == tiles * cuts ? "tile" : "tile % " + N(of_batch));
  if (batches > 1) Line("const i32 batch = tile / " + N(of_batch) + (cuts == 1 ? "" : " % " + N(batches)) + ";");
  CoordinatesOf(Side::kBatch, batches > 1 ? "batch" : "0", nullptr);
  DeclareSums();
  for (const TileProduct& p : tile_->products) Multiply(p);
  Results();
  Close();
}

// Blocks that run at the same time should read the same rows and columns, from the cache: tiles go column by column
// through bands of 8 rows of tiles.
void KernelPrinter::PlaceOfTile(const std::string& number) {
  constexpr int64_t kBand = 8;
  const int64_t rows = tile_->TilesOf(Side::kRows), columns = tile_->TilesOf(Side::kColumns);
  const std::string height = N(tile_->size.extents[0]), width = N(tile_->size.extents[1]);
  if (rows <= kBand) {
    Line("const i32 first_row = " + number + " % " + N(rows) + " * " + height + ";");
    return Line("const i32 first_column = " + number + " / " + N(rows) + " * " + width + ";");
  }
  const std::string of_band = N(kBand * columns), left = N(rows) + " - band";
  Line("const i32 band = " + number + " / " + of_band + " * " + N(kBand) + ", in_band = " + number + " % " + of_band +
       ";");
  Line("const i32 rows_of_band = " +
       (rows % kBand == 0 ? N(kBand) : left + " < " + N(kBand) + " ? " + left + " : " + N(kBand)) + ";");
  Line("const i32 first_row = (band + in_band % rows_of_band) * " + height + ";");
  Line("const i32 first_column = in_band / rows_of_band * " + width + ";");
}

void KernelPrinter::TileMemory() {
  int64_t bytes = BeginOfResults(tile_->products.size());
  for (const TileProduct& p : tile_->products) {
    const int64_t step = BytesOfOperand(p, Side::kRows) + BytesOfOperand(p, Side::kColumns);
    bytes = std::max(bytes, step * tile_->size.stages);
  }
  Line("__shared__ " + device_.Vector("u64", 2) + " shared[" + N(bytes / kMostPacketBytes) + "];");
}

std::vector<uint8_t> KernelPrinter::BuffersTogether(const Packet& packet) const {
  std::vector<uint8_t> buffers(k_.n_buffers);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (packet.together[i] != 0) buffers[RICCI_BUFFER_OF(At(i).imm)] = 1;
  }
  return buffers;
}

// Whether all that is accessed in packets is aligned; on tensor cores or without them.
std::string KernelPrinter::AreTilesAligned() const {
  std::vector<uint8_t> together(k_.n_buffers);
  int64_t bytes = 1;
  const auto take = [&](const Packet& packet) {
    bytes = std::max(bytes, packet.bytes);
    const std::vector<uint8_t> buffers = BuffersTogether(packet);
    for (uint32_t b = 0; b < k_.n_buffers; ++b) together[b] |= buffers[b];
  };
  for (const Tile* tile : {&register_tile_, &tensor_tile_}) {
    for (const TileProduct& p : tile->products) {
      for (const TileOperand& o : p.operands) take(o.packet);
    }
    if (tile->points && !in_parts_) take(*tile->points);
  }
  return AreAligned(together, bytes);
}

// Whether a marked instruction is an index of a loop, or a coordinate of that side.
bool KernelPrinter::Wants(const std::vector<uint8_t>& marks, uint16_t op, Side side) const {
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (marks[i] == 0 || At(i).op != op) continue;
    if (op != RICCI_K_DOMAIN || tile_->sides[static_cast<size_t>(At(i).imm)] == side) return true;
  }
  return false;
}

// Those of the dimensions of a side, from their number; of `marks` if given only those that these want.
void KernelPrinter::CoordinatesOf(Side side, const std::string& number, const std::vector<uint8_t>* marks) {
  int64_t inner = 1;
  std::vector<uint8_t> wanted(k_.domain_rank, marks == nullptr ? 1 : 0);
  for (uint32_t i = 1; marks != nullptr && i < k_.n_insts; ++i) {
    if ((*marks)[i] != 0 && At(i).op == RICCI_K_DOMAIN) wanted[static_cast<size_t>(At(i).imm)] = 1;
  }
  for (uint32_t d = k_.domain_rank; d-- > 0;) {
    if (tile_->sides[d] != side) continue;
    const bool is_first = inner * k_.domain[d] == tile_->extents[Number(side)];
    const std::string outer = inner == 1 ? number : number + " / " + N(inner);
    if (wanted[d] != 0) {
      Line("const " + PointType() + " d" + N(d) + " = " + outer + (is_first ? "" : " % " + N(k_.domain[d])) + ";");
    }
    inner *= k_.domain[d];
  }
}

// ---- one product ----
void KernelPrinter::Multiply(const TileProduct& p) {
  const int64_t stages = tile_->size.stages, ahead = stages - 1, cuts = tile_->size.cuts;
  const int64_t all = (p.trips + tile_->size.step - 1) / tile_->size.step, per_part = (all + cuts - 1) / cuts;
  const std::string first = cuts == 1 ? "0" : "first_step", steps = cuts == 1 ? N(all) : "end_step";
  Open("");
  int64_t begin = 0;
  for (const Side side : {Side::kRows, Side::kColumns}) {
    const std::string type(TypeName(p.operands[Number(side)].dtype));
    Line(type + "* const " + KeptName(side) + " = (" + type + "*)((u8*)shared + " + N(begin) + ");");
    begin += BytesOfOperand(p, side) * stages;
  }
  Line("__syncthreads();");
  Line("i32 filled = 0;  // the place of step `next`");
  if (cuts > 1) {
    Line("const i32 first_step = part * " + N(per_part) + ";");
    Line("const i32 end_step = first_step + " + N(per_part) + " < " + N(all) + " ? first_step + " + N(per_part) +
         " : " + N(all) + ";");
  }
  Open("for (i32 step = " + (cuts == 1 ? N(-ahead) : first + " - " + N(ahead)) + "; step < " + steps + "; ++step)");
  Line("const i32 next = step + " + N(ahead) + ", used = filled == " + N(ahead) + " ? 0 : filled + 1;");
  for (const Side side : {Side::kRows, Side::kColumns}) DeclareLoaded(p, side);
  Open("if (next < " + steps + ")");
  for (const Side side : {Side::kRows, Side::kColumns}) LoadOperand(p, side);
  Close();
  if (HasCopies(p)) Line(CommitCopies(device_) + "();");
  Open("if (step >= " + first + ")");
  AddProducts(p);
  Close();
  if (!p.operands[0].is_copy || !p.operands[1].is_copy) {
    Open("if (next < " + steps + ")");
    for (const Side side : {Side::kRows, Side::kColumns}) KeepOperand(p, side);
    Close();
  }
  if (HasCopies(p)) Line(WaitForCopies(device_, stages - 2) + "();");
  Line("__syncthreads();");
  Line("filled = used;");
  Close();
  Close();
}

// The packets of an operand that a thread takes, one after the other; closed by EndPackets.
int64_t KernelPrinter::PacketsOfThread(const TileProduct& p, Side side) const {
  const int64_t packets = LayoutOf(p, side).elements() / p.operands[Number(side)].packet.size;
  return (packets + kTileThreads - 1) / kTileThreads;
}
void KernelPrinter::BeginPackets(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const int64_t packets = LayoutOf(p, side).elements() / o.packet.size, n = o.packet.size;
  const int64_t extent = tile_->size.extents[Number(side)], per_line = (o.along_sum ? tile_->size.step : extent) / n;
  Line("#pragma unroll");
  Open("for (i32 g = 0; g < " + N(PacketsOfThread(p, side)) + "; ++g)");
  Line("const i32 at = (i32)(threadIdx.x + g * " + N(kTileThreads) + "u);");
  if (packets % kTileThreads != 0) Line("if (at >= " + N(packets) + ") break;");
  const std::string times = n == 1 ? "" : " * " + N(n);
  const std::string inner = "(i32)((u32)at % " + N(per_line) + "u)" + times,
                    line = "(i32)((u32)at / " + N(per_line) + "u)";
  Line("const i32 place = " + (o.along_sum ? line : inner) + ", trip = " + (o.along_sum ? inner : line) + ";");
}

// A number below `size`, of which a tile has `of_tile`; beyond the end the last one, of which there are `n`.
std::string KernelPrinter::Limited(const std::string& number, int64_t size, int64_t of_tile, int64_t n) {
  const std::string last = N(size - n);
  return size % of_tile == 0 ? number : number + " < " + last + " ? " + number + " : " + last;
}

// The coordinates and the trips of loops that `marks` want, of a packet or of number `e` of it.
void KernelPrinter::CoordinatesOfPacket(const TileProduct& p, Side side, const std::vector<uint8_t>& marks,
                                        bool of_element) {
  const TileOperand& o = p.operands[Number(side)];
  const std::string name = NameOf(side), e = of_element && o.packet.size > 1 ? " + e" : "";
  const int64_t n = of_element ? 1 : o.packet.size;
  if (Wants(marks, RICCI_K_DOMAIN, side)) {
    Line("const i32 " + name + " = " +
         Limited("first_" + name + " + place" + (o.along_sum ? "" : e), tile_->extents[Number(side)],
                 tile_->size.extents[Number(side)], o.along_sum ? 1 : n) +
         ";");
    CoordinatesOf(side, name, &marks);
  }
  if (!Wants(marks, RICCI_K_REDUCE, side)) return;
  Line("const i32 at_trip = " +
       Limited("next * " + N(tile_->size.step) + " + trip" + (o.along_sum ? e : ""), p.trips, tile_->size.step,
               o.along_sum ? n : 1) +
       ";");
  int64_t inner = 1;
  for (size_t l = p.loops.size(); l-- > 0;) {
    const int64_t trips = codegen::TripsOf(k_, p.loops[l]).value_or(1);
    const std::string outer = inner == 1 ? "at_trip" : "at_trip / " + N(inner);
    if (marks[p.loops[l]] != 0) Let(p.loops[l], outer + (l == 0 ? "" : " % " + N(trips)));
    inner *= trips;
  }
}

void KernelPrinter::DeclareLoaded(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  if (o.is_copy) return;
  const std::string packets = N(PacketsOfThread(p, side));
  for (const uint32_t i : o.packet.loads) {
    const std::string type = o.packet.together[i] != 0 ? device_.Vector(Type(i), o.packet.size) : Type(i);
    Line(type + " " + LoadedName(side, i) + "[" + packets + "];");
  }
}

void KernelPrinter::LoadOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  BeginPackets(p, side);
  CoordinatesOfPacket(p, side, o.packet.early, /*of_element=*/false);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (o.packet.early[i] == 0 || At(i).op == RICCI_K_REDUCE) continue;
    const bool is_kept = o.packet.each[i] != 0 && At(i).op == RICCI_K_LOAD;
    if (!is_kept || o.packet.together[i] == 0) Instruction(i);
    if (!is_kept) continue;
    if (o.is_copy) {
      CopyOperand(p, side);
      continue;
    }
    Line(LoadedName(side, i) + "[g] = " + (o.packet.together[i] != 0 ? LoadTogether(i, o.packet.size) : V(i)) + ";");
  }
  Close();
}

std::string KernelPrinter::SlotOf(const TileProduct& p, Side side, const std::string& slot) const {
  return KeptName(side) + (" + " + slot + " * ") + N(LayoutOf(p, side).elements());
}

// Trips beyond the last one; only tensor cores add their products, which must then be 0.
std::string KernelPrinter::IsInside(const TileProduct& p) const {
  if (!tile_->on_tensor_cores || p.trips % tile_->size.step == 0) return {};
  return "next * " + N(tile_->size.step) + " + trip < " + N(p.trips);
}

void KernelPrinter::CopyOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const TileLayout layout = LayoutOf(p, side);
  const std::string place = layout.lines_of_side ? layout.Place("place", "trip") : layout.Place("trip", "place");
  const std::string inside = IsInside(p);
  Line(CopyTogether(device_, Type(o.value), o.packet.size) + "(" + SlotOf(p, side, "filled") + " + " + place + ", " +
       Address(o.value) + ", aligned, " + (inside.empty() ? "true" : inside) + ");");
}

// What was loaded is made the factor of products, and put into shared memory.
void KernelPrinter::KeepOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  if (o.is_copy) return;
  const TileLayout layout = LayoutOf(p, side);
  const int64_t n = o.packet.size;
  const bool in_line = n > 1 && o.along_sum == layout.lines_of_side;
  const std::string type(TypeName(o.dtype)), vector = n > 1 ? device_.Vector(type, n) : type;
  BeginPackets(p, side);
  Line(type + "* const to = " + SlotOf(p, side, "filled") + ";");
  if (in_line) Line(vector + " kept;");
  if (n > 1) Line("#pragma unroll");
  if (n > 1) Open("for (i32 e = 0; e < " + N(n) + "; ++e)");
  CoordinatesOfPacket(p, side, o.packet.each, /*of_element=*/true);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (o.packet.each[i] == 0 || At(i).op == RICCI_K_REDUCE) continue;
    if (At(i).op != RICCI_K_LOAD) {
      Instruction(i);
    } else {
      Let(i, LoadedName(side, i) + "[g]" + (o.packet.together[i] != 0 ? ".at[e]" : ""));
    }
  }
  const std::string place = "place", trip = n > 1 && !in_line ? "(trip + e)" : "trip";
  const std::string line = layout.lines_of_side ? place : trip, inner = layout.lines_of_side ? trip : place;
  const std::string inside = IsInside(p), kept = Convert(device_, At(o.value).dtype, o.dtype, V(o.value));
  const std::string value = inside.empty() ? kept : inside + " ? " + kept + " : 0";
  Line((in_line ? "kept.at[e]" : "to[" + layout.Place(line, inner) + "]") + " = " + value + ";");
  if (n > 1) Close();
  if (in_line) Line("*(" + vector + "*)(to + " + layout.Place(line, inner) + ") = kept;");
  Close();
}

}  // namespace ricci::cuda
