// Times of events: on devices by their clocks, on `ref` by the host's; and what has no time.
#include <thread>

#include "support/devices.h"

namespace ricci::testing { namespace {

struct Timed {
  explicit Timed(ricci_stream* stream) { EXPECT_TRUE(Ok(ricci_stream_record_timed(stream, &event))); }
  ~Timed() { ricci_event_release(event); }
  Timed(const Timed&) = delete;
  ricci_event* event = nullptr;
};

TEST_F(Devices, TheHostsClockTimesWorkOfTheHost) {
  ricci_stream* stream = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_create(ref, &stream)));
  const Timed begin(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const Timed end(stream);
  double there = 0, back = 0;
  ASSERT_TRUE(Ok(ricci_event_elapsed(begin.event, end.event, &there)));
  ASSERT_TRUE(Ok(ricci_event_elapsed(end.event, begin.event, &back)));
  EXPECT_GE(there, 3e-3);
  EXPECT_EQ(back, -there);
  uint32_t come = 0;
  EXPECT_TRUE(Ok(ricci_event_query(end.event, &come)) && come == 1);
  EXPECT_TRUE(Ok(ricci_event_wait(end.event)));
  ricci_stream_release(stream);
}

TEST_F(Devices, ADeviceWithoutTimesSaysSo) {
  ricci_stream* stream = NewStream();
  ricci_event* event = nullptr;
  EXPECT_EQ(Message(ricci_stream_record_timed(stream, &event)),
            "device late:0: its backend notes no times of events; measure on the host");
  EXPECT_EQ(event, nullptr);
  ricci_stream_release(stream);
}

TEST_F(Devices, AnEventWithoutATimeIsRefused) {
  ricci_stream* stream = nullptr;
  ricci_event* plain = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_create(ref, &stream)) && Ok(ricci_stream_record(stream, &plain)));
  const Timed timed(stream);
  double seconds = 7;
  EXPECT_EQ(Message(ricci_event_elapsed(plain, timed.event, &seconds)),
            "ricci_event_elapsed: begin has no time; record it with ricci_stream_record_timed");
  EXPECT_EQ(Message(ricci_event_elapsed(timed.event, plain, &seconds)),
            "ricci_event_elapsed: end has no time; record it with ricci_stream_record_timed");
  EXPECT_EQ(Message(ricci_event_elapsed(timed.event, nullptr, &seconds)), "ricci_event_elapsed: end is NULL");
  EXPECT_EQ(Message(ricci_event_elapsed(timed.event, timed.event, nullptr)), "ricci_event_elapsed: seconds is NULL");
  EXPECT_EQ(Message(ricci_stream_record_timed(stream, nullptr)), "ricci_stream_record_timed: out is NULL");
  EXPECT_EQ(seconds, 7);
  ricci_event_release(plain);
  ricci_stream_release(stream);
}

}}  // namespace ricci::testing
