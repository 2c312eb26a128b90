// Files that are refused before any of their code runs: not ELF, truncated, of another machine, version or build.
#include <elf.h>

#include <cstring>
#include <random>

#include "ricci/plugin.h"
#include "support/small_program.h"

namespace ricci::testing { namespace {

constexpr uint64_t kNotesAt = 512;

// A shared object that consists of headers: a segment with a note of another kind and then ours.
struct Object {
  Elf64_Ehdr header{};
  Elf64_Phdr segments[2] = {};
  struct {
    Elf64_Nhdr head{4, 8, 3};
    char name[4] = {'G', 'N', 'U', 0};
    char data[8] = {};
  } other;
  ricci_plugin_note note{6, 16, 1, "Ricci", RICCI_ABI_MAJOR, RICCI_ABI_MINOR, sizeof(void*), 0};

  Object() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    segments[0].p_type = PT_LOAD;
    segments[0].p_filesz = 1024;
    segments[1].p_type = PT_NOTE;
    segments[1].p_offset = kNotesAt;
    segments[1].p_filesz = sizeof other + sizeof note;
    segments[1].p_align = 4;
  }
  std::string Bytes() const {
    std::string bytes(1024, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, segments, sizeof segments);
    std::memcpy(bytes.data() + kNotesAt, &other, sizeof other);
    std::memcpy(bytes.data() + kNotesAt + sizeof other, &note, sizeof note);
    return bytes;
  }
};

class PluginFile : public SmallProgram {
 protected:
  const std::string path = ::testing::TempDir() + "ricci_plugin_file_test.so";
  ~PluginFile() override { std::remove(path.c_str()); }

  // The message for a file with these bytes, without the path.
  std::string Refused(const std::string& bytes, uint32_t code = RICCI_INVALID_ARGUMENT) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    const std::string message = ErrorOf(ricci_context_load_plugin(ctx, path.data(), path.size()), code);
    const std::string start = "plugin " + path + ": ";
    EXPECT_EQ(message.substr(0, start.size()), start);
    return message.substr(std::min(start.size(), message.size()));
  }
  std::string Refused(const Object& o, uint32_t code = RICCI_INVALID_ARGUMENT) { return Refused(o.Bytes(), code); }
};

TEST_F(PluginFile, NoElf) {
  EXPECT_EQ(Refused(std::string()), "is not an ELF file");
  EXPECT_EQ(Refused(std::string("\x7f"
                                "EL")),
            "is not an ELF file");
  EXPECT_EQ(Refused(std::string("this is not an object file\n")), "is not an ELF file");
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, folder.data(), folder.size())),
            "plugin " + folder + ": is not a file");
}

TEST_F(PluginFile, CutOff) {
  const std::string whole = Object().Bytes();
  EXPECT_EQ(Refused(whole.substr(0, 10)), "is truncated: it has 10 bytes of at least 64");
  EXPECT_EQ(Refused(whole.substr(0, 70)), "is truncated: it has 70 bytes of at least 120");
  EXPECT_EQ(Refused(whole.substr(0, 1000)), "is truncated: it has 1000 bytes of at least 1024");
}

TEST_F(PluginFile, OfAnotherMachine) {
  Object o;
  o.header.e_machine = EM_AARCH64;
  EXPECT_EQ(Refused(o, RICCI_FAILED_PRECONDITION), "is for ELF class 2, byte order 1, machine 183, not 2, 1, 62");
  o = {};
  o.header.e_ident[EI_CLASS] = ELFCLASS32;
  o.header.e_machine = EM_386;
  EXPECT_EQ(Refused(o, RICCI_FAILED_PRECONDITION), "is for ELF class 1, byte order 1, machine 3, not 2, 1, 62");
  o = {};
  o.header.e_type = ET_EXEC;
  EXPECT_EQ(Refused(o), "is not a shared object");
  o = {};
  o.header.e_phentsize = 1;
  EXPECT_EQ(Refused(o), "has program headers of 1 byte, not 56");
}

TEST_F(PluginFile, NoteThatDoesNotFit) {
  Object o;
  o.note.abi_major = 7;
  o.note.abi_minor = 3;
  EXPECT_EQ(Refused(o, RICCI_FAILED_PRECONDITION), "compiled against ABI 7.3, this core has " +
                                                       std::to_string(RICCI_ABI_MAJOR) + "." +
                                                       std::to_string(RICCI_ABI_MINOR) + "; rebuild it");
  o = {};
  o.note.pointer_bytes = 4;
  EXPECT_EQ(Refused(o, RICCI_FAILED_PRECONDITION), "has pointers of 4 bytes, this core of 8");
  o = {};
  o.note.sanitizers = RICCI_SANITIZERS == 2 ? 1 : 2;
  EXPECT_EQ(Refused(o, RICCI_FAILED_PRECONDITION), RICCI_SANITIZERS == 2
                                                       ? "is built with the address sanitizer, this core is not"
                                                       : "is built with the thread sanitizer, this core is not");
}

TEST_F(PluginFile, NoNote) {
  constexpr char kMessage[] = "has no note of its ABI; build it with ricci/plugin.h and RICCI_PLUGIN_DSO defined";
  Object o;
  o.note.name[0] = 'r';
  EXPECT_EQ(Refused(o), kMessage);
  o = {};
  o.header.e_phnum = 1;
  EXPECT_EQ(Refused(o), kMessage);
  o = {};
  o.segments[1].p_filesz -= 1;
  EXPECT_EQ(Refused(o), kMessage);
}

// If the note fits, the loader decides, and refuses a file without a dynamic section.
TEST_F(PluginFile, HeadersAlone) { EXPECT_NE(Refused(Object(), RICCI_NOT_FOUND), ""); }

// Headers with bytes changed at random: each gives a status, whatever is read.
TEST_F(PluginFile, RandomDamage) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    Object o;
    o.note.abi_major = RICCI_ABI_MAJOR + 1;  // so that the loader is never called
    std::string bytes = o.Bytes();
    for (int n = 0; n < 3; ++n) {
      const size_t at = random() % (n == 0 ? 176 : 48) + (n == 0 ? 0 : kNotesAt);
      bytes[at] = static_cast<char>(random());
    }
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    ricci_status* s = ricci_context_load_plugin(ctx, path.data(), path.size());
    ASSERT_NE(s, nullptr);
    ricci_status_free(s);
  }
}

}  // namespace
}  // namespace ricci::testing
