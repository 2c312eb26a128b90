#include "runtime/compile_dump.h"

#include <cstdio>
#include <filesystem>
#include "absl/strings/str_format.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// A program's name as part of a file name.
std::string Plain(std::string_view name) {
  std::string plain(name.substr(0, 64));
  for (char& c : plain) {
    const bool keep = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (!keep) c = '_';
  }
  return plain.empty() ? "program" : plain;
}

bool Write(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

CompileDump::CompileDump(const std::string& dir, const CompileKey& key) {
  if (dir.empty()) return;
  folder_ = absl::StrFormat("%s/%s-%016x", dir, Plain(key.program->name), key.hash);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) status_ = absl::FailedPreconditionError(base::Cat("dump_dir: cannot create ", folder_));
}

void CompileDump::Add(std::string_view stage, const std::string& text) {
  if (!status_.ok()) return;
  const std::string path = absl::StrFormat("%s/%02d-%s.txt", folder_, number_++, std::string(stage));
  if (!Write(path, text)) status_ = absl::FailedPreconditionError(base::Cat("dump_dir: cannot write ", path));
}

}}}  // namespace ricci::v0::runtime
