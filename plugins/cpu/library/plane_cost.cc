// What planes cost: vectors of products, those between positions too, and copies.
#include <algorithm>
#include <cmath>

#include "cpu/library/plane_plan.h"

namespace ricci::cpu {
namespace {

// Cycles for an element that is copied: adjacent ones, every other one, and those further apart.
constexpr double kAdjacent = 0.3, kEveryOther = 0.5, kApart = 1.5;
constexpr double kAcross = 12;   // to add the elements of a vector
constexpr double kWeight = 1.0;  // to put a weight beside others

double CopyCycles(int64_t step) { return std::abs(step) == 1 ? kAdjacent : std::abs(step) == 2 ? kEveryOther : kApart; }

struct PhaseCount {
  double meetings = 1;  // of one of `others`
  double vectors = 0;   // of the runs of all images
};
PhaseCount CountPhase(const PlanePlan& p, int64_t number, double lanes) {
  const PlaneLayout& l = p.layout;
  const Ints phase = l.PhaseNumbers(number);
  PhaseCount count;
  double length = 0, lines = 1;  // up to the last place; lines of the last dimension
  for (size_t d = 0; d < l.dims.size(); ++d) {
    const auto positions =
        static_cast<double>(d == 0 ? std::min(l.chunk, l.dims[d].Positions(phase[d])) : l.dims[d].Positions(phase[d]));
    count.meetings *= static_cast<double>(l.dims[d].meetings[static_cast<size_t>(phase[d])].size());
    length = length * static_cast<double>(l.Extent(d)) + positions - 1;
    lines *= d + 1 < l.dims.size() ? positions : std::ceil(positions / lanes);
  }
  const auto images = static_cast<double>(p.run.size), chunks = static_cast<double>(l.chunks);
  if (IsDirect(p, number)) {
    count.vectors = images * chunks * lines;
  } else {
    const double run = static_cast<double>((p.run_chunk - 1) * l.PlaneElements()) + length + 1;
    count.vectors = chunks * static_cast<double>(p.RunChunks()) * std::ceil(run / lanes);
  }
  return count;
}

double Elements(const PlanePlan& p, int64_t PlaneWindow::*size) {
  double n = 1;
  for (const PlaneDimension& d : p.layout.dims) n *= static_cast<double>(d.window.*size);
  return n;
}

double CopiesOf(const PlanePlan& p) {
  const PlaneDimension& last = p.layout.dims.back();
  const auto run = static_cast<double>(p.run.size), others = static_cast<double>(p.others.size),
             features = static_cast<double>(p.features.size);
  const double along = CopyCycles(last.window.run_stride * last.phases);
  const double planes =
      run * others * Elements(p, &PlaneWindow::elements) * CopyCycles(last.stride * last.window.element_stride);
  if (!p.map) {
    const auto times = static_cast<double>(p.OthersChunks());
    return planes + times * features * run * Elements(p, &PlaneWindow::run) * along;
  }
  const double weights =
      static_cast<double>(p.group_units) * features * others * Elements(p, &PlaneWindow::others) * kWeight;
  return planes + weights + (IsDirect(p, 0) ? 0 : features * run * Elements(p, &PlaneWindow::run) * along);
}

}  // namespace

// Long lines of the sum's type, one element after the other.
bool IsDirect(const PlanePlan& p, int64_t phase) {
  const PlaneDimension& last = p.layout.dims.back();
  if (!p.map || p.out_type != p.sum || last.window.run_stride * last.phases != 1) return false;
  int64_t positions = last.Positions(p.layout.PhaseNumbers(phase).back());
  if (p.layout.dims.size() == 1)
    positions = std::min(p.layout.chunk, positions - (p.layout.chunks - 1) * p.layout.chunk);
  return positions >= kDirectLine;
}

double PlaneCycles(const PlanePlan& p) {
  const double lanes = 64.0 / static_cast<double>(SizeOf(p.sum));
  double cycles = CopiesOf(p);
  for (int64_t i = 0; i < p.layout.Phases(); ++i) {
    const PhaseCount count = CountPhase(p, i, lanes);
    const double sums = static_cast<double>(p.features.size) * static_cast<double>(p.others.size) * count.meetings;
    const double across = p.map ? 0 : kAcross * static_cast<double>(p.RunChunks() * p.layout.chunks);
    cycles += sums * (count.vectors + across);
  }
  return cycles * static_cast<double>(p.group.size);
}

}  // namespace ricci::cpu
