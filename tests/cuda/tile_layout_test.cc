// Accesses of warps to shared memory of tiles (plugins/cuda/tile/tile_layout.h), counted as the hardware does: 32 banks
// of 4 bytes, and of wide accesses 8 lanes (16 bytes) or 16 lanes (8 bytes) at a time.
#include "cuda/tile/tile_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>

namespace ricci::cuda { namespace {

// The most words of one bank that lanes access at once; `place`: the first element of a lane.
size_t Conflicts(int64_t lanes, int64_t bytes, int64_t element, const std::function<int64_t(int64_t)>& place) {
  size_t worst = 0;
  const int64_t at_once = std::min<int64_t>(lanes, 128 / bytes);
  for (int64_t first = 0; first < lanes; first += at_once) {
    std::array<std::set<int64_t>, 32> words;
    for (int64_t lane = first; lane < first + at_once; ++lane) {
      const int64_t begin = place(lane) * element;
      EXPECT_EQ(begin % bytes, 0);
      for (int64_t word = begin / 4; word < (begin + bytes + 3) / 4; ++word)
        words[static_cast<size_t>(word % 32)].insert(word);
    }
    for (const auto& bank : words) worst = std::max(worst, bank.size());
  }
  return worst;
}

// Every element has a place of its own.
void ExpectPermutation(const TileLayout& layout) {
  std::set<int64_t> places;
  for (int64_t line = 0; line < layout.lines; ++line) {
    for (int64_t inner = 0; inner < layout.length; ++inner) places.insert(layout.OffsetOf(line, inner));
  }
  EXPECT_EQ(static_cast<int64_t>(places.size()), layout.elements());
  EXPECT_EQ(*places.rbegin(), layout.elements() - 1);
}

TEST(TileLayout, TensorCoresReadLinesOfDifferentBanks) {
  for (const int64_t extent : {16, 32, 64, 128}) {
    for (const bool along_sum : {false, true}) {
      const TileLayout layout = TensorLayout(extent, 32, along_sum);
      ExpectPermutation(layout);
      for (int64_t line = 0; line < layout.lines; line += 8) {
        for (int64_t inner = 0; inner < layout.length; inner += 8) {
          EXPECT_EQ(Conflicts(8, 16, 2, [&](int64_t lane) { return layout.OffsetOf(line + lane, inner); }), 1u);
        }
      }
      // Copies: lanes along the lines, 8 elements each.
      const int64_t per_line = layout.length / 8;
      EXPECT_EQ(
          Conflicts(32, 16, 2, [&](int64_t lane) { return layout.OffsetOf(lane / per_line, lane % per_line * 8); }),
          1u);
    }
  }
}

// Of elements of 1 and 4 bytes lines are along the sum. What lies along the side in memory is turned: each of four
// lanes has 4 bytes of a line, of 8 places 4 lines apart.
TEST(TileLayout, TensorCoresReadOtherElementsAlongTheSum) {
  for (const int64_t bytes : {1, 4}) {
    for (const int64_t extent : {16, 32, 64, 128}) {
      for (const int64_t step_bytes : {32, 64}) {
        const int64_t step = step_bytes / bytes, group = 16 / bytes, word = 4 / bytes;
        const TileLayout layout = TensorLayout(extent, step, /*along_sum=*/false, bytes);
        EXPECT_TRUE(layout.lines_of_side);
        ExpectPermutation(layout);
        for (int64_t line = 0; line < extent; line += 8) {
          for (int64_t inner = 0; inner < step; inner += group) {
            EXPECT_EQ(Conflicts(8, 16, bytes, [&](int64_t lane) { return layout.OffsetOf(line + lane, inner); }), 1u);
          }
        }
        const int64_t per_line = step / group;
        const auto copied = [&](int64_t lane) { return layout.OffsetOf(lane / per_line, lane % per_line * group); };
        EXPECT_EQ(Conflicts(std::min<int64_t>(32, extent * per_line), 16, bytes, copied), 1u);
        if (step_bytes != 64) continue;
        for (int64_t e = 0; e < 4; ++e) {
          const auto turned = [&](int64_t lane) {
            return layout.OffsetOf(lane / 4 * 4 % extent + e, lane % 4 * word + lane / extent * group);
          };
          EXPECT_LE(Conflicts(32, 4, bytes, turned), 2u) << bytes << " bytes, extent " << extent;
        }
      }
    }
  }
}

// Where wgmma looks for an element: lines in sequence, of panels too, bits 4 to 6 of an address by 7 to 9, as many as a
// line has.
int64_t PlaceForWgmma(const TileLayout& layout, int64_t line, int64_t inner) {
  const int64_t of_line = layout.of_line(),
                at = 2 * (inner / of_line * layout.lines * of_line + line * of_line + inner % of_line);
  return (at ^ (at / 128 % (of_line / 8) * 16)) / 2;
}

TEST(TileLayout, GroupsOfWarpsFindElementsAndCopiesHaveNoConflicts) {
  for (const int64_t step : {16, 32, 64}) {
    for (const auto& [extent, part] :
         {std::pair<int64_t, int64_t>{128, 64}, {128, 128}, {64, 64}, {64, 32}, {16, 16}}) {
      for (const bool along_sum : {false, true}) {
        const TileLayout layout = WarpgroupLayout(extent, step, along_sum, part);
        ExpectPermutation(layout);
        for (int64_t line = 0; line < layout.lines; ++line) {
          for (int64_t inner = 0; inner < layout.length; ++inner) {
            ASSERT_EQ(layout.OffsetOf(line, inner), PlaceForWgmma(layout, line, inner));
          }
        }
        if (!along_sum) {
          EXPECT_LE(layout.of_line(), part) << "a panel of two groups of warps";
        }
        const int64_t per_line = layout.of_line() / 8;
        const auto copied = [&](int64_t lane) { return layout.OffsetOf(lane / per_line, lane % per_line * 8); };
        EXPECT_EQ(Conflicts(32, 16, 2, copied), 1u) << extent << " " << step << " " << along_sum;
      }
    }
  }
}

// Of a warp 4 rows and 8 columns of threads read `n` elements each; the rows are the same for 8 lanes.
TEST(TileLayout, RegistersReadWithoutConflicts) {
  for (const int64_t bytes : {4, 8}) {
    const int64_t n = 16 / bytes, step = 16;
    for (const int64_t extent : {16, 64, 128}) {
      for (const int64_t across : {int64_t{0}, int64_t{1}, n}) {
        const TileLayout layout = RegisterLayout(extent, step, across, bytes);
        ExpectPermutation(layout);
        for (int64_t trip = 0; trip < step; ++trip) {
          EXPECT_EQ(Conflicts(32, 16, bytes, [&](int64_t lane) { return layout.OffsetOf(trip, lane % 8 * n); }), 1u);
          EXPECT_EQ(Conflicts(32, 16, bytes, [&](int64_t lane) { return layout.OffsetOf(trip, lane / 8 * n); }), 1u);
        }
      }
    }
  }
}

TEST(TileLayout, PacketsAcrossLinesAreWrittenWithoutConflicts) {
  const int64_t step = 16;
  struct Packets {
    int64_t bytes, across;
    size_t most;
  };
  for (const Packets& p : {Packets{4, 4, 1}, Packets{4, 2, 1}, Packets{4, 1, 2}, Packets{8, 2, 1}}) {
    const TileLayout layout = RegisterLayout(128, step, p.across, p.bytes);
    const int64_t per_row = step / p.across;
    const auto place = [&](int64_t lane, int64_t e) {
      return layout.OffsetOf(lane % per_row * p.across + e, lane / per_row);
    };
    for (int64_t e = 0; e < p.across; ++e) {
      EXPECT_LE(Conflicts(32, p.bytes, p.bytes, [&](int64_t lane) { return place(lane, e); }), p.most)
          << p.bytes << " bytes, packets of " << p.across;
    }
  }
}

}}  // namespace ricci::cuda
