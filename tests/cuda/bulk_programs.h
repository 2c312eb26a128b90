// BulkProducts: programs with products whose factors the GPU copies by itself (plugins/cuda/print/tile_bulk.cc).
#ifndef RICCI_TESTS_CUDA_BULK_PROGRAMS_H_
#define RICCI_TESTS_CUDA_BULK_PROGRAMS_H_
#include "cuda/tile_programs.h"

namespace ricci::testing {

inline constexpr const char *kCopies = "ricci_dev_copy_box_u16_", *kEncode = "cuTensorMapEncodeTiled\n";

class BulkProducts : public Tiles {
 protected:
  BulkProducts() { CheckAll(false); }
  ~BulkProducts() override { CheckAll(true); }
  static void CheckAll(bool check) { OfStandin<void(uint32_t)>("ricci_standin_check")(check ? 1 : 0); }
  static std::string Calls() { return OfStandin<const char*()>("ricci_standin_calls")(); }
  static size_t Encoded(const std::string& calls) {
    size_t n = 0;
    for (size_t at = 0; (at = calls.find(kEncode, at)) != calls.npos; ++at) ++n;
    return n;
  }
  // By so many maps, of this rank.
  void ExpectCopies(const Program& f, uint32_t rank, size_t maps = 2, Ways ways = {}) {
    ExpectText(f, kCopies + std::to_string(rank) + "(");
    Calls();
    ExpectSameBytes(f, ways);
    EXPECT_EQ(Encoded(Calls()), ways.shift == 0 ? maps : 0);
  }
  void ExpectNoCopies(const Program& f) {
    ExpectText(f, "on tensor cores of sm_90a");
    ExpectText(f, kCopies, /*found=*/false);
    ExpectSameBytes(f);
  }
  // Tiles of 128 rows and 16 columns, 48 of them.
  static std::string Batched(bool left, bool right, const std::string& batch = "48") {
    const std::string b = "[" + batch + ",";
    return "program f(%x: T" + b + (left ? "K,R]" : "R,K]") + ", %y: T" + b + (right ? "C,K]" : "K,C]") +
           ") {\n  %z: S" + b + "R,C] = dot_general(%x, %y) lhs_contract=[" + (left ? "1" : "2") + "] rhs_contract=[" +
           (right ? "2" : "1") + "] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S\n  return %z\n}";
  }
};

}  // namespace ricci::testing
#endif
