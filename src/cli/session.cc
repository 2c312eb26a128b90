#include "cli/session.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

// Of plugins/object: not a public plugin, so no header declares it.
extern "C" ricci_status* ricci_plugin_query_object(const ricci_host_info* host, const ricci_plugin** out);

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// A context whose log goes to stderr: debug_print, and compilations with --config log_compiles=1.
ricci_ctx* NewContext() {
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.log = [](void*, uint32_t, const char* text, size_t n) {
    std::fwrite(text, 1, n, stderr);
    std::fputc('\n', stderr);
  };
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = &hooks;
  ricci_ctx* c = nullptr;
  Check(ricci_context_create(&o, &c));
  return c;
}

}  // namespace

std::string Reason(int error) { return error == 0 ? "" : std::string(": ") + std::strerror(error); }

std::string ReadAll(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw Failure(path + ": cannot be read" + Reason(errno));
  std::string text;
  char buffer[65536];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) != 0;) text.append(buffer, n);
  const int error = std::ferror(file) != 0 ? errno : 0;
  if (file != stdin) std::fclose(file);
  if (error != 0) throw Failure((path == "-" ? "<stdin>" : path) + ": cannot be read" + Reason(error));
  return text;
}

void WriteAll(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw Failure(path + ": cannot be written" + Reason(errno));
  int error = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error != 0) throw Failure(path + ": cannot be written" + Reason(error));
}

void Check(ricci_status* status) {
  if (status == nullptr) return;
  ricci_str message{};
  ricci_status_message(status, &message);
  const Failure failure{std::string(View(message))};
  ricci_status_free(status);
  throw failure;
}

void AppendTo(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

Session::Session(const std::vector<std::string>& config, const std::vector<std::string>& plugins, Purpose purpose)
    : context_(NewContext(), ricci_context_release) {
  SetOptions(config);
  Check(ricci_context_add_plugin(context(), ricci_plugin_query_lax));
  Check(ricci_context_add_plugin(context(), ricci_plugin_query_nn));
#ifdef RICCI_TOOL_CPU
  if (purpose == Purpose::kRun) Check(ricci_context_add_plugin(context(), ricci_plugin_query_cpu));
#endif
  ricci_prim id = 0;
  while (ricci_prim_at(context(), builtin_primitives_, &id) != nullptr) ++builtin_primitives_;
  if (purpose == Purpose::kObjects) AddObjects();
  for (const std::string& path : plugins) Check(ricci_context_load_plugin(context(), path.data(), path.size()));
}

// Before any plugin is added: each reads its own then.
void Session::SetOptions(const std::vector<std::string>& config) const {
  for (const std::string& pair : config) {
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string value = equals < pair.size() ? pair.substr(equals + 1) : "";
    Check(ricci_context_config(context(), pair.data(), equals, value.data(), value.size()));
  }
}

void Session::AddGpus() const {
  if (ricci_device_find(context(), "cuda", 4) != nullptr) return;
#ifdef RICCI_TOOL_CUDA
  Check(ricci_context_add_plugin(context(), ricci_plugin_query_cuda));
#else
  throw Failure("this build has no backend for GPUs (RICCI_CUDA)");
#endif
}

void Session::AddObjects() const {
#ifdef RICCI_TOOL_CPU
  Check(ricci_context_add_plugin(context(), ricci_plugin_query_object));
#else
  throw Failure("this build writes no object files (RICCI_CPU)");
#endif
}

ricci_device* Session::Device(std::string_view kind) const {
  if (kind == "cuda") AddGpus();
  ricci_device* d =
      kind.empty() ? ricci_device_get(context(), 0) : ricci_device_find(context(), kind.data(), kind.size());
  if (d == nullptr) throw Failure("no device of kind `" + std::string(kind) + "`; `ricci devices` lists them");
  return d;
}

Program Session::Load(const std::string& path) const { return ToProgram(ReadAll(path), path); }

Program Session::ToProgram(std::string_view bytes, const std::string& path) const {
  const std::string origin = path == "-" ? "<stdin>" : path;
  if (ricci_program_is_binary(bytes.data(), bytes.size()) == 0) {
    if (bytes.find('\0') != bytes.npos)
      throw Failure(origin + ": holds no program, neither in binary form nor as text");
    return Parse(bytes, origin);
  }
  ricci_program* p = nullptr;
  Check(ricci_program_deserialize(context(), bytes.data(), bytes.size(), origin.data(), origin.size(), &p));
  return Own(p);
}

Program Session::Parse(std::string_view text, std::string_view origin) const {
  ricci_program* p = nullptr;
  Check(ricci_program_parse(context(), text.data(), text.size(), origin.data(), origin.size(), &p));
  return Own(p);
}

TypeInfo Session::Info(ricci_type t) const {
  ricci_type_desc d = ricci_type_desc_default();
  Check(ricci_type_get(context(), t, &d));
  TypeInfo info;
  info.dtype = d.dtype;
  info.shape.assign(d.dims, d.dims + d.rank);
  for (int64_t d : info.shape) info.elements *= d;
  return info;
}

std::string Session::TypeText(ricci_type t) const {
  const TypeInfo info = Info(t);
  return TypeText(info.dtype, info.shape.data(), info.shape.size());
}

std::string Session::TypeText(uint32_t dtype, const int64_t* dims, size_t rank) {
  ricci_str name{};
  ricci_dtype_name(dtype, &name);
  std::string text(View(name));
  text += '[';
  for (size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + ']';
}

std::vector<unsigned char> HostBytes(const Session& session, ricci_type t) {
  const uint64_t bytes = session.Info(t).bytes();
  try {
    return std::vector<unsigned char>(bytes);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw Failure("out of memory: " + session.TypeText(t) + " takes " + std::to_string(bytes) + " bytes");
  }
}

Signature SignatureOf(const ricci_program* p) {
  uint32_t n_params = 0, n_results = 0;
  const ricci_type *params = nullptr, *results = nullptr;
  ricci_program_signature(p, &n_params, &params, &n_results, &results);
  return {{params, params + n_params}, {results, results + n_results}};
}

std::string TextOf(const ricci_program* p) {
  std::string text;
  Check(ricci_program_print(p, &text, AppendTo));
  return text;
}

std::string FileOf(const ricci_program* p, bool binary) {
  if (!binary) return TextOf(p);
  std::string bytes;
  Check(ricci_program_serialize(p, &bytes, AppendTo));
  return bytes;
}

Executable Compile(const ricci_program* p, ricci_device* device, uint32_t opt_level, std::string_view passes,
                   std::string_view skip, uint32_t flags) {
  ricci_compile_opts options = ricci_compile_opts_default();
  options.hdr.flags = flags;
  options.devices = &device;
  options.n_devices = 1;
  options.opt_level = opt_level;
  options.passes = {passes.data(), passes.size()};
  options.skip = {skip.data(), skip.size()};
  ricci_executable* x = nullptr;
  Check(ricci_compile(p, &options, &x));
  return Own(x);
}

}}}  // namespace ricci::v0::cli
