// Operands that are contiguous along the rows (columns), while tensor cores want them contiguous along the sum
// (elements of other sizes than 2 bytes), as text: a thread loads a block of 4 rows (columns) and as many trips as 4
// bytes are, and writes what it makes of the trips of each row (column) at once.
//
// Four threads next to each other have the trips of 16 bytes, so that lanes read adjacent memory for 8 blocks, and
// write to different banks but for two at a time (tile_layout.h).
//
// Elements of 2 bytes are transposed by `ldmatrix`.
#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kWordBytes = 4, kWordsOfGroup = 4;

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }

}  // namespace

int64_t KernelPrinter::TripsOfBlock(const TileProduct& p, Side side) {
  return kWordBytes / int64_t{codegen::SizeOfDType(p.operands[Number(side)].dtype)};
}
int64_t KernelPrinter::BlocksOfThread(const TileProduct& p, Side side) const {
  const int64_t blocks = LayoutOf(p, side).elements() / (kTurned * TripsOfBlock(p, side));
  return (blocks + kTileThreads - 1) / kTileThreads;
}

// The blocks of a thread, or (`of_access`) the accesses in them, of which each is a trip: where it begins, and the
// first `trip`. Closed by Close.
void KernelPrinter::BeginTurned(const TileProduct& p, Side side, bool of_access) {
  const int64_t trips = TripsOfBlock(p, side), along = tile_->size.extents[Number(side)] / kTurned;
  const int64_t blocks = LayoutOf(p, side).elements() / (kTurned * trips);
  const std::string name = of_access ? "g" : "block", number = of_access && trips > 1 ? "g / " + N(trips) : name;
  Line("#pragma unroll");
  Open("for (i32 " + name + " = 0; " + name + " < " + N(BlocksOfThread(p, side) * (of_access ? trips : 1)) + "; ++" +
       name + ")");
  Line("const i32 at = (i32)(threadIdx.x + " + number + " * " + N(kTileThreads) + "u);");
  if (blocks % kTileThreads != 0) Line("if (at >= " + N(blocks) + ") break;");
  const std::string groups = N(kWordsOfGroup), of_trips = trips == 1 ? "" : " * " + N(trips);
  const std::string word = "(at % " + groups + " + at / " + N(kWordsOfGroup * along) + " * " + groups + ")";
  Line("const i32 place = at / " + groups + " % " + N(along) + " * " + N(kTurned) + ", " +
       (of_access ? "trip = " : "first = ") + word + of_trips + (of_access && trips > 1 ? " + g % " + N(trips) : "") +
       ";");
}

void KernelPrinter::KeepTurned(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const int64_t trips = TripsOfBlock(p, side);
  const std::string type(TypeName(o.dtype)), word = device_.Vector(type, trips);
  BeginTurned(p, side, /*of_packet=*/false);
  Line(type + "* const to = " + SlotOf(p, side, "filled") + ";");
  Line(word + " kept[" + N(kTurned) + "];");
  Line("#pragma unroll");
  Open("for (i32 t = 0; t < " + N(trips) + "; ++t)");
  const bool wants_trip = !IsInside(p).empty() || Wants(o.access.each, RICCI_K_REDUCE, side);
  Line("const i32 g = block * " + N(trips) + " + t" + (wants_trip ? ", trip = first + t;" : ";"));
  Line("#pragma unroll");
  Open("for (i32 e = 0; e < " + N(kTurned) + "; ++e)");
  const std::string value = Factor(p, side);
  Line("kept[e].at[t] = " + value + ";");
  Close();
  Close();
  Line("#pragma unroll");
  Line("for (i32 e = 0; e < " + N(kTurned) + "; ++e) *(" + word + "*)(to + " +
       LayoutOf(p, side).OffsetText("(place + e)", "first") + ") = kept[e];");
  Close();
}

}  // namespace ricci::cuda
