// Tiles of convolutions by planes: the code of each instruction set, over the layouts of all small windows of one
// dimension, against the sums that define it.
#include "cpu/tiles/plane_tile.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "cpu/library/plane_layout.h"
#include "instruction_sets.h"

namespace ricci::testing { namespace {

using cpu::GemmType;
using cpu::PlaneLayout;
using cpu::PlaneWindow;

// Arrays [images][elements], [features][images of a run, or others][positions], row-major, of small integers.
struct Case {
  PlaneWindow window;
  int64_t run, others, features;
  bool map;

  // Is there an element that position i of the run and position j of the other side meet?
  std::optional<int64_t> Element(int64_t i, int64_t j) const {
    const int64_t at = i * window.step + j * window.other_step - window.low;
    if (at % window.dilation != 0 || at < 0 || at / window.dilation >= window.elements) return {};
    return at / window.dilation;
  }
};

template <typename T>
struct Arrays {
  explicit Arrays(const Case& c) : c(c) {
    const int64_t images = c.run * c.others;
    lhs.resize(static_cast<size_t>(images * c.window.elements));
    rhs.resize(static_cast<size_t>(c.features * (c.map ? c.others * c.window.others : c.run * c.window.run)));
    out.assign(static_cast<size_t>(c.features * (c.map ? c.run * c.window.run : c.others * c.window.others)), T{7});
    want.assign(out.size(), T{});
    for (size_t i = 0; i < lhs.size(); ++i) lhs[i] = static_cast<T>(static_cast<int>(i * 7919 % 11) - 5);
    for (size_t i = 0; i < rhs.size(); ++i) rhs[i] = static_cast<T>(static_cast<int>(i * 104729 % 13) - 6);
  }

  // lhs is [others][run][elements]; rhs and out are [features][others][other side] and [features][run][run's
  // positions], or the reverse.
  void FindSums() {
    for (int64_t f = 0; f < c.features; ++f) {
      for (int64_t o = 0; o < c.others; ++o) {
        for (int64_t r = 0; r < c.run; ++r) AddImage(f, o, r);
      }
    }
  }
  void AddImage(int64_t f, int64_t o, int64_t r) {
    for (int64_t i = 0; i < c.window.run; ++i) {
      for (int64_t j = 0; j < c.window.others; ++j) {
        const auto element = c.Element(i, j);
        if (!element) continue;
        const auto across = static_cast<size_t>((f * c.others + o) * c.window.others + j),
                   along = static_cast<size_t>((f * c.run + r) * c.window.run + i);
        const T x = lhs[static_cast<size_t>((o * c.run + r) * c.window.elements + *element)];
        (c.map ? want[along] : want[across]) += x * (c.map ? rhs[across] : rhs[along]);
      }
    }
  }

  const Case& c;
  std::vector<T> lhs, rhs, out, want;
};

// Runs all chunks of `chunk` positions.
template <typename T>
void RunTiles(const Case& c, Arrays<T>& a, int64_t chunk, const InstructionSet& set) {
  PlaneLayout layout;
  layout.dims.emplace_back(c.window);
  layout.Cut(chunk);
  const int64_t plane = layout.PlaneElements(), distance = c.run * plane, image = layout.Planes() * distance;
  AlignedElements<T> planes(c.others * image + cpu::kPlaneSlack),
      rhs(c.others * c.window.others * cpu::kPlaneRows + c.features * (distance + 2 * cpu::kPlaneSlack)),
      mask(distance + 2 * cpu::kPlaneSlack),
      sums((c.features + cpu::kPlaneRows) * (distance + c.others * c.window.others + 2 * cpu::kPlaneSlack));
  const bool direct = c.map && layout.dims[0].phases == 1 && c.features % 2 == 1;  // each way is tried
  std::vector<int64_t> positions(static_cast<size_t>(c.window.others));
  std::iota(positions.begin(), positions.end(), 0);
  for (int64_t i = 0; i < layout.chunks; ++i) {
    const std::vector<cpu::PlaneLine> lines = layout.ArrayLines(i, distance);
    std::vector<PlaneLayout::Phase> phases;
    for (int64_t p = 0; p < layout.Phases(); ++p) {
      PlaneLayout::Phase one = layout.PhaseOf(p, distance);
      const size_t n = one.from.size();
      for (size_t m = n; m < n * static_cast<size_t>(c.others); ++m) {
        one.from.push_back(one.from[m - n] + image);
        one.other.push_back(one.other[m - n] + c.window.others);
      }
      phases.push_back(std::move(one));
    }
    std::vector<cpu::PlanePhase> tile_phases;
    for (const PlaneLayout::Phase& p : phases) {
      const auto& run = p.lines[static_cast<size_t>(i)];
      tile_phases.push_back({p.from.data(),
                             p.other.data(),
                             static_cast<int64_t>(p.from.size()) / (c.map ? 1 : c.others),
                             {run.data(), static_cast<int64_t>(run.size()), layout.dims[0].phases},
                             p.lengths[static_cast<size_t>(i)],
                             direct && run.size() == 1 && run[0].count >= cpu::kDirectLine});
    }
    cpu::PlaneTile t{};
    t.lhs = a.lhs.data(), t.rhs = a.rhs.data(), t.out = a.out.data();
    t.lhs_type = t.rhs_type = t.out_type = t.sum = sizeof(T) == 8 ? GemmType::kF64 : GemmType::kF32;
    t.map = c.map;
    t.lines = {lines.data(), static_cast<int64_t>(lines.size()), layout.dims[0].stride};
    t.run = {c.run, c.window.elements, plane};
    t.others = {c.others, c.run * c.window.elements, image};
    t.elements = c.others * image;
    t.run_stride = c.window.run;
    t.phases = tile_phases.data(), t.n_phases = static_cast<int64_t>(tile_phases.size());
    t.features = c.features;
    (c.map ? t.feature_rhs : t.feature_out) = c.others * c.window.others;
    (c.map ? t.feature_out : t.feature_rhs) = c.run * c.window.run;
    t.sums_out = positions.data(), t.n_sums = c.window.others, t.others_out = c.window.others;
    t.first = i == 0, t.last = i + 1 == layout.chunks;
    set.planes(t, {planes.data(), rhs.data(), mask.data(), sums.data()});
  }
}

// All combinations of a few sizes, steps, paddings and dilations.
std::vector<PlaneWindow> Windows() {
  std::vector<PlaneWindow> all;
  for (int64_t elements : {1, 5, 40}) {
    for (int64_t run : {1, 3, 37}) {
      for (int64_t others : {1, 4}) {
        for (int64_t step : {1, 2, 3}) {
          for (int64_t other_step : {1, 2, 5}) {
            for (int64_t low : {-2, 0, 3}) {
              for (int64_t dilation : {1, 2, 3}) {
                all.push_back({elements, run, others, step, other_step, low, dilation, 1, 1, 1});
              }
            }
          }
        }
      }
    }
  }
  return all;
}

template <typename T>
void CheckAll(const InstructionSet& set) {
  size_t number = 0;
  for (const PlaneWindow& w : Windows()) {
    const auto some = static_cast<int64_t>(++number % 4);
    for (const bool map : {false, true}) {
      const Case c{w, 1 + some % 3, 1 + some / 2, 1 + static_cast<int64_t>(number % 11), map};
      Arrays<T> a(c);
      a.FindSums();
      RunTiles(c, a, some == 3 ? 5 : w.run, set);
      ASSERT_EQ(a.out, a.want) << set.name << " map " << map << " elements " << w.elements << " run " << w.run
                               << " others " << w.others << " steps " << w.step << " " << w.other_step << " low "
                               << w.low << " dilation " << w.dilation;
    }
  }
}

TEST(PlaneTile, AllWindowsOfOneDimension) {
  for (const InstructionSet& set : InstructionSets()) {
    CheckAll<float>(set);
    CheckAll<double>(set);
  }
}

// What no position of the window meets adds nothing, not even NaN; it lies beside what is met.
TEST(PlaneTile, WhatIsNotMetMayBeInfinite) {
  for (const InstructionSet& set : InstructionSets()) {
    for (const bool map : {false, true}) {
      const Case c{{38, 9, 3, 4, 1, 0, 1, 1, 1, 1}, 2, 2, 3, map};
      Arrays<float> a(c);
      for (size_t i = 0; i < a.lhs.size(); ++i) {
        const int64_t at = static_cast<int64_t>(i) % c.window.elements;
        if (at % 4 == 3 || at >= 35) a.lhs[i] = std::numeric_limits<float>::infinity();
      }
      a.FindSums();
      RunTiles(c, a, c.window.run, set);
      EXPECT_EQ(a.out, a.want) << set.name << " map " << map;
    }
  }
}

}  // namespace
}  // namespace ricci::testing
