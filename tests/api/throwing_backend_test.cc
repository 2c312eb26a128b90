// Exceptions out of the functions of a backend: statuses that name the device, the function and the program, also where
// a bound call goes straight to `run`.
#include <stdexcept>

#include "ricci/backend.h"
#include "support/small_program.h"

namespace ricci::testing { namespace {

enum class Throws { kNothing, kException, kMemory, kOther };
Throws g_throws = Throws::kNothing;  // what `run` does; on one thread

ricci_status* Run(void*, const ricci_run_args* a) {
  if (g_throws == Throws::kException) throw std::runtime_error("the device is on fire");
  if (g_throws == Throws::kMemory) throw std::bad_alloc();
  if (g_throws == Throws::kOther) throw 7;
  std::memcpy(a->outputs[0], a->inputs[0], 16);
  return nullptr;
}

// A backend of the host's memory, whose programs copy their first argument.
ricci_status* AddThrowing(ricci_ctx* ctx) {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = {"throwing", 8};
  b.compile = [](void* self, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
    *code = self;
    return nullptr;
  };
  b.run = Run;
  b.drop_code = [](void*) {};
  return ricci_backend_register(ctx, &b);
}

class ThrowingBackend : public SmallProgram {
 protected:
  ThrowingBackend() : SmallProgram("ref") {
    g_throws = Throws::kNothing;
    EXPECT_TRUE(Ok(AddThrowing(ctx)));
    ricci_program* f = Parse(kAddText);
    x_ = CompileOn(ricci_device_find(ctx, "throwing", 8), f);
    ricci_program_release(f);
    EXPECT_TRUE(Ok(ricci_call_create(x_, &call_)));
    void* const slots[] = {in_, in_, out_};
    for (uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(Ok(ricci_call_bind(call_, i, slots[i], sizeof in_)));
  }
  ~ThrowingBackend() override {
    ricci_call_release(call_);
    ricci_executable_release(x_);
  }

  ricci_executable* x_ = nullptr;
  ricci_call* call_ = nullptr;
  float in_[4] = {1, 2, 3, 4}, out_[4] = {};
};

TEST_F(ThrowingBackend, BoundCalls) {
  g_throws = Throws::kException;
  EXPECT_EQ(ErrorOf(ricci_call_run(call_), RICCI_INTERNAL),
            "backend throwing: run of program plus: threw a C++ exception: the device is on fire");
  g_throws = Throws::kMemory;
  EXPECT_EQ(ErrorOf(ricci_call_run(call_), RICCI_RESOURCE_EXHAUSTED),
            "backend throwing: run of program plus: out of memory");
  g_throws = Throws::kOther;
  EXPECT_EQ(ErrorOf(ricci_call_run(call_), RICCI_INTERNAL),
            "backend throwing: run of program plus: threw something that is not a std::exception");
  g_throws = Throws::kNothing;
  ASSERT_TRUE(Ok(ricci_call_run(call_)));
  EXPECT_EQ(out_[3], 4.0f);
}

TEST_F(ThrowingBackend, Runs) {
  ricci_array *a = FloatsOn(ricci_device_find(ctx, "throwing", 8), {1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[] = {a, a};
  g_throws = Throws::kException;
  EXPECT_EQ(ErrorOf(ricci_executable_run(x_, in, 2, &out, 1, nullptr), RICCI_INTERNAL),
            "backend throwing: run of program plus: threw a C++ exception: the device is on fire");
  EXPECT_EQ(out, nullptr);
  g_throws = Throws::kNothing;
  ASSERT_TRUE(Ok(ricci_executable_run(x_, in, 2, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (std::vector<float>{1, 2, 3, 4}));
  for (ricci_array* i : {a, out}) ricci_array_release(i);
}

}  // namespace
}  // namespace ricci::testing
