// memo: each program is transformed once while a transform runs, nothing is remembered after it, and keys do not mix.
#include "transform/memo.h"

#include <set>

#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transform_fixture.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci::testing { namespace {

using transform::MemoKey;
using transform::MemoUse;

class MemoTest : public TransformTest {
 protected:
  // The result under `key`, and a count of how often it is made.
  int Remember(const MemoKey& key, int result = 7) {
    return Get(transform::Remembered<int>(key, [&]() -> absl::StatusOr<int> {
      ++made_;
      return result;
    }));
  }
  // A program that nothing else refers to.
  ir::ProgramRef Fresh() { return Get(New({})->Finish({})); }

  int made_ = 0;
};

TEST_F(MemoTest, AResultIsMadeOnceWhileATransformRuns) {
  const ir::ProgramRef f = Fresh();
  const MemoUse running(*f);
  EXPECT_EQ(Remember(MemoKey("a", *f), 1), 1);
  EXPECT_EQ(Remember(MemoKey("a", *f), 2), 1) << "the first one is remembered";
  EXPECT_EQ(made_, 1);
}

TEST_F(MemoTest, NothingOutlivesTheLastTransform) {
  const ir::ProgramRef f = Fresh();
  Remember(MemoKey("a", *f));
  EXPECT_EQ(registry().memo().entries.size(), 0u);
  Remember(MemoKey("a", *f));
  EXPECT_EQ(made_, 2);
  {
    const MemoUse outer(*f);
    {
      const MemoUse inner(*f);
      Remember(MemoKey("a", *f));
    }
    EXPECT_EQ(registry().memo().entries.size(), 1u) << "one still runs";
    Remember(MemoKey("a", *f));
    EXPECT_EQ(made_, 3);
  }
  EXPECT_EQ(registry().memo().entries.size(), 0u);
  EXPECT_EQ(registry().memo().uses, 0u);
}

TEST_F(MemoTest, AFailureIsNotRemembered) {
  const ir::ProgramRef f = Fresh();
  const MemoUse running(*f);
  const auto failed = transform::Remembered<int>(
      MemoKey("a", *f), []() -> absl::StatusOr<int> { return absl::CancelledError("not now"); });
  EXPECT_EQ(ErrorOf(failed, absl::StatusCode::kCancelled), "not now");
  EXPECT_EQ(Remember(MemoKey("a", *f), 5), 5);
}

TEST_F(MemoTest, KeysDifferByTransformProgramAndArguments) {
  const ir::ProgramRef f = Fresh(), g = Fresh();
  const std::vector<uint8_t> none, one = {1}, two = {1, 0};
  const auto lists = [&](const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
    return MemoKey("a", *f).Add(std::span<const uint8_t>(a)).Add(std::span<const uint8_t>(b));
  };
  const MemoKey keys[] = {
      MemoKey("a", *f),
      MemoKey("b", *f),
      MemoKey("a", *g),
      MemoKey("a", *f).Add(1),
      MemoKey("a", *f).Add(2),
      MemoKey("a", *f).Add("x"),
      MemoKey("a", *f).Add("xy"),
      MemoKey("a", *f).Add("x").Add("y"),
      lists(none, one),
      lists(one, none),
      lists(one, two),
      lists(two, one),
  };
  const MemoUse running(*f);
  for (const MemoKey& key : keys) Remember(key);
  EXPECT_EQ(made_, static_cast<int>(std::size(keys)));
  for (const MemoKey& key : keys) Remember(key);
  EXPECT_EQ(made_, static_cast<int>(std::size(keys)));
}

// A program is named by its address: as long as a result is remembered, no other program may get that address.
TEST_F(MemoTest, AnEntryKeepsItsProgram) {
  const MemoUse running(*Fresh());
  std::set<const ir::Program*> addresses;
  for (int i = 0; i < 100; ++i) {
    const ir::ProgramRef f = Fresh();
    EXPECT_TRUE(addresses.insert(f.get()).second);
    EXPECT_EQ(Remember(MemoKey("a", *f), i), i);
  }
}

TEST_F(MemoTest, ItIsEmptiedWhenItHasGrownLarge) {
  const ir::ProgramRef f = Fresh();
  const MemoUse running(*f);
  size_t most = 0;
  for (int i = 0; i < 40'000; ++i) {
    ASSERT_EQ(Remember(MemoKey("a", *f).Add(i), i), i);
    most = std::max(most, registry().memo().entries.size());
  }
  EXPECT_EQ(most, size_t{1} << 14);
  EXPECT_EQ(made_, 40'000);
}

// A result that was found stays valid when the entry is dropped.
TEST_F(MemoTest, AFoundResultIsHeldByTheOneWhoFoundIt) {
  const ir::ProgramRef f = Fresh();
  std::shared_ptr<const void> found;
  {
    MemoUse running(*f);
    running.Keep(MemoKey("a", *f), std::make_shared<const std::string>("a long text that is on the heap"));
    found = running.Find(MemoKey("a", *f));
    EXPECT_EQ(running.Find(MemoKey("b", *f)), nullptr);
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*static_cast<const std::string*>(found.get()), "a long text that is on the heap");
}

// With the same program and one other argument, a transform is another one: every argument is in its key.
TEST_F(MemoTest, TransformsWithOtherArgumentsAreMadeAgain) {
  const ir::ProgramRef f = Parse("program f(%x: f64[], %y: f64[]) {\n  %s: f64[] = add(%x, %y)\n  return %s, %y\n}");
  const MemoUse running(*f);
  // Makes each twice; returns how many results are remembered.
  const auto entries = [&](const std::function<void()>& make) {
    const size_t before = registry().memo().entries.size();
    make(), make();
    return registry().memo().entries.size() - before;
  };
  const auto jvp = [&](Mask active, Mask instantiate) { return [=] { Get(transform::Jvp(*f, active, instantiate)); }; };
  for (const auto& make : {jvp({1, 0}, {}), jvp({1, 1}, {}), jvp({1, 0}, {0, 1})}) EXPECT_EQ(entries(make), 1u);
  const auto transpose = [&](Mask linear, Mask cts, bool instantiate) {
    return [=] { Get(transform::Transpose(*f, linear, cts, instantiate)); };
  };
  for (const auto& make : {transpose({1, 1}, {}, false), transpose({1, 1}, {1, 0}, false), transpose({1, 1}, {}, true),
                           transpose({1, 0}, {}, false)})
    EXPECT_GE(entries(make), 1u);  // it prunes as well, which is remembered by itself
  const auto batch = [&](std::vector<int32_t> axes, int64_t size, const char* name, Mask force) {
    return [=] { Get(transform::BatchAt(*f, axes, size, name, force)); };
  };
  for (const auto& make : {batch({0, -1}, 2, "", {}), batch({0, 0}, 2, "", {}), batch({0, -1}, 3, "", {}),
                           batch({0, -1}, 2, "i", {}), batch({0, -1}, 2, "", {0, 1})})
    EXPECT_EQ(entries(make), 1u);
  // These prune as well, which is remembered by itself.
  const auto split = [&](Mask known, Mask force, transform::Saving saving) {
    return [=] { Get(transform::PartialEval(*f, known, force, saving)); };
  };
  for (const auto& make : {split({0, 1}, {}, {}), split({1, 1}, {}, {}), split({0, 1}, {0, 1}, {}),
                           split({0, 1}, {}, {"dots"}), split({0, 1}, {}, {"", /*apart=*/true})})
    EXPECT_GE(entries(make), 1u);
  const auto prune = [&](Mask used, Mask droppable) { return [=] { Get(transform::Prune(*f, used, droppable)); }; };
  for (const auto& make : {prune({0, 1}, {}), prune({1, 0}, {}), prune({0, 1}, {1, 1})}) EXPECT_EQ(entries(make), 2u);
}

TEST_F(MemoTest, ContextsRememberApart) {
  ProgramRunner other;
  const Program theirs = other.Parse("program f() { return }");
  const ir::ProgramRef ours = Fresh();
  const MemoUse running(*ours);
  Remember(MemoKey("a", *ours));
  Remember(MemoKey("a", *ir::FromAbi(theirs.get())));
  EXPECT_EQ(registry().memo().entries.size(), 1u);
  EXPECT_EQ(prim::Registry::Of(*ir::FromAbi(theirs.get())).memo().entries.size(), 0u);
}

}  // namespace
}  // namespace ricci::testing
