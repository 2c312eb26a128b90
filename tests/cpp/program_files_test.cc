// Program::save and load: what a host keeps of a traced function runs again in a context of its own.
#include <unistd.h>

#include "binding_fixture.h"

namespace ricci::testing { namespace {

class ProgramFiles : public BindingTest {
 protected:
  static Program Sines(const Context& c) {
    return Program::parse(c, "program f(%x: f32[3]) { %y: f32[3] = sin(%x) return %y }");
  }
};

TEST_F(ProgramFiles, SavedAndLoadedElsewhere) {
  const std::string path = ::testing::TempDir() + "ricci_program_files_test." + std::to_string(::getpid());
  Sines(ctx).save(path);
  const Context other;
  const Program loaded = Program::load(other, path);
  ::unlink(path.c_str());
  EXPECT_EQ(loaded.text(), Sines(ctx).text());
  EXPECT_EQ(loaded.serialize(), Sines(ctx).serialize());
}

TEST_F(ProgramFiles, BytesAreEnough) {
  const Program p = Program::deserialize(ctx, Sines(ctx).serialize());
  const Array x = Vec({0, 1, 2});
  ricci_array *in = x.handle(), *out = nullptr;
  Executable::compile(p).run({&in, 1}, {&out, 1});
  EXPECT_FLOAT_EQ(Array(ctx.handle(), out).to_vector<float>()[1], std::sin(1.0f));
}

TEST_F(ProgramFiles, ErrorsNameTheFile) {
  EXPECT_NE(MessageOf([&] {
              Program::load(ctx, "/nonexistent/f.bin");
            }).find("/nonexistent/f.bin: cannot be read: No such file or directory"),
            std::string::npos);
}

}  // namespace
}  // namespace ricci::testing
