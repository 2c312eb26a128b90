// Tiles: programs with products that blocks compute by tiles (plugins/cuda/tile/product_tile.h), which must give the
// same bytes as `ref`. The numbers are whole and small, so that sums are exact in any order.
#ifndef RICCI_TESTS_CUDA_TILE_PROGRAMS_H_
#define RICCI_TESTS_CUDA_TILE_PROGRAMS_H_
#include <random>

#include "cuda/in_turn.h"
#include "cuda/same_bytes.h"
#include "cuda/standin/standin.h"

namespace ricci::testing {

struct Sizes {
  int64_t rows, columns, trips;
};

class Tiles : public SameBytes {
 protected:
  using SameBytes::SameBytes;
  ~Tiles() override { EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string()); }

  // A program with R, C and K in place of the numbers of rows, columns and trips, and T and S of types; then @ of an
  // algorithm.
  Program Of(std::string text, Sizes n, const std::string& type = "f32", const std::string& sum = "f32",
             const std::string& algorithm = "default") {
    const auto put = [&](char letter, const std::string& by) {
      for (size_t at = 0; (at = text.find(letter, at)) != text.npos; at += by.size()) text.replace(at, 1, by);
    };
    put('R', std::to_string(n.rows));
    put('C', std::to_string(n.columns));
    put('K', std::to_string(n.trips));
    put('T', type);
    put('S', sum);
    put('@', algorithm);
    return runner_.Parse(text);
  }
  void ExpectText(const Program& f, const std::string& wanted, bool found = true) {
    const std::string text = runner_.Dump(f, "native", "cuda");
    EXPECT_EQ(text.find(wanted) != text.npos, found) << text;
  }
  // Not by `ref`, which takes ten times as long for a product as everything else, but by `cpu`, which is compared with
  // `ref` in tests of its own. By `ref` one test in sixteen, in turn.
#ifdef RICCI_CUDA_TEST_CPU
  static constexpr std::string_view kQuickest = "cpu";
#else
  static constexpr std::string_view kQuickest = "ref";
#endif
  static std::string_view Like() {
    constexpr uint64_t kOneOf = 16;
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    return IsInTurn(static_cast<uint64_t>(test.line()), kOneOf) ? "ref" : kQuickest;
  }
  void ExpectSameBytes(const Program& f, Ways ways = {}) {
    if (ways.like.empty()) ways.like = like_;
    SameBytes::ExpectSameBytes(f, ways);
  }
  void Expect(const Program& f, Ways ways = {}) {
    ExpectText(f, "// tiles of ");
    ExpectSameBytes(f, ways);
  }
  // Operands as they are or transposed.
  static std::string Product(bool left, bool right) {
    return std::string("program f(%x: T") + (left ? "[K,R]" : "[R,K]") + ", %y: T" + (right ? "[C,K]" : "[K,C]") +
           ") {\n  %z: S[R,C] = dot_general(%x, %y) lhs_contract=[" + (left ? "0" : "1") + "] rhs_contract=[" +
           (right ? "1" : "0") + "] preferred_element_type=S\n  return %z\n}";
  }
  Sizes Any() {
    const auto draw = [this](int64_t least) { return std::uniform_int_distribution<int64_t>(least, 130)(random_); };
    return {draw(16), draw(16), draw(16)};
  }

  std::mt19937_64 random_{7};
  std::string_view like_ = Like();
};

}  // namespace ricci::testing
#endif
