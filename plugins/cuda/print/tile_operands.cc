// How the factors of products come into shared memory (product_tile.h), as text: copied by the GPU itself, or loaded
// into registers before the products of a step, and computed from there and kept after them, so that threads do not
// wait for memory.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }
const char* NameOf(Side side) { return side == Side::kRows ? "row" : "column"; }
// `x` and `y` are what was loaded.
std::string LoadedName(Side side, uint32_t load) { return (side == Side::kRows ? "x" : "y") + std::to_string(load); }

// A number below `size`, of which a tile has `of_tile`; beyond the end the last one, of which there are `n`.
std::string Limited(const std::string& number, int64_t size, int64_t of_tile, int64_t n) {
  const std::string last = N(size - n);
  return size % of_tile == 0 ? number : number + " < " + last + " ? " + number + " : " + last;
}

}  // namespace

// ---- offsets in shared memory ----
TileLayout KernelPrinter::LayoutOf(const TileProduct& p, Side side) const {
  const TileOperand& o = p.operands[Number(side)];
  const int64_t extent = tile_->size.extents[Number(side)], step = tile_->size.step;
  if (IsByWarpgroups()) return WarpgroupLayout(extent, step, o.along_sum, PartOf(side));
  if (tile_->on_tensor_cores()) {
    return TensorLayout(extent, step, o.along_sum, codegen::SizeOfDType(o.dtype));
  }
  return RegisterLayout(extent, step, o.along_sum ? o.access.size : 0, codegen::SizeOfDType(o.dtype));
}

int64_t KernelPrinter::BytesOfOperand(const TileProduct& p, Side side) const {
  return LayoutOf(p, side).elements() * codegen::SizeOfDType(p.operands[Number(side)].dtype);
}

int64_t KernelPrinter::BytesOfStep(const TileProduct& p) const {
  return BytesOfOperand(p, Side::kRows) + BytesOfOperand(p, Side::kColumns);
}

std::string KernelPrinter::KeptName(Side side) { return side == Side::kRows ? "left" : "right"; }

// The accesses of an operand that a thread takes, in a loop that Close ends. Adjacent threads take accesses of one
// panel, whose lines are adjacent in shared memory.
int64_t KernelPrinter::AccessesOfThread(const TileProduct& p, Side side) const {
  if (p.operands[Number(side)].is_turned) return BlocksOfThread(p, side) * TripsOfBlock(p, side);
  const int64_t accesses = LayoutOf(p, side).elements() / p.operands[Number(side)].access.size;
  return (accesses + kTileThreads - 1) / kTileThreads;
}
void KernelPrinter::BeginAccesses(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  if (o.is_turned) return BeginTurned(p, side, /*of_packet=*/true);
  const TileLayout layout = LayoutOf(p, side);
  const int64_t accesses = layout.elements() / o.access.size, n = o.access.size;
  const int64_t extent = tile_->size.extents[Number(side)], length = layout.panel != 0 ? layout.panel
                                                                     : o.along_sum     ? tile_->size.step
                                                                                       : extent;
  const int64_t per_line = length / n;
  Line("#pragma unroll");
  Open("for (i32 g = 0; g < " + N(AccessesOfThread(p, side)) + "; ++g)");
  Line("const i32 at = (i32)(threadIdx.x + g * " + N(kTileThreads) + "u);");
  if (accesses % kTileThreads != 0) Line("if (at >= " + N(accesses) + ") break;");
  const std::string times = n == 1 ? "" : " * " + N(n);
  std::string inner = "(i32)((u32)at % " + N(per_line) + "u)" + times,
              line = "(i32)((u32)at / " + N(per_line) + "u" + (layout.panel == 0 ? "" : " % " + N(layout.lines) + "u") +
                     ")";
  if (layout.panel != 0) inner += " + at / " + N(per_line * layout.lines) + " * " + N(layout.panel);
  Line("const i32 place = " + (o.along_sum ? line : inner) + ", trip = " + (o.along_sum ? inner : line) + ";");
}

// The coordinates and the trips of loops that `marks` want, of an access or of number `e` of it.
void KernelPrinter::CoordinatesOfAccess(const TileProduct& p, Side side, const std::vector<uint8_t>& marks,
                                        bool of_element) {
  const TileOperand& o = p.operands[Number(side)];
  const std::string name = NameOf(side), e = of_element && o.access.size > 1 ? " + e" : "";
  const int64_t n = of_element ? 1 : o.access.size;
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
  const std::string accesses = N(AccessesOfThread(p, side));
  for (const uint32_t i : o.access.loads) {
    const std::string type = o.access.together[i] != 0 ? device_.Vector(Type(i), o.access.size) : Type(i);
    Line(type + " " + LoadedName(side, i) + "[" + accesses + "];");
  }
}

void KernelPrinter::LoadOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  BeginAccesses(p, side);
  CoordinatesOfAccess(p, side, o.access.early, /*of_element=*/false);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (o.access.early[i] == 0 || At(i).op == RICCI_K_REDUCE) continue;
    const bool is_kept = o.access.each[i] != 0 && At(i).op == RICCI_K_LOAD;
    if (!is_kept || o.access.together[i] == 0) Instruction(i);
    if (!is_kept) continue;
    if (o.is_copy) {
      CopyOperand(p, side);
      continue;
    }
    Line(LoadedName(side, i) + "[g] = " + (o.access.together[i] != 0 ? LoadTogether(i, o.access.size) : V(i)) + ";");
  }
  Close();
}

std::string KernelPrinter::SlotOf(const TileProduct& p, Side side, const std::string& slot) const {
  return KeptName(side) + (" + " + slot + " * ") + N(LayoutOf(p, side).elements());
}

// Trips beyond the last one; only tensor cores add their products, which must then be 0.
std::string KernelPrinter::IsInside(const TileProduct& p) const {
  if (!tile_->on_tensor_cores() || p.trips % tile_->size.step == 0) return {};
  return "next * " + N(tile_->size.step) + " + trip < " + N(p.trips);
}

void KernelPrinter::CopyOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const TileLayout layout = LayoutOf(p, side);
  const std::string offset =
      layout.lines_of_side ? layout.OffsetText("place", "trip") : layout.OffsetText("trip", "place");
  const std::string inside = IsInside(p);
  Line(CopyTogether(device_, Type(o.value), o.access.size) + "(" + SlotOf(p, side, "filled") + " + " + offset + ", " +
       Address(o.value) + ", aligned, " + (inside.empty() ? "true" : inside) + ");");
}

// What was loaded of number `e` of access `g`, or of that one and the next `at_once`, is made the factor of products,
// which this names.
std::string KernelPrinter::Factor(const TileProduct& p, Side side, int64_t at_once) {
  const TileOperand& o = p.operands[Number(side)];
  CoordinatesOfAccess(p, side, o.access.each, /*of_element=*/true);
  for (uint32_t i = 1; i < k_.n_insts; ++i) {
    if (o.access.each[i] == 0 || At(i).op == RICCI_K_REDUCE) continue;
    if (At(i).op != RICCI_K_LOAD) {
      Instruction(i);
    } else {
      if (o.access.together[i] != 0) access_vectors_[i] = LoadedName(side, i) + "[g]";
      if (IsOnlyWidened(i)) continue;
      Let(i, LoadedName(side, i) + "[g]" + (o.access.together[i] != 0 ? ".at[e]" : ""));
    }
  }
  const std::string inside = IsInside(p),
                    factor = at_once == 2 ? WidenedPair(o.value, o.dtype) : Converted(o.value, o.dtype);
  for (const uint32_t i : o.access.loads) access_vectors_[i].clear();
  return inside.empty() ? factor : inside + " ? " + factor + " : 0";
}

// Floats of 8 bits that are nothing but brought become pairs, as which they are kept.
bool KernelPrinter::IsKeptInPairs(const TileOperand& o) const {
  const bool is_16_bits = o.dtype == RICCI_F16 || o.dtype == RICCI_BF16;
  return is_16_bits && At(o.value).op == RICCI_K_LOAD && HasF8Instructions(At(o.value).dtype) &&
         o.access.together[o.value] != 0;
}

void KernelPrinter::KeepOperand(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  if (o.is_copy) return;
  if (o.is_turned) return KeepTurned(p, side);
  const TileLayout layout = LayoutOf(p, side);
  const int64_t n = o.access.size;
  const bool in_line = n > 1 && o.along_sum == layout.lines_of_side;
  const int64_t at_once = in_line && IsKeptInPairs(o) ? 2 : 1;
  const std::string type(TypeName(o.dtype)), vector = at_once == 2 ? device_.Vector("u32", n / 2)
                                                      : n > 1      ? device_.Vector(type, n)
                                                                   : type;
  BeginAccesses(p, side);
  Line(type + "* const to = " + SlotOf(p, side, "filled") + ";");
  if (in_line) Line(vector + " kept;");
  if (n > 1) Line("#pragma unroll");
  if (n > 1) Open("for (i32 e = 0; e < " + N(n) + (at_once == 2 ? "; e += 2)" : "; ++e)"));
  const std::string value = Factor(p, side, at_once), e = n > 1 && !in_line ? " + e)" : "";
  const std::string in_side = e.empty() || o.along_sum ? "place" : "(place" + e,
                    trip = e.empty() || !o.along_sum ? "trip" : "(trip" + e;
  const std::string line = layout.lines_of_side ? in_side : trip, inner = layout.lines_of_side ? trip : in_side;
  Line((at_once == 2 ? "kept.at[e / 2]"
        : in_line    ? "kept.at[e]"
                     : "to[" + layout.OffsetText(line, inner) + "]") +
       " = " + value + ";");
  if (n > 1) Close();
  if (in_line) Line("*(" + vector + "*)(to + " + layout.OffsetText(line, inner) + ") = kept;");
  Close();
}

}  // namespace ricci::cuda
