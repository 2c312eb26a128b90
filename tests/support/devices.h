// Devices: a fixture with two devices of kind `late` and `ref`, and programs to run on them.
#ifndef RICCI_TESTS_SUPPORT_DEVICES_H_
#define RICCI_TESTS_SUPPORT_DEVICES_H_
#include "support/small_program.h"

namespace ricci::testing {

inline constexpr std::string_view kNegateText = R"(
program negate(%x: f32[64]) {
  %y: f32[64] = neg(%x)
  return %y
})";

// With working memory between its kernels, and a constant.
inline constexpr std::string_view kTwoSortsText = R"(
program two_sorts(%x: f32[4]) {
  %c: f32[4] = constant [0, 0, 0, 1]
  %s: f32[4] = sort(%x) dimension=0 is_stable=true num_keys=1
  %t: f32[4] = sub(%s, %c)
  %u: f32[4] = sort(%t) dimension=0 is_stable=true num_keys=1
  %v: f32[4] = add(%u, %c)
  %w: f32[4] = sort(%v) dimension=0 is_stable=true num_keys=1
  return %w
})";

inline constexpr std::string_view kCheckedText = R"(
program checked(%x: f32[4]) {
  %0: f32[4] = constant 0
  %1: bool[4] = ge(%x, %0)
  %2: bool[] = reduce_and(%1) axes=[0]
  %3: f32[4] = check(%2, %x) code=9 message="some are negative"
  return %3
})";

class Devices : public SmallProgram {
 protected:
  explicit Devices(const LateOptions& options = {})
      : SmallProgram("late", options), second(ricci_device_get(ctx, 1)), ref(ricci_device_find(ctx, "ref", 3)) {}

  static ricci_device_desc Info(ricci_device* d) {
    ricci_device_desc desc{};
    desc.hdr.size = sizeof desc;
    ricci_device_info(d, &desc);
    return desc;
  }
  ricci_stream* NewStream(ricci_device* on = nullptr) {
    ricci_stream* s = nullptr;
    Ok(ricci_stream_create(on == nullptr ? device : on, &s));
    return s;
  }
  static void Bind(ricci_call* call, std::vector<ricci_array*> slots) {
    for (uint32_t i = 0; i < slots.size(); ++i) {
      Ok(ricci_call_bind(call, i, ricci_array_device_data(slots[i]), ricci_array_bytes(slots[i])));
    }
  }
  static void Release(std::vector<ricci_array*> arrays) {
    for (ricci_array* a : arrays) ricci_array_release(a);
  }

  ricci_device *const second, *const ref;  // beside `device`
};

}  // namespace ricci::testing
#endif
