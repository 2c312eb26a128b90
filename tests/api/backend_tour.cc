// The stations of the tour, in the order in which a host comes to them.
#include "backend_tour.h"

#include <cstring>

#include "support/program_runner.h"

namespace ricci::testing {
namespace {

ricci_str Str(std::string_view v) { return {v.data(), v.size()}; }

// ---- the backends ----
// Streams of the host are numbers here; work may be enqueued to the first one, the other one is captured.
char g_free_stream, g_captured_stream;
ricci_backend g_late;  // its functions are those of every late device

ricci_status* WrapStream(void* self, void* native, void** out) {
  if (native != &g_captured_stream) return g_late.stream_create(self, out);
  *out = native;
  return nullptr;
}
ricci_status* CheckStream(void*, void* stream) {
  if (stream != &g_captured_stream) return nullptr;
  return ricci_status_make(RICCI_FAILED_PRECONDITION, "it is captured", 14);
}
ricci_status* WriteWord(void*, void* sink, void (*write)(void*, const char*, size_t)) {
  write(sink, "word\n", 5);
  return nullptr;
}

void AddTexts(ricci_backend& b) {
  b.forms = Str("form");
  b.dump = b.dump_object = WriteWord;
  b.dump_form = [](void* code, ricci_str, void* sink, void (*write)(void*, const char*, size_t)) {
    return WriteWord(code, sink, write);
  };
  b.estimate = [](void*, const ricci_kernel_table* const*, uint32_t, const ricci_plan*,
                  ricci_estimate* out) -> ricci_status* {
    out->cycles = out->code = 1;
    return nullptr;
  };
  b.code_version = [](void*, void* sink, void (*write)(void*, const char*, size_t)) { write(sink, "1", 1); };
  b.set_threads = [](void*, uint32_t) -> ricci_status* { return nullptr; };
}

// ---- the host ----
class Tour {
 public:
  explicit Tour(ricci_ctx* ctx) : ctx_(ctx), device_(ricci_device_get(ctx, 0)) {
    ricci_device_desc d{};
    d.hdr.size = sizeof d;
    ricci_device_info(device_, &d);
    host_memory_ = d.host_memory != 0;
  }

  std::vector<std::string> Run() {
    Memory();
    Compile();
    if (executable_ != nullptr) {
      Texts();
      Runs();
      BoundCalls();
    }
    Streams();
    Threads();
    ricci_executable_release(executable_);
    return said_;
  }

 private:
  bool Goes(ricci_status* status) {
    if (status == nullptr) return true;
    said_.push_back(Message(status));
    return false;
  }

  void Memory() {
    uint64_t total = 0, free = 0;
    ricci_memory_stats stats{};
    stats.hdr.size = sizeof stats;
    Goes(ricci_device_memory(device_, &total, &free));
    Goes(ricci_device_memory_stats(device_, &stats));
    Goes(ricci_device_trim(device_, 0));
  }

  void Compile() {
    constexpr std::string_view kText = "program f(%x: f32[4]) { %y: f32[4] = sin(%x) return %y }";
    ricci_program* f = nullptr;
    ASSERT_TRUE(Ok(ricci_program_parse(ctx_, kText.data(), kText.size(), "t", 1, &f)));
    Goes(ricci_compile(f, nullptr, &executable_));
    ricci_program_release(f);
  }

  void Texts() {
    for (const std::string_view stage : {"native", "object", "form", "decisions"}) {
      std::string text;
      Goes(ricci_executable_dump(
          executable_, stage.data(), stage.size(), &text,
          [](void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }));
    }
  }

  // A device that shares the host's memory has no streams to wrap.
  ricci_status* Wrap(char* native, ricci_stream** out) {
    return ricci_stream_wrap(device_, host_memory_ ? nullptr : native, out);
  }

  ricci_array* Numbers() {
    const ricci_type* types = nullptr;
    ricci_executable_signature(executable_, nullptr, &types, nullptr, nullptr);
    const float four[] = {1, 2, 3, 4};
    ricci_array* a = nullptr;
    Goes(ricci_array_from_host(device_, types[0], four, nullptr, &a));
    return a;
  }

  // A run that is enqueued, one in another stream that uses its result, and one to the end.
  void Runs() {
    ricci_array *in = Numbers(), *first = nullptr, *second = nullptr, *third = nullptr;
    ricci_run_opts o = ricci_run_opts_default();
    if (in != nullptr && Goes(ricci_executable_enqueue(executable_, &in, 1, &first, 1, nullptr))) {
      if (Goes(ricci_stream_create(device_, &o.stream)) &&
          Goes(ricci_executable_enqueue(executable_, &first, 1, &second, 1, &o))) {
        Goes(ricci_array_wait(second));
      }
      float four[4];
      Goes(ricci_array_copy_to_host(first, four, sizeof four));
    }
    if (in != nullptr) Goes(ricci_executable_run(executable_, &in, 1, &third, 1, nullptr));
    for (ricci_array* a : {in, first, second, third}) ricci_array_release(a);
    ricci_stream_release(o.stream);
  }

  // A bound call in the device's stream, and in a stream that the host captures.
  void BoundCalls() {
    ricci_array *in = Numbers(), *out = Numbers();
    ricci_call* call = nullptr;
    const auto bind = [&](uint32_t slot, ricci_array* a) {
      return Goes(ricci_call_bind(call, slot, ricci_array_device_data(a), 16));
    };
    if (in != nullptr && out != nullptr && Goes(ricci_call_create(executable_, &call)) && bind(0, in) && bind(1, out)) {
      Goes(ricci_call_run(call));
      ricci_run_opts o = ricci_run_opts_default();
      ricci_event* end = nullptr;
      if (Goes(Wrap(&g_captured_stream, &o.stream)) && Goes(ricci_call_enqueue(call, &o, &end))) {
        Goes(ricci_event_wait(end));
      }
      ricci_event_release(end);
      ricci_stream_release(o.stream);
    }
    ricci_call_release(call);
    ricci_array_release(in), ricci_array_release(out);
  }

  void Streams() {
    ricci_stream *own = nullptr, *wrapped = nullptr;
    ricci_event* event = nullptr;
    if (Goes(Wrap(&g_free_stream, &wrapped)) && Goes(ricci_stream_record(wrapped, &event))) {
      uint32_t come = 0;
      Goes(ricci_event_query(event, &come));
      if (Goes(ricci_stream_create(device_, &own))) Goes(ricci_stream_wait_event(own, event));
      Goes(ricci_event_wait(event));
    }
    ricci_event_release(event);
    if (own != nullptr) Times(own);
    ricci_stream_release(own), ricci_stream_release(wrapped);
  }

  void Times(ricci_stream* stream) {
    ricci_event *begin = nullptr, *end = nullptr;
    double seconds = 0;
    if (Goes(ricci_stream_record_timed(stream, &begin)) && Goes(ricci_stream_record_timed(stream, &end))) {
      Goes(ricci_event_elapsed(begin, end, &seconds));
    }
    ricci_event_release(begin), ricci_event_release(end);
  }

  void Threads() { Goes(ricci_context_config(ctx_, "threads", 7, "2", 1)); }

  ricci_ctx* const ctx_;
  ricci_device* const device_;
  bool host_memory_ = false;
  ricci_executable* executable_ = nullptr;
  std::vector<std::string> said_;
};

}  // namespace

ricci_backend FullLateBackend(LateDevices& late) {
  ricci_backend b = late.Backend(0);
  g_late = b;
  AddTexts(b);
  b.memory_reserved = [](void*, uint64_t* bytes) -> ricci_status* {
    *bytes = 0;
    return nullptr;
  };
  b.memory_trim = [](void*, uint64_t) -> ricci_status* { return nullptr; };
  b.stream_wrap = WrapStream;
  b.stream_check = CheckStream;
  b.capture = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.event_record_timed = b.event_record;
  b.event_elapsed = [](void*, void*, void*, double* seconds) -> ricci_status* { return *seconds = 1e-6, nullptr; };
  return b;
}

ricci_backend HostBackend() {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("late");  // of that name, whichever of the two a test takes
  b.drop_self = [](void*) {};
  b.compile = [](void*, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
    *code = &g_free_stream;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args* a) -> ricci_status* {
    std::memcpy(a->outputs[0], a->inputs[0], 16);
    return nullptr;
  };
  b.drop_code = [](void*) {};
  AddTexts(b);
  return b;
}

std::vector<std::string> BackendTour(ricci_ctx* ctx) { return Tour(ctx).Run(); }

}  // namespace ricci::testing
