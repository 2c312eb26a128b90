#include "cli/run_times.h"

#include <deque>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

using Stream = Handle<ricci_stream>;
using Event = Handle<ricci_event>;
Event Own(ricci_event* e) { return {e, ricci_event_release}; }

constexpr double kLeastSeconds = 1e-3;  // of runs that are measured together
constexpr int64_t kMostRuns = int64_t{1} << 30;
constexpr size_t kLeastTimes = 3;

Stream NewStream(ricci_device* device) {
  ricci_stream* out = nullptr;
  Check(ricci_stream_create(device, &out));
  return {out, ricci_stream_release};
}

class Runner {
 public:
  Runner(ricci_call* call, ricci_device* device, const RunTimeOptions& options)
      : call_(call), stream_(NewStream(device)), options_(options), is_simple_(options.in_flight == 1) {}

  // What is bound may go, also after a failure.
  ~Runner() { ricci_status_free(ricci_stream_synchronize(stream_.get())); }
  Runner(const Runner&) = delete;

  // Returns the seconds on the device, 0 if they are not wanted.
  double Run(int64_t runs) {
    if (is_simple_ && options_.events) return EachByEvents(runs);
    if (is_simple_) return EachAlone(runs);
    return InFlight(runs);
  }

 private:
  double EachAlone(int64_t runs) {
    for (int64_t i = 0; i < runs; ++i) Check(ricci_call_run(call_));
    return 0;
  }

  // The device is idle between them, which does not count as their time.
  double EachByEvents(int64_t runs) {
    double seconds = 0;
    for (int64_t i = 0; i < runs; ++i) {
      const Event begin = Now();
      const Event run = Enqueue();
      const Event end = Now();
      Wait(run);
      seconds += Between(begin, end);
    }
    return seconds;
  }

  double InFlight(int64_t runs) {
    std::deque<Event> in_flight;
    const Event begin = options_.events ? Now() : Own(static_cast<ricci_event*>(nullptr));
    for (int64_t i = 0; i < runs; ++i) {
      if (in_flight.size() == static_cast<size_t>(options_.in_flight)) {
        Wait(in_flight.front());
        in_flight.pop_front();
      }
      in_flight.push_back(Enqueue());
    }
    const Event end = options_.events ? Now() : Own(static_cast<ricci_event*>(nullptr));
    for (const Event& run : in_flight) Wait(run);
    return options_.events ? Between(begin, end) : 0;
  }

  Event Enqueue() const {
    ricci_run_opts options = ricci_run_opts_default();
    options.stream = stream_.get();
    ricci_event* out = nullptr;
    Check(ricci_call_enqueue(call_, &options, &out));
    return Own(out);
  }
  Event Now() const {
    ricci_event* out = nullptr;
    Check(ricci_stream_record_timed(stream_.get(), &out));
    return Own(out);
  }
  static void Wait(const Event& e) { Check(ricci_event_wait(e.get())); }
  static double Between(const Event& begin, const Event& end) {
    double seconds = 0;
    Check(ricci_event_elapsed(begin.get(), end.get(), &seconds));
    return seconds;
  }

  ricci_call* const call_;
  const Stream stream_;
  const RunTimeOptions options_;
  const bool is_simple_;  // the next run begins when the host has waited for the last one
};

}  // namespace

RunTimes MeasureRuns(ricci_call* call, ricci_device* device, const RunTimeOptions& options) {
  Runner runner(call, device, options);
  int64_t runs = options.in_flight;
  RunTimes times;
  for (const auto start = Clock::now(); times.host.size() < kLeastTimes || Seconds(start) < options.seconds;) {
    const auto from = Clock::now();
    const double on_device = runner.Run(runs);
    const double taken = Seconds(from);
    if (taken < kLeastSeconds && runs < kMostRuns) {
      runs *= 2;
      continue;
    }
    times.host.push_back(taken / static_cast<double>(runs));
    if (options.events) times.device.push_back(on_device / static_cast<double>(runs));
  }
  return times;
}

}}}  // namespace ricci::v0::cli
