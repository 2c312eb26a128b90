// Factors of products that the GPU copies by itself (TMA), as text: one thread asks for the boxes of a step, by tensor
// maps that the launch gives (tensor_map.h), and everybody waits for their bytes at a barrier in shared memory.
//
// Each slot for a step in shared memory has two barriers. `full` completes when its bytes are there: tensor cores may
// read them. `empty`, where there are more steps than slots, completes when every warp has waited for the products
// that read them: they may be written over. Products of a step are waited for only after those of the next one are
// issued, so that tensor cores have two groups of them. What copies write is there for tensor cores without a fence,
// since both are of the async proxy of PTX; what threads have read or written before needs `fence.proxy.async` before
// copies go over it.
//
// The GPU leaves boxes in the swizzle that threads leave too, with zeros beyond the edges. Bulk copies without maps
// (`cp.async.bulk` of lines) would be one for each 16 bytes, since the swizzle exchanges these. Fences are those that
// PTX ISA asks for. That these are enough no test without a GPU can show.
#include <algorithm>

#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }
size_t Number(Side side) { return static_cast<size_t>(side); }
constexpr Side kSides[] = {Side::kRows, Side::kColumns};
constexpr int64_t kWarps = kTileThreads / 32;

}  // namespace

// ---- maps ----
// A box is what a step needs of it, or where lines lie along the rows (columns) one panel of that (tile_layout.h).
TensorMap KernelPrinter::MapOf(const TileProduct& p, Side side) const {
  return cuda::MapOf(p.operands[Number(side)].form, p.operands[Number(side)].dtype);
}

// Factors that several products share have one.
size_t KernelPrinter::NumberOfMap(const TileProduct& p, Side side) const {
  const auto found = std::find(launch_.maps.begin(), launch_.maps.end(), MapOf(p, side));
  return static_cast<size_t>(found - launch_.maps.begin());
}

void KernelPrinter::MakeMaps() {
  if (!tile_->has_forms) return;
  for (const TileProduct& p : tile_->products) {
    for (const Side side : kSides) {
      if (NumberOfMap(p, side) == launch_.maps.size()) launch_.maps.push_back(MapOf(p, side));
    }
  }
}

std::string KernelPrinter::MapParameters(const std::vector<TensorMap>& maps) const {
  std::string out;
  for (size_t i = 0; i < maps.size(); ++i) {
    out += ", const __grid_constant__ " + device_.Vector("u64", 16) + " map" + std::to_string(i);
  }
  return out;
}

// ---- barriers ----
int64_t KernelPrinter::BytesOfBarriers() const {
  return HasBoxes() ? (AreRefilled() ? 2 : 1) * int64_t{sizeof(uint64_t)} * SlotsOfSteps() : 0;
}

int64_t KernelPrinter::MostSteps() const {
  int64_t most = 0;
  for (const TileProduct& p : tile_->products) most = std::max(most, StepsOfPart(p));
  return most;
}
int64_t KernelPrinter::SlotsOfSteps() const {
  const int64_t most = MostSteps();
  return most == 1 && tile_->size.cuts == 1 ? 1 : std::clamp<int64_t>(most, 2, tile_->size.stages);
}
bool KernelPrinter::AreRefilled() const { return MostSteps() > SlotsOfSteps(); }

// No thread uses them before the fence and the barrier of the first product. Their phases go on over tiles and
// products: `begin` is the slot of the next step, `phase` that of its barriers.
void KernelPrinter::BeginBarriers() {
  const std::string slots = N(SlotsOfSteps());
  Line("u64* const full = (u64*)(shared + " + N(BytesOfTile()) + ")" +
       (AreRefilled() ? ", *const empty = full + " + slots : "") + ";");
  if (SlotsOfSteps() > 1) Line("i32 begin = 0;");
  Line("u32 phase = 0;");
  Open("if (threadIdx.x == 0)");
  Line("#pragma unroll 1");
  Open("for (i32 i = 0; i < " + slots + "; ++i)");
  Line(BeginBarrier(device_) + "(full + i, 1);");
  if (AreRefilled()) Line(BeginBarrier(device_) + "(empty + i, " + N(kWarps) + ");");
  Close();
  Close();
}

// ---- copies ----
std::string KernelPrinter::BulkWayOf(const TileProduct& p, Side side) const {
  const TensorMap m = MapOf(p, side);
  std::string box;
  for (uint32_t d = m.rank; d-- > 0;) box += N(m.box[d]) + (d == 0 ? "" : " x ");
  return "map" + std::to_string(NumberOfMap(p, side)) + ": boxes of " + box;
}

// Of the first element of a box, whose trip (row) has this number.
std::string KernelPrinter::CoordinateOf(const TensorForm::Dimension& d, const std::string& number) const {
  if (d.along != TensorForm::Along::kBatch) {
    const std::string outer = d.inner == 1 ? "" : " / " + N(d.inner), of_part = d.is_outermost ? "" : " % " + N(d.size);
    return outer.empty() && of_part.empty() ? number : "(" + number + ")" + outer + of_part;
  }
  std::string out;
  for (const uint32_t b : d.batch) {
    out = out.empty() ? "(i32)" + CoordinateName(b)
                      : "(" + out + ") * " + N(k_.domain[b]) + " + (i32)" + CoordinateName(b);
  }
  return out;
}

void KernelPrinter::CopyBoxes(const TileProduct& p, Side side) {
  const TileOperand& o = p.operands[Number(side)];
  const TileLayout layout = LayoutOf(p, side);
  const int64_t boxes = layout.lines_of_side ? 1 : layout.length / layout.of_line();
  const auto rank = static_cast<uint32_t>(o.form.dimensions.size());
  const std::string step = "next * " + N(tile_->size.step),
                    side_name = side == Side::kRows ? "first_row" : "first_column";
  for (int64_t box = 0; box < boxes; ++box) {
    const std::string panel = box == 0 ? "" : " + " + N(box * layout.of_line());
    std::string at;
    for (const TensorForm::Dimension& d : o.form.dimensions) {
      at += CoordinateOf(d, d.along == TensorForm::Along::kSum ? step : side_name + panel) + ", ";
    }
    Line(CopyBox(device_, std::string(TypeName(o.dtype)), rank) + "(" + SlotOf(p, side, "to") +
         (box == 0 ? "" : " + " + N(box * layout.lines * layout.of_line())) + ", map" +
         std::to_string(NumberOfMap(p, side)) + ", " + at + "full + to);");
  }
}

// Step `next` at the slot `to`, by one thread of the first warp. Boxes are whole at the edges too, where the GPU
// writes zeros. Before a slot is filled again, all warps must have read it.
void KernelPrinter::FillStep(const TileProduct& p, const std::string& first) {
  Open("if (threadIdx.x < 32 && " + std::string(SlotsOfSteps() == 1 ? "" : "next < last_step && ") +
       IsElected(device_) + "())");
  if (AreRefilled()) {
    Line("if (step > " + first + ") " + WaitForBarrier(device_) + "(empty + to, slot == 0 ? parity ^ 1 : parity);");
  }
  Line(ExpectBytes(device_) + "(full + to, " + N(BytesOfStep(p)) + ");");
  for (const Side side : kSides) CopyBoxes(p, side);
  Close();
  Line("__syncwarp();");
}

// The products of `step` are issued; those of the step before are over, whose slot `to` is for the next one.
void KernelPrinter::MultiplyStep(const TileProduct& p, const std::string& first) {
  Open("if (step >= " + first + ")");
  Line(WaitForBarrier(device_) + "(full + slot, parity);");
  IssueWarpgroupProducts(p, "slot");
  Line(CommitProducts(device_) + "();");
  Close();
  if (!AreRefilled()) return;
  Open("if (step > " + first + ")");
  Line(WaitForProducts(device_, 1) + "();");
  Line("if (lane == 0) " + ArriveAtBarrier(device_) + "(empty + to);");
  Close();
}

void KernelPrinter::MultiplyOneStep(const TileProduct& p) {
  Line("const i32 next = 0, to = 0;");
  FillStep(p, "0");
  Line(WaitForBarrier(device_) + "(full, phase);");
  IssueWarpgroupProducts(p, "to");
  Line(FinishProducts(device_, ColumnsOfWarpgroup()) + "(" + SumName(p) + ");");
  Line("phase ^= 1;");
}

// As many turns as there are slots, but one, only fill; so the slot of the first step is the one that is filled
// first.
void KernelPrinter::MultiplySteps(const TileProduct& p) {
  const bool is_cut = tile_->size.cuts > 1;
  const std::string first = is_cut ? "first_step" : "0", ahead = N(SlotsOfSteps() - 1);
  BoundsOfSteps(p);
  Line("i32 to = begin;");
  Line("u32 parity = phase ^ 1;");
  Line("#pragma unroll 1");
  Open("for (i32 step = " + (is_cut ? first + " - " + ahead : "-" + ahead) + "; step < last_step; ++step)");
  Line("const i32 next = step + " + ahead + ", slot = to == " + ahead + " ? 0 : to + 1;");
  Line("parity ^= slot == 0 ? 1 : 0;");
  MultiplyStep(p, first);
  FillStep(p, first);
  Line("to = slot;");
  Close();
  Line(WaitForSums(device_, ColumnsOfWarpgroup()) + "(" + SumName(p) + ");");
  if (is_cut) Open("if (first_step < last_step)");
  if (AreRefilled()) Line("if (lane == 0) " + ArriveAtBarrier(device_) + "(empty + to);");
  Line("begin = to == " + ahead + " ? 0 : to + 1;");
  Line("phase = begin == 0 ? parity ^ 1 : parity;");
  if (is_cut) Close();
}

// What threads have done in shared memory, also to begin barriers there, is before what the GPU does now.
void KernelPrinter::MultiplyBoxes(const TileProduct& p) {
  BeginOfOperands(p);
  for (const Side side : kSides) Line("// " + KeptName(side) + ": " + BulkWayOf(p, side));
  Line(ShowToTensorCores(device_) + "();");
  Line("__syncthreads();");
  SlotsOfSteps() == 1 ? MultiplyOneStep(p) : MultiplySteps(p);
}

}  // namespace ricci::cuda
