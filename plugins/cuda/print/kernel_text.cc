// A kernel's frame: its signature, how its points are spread over threads, and the coordinates of a point.
#include <algorithm>

#include "codegen/updates.h"
#include "cuda/print/kernel_printer.h"
#include "cuda/tile/flat_kernel.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kMostLanes = 1024;
constexpr uint64_t kAlignmentOfArrays = 16, kShortArray = 128;  // bytes
constexpr uint64_t kNotInMemory = ~uint64_t{0};

}  // namespace

Launch LaunchOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team, int64_t vector) {
  Launch launch{
      .points = codegen::PointsOf(k), .team = team.size, .vector = vector, .columns = team.columns ? kWarp : 1};
  std::vector<uint32_t> dims(k.domain_rank);
  bool ordered = false;
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& q = k.insts[i];
    if (q.op == RICCI_K_DOMAIN) dims[static_cast<size_t>(q.imm)] = i;
    ordered |= q.op == RICCI_K_COMBINE && AtomicName(RICCI_COMBINER_OF(q.imm), k.insts[q.b].dtype).empty();
  }
  if (!ordered || launch.points == 0) return launch;
  const std::optional<codegen::Updates> updates = codegen::FindUpdates(k, blocks, dims);
  launch.groups = 1;
  for (uint32_t d = 0; d < updates->apart; ++d) launch.groups *= k.domain[d];
  launch.loop = updates->loop;
  if (launch.loop != 0) launch.lanes = std::clamp<int64_t>(codegen::TripsOf(k, launch.loop).value_or(1), 1, kMostLanes);
  return launch;
}

KernelPrinter::KernelPrinter(const ricci_kernel_table& k, const std::vector<std::string>& flat_reasons,
                             const TextTarget& target, const std::vector<uint8_t>& in_arena, const LineOf& line_of,
                             DeviceText& device)
    : k_(k),
      flat_reasons_(flat_reasons),
      in_arena_(in_arena),
      line_of_(line_of),
      device_(device),
      blocks_(k),
      ranges_(k),
      tile_of_target_(TileOf(k, blocks_, ranges_, target)),
      pair_tile_(PairTileOf(k, ranges_, tile_of_target_, target)),
      transposed_(TransposeTileOf(k, blocks_, ranges_)),
      shares_(tile_->IsUsed() ? Shares{.team = Team::Alone(k, "blocks compute tiles"), .vector = {}}
                              : SharesOf(k, blocks_, ranges_, transposed_)),
      phases_(PhasesOf(k, blocks_, team_)),
      launch_(LaunchOf(k, blocks_, team_, vector_.of_points ? vector_.size : 1)),
      runs_(IsStraight() ? RunsOf(k, blocks_) : Runs{}),
      divisors_(runs_.runs.empty() ? RowDivisorsOf(k, blocks_, rows_, vector_) : SharedDivisorsOf(k, blocks_)),
      joined_(tile_->IsUsed() || transposed_.IsUsed() || launch_.groups != 0
                  ? JoinedLoops{}
                  : JoinedLoopsOf(k, blocks_, shares_, phases_, taken_in_)) {
  launch_.parts = phases_.parts;
  launch_.parts_bytes = phases_.bytes;
  launch_.parts_threads = BlocksOf(team_, launch_.points) * launch_.parts * kBlock;
  if (phases_.of_scans) launch_.blocks = launch_.points * launch_.parts;
  if (tile_->IsUsed()) LaunchTiles();
  if (transposed_.IsUsed()) launch_.tiles = transposed_.tiles();
}

// `3 x 5 points; reads b0 (15), b1 (5); writes b2 (15)`, with the elements of each buffer.
std::string KernelPrinter::Summary() const {
  std::string text;
  for (uint32_t d = 0; d < k_.domain_rank; ++d) text += (d == 0 ? "" : " x ") + std::to_string(k_.domain[d]);
  text += k_.domain_rank == 0 ? "a point" : " points";
  constexpr std::pair<uint32_t, const char*> kAccesses[] = {
      {RICCI_ACCESS_READ, "; reads"}, {RICCI_ACCESS_READ_WRITE, "; updates"}, {RICCI_ACCESS_WRITE, "; writes"}};
  for (const auto& [access, verb] : kAccesses) {
    std::string buffers;
    for (uint32_t i = 0; i < k_.n_buffers; ++i) {
      if (k_.buffers[i].access != access) continue;
      buffers +=
          (buffers.empty() ? " b" : ", b") + std::to_string(i) + " (" + std::to_string(k_.buffers[i].elements) + ")";
    }
    if (!buffers.empty()) text += verb + buffers;
  }
  return text;
}

std::string KernelPrinter::Parameters() const {
  std::string parameters;
  for (uint32_t i = 0; i < k_.n_buffers; ++i) {
    const ricci_kernel_buffer& b = k_.buffers[i];
    parameters += (b.access == RICCI_ACCESS_READ ? "const " : "") + std::string(TypeName(b.dtype)) + "* b" +
                  std::to_string(i) + ", ";
  }
  const std::string memory = launch_.parts != 0 ? ", u8* parts" : launch_.thread_bytes != 0 ? ", u8* arrays" : "";
  return parameters + "u32* failed" + memory;
}

void KernelPrinter::Signature(const std::string& name) {
  Line("");
  Line("// " + Summary());
  Open("extern \"C\" __global__ void " + name + "(" + Parameters() + MapParameters(launch_.maps) + ")");
  if (launch_.thread_bytes == 0) return;
  Decide("private arrays in memory: " + std::to_string(launch_.thread_bytes) + " bytes for a thread");
  Line("const i64 threads = (i64)gridDim.x * blockDim.x, thread = (i64)blockIdx.x * blockDim.x + threadIdx.x;");
}

// Element after element, each for all threads, so that neighbours access neighbours.
void KernelPrinter::PrivateArray(uint32_t i) {
  if (!IsInMemory(i)) {
    return Line(Type(i) + " " + V(i) + "[" + std::to_string(std::max<int64_t>(At(i).imm, 1)) + "];");
  }
  Line(Type(i) + "* const " + V(i) + " = (" + Type(i) + "*)(arrays + " + std::to_string(local_offset_[i]) +
       " * threads) + thread;");
}

bool KernelPrinter::IsInMemory(uint32_t array) const {
  return !local_offset_.empty() && local_offset_[array] != kNotInMemory;
}

std::string KernelPrinter::ElementOf(uint32_t array, uint32_t index) const {
  return V(array) + "[" + V(index) + (IsInMemory(array) ? " * threads]" : "]");
}

// If a thread has not the room, they go to memory, but for short ones, which may be in registers (what a loop carries).
void KernelPrinter::AssignLocalOffsets() {
  if (LocalBytes(k_) <= kMostLocalBytes) return;
  local_offset_.assign(k_.n_insts, kNotInMemory);
  uint64_t kept = 0;
  for (uint32_t i = 0; i < k_.n_insts; ++i) {
    if (At(i).op != RICCI_K_LOCAL) continue;
    const uint64_t bytes = static_cast<uint64_t>(At(i).imm) * ricci_dtype_size(At(i).dtype);
    if (bytes <= kShortArray && kept + bytes <= kMostLocalBytes) {
      kept += bytes;
      continue;
    }
    local_offset_[i] = launch_.thread_bytes;
    launch_.thread_bytes += (bytes + kAlignmentOfArrays - 1) / kAlignmentOfArrays * kAlignmentOfArrays;
  }
}

// Points that may access the same element: a thread computes those of one group in order.
void KernelPrinter::Groups(const std::string& type, const std::string& thread, const std::string& threads) {
  const std::string lanes = std::to_string(launch_.lanes), inner = std::to_string(launch_.points / launch_.groups);
  Decide("in order: " + inner + " points in each of " + std::to_string(launch_.groups) + " groups");
  Open("for (" + type + " g = " + thread + "; g < " + std::to_string(launch_.threads()) + "; g += " + threads + ")");
  if (launch_.lanes > 1) Line("const u32 lane = (u32)(g % " + lanes + ");");
  Open("for (" + type + " p = g / " + lanes + " * " + inner + "; p < (g / " + lanes + " + 1) * " + inner + "; ++p)");
}

// All threads of a block go through the same points, since they meet; those beyond the last one repeat it.
void KernelPrinter::ColumnsOfPoints(const std::string& type) {
  Line("const u32 lane = threadIdx.x / 32;");
  Open("for (" + type + " first = (" + type + ")blockIdx.x * 32; first < " + std::to_string(launch_.points) +
       "; first += (" + type + ")gridDim.x * 32)");
  PointOfColumns(type);
}

void KernelPrinter::PointOfColumns(const std::string& type) {
  const std::string points = std::to_string(launch_.points), row = "(" + type + ")(threadIdx.x % 32)";
  if (!IsCut()) return Line("const " + type + " p = first + " + row + ";");
  Line("const bool is_point = first + " + row + " < " + points + ";");
  Line("const " + type + " p = is_point ? first + " + row + " : " + std::to_string(launch_.points - 1) + ";");
}

void KernelPrinter::Points() {
  const std::string end = "; p < " + std::to_string(launch_.points) + "; p += ";
  const std::string type = PointType(), cast = "(" + type + ")";
  const bool is_short = type == "i32";
  const std::string thread = cast + "(blockIdx.x * " + (is_short ? "" : "(i64)") + "blockDim.x + threadIdx.x)";
  const std::string threads = cast + "(gridDim.x * " + (is_short ? "" : "(i64)") + "blockDim.x)";
  if (team_.size > 1) Decide(std::to_string(team_.size) + " threads for a point: " + team_.reason);
  if (team_.size == 1 && !vector_.of_points) Note("a thread for a point: " + team_.reason);
  if (phases_.parts != 0 && !phases_.of_scans && !in_parts_) Note("second of two launches: combines the parts");
  for (const std::string& reason : flat_reasons_) {
    if (phases_.parts == 0 || in_parts_) Decide(reason);
  }
  if (vector_.size == 1) Note("no vectors: " + vector_.reason);
  if (!transposed_.reason.empty()) Note(transposed_.reason);
  if (HasGroupedTrips()) {
    Decide(std::to_string(vector_.size) + " trips at a time: " + std::to_string(vector_.bytes) + " bytes at once of " +
           vector_.buffers);
    if (!rows_.IsUsed()) Line("const bool aligned = " + IsAligned() + ";");
  }
  if (joined_.IsUsed() && (in_parts_ || phases_.parts == 0)) {
    Decide("reductions beside each other are one loop, which reads an element once");
  }
  if (rows_.IsUsed()) {
    Decide("a row is read once: a thread keeps up to " + std::to_string(rows_.values) + " values of it in registers");
  } else if (!rows_.reason.empty()) {
    Note("a row is read again in each loop: " + rows_.reason);
  }
  if (vector_.of_points) {
    GroupedPoints(type, thread, threads);
  } else if (launch_.groups != 0) {
    Groups(type, thread, threads);
  } else if (in_parts_ || phases_.of_scans) {
    PointsInParts(type);
  } else if (team_.columns) {
    ColumnsOfPoints(type);
  } else if (team_.size == kBlock) {
    Line("const u32 lane = threadIdx.x;");
    if (rows_.IsUsed()) Line("#pragma unroll 1");
    Open("for (" + type + " p = " + (divisors_.loop != 0 ? "first" : "blockIdx.x") + end + "gridDim.x)");
  } else if (team_.size == kWarp) {
    Line("const u32 lane = threadIdx.x % 32;");
    Line("// one number for all lanes, by which the compiler sees that they meet");
    Line("const " + type + " warp = __shfl_sync(4294967295u, " + (divisors_.loop != 0 ? "first" : thread + " / 32") +
         ", 0);");
    if (rows_.IsUsed()) Line("#pragma unroll 1");
    Open("for (" + type + " p = warp" + end + threads + " / 32)");
  } else if (!runs_.runs.empty()) {
    PointsWithRuns(type, thread, threads);
  } else {
    Open("for (" + type + " p = " + thread + end + threads + ")");
  }
  Coordinates();
}

std::string KernelPrinter::Coordinate(uint32_t dimension, const std::string& point) const {
  int64_t inner = 1;
  for (uint32_t d = dimension + 1; d < k_.domain_rank; ++d) inner *= k_.domain[d];
  const std::string outer = inner == 1 ? point : point + " / " + std::to_string(inner);
  return outer + (dimension == 0 ? "" : " % " + std::to_string(k_.domain[dimension]));
}

void KernelPrinter::Coordinates() {
  if (k_.domain_rank == 1) return;  // it is p
  for (uint32_t d = 0; d < k_.domain_rank; ++d) {
    Line("const " + PointType() + " " + CoordinateName(d) + " = " + Coordinate(d, "p") + ";");
  }
}

bool KernelPrinter::Print(const std::string& name) {
  AssignLocalOffsets();
  in_parts_ = launch_.parts != 0;
  if (in_parts_) Function(name + "_parts");
  in_parts_ = false;
  Function(name);
  return error_.empty();
}

void KernelPrinter::Function(const std::string& name) {
  source_line_.clear();
  if (IsCutIntoParts() && !in_parts_) return CombineTiles(name);
  if (tile_->IsUsed()) {
    Tiles(name);
    return Pairs(name);
  }
  if (transposed_.IsUsed()) return TransposeTiles(name);
  if (rows_.IsUsed() && HasGroupedTrips()) return RowFunction(name);
  Signature(name);
  Points();
  Body(1, k_.n_insts);
  while (depth_ > 0) Close();
}

// One function, which the compiler makes into code for addresses that are aligned and code for others, so that loops
// need not ask.
void KernelPrinter::ForBothAlignments(const std::string& name, const std::string& aligned,
                                      const std::function<void()>& write) {
  const std::string function = name + "_rows";
  std::string arguments;
  for (uint32_t i = 0; i < k_.n_buffers; ++i) arguments += "b" + std::to_string(i) + ", ";
  arguments += in_parts_ ? "failed, parts" : "failed";
  Line("");
  Open("static __device__ __forceinline__ void " + function + "(bool aligned, " + Parameters() + ")");
  write();
  while (depth_ > 0) Close();
  Line("");
  Line("// " + Summary());
  Open("extern \"C\" __global__ void " + name + "(" + Parameters() + ")");
  if (aligned != "true") {
    Open("if (" + aligned + ")");
    Line(function + "(true, " + arguments + ");");
    Else();
  }
  Line(function + "(false, " + arguments + ");");
  if (aligned != "true") Close();
  Close();
}

bool PrintKernel(const ricci_kernel_table& k, const std::string& name, const TextTarget& target,
                 const std::vector<uint8_t>& in_arena, const LineOf& line_of, DeviceText& device, std::string& text,
                 Launch& launch, std::string& error) {
  const FlatKernel flat(k, target);
  KernelPrinter printer(flat.table(), flat.reasons(), target, in_arena, line_of, device);
  if (!printer.Print(name)) {
    error = printer.error();
    return false;
  }
  text += printer.text();
  launch = printer.launch();
  return true;
}

}  // namespace ricci::cuda
