// Products by pairs of blocks (pair_tile.h), as text: what is the same for all, with holes for what depends on the
// product.
//
// A block has four slots for steps in shared memory, each with two barriers, as tile_bulk.cc has them. One thread of
// the first group of warps does nothing but ask for copies; so the GPU brings the next tile while the other groups
// still store the last one. The columns of a step are copied half by each block, to both: a slot may be filled when
// the groups of both blocks have read it, so the warps of both arrive at `empty` of both. The groups that multiply have
// the registers that the first one gives back. What they do with their sums is in pair_results_text.h.
//
// Of 168 registers for each of 384 threads the first group keeps 40, the others get 232 (`setmaxnreg`). A step has 48
// KB, results 32 KB. There is a block for each processor, which takes tile after tile.
#include "cuda/print/pair_results_text.h"

namespace ricci::cuda {
namespace {

// $S: what it computes, $N: its name, $A: arguments, $B: bytes of shared memory, $T: the type of elements, $L, $C: how
// the factors come, $R, $F: where columns and barriers begin, $G: slots of steps, $W: arrivals of warps,
// $I, $J: barriers begun and shown, $M: the pair meets, $K: its ranks, $1, $2: the registers of the groups, $E: one of
// a warp, $P: pairs of tiles, $n: steps of a tile, $w, $f: waits for a slot that is empty and full, $b: expects $c
// bytes, $p, $q: the first row and column of the tile, $l: copies, $s: sums, $x: products of a step, $t, $v: which are
// committed, and waited for but the last ones, $a: arrives in the pair, $u: all sums, $D, $O, $Z: what is done with
// them, before all tiles, after each, and at the end.
constexpr std::string_view kText = R"(
// $S, by pairs of blocks
extern "C" __global__ __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1) void $N($A) {
  extern __shared__ __align__(1024) u8 pair_shared[];  // $B bytes
  $T* const left = ($T*)pair_shared;  // $L
  $T* const right = ($T*)(pair_shared + $R);  // $C
  u64* const full = (u64*)(pair_shared + $F), *const empty = full + $G;
  const i32 group = __shfl_sync(0xffffffffu, (i32)(threadIdx.x / 128), 0), rank = $K();
  i32 slot = 0;
  u32 phase = 0;
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (i32 i = 0; i < $G; ++i) {
      $I(full + i, 1);
      $I(empty + i, $W);
    }
    $J();
  }
  $M();
  if (group == 0) {
    $1();
    if (threadIdx.x < 32 && $E()) {
#pragma unroll 1
      for (i32 pair = (i32)blockIdx.x / 2; pair < $P; pair += (i32)gridDim.x / 2) {
$p#pragma unroll 1
        for (i32 step = 0; step < $n; ++step) {
          $w(empty + slot, phase ^ 1);
          $b(full + slot, $c);
$l          slot = slot == $G - 1 ? 0 : slot + 1;
          phase ^= slot == 0 ? 1 : 0;
        }
      }
    }
    __syncwarp();
  } else {
    $2();
    [[maybe_unused]] constexpr bool aligned = true;
    const i32 lane = (i32)(threadIdx.x % 32), warp = (i32)(threadIdx.x / 32 % 4);
    const i32 group_row = (group - 1) * 64, group_column = 0;
$D#pragma unroll 1
    for (i32 pair = (i32)blockIdx.x / 2; pair < $P; pair += (i32)gridDim.x / 2) {
$q      f32 $s[128] = {};
      i32 before = 0;
#pragma unroll 1
      for (i32 step = 0; step < $n; ++step) {
        $f(full + slot, phase);
$x        $t();
        if (step > 0) {
          $v();
          if (lane < 2) $a(empty + before, lane);
        }
        before = slot;
        slot = slot == $G - 1 ? 0 : slot + 1;
        phase ^= slot == 0 ? 1 : 0;
      }
      $u($s);
      if (lane < 2) $a(empty + before, lane);
$O    }
$Z  }
  // Until both are done, copies and arrivals come from the other block.
  $M();
}
)";

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }
constexpr int64_t kWarpsOfGroup = 4;
constexpr int64_t kBytesOfBarriers = 2 * PairTile::kStages * int64_t{sizeof(uint64_t)};
constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;

// Where barriers begin: behind the steps, and the results.
int64_t BarriersOf(int64_t step) { return step * PairTile::kStages + PairResults::kBytes; }

}  // namespace

// ---- copies ----
// A box is half of the columns, or as many rows; where lines lie along them one panel of that.
TensorMap KernelPrinter::MapOfPair(Side side) const {
  const TileProduct& p = tile_->products[0];
  const TensorForm& form = p.operands[Number(side)].form;
  TensorMap m = MapOf(p, side);
  for (uint32_t d = 0; d < m.rank; ++d) {
    const bool is_line = LayoutOf(p, side).lines_of_side && form.dimensions[d].along == TensorForm::Along::kSide;
    if (is_line) m.box[d] = static_cast<uint32_t>(PairTile::kRows);
  }
  return m;
}

void KernelPrinter::LaunchPairs() {
  if (!pair_tile_.IsUsed()) return;
  const Tile* const outside = std::exchange(tile_, &pair_tile_.tile);
  const TileProduct& p = tile_->products[0];
  PairLaunch& launch = launch_.pairs;
  launch.pairs = pair_tile_.pairs;
  launch.threads = static_cast<unsigned>(PairTile::kThreads);
  launch.shared_bytes = static_cast<uint64_t>(BarriersOf(BytesOfStep(p)) + kBytesOfBarriers);
  std::vector<uint8_t> together(k_.n_buffers);
  if (tile_->points) together = BuffersTogether(*tile_->points);
  for (const Side side : {Side::kRows, Side::kColumns}) {
    launch.maps.push_back(MapOfPair(side));
    together[p.operands[Number(side)].form.buffer] = 1;
  }
  if (pair_tile_.result.IsUsed()) {
    launch.maps.push_back(cuda::MapOf(pair_tile_.result.form, pair_tile_.result.dtype));
    together[pair_tile_.result.form.buffer] = 1;
  }
  launch.alignment = Alignment::Of(together, TensorMap::kAlignment);
  tile_ = outside;
}

// Rows of this block; of the columns the half that it copies to both.
void KernelPrinter::CopyHalf(Side side) {
  const TileProduct& p = tile_->products[0];
  const TileOperand& o = p.operands[Number(side)];
  const TileLayout layout = LayoutOf(p, side);
  const bool is_shared = side == Side::kColumns;
  const auto rank = static_cast<uint32_t>(o.form.dimensions.size());
  const std::string type(TypeName(o.dtype));
  const std::string copy = is_shared ? CopyBoxToPair(device_, type, rank) : CopyBox(device_, type, rank);
  const int64_t of_box = layout.lines_of_side ? PairTile::kRows : layout.of_line();
  const std::string half = is_shared ? " + rank * " + N(PairTile::kRows) : "";
  const std::string half_offset = is_shared ? " + rank * " + N(PairTile::kRows * tile_->size.step) : "";
  for (int64_t from = 0; from < PairTile::kRows; from += of_box) {
    const std::string line = (is_shared ? "first_column" : "first_row") + half + (from == 0 ? "" : " + " + N(from));
    std::string at;
    for (const TensorForm::Dimension& d : o.form.dimensions) {
      at += CoordinateOf(d, d.along == TensorForm::Along::kSum ? "step * " + N(tile_->size.step) : line) + ", ";
    }
    Line(copy + "(" + SlotOf(p, side, "slot") + half_offset + (from == 0 ? "" : " + " + N(from * tile_->size.step)) +
         ", map" + N(is_shared ? 1 : 0) + ", " + at + "full + slot);");
  }
}

// ---- tiles ----
void KernelPrinter::BeginOfPair() {
  const int64_t of_batch = pair_tile_.pairs / tile_->extents[2];
  BeginOfTile(tile_->extents[2] == 1 ? "pair" : "pair % " + N(of_batch), PairTile::kBlocks * PairTile::kRows,
              " + rank * " + N(PairTile::kRows));
  if (tile_->extents[2] > 1) Line("const i32 batch = pair / " + N(of_batch) + ";");
  CoordinatesOf(Side::kBatch, tile_->extents[2] > 1 ? "batch" : "0", nullptr);
}

// ---- the whole ----
std::string KernelPrinter::TextOfPairs(const std::string& name) {
  const TileProduct& p = tile_->products[0];
  const int64_t columns = PairTile::kColumns, stages = PairTile::kStages, of_step = BytesOfStep(p);
  PairResults results(*this);
  const auto way = [&](Side side) { return side == Side::kRows ? "copied" : "half copied by each block to both"; };
  return Fill(kText, {{'S', Summary()},
                      {'N', name},
                      {'A', Parameters() + MapParameters(launch_.pairs.maps)},
                      {'B', N(static_cast<int64_t>(launch_.pairs.shared_bytes))},
                      {'T', TypeName(p.operands[0].dtype)},
                      {'L', way(Side::kRows)},
                      {'C', way(Side::kColumns)},
                      {'R', N(BytesOfOperand(p, Side::kRows) * stages)},
                      {'F', N(BarriersOf(of_step))},
                      {'G', N(stages)},
                      {'W', N(PairTile::kBlocks * PairTile::kGroups * kWarpsOfGroup)},
                      {'I', BeginBarrier(device_)},
                      {'J', ShowBarriersToPair(device_)},
                      {'M', MeetPair(device_)},
                      {'K', RankInPair(device_)},
                      {'1', HaveRegisters(device_, kFewRegisters, /*more=*/false)},
                      {'2', HaveRegisters(device_, kManyRegisters, /*more=*/true)},
                      {'E', IsElected(device_)},
                      {'P', N(pair_tile_.pairs)},
                      {'n', N(CeilDiv(p.trips, tile_->size.step))},
                      {'w', WaitForPair(device_)},
                      {'f', WaitForBarrier(device_)},
                      {'b', ExpectBytes(device_)},
                      {'c', N(of_step)},
                      {'p', Within(4, [this] { BeginOfPair(); })},
                      {'q', Within(3, [this] { BeginOfPair(); })},
                      {'l', Within(5,
                                   [this] {
                                     for (const Side side : {Side::kRows, Side::kColumns}) CopyHalf(side);
                                   })},
                      {'s', SumName(tile_->sums[0])},
                      {'x', Within(4, [&] { IssueWarpgroupProducts(p, "slot"); })},
                      {'t', CommitProducts(device_)},
                      {'v', WaitForProducts(device_, 1)},
                      {'a', ArriveInPair(device_)},
                      {'u', WaitForSums(device_, columns)},
                      {'D', Within(2, [&] { results.Begin(of_step * stages); })},
                      {'O', Within(3, [&] { results.OfTile(); })},
                      {'Z', Within(2, [&] { results.End(); })}});
}

void KernelPrinter::Pairs(const std::string& name) {
  if (!pair_tile_.tile.reason.empty()) Decide(pair_tile_.tile.reason);
  if (!pair_tile_.IsUsed()) return;
  Decide(PairResults(*this).Decision());
  const Tile* const outside = std::exchange(tile_, &pair_tile_.tile);
  source_line_.clear();
  text_ += TextOfPairs(name + "_pairs");
  tile_ = outside;
}

}  // namespace ricci::cuda
