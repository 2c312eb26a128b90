// Folder: a new folder for files, deleted at the end.
#ifndef RICCI_TESTS_FUZZ_TEMPORARY_FOLDER_H_
#define RICCI_TESTS_FUZZ_TEMPORARY_FOLDER_H_
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace ricci::testing {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "ricci-fuzz-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ricci::testing
#endif
