// Random work on streams of two late devices, with all the waits that it needs: results are those of one step after the
// other, for any seed, also if two threads work at once and run each other's operations.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "support/late_test.h"

namespace ricci::testing { namespace {

class Traffic {
 public:
  Traffic(LateDeviceUser& d, LateDeviceUser& other, uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) streams_.push_back(std::make_unique<Stream>(i % 2 == 0 ? d : other));
    for (int i = 0; i < 6; ++i) {
      LateDeviceUser& home = i % 2 == 0 ? d : other;
      arrays_.push_back({home, home.Alloc(kFourBytes)});
      Put(arrays_.back());
    }
  }
  ~Traffic() {
    for (Array& a : arrays_) Check(a);
    for (const auto& s : streams_) s->d.b.stream_drop(s->d.b.self, s->stream);
    for (Array& a : arrays_) a.home.Free(a.p, kFourBytes);
    for (const Mark& m : marks_) m.d->b.event_drop(m.d->b.self, m.event);
    for (const auto& s : streams_) {
      for (const auto& o : s->outcomes) EXPECT_EQ(o->message, "");
    }
  }
  void Step() {
    Array &a = Pick(arrays_), &b = Pick(arrays_);
    switch (random_() % 8) {
      case 0:
        return Put(a);
      case 1:
        return Check(a);
      case 2:
        return Ask();
      case 3:
      case 4:
        return &a == &b ? Put(a) : Move(a, b);
      default:
        return &a == &b || &a.home != &b.home ? Put(a) : Run(a, b);
    }
  }

 private:
  struct Mark {
    LateDeviceUser* d;
    void* event;
  };
  struct Array {
    LateDeviceUser& home;
    void* p;
    Four values = {};
    std::vector<Mark> written = {}, read = {};  // since then
  };
  struct Stream {
    explicit Stream(LateDeviceUser& d) : d(d), stream(d.Stream()), code(d, AddOnePlan(), {AddOneKernel()}) {}
    LateDeviceUser& d;
    void* const stream;
    LateCodeUser code;
    std::vector<std::unique_ptr<Outcome>> outcomes;
  };

  template <typename T>
  T& Pick(std::vector<T>& from) {
    return from[random_() % from.size()];
  }
  Stream& StreamOf(LateDeviceUser& home) { return *streams_[2 * (random_() % 2) + (&streams_[0]->d == &home ? 0 : 1)]; }

  void Wait(Stream& s, const std::vector<Mark>& marks) {
    for (const Mark& m : marks) Ok(s.d.b.stream_wait(s.d.b.self, s.stream, m.event));
  }
  void BeforeRead(Stream& s, const Array& a) { Wait(s, a.written); }
  void BeforeWrite(Stream& s, const Array& a) {
    Wait(s, a.written);
    Wait(s, a.read);
  }
  Mark Record(Stream& s) {
    marks_.push_back({&s.d, s.d.Record(s.stream)});
    return marks_.back();
  }
  static void Written(Array& a, Mark m, const Four& values) {
    a.written = {m};
    a.read.clear();
    a.values = values;
  }

  void Put(Array& a) {
    Stream& s = StreamOf(a.home);
    Four values;
    for (int32_t& v : values) v = static_cast<int32_t>(random_() % 50);
    BeforeWrite(s, a);
    s.d.Put(a.p, values, s.stream);
    Written(a, Record(s), values);
  }
  void Check(Array& a) {
    Stream& s = StreamOf(a.home);
    BeforeRead(s, a);
    EXPECT_EQ(s.d.Get(a.p, s.stream), a.values);
  }
  void Move(Array& from, Array& to) {
    Stream& s = StreamOf(to.home);
    BeforeRead(s, from);
    BeforeWrite(s, to);
    Ok(s.d.Copy(RICCI_COPY_BETWEEN_DEVICES, to.p, from.p, kFourBytes, s.stream, from.home.b.self));
    const Mark m = Record(s);
    from.read.push_back(m);
    Written(to, m, from.values);
  }
  void Run(Array& x, Array& y) {
    for (int32_t v : x.values) {
      if (v >= 100) return Put(x);
    }
    Stream& s = StreamOf(x.home);
    BeforeRead(s, x);
    BeforeWrite(s, y);
    s.outcomes.push_back(std::make_unique<Outcome>());
    marks_.push_back({&s.d, s.code.Run({x.p}, {y.p}, s.stream, *s.outcomes.back())});
    x.read.push_back(marks_.back());
    Four values = x.values;
    for (int32_t& v : values) ++v;
    Written(y, marks_.back(), values);
  }
  void Ask() {
    const Mark m = Pick(marks_);
    if (random_() % 2 == 0) {
      Ok(m.d->b.event_wait(m.d->b.self, m.event));
    } else {
      m.d->Come(m.event);
    }
  }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Array> arrays_;
  std::vector<Mark> marks_;
};

TEST(LateTraffic, ResultsAreThoseOfOneStepAfterTheOther) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    LateDevices late({.seed = seed});
    LateDeviceUser d(late.Backend(0)), other(late.Backend(1));
    {
      Traffic traffic(d, other, seed + 1000);
      for (int i = 0; i < 40; ++i) traffic.Step();
    }
    ASSERT_EQ(late.Report(), "") << seed;
  }
}

TEST(LateTraffic, ThreadsRunEachOthersWork) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    LateDevices late({.seed = seed});
    LateDeviceUser d(late.Backend(0)), other(late.Backend(1));
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        Traffic traffic(d, other, seed * 10 + t);
        for (int i = 0; i < 40; ++i) traffic.Step();
      });
    }
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(late.Report(), "") << seed;
  }
}

}  // namespace
}  // namespace ricci::testing
