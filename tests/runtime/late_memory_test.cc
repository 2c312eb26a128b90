// Memory of the stand-in device `late`: only the device can use it, and each wrong use is named.
#include <gtest/gtest.h>

#include "support/late_test.h"

namespace ricci::testing { namespace {

constexpr Four kOnes{1, 1, 1, 1};

class LateMemoryTest : public LateTest {};

TEST_F(LateMemoryTest, AddressesAreForTheDeviceAlone) {
  char* x = static_cast<char*>(d.Alloc(100));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % d.b.alignment, 0);
  const auto owns = [&](LateDeviceUser& user, const void* p, uint64_t bytes) {
    return user.b.owns(user.b.self, p, bytes);
  };
  EXPECT_TRUE(owns(d, x, 100));
  EXPECT_TRUE(owns(d, x + 99, 1));
  EXPECT_FALSE(owns(d, x, 101));
  EXPECT_FALSE(owns(d, x + 100, 1));
  EXPECT_FALSE(owns(d, x, 0));
  EXPECT_FALSE(owns(other, x, 100));
  EXPECT_FALSE(owns(d, &x, sizeof x));
  d.Free(x, 100);
  EXPECT_FALSE(owns(d, x, 100));
  void* y = d.Alloc(100);
  EXPECT_NE(x, y);
  d.Free(y, 100);
}

TEST(LateMemoryDeathTest, TheHostCannotTouchIt) {
  LateDevices late;
  LateDeviceUser d(late.Backend(0));
  auto* x = static_cast<volatile int32_t*>(d.Alloc(4));
  EXPECT_DEATH(*x = 1, "");
  d.Free(const_cast<int32_t*>(x), 4);
}

TEST_F(LateMemoryTest, WrongAddressesAreNamed) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *small = d.Alloc(12), *gone = d.Alloc(kFourBytes);
  void *foreign = other.Alloc(kFourBytes), *stream = d.Stream();
  d.Free(gone, kFourBytes);
  Four host{};
  const auto message = [&](void* in, void* out) {
    Outcome outcome;
    d.WaitFor(code.Run({in}, {out}, stream, outcome));
    EXPECT_EQ(outcome.code, outcome.message.empty() ? RICCI_OK : RICCI_INTERNAL);
    return outcome.message;
  };
  EXPECT_EQ(message(x, y), "");
  EXPECT_EQ(message(foreign, y), "late: input 0 is not memory of this device");
  EXPECT_EQ(message(&host, y), "late: input 0 is not memory of this device");
  EXPECT_EQ(message(nullptr, y), "late: input 0 is not memory of this device");
  EXPECT_EQ(message(x, small), "late: output 0 leaves allocation 4: 16 bytes from byte 0 of 12");
  EXPECT_EQ(message(x, gone), "late: output 0 was freed before: allocation 5");
  EXPECT_EQ(message(x, x), "late: output 0 overlaps input 0");
  EXPECT_EQ(ErrorOf(d.Copy(RICCI_COPY_TO_DEVICE, x, y, 4, stream), RICCI_INTERNAL),
            "late: the host's bytes of a copy are a device's");
  EXPECT_EQ(ErrorOf(d.Copy(RICCI_COPY_FROM_DEVICE, y, x, 4, stream), RICCI_INTERNAL),
            "late: the host's bytes of a copy are a device's");
  d.Free(foreign, kFourBytes);
  d.Free(x, kFourBytes - 1);
  d.Free(gone, kFourBytes);
  report =
      "late: free of what alloc did not give on this device\n"
      "late: allocation 2 has 16 bytes, but 15 are freed\n"
      "late: allocation 5 is freed twice\n";
  other.Free(foreign, kFourBytes);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
  d.Free(small, 12);
  d.b.stream_drop(d.b.self, stream);
}

TEST_F(LateMemoryTest, MemoryArrivesWithItsStream) {
  void *stream = d.Stream(), *x = d.Alloc(kFourBytes, stream);
  EXPECT_TRUE(d.b.owns(d.b.self, x, kFourBytes));
  EXPECT_EQ(ErrorOf(d.Copy(RICCI_COPY_TO_DEVICE, x, kOnes.data(), kFourBytes, nullptr), RICCI_INTERNAL),
            "late: a copy touches memory of an alloc in another stream, and does not wait for it");
  d.Put(x, kOnes, stream);
  d.Free(x, kFourBytes, stream);
  d.b.stream_drop(d.b.self, stream);
}

TEST_F(LateMemoryTest, DonatedArgumentsAreNotPoisoned) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()}, {0});
  void *x = d.Alloc(kFourBytes), *stream = d.Stream();
  d.Put(x, kOnes, stream);
  Outcome outcome;
  code.Start({x}, {x}, stream, outcome);
  EXPECT_EQ(d.Get(x, stream), (Four{2, 2, 2, 2}));
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
}

TEST(LateLimit, MemoryIsExhausted) {
  LateDevices late({.memory_bytes = 1000});
  LateDeviceUser d(late.Backend(0));
  void *stream = d.Stream(), *x = d.Alloc(600), *p = nullptr;
  EXPECT_EQ(ErrorOf(d.b.alloc(d.b.self, 401, nullptr, &p), RICCI_RESOURCE_EXHAUSTED),
            "late: 401 bytes wanted, 400 bytes available");
  uint64_t total = 0, free = 0;
  Ok(d.b.memory_info(d.b.self, &total, &free));
  EXPECT_EQ(total, 1000);
  EXPECT_EQ(free, 400);
  d.Free(x, 600, stream);  // not yet
  EXPECT_NE(ErrorOf(d.b.alloc(d.b.self, 401, nullptr, &p), RICCI_RESOURCE_EXHAUSTED), "");
  d.b.stream_drop(d.b.self, stream);
  d.Free(d.Alloc(1000), 1000);
  EXPECT_EQ(late.Report(), "");
}

TEST_F(LateMemoryTest, RunsWriteNothingTwice) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(512), *y = d.Alloc(kFourBytes), *stream = d.Stream(), *event = nullptr;
  void *in[] = {x}, *out[] = {y};
  ricci_run_args a{};
  a.hdr.size = sizeof a;
  a.inputs = in;
  a.outputs = out;
  a.arena = x;
  a.stream = stream;
  Outcome arena, word;
  Ok(code.Enqueue(&a, Outcome::Done, &arena, &event));
  d.WaitFor(event);
  EXPECT_EQ(arena.message, "late: the arena overlaps input 0");
  in[0] = static_cast<char*>(x) + 400;
  a.failed_check = static_cast<uint32_t*>(y);
  Ok(code.Enqueue(&a, Outcome::Done, &word, &event));
  d.WaitFor(event);
  EXPECT_EQ(word.message, "late: the word of failed checks overlaps output 0");
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, 512);
  d.Free(y, kFourBytes);
}

}  // namespace
}  // namespace ricci::testing
