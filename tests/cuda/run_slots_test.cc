// Slots of runs: the end is reported once, and the slot serves other runs then.
#include "cuda/run/run_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

struct Told {
  int times = 0;
  uint32_t failed_check = 0;
};
void Done(void* arg, ricci_status* status, uint32_t failed_check) {
  EXPECT_EQ(status, nullptr);
  ++static_cast<Told*>(arg)->times;
  static_cast<Told*>(arg)->failed_check = failed_check;
}

class RunSlots : public ::testing::Test {
 protected:
  RunSlots() {
    std::string error;
    ricci_status* failed = nullptr;
    gpu_ = cuda::Gpu::Create(cuda::OpenDriver({RICCI_STANDIN}, error), cuda::OpenCompiler({RICCI_STANDIN}, error),
                             cuda::Settings(), 0, failed);
    EXPECT_TRUE(Ok(failed));
    slots_ = std::make_unique<cuda::RunSlots>(*gpu_);
  }
  ~RunSlots() override {
    const cuda::Current current(*gpu_);
    slots_->Clear();
  }
  cuda::RunSlot& Take() {
    cuda::RunSlot* slot = nullptr;
    EXPECT_TRUE(Ok(slots_->Take({}, Done, &told_, slot)));
    slot->host->failed_check = 7;
    return *slot;
  }

  std::unique_ptr<cuda::Gpu> gpu_;
  std::unique_ptr<cuda::RunSlots> slots_;
  Told told_;
};

TEST_F(RunSlots, TheEndOfARunIsReportedAndItsSlotUsedAgain) {
  cuda::RunSlot& slot = Take();
  EXPECT_NE(&Take(), &slot) << "a run is in flight";
  EXPECT_EQ(told_.times, 0);
  cuda::RunSlots::Finish(&slot);
  EXPECT_EQ(told_.times, 1);
  EXPECT_EQ(told_.failed_check, 7u);
  EXPECT_EQ(&Take(), &slot);
}

TEST_F(RunSlots, ARunThatReadsNoWordHasFailedNoCheck) {
  cuda::RunSlot& slot = Take();
  cuda::RunSlots::Finish(&slot);
  cuda::RunSlot* again = nullptr;
  ASSERT_TRUE(Ok(slots_->Take({}, Done, &told_, again)));
  ASSERT_EQ(again, &slot);
  cuda::RunSlots::Finish(again);
  EXPECT_EQ(told_.failed_check, RICCI_NO_CHECK) << "and not that of the run before";
}

TEST_F(RunSlots, ARunThatWasNotEnqueuedIsNotReported) {
  cuda::RunSlot& slot = Take();
  slots_->Drop(slot);
  EXPECT_EQ(&Take(), &slot);
  EXPECT_EQ(told_.times, 0);
}

// Several threads may wait for one event: each returns after the report.
TEST_F(RunSlots, AnEventReportsOnce) {
  cuda::RunSlot& slot = Take();
  cuda::GpuEvent event;
  event.OnCompleted(cuda::RunSlots::Finish, &slot);
  std::vector<std::thread> threads;
  std::atomic<int> late{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      event.Completed();
      late += told_.times != 1;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(late, 0);
  EXPECT_EQ(told_.times, 1);
}

// The first slots have graphs; they are taken before others.
TEST_F(RunSlots, GraphsComeFirst) {
  slots_->SetGraphs(2, 1);
  std::vector<cuda::RunSlot*> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(&Take());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(taken[i]->has_graphs(), i < 2);
  for (cuda::RunSlot* slot : taken) slots_->Drop(*slot);
  EXPECT_TRUE(Take().has_graphs());
  EXPECT_TRUE(Take().has_graphs());
  EXPECT_FALSE(Take().has_graphs());
}

}}  // namespace ricci::testing
