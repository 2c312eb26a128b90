#include "cli/new_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// What is not a regular file (/dev/null, a pipe) is written directly: a rename would replace it.
bool IsSpecial(const std::string& target) {
  struct stat found {};
  return ::stat(target.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

// Removes what it holds, unless that has been put into its place.
struct Temporary {
  std::string path;
  Temporary(const std::string& target, const std::string& bytes) : path(target + ".new" + std::to_string(::getpid())) {
    try {
      WriteAll(path, bytes);
    } catch (const Failure&) {
      const int error = errno;
      std::remove(path.c_str());
      throw Failure(target + ": cannot be written" + Reason(error));
    }
  }
  Temporary(Temporary&& other) noexcept : path(std::exchange(other.path, "")) {}
  ~Temporary() {
    if (!path.empty()) std::remove(path.c_str());
  }
  void MoveTo(const std::string& target) {
    if (std::rename(path.c_str(), target.c_str()) != 0) throw Failure(target + ": cannot be written" + Reason(errno));
    path.clear();
  }
};

std::string Column(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

// The header of a member: name, no time, owner or group, so that equal programs give equal files.
std::string MemberHeader(const std::string& name, size_t bytes) {
  return Column(name, 16) + Column("0", 12) + Column("0", 6) + Column("0", 6) + Column("100644", 8) +
         Column(std::to_string(bytes), 10) + "`\n";
}

std::string BigEndian(size_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::string Even(std::string bytes) {
  if (bytes.size() % 2 != 0) bytes += '\n';
  return bytes;
}

}  // namespace

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat of_a {};
  struct stat of_b {};
  if (a == b) return true;
  if (::stat(a.c_str(), &of_a) != 0 || ::stat(b.c_str(), &of_b) != 0) return false;
  return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

void WriteTogether(const std::vector<NewFile>& files) {
  std::vector<std::optional<Temporary>> written(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (!IsSpecial(files[i].path)) written[i].emplace(files[i].path, files[i].bytes);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    written[i] ? written[i]->MoveTo(files[i].path) : WriteAll(files[i].path, files[i].bytes);
  }
}

// The index lists, for each symbol, where its member begins; then come all names.
std::string Archive(const std::vector<Member>& members) {
  constexpr size_t kHeader = 60;
  std::string names, bodies;
  size_t symbols = 0;
  for (const Member& m : members) {
    for (const std::string& s : m.symbols) names += s + '\0', ++symbols;
  }
  const size_t index_bytes = 4 + 4 * symbols + names.size();
  size_t at = 8 + kHeader + (index_bytes + 1) / 2 * 2;
  std::string index = BigEndian(symbols);
  for (const Member& m : members) {
    for (size_t i = 0; i < m.symbols.size(); ++i) index += BigEndian(at);
    const std::string body = MemberHeader(m.name + "/", m.bytes.size()) + Even(m.bytes);
    at += body.size();
    bodies += body;
  }
  return "!<arch>\n" + MemberHeader("/", index_bytes) + Even(index + names) + bodies;
}

}}}  // namespace ricci::v0::cli
