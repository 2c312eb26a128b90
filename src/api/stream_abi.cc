// ricci/stream.h: streams and events.
#include "ricci/stream.h"

#include "api/arguments.h"
#include "runtime/context/array.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;
using runtime::Stream;

extern "C" {

ricci_status* ricci_stream_create(ricci_device* d, ricci_stream** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"out", out}}));
    RICCI_ASSIGN(auto stream, Stream::Create(FromAbi(d)));
    *out = runtime::Abi(stream.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_stream_wrap(ricci_device* d, void* native, ricci_stream** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"d", d}, {"out", out}}));
    if (FromAbi(d)->host_memory && native != nullptr) {
      return args.Wrong("device ", FromAbi(d)->Name(), " has no streams of its own; native must be NULL");
    }
    RICCI_ASSIGN(auto stream, Stream::Wrap(FromAbi(d), native));
    *out = runtime::Abi(stream.Detach());
    return absl::OkStatus();
  });
}

void* ricci_stream_native(const ricci_stream* s) { return s == nullptr ? nullptr : FromAbi(s)->native(); }
ricci_device* ricci_stream_device(const ricci_stream* s) {
  return s == nullptr ? nullptr : runtime::Abi(FromAbi(s)->device());
}

ricci_status* ricci_stream_record(ricci_stream* s, ricci_event** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"s", s}, {"out", out}}));
    RICCI_ASSIGN(auto event, FromAbi(s)->Record());
    *out = runtime::Abi(event.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_stream_record_timed(ricci_stream* s, ricci_event** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"s", s}, {"out", out}}));
    RICCI_ASSIGN(auto event, FromAbi(s)->RecordTimed());
    *out = runtime::Abi(event.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_stream_wait_event(ricci_stream* s, const ricci_event* e) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"s", s}, {"e", e}}));
    if (FromAbi(e)->context() != FromAbi(s)->device()->context)
      return args.Wrong("s and e belong to different contexts");
    return FromAbi(s)->Wait(FromAbi(e));
  });
}

ricci_status* ricci_stream_wait_array(ricci_stream* s, const ricci_array* a) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"s", s}, {"a", a}}));
    if (FromAbi(a)->device()->context != FromAbi(s)->device()->context)
      return args.Wrong("s and a belong to different contexts");
    return FromAbi(a)->Handed(*FromAbi(s), "ricci_stream_wait_array");
  });
}

ricci_status* ricci_stream_synchronize(ricci_stream* s) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"s", s}}));
    RICCI_ASSIGN(auto event, FromAbi(s)->Record());
    return event->Await();
  });
}

ricci_stream* ricci_stream_retain(ricci_stream* s) {
  if (s != nullptr) FromAbi(s)->Retain();
  return s;
}

void ricci_stream_release(ricci_stream* s) {
  if (s != nullptr) FromAbi(s)->Release();
}

ricci_status* ricci_event_wait(const ricci_event* e) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"e", e}}));
    return FromAbi(e)->Wait();
  });
}

ricci_status* ricci_event_query(const ricci_event* e, uint32_t* come) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"e", e}, {"come", come}}));
    RICCI_ASSIGN(const bool now, FromAbi(e)->Query());
    *come = now;
    return absl::OkStatus();
  });
}

ricci_status* ricci_event_elapsed(const ricci_event* begin, const ricci_event* end, double* seconds) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"begin", begin}, {"end", end}, {"seconds", seconds}}));
    const std::pair<const char*, const ricci_event*> events[] = {{"begin", begin}, {"end", end}};
    for (const auto& [name, e] : events) {
      if (!FromAbi(e)->timed()) return args.Wrong(name, " has no time; record it with ricci_stream_record_timed");
    }
    const std::string first = FromAbi(begin)->stream()->device()->Name();
    const std::string last = FromAbi(end)->stream()->device()->Name();
    if (FromAbi(begin)->stream()->device() != FromAbi(end)->stream()->device()) {
      return args.Wrong("begin is of device ", first, " and end of device ", last,
                        ", whose clocks differ; record both on one device");
    }
    RICCI_ASSIGN(*seconds, FromAbi(end)->SecondsSince(*FromAbi(begin)));
    return absl::OkStatus();
  });
}

ricci_event* ricci_event_retain(ricci_event* e) {
  if (e != nullptr) FromAbi(e)->Retain();
  return e;
}

void ricci_event_release(ricci_event* e) {
  if (e != nullptr) FromAbi(e)->Release();
}
}
