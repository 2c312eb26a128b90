// What every command uses: a context with the built-in plugins, handles that release themselves, files and text.
//
// The tool throws when a call returns a status, and main prints it. No exception crosses the C ABI.
#ifndef RICCI_CLI_SESSION_H_
#define RICCI_CLI_SESSION_H_
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/primitive.h"
#include "ricci/ricci.h"

namespace ricci { inline namespace v0 { namespace cli {

// A failed command; the message is complete.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws the message of `status` unless it is NULL.
void Check(ricci_status* status);

template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;
using Program = Handle<ricci_program>;
using Array = Handle<ricci_array>;
using Executable = Handle<ricci_executable>;
using Call = Handle<ricci_call>;
using ArrayFile = Handle<ricci_array_file>;
inline Program Own(ricci_program* p) { return {p, ricci_program_release}; }
inline Array Own(ricci_array* a) { return {a, ricci_array_release}; }
inline Executable Own(ricci_executable* x) { return {x, ricci_executable_release}; }
inline Call Own(ricci_call* k) { return {k, ricci_call_release}; }
inline ArrayFile Own(ricci_array_file* f) { return {f, ricci_array_file_release}; }

inline std::string_view View(ricci_str s) { return {s.ptr, s.len}; }
// Sink of the ABI's text functions: appends to the std::string that `sink` points to.
void AppendTo(void* sink, const char* p, size_t n);

struct Signature {
  std::vector<ricci_type> params, results;
};
struct TypeInfo {
  uint32_t dtype = 0;
  std::vector<int64_t> shape;
  int64_t elements = 1;
  uint64_t bytes() const { return static_cast<uint64_t>(elements) * ricci_dtype_size(dtype); }
};

// `: No such file or directory`, for an error of the system; empty for 0.
std::string Reason(int error);
// The bytes of a file, `-` for standard input.
std::string ReadAll(const std::string& path);
// Replaces a file.
void WriteAll(const std::string& path, std::string_view bytes);

// What a session compiles for: devices, or files (plugins/object).
enum class Purpose { kRun, kObjects };

class Session {
 public:
  // `config`: `key=value` of ricci_context_config; `plugins`: shared objects to load.
  Session(const std::vector<std::string>& config, const std::vector<std::string>& plugins,
          Purpose purpose = Purpose::kRun);
  ricci_ctx* context() const { return context_.get(); }
  // The number of primitives of the built-in plugins; those of loaded plugins follow.
  uint32_t builtin_primitives() const { return builtin_primitives_; }
  // Adds the backend for GPUs, once: opening their driver takes time, so that is done only where one is asked for.
  void AddGpus() const;
  // Adds the backend that writes object files.
  void AddObjects() const;
  // The device of that kind; device 0 for an empty one.
  ricci_device* Device(std::string_view kind) const;

  // A program in a file, as text or binary; `-` for standard input.
  Program Load(const std::string& path) const;
  // The same of bytes that were read from `path`.
  Program ToProgram(std::string_view bytes, const std::string& path) const;
  Program Parse(std::string_view text, std::string_view origin) const;
  TypeInfo Info(ricci_type t) const;
  std::string TypeText(ricci_type t) const;  // f32[2,3]
  static std::string TypeText(uint32_t dtype, const int64_t* dims, size_t rank);

 private:
  void SetOptions(const std::vector<std::string>& config) const;

  Handle<ricci_ctx> context_;
  uint32_t builtin_primitives_ = 0;
};

inline std::string CountOfParameters(size_t n) { return std::to_string(n) + (n == 1 ? " parameter" : " parameters"); }
inline std::string CountOfResults(size_t n) { return std::to_string(n) + (n == 1 ? " result" : " results"); }
// Zeroed memory for the elements of a type; an error that has its size if there is none.
std::vector<unsigned char> HostBytes(const Session& session, ricci_type t);
Signature SignatureOf(const ricci_program* p);
std::string TextOf(const ricci_program* p);
// What a file of the program holds: its text, or its binary form.
std::string FileOf(const ricci_program* p, bool binary);
// `passes`, `skip`, `flags`: as in ricci_compile_opts.
Executable Compile(const ricci_program* p, ricci_device* device, uint32_t opt_level, std::string_view passes = {},
                   std::string_view skip = {}, uint32_t flags = 0);

}}}  // namespace ricci::v0::cli
#endif
