#include "cpu/library/plane_plan.h"

#include <algorithm>
#include <cmath>

#include "cpu/library/product.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kTaskWork = int64_t{1} << 21;      // of one task at least, if there is more than one
constexpr int64_t kUnits = 4;                        // wanted, if each has that much work
constexpr int64_t kCached = int64_t{512} << 10;      // bytes of what a unit copies: they stay in the second-level cache
constexpr int64_t kMostCached = int64_t{1} << 20;    // and if it cannot be cut
constexpr int64_t kMostSize = int64_t{1} << 31;      // of a dimension, a step, padding, or a plane
constexpr int64_t kMostMeetings = int64_t{1} << 16;  // tried along a dimension
constexpr int64_t kMostPhases = 64;

// ---- geometry ----
// Sizes with which nothing below overflows, and tables are short.
bool IsModest(const ConvolutionShape& c) {
  double elements = 1;
  for (const ConvolutionWindow& v : c.windows) {
    for (const int64_t n : {v.lhs, v.rhs, v.out, v.stride, v.lhs_dilation, v.rhs_dilation, std::abs(v.low)}) {
      if (n > kMostSize) return false;
    }
    const int64_t phases = std::min(v.lhs_dilation, std::max(v.out, v.rhs));
    if (phases > kMostPhases || std::max(v.out, v.rhs) > kMostMeetings * kMostPhases) return false;
    elements *= static_cast<double>(v.lhs) + static_cast<double>(v.out) + static_cast<double>(v.rhs);
  }
  for (const ConvolutionLoop& l : {c.group, c.batch, c.inputs, c.features}) elements *= static_cast<double>(l.size);
  return elements < 0x1p40;
}

double Count(const ConvolutionShape& c, int64_t ConvolutionWindow::*size) {
  double n = 1;
  for (const ConvolutionWindow& v : c.windows) n *= static_cast<double>(v.*size);
  return n;
}

// Along each dimension; if the positions are those of sums, not of a map, they are numbered in order.
bool MakeLayout(const ConvolutionShape& c, PlanePlan& p) {
  int64_t apart = 1;
  p.work =
      static_cast<double>(c.batch.size) * static_cast<double>(c.inputs.size) * static_cast<double>(c.features.size);
  for (size_t i = c.windows.size(); i-- > 0;) {
    const ConvolutionWindow& v = c.windows[i];
    PlaneWindow w{v.lhs, v.out,          v.rhs,        v.stride,     v.rhs_dilation,
                  v.low, v.lhs_dilation, v.lhs_stride, v.out_stride, v.rhs_stride};
    if (!p.map) {
      std::swap(w.run, w.others), std::swap(w.step, w.other_step);
      w.run_stride = v.rhs_stride, w.other_stride = apart;
    }
    if (std::min(w.dilation, w.run) * w.others > kMostMeetings) return false;
    apart *= w.others;
    p.layout.dims.emplace_back(w);
    const PlaneDimension& d = p.layout.dims.back();
    double products = 0;
    for (size_t phase = 0; phase < d.meetings.size(); ++phase) {
      products +=
          static_cast<double>(d.meetings[phase].size()) * static_cast<double>(d.Positions(static_cast<int64_t>(phase)));
    }
    p.work *= products;
  }
  std::reverse(p.layout.dims.begin(), p.layout.dims.end());
  if (p.layout.Phases() > kMostPhases) return false;
  p.layout.Cut(p.layout.dims[0].MostPositions());
  double extent = 1;
  for (size_t d = 0; d < p.layout.dims.size(); ++d) {
    extent *= static_cast<double>(p.layout.Extent(d)) * static_cast<double>(p.layout.dims[d].remainders.size());
  }
  return extent < static_cast<double>(kMostSize);
}

// ---- how it is cut ----
int64_t CachedBytes(const PlanePlan& p) {
  const int64_t copies = p.map ? std::min(p.features.size, kPlaneRows) : p.features.size;  // sums, or runs of rhs
  return SizeOf(p.sum) * p.Distance() * (p.others_chunk * p.layout.Planes() + copies);
}
// Positions of a run, of the elements that it goes over.
double Share(const PlanePlan& p) {
  double positions = 1;
  for (const PlaneDimension& d : p.layout.dims) positions *= static_cast<double>(d.MostPositions());
  return positions / static_cast<double>(p.layout.PlaneElements());
}
int64_t Evenly(int64_t all, int64_t part) {
  const int64_t parts = (all + part - 1) / part;
  return (all + parts - 1) / parts;
}
// The parts of a run that are copied together; false: it cannot be cut.
bool HalveRun(PlanePlan& p) {
  if (p.run_chunk > 1) {
    p.run_chunk = Evenly(p.run.size, (p.run_chunk + 1) / 2);
  } else if (p.layout.chunk > 1) {
    p.layout.Cut(Evenly(p.layout.dims[0].MostPositions(), (p.layout.chunk + 1) / 2));
  } else {
    return false;
  }
  return true;
}
// What a unit copies. If runs are summed, rhs is copied for each chunk of results, and a short run does not make up for
// what a sum costs at its end.
bool Halve(PlanePlan& p) {
  constexpr int64_t kShortRun = 512;  // elements
  if (p.map) return HalveRun(p);
  if (p.Distance() >= 2 * kShortRun && HalveRun(p)) return true;
  if (p.others_chunk == 1) return HalveRun(p);
  p.others_chunk = Evenly(p.others.size, (p.others_chunk + 1) / 2);
  return true;
}

void CountUnits(PlanePlan& p) {
  p.group_units = p.map ? p.RunChunks() * p.layout.chunks : p.OthersChunks();
  p.units = p.group.size * p.group_units;
}

// False: what one unit copies does not fit the cache.
bool ChooseChunks(PlanePlan& p) {
  p.run_chunk = p.run.size, p.others_chunk = p.others.size;
  if (Share(p) < 0.5) p.run_chunk = 1;
  while (CachedBytes(p) > kCached && Halve(p)) {
  }
  if (CachedBytes(p) > kMostCached) return false;
  CountUnits(p);
  while (p.units < kUnits && p.work / static_cast<double>(p.group_units) >= 2 * kTaskWork) {
    if (p.map ? !Halve(p) : p.others_chunk == 1) break;
    if (!p.map) p.others_chunk = Evenly(p.others.size, (p.others_chunk + 1) / 2);
    CountUnits(p);
  }
  const double unit = std::max(1.0, p.work / static_cast<double>(p.group_units));
  p.units_per_task = std::clamp<int64_t>(static_cast<int64_t>(kTaskWork / unit), 1, p.units);
  return true;
}

bool SetTypes(const ConvolutionShape& c, PlanePlan& p) {
  Product types;
  if (!SetTypes(types, c.lhs, c.rhs, c.out)) return false;
  p.lhs_type = types.a.type, p.rhs_type = types.b.type, p.out_type = types.c_type, p.sum = types.sum;
  return true;
}

}  // namespace

bool ChoosePlanes(const ConvolutionShape& c, PlanePlan& p) {
  if (c.windows.empty() || !SetTypes(c, p) || !IsModest(c)) return false;
  const double positions = static_cast<double>(c.batch.size) * Count(c, &ConvolutionWindow::out),
               steps = static_cast<double>(c.inputs.size) * Count(c, &ConvolutionWindow::rhs);
  if (positions * steps * static_cast<double>(c.features.size) < 1) return false;
  p.map = positions >= steps;
  p.group = c.group, p.features = c.features;
  p.run = p.map ? c.batch : c.inputs, p.others = p.map ? c.inputs : c.batch;
  return MakeLayout(c, p) && ChooseChunks(p);
}

}  // namespace ricci::cpu
