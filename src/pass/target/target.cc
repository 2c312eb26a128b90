#include "pass/target/target.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/status.h"
#include "ricci/kernel.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// In lanes, relative to a sum: such ratios hold on processors and GPUs alike.
constexpr uint16_t CyclesOf(uint16_t op) {
  switch (op) {
    case RICCI_S_DIV:
    case RICCI_S_SQRT:
    case RICCI_S_RSQRT:
      return 8;
    case RICCI_S_SIN:
      return 6;
    case RICCI_S_COS:
      return 10;
    case RICCI_S_REM:
    case RICCI_S_POW:
    case RICCI_S_ATAN2:
      return 40;
    case RICCI_S_LGAMMA:
    case RICCI_S_DIGAMMA:
    case RICCI_S_ERF_INV:
      return 100;
    case RICCI_S_FLOOR:
    case RICCI_S_CEIL:
    case RICCI_S_TRUNC:
    case RICCI_S_ROUND_EVEN:
      return 1;
    default:
      return op >= RICCI_S_EXP ? 16 : 1;
  }
}
constexpr auto kCycles = [] {
  std::array<uint16_t, RICCI_S_COUNT> cycles{};
  for (uint16_t op = 0; op < RICCI_S_COUNT; ++op) cycles[op] = CyclesOf(op);
  return cycles;
}();

constexpr double kElementBytes = 4;        // of most values
constexpr double kSecondBodyCycles = 128;  // saved per trip, for which a body is worth writing twice
constexpr int64_t kTile = 8;               // rows and columns of a product for which library calls have tiles
constexpr int64_t kLaneElements = 4096, kLaneTotal = 1 << 20;  // for which private memory has room
constexpr int64_t kProductTile = 128;                          // rows and columns of the largest tiles of a GPU
// Tensor cores multiply a row of such a tile, of elements of 2 bytes, in the time of 8 operations on each element of
// its factors, and longer ones in a longer time.
constexpr int64_t kFactorOperations = 4;
constexpr int64_t kSharers = 8;      // that share a row, each with all lanes, where a device runs many points
constexpr int64_t kSmall = 1 << 16;  // elements that one thread finishes before others have begun

Limits LimitsOf(const ricci_target& t) {
  const auto lanes = static_cast<int64_t>(t.lanes), points = static_cast<int64_t>(t.points_wanted);
  const auto width = static_cast<double>(points);
  // A value that is not in a register costs a load for each use; up to half as many values again do not matter.
  const int64_t in_lanes = std::clamp<int64_t>(int64_t{t.registers} * 3 / 2, 32, 64);
  // It is not known whether a stored value will be read from the cache or from memory.
  const double between = std::sqrt(t.cached_bytes_per_cycle * t.memory_bytes_per_cycle);
  Limits l{};
  l.written_in_lanes = in_lanes;
  // If a point has only one lane, a loop cannot be spread over others.
  l.written_alone = points > lanes ? in_lanes : std::min<int64_t>(lanes, 8);
  l.fewest_points = std::max<int64_t>(lanes / 2, 1);
  // Storing an element fetches its line and writes it; then it is read.
  l.cheap_to_repeat = std::max<int64_t>(std::llround(3 * kElementBytes * width / between), 2);
  l.worth_a_kernel = std::max<int64_t>(std::llround(t.launch_cycles * width), 1);
  l.read_back = std::max<int64_t>(std::llround(2 * kElementBytes * width / t.cached_bytes_per_cycle), 1);
  l.few_rows = std::max<int64_t>(16, points / lanes);
  l.near_row = static_cast<int64_t>(static_cast<double>(t.near_bytes) / kElementBytes) / 4 * lanes * kSharers;
  l.few_near_rows = std::max<int64_t>(16, points / (lanes * kSharers));
  l.short_row = lanes;
  l.small = kSmall;
  l.row_bytes = static_cast<int64_t>(t.cache_bytes / 4);
  // So that dozens of values fit near.
  l.body_elements = std::max<int64_t>(static_cast<int64_t>(t.near_bytes / kElementBytes) / 32, 1);
  l.body_product = kTile * kTile;
  l.lane_elements = kLaneElements;
  l.lane_total = kLaneTotal;
  const double saved = std::max(kSecondBodyCycles - t.launch_cycles, 0.0);
  l.turn_bytes = std::max<uint64_t>(static_cast<uint64_t>(saved * t.cached_bytes_per_cycle), 1);
  l.product_tile = points > lanes ? kProductTile : 0;
  l.factor_operations = points > lanes ? kFactorOperations : 0;
  return l;
}

}  // namespace

ricci_target TypicalTarget() {
  ricci_target t{};
  t.hdr.size = sizeof t;
  t.lanes = 8;
  t.registers = 16;
  t.points_wanted = 8;
  t.near_bytes = 32 << 10;
  t.cache_bytes = 1 << 20;
  t.cached_bytes_per_cycle = 16;
  t.memory_bytes_per_cycle = 8;
  t.launch_cycles = 20;
  t.call_cycles = 300;
  t.op_cycles = kCycles.data();
  t.n_op_cycles = kCycles.size();
  return t;
}

Target::Target(std::string_view kind) : Target(kind, TypicalTarget()) {}

Target::Target(std::string_view kind, const ricci_target& numbers)
    : kind(kind), numbers(numbers), limits(LimitsOf(numbers)) {}

absl::Status CheckTarget(const ricci_target& t) {
  const auto refuse = [](std::string_view what, auto value, std::string_view must) {
    return base::InvalidArgument("backend: target: ", what, " is ", value, "; it must be ", must);
  };
  constexpr uint64_t kMost = uint64_t{1} << 40;
  const auto number = [](double x) { return x > 0 && x < 1e12; };
  if (t.lanes == 0 || t.lanes > 1024 || (t.lanes & (t.lanes - 1)) != 0) {
    return refuse("lanes", t.lanes, "a power of 2 up to 1024");
  }
  if (t.registers == 0 || t.registers > 65536) return refuse("registers", t.registers, "1 to 65536");
  if (t.points_wanted < t.lanes || t.points_wanted > kMost) {
    return refuse("points_wanted", t.points_wanted, "at least the lanes, and at most 2^40");
  }
  if (t.near_bytes == 0 || t.near_bytes > kMost) return refuse("near_bytes", t.near_bytes, "1 to 2^40");
  if (t.cache_bytes == 0 || t.cache_bytes > kMost) return refuse("cache_bytes", t.cache_bytes, "1 to 2^40");
  const std::pair<const char*, double> rates[] = {{"cached_bytes_per_cycle", t.cached_bytes_per_cycle},
                                                  {"memory_bytes_per_cycle", t.memory_bytes_per_cycle},
                                                  {"launch_cycles", t.launch_cycles},
                                                  {"call_cycles", t.call_cycles}};
  for (const auto& [name, value] : rates) {
    if (!number(value)) return refuse(name, value, "more than 0 and less than 10^12");
  }
  if (t.op_cycles == nullptr && t.n_op_cycles != 0) return refuse("op_cycles", "NULL", "set, or n_op_cycles 0");
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
