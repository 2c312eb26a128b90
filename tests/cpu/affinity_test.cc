// The option cpu.affinity: which texts are lists of processors, and that the pool's threads stay on them.
#include "cpu/run/affinity.h"

#include <gtest/gtest.h>

#include "cpu/run/pool.h"
#include "support/program_runner.h"

namespace ricci::cpu { namespace {

// The first processor of this process.
unsigned First() {
  cpu_set_t here;
  EXPECT_EQ(sched_getaffinity(0, sizeof here, &here), 0);
  unsigned first = 0;
  while (!CPU_ISSET(first, &here)) ++first;
  return first;
}

std::string ErrorOf(std::string_view text) {
  cpu_set_t set;
  std::string error;
  return ParseProcessors(text, set, error) ? "taken" : error;
}

TEST(Affinity, ListsOfProcessors) {
  const std::string first = std::to_string(First());
  cpu_set_t set;
  std::string error;
  for (const std::string& text : {first, first + "-" + first, first + "," + first}) {
    ASSERT_TRUE(ParseProcessors(text, set, error)) << error;
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(First(), &set));
  }
}

TEST(Affinity, OtherTextsAreErrors) {
  for (const char* text : {"", "x", "0-", "-1", "0,", "3-2", "0 1", "99999999999999999999"}) {
    EXPECT_EQ(ErrorOf(text), "`" + std::string(text) + "` is not a list of processors, such as 0-3,6");
  }
  EXPECT_EQ(ErrorOf("4000").find("`4000`: processor 4000 is not one of this process, "), 0u) << ErrorOf("4000");
}

TEST(Affinity, ThreadsStayThere) {
  cpu_set_t set;
  std::string error;
  ASSERT_TRUE(ParseProcessors(std::to_string(First()), set, error));
  Pool pool(nullptr, set);
  EXPECT_EQ(pool.workers(), 1u) << "as many as there are processors";
  pool.SetThreads(3);
  struct Seen {
    std::atomic<int> workers{0}, elsewhere{0};
  } seen;
  // Until a worker other than the caller has had a task.
  for (int i = 0; i < 10000 && seen.workers == 0; ++i) {
    pool.Run(
        64,
        [](void* arg, int64_t, uint32_t worker) {
          if (worker == 0) return std::this_thread::yield();
          auto& s = *static_cast<Seen*>(arg);
          cpu_set_t own;
          ++s.workers;
          if (sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) != 1 || !CPU_ISSET(First(), &own))
            ++s.elsewhere;
        },
        &seen);
  }
  EXPECT_GT(seen.workers, 0);
  EXPECT_EQ(seen.elsewhere, 0);
}

TEST(Affinity, WrongOptionsNameTheOption) {
  ricci_ctx* ctx = nullptr;
  ASSERT_EQ(ricci_context_create(nullptr, &ctx), nullptr);
  ASSERT_EQ(ricci_context_config(ctx, "cpu.affinity", 12, "all", 3), nullptr);
  ricci_status* s = ricci_context_add_plugin(ctx, ricci_plugin_query_cpu);
  ASSERT_NE(s, nullptr);
  ricci_str text;
  ricci_status_message(s, &text);
  EXPECT_NE(std::string_view(text.ptr, text.len)
                .find("the option cpu.affinity: `all` is not a list of processors, such as 0-3,6"),
            std::string_view::npos)
      << text.ptr;
  ricci_status_free(s);
  ricci_context_release(ctx);
}

}}  // namespace ricci::cpu
