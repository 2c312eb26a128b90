// Memory of devices: what is counted, the limit and its message, and trim, where memory is the host's and where it is
// not.
#include "support/devices.h"

namespace ricci::testing { namespace {

class MemoryStats : public Devices {
 protected:
  static ricci_memory_stats Of(const ricci_device* d) {
    ricci_memory_stats s{};
    s.hdr.size = sizeof s;
    EXPECT_TRUE(Ok(ricci_device_memory_stats(d, &s)));
    return s;
  }
  ricci_array* FloatsOn(ricci_device* d, int64_t n) {
    const std::vector<float> data(static_cast<size_t>(n), 1.0f);
    ricci_array* a = nullptr;
    EXPECT_TRUE(Ok(ricci_array_from_host(d, Type(RICCI_F32, {n}), data.data(), nullptr, &a)));
    return a;
  }
};

// Arrays of some bytes are part of their header where memory is the host's, and others are not.
TEST_F(MemoryStats, ArraysAreCountedUntilTheyGo) {
  for (ricci_device* const d : {ref, device}) {
    const ricci_memory_stats before = Of(d);
    ricci_array *small = FloatsOn(d, 3), *large = FloatsOn(d, 5000);
    ricci_memory_stats now = Of(d);
    EXPECT_EQ(now.bytes_in_use, before.bytes_in_use + 12 + 20000);
    EXPECT_EQ(now.bytes_reserved, now.bytes_in_use) << "neither keeps anything";
    EXPECT_EQ(now.n_allocations, before.n_allocations + 2);
    EXPECT_EQ(now.largest_allocation, 20000u);
    Release({small, large});
    now = Of(d);
    EXPECT_EQ(now.bytes_in_use, before.bytes_in_use);
    EXPECT_EQ(now.peak_bytes_in_use, before.bytes_in_use + 20012);
    EXPECT_TRUE(Ok(ricci_device_trim(d, 0))) << "there is nothing to do";
  }
}

TEST_F(MemoryStats, WorkingMemoryIsCountedAndWrappedMemoryIsNot) {
  for (ricci_device* const d : {ref, device}) {
    const uint64_t before = Of(d).bytes_in_use;
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &d;
    o.n_devices = 1;
    ricci_program* const f = Parse(kTwoSortsText);
    ricci_executable* x = nullptr;
    ASSERT_TRUE(Ok(ricci_compile(f, &o, &x)));
    ricci_array *a = FloatsOn(d, 4), *out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_run(x, &a, 1, &out, 1, nullptr)));
    const uint64_t kept = Of(d).bytes_in_use - before;
    EXPECT_GT(kept, 32u) << "for the next run";
    ricci_array* wrapped = nullptr;
    ASSERT_TRUE(
        Ok(ricci_array_wrap(d, Type(RICCI_F32, {4}), ricci_array_device_data(a), nullptr, nullptr, nullptr, &wrapped)));
    EXPECT_EQ(Of(d).bytes_in_use - before, kept);
    Release({wrapped, a, out});
    ricci_executable_release(x);
    ricci_program_release(f);
  }
}

TEST_F(MemoryStats, PastTheLimitIsAnErrorWithBothFigures) {
  for (ricci_device* const d : {ref, device}) {
    ricci_array* const first = FloatsOn(d, 1000);
    const uint64_t used = Of(d).bytes_in_use;
    ASSERT_TRUE(Ok(ricci_device_set_memory_limit(d, used + 4000)));
    EXPECT_EQ(Of(d).bytes_limit, used + 4000);
    const std::vector<float> data(1001, 1.0f);
    const std::string name = d == ref ? "ref" : "late:0", in_use = std::to_string(used);
    for (const int64_t n : {1001, 1001}) {
      ricci_array* a = nullptr;
      EXPECT_EQ(
          ErrorOf(ricci_array_from_host(d, Type(RICCI_F32, {n}), data.data(), nullptr, &a), RICCI_RESOURCE_EXHAUSTED),
          "device " + name + ": 4004 bytes of memory wanted, " + in_use + " are in use, the limit is " +
              std::to_string(used + 4000) + " (ricci_device_set_memory_limit)");
    }
    ricci_array* const fits = FloatsOn(d, 1000);
    ASSERT_TRUE(Ok(ricci_device_set_memory_limit(d, 1))) << "less than is in use";
    ricci_array* a = nullptr;
    EXPECT_NE(
        ErrorOf(ricci_array_from_host(d, Type(RICCI_F32, {1}), data.data(), nullptr, &a), RICCI_RESOURCE_EXHAUSTED),
        "");
    ASSERT_TRUE(Ok(ricci_device_set_memory_limit(d, 0)));
    Release({first, fits, FloatsOn(d, 5000)});
  }
}

TEST_F(MemoryStats, ARunPastTheLimitNamesItsLargestBuffers) {
  for (ricci_device* const d : {ref, device}) {
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &d;
    o.n_devices = 1;
    ricci_program* const f = Parse(kTwoSortsText);
    ricci_executable* x = nullptr;
    ASSERT_TRUE(Ok(ricci_compile(f, &o, &x)));
    ricci_array *a = FloatsOn(d, 4), *out = nullptr;
    ASSERT_TRUE(Ok(ricci_device_set_memory_limit(d, Of(d).bytes_in_use + 16)));
    const std::string why = ErrorOf(ricci_executable_run(x, &a, 1, &out, 1, nullptr), RICCI_RESOURCE_EXHAUSTED);
    EXPECT_NE(why.find("the limit is"), why.npos) << why;
    EXPECT_NE(why.find("program two_sorts needs"), why.npos) << why;
    EXPECT_NE(why.find("the largest: 16 of "), why.npos) << why;
    ASSERT_TRUE(Ok(ricci_device_set_memory_limit(d, 0)));
    EXPECT_TRUE(Ok(ricci_executable_run(x, &a, 1, &out, 1, nullptr)));
    Release({a, out});
    ricci_executable_release(x);
    ricci_program_release(f);
  }
}

TEST_F(MemoryStats, WrongArguments) {
  ricci_memory_stats s{};
  EXPECT_EQ(ErrorOf(ricci_device_memory_stats(ref, &s), RICCI_INVALID_ARGUMENT),
            "ricci_device_memory_stats: out->hdr.size is 0; set it to the size of the struct");
  EXPECT_EQ(ErrorOf(ricci_device_memory_stats(nullptr, &s), RICCI_INVALID_ARGUMENT),
            "ricci_device_memory_stats: d is NULL");
  EXPECT_EQ(ErrorOf(ricci_device_set_memory_limit(nullptr, 1), RICCI_INVALID_ARGUMENT),
            "ricci_device_set_memory_limit: d is NULL");
  EXPECT_EQ(ErrorOf(ricci_device_trim(nullptr, 1), RICCI_INVALID_ARGUMENT), "ricci_device_trim: d is NULL");
}

}  // namespace
}  // namespace ricci::testing
