// Whether a kernel may write a result over an operand, which depends on the elements that one point touches.
#include <gtest/gtest.h>

#include "kernel/writer.h"

namespace ricci::testing { namespace {

using kernel::Val;
using kernel::Writer;

// The answer for a kernel of 4 points with an operand and a result of 8 floats, written by `body(w, in, out, i)`.
template <typename Body>
bool InPlace(Body&& body) {
  Writer w("k");
  const uint32_t in = w.Buffer(RICCI_F32, 8, RICCI_ACCESS_READ), out = w.Buffer(RICCI_F32, 8, RICCI_ACCESS_WRITE);
  const int64_t points[] = {4};
  Val i = 0;
  w.Parallel(points, &i);
  body(w, in, out, i);
  w.End();
  const auto kernel = w.Finish();
  if (!kernel.ok()) ADD_FAILURE() << kernel.status().message();
  return kernel.ok() && kernel::MayOverwrite(*kernel, kernel::BufferUses(*kernel), in, out);
}
struct Two {
  Val even, odd;
  Two(Writer& w, Val i) : even(w.Mul(i, w.Index(2))), odd(w.Add(even, w.Index(1))) {}
};

TEST(InPlaceAccess, AnElementByItself) {
  EXPECT_TRUE(InPlace([](Writer& w, uint32_t in, uint32_t out, Val i) {
    w.Store(out, i, w.Add(w.Load(in, i), w.Float(RICCI_F32, 1)));
  }));
}

TEST(InPlaceAccess, TheTwoElementsOfAPoint) {
  EXPECT_TRUE(InPlace([](Writer& w, uint32_t in, uint32_t out, Val i) {
    const Two at(w, i);
    const Val a = w.Load(in, at.even), b = w.Load(in, at.odd);
    w.Store(out, at.even, b);
    w.Store(out, at.odd, a);
  }));
}

TEST(InPlaceAccess, ALoadBehindAStoreIsTooLate) {
  EXPECT_FALSE(InPlace([](Writer& w, uint32_t in, uint32_t out, Val i) {
    const Two at(w, i);
    w.Store(out, at.even, w.Load(in, at.odd));
    w.Store(out, at.odd, w.Load(in, at.even));
  }));
}

TEST(InPlaceAccess, AnElementOfAnotherPoint) {
  EXPECT_FALSE(InPlace([](Writer& w, uint32_t in, uint32_t out, Val i) {
    const Two at(w, i);
    const Val a = w.Load(in, at.even), b = w.Load(in, w.Sub(w.Index(7), at.even));
    w.Store(out, at.even, b);
    w.Store(out, at.odd, a);
  }));
  EXPECT_FALSE(InPlace([](Writer& w, uint32_t in, uint32_t out, Val i) {
    const Two at(w, i);
    w.Store(out, at.even, w.Load(in, at.odd));
  }));
}

}  // namespace
}  // namespace ricci::testing
