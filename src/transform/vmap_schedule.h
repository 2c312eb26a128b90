// Schedule: how a vmap runs, as the context's option `vmap`, ricci_vmap_opts and the attribute `schedule` say it.
#ifndef RICCI_TRANSFORM_VMAP_SCHEDULE_H_
#define RICCI_TRANSFORM_VMAP_SCHEDULE_H_
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "ricci/transform.h"

namespace ricci { inline namespace v0 { namespace transform {

enum class Schedule : uint8_t {
  kAuto = RICCI_SCHEDULE_AUTO,  // by estimate; as an attribute: left out
  kBatched = RICCI_SCHEDULE_BATCHED,
  kLanes = RICCI_SCHEDULE_LANES
};
inline constexpr std::string_view kScheduleNames[] = {"auto", "batched", "lanes"};  // by value

constexpr std::string_view NameOf(Schedule s) { return kScheduleNames[static_cast<uint8_t>(s)]; }
// Nothing if there is none of that name.
constexpr std::optional<Schedule> ScheduleNamed(std::string_view name) {
  for (uint8_t i = 0; i < std::size(kScheduleNames); ++i) {
    if (name == kScheduleNames[i]) return static_cast<Schedule>(i);
  }
  return std::nullopt;
}

}}}  // namespace ricci::v0::transform
#endif
