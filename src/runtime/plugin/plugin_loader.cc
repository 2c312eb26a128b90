#include "runtime/plugin/plugin_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/abi_struct.h"
#include "base/abi_text.h"
#include "base/foreign_call.h"
#include "base/status_abi.h"
#include "ir/text_lexer.h"
#include "ricci/api_table.h"
#include "runtime/plugin/plugin_file.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

ricci_host_info HostInfo(const ricci_api* api) {
  ricci_host_info host{};
  host.hdr.size = sizeof host;
  host.abi_major = RICCI_ABI_MAJOR;
  host.abi_minor = RICCI_ABI_MINOR;
  for (int i = 0; i < 4; ++i) host.features[i] = api->features[i];
  host.api = api;
  return host;
}

constexpr size_t kLongestName = 256;

// Names begin the keys of options, `name.key`, so they hold no dot.
bool IsPluginName(std::string_view name) { return ir::IsIdentifier(name) && name.find('.') == name.npos; }

absl::Status CheckPlugin(const ricci_plugin& p, const ricci_host_info& host) {
  if (p.name.ptr == nullptr || p.name.len == 0) return base::InvalidArgument("plugin: name is empty");
  if (p.name.len > kLongestName) {
    return base::InvalidArgument("plugin: name has ", p.name.len, " bytes; at most ", kLongestName, " are allowed");
  }
  const std::string_view name = base::View(p.name);
  if (!IsPluginName(name)) {
    return base::InvalidArgument("plugin: ", ir::Quoted(name),
                                 " is not a name; use letters, digits, _ and -, with a letter first");
  }
  if (p.version.ptr != nullptr && p.version.len > kLongestName) {
    return base::InvalidArgument("plugin ", name, ": version has ", p.version.len, " bytes; at most ", kLongestName,
                                 " are allowed");
  }
  RICCI_TRY(CheckPluginAbi(name, p.abi_major, p.abi_minor));
  for (uint32_t i = 0; i < 256; ++i) {
    if ((p.needs_features[i / 64] & ~host.features[i / 64]) >> (i % 64) & 1) {
      return absl::FailedPreconditionError(
          base::Cat("plugin ", name, ": needs feature ", i, ", which this core lacks"));
    }
  }
  if (p.attach == nullptr) return base::InvalidArgument("plugin ", name, ": attach is NULL");
  return absl::OkStatus();
}

std::string LoaderError() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error of the dynamic loader" : text;
}

// The dynamic loader looks for a bare name among the libraries of the system only.
std::string HereHint(const std::string& path) {
  if (path.find('/') != path.npos || ::access(path.c_str(), F_OK) != 0) return "";
  return base::Cat("; for the file in the current folder write ./", path);
}

}  // namespace

absl::Status AddPlugin(Context& context, ricci_plugin_query_fn query, const ricci_api* api) {
  const ricci_host_info host = HostInfo(api);
  const ricci_plugin* given = nullptr;
  RICCI_TRY(base::CallForeign([] { return std::string("plugin: its query function"); },
                              [&] { return query(&host, &given); }));
  if (given == nullptr) return base::InvalidArgument("plugin: its query function gave no plugin");
  RICCI_ASSIGN(const ricci_plugin plugin, base::ReadStruct(given, "plugin"));
  RICCI_TRY(CheckPlugin(plugin, host));
  return context.Attach(plugin);
}

absl::Status LoadPlugin(Context& context, const std::string& path, const ricci_api* api) {
  // Only the dynamic loader knows where it would find a bare name.
  if (path.find('/') != path.npos) RICCI_TRY(CheckPluginFile(path));
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr) return absl::NotFoundError(base::Cat("plugin ", path, ": ", LoaderError(), HereHint(path)));
  void* symbol = dlsym(object, "ricci_plugin_query");
  if (symbol == nullptr) {
    dlclose(object);
    return base::InvalidArgument("plugin ", path, ": exports no ricci_plugin_query");
  }
  return AddPlugin(context, reinterpret_cast<ricci_plugin_query_fn>(symbol), api);
}

}}}  // namespace ricci::v0::runtime
