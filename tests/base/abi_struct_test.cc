// Structs whose writer knew fewer or more members, or attached extensions: what is read, what is refused, what is
// filled.
#include "base/abi_struct.h"

#include <gtest/gtest.h>

namespace ricci::base { namespace {

struct Now {  // as this core has it
  ricci_hdr hdr;
  uint64_t first, second;
};
struct Later {
  Now known;
  uint64_t third;
};
constexpr uint32_t kOlder = offsetof(Now, second);

Now Filled(uint32_t size) { return {{size, 0, nullptr}, 1, 2}; }
std::string ErrorOf(const Now& s, Flags known = {}) {
  return std::string(ReadStruct(&s, "s", known).status().message());
}

TEST(AbiStruct, WhatAnOlderWriterDoesNotHaveIsZero) {
  const Now given = Filled(kOlder);  // `second` is not the writer's
  const auto read = ReadStruct(&given, "s");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->first, 1u);
  EXPECT_EQ(read->second, 0u);
}

TEST(AbiStruct, WhatANewerWriterSetsIsRefused) {
  Later given{Filled(sizeof(Later)), 0};
  EXPECT_TRUE(ReadStruct(&given.known, "s").ok());
  given.third = 1ull << 63;
  EXPECT_EQ(ErrorOf(given.known), "s: struct of 40 bytes has members set that this core (32 bytes) does not know");
}

TEST(AbiStruct, SizesThatAreNone) {
  EXPECT_EQ(ErrorOf(Filled(0)), "s: hdr.size is 0; set it to the size of the struct");
  EXPECT_EQ(ErrorOf(Filled(15)), "s: hdr.size is 15; set it to the size of the struct");
  EXPECT_TRUE(ReadStruct(std::vector<Now>{Filled(16)}.data(), "s").ok());
  EXPECT_EQ(ErrorOf(Filled(0xdddddddd)),
            "s: hdr.size is 3722304989, more than a page of 4096 bytes; set it to the size of the struct");
}

TEST(AbiStruct, Flags) {
  Now given = Filled(sizeof(Now));
  given.hdr.flags = 6;
  EXPECT_EQ(ErrorOf(given), "s: unknown flags in hdr.flags 6; none are known");
  EXPECT_EQ(ErrorOf(given, {{2, "TWO"}}), "s: unknown flags in hdr.flags 6; known: 2 (TWO)");
  EXPECT_EQ(ErrorOf(given, {{2, "TWO"}, {4, "FOUR"}}), "");
}

TEST(AbiStruct, ExtensionsThatMayBeIgnoredAre) {
  ricci_ext last{sizeof last, RICCI_EXT_CRITICAL, 7, nullptr}, first{sizeof first, 0, 5, &last};
  Now given = Filled(sizeof(Now));
  given.hdr.next = &first;
  EXPECT_EQ(ErrorOf(given), "s: unknown critical extension 7") << "also after one that may be ignored";
  last.flags = 0;
  EXPECT_EQ(ErrorOf(given), "");
}

TEST(AbiStruct, ListsOfExtensionsThatAreNone) {
  ricci_ext e{sizeof e, 0, 5, nullptr};
  Now given = Filled(sizeof(Now));
  given.hdr.next = &e;
  e.next = &e;
  EXPECT_EQ(ErrorOf(given), "s: hdr.next leads to more than 64 extensions; end the list with NULL");
  e.next = nullptr;
  e.size = 8;
  EXPECT_EQ(ErrorOf(given),
            "s: extension 5 has size 8, less than the 24 bytes of ricci_ext; set it to the size of the struct");
}

TEST(AbiStruct, AReaderGetsTheMembersThatItKnows) {
  Now to{{kOlder, 3, nullptr}, 0, 77};
  EXPECT_TRUE(WriteStruct(&to, Filled(sizeof(Now))));
  EXPECT_EQ(to.first, 1u);
  EXPECT_EQ(to.second, 77u) << "beyond the reader's struct";
  EXPECT_EQ(to.hdr.flags, 3u);
  Later newer{{{sizeof(Later), 0, nullptr}, 0, 0}, 9};
  EXPECT_TRUE(WriteStruct(&newer.known, Filled(sizeof(Now))));
  EXPECT_EQ(newer.known.second, 2u);
  EXPECT_EQ(newer.third, 9u);
  to.hdr.size = 8;
  EXPECT_FALSE(WriteStruct(&to, Filled(sizeof(Now))));
}

TEST(AbiStruct, ElementsOfAnotherSize) {
  struct Old {
    uint32_t a;
  };
  struct New {
    uint32_t a, b;
  };
  const Old old[] = {{1}, {2}};
  EXPECT_EQ(ReadElement(reinterpret_cast<const New*>(old), sizeof(Old), 1).a, 2u);
  EXPECT_EQ(ReadElement(reinterpret_cast<const New*>(old), sizeof(Old), 1).b, 0u);
  const New later[] = {{1, 10}, {2, 20}};
  EXPECT_EQ(ReadElement(reinterpret_cast<const Old*>(later), sizeof(New), 1).a, 2u);
  EXPECT_EQ(ReadElement(later, 0, 1).b, 20u) << "0: of our size";
}

}}  // namespace ricci::base
