// Binary programs: reading gives the program that was written, the bytes depend on nothing else, and every wrong byte
// is a status.
#include "file/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "file/container.h"
#include "file/disk.h"
#include "ir/print.h"
#include "ir/program_fixture.h"
#include "ir/structural.h"
#include "ir/verify.h"

namespace ricci { inline namespace v0 { namespace testing { namespace {

// Every kind of attribute, constants of all sizes, nested programs that are equal and that differ.
constexpr char kEverything[] = R"(
program "loss of f"(%x: f32[2,3], %n: i32[]) {
  %c: f32[2,3] = constant [1.0, 2.0, 3.0, 4.0, 5.0, -0.0]
  %s: f32[2,3] = constant nan
  %k: c128[] = constant (1.5, -2.5)
  %d: f64[20] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0]
  %e: f64[0] = constant []
  %a: f32[2,3] = mix(%x, %c, %s) n=-3 eps=1e-05 flag=true new_dtype=bf16 mode="a\"\n" axes=[0,1] weights=[1.0,-inf]
  %p: f32[2,3], %q: f32[2,3] = mix-two.parts(%a)
  note() text=""
  %b: f32[2,3] = mix(%p, %d, %k, %e) body=program(%x: i64[2]) {
    %y: i64[2] = mix(%x) branches=[program() { return }, program g() { %c: bool[] = constant true return %c, %c }]
    return %y
  } branches=[program() { return }]
  return %b, %x, %c, %q
}
)";

class ProgramFileTest : public ProgramTest {
 protected:
  absl::StatusOr<ir::ProgramRef> Read(std::string_view bytes) { return file::ReadProgram(registry(), bytes, "f"); }
  absl::Status ErrorOfBytes(std::string_view bytes) { return Read(bytes).status(); }
  // With the checksums of header and section made to fit what is at `at`.
  static std::string Changed(const std::string& bytes, size_t at, char to) {
    file::Sections sections = *file::ReadContainer(bytes, "f");
    std::string changed;
    for (std::string_view& s : sections) {
      const auto from = static_cast<size_t>(s.data() - bytes.data());
      if (at < from || at >= from + s.size()) continue;
      changed = s;
      changed[at - from] = to;
      s = changed;
    }
    return changed.empty() ? "" : file::WriteContainer(sections);
  }
};

TEST_F(ProgramFileTest, ReadsWhatWasWritten) {
  const ir::ProgramRef p = Parse(kEverything);
  const std::string bytes = file::WriteProgram(*p);
  const auto read = Read(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(ir::Verify(**read).ok());
  EXPECT_TRUE(ir::EqualWithLocations(*p, **read));
  EXPECT_EQ(ir::Print(**read, {.locations = true}), ir::Print(*p, {.locations = true}));
  EXPECT_EQ(ir::Hash(**read), ir::Hash(*p));
  EXPECT_EQ(file::WriteProgram(**read), bytes);
  EXPECT_EQ((*read)->depth, p->depth);
}

TEST_F(ProgramFileTest, EqualTextGivesEqualBytes) {
  // Sharing in memory, and what the context knew before, do not count.
  const std::string bytes = file::WriteProgram(*Parse(kEverything));
  Parse("program(%x: u8[7], %y: c64[7,1]) { return %x }");
  EXPECT_EQ(file::WriteProgram(*Parse(kEverything)), bytes);
  const std::string g = file::WriteProgram(*Parse("program g(%x: f32[]) { %y: f32[] = mix(%x) return %y }"));
  EXPECT_NE(file::WriteProgram(*Parse("program h(%x: f32[]) { %y: f32[] = mix(%x) return %y }")), g);
}

TEST_F(ProgramFileTest, ConstantsAreThereOnceAndAligned) {
  std::string elements = "[170", body;
  for (int i = 1; i < 4096; ++i) elements += ",170";
  for (int i = 0; i < 9; ++i) body += "%" + std::to_string(i) + ": u8[4096] = constant " + elements + "] ";
  const ir::ProgramRef p = Parse("program() { " + body + "return %0, %8 }");
  ASSERT_TRUE(p);
  const std::string bytes = file::WriteProgram(*p);
  EXPECT_LT(bytes.size(), 2 * 4096);
  EXPECT_EQ(bytes.find(std::string(4096, '\xaa')) % file::kAlignment, 0);
}

TEST_F(ProgramFileTest, ManyLevelsAreReadWithoutRecursion) {
  ir::ProgramRef p = Parse("program() { return }");
  std::string text = "program() { return }";
  for (int i = 0; i < 200; ++i) text = "program(%x: i8[]) { %y: i8[] = mix(%x) body=" + text + " return %y }";
  p = Parse(text);
  const auto read = Read(file::WriteProgram(*p));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(ir::Equal(*p, **read));
}

TEST_F(ProgramFileTest, MissingPrimitivesAreNamed) {
  const std::string bytes = file::WriteProgram(*Parse(kEverything));
  const auto other = base::Ref<Owner>::Adopt(new Owner);
  const absl::Status s = file::ReadProgram(other->registry, bytes, "f.bin").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(s.message(), "f.bin: no such primitive: mix, mix-two.parts, note; add the plugin that provides them");
}

TEST_F(ProgramFileTest, OtherVersionsAreNamed) {
  std::string bytes = file::WriteProgram(*Parse("program() { return }"));
  bytes[8] = 7;
  EXPECT_EQ(
      ErrorOfBytes(bytes).message(),
      "f: has format 7 of ricci 0.1.0, this is format 1 of ricci 0.1.0; before version 1.0 they must be the same, "
      "so write it again");
  bytes[8] = 1;
  bytes[18] = '9';
  EXPECT_EQ(
      ErrorOfBytes(bytes).message(),
      "f: has format 1 of ricci 0.9.0, this is format 1 of ricci 0.1.0; before version 1.0 they must be the same, "
      "so write it again");
  EXPECT_EQ(ErrorOfBytes(bytes).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ProgramFileTest, WrongFilesAreRefused) {
  EXPECT_EQ(ErrorOfBytes("").message(), "f: not a binary program of ricci; ricci_program_parse reads text");
  EXPECT_EQ(ErrorOfBytes("program() { return }").message(),
            "f: not a binary program of ricci; ricci_program_parse reads text");
  const std::string bytes = file::WriteProgram(*Parse(kEverything));
  EXPECT_EQ(ErrorOfBytes(bytes.substr(0, 20)).message(), "f: the file is damaged: it ends within its header");
  EXPECT_EQ(ErrorOfBytes(bytes + '\0').message(), absl::StrCat("f: the file is damaged: it has ", bytes.size() + 1,
                                                               " bytes, its header says ", bytes.size()));
  for (size_t n = 8; n < bytes.size(); ++n) EXPECT_FALSE(ErrorOfBytes(bytes.substr(0, n)).ok()) << n;
}

// A byte that changes is found by a checksum; with checksums that fit, it is a status or another valid program.
TEST_F(ProgramFileTest, EveryByteMayBeWrong) {
  const std::string bytes = file::WriteProgram(*Parse(kEverything));
  std::mt19937 random(1);
  int valid = 0, refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] + 1 + random() % 255);
    const auto plain = Read(damaged);
    // What is between the sections is not read.
    EXPECT_TRUE(!plain.ok() || ir::Equal(**plain, *Parse(kEverything))) << at;
    for (const char to : {damaged[at], '\0', '\xff', '\x7f', static_cast<char>(random())}) {
      const std::string changed = Changed(bytes, at, to);
      if (changed.empty()) break;
      const auto read = Read(changed);
      read.ok() ? ++valid : ++refused;
      EXPECT_TRUE(!read.ok() || ir::Verify(**read).ok()) << at;
    }
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(refused, 1000);
}

TEST_F(ProgramFileTest, FilesOnDisk) {
  const std::string path = ::testing::TempDir() + "ricci_program_file_test." + std::to_string(::getpid());
  ASSERT_TRUE(file::WriteFile(path, "a text").ok());
  ASSERT_TRUE(file::WriteFile(path, std::string(100000, 'x')).ok());
  const auto read = file::FileBytes::Read(registry().vocabulary().memory, path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bytes(), std::string(100000, 'x'));
  ::unlink(path.c_str());
  const absl::Status missing = file::FileBytes::Read(registry().vocabulary().memory, path).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), path + ": cannot be read: No such file or directory");
  EXPECT_EQ(file::WriteFile("/nonexistent/f", "").message(),
            "/nonexistent/f: cannot be written: No such file or directory");
  EXPECT_EQ(file::FileBytes::Read(registry().vocabulary().memory, "/").status().message(),
            "/: cannot be read: Is a directory");
}

// A path that is not a regular file keeps its kind: a link leads to the new file, a pipe and a device get the bytes.
TEST_F(ProgramFileTest, LinksPipesAndDevices) {
  const std::string path = ::testing::TempDir() + "ricci_special_file_test." + std::to_string(::getpid());
  const std::string link = path + ".link", pipe = path + ".pipe";
  const base::HostMemory* memory = registry().vocabulary().memory;
  ASSERT_TRUE(file::WriteFile(path, "old").ok());
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(file::WriteFile(link, "new").ok());
  EXPECT_EQ(file::FileBytes::Read(memory, path)->bytes(), "new");
  struct stat about {};
  ASSERT_EQ(::lstat(link.c_str(), &about), 0);
  EXPECT_TRUE(S_ISLNK(about.st_mode));

  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(file::WriteFile(pipe, "through").ok());
  char bytes[16];
  ASSERT_EQ(::read(reader, bytes, sizeof bytes), 7);
  EXPECT_EQ(std::string_view(bytes, 7), "through");
  ::close(reader);
  ASSERT_EQ(::lstat(pipe.c_str(), &about), 0);
  EXPECT_TRUE(S_ISFIFO(about.st_mode));
  EXPECT_EQ(file::FileBytes::Read(memory, pipe).status().message(), pipe + ": cannot be read: not a regular file");
  EXPECT_TRUE(file::WriteFile("/dev/null", "nowhere").ok());
  ASSERT_EQ(::stat("/dev/null", &about), 0);
  EXPECT_TRUE(S_ISCHR(about.st_mode));
  for (const std::string& p : {path, link, pipe}) ::unlink(p.c_str());
}

// ---- files that are mapped ----

// A program whose constant makes its file a large one.
std::string LargeText() {
  std::string elements = "[1.0";
  for (size_t i = 1; i < file::FileBytes::kLarge / sizeof(double); ++i) elements += ",2.5";
  const std::string type = "f64[" + std::to_string(file::FileBytes::kLarge / sizeof(double)) + "]";
  return "program f(%x: f32[]) { %c: " + type + " = constant " + elements + "] return %x, %c }";
}

class MappedFileTest : public ProgramFileTest {
 protected:
  MappedFileTest() : path_(::testing::TempDir() + "ricci_mapped_file_test." + std::to_string(::getpid())) {}
  ~MappedFileTest() override { ::unlink(path_.c_str()); }

  std::shared_ptr<const file::FileBytes> Map() {
    auto bytes = file::FileBytes::ReadOrMap(registry().vocabulary().memory, path_);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return std::make_shared<const file::FileBytes>(*std::move(bytes));
  }
  static bool LiesIn(const ir::Program& p, std::string_view bytes) {
    const auto* at = reinterpret_cast<const char*>(p.constants[0].data->bytes.data());
    return at >= bytes.data() && at < bytes.data() + bytes.size();
  }
  const std::string path_;
};

TEST_F(MappedFileTest, ConstantsOfLargeFilesAreUsedInPlace) {
  const ir::ProgramRef p = Parse(LargeText());
  ASSERT_TRUE(file::WriteFile(path_, file::WriteProgram(*p)).ok());
  ir::ProgramRef read;
  std::weak_ptr<const file::FileBytes> map;
  {
    const auto bytes = Map();
    map = bytes;
    EXPECT_TRUE(bytes->mapped());
    read = *file::ReadProgram(registry(), bytes->bytes(), "f", bytes);
    EXPECT_TRUE(LiesIn(*read, bytes->bytes()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read->constants[0].data->bytes.data()) % file::kAlignment, 0u);
  }
  // Another file in its place, and none at all, leave the constants as they are.
  ASSERT_TRUE(file::WriteFile(path_, "a text").ok());
  EXPECT_TRUE(ir::EqualWithLocations(*p, *read));
  ::unlink(path_.c_str());
  EXPECT_EQ(ir::Hash(*read), ir::Hash(*p));
  EXPECT_FALSE(map.expired());
  read = {};
  EXPECT_TRUE(map.expired()) << "the last constant gives up the file";
}

TEST_F(MappedFileTest, SmallFilesAreRead) {
  ASSERT_TRUE(file::WriteFile(path_, std::string(file::FileBytes::kLarge - 1, 'x')).ok());
  EXPECT_FALSE(Map()->mapped());
  ASSERT_TRUE(file::WriteFile(path_, std::string(file::FileBytes::kLarge, 'x')).ok());
  EXPECT_TRUE(Map()->mapped());
  EXPECT_EQ(Map()->bytes(), std::string(file::FileBytes::kLarge, 'x'));
}

TEST_F(MappedFileTest, DamageIsFoundInMappedFiles) {
  std::string bytes = file::WriteProgram(*Parse(LargeText()));
  bytes.back() ^= 1;
  ASSERT_TRUE(file::WriteFile(path_, bytes).ok());
  const auto map = Map();
  EXPECT_EQ(file::ReadProgram(registry(), map->bytes(), "f", map).status().message(),
            "f: the file is damaged: section constants does not have its checksum");
}

// Bytes that lie elsewhere than at a multiple of 64, as other writers may place them.
TEST_F(MappedFileTest, ConstantsThatAreNotAlignedAreCopied) {
  const ir::ProgramRef p = Parse(LargeText());
  const std::string bytes = file::WriteProgram(*p);
  const auto memory = std::make_shared<std::vector<char>>(bytes.size() + 2 * file::kAlignment);
  size_t shift = 1;
  while (reinterpret_cast<uintptr_t>(memory->data() + shift) % file::kAlignment != 8) ++shift;
  std::copy(bytes.begin(), bytes.end(), memory->begin() + static_cast<ptrdiff_t>(shift));
  const std::string_view moved(memory->data() + shift, bytes.size());
  const auto read = file::ReadProgram(registry(), moved, "f", memory);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(LiesIn(**read, moved));
  EXPECT_TRUE(ir::EqualWithLocations(*p, **read));
}

}}}}  // namespace ricci::v0::testing::(anonymous)
