// Files that appear whole or not at all, and static libraries.
#ifndef RICCI_CLI_NEW_FILES_H_
#define RICCI_CLI_NEW_FILES_H_
#include <string>
#include <utility>
#include <vector>

namespace ricci { inline namespace v0 { namespace cli {

struct NewFile {
  std::string path, bytes;
};

// Whether both paths are one file, which there may not be yet.
bool IsSameFile(const std::string& a, const std::string& b);

// Writes all of them beside their places, and then puts all into their places. After a failure, which throws, nothing
// that was there has changed, unless only the last step failed. What is not a regular file (/dev/null, a pipe) stays
// and is written.
void WriteTogether(const std::vector<NewFile>& files);

// A static library (`ar`, with the index that linkers look into). A member's symbols are those that it defines.
struct Member {
  std::string name, bytes;
  std::vector<std::string> symbols;
};
std::string Archive(const std::vector<Member>& members);

}}}  // namespace ricci::v0::cli
#endif
