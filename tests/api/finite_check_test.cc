// ricci_check_finite: wrong arguments by name, and the site of the equation as a host sees it.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class FiniteCheck : public ::testing::Test {
 protected:
  FiniteCheck() {
    EXPECT_EQ(Message(ricci_context_create(nullptr, &ctx_)), "");
    EXPECT_EQ(Message(ricci_context_add_plugin(ctx_, ricci_plugin_query_lax)), "");
    const std::string_view text = "program f(%x: f32[2]) {\n  %y: f32[2] = sqrt(%x)\n  return %y\n}";
    EXPECT_EQ(Message(ricci_program_parse(ctx_, text.data(), text.size(), "f.ricci", 7, &f_)), "");
  }
  ~FiniteCheck() override {
    ricci_program_release(f_);
    ricci_context_release(ctx_);
  }
  ricci_array* Make(float a, float b, uint32_t rank = 1) {
    const float data[] = {a, b};
    const int64_t dims[] = {2, 1};
    ricci_type t = 0;
    const ricci_type_desc type = ricci_type_desc_of(RICCI_F32, rank, dims);
    EXPECT_EQ(Message(ricci_type_make(ctx_, &type, &t)), "");
    ricci_array* out = nullptr;
    EXPECT_EQ(Message(ricci_array_from_host(ricci_device_get(ctx_, 0), t, data, nullptr, &out)), "");
    return out;
  }
  ricci_status* CheckWith(ricci_array* owned) {
    ricci_status* s = ricci_check_finite(f_, nullptr, &owned, 1);
    ricci_array_release(owned);
    return s;
  }
  ricci_ctx* ctx_ = nullptr;
  ricci_program* f_ = nullptr;
};

TEST_F(FiniteCheck, NamesTheEquation) {
  EXPECT_EQ(Message(CheckWith(Make(1, 2))), "");
  ricci_status* s = CheckWith(Make(1, -2));
  ricci_str prim{}, file{};
  uint32_t line = 0;
  ricci_status_site(s, &prim, nullptr, &file, &line);
  EXPECT_EQ(ricci_status_code(s), RICCI_OUT_OF_RANGE);
  EXPECT_EQ(std::string(prim.ptr, prim.len), "sqrt");
  EXPECT_EQ(std::string(file.ptr, file.len), "f.ricci");
  EXPECT_EQ(line, 2);
  EXPECT_EQ(Message(s), "f.ricci:2: sqrt: result 0, f32[2], has nan at [1]; its operands are finite");
}

TEST_F(FiniteCheck, WrongArgumentsAreNamed) {
  ricci_array* none = nullptr;
  EXPECT_EQ(Message(ricci_check_finite(nullptr, nullptr, &none, 1)), "ricci_check_finite: f is NULL");
  EXPECT_EQ(Message(ricci_check_finite(f_, nullptr, nullptr, 1)), "ricci_check_finite: in is NULL");
  EXPECT_EQ(Message(ricci_check_finite(f_, nullptr, &none, 1)), "ricci_check_finite: in[i] is NULL");
  EXPECT_EQ(Message(ricci_check_finite(f_, nullptr, nullptr, 0)),
            "ricci_check_finite: n_in is 0, not 1 (one per parameter)");
  EXPECT_EQ(Message(CheckWith(Make(1, 2, 2))),
            "ricci_check_finite: in[0] is f32[2,1], parameter 0 of program f is f32[2]");
}

}  // namespace
}  // namespace ricci::testing
