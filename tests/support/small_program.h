// SmallProgram: a context over a counting host, and short ways to make types, arrays, programs and executables in it.
#ifndef RICCI_TESTS_SUPPORT_SMALL_PROGRAM_H_
#define RICCI_TESTS_SUPPORT_SMALL_PROGRAM_H_
#include "support/counting_host.h"

namespace ricci::testing {

constexpr std::string_view kAddText = R"(
program plus(%x: f32[4], %y: f32[4]) {
  %s: f32[4] = add(%x, %y)
  return %s
})";

// Message of a status that must be an error of `code`.
inline std::string ErrorOf(ricci_status* s, uint32_t code = RICCI_INVALID_ARGUMENT) {
  EXPECT_NE(s, nullptr) << "no error";
  if (s == nullptr) return "";
  EXPECT_EQ(ricci_status_code(s), code);
  return Message(s);
}

class SmallProgram : public ::testing::Test {
 protected:
  SmallProgram() {
    EXPECT_TRUE(Ok(host.CreateContext(&ctx)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)));
    ref = ricci_device_find(ctx, "ref", 3);
  }
  ~SmallProgram() override { ricci_context_release(ctx); }

  ricci_type Type(uint32_t dtype, std::vector<int64_t> dims) {
    ricci_type t = 0;
    Ok(ricci_type_make(ctx, dtype, static_cast<uint32_t>(dims.size()), dims.data(), &t));
    return t;
  }
  ricci_prim Prim(std::string_view name) {
    ricci_prim p = 0;
    Ok(ricci_prim_find(ctx, name.data(), name.size(), &p));
    return p;
  }
  ricci_program* Parse(std::string_view text) {
    ricci_program* p = nullptr;
    Ok(ricci_program_parse(ctx, text.data(), text.size(), "t", 1, &p));
    return p;
  }
  ricci_executable* Compile(const ricci_program* f, std::vector<uint8_t> donate = {}, uint32_t flags = 0) {
    ricci_compile_opts o{};
    o.hdr = {sizeof o, flags, nullptr};
    o.device = ref;
    o.donate = donate.data();
    o.n_donate = static_cast<uint32_t>(donate.size());
    ricci_executable* x = nullptr;
    Ok(ricci_compile(f, &o, &x));
    return x;
  }
  ricci_executable* CompileText(std::string_view text, std::vector<uint8_t> donate = {}, uint32_t flags = 0) {
    ricci_program* f = Parse(text);
    ricci_executable* x = Compile(f, std::move(donate), flags);
    ricci_program_release(f);
    return x;
  }
  ricci_array* Floats(std::vector<float> values) {
    ricci_array* a = nullptr;
    Ok(ricci_array_from_host(ref, Type(RICCI_F32, {static_cast<int64_t>(values.size())}), values.data(), &a));
    return a;
  }
  static std::vector<float> Read(const ricci_array* a) {
    std::vector<float> values(ricci_array_bytes(a) / sizeof(float));
    Ok(ricci_array_copy_to_host(a, values.data(), values.size() * sizeof(float)));
    return values;
  }

  CountingHost host;  // last to go: checks that all is freed
  ricci_ctx* ctx = nullptr;
  ricci_device* ref = nullptr;
};

}  // namespace ricci::testing
#endif
