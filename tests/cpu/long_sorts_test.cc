// Lines that are sorted by digits: for every dtype of keys, with NaN, infinities, both zeros and many equal keys, the
// order is that of std::stable_sort. So is that of lines of any length by many keys.
#include <algorithm>
#include <limits>
#include <numeric>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr size_t kLength = 300;

// Sorts numbers converted to the dtypes of the keys, with their places; returns the first key and the places.
std::string Sorted(const std::vector<std::string>& keys, size_t length) {
  const std::string n = "[" + std::to_string(length) + "]";
  std::string params, body, operands, results;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string number = std::to_string(i);
    params += "%x" + number + ": f64" + n + ", ";
    body += " %k" + number + ": " + keys[i] + n + " = convert_element_type(%x" + number + ") new_dtype=" + keys[i];
    operands += "%k" + number + ", ";
    results += "%y" + number + ": " + keys[i] + n + ", ";
  }
  return "program f(" + params + "%p: i32" + n + ") {" + body + " " + results + "%q: i32" + n + " = sort(" + operands +
         "%p) dimension=0 num_keys=" + std::to_string(keys.size()) + " %r: f64" + n +
         " = convert_element_type(%y0) new_dtype=f64 return %r, %q }";
}

Numbers Keys(const std::string& dtype, uint32_t seed, size_t length) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double special[] = {inf, -inf, nan, -nan, 0.0, -0.0, 1, -1};
  Numbers out;
  uint32_t h = seed;
  for (size_t i = 0; i < length; ++i) {
    h = h * 1664525u + 1013904223u;
    const uint32_t r = h >> 16;
    if (dtype == "bool") {
      out.push_back(r % 2);
    } else if (dtype[0] == 'u') {
      out.push_back(r % 251);
    } else if (dtype[0] == 'i') {
      out.push_back(static_cast<int>(r % 251) - 125);
    } else {
      out.push_back(r % 3 == 0 ? special[r % 8] : (static_cast<int>(r % 509) - 254) / 4.0);
    }
  }
  return out;
}

// NaN last, the zeros equal.
bool Before(double a, double b) { return a < b || (!std::isnan(a) && std::isnan(b)); }

// In the first `equal` keys all elements are equal.
void Expect(const std::vector<std::string>& dtypes, size_t length = kLength, size_t equal = 0) {
  ProgramRunner r;
  std::vector<Numbers> args;
  for (size_t k = 0; k < dtypes.size(); ++k) {
    args.push_back(k < equal ? Numbers(length, 1) : Keys(dtypes[k], static_cast<uint32_t>(k), length));
  }
  std::vector<size_t> order(length);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    for (const Numbers& key : args) {
      if (Before(key[i], key[j])) return true;
      if (Before(key[j], key[i])) return false;
    }
    return false;
  });
  Numbers places(length);
  std::iota(places.begin(), places.end(), 0);
  args.push_back(places);
  const Program f = r.Parse(Sorted(dtypes, length));
  for (const std::string& device : r.Devices()) {
    const std::vector<Numbers> out = r.Run(f, args, device);
    for (size_t i = 0; i < length; ++i) {
      ASSERT_EQ(out.back()[i], static_cast<double>(order[i])) << dtypes[0] << " on " << device << " at " << i;
      const double want = args[0][order[i]], got = out[0][i];
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << dtypes[0] << " on " << device;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << "zeros keep their signs: " << dtypes[0] << " on " << device;
    }
  }
}

TEST(LongSorts, OfEveryDtype) {
  for (const char* dtype :
       {"bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"}) {
    Expect({dtype});
  }
}

TEST(LongSorts, BySeveralKeys) {
  Expect({"bool", "f32"});
  Expect({"i8", "f64", "u16"});
  Expect({"i64", "bf16"});
}

// Compared by loops over the keys, of which each may be the one that decides.
TEST(LongSorts, ByManyKeys) {
  const std::vector<std::string> narrow = {"bool", "i8", "u32", "f16", "f32", "i32", "bf16", "u8"};
  std::vector<std::string> keys;
  for (size_t i = 0; i < 20; ++i) keys.push_back(narrow[i % narrow.size()]);
  for (const size_t length : {7, 60, 300}) {
    for (const size_t equal : {0, 8, 15, 16, 19}) Expect(keys, length, equal);
    keys[5] = "f64";  // all words are wide
  }
}

TEST(LongSorts, ExtremeIntegers) {
  ProgramRunner r;
  Numbers x(kLength);
  for (size_t i = 0; i < kLength; ++i) x[i] = i % 3 == 0 ? -2147483648.0 : i % 3 == 1 ? 2147483647.0 : -1.0;
  Numbers want = x;
  std::sort(want.begin(), want.end());
  const Program f = r.Parse("program f(%x: i32[300]) { %y: i32[300] = sort(%x) dimension=0 num_keys=1 return %y }");
  EXPECT_EQ(r.RunEverywhere(f, {x})[0], want);
}

}  // namespace
}  // namespace ricci::testing
