// Options of a context that are passed to backends: all accept or none is changed, and no lock is held meanwhile.
#include "ricci/backend.h"
#include "ricci/ricci.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace ricci::testing { namespace {

std::string ErrorOf(ricci_status* s) {
  if (s == nullptr) return "";
  ricci_str text;
  ricci_status_message(s, &text);
  std::string out(text.ptr, text.len);
  ricci_status_free(s);
  return out;
}

// A backend that records the thread counts it is given, and refuses 13.
struct Told {
  ricci_ctx* ctx = nullptr;
  std::vector<uint32_t> threads;
  bool calls_back = false;
};

std::string Configure(ricci_ctx* ctx, const std::string& key, const std::string& value) {
  return ErrorOf(ricci_context_config(ctx, key.data(), key.size(), value.data(), value.size()));
}

ricci_status* SetThreads(void* self, uint32_t threads) {
  auto& told = *static_cast<Told*>(self);
  told.threads.push_back(threads);
  if (threads == 13) return ricci_status_make(RICCI_INVALID_ARGUMENT, "13 is too many", 14);
  if (told.calls_back) {
    EXPECT_EQ(Configure(told.ctx, "log_compiles", "1"), "");
  }
  return nullptr;
}

class Options : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ErrorOf(ricci_context_create(nullptr, &ctx_)), ""); }
  void TearDown() override { ricci_context_release(ctx_); }
  void Add(Told& told) {
    told.ctx = ctx_;
    ricci_backend b{};
    b.hdr.size = sizeof b;
    b.kind = {"told", 4};
    b.name = {"told", 4};
    b.self = &told;
    b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
    b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
    b.drop_code = [](void*) {};
    b.set_threads = SetThreads;
    ASSERT_EQ(ErrorOf(ricci_backend_register(ctx_, &b)), "");
  }
  ricci_ctx* ctx_ = nullptr;
};

using Numbers = std::vector<uint32_t>;

TEST_F(Options, AFailureChangesNothing) {
  Told first, second;
  Add(first);
  second.threads.push_back(0);
  ASSERT_EQ(Configure(ctx_, "threads", "2"), "");
  Add(second);  // gets 2, because it is added later
  EXPECT_EQ(second.threads, (Numbers{0, 2}));
  EXPECT_EQ(Configure(ctx_, "threads", "13"), "13 is too many");
  EXPECT_EQ(first.threads, (Numbers{2, 13}));  // it refused, so the second one was not asked
  EXPECT_EQ(second.threads, (Numbers{0, 2}));
  Told third;
  Add(third);
  EXPECT_EQ(third.threads, (Numbers{2}));
}

// The second of two refuses: the first gets its old number again.
TEST_F(Options, BackendsToldBeforeAreSetBack) {
  struct Generous {
    Numbers threads;
  } generous;
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = {"generous", 8};
  b.self = &generous;
  b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  b.set_threads = [](void* self, uint32_t threads) -> ricci_status* {
    static_cast<Generous*>(self)->threads.push_back(threads);
    return nullptr;
  };
  ASSERT_EQ(ErrorOf(ricci_backend_register(ctx_, &b)), "");
  Told told;
  Add(told);
  ASSERT_EQ(Configure(ctx_, "threads", "3"), "");
  EXPECT_EQ(Configure(ctx_, "threads", "13"), "13 is too many");
  EXPECT_EQ(generous.threads, (Numbers{3, 13, 3}));
  EXPECT_EQ(Configure(ctx_, "threads", "13"), "13 is too many");  // not mistaken for the value already set
  EXPECT_EQ(Configure(ctx_, "threads", "3"), "");
  EXPECT_EQ(generous.threads, (Numbers{3, 13, 3, 13, 3}));
}

TEST_F(Options, ABackendMayConfigureTheContext) {
  Told told;
  told.calls_back = true;
  Add(told);
  EXPECT_EQ(Configure(ctx_, "threads", "5"), "");
  EXPECT_EQ(told.threads, (Numbers{5}));
}

}  // namespace
}  // namespace ricci::testing
