#include "cuda/driver/library_paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>

namespace ricci::cuda {
namespace {

constexpr const char* kCompilers[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr const char* kDriver = "libcuda.so.1";
// Where containers, WSL and NixOS have the system's driver.
constexpr const char* kDriverFolders[] = {"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib",
                                          "/run/opengl-driver/lib"};
constexpr const char* kToolkitFolders[] = {"/lib64", "/lib"};

// `/usr/local/cuda-12.9` -> 12009; `/usr/local/cuda`, which the system prefers, is before all of them.
long VersionOf(const std::string& toolkit) {
  const size_t begin = toolkit.find("cuda-");
  if (begin == toolkit.npos) return toolkit.ends_with("/cuda") ? 1000000 : 0;
  char* end = nullptr;
  const long major = std::strtol(toolkit.c_str() + begin + 5, &end, 10);
  return major * 1000 + (*end == '.' ? std::strtol(end + 1, nullptr, 10) : 0);
}

std::vector<std::string> Installed() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/usr/local", ignored), end; at != end; at.increment(ignored)) {
    if (at->path().filename().string().starts_with("cuda")) found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return std::pair(VersionOf(b), b) < std::pair(VersionOf(a), a);
  });
  return found;
}

std::vector<std::string> Parts(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(':', at), text.size());
    if (end != at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> Toolkits() {
  std::vector<std::string> toolkits;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const folder = std::getenv(variable);
    if (folder != nullptr && *folder != '\0') toolkits.emplace_back(folder);
  }
  for (std::string& folder : Installed()) {
    if (std::find(toolkits.begin(), toolkits.end(), folder) == toolkits.end()) toolkits.push_back(std::move(folder));
  }
  return toolkits;
}

std::vector<std::string> DriverPaths(const std::vector<std::string>& toolkits) {
  std::vector<std::string> paths = {kDriver};
  for (const char* const folder : kDriverFolders) paths.push_back(std::string(folder) + "/" + kDriver);
  for (const std::string& toolkit : toolkits) paths.push_back(toolkit + "/compat/" + kDriver);
  return paths;
}

std::vector<std::string> CompilerPaths(const std::vector<std::string>& toolkits, std::string_view folders) {
  std::vector<std::string> paths;
  for (const std::string name : kCompilers) {
    for (const std::string& toolkit : toolkits) {
      for (const char* const folder : kToolkitFolders) paths.push_back(toolkit + folder + "/" + name);
    }
    for (const std::string& folder : Parts(folders)) paths.push_back(folder + "/" + name);
    paths.push_back(name);
  }
  return paths;
}

}  // namespace ricci::cuda
