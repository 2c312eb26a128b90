// Object files: written here, loaded and run by another process, which must give the same bits.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cpu/source_rows.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

namespace fs = std::filesystem;

struct Example {
  const char* name;
  int elements;  // of the argument
  std::string text;
  bool has_constants = false, calls_library = false;
};

std::vector<Example> Examples() {
  std::string numbers;
  for (int i = 0; i < 500; ++i) numbers += (i == 0 ? "" : ", ") + std::to_string(0.5 * i) + "e-1";
  const std::string table = "%c: f64[500] = constant [" + numbers + "] ";
  return {
      {"constants", 500,
       "program f(%x: f64[500]) { " + table +
           "%d: f64[2] = constant [3.25, -1.5] %r: f64[500] = rev(%c) dimensions=[0] %y: f64[500] = mul(%x, %r)"
           " %z: f64[500] = add(%y, %c) return %z, %d }",
       true},
      {"functions", 500, "program f(%x: f64[500]) { %a: f64[500] = lgamma(%x) %b: f64[500] = sin(%a) return %b }"},
      {"parallel_loops", 1000000,
       "program f(%x: f64[1000,1000]) { %n: i32[] = constant 3 %i: i32[] = constant 0"
       " %j: i32[], %y: f64[1000,1000] = while(%n, %i, %x) cond_nconsts=1 body_nconsts=0"
       " cond=program(%n: i32[], %i: i32[], %a: f64[1000,1000]) { %p: bool[] = lt(%i, %n) return %p }"
       " body=program(%i: i32[], %a: f64[1000,1000]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
       " %t: f64[1000,1000] = transpose(%a) permutation=[1,0] %s: f64[1000,1000] = sin(%t)"
       " %b: f64[1000,1000] = add(%s, %a) return %k, %b }"
       " %m: f64[] = reduce_sum(%y) axes=[0,1] return %y, %m }"},
      {"products", 40000,
       "program f(%x: f64[200,200]) { %y: f64[200,200] = dot_general(%x, %x) lhs_contract=[1] rhs_contract=[0]"
       " %s: f64[200,200] = sin(%y) %z: f64[200,200] = dot_general(%s, %x) lhs_contract=[1] rhs_contract=[1]"
       " return %z }",
       false, true},
      {"sources", 40000,
       "program f(%x: f64[200,200]) { %s: f64[200,200] = sin(%x) %y: f64[200] = test.sum_last(%s)"
       " %z: f64[200] = mul(%y, %y) return %y, %z }"},
  };
}

class WrittenObject : public ::testing::TestWithParam<Example> {
 protected:
  WrittenObject() : folder_(fs::temp_directory_path() / ("ricci_object_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~WrittenObject() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string Path(const char* name) const { return (folder_ / name).string(); }
  void Write(const char* name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string Read(const char* name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_;
};

// In the form in which the other process reads and writes them.
std::string Bytes(const std::vector<Numbers>& arrays) {
  std::string bytes;
  for (const Numbers& a : arrays) bytes.append(reinterpret_cast<const char*>(a.data()), a.size() * sizeof(double));
  return bytes;
}
std::string Sizes(const std::vector<Numbers>& arrays) {
  std::string sizes;
  for (const Numbers& a : arrays) sizes += (sizes.empty() ? "" : ",") + std::to_string(a.size() * sizeof(double));
  return sizes;
}

ricci_executable_stats StatsOf(const Program& f) {
  ricci_executable_stats s{};
  s.hdr.size = sizeof s;
  ricci_executable* x = nullptr;
  Ok(ricci_compile(f.get(), nullptr, &x));
  ricci_executable_info(x, &s);
  ricci_executable_release(x);
  return s;
}

TEST_P(WrittenObject, GivesTheSameBitsInAnotherProcess) {
  const Example& example = GetParam();
  ProgramRunner r;
  Ok(ricci_context_add_plugin(r.ctx(), query_source_row_in_c));
  const Program f = r.Parse(example.text);
  ASSERT_NE(f, nullptr);
  std::vector<Numbers> in(1);
  for (int i = 0; i < example.elements; ++i) in[0].push_back(0.25 + 1.5 * ((i * 37) % 101) / 101);
  const std::vector<Numbers> want = r.Run(f, in, "cpu");
  const ricci_executable_stats stats = StatsOf(f);
  EXPECT_EQ(stats.constant_bytes > 64, example.has_constants);
  EXPECT_EQ(stats.library_calls > 0, example.calls_library);
  Write("object", r.Dump(f, "object", "cpu"));
  Write("program", example.text);
  Write("inputs", Bytes(in));
  const std::string command = std::string(RICCI_OBJECT_HOST " ") + Path("object") + " " +
                              std::to_string(stats.arena_bytes + stats.scratch_bytes + 128) + " " + Sizes(in) + " " +
                              Sizes(want) + (example.calls_library ? " " + Path("program") : "") + " < " +
                              Path("inputs") + " > " + Path("outputs");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_TRUE(Read("outputs") == Bytes(want));
}

TEST(Assembly, IsTheCodeThatRuns) {
  ProgramRunner r;
  const std::string text =
      r.Dump(r.Parse("program f(%x: f32[64]) {\n  %y: f32[64] = sqrt(%x)\n  return %y\n}"), "assembly", "cpu");
  EXPECT_NE(text.find("ricci_entry:"), std::string::npos) << text;
  EXPECT_NE(text.find("sqrtps"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(All, WrittenObject, ::testing::ValuesIn(Examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ricci::testing
