// Profiled runs by the records of CUPTI: the times of their steps, whatever CUPTI gives or refuses; by a stand-in for
// libcupti (standin/standin_cupti.h).
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

#include "cuda/gpu_program.h"
#include "cuda/profile/cupti_records.h"
#include "cuda/standin/standin_records.h"
#include "cuda/while_program.h"
#include "support/plugin_that.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr uint64_t kKernelNs = 7000, kCopyNs = 3000, kEventNs = 1000;  // as the stand-in and its driver say
constexpr int kMultipleSubscribers = 39, kPrivileges = 35, kMigDevice = 43, kUnknown = 999;

ricci_status* AttachWithCupti(ricci_ctx* ctx) {
  cuda::Settings settings{{RICCI_STANDIN}, {RICCI_STANDIN}};
  settings.cupti = RICCI_STANDIN;
  return cuda::AttachDevices(ctx, settings);
}

void Set(const char* what, uint64_t value) {
  OfStandin<void(const char*, uint64_t)>("ricci_standin_cupti_set")(what, value);
}
void LetFail(const char* function, int result) {
  OfStandin<void(const char*, int)>("ricci_standin_cupti_fails")(function, result);
}
int Open() { return OfStandin<int()>("ricci_standin_cupti_open")(); }
uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

constexpr std::string_view kCalls = R"(program calls(%x: f32[4]) {
  %s: f32[4] = sort(%x) dimension=0 is_stable=true num_keys=1
  %y: f32[4] = io_callback(%s) callback="ricci.copy" results="f32[4]"
  %m: f32[] = reduce_sum(%y) axes=[0]
  return %m, %x
})";
// Each step of it and how many ns it takes; a function of the host has no record, so it takes what events say.
constexpr std::string_view kTimes = "sort 7000\nio_callback 2000\nreduce_sum 7000\ncopy 3000\n";
// The sum takes two launches, and a result that is an argument is a copy.
constexpr std::string_view kLongSum = R"(program sum(%x: f32[20000]) {
  %s: f32[] = reduce_sum(%x) axes=[0]
  return %s, %x
})";

struct Span {
  std::string name;
  uint32_t kind, step;
  uint64_t begin_ns, end_ns;
};
using Spans = std::vector<Span>;

// A run of a program that was compiled to be profiled.
ricci_status* Profile(const GpuProgram& f, Spans& spans) {
  ricci_profile profile{};
  profile.hdr.size = sizeof profile;
  profile.self = &spans;
  profile.span = [](void* self, const ricci_span* s) {
    EXPECT_EQ(OfStandin<int()>("ricci_standin_pushed")(), 0) << "the host is called without our context";
    static_cast<Spans*>(self)->push_back({{s->name.ptr, s->name.len}, s->kind, s->step, s->begin_ns, s->end_ns});
  };
  spans.clear();
  uint32_t n_in = 0, n_out = 0;
  ricci_executable_signature(f.executable(), &n_in, nullptr, &n_out, nullptr);
  ricci_run_opts o = ricci_run_opts_default();
  o.profile = &profile;
  std::vector<ricci_array*> out(n_out);
  ricci_status* const s = ricci_executable_enqueue(f.executable(), f.in().data(), n_in, out.data(), n_out, &o);
  for (ricci_array* a : out) ricci_array_release(a);
  return s;
}
// `sort 7000`: a line for each.
std::string Lines(const Spans& spans) {
  std::string out;
  for (const Span& s : spans) out += s.name + " " + std::to_string(s.end_ns - s.begin_ns) + "\n";
  return out;
}

class CuptiTimes : public ::testing::Test {
 protected:
  CuptiTimes() {
    OfStandin<void()>("ricci_standin_cupti_reset")();
    hooks_.hdr.size = sizeof hooks_;
    hooks_.log_self = this;
    hooks_.log = [](void* self, uint32_t level, const char* text, size_t n) {
      EXPECT_EQ(level, uint32_t{RICCI_LOG_WARNING});
      static_cast<CuptiTimes*>(self)->log_.append(text, n) += '\n';
    };
    options_.hooks = &hooks_;
    r_ = std::make_unique<ProgramRunner>(&options_);
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r_->ctx(), QueryPluginThat<AttachWithCupti>)));
  }
  ~CuptiTimes() override {
    EXPECT_EQ(Open(), 0);
    r_.reset();
    OfStandin<void()>("ricci_standin_cupti_reset")();
  }
  std::unique_ptr<GpuProgram> Compiled(std::string_view text, const std::vector<Floats>& args, uint32_t gpu = 0) {
    return CompiledIn(*r_, text, args, gpu);
  }
  static std::unique_ptr<GpuProgram> CompiledIn(const ProgramRunner& r, std::string_view text,
                                                const std::vector<Floats>& args, uint32_t gpu = 0) {
    auto f = std::make_unique<GpuProgram>(GpuOf(r.ctx(), gpu), /*profiled=*/true);
    EXPECT_TRUE(Ok(f->Compile(r.ctx(), text)) && Ok(f->Give(args)));
    return f;
  }
  Spans SpansOf(std::string_view text, const std::vector<Floats>& args) {
    Spans spans;
    EXPECT_TRUE(Ok(Profile(*Compiled(text, args), spans)));
    EXPECT_EQ(Open(), 0);
    return spans;
  }
  std::string Calls() { return Lines(SpansOf(kCalls, {{4, 3, 2, 1}})); }

  std::string log_;
  ricci_hooks hooks_{};
  ricci_context_opts options_ = ricci_context_opts_default();
  std::unique_ptr<ProgramRunner> r_;
};

// ---- times ----
TEST_F(CuptiTimes, AreThoseOfRecords) {
  EXPECT_EQ(Calls(), kTimes);
  EXPECT_EQ(log_, "");
}

TEST_F(CuptiTimes, AreOfTheClockOfTheHostAndInOrder) {
  const std::unique_ptr<GpuProgram> f = Compiled(WhileBelow(3), {{0}, Floats(1000, 1)});
  Spans spans;
  const uint64_t begin = Now();
  ASSERT_TRUE(Ok(Profile(*f, spans)));
  constexpr uint64_t kSlack = 1'000'000;  // work of the stand-in ends after it has run
  ASSERT_GT(spans.size(), 6u);
  EXPECT_GE(spans.front().begin_ns + kSlack, begin);
  EXPECT_LE(spans.back().end_ns, Now() + kSlack);
  for (size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].end_ns, spans[i].begin_ns) << Lines(spans);
}

TEST_F(CuptiTimes, AStepOfTwoLaunchesIsOneSpan) {
  const Spans spans = SpansOf(kLongSum, {Floats(20000, 1)});
  ASSERT_EQ(spans.size(), 2u);
  for (const Span& s : spans) {
    const uint64_t taken_ns = s.end_ns - s.begin_ns;
    EXPECT_TRUE(s.kind == RICCI_SPAN_COPY ? taken_ns == kCopyNs : taken_ns >= 2 * kKernelNs) << Lines(spans);
  }
  EXPECT_EQ(log_, "");
}

// More than are collected at once.
TEST_F(CuptiTimes, StepsAreThoseOfARunByEvents) {
  ProgramRunner plain;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(plain.ctx(), QuerySimulatedGpu)));
  const std::string text = WhileBelow(130);
  const std::vector<Floats> args{{0}, Floats(1000, 0)};
  Spans by_events;
  ASSERT_TRUE(Ok(Profile(*CompiledIn(plain, text, args), by_events)));
  const Spans spans = SpansOf(text, args);
  ASSERT_EQ(spans.size(), by_events.size());
  EXPECT_GT(spans.size(), 256u);
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].name, by_events[i].name) << i;
    EXPECT_EQ(spans[i].step, by_events[i].step) << i;
    EXPECT_EQ(spans[i].end_ns - spans[i].begin_ns, spans[i].kind == RICCI_SPAN_COPY ? kCopyNs : kKernelNs) << i;
    EXPECT_NE(by_events[i].end_ns - by_events[i].begin_ns, spans[i].end_ns - spans[i].begin_ns) << i;
  }
  EXPECT_EQ(log_, "");
}

TEST_F(CuptiTimes, ResultsAreThoseOfOtherRuns) {
  const std::unique_ptr<GpuProgram> f = Compiled(kCalls, {{4, 3, 2, 1}});
  std::vector<Floats> out;
  ASSERT_TRUE(Ok(f->Enqueue()) && Ok(f->Read(out)));
  EXPECT_EQ(out, (std::vector<Floats>{{10}, {4, 3, 2, 1}}));
}

TEST_F(CuptiTimes, ARunWithoutAProfileIsNotRecorded) {
  GpuProgram f(GpuOf(r_->ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_->ctx(), kCalls)) && Ok(f.Give({{4, 3, 2, 1}})));
  LetFail("cuptiActivityEnable", kUnknown);
  EXPECT_TRUE(Ok(f.Enqueue()));
}

// ---- several runs ----
// A callback profiles a run of its own on the thread of the run that calls it.
TEST_F(CuptiTimes, ARunWithinARun) {
  struct Inner {
    std::unique_ptr<GpuProgram> f;
    std::string lines;
  } inner{Compiled("program g(%x: f32[4]) {\n  %y: f32[4] = add(%x, %x)\n  return %y\n}", {{1, 2, 3, 4}}), {}};
  ricci_callback callback{};
  callback.hdr.size = sizeof callback;
  callback.self = &inner;
  callback.call = [](void* self, const ricci_callback_call* c) {
    auto& in = *static_cast<Inner*>(self);
    Spans spans;
    ricci_status* const failed = Profile(*in.f, spans);
    in.lines += Lines(spans);
    std::memcpy(c->out[0], c->in[0], 4 * sizeof(float));
    return failed;
  };
  ASSERT_TRUE(Ok(ricci_context_add_callback(r_->ctx(), "inner", 5, &callback)));
  std::string text(kCalls);
  text.replace(text.find("ricci.copy"), 10, "inner");
  // By events: two copies, and memory and the kernel of the run within it.
  EXPECT_EQ(Lines(SpansOf(text, {{4, 3, 2, 1}})), "sort 7000\nio_callback 4000\nreduce_sum 7000\ncopy 3000\n");
  EXPECT_EQ(inner.lines, "add 7000\n");
  EXPECT_EQ(log_, "");
}

// They share the recorder of the process, and so do their runs on two GPUs at once.
TEST_F(CuptiTimes, TwoContexts) {
  auto other = std::make_unique<ProgramRunner>();
  ASSERT_TRUE(Ok(ricci_context_add_plugin(other->ctx(), QueryPluginThat<AttachWithCupti>)));
  std::unique_ptr<GpuProgram> here = Compiled(kLongSum, {Floats(20000, 1)}),
                              there = CompiledIn(*other, kCalls, {{4, 3, 2, 1}}, /*gpu=*/1);
  std::string of_there;
  std::thread thread([&] {
    for (int i = 0; i < 20; ++i) {
      Spans spans;
      EXPECT_TRUE(Ok(Profile(*there, spans)));
      if (Lines(spans) != kTimes) of_there += Lines(spans);
    }
    EXPECT_TRUE(OfStandin<int()>("ricci_standin_pushed")() == 0);
  });
  for (int i = 0; i < 20; ++i) {
    Spans spans;
    EXPECT_TRUE(Ok(Profile(*here, spans)));
    EXPECT_EQ(spans.size(), 2u);
    for (const Span& s : spans) EXPECT_GE(s.end_ns - s.begin_ns, s.kind == RICCI_SPAN_COPY ? kCopyNs : 2 * kKernelNs);
  }
  thread.join();
  EXPECT_EQ(of_there, "");
  EXPECT_EQ(log_, "");
  EXPECT_EQ(Open(), 0);
  there.reset();
  other.reset();
  Spans spans;
  EXPECT_TRUE(Ok(Profile(*here, spans)));
  EXPECT_EQ(spans.size(), 2u);
}

// ---- records that are missing, late or in small pieces ----
TEST_F(CuptiTimes, ABufferForEachRecord) {
  Set("bytes", sizeof(cuda::standin::KernelRecord));
  EXPECT_EQ(Calls(), kTimes);
  EXPECT_EQ(log_, "");
  EXPECT_GT(OfStandin<uint64_t()>("ricci_standin_cupti_buffers")(), 4u);
}

TEST_F(CuptiTimes, RecordsOfWorkMayComeBeforeThoseOfCalls) {
  Set("order", 1);
  EXPECT_EQ(Calls(), kTimes);
  EXPECT_EQ(log_, "");
}

// Kernels have no room, copies do.
TEST_F(CuptiTimes, BuffersAreTooSmall) {
  Set("bytes", sizeof(cuda::standin::KernelRecord) - 1);
  EXPECT_EQ(Calls(), "sort 1000\nio_callback 2000\nreduce_sum 1000\ncopy 3000\n");
  EXPECT_EQ(log_,
            "cuda: option cuda.cupti: of 4 steps of a profiled run, 2 have not all their records (CUPTI has dropped "
            "2): their times are those of events\n");
}

TEST_F(CuptiTimes, RecordsWithoutTimes) {
  Set("untimed", 4);  // the sort, two copies for the function of the host, and the sum
  EXPECT_EQ(Calls(), "sort 1000\nio_callback 2000\nreduce_sum 1000\ncopy 3000\n");
  EXPECT_EQ(log_,
            "cuda: option cuda.cupti: of 4 steps of a profiled run, 2 have not all their records (CUPTI has dropped "
            "0): their times are those of events\n");
}

TEST_F(CuptiTimes, OneOfTwoLaunchesIsDropped) {
  const Spans whole = SpansOf(kLongSum, {Floats(20000, 1)});
  ASSERT_EQ(whole.size(), 2u);
  const bool copies_first = whole[0].kind == RICCI_SPAN_COPY;
  Set("dropped", copies_first ? 2 : 1);  // what comes up to the first launch
  const Spans spans = SpansOf(kLongSum, {Floats(20000, 1)});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[copies_first ? 1 : 0].end_ns - spans[copies_first ? 1 : 0].begin_ns, 2 * kEventNs) << "two launches";
  EXPECT_NE(log_.find(copies_first ? "2 have not all" : "1 have not all"), log_.npos) << log_;
}

// ---- failures ----
TEST_F(CuptiTimes, WhatCuptiRefusesIsAStatus) {
  const std::unique_ptr<GpuProgram> f = Compiled(kCalls, {{4, 3, 2, 1}});
  for (const char* const function :
       {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityPushExternalCorrelationId",
        "cuptiActivityPopExternalCorrelationId", "cuptiActivityFlushAll", "cuptiGetTimestamp"}) {
    LetFail(function, kMultipleSubscribers);
    Spans spans;
    ricci_status* const s = Profile(*f, spans);
    ASSERT_NE(s, nullptr) << function;
    EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_FAILED_PRECONDITION});
    EXPECT_EQ(Message(s),
              "cuda: option cuda.cupti: " + std::string(function) +
                  " gives CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39): another profiler may use CUPTI in this "
                  "process, where only one can: end it; without the option times are those of events");
    EXPECT_EQ(spans.size(), 0u) << function;
    LetFail("", 0);
    EXPECT_EQ(Open(), 0) << function;
    EXPECT_TRUE(Ok(Profile(*f, spans))) << function;
    EXPECT_EQ(Lines(spans), kTimes) << function;
  }
}

TEST_F(CuptiTimes, WhatToDoDependsOnTheError) {
  const std::unique_ptr<GpuProgram> f = Compiled(kCalls, {{4, 3, 2, 1}});
  const std::pair<int, const char*> kAdvice[] = {
      {kPrivileges,
       "this user may not profile: ask who runs the machine to allow it (NVIDIA's ERR_NVGPUCTRPERM); without"},
      {kMigDevice, "this machine does not let its GPU be profiled; without"},
      {kUnknown, "CUPTI does not work here; without"}};
  for (const auto& [result, advice] : kAdvice) {
    LetFail("cuptiActivityEnable", result);
    Spans spans;
    const std::string why = Message(Profile(*f, spans));
    EXPECT_NE(why.find(" (" + std::to_string(result) + "): " + advice), why.npos) << why;
  }
}

// Of the driver: kinds are disabled and numbers popped all the same, and nothing is lost.
TEST_F(CuptiTimes, EachCallOfTheDriverFails) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  std::unique_ptr<GpuProgram> f = Compiled(kCalls, {{4, 3, 2, 1}});
  for (const int for_good : {0, 1}) {
    int refused = 0;
    for (uint64_t n = 1;; ++n) {
      fail(n, kUnknown, for_good);
      Spans spans;
      ricci_status* const s = Profile(*f, spans);
      const std::string call = failed();
      fail(0, 0, 0);
      EXPECT_EQ(Open(), 0) << call;
      refused += s != nullptr;
      ricci_status_free(s);
      if (call.empty()) break;
    }
    EXPECT_GT(refused, 12);
    Spans spans;
    EXPECT_TRUE(Ok(Profile(*f, spans)));
    EXPECT_EQ(Lines(spans), kTimes);
  }
  f.reset();
  r_.reset();
  EXPECT_EQ(SimulatedGpuReport(), "");
}

TEST_F(CuptiTimes, ADeviceThatIsLost) {
  std::unique_ptr<GpuProgram> f = Compiled(kCalls, {{4, 3, 2, 1}});
  Spans spans;
  ASSERT_TRUE(Ok(Profile(*f, spans)));
  OfStandin<void()>("ricci_standin_reset")();
  for (int i = 0; i < 2; ++i) {
    const std::string why = Message(Profile(*f, spans));
    EXPECT_EQ(why.find("cuda: device simulated GPU is lost: "), 0u) << why;
    EXPECT_EQ(spans.size(), 0u);
    EXPECT_EQ(Open(), 0);
  }
  f.reset();
  r_.reset();
  ProgramRunner next;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(next.ctx(), QueryPluginThat<AttachWithCupti>)));
  ASSERT_TRUE(Ok(Profile(*CompiledIn(next, kCalls, {{4, 3, 2, 1}}), spans)));
  EXPECT_EQ(Lines(spans), kTimes);
}

// ---- the option ----
class CuptiOption : public ::testing::Test {
 protected:
  ~CuptiOption() override { OfStandin<void()>("ricci_standin_cupti_reset")(); }
  static std::string AttachTo(ricci_ctx* ctx, std::string_view path) {
    const std::pair<std::string_view, std::string_view> options[] = {
        {"cuda.driver", RICCI_STANDIN}, {"cuda.compiler", RICCI_STANDIN}, {"cuda.cupti", path}};
    for (const auto& [key, value] : options) {
      EXPECT_TRUE(Ok(ricci_context_config(ctx, key.data(), key.size(), value.data(), value.size())));
    }
    ricci_status* const s = ricci_context_add_plugin(ctx, ricci_plugin_query_cuda);
    return s == nullptr ? "" : Message(s);
  }
  static std::string Attach(std::string_view path) { return AttachTo(ProgramRunner().ctx(), path); }
};

TEST_F(CuptiOption, WhatIsMissingIsNamed) {
  EXPECT_EQ(Attach(RICCI_STANDIN), "");
  EXPECT_EQ(Attach("libm.so.6"),
            "cuda: option cuda.cupti: libm.so.6 lacks cuptiGetVersion; name the libcupti.so.13 of CUDA 13.0");
  EXPECT_EQ(Attach("/no/libcupti.so").find("cuda: option cuda.cupti: /no/libcupti.so cannot be opened: "), 0u);
}

TEST_F(CuptiOption, AnotherVersionHasOtherRecords) {
  const std::string file = RICCI_STANDIN;
  for (const uint64_t version : {130000, 130001, 130099}) {
    Set("version", version);
    EXPECT_EQ(Attach(file), "") << version;
  }
  for (const uint64_t version : {28, 129999, 130100}) {
    Set("version", version);
    EXPECT_EQ(Attach(file), "cuda: option cuda.cupti: " + file + " has version " + std::to_string(version) +
                                " of CUPTI, and this plugin reads the records of 130000 to 130099, those of CUDA 13.0: "
                                "name a libcupti.so.13 of CUDA 13.0, or leave the option out");
  }
  LetFail("cuptiGetVersion", kUnknown);
  EXPECT_NE(Attach(file).find("does not say its version, but error 999"), std::string::npos);
}

// One library for a process, as long as a context has it.
TEST_F(CuptiOption, AnotherLibraryThanThatOfTheProcess) {
  const std::string file = RICCI_STANDIN, other = RICCI_STANDIN_CUPTI;
  {
    ProgramRunner first;
    EXPECT_EQ(AttachTo(first.ctx(), file), "");
    EXPECT_EQ(Attach(file), "") << "the same one";
    EXPECT_EQ(Attach(other), "cuda: option cuda.cupti: another context of this process records by " + file +
                                 ", and this one names " + other +
                                 ": CUPTI is one for each process; name the same file, or release that context before");
  }
  EXPECT_EQ(Attach(other), "");
  EXPECT_EQ(Attach(file), "");
}

// ---- records ----
TEST(CuptiRecords, AreWhereThePluginReadsThem) {
  using cuda::standin::ExternalRecord;
  using cuda::standin::KernelRecord;
  using cuda::standin::MemcpyRecord;
  using cuda::standin::MemsetRecord;
  const cuda::CuptiActivity want[] = {{1, sizeof(MemcpyRecord), offsetof(MemcpyRecord, start),
                                       offsetof(MemcpyRecord, end), offsetof(MemcpyRecord, correlation)},
                                      {2, sizeof(MemsetRecord), offsetof(MemsetRecord, start),
                                       offsetof(MemsetRecord, end), offsetof(MemsetRecord, correlation)},
                                      {10, sizeof(KernelRecord), offsetof(KernelRecord, start),
                                       offsetof(KernelRecord, end), offsetof(KernelRecord, correlation)}};
  ASSERT_EQ(std::size(want), std::size(cuda::kCuptiActivities));
  for (size_t i = 0; i < std::size(want); ++i) {
    const cuda::CuptiActivity& a = cuda::kCuptiActivities[i];
    EXPECT_EQ(a.kind, want[i].kind);
    EXPECT_EQ(a.bytes, want[i].bytes);
    EXPECT_EQ(a.start, want[i].start);
    EXPECT_EQ(a.end, want[i].end);
    EXPECT_EQ(a.correlation, want[i].correlation);
  }
  EXPECT_EQ(cuda::kCuptiExternal.bytes, sizeof(ExternalRecord));
  EXPECT_EQ(cuda::kCuptiExternal.kind, offsetof(ExternalRecord, external_kind));
  EXPECT_EQ(cuda::kCuptiExternal.id, offsetof(ExternalRecord, external_id));
  EXPECT_EQ(cuda::kCuptiExternal.correlation, offsetof(ExternalRecord, correlation));
}

}}  // namespace ricci::testing
