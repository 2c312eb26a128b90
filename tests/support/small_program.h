// SmallProgram: a context over a counting host, and short ways to make types, arrays, programs and executables in it.
//
// The device is `ref`, or the one named by RICCI_TEST_DEVICE in the environment: on `late` a suite runs with memory
// that the host cannot touch and work that is not done yet.
#ifndef RICCI_TESTS_SUPPORT_SMALL_PROGRAM_H_
#define RICCI_TESTS_SUPPORT_SMALL_PROGRAM_H_
#include "support/counting_host.h"
#include "support/late_backend.h"

namespace ricci::testing {

constexpr std::string_view kAddText = R"(
program plus(%x: f32[4], %y: f32[4]) {
  %s: f32[4] = add(%x, %y)
  return %s
})";

// The message of a status that must be an error of `code`.
inline std::string ErrorOf(ricci_status* s, uint32_t code = RICCI_INVALID_ARGUMENT) {
  EXPECT_NE(s, nullptr) << "no error";
  if (s == nullptr) return "";
  EXPECT_EQ(ricci_status_code(s), code);
  return Message(s);
}

class SmallProgram : public ::testing::Test {
 protected:
  SmallProgram() : SmallProgram(DeviceOfSuite()) {}
  // A test may pass `late` with options, to run on it whatever the suite runs on.
  explicit SmallProgram(std::string_view kind, const LateOptions& options = {}) : kind_(kind) {
    EXPECT_TRUE(Ok(host.CreateContext(&ctx)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)));
    if (!OnHost()) {
      late = std::make_unique<LateDevices>(options);
      EXPECT_TRUE(Ok(late->AddTo(ctx)));
    }
    device = ricci_device_find(ctx, kind_.data(), kind_.size());
  }
  ~SmallProgram() override {
    ricci_context_release(ctx);
    if (late != nullptr) {
      EXPECT_EQ(late->Report(), "");
    }
  }

  static std::string_view DeviceOfSuite() {
    const char* kind = std::getenv("RICCI_TEST_DEVICE");
    return kind == nullptr ? "ref" : kind;
  }
  // Whether the host's own memory may be bound, and work is done when a call returns.
  bool OnHost() const { return kind_ != "late"; }
  // As messages name it.
  std::string DeviceName() const { return OnHost() ? kind_ : kind_ + ":0"; }

  // A second context with the same plugins; `ctx` and `device` are its own until they are swapped back.
  struct Another {
    ricci_ctx* ctx = nullptr;
    ricci_device* device = nullptr;
  };
  Another NewContext() {
    Another made;
    Ok(host.CreateContext(&made.ctx));
    Ok(ricci_context_add_plugin(made.ctx, ricci_plugin_query_lax));
    if (!OnHost()) Ok(ricci_context_add_plugin(made.ctx, ricci_plugin_query_late));
    made.device = ricci_device_find(made.ctx, kind_.data(), kind_.size());
    return made;
  }
  void Swap(Another& other) {
    std::swap(other.ctx, ctx);
    std::swap(other.device, device);
  }

  ricci_type Type(uint32_t dtype, std::vector<int64_t> dims) {
    const ricci_type_desc d = ricci_type_desc_of(dtype, static_cast<uint32_t>(dims.size()), dims.data());
    ricci_type t = 0;
    Ok(ricci_type_make(ctx, &d, &t));
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
    return CompileOn(device, f, std::move(donate), flags);
  }
  static ricci_executable* CompileOn(ricci_device* on, const ricci_program* f, std::vector<uint8_t> donate = {},
                                     uint32_t flags = 0) {
    ricci_compile_opts o = ricci_compile_opts_default();
    o.hdr.flags = flags;
    o.devices = &on;
    o.n_devices = 1;
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
  ricci_array* Floats(std::vector<float> values) { return FloatsOn(device, std::move(values)); }
  ricci_array* FloatsOn(ricci_device* on, std::vector<float> values, const ricci_array_opts* options = nullptr) {
    ricci_array* a = nullptr;
    const ricci_type type = Type(RICCI_F32, {static_cast<int64_t>(values.size())});
    Ok(ricci_array_from_host(on, type, values.data(), options, &a));
    return a;
  }
  static std::vector<float> Read(const ricci_array* a) {
    std::vector<float> values(ricci_array_bytes(a) / sizeof(float));
    Ok(ricci_array_copy_to_host(a, values.data(), values.size() * sizeof(float)));
    return values;
  }

  CountingHost host;                  // destroyed last: checks that everything is freed
  std::unique_ptr<LateDevices> late;  // NULL on `ref`
  ricci_ctx* ctx = nullptr;
  ricci_device* device = nullptr;

 private:
  const std::string kind_;
};

}  // namespace ricci::testing
#endif
