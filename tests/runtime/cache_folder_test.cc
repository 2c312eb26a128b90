// Folders of compiled code as people see them: what is listed, what counts as damaged, and that nothing else is
// deleted.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "support/cached_host.h"

namespace ricci::testing { namespace {

struct Listed {
  std::string file;
  uint32_t kind, damaged;
  uint64_t bytes;
};

class Folder : public ::testing::Test {
 protected:
  Folder() { SetOption(runner_.ctx(), "cache_dir", folder_.path()); }
  void Store(std::string_view key, std::string_view code) {
    ricci_cache_store(runner_.ctx(), key.data(), key.size(), code.data(), code.size());
  }
  std::vector<Listed> List() {
    std::vector<Listed> out;
    const auto add = [](void* sink, const ricci_cache_entry* e) {
      static_cast<std::vector<Listed>*>(sink)->push_back(
          {std::string(e->file.ptr, e->file.len), e->kind, e->damaged, e->bytes});
    };
    EXPECT_TRUE(Ok(ricci_cache_list(path().data(), path().size(), &out, add)));
    return out;
  }
  const std::string& path() const { return folder_.path(); }
  // A file of ours that is not an entry.
  std::string Part() const { return path() + "/" + std::string(64, 'a') + ".1-1-1.part"; }

  const TemporaryFolder folder_;
  ProgramRunner runner_;
};

TEST_F(Folder, ListsEntriesUsedLastFirst) {
  Store("a", "code of a");
  const std::string first = List().at(0).file;
  std::filesystem::last_write_time(path() + "/" + first,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  Store("b", "code of b!");
  SetBytesOfFile(path() + "/notes.txt", "not ours");
  SetBytesOfFile(Part(), "unfinished");
  const std::vector<Listed> entries = List();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].file, first);
  EXPECT_EQ(entries[0].bytes, 64u + 10);
  for (const Listed& e : entries) EXPECT_EQ(e.kind, static_cast<uint32_t>(RICCI_CACHE_OF_CODE));
}

TEST_F(Folder, ReportsDamage) {
  Store("a", "code of a");
  const std::string file = path() + "/" + List().at(0).file, whole = BytesOfFile(file);
  std::string other = whole;
  other.back() ^= 1;
  for (const std::string& bytes : {other, whole.substr(0, 70), std::string(), whole + "x"}) {
    SetBytesOfFile(file, bytes);
    EXPECT_EQ(List().at(0).damaged, 1u);
  }
  SetBytesOfFile(file, whole);
  EXPECT_EQ(List().at(0).damaged, 0u);
  const std::string moved = path() + "/" + std::string(64, 'b') + ".code";
  std::filesystem::rename(file, moved);
  EXPECT_EQ(List().at(0).damaged, 1u) << "an entry under the name of another key";
}

TEST_F(Folder, ClearDeletesWhatIsOurs) {
  Store("a", "code of a");
  Store("b", "code of b");
  SetBytesOfFile(path() + "/notes.txt", "not ours");
  SetBytesOfFile(path() + "/" + std::string(63, 'a') + ".code", "a name that is too short");
  SetBytesOfFile(Part(), "unfinished");
  std::filesystem::create_directory(path() + "/" + std::string(64, 'c') + ".code");
  uint64_t files = 0, bytes = 0;
  EXPECT_TRUE(Ok(ricci_cache_clear(path().data(), path().size(), &files, &bytes)));
  EXPECT_EQ(files, 3u);
  EXPECT_EQ(bytes, 2 * (64u + 9) + 10);
  EXPECT_TRUE(List().empty());
  EXPECT_EQ(folder_.Files().size(), 3u);
}

// As somebody who may read the folder but not write to it, which the superuser is only in another's name.
TEST_F(Folder, ClearReportsWhatCannotBeDeleted) {
  Store("a", "code of a");
  const std::string name = List().at(0).file;
  ASSERT_EQ(::chmod(path().c_str(), 0555), 0);
  const bool is_superuser = ::geteuid() == 0;
  if (is_superuser) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string message = Message(ricci_cache_clear(path().data(), path().size(), nullptr, nullptr));
  if (is_superuser) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
  EXPECT_EQ(message, "cache: " + path() + "/" + name + ": cannot be deleted: Permission denied");
  EXPECT_EQ(List().size(), 1u);
}

TEST_F(Folder, Wrong) {
  EXPECT_EQ(Message(ricci_cache_list("/nowhere", 8, nullptr, [](void*, const ricci_cache_entry*) {})),
            "cache: /nowhere is not a folder; the option `cache_dir` makes it when the first program is kept");
  EXPECT_EQ(Message(ricci_cache_clear("/nowhere", 8, nullptr, nullptr)),
            "cache: /nowhere is not a folder; the option `cache_dir` makes it when the first program is kept");
  EXPECT_EQ(Message(ricci_cache_list(nullptr, 0, nullptr, [](void*, const ricci_cache_entry*) {})),
            "ricci_cache_list: folder is NULL");
  EXPECT_EQ(Message(ricci_cache_list("/", 1, nullptr, nullptr)), "ricci_cache_list: entry is NULL");
}

}}  // namespace ricci::testing
