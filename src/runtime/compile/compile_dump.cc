#include "runtime/compile/compile_dump.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
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

// 0, or the error of the system.
int Write(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return errno;
  const int error = std::fwrite(text.data(), 1, text.size(), file) == text.size() ? 0 : errno;
  return std::fclose(file) == 0 || error != 0 ? error : errno;
}

absl::Status Failed(std::string_view what, const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(base::Cat("dump_dir: ", path, ": cannot be ", what, ": ", why));
}

}  // namespace

CompileDump::CompileDump(const std::string& dir, const CompileKey& key) {
  if (dir.empty()) return;
  folder_ = absl::StrFormat("%s/%s-%016x", dir, Plain(key.program->name), key.hash);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) status_ = Failed("made", folder_, error.message());
}

void CompileDump::Add(std::string_view stage, const std::string& text) {
  if (!status_.ok()) return;
  const std::string path = absl::StrFormat("%s/%02d-%s.txt", folder_, number_++, std::string(stage));
  if (const int error = Write(path, text)) status_ = Failed("written", path, std::strerror(error));
}

}}}  // namespace ricci::v0::runtime
