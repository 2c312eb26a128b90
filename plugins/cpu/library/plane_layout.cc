#include "cpu/library/plane_layout.h"

#include <algorithm>
#include <numeric>

namespace ricci::cpu {
namespace {

int64_t FloorDivided(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t CeilDivided(int64_t a, int64_t b) { return -FloorDivided(-a, b); }

// Appends the lines of the last dimension for each combination of positions of the others: `body(d, add)` calls
// add(array, plane, count) for each position of dimension d, where count is 1 for all but the last.
struct LineWalk {
  std::vector<PlaneLine> lines;

  template <typename Body>
  void Go(size_t d, size_t rank, int64_t array, int64_t plane, const Body& body) {
    body(d, [&](int64_t more_array, int64_t more_plane, int64_t count) {
      if (d + 1 < rank) return Go(d + 1, rank, array + more_array, plane + more_plane, body);
      if (count > 0) lines.push_back({array + more_array, plane + more_plane, count});
    });
  }
};

}  // namespace

PlaneDimension::PlaneDimension(const PlaneWindow& w) : window(w) {
  const int64_t common = std::gcd(w.step, w.dilation);
  phases = std::min(w.dilation / common, w.run), stride = w.step / common;
  meetings.resize(static_cast<size_t>(phases));
  int64_t last = 0;
  bool any = false;
  for (int64_t phase = 0; phase < phases; ++phase) {
    for (int64_t j = 0; j < w.others; ++j) {
      const int64_t at = phase * w.step + j * w.other_step - w.low;
      if (at % w.dilation != 0) continue;
      const int64_t element = at / w.dilation;
      if (element >= w.elements || element + (Positions(phase) - 1) * stride < 0) continue;
      const int64_t shift = FloorDivided(element, stride);
      meetings[static_cast<size_t>(phase)].push_back({j, element - shift * stride, shift});
      first = any ? std::min(first, shift) : shift;
      last = any ? std::max(last, shift) : shift;
      any = true;
    }
  }
  reach = last - first;
  for (auto& of_phase : meetings) {
    for (Meeting& m : of_phase) {
      m.shift -= first;
      const auto found = std::find(remainders.begin(), remainders.end(), m.plane);
      const auto number = found - remainders.begin();
      if (found == remainders.end()) remainders.push_back(m.plane);
      m.plane = number;
    }
  }
}

void PlaneLayout::Cut(int64_t positions) {
  const int64_t all = dims[0].MostPositions();
  chunk = std::clamp<int64_t>(positions, 1, all);
  chunks = (all + chunk - 1) / chunk;
}

int64_t PlaneLayout::Extent(size_t d) const { return (d == 0 ? chunk : dims[d].MostPositions()) + dims[d].reach; }
int64_t PlaneLayout::PlaneElements() const {
  int64_t n = 1;
  for (size_t d = 0; d < dims.size(); ++d) n *= Extent(d);
  return n;
}
int64_t PlaneLayout::Planes() const {
  int64_t n = 1;
  for (const PlaneDimension& d : dims) n *= static_cast<int64_t>(d.remainders.size());
  return n;
}
int64_t PlaneLayout::Phases() const {
  int64_t n = 1;
  for (const PlaneDimension& d : dims) n *= d.phases;
  return n;
}

Ints PlaneLayout::PhaseNumbers(int64_t number) const {
  Ints phase(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    phase[d] = number % dims[d].phases;
    number /= dims[d].phases;
  }
  return phase;
}

std::vector<PlaneLine> PlaneLayout::ArrayLines(int64_t chunk_number, int64_t distance) const {
  LineWalk walk;
  Ints apart(dims.size(), 1), planes(dims.size(), distance);
  for (size_t d = dims.size(); d-- > 1;) {
    apart[d - 1] = apart[d] * Extent(d);
    planes[d - 1] = planes[d] * static_cast<int64_t>(dims[d].remainders.size());
  }
  walk.Go(0, dims.size(), 0, 0, [&](size_t d, const auto& add) {
    const PlaneDimension& dim = dims[d];
    const int64_t first = dim.first + (d == 0 ? chunk_number * chunk : 0);
    for (size_t r = 0; r < dim.remainders.size(); ++r) {
      const int64_t rest = dim.remainders[r];
      const int64_t lo = std::max<int64_t>(0, CeilDivided(-rest, dim.stride) - first),
                    hi = std::min(Extent(d), FloorDivided(dim.window.elements - 1 - rest, dim.stride) - first + 1);
      const auto line = [&](int64_t u, int64_t count) {
        add(((u + first) * dim.stride + rest) * dim.window.element_stride,
            u * apart[d] + static_cast<int64_t>(r) * planes[d], count);
      };
      if (d + 1 == dims.size() && lo < hi) line(lo, hi - lo);
      for (int64_t u = lo; u < hi && d + 1 < dims.size(); ++u) line(u, 1);
    }
  });
  return std::move(walk.lines);
}

PlaneLayout::Phase PlaneLayout::PhaseOf(int64_t number, int64_t distance) const {
  Phase out;
  const Ints phase = PhaseNumbers(number);
  Ints apart(dims.size(), 1), planes(dims.size(), distance);
  for (size_t d = dims.size(); d-- > 1;) {
    apart[d - 1] = apart[d] * Extent(d);
    planes[d - 1] = planes[d] * static_cast<int64_t>(dims[d].remainders.size());
  }
  LineWalk meetings;
  meetings.Go(0, dims.size(), 0, 0, [&](size_t d, const auto& add) {
    for (const PlaneDimension::Meeting& m : dims[d].meetings[static_cast<size_t>(phase[d])]) {
      add(m.other * dims[d].window.other_stride, m.shift * apart[d] + m.plane * planes[d], 1);
    }
  });
  for (const PlaneLine& l : meetings.lines) {
    out.from.push_back(l.plane);
    out.other.push_back(l.array);
  }
  for (int64_t c = 0; c < chunks; ++c) {
    LineWalk run;
    int64_t length = 1;
    run.Go(0, dims.size(), 0, 0, [&](size_t d, const auto& add) {
      const PlaneDimension& dim = dims[d];
      const int64_t from = d == 0 ? c * chunk : 0, positions = dim.Positions(phase[d]) - from,
                    count = d == 0 ? std::min(positions, chunk) : positions;
      const auto line = [&](int64_t q, int64_t n) {
        add(((from + q) * dim.phases + phase[d]) * dim.window.run_stride, q * apart[d], n);
      };
      if (d + 1 == dims.size()) line(0, std::max<int64_t>(count, 0));
      for (int64_t q = 0; q < count && d + 1 < dims.size(); ++q) line(q, 1);
    });
    for (const PlaneLine& l : run.lines) length = std::max(length, l.plane + l.count);
    out.lines.push_back(std::move(run.lines));
    out.lengths.push_back(length);
  }
  return out;
}

}  // namespace ricci::cpu
