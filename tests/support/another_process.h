// InAnotherProcess: a child process that runs a part of a test.
#ifndef RICCI_TESTS_SUPPORT_ANOTHER_PROCESS_H_
#define RICCI_TESTS_SUPPORT_ANOTHER_PROCESS_H_
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ricci::testing {

// Waits for it; a failure there is one here.
template <typename Body>
void InAnotherProcess(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace ricci::testing
#endif
