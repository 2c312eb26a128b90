// HashMap and HashSet against std::map, through collisions, removals and failing constructors.
#include "base/hash_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ricci::base { namespace {

TEST(HashMap, RandomOperationsAgreeWithStdMap) {
  HashMap<uint32_t, int> map;
  std::map<uint32_t, int> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 100000; ++step) {
    const uint32_t key = random() % 500;
    switch (random() % 4) {
      case 0:
        map[key] = expected[key] = step;
        break;
      case 1:
        ASSERT_EQ(map.try_emplace(key, step).second, expected.try_emplace(key, step).second);
        break;
      case 2:
        ASSERT_EQ(map.erase(key), expected.erase(key));
        break;
      default:
        ASSERT_EQ(map.contains(key), expected.contains(key));
    }
    ASSERT_EQ(map.size(), expected.size());
  }
  for (const auto& [key, value] : expected) ASSERT_EQ(map.at(key), value);
}

TEST(HashMap, IteratesInOrderOfInsertion) {
  HashMap<std::string, int> map;
  for (int i = 0; i < 1000; ++i) map[std::to_string(i * 7919 % 1000)] = i;
  int next = 0;
  for (const auto& [key, value] : map) EXPECT_EQ(value, next++);
}

TEST(HashMap, TextIsFoundByAView) {
  HashMap<std::string, int> map;
  map["scan"] = 1;
  EXPECT_EQ(map.find(std::string_view("scan"))->second, 1);
  EXPECT_EQ(map.find(std::string_view("while")), map.end());
}

struct AllAlike {
  size_t operator()(uint32_t) const { return 3; }
};
TEST(HashMap, CollidingKeysStayReachableThroughRemovals) {
  HashMap<uint32_t, uint32_t, AllAlike> map;
  for (uint32_t i = 0; i < 100; ++i) map[i] = i;
  for (uint32_t i = 0; i < 100; i += 3) EXPECT_EQ(map.erase(i), 1u);
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(map.contains(i), i % 3 != 0) << i;
    EXPECT_TRUE(i % 3 == 0 || map.at(i) == i);
  }
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_FALSE(map.contains(1u));
}

struct Refuses {
  explicit Refuses(int v) : value(v) {
    if (v < 0) throw std::bad_alloc();
  }
  int value;
};
TEST(HashMap, AFailureWhileInsertingChangesNothing) {
  HashMap<uint32_t, Refuses> map;
  for (uint32_t i = 0; i < 50; ++i) {
    map.try_emplace(i, static_cast<int>(i));
    EXPECT_THROW(map.try_emplace(1000 + i, -1), std::bad_alloc);
    EXPECT_EQ(map.size(), i + 1);
    EXPECT_FALSE(map.contains(1000 + i));
    for (uint32_t k = 0; k <= i; ++k) ASSERT_EQ(map.at(k).value, static_cast<int>(k));
  }
}

TEST(HashSet, KeepsEachKeyOnce) {
  HashSet<int> set{3, 1, 3};
  EXPECT_TRUE(set.insert(2).second);
  EXPECT_FALSE(set.insert(1).second);
  EXPECT_EQ(std::vector<int>(set.begin(), set.end()), (std::vector<int>{3, 1, 2}));
}

}  // namespace
}  // namespace ricci::base
