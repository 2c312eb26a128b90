// A scan computes the same for every `unroll`, however large: in a kernel and as steps of the plan, of any length and
// direction. Its code does not grow beyond a bound.
#include <algorithm>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

class UnrolledScans : public ::testing::Test {
 protected:
  // Two carries, of which one becomes the other, a constant, and a stack in and out. Sums of small integers
  // are exact, so that results are equal bit for bit. Bodies of large values become steps of the plan.
  Program Scan(int64_t elements, int64_t length, bool reverse, int64_t unroll) {
    std::string text = R"(program f(%k: V, %c: V, %d: V, %x: S) {
  %r: V, %q: V, %y: S = scan(%k, %c, %d, %x) body=program(%k: V, %c: V, %d: V, %x: V) {
    %a: V = add(%c, %k)
    %b: V = sub(%x, %a)
    %m: f64[] = reduce_max(%b) axes=[0]
    %mb: V = broadcast_in_dim(%m) shape=[N] broadcast_dimensions=[]
    %e: V = max(%d, %mb)
    return %e, %a, %b
  } length=L reverse=REVERSE num_consts=1 num_carry=2 unroll=U
  return %r, %q, %y
})";
    const std::string n = std::to_string(elements), l = std::to_string(length);
    for (const auto& [what, with] : {std::pair<std::string, std::string>{"V", "f64[" + n + "]"},
                                     {"S", "f64[" + l + "," + n + "]"},
                                     {"REVERSE", reverse ? "true" : "false"},
                                     {"N", n},
                                     {"L", l},
                                     {"U", std::to_string(unroll)}}) {
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
        const bool word = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
        const char after = text[at + what.size()];
        if (word && !std::isalnum(static_cast<unsigned char>(after))) text.replace(at, what.size(), with);
      }
    }
    return r.Parse(text);
  }
  static Numbers Draw(int64_t n, int64_t salt) {
    Numbers out;
    for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>((i * 37 + salt * 11) % 101 - 50));
    return out;
  }
  ProgramRunner r;
};

TEST_F(UnrolledScans, GiveTheSame) {
  for (int64_t elements : {3, 700}) {
    for (int64_t length : {0, 1, 2, 5, 8}) {
      for (bool reverse : {false, true}) {
        const std::vector<Numbers> args = {Draw(elements, 1), Draw(elements, 2), Draw(elements, 3),
                                           Draw(elements * length, 4)};
        for (const std::string& device : r.Devices()) {
          if (device == "ref" && elements > 3) continue;
          const std::vector<Numbers> want = r.Run(Scan(elements, length, reverse, 1), args, device);
          for (int64_t unroll : {int64_t{2}, int64_t{3}, int64_t{8}, INT64_MAX}) {
            EXPECT_EQ(r.Run(Scan(elements, length, reverse, unroll), args, device), want)
                << device << ", " << elements << " elements, length " << length << ", unroll " << unroll
                << (reverse ? ", reverse" : "");
          }
        }
      }
    }
  }
}

TEST_F(UnrolledScans, RepeatTheBody) {
  const auto count = [](const std::string& text, std::string_view what) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const size_t once = count(r.Dump(Scan(3, 100, false, 1), "kernels", "ref"), "yield");
  EXPECT_EQ(count(r.Dump(Scan(3, 100, false, 4), "kernels", "ref"), "yield"), 4 * once);
  EXPECT_EQ(count(r.Dump(Scan(3, 102, false, 4), "kernels", "ref"), "yield"), 6 * once) << "two are left over";
}

// The text of the kernels of a scan that asks for 10^12 trips at once is bounded.
TEST_F(UnrolledScans, CodeIsBounded) {
  const Program f = Scan(3, 1000000, false, 1000000000000);
  EXPECT_LT(r.Dump(f, "kernels", "ref").size(), 4u << 20);
}

}  // namespace
}  // namespace ricci::testing
