// Profiles: what the steps of a run report, on every backend.
#include <algorithm>
#include <mutex>
#include <set>

#include "cpu/library_row.h"
#include "cpu/stoppable_run.h"

namespace ricci::testing { namespace {

struct Span {
  uint32_t kind, step, thread, line;
  std::string name, file;
  uint64_t begin_ns, end_ns;
};

class Spans {
 public:
  Spans() {
    hook_.hdr.size = sizeof hook_;
    hook_.self = this;
    hook_.span = [](void* self, const ricci_span* s) {
      auto& spans = *static_cast<Spans*>(self);
      const std::lock_guard lock(spans.mutex_);
      spans.all_.push_back({s->kind, s->step, s->thread, s->line, std::string(s->name.ptr, s->name.len),
                            std::string(s->file.ptr, s->file.len), s->begin_ns, s->end_ns});
    };
  }
  ricci_profile* hook() { return &hook_; }
  const std::vector<Span>& all() const { return all_; }
  // Whole steps, in the order in which they ended.
  std::vector<Span> steps() const {
    std::vector<Span> out;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(out), [](const Span& s) { return s.thread == 0; });
    return out;
  }

 private:
  ricci_profile hook_{};
  std::mutex mutex_;
  std::vector<Span> all_;
};

// The message of a run's error, or "".
std::string RunWith(StoppableRun& run, const ricci_profile* profile) {
  ricci_run_opts o = ricci_run_opts_default();
  o.profile = profile;
  run.Run(o);
  return run.message();
}
// One run of `f`, compiled for reports, into `spans`.
void Report(ProgramRunner& r, const Program& f, const std::string& device, Spans& spans) {
  StoppableRun run(r.ctx(), f, device, RICCI_COMPILE_PROFILED);
  ASSERT_EQ(RunWith(run, spans.hook()), "");
}

constexpr std::string_view kSines =
    "program f(%x: f32[100000]) {\n"
    "  %y: f32[100000] = sin(%x)\n"
    "  %s: f32[] = reduce_sum(%y) axes=[0]\n"
    "  return %y, %s\n"
    "}";

TEST(Profile, StepsHaveNamesLinesAndTimes) {
  ProgramRunner r;
  const Program f = r.Parse(kSines);
  for (const std::string& device : r.Devices()) {
    Spans spans;
    const uint64_t before = MonotonicNanoseconds();
    ASSERT_NO_FATAL_FAILURE(Report(r, f, device, spans));
    const uint64_t after = MonotonicNanoseconds();
    const std::vector<Span> steps = spans.steps();
    ASSERT_FALSE(steps.empty()) << device;
    uint64_t end = before;
    for (const Span& s : steps) {
      EXPECT_EQ(s.kind, RICCI_SPAN_KERNEL) << device;
      EXPECT_NE(s.name.find(s.line == 2 ? "sin" : "sum"), std::string::npos) << device << ": " << s.name;
      EXPECT_EQ(s.file, "test");
      EXPECT_LE(end, s.begin_ns) << "steps follow each other";
      EXPECT_LE(s.begin_ns, s.end_ns);
      end = s.end_ns;
    }
    EXPECT_LE(end, after);
  }
}

// Parts on threads lie within their step and have its number.
TEST(Profile, PartsLieWithinTheirStep) {
  ProgramRunner r;
  const Program f = r.Parse(kSines);
  for (const std::string& device : r.Devices()) {
    Spans spans;
    ASSERT_NO_FATAL_FAILURE(Report(r, f, device, spans));
    for (const Span& part : spans.all()) {
      if (part.thread == 0) continue;
      const auto holds = [&](const Span& s) {
        return s.thread == 0 && s.step == part.step && s.begin_ns <= part.begin_ns && part.end_ns <= s.end_ns;
      };
      EXPECT_TRUE(std::any_of(spans.all().begin(), spans.all().end(), holds)) << device << ": " << part.name;
    }
  }
}

TEST(Profile, LibraryCallsHaveTheNameOfTheirPrimitiveAndTheirTasks) {
  constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr},
                                      [](void*, const ricci_op*, ricci_library_plan* out) -> ricci_status* {
                                        out->tasks = 7;
                                        return nullptr;
                                      },
                                      [](void*, const ricci_launch*) -> ricci_status* { return nullptr; },
                                      [](void*) {}};
  ProgramRunner r;
  ASSERT_TRUE(Ok(RegisterLibraryRow(r.ctx(), "test.seven", kLibrary, nullptr)));
  const Program f = r.Parse("program f(%x: f32[2]) {\n  %y: f32[2] = test.seven(%x)\n  return %y\n}");
  for (const std::string& device : r.Devices()) {
    Spans spans;
    ASSERT_NO_FATAL_FAILURE(Report(r, f, device, spans));
    const std::vector<Span> steps = spans.steps();
    const auto is_call = [](const Span& s) { return s.kind == RICCI_SPAN_LIBRARY; };
    ASSERT_EQ(std::count_if(steps.begin(), steps.end(), is_call), 1) << device;
    const Span& call = *std::find_if(steps.begin(), steps.end(), is_call);
    EXPECT_EQ(call.name, "test.seven");
    EXPECT_EQ(call.line, 2u);
    const auto parts = std::count_if(spans.all().begin(), spans.all().end(),
                                     [&](const Span& s) { return s.thread != 0 && s.step == call.step; });
    EXPECT_EQ(parts, device == "cpu" ? 7 : 0) << device;
  }
}

// Each trip of a loop of the plan reports its steps again, with the same numbers.
TEST(Profile, LoopsReportEachTrip) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f32[300,300]) { %y: f32[300,300] = scan(%x) length=5 num_consts=0 num_carry=1 run_in=\"plan\""
      " body=program(%a: f32[300,300]) { %t: f32[300,300] = transpose(%a) permutation=[1,0]"
      "  %b: f32[300,300] = add(%a, %t)  return %b }  return %y }");
  for (const std::string& device : r.Devices()) {
    if (device == "ref") continue;  // runs each equation as one kernel
    Spans spans;
    ASSERT_NO_FATAL_FAILURE(Report(r, f, device, spans));
    std::set<uint32_t> numbers;
    size_t kernels = 0;
    for (const Span& s : spans.steps()) {
      numbers.insert(s.step);
      kernels += s.kind == RICCI_SPAN_KERNEL;
    }
    EXPECT_GE(kernels, 5u) << device;
    EXPECT_LT(numbers.size(), spans.steps().size()) << device;
  }
}

// Code that could report, and code that cannot, run alike without a profile; results do not depend on it.
TEST(Profile, NothingIsReportedUnasked) {
  ProgramRunner r;
  const Program f = r.Parse(kSines);
  for (const std::string& device : r.Devices()) {
    StoppableRun run(r.ctx(), f, device, RICCI_COMPILE_PROFILED);
    Spans spans;
    ASSERT_EQ(RunWith(run, spans.hook()), "");
    const size_t n = spans.all().size();
    ASSERT_EQ(RunWith(run, nullptr), "");
    ASSERT_TRUE(Ok(ricci_call_run(run.call())));
    EXPECT_EQ(spans.all().size(), n) << device;
  }
}

TEST(Profile, WrongOptionsAreNamed) {
  ProgramRunner r;
  const Program f = r.Parse(kSines);
  Spans spans;
  for (const std::string& device : r.Devices()) {
    StoppableRun plain(r.ctx(), f, device), profiled(r.ctx(), f, device, RICCI_COMPILE_PROFILED);
    EXPECT_EQ(RunWith(plain, spans.hook()),
              "run options: profile: program f was compiled without RICCI_COMPILE_PROFILED");
    ricci_profile none = *spans.hook();
    none.span = nullptr;
    EXPECT_EQ(RunWith(profiled, &none), "run options: profile: span is NULL");
    none = *spans.hook();
    none.hdr.flags = 1;
    EXPECT_EQ(RunWith(profiled, &none), "run options: profile: unknown flags in hdr.flags 1; none are known");
    EXPECT_TRUE(spans.all().empty());
  }
}

}  // namespace
}  // namespace ricci::testing
