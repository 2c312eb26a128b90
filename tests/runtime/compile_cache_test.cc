// The compile cache, its bound and memory, and the dump of all stages.
#include <filesystem>
#include <fstream>

#include "support/small_program.h"

namespace ricci::testing { namespace {

class CompileCacheTest : public SmallProgram {
 protected:
  bool CompileSize(int n) {
    const std::string type = "f32[" + std::to_string(n) + "]";
    ricci_executable* x = CompileText("program f(%x: " + type + ") {\n %y: " + type + " = neg(%x)\n return %y\n}");
    ricci_executable_stats s{};
    s.hdr.size = sizeof s;
    ricci_executable_info(x, &s);
    ricci_executable_release(x);
    return s.cache_hit != 0;
  }
};

TEST_F(CompileCacheTest, TheLongestUnusedGoesFirst) {
  EXPECT_FALSE(CompileSize(1));
  EXPECT_FALSE(CompileSize(2));
  for (int n = 3; n <= 128; ++n) ASSERT_FALSE(CompileSize(n));
  EXPECT_TRUE(CompileSize(1)) << "128 programs are kept";
  EXPECT_FALSE(CompileSize(129));
  EXPECT_TRUE(CompileSize(1)) << "used lately";
  EXPECT_FALSE(CompileSize(2)) << "the longest unused";
}

// The same program from another line has the same code, unless the error of a run would name the line.
TEST_F(CompileCacheTest, ChecksNameTheLineOfTheirOwnProgram) {
  const auto text = [](std::string_view lines, std::string_view name, std::string_view body) {
    return std::string(lines) + "program " + std::string(name) + "(%x: f32[1]) {\n" + std::string(body) +
           "\n  return %y\n}";
  };
  constexpr std::string_view kPlain = "  %y: f32[1] = neg(%x)";
  constexpr std::string_view kChecked =
      "  %no: bool[] = constant false\n  %y: f32[1] = check(%no, %x) code=9 message=\"never\"";
  const auto run = [&](const std::string& program) -> std::pair<bool, std::string> {
    ricci_executable* x = CompileText(program);
    ricci_executable_stats s{};
    s.hdr.size = sizeof s;
    ricci_executable_info(x, &s);
    ricci_array *a = Floats({1}), *out = nullptr;
    ricci_status* failed = ricci_executable_run(x, &a, 1, &out, 1, nullptr);
    const std::string message = failed == nullptr ? "" : Message(failed);
    ricci_array_release(out);
    ricci_array_release(a);
    ricci_executable_release(x);
    return {s.cache_hit != 0, message};
  };
  EXPECT_FALSE(run(text("", "plain", kPlain)).first);
  EXPECT_TRUE(run(text("\n\n", "plain", kPlain)).first);
  EXPECT_EQ(run(text("", "checked", kChecked)), std::pair(false, std::string("t:3: check: never")));
  EXPECT_EQ(run(text("\n\n", "checked", kChecked)), std::pair(false, std::string("t:5: check: never")));
  EXPECT_EQ(run(text("", "checked", kChecked)), std::pair(true, std::string("t:3: check: never")));
  EXPECT_EQ(run(text("\n\n", "checked", kChecked)), std::pair(true, std::string("t:5: check: never")));
  // A run in a loop may be ended by the host.
  constexpr std::string_view kLoop =
      "  %y: f32[1] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%i: f32[1]) { %s: f32[] = reduce_sum(%i)"
      " axes=[0] %n: f32[] = constant -1.0 %b: bool[] = lt(%s, %n) return %b } body=program(%i: f32[1]) { %j: f32[1] = "
      "neg(%i) return %j }";
  for (const bool again : {false, true}) {
    EXPECT_EQ(run(text("", "loop", kLoop)).first, again);
    EXPECT_EQ(run(text("\n\n", "loop", kLoop)).first, again);
  }
}

TEST_F(CompileCacheTest, WorkingMemoryGoesWithTheLastExecutable) {
  ricci_executable* x = CompileText(
      "program f(%x: f32[100000]) {\n %y: f32[100000] = sort(%x) dimension=0 is_stable=true num_keys=1\n"
      " %z: f32[100000] = neg(%y)\n return %z\n}");
  if (x == nullptr) return;
  ricci_array* a = Floats(std::vector<float>(100000, 1.0f));
  ricci_array* out = nullptr;
  const int64_t before = host.bytes;
  ASSERT_TRUE(Ok(ricci_executable_run(x, &a, 1, &out, 1, nullptr)));
  ricci_array_release(out);
  EXPECT_GT(host.bytes, before) << "the frame is kept for the next run";
  ricci_executable_release(x);
  EXPECT_LE(host.bytes, before);
  ricci_array_release(a);
}

TEST_F(CompileCacheTest, DumpDirHoldsEveryStage) {
  const std::string dir = ::testing::TempDir() + "ricci_dump_test";
  std::filesystem::remove_all(dir);
  ASSERT_TRUE(Ok(ricci_context_config(ctx, "dump_dir", 8, dir.data(), dir.size())));
  ricci_executable_release(CompileText(kAddText));
  std::vector<std::string> files;
  for (const auto& e : std::filesystem::recursive_directory_iterator(dir)) {
    if (e.is_regular_file()) files.push_back(e.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 4u);
  EXPECT_EQ(files[0], "00-program.txt");
  EXPECT_EQ(files.back().substr(2), "-plan.txt");
  std::filesystem::remove_all(dir);
}

TEST_F(CompileCacheTest, DumpDirThatCannotBeIsAnError) {
  const std::string dir = ::testing::TempDir() + "ricci_dump_file";
  std::ofstream(dir) << "a file";
  ASSERT_TRUE(Ok(ricci_context_config(ctx, "dump_dir", 8, dir.data(), dir.size())));
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = nullptr;
  const std::string message = ErrorOf(ricci_compile(f, nullptr, &x), RICCI_FAILED_PRECONDITION);
  EXPECT_EQ(message.substr(0, 10 + dir.size()), "dump_dir: " + dir);
  EXPECT_TRUE(message.ends_with(": cannot be made: Not a directory")) << message;
  ricci_program_release(f);
  std::filesystem::remove(dir);
}

}  // namespace
}  // namespace ricci::testing
