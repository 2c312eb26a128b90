// Backends whose functions throw, fail without a message, or do nothing and say OK: every function of the table, times
// every way. A failure is a status that names backend and function, and the host goes on.
//
// The functions come from `backend_functions.h`, which is written from the header: one that is added to the table is
// drawn here without a change of this file, and a tour that never comes to it fails. Not there: a backend that says
// that work has ended when it has not, below which no memory is safe.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "backend_functions.h"
#include "backend_tour.h"
#include "hostile_case.h"

namespace ricci::testing { namespace {

enum class Way { kThrows, kThrowsNumber, kThrowsBadAlloc, kSaysNothing, kDoesNothing };

// ---- one function ----
int g_calls;  // of the hostile function; the late device calls it on one thread

// What cleans up has done that when it throws, so that nothing is left; and when a wait fails, the work touches nothing
// any more (ricci_backend.event_wait), so it has ended.
bool DoesFirst(std::string_view name) { return name == "event_wait"; }

template <typename R>
R Fails(Way way) {
  if (way == Way::kThrows) throw std::runtime_error("boom");
  if (way == Way::kThrowsNumber) throw 7;
  if (way == Way::kThrowsBadAlloc) throw std::bad_alloc();
  if constexpr (std::is_same_v<R, ricci_status*>) {
    return way == Way::kSaysNothing ? ricci_status_make(RICCI_DATA_LOSS, "", 0) : nullptr;
  } else if constexpr (std::is_same_v<R, uint32_t>) {
    return UINT32_MAX;
  }
}

template <typename F>
struct Hostile;
template <typename R, typename... Args>
struct Hostile<R (*)(Args...)> {
  static inline R (*original)(Args...);
  static inline bool does_first;
  template <Way kWay>
  static R Does(Args... args) {
    ++g_calls;
    if constexpr (std::is_void_v<R>) {
      original(args...);
    } else if constexpr (std::is_same_v<R, ricci_status*>) {
      if (does_first) ricci_status_free(original(args...));
    }
    return Fails<R>(kWay);
  }
  static R (*That(Way way))(Args...) {
    R(*const all[])
    (Args...) = {Does<Way::kThrows>, Does<Way::kThrowsNumber>, Does<Way::kThrowsBadAlloc>, Does<Way::kSaysNothing>,
                 Does<Way::kDoesNothing>};
    return all[static_cast<int>(way)];
  }
};

// What is known of a function by its type.
struct Function {
  std::string name;
  bool is_void = false, returns_status = false;
  std::function<void(ricci_backend&, Way)> make_hostile = {};
  std::function<bool(const ricci_backend&)> is_in = {};
};
template <typename R, typename... Args>
Function Of(const char* name, R (*ricci_backend::*slot)(Args...)) {
  using Slot = Hostile<R (*)(Args...)>;
  return {name, std::is_void_v<R>, std::is_same_v<R, ricci_status*>,
          [slot, name](ricci_backend& b, Way way) {
            Slot::original = b.*slot;
            Slot::does_first = DoesFirst(name);
            b.*slot = Slot::That(way);
          },
          [slot](const ricci_backend& b) { return b.*slot != nullptr; }};
}
std::vector<Function> AllFunctions() {
  std::vector<Function> out;
  EachBackendFunction([&](const char* name, auto slot) { out.push_back(Of(name, slot)); });
  return out;
}

// ---- the cases ----
struct Case {
  std::string name;
  Function function;
  Way way;
};
// Below a backend that says that work has ended when it has not, nothing is safe: its memory is given back. And code
// may be NULL, which is the business of the functions that get it.
bool MustDoSomething(std::string_view name) { return name == "event_wait" || name == "compile"; }

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> AllCases() {
  std::vector<Case> out;
  for (const Function& f : AllFunctions()) {
    out.push_back({f.name + "_throws", f, Way::kThrows});
    out.push_back({f.name + "_throws_a_number", f, Way::kThrowsNumber});
    out.push_back({f.name + "_throws_bad_alloc", f, Way::kThrowsBadAlloc});
    if (f.returns_status) out.push_back({f.name + "_fails_without_a_message", f, Way::kSaysNothing});
    if (!f.is_void && !MustDoSomething(f.name)) out.push_back({f.name + "_does_nothing", f, Way::kDoesNothing});
  }
  return out;
}
std::string SaidBy(Way way) {
  switch (way) {
    case Way::kThrows:
      return "threw a C++ exception: boom";
    case Way::kThrowsNumber:
      return "threw something that is not a std::exception";
    case Way::kThrowsBadAlloc:
      return "out of memory";
    case Way::kSaysNothing:
      return "failed without a message";
    case Way::kDoesNothing:
      return "";
  }
  return "";
}

class HostileBackend : public SmallProgram, public ::testing::WithParamInterface<Case> {
 protected:
  HostileBackend() : SmallProgram("ref") {}

  // A context with the backend and a folder, so that its code_version is asked. Device 0 is the backend's.
  ricci_ctx* NewContextWith(const ricci_backend& b) {
    ricci_ctx* own = nullptr;
    EXPECT_TRUE(Ok(host.CreateContext(&own)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(own, ricci_plugin_query_lax)));
    const std::string folder = ::testing::TempDir() + "/hostile_backend_cache";
    std::filesystem::create_directories(folder);
    EXPECT_TRUE(Ok(ricci_context_config(own, "cache_dir", 9, folder.data(), folder.size())));
    EXPECT_TRUE(Ok(ricci_backend_register(own, &b)));
    return own;
  }
  // The device that has the function: most are of a device with memory of its own.
  static ricci_backend BackendWith(const Function& f, LateDevices& late) {
    ricci_backend b = FullLateBackend(late);
    if (f.is_in(b)) return b;
    b.drop_self(b.self);
    return HostBackend();
  }
  void ExpectSaid(const std::vector<std::string>& said, const Case& c) const {
    const std::string name = "backend late: " + c.function.name, what = SaidBy(c.way);
    bool names = false;
    for (const std::string& message : said) {
      names |= message.find(name) != message.npos && message.find(what) != message.npos;
      EXPECT_EQ(message.find("reached the border"), message.npos) << message;
    }
    names |= host.log.find(name) != host.log.npos && host.log.find(what) != host.log.npos;
    const bool must = !c.function.is_void && c.way != Way::kDoesNothing;
    EXPECT_TRUE(names || !must) << "nothing says `" << name << "` and `" << what << "`, but:\n"
                                << ::testing::PrintToString(said);
  }
};

TEST_P(HostileBackend, IsAStatus) {
  const Case& c = GetParam();
  LateDevices late;
  ricci_backend b = BackendWith(c.function, late);
  ASSERT_TRUE(c.function.is_in(b)) << "add " << c.function.name << " to FullLateBackend or HostBackend";
  c.function.make_hostile(b, c.way);
  g_calls = 0;
  ricci_ctx* own = NewContextWith(b);
  const std::vector<std::string> said = BackendTour(own);
  ricci_context_release(own);
  EXPECT_GT(g_calls, 0) << "the tour does not come to " << c.function.name << ": add a station";
  ExpectSaid(said, c);
}
INSTANTIATE_TEST_SUITE_P(Functions, HostileBackend, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

// So the messages above come from what is hostile.
TEST_F(HostileBackend, ToursOfRightBackendsSayNothing) {
  LateDevices late;
  for (const bool of_host : {false, true}) {
    ricci_ctx* own = NewContextWith(of_host ? HostBackend() : FullLateBackend(late));
    EXPECT_EQ(BackendTour(own), std::vector<std::string>());
    ricci_context_release(own);
  }
}

// ---- results that no function may give ----
TEST_F(HostileBackend, EstimatesMustBeNumbers) {
  ricci_backend b = HostBackend();
  b.estimate = [](void*, const ricci_kernel_table* const*, uint32_t, const ricci_plan*,
                  ricci_estimate* out) -> ricci_status* {
    out->cycles = std::nan("");
    return nullptr;
  };
  ricci_ctx* own = NewContextWith(b);
  EXPECT_THAT(BackendTour(own), ::testing::Contains("backend late: estimate: gave nan cycles and 0 operations; both "
                                                    "must be 0 or more"));
  ricci_context_release(own);
}
TEST_F(HostileBackend, OwnsIsZeroOneOrTwo) {
  LateDevices late;
  ricci_backend b = FullLateBackend(late);
  b.owns = [](void*, const void*, uint64_t) -> uint32_t { return 3; };
  ricci_ctx* own = NewContextWith(b);
  EXPECT_THAT(BackendTour(own),
              ::testing::Contains(::testing::HasSubstr("backend late: owns: returned 3, which is none "
                                                       "of 0, 1 and 2")));
  ricci_context_release(own);
}
TEST_F(HostileBackend, MemoryIsAligned) {
  LateDevices late;
  ricci_backend b = FullLateBackend(late);
  b.alloc = [](void*, uint64_t, void*, void** out) -> ricci_status* {
    alignas(256) static char memory[256];
    *out = memory + 4;
    return nullptr;
  };
  b.free = [](void*, void*, uint64_t, void*) {};
  ricci_ctx* own = NewContextWith(b);
  const std::string said =
      "backend late: alloc: gave memory 4 bytes past an address aligned to " + std::to_string(b.alignment);
  EXPECT_THAT(BackendTour(own), ::testing::Contains(::testing::HasSubstr(said)));
  ricci_context_release(own);
}

}  // namespace
}  // namespace ricci::testing
