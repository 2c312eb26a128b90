// conv_general_dilated by planes (plane_plan.h), where tiles (convolution.h) are not faster: these pack each element as
// often as windows hold it, which is a small part of many features.
#include "cpu/library/plane_convolution.h"

#include <algorithm>

#include "cpu/library/convolution.h"
#include "cpu/library/plane_plan.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = int64_t{1} << 14;  // products below which the generated kernel is as good and fuses

// With what tiles point to; by chunk of the first dimension where lists are of lists.
struct PlaneConvolution : PlanePlan {
  std::vector<std::vector<PlaneLine>> lines;
  std::vector<PlaneLayout::Phase> phases;
  std::vector<std::vector<PlanePhase>> tile_phases;
  Ints sums_out;

  int64_t rhs_offset = 0, mask_offset = 0, sums_offset = 0, scratch_bytes = 0;
  PlaneTileFn tile = nullptr;
};

// ---- what tiles point to ----
void FillTables(PlaneConvolution& p, const ConvolutionShape& c) {
  if (!p.map) p.sums_out = {0};
  for (const ConvolutionWindow& v : c.windows) AddDimension(p.sums_out, v.out, v.out_stride);
  for (int64_t i = 0; i < p.layout.chunks; ++i) p.lines.push_back(p.layout.ArrayLines(i, p.Distance()));
  for (int64_t i = 0; i < p.layout.Phases(); ++i) {
    const PlaneLayout::Phase one = p.layout.PhaseOf(i, p.Distance());
    PlaneLayout::Phase all{{}, {}, one.lines, one.lengths};
    const auto sums = static_cast<int64_t>(p.sums_out.size());
    for (int64_t o = 0; o < (p.map ? p.others.size : p.others_chunk); ++o) {
      for (size_t m = 0; m < one.from.size(); ++m) {
        all.from.push_back(o * p.ImagePlanes() + one.from[m]);
        all.other.push_back(o * (p.map ? p.others.rhs : sums) + one.other[m]);
      }
    }
    p.phases.push_back(std::move(all));
  }
  p.tile_phases.resize(static_cast<size_t>(p.layout.chunks));
  for (size_t i = 0; i < p.tile_phases.size(); ++i) {
    for (int64_t number = 0; number < p.layout.Phases(); ++number) {
      const PlaneLayout::Phase& f = p.phases[static_cast<size_t>(number)];
      const auto of_one = static_cast<int64_t>(f.from.size()) / (p.map ? 1 : p.others_chunk);
      const int64_t step = p.layout.dims.back().window.run_stride * p.layout.dims.back().phases;
      p.tile_phases[i].push_back({f.from.data(),
                                  f.other.data(),
                                  of_one,
                                  {f.lines[i].data(), static_cast<int64_t>(f.lines[i].size()), step},
                                  f.lengths[i],
                                  IsDirect(p, number)});
    }
  }
}

void LayOutScratch(PlaneConvolution& p) {
  const auto aligned = [&](int64_t elements) { return ((elements + kPlaneSlack) * SizeOf(p.sum) + 63) / 64 * 64; };
  const int64_t run = p.Distance() + kPlaneSlack;
  int64_t most = 0;
  for (const PlaneLayout::Phase& f : p.phases) most = std::max(most, static_cast<int64_t>(f.from.size()));
  p.rhs_offset = aligned(p.others_chunk * p.ImagePlanes());
  p.mask_offset = p.rhs_offset + aligned(p.map ? most * kPlaneRows : p.features.size * run);
  p.sums_offset = p.mask_offset + (p.map ? 0 : aligned(run));
  const int64_t sums =
      p.map ? kPlaneRows * run : p.features.size * p.others_chunk * static_cast<int64_t>(p.sums_out.size());
  p.scratch_bytes = p.sums_offset + aligned(sums);
}

// ---- the choice ----
bool Choose(const ConvolutionShape& c, PlanePlan& p) {
  if (!ChoosePlanes(c, p) || p.work * static_cast<double>(p.group.size) < kSmallest) return false;
  return PlaneCycles(p) <= TileCycles(c);
}
bool Takes(const ricci_op* op, PlaneConvolution& p) {
  ConvolutionShape c;
  return ReadShape(op, c) && Choose(c, p);
}
bool Make(const ricci_op* op, PlaneConvolution& p) {
  ConvolutionShape c;
  if (!ReadShape(op, c) || !Choose(c, p)) return false;
  FillTables(p, c);
  LayOutScratch(p);
  p.tile = BestPlaneTile();
  return true;
}

// ---- a task ----
// The tile of some images and one chunk of the first dimension; operands are those of the group.
struct TileAt {
  int64_t run, others, chunk;
};
template <typename Pointer>
Pointer At(Pointer from, int64_t elements, GemmType type) {
  return static_cast<std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const char*, char*>>(from) +
         elements * SizeOf(type);
}
PlaneTile TileOf(const PlaneConvolution& p, const ricci_launch& l, int64_t group, const TileAt& at) {
  const ConvolutionLoop &run = p.run, &others = p.others;
  const auto chunk = static_cast<size_t>(at.chunk);
  PlaneTile t{};
  t.lhs = At(l.in[0], group * p.group.lhs + at.run * run.lhs + at.others * others.lhs, p.lhs_type);
  t.rhs = At(l.in[1], group * p.group.rhs + at.run * run.rhs, p.rhs_type);
  t.out = At(l.out[0], group * p.group.out + at.run * run.out + at.others * others.out, p.out_type);
  t.lhs_type = p.lhs_type, t.rhs_type = p.rhs_type, t.out_type = p.out_type, t.sum = p.sum;
  t.map = p.map;
  const PlaneDimension& last = p.layout.dims.back();
  t.lines = {p.lines[chunk].data(), static_cast<int64_t>(p.lines[chunk].size()),
             last.stride * last.window.element_stride};
  t.run = {std::min(p.run_chunk, run.size - at.run), run.lhs, p.layout.PlaneElements()};
  t.others = {std::min(p.others_chunk, others.size - at.others), others.lhs, p.ImagePlanes()};
  t.elements = t.others.count * p.ImagePlanes();
  t.run_stride = p.map ? run.out : run.rhs;
  t.phases = p.tile_phases[chunk].data();
  t.n_phases = static_cast<int64_t>(p.tile_phases[chunk].size());
  t.features = p.features.size, t.feature_rhs = p.features.rhs, t.feature_out = p.features.out;
  t.sums_out = p.sums_out.data(), t.n_sums = static_cast<int64_t>(p.sums_out.size()), t.others_out = others.out;
  return t;
}

void RunUnit(const PlaneConvolution& p, const ricci_launch& l, int64_t unit) {
  auto* scratch = static_cast<char*>(l.scratch);
  const PlaneScratch parts{scratch, scratch + p.rhs_offset, scratch + p.mask_offset, scratch + p.sums_offset};
  const int64_t group = unit / p.group_units, part = unit % p.group_units, chunks = p.layout.chunks;
  if (p.map) return p.tile(TileOf(p, l, group, {part / chunks * p.run_chunk, 0, part % chunks}), parts);
  const int64_t tiles = p.RunChunks() * chunks;
  for (int64_t i = 0; i < tiles; ++i) {
    PlaneTile t = TileOf(p, l, group, {i / chunks * p.run_chunk, part * p.others_chunk, i % chunks});
    t.first = i == 0, t.last = i + 1 == tiles;
    p.tile(t, parts);
  }
}

void Run(const PlaneConvolution& p, const ricci_launch& l) {
  const int64_t first = l.task * p.units_per_task;
  for (int64_t i = first; i < std::min(p.units, first + p.units_per_task); ++i) RunUnit(p, l, i);
}

void Describe(const PlaneConvolution& p, ricci_library_plan& out) {
  out.tasks = (p.units + p.units_per_task - 1) / p.units_per_task;
  out.flops = static_cast<uint64_t>(2 * p.work * static_cast<double>(p.group.size));
  out.scratch_bytes = static_cast<uint64_t>(p.scratch_bytes);
}

constexpr int32_t kPriority = 11;  // above that of tiles

}  // namespace

ricci_status* AddPlaneConvolution(ricci_ctx* ctx) {
  return PlannedLibrary<PlaneConvolution, Make, Describe, Run, Takes>::Add(ctx, "conv_general_dilated", kPriority);
}

}  // namespace ricci::cpu
