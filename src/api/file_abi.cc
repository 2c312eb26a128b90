// ricci/file.h: programs as files.
#include "ricci/file.h"

#include "api/arguments.h"
#include "control/control.h"
#include "file/container.h"
#include "file/disk.h"
#include "file/program_file.h"
#include "runtime/context/callback_table.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;
using ir::FromAbi;

namespace {

// A file holds names of functions, and no functions.
void LogCallbacks(const ir::Program& p, std::string_view path) {
  std::string names;
  size_t n = 0;
  for (const std::string& name : control::CallbacksOf(p)) {
    if (!name.starts_with(runtime::kOurCallbacks)) names += base::Cat(n++ == 0 ? "" : ", ", name);
  }
  if (n == 0) return;
  runtime::ContextOf(*p.vocabulary())
      ->Log(RICCI_LOG_WARNING,
            base::Cat(
                "save: ", path, " calls ", base::Count(n, "function"), " of the host: ", names,
                "; a context that runs it must know them: ricci_context_add_callback, in Python Context.add_callback"));
}

std::string_view BytesOf(const void* data, size_t bytes) { return {static_cast<const char*>(data), bytes}; }

}  // namespace

extern "C" {

ricci_status* ricci_program_save(const ricci_program* f, const char* path, size_t len) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}}));
    RICCI_TRY(args.Path("path", path, len));
    RICCI_TRY(file::WriteFile(View(path, len), file::WriteProgram(*FromAbi(f))));
    LogCallbacks(*FromAbi(f), View(path, len));
    return absl::OkStatus();
  });
}

ricci_status* ricci_program_load(ricci_ctx* c, const char* path, size_t len, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    RICCI_TRY(args.Path("path", path, len));
    prim::Registry& registry = runtime::FromAbi(c)->registry();
    RICCI_ASSIGN(auto read, file::FileBytes::ReadOrMap(registry.vocabulary().memory, View(path, len)));
    const auto bytes = std::make_shared<const file::FileBytes>(std::move(read));
    const bool mapped = bytes->mapped();
    RICCI_ASSIGN(ir::ProgramRef program,
                 file::ReadProgram(registry, bytes->bytes(), View(path, len), mapped ? bytes : nullptr));
    *out = ir::Abi(program.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_program_serialize(const ricci_program* f, void* sink,
                                      void (*write)(void* sink, const char* p, size_t n)) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"write", reinterpret_cast<const void*>(write)}}));
    const std::string bytes = file::WriteProgram(*FromAbi(f));
    write(sink, bytes.data(), bytes.size());
    return absl::OkStatus();
  });
}

ricci_status* ricci_program_deserialize(ricci_ctx* c, const void* data, size_t bytes, const char* origin,
                                        size_t origin_len, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    RICCI_TRY(args.Array("data", data, bytes));
    RICCI_TRY(args.Array("origin", origin, origin_len));
    RICCI_ASSIGN(ir::ProgramRef program,
                 file::ReadProgram(runtime::FromAbi(c)->registry(), BytesOf(data, bytes), View(origin, origin_len)));
    *out = ir::Abi(program.Detach());
    return absl::OkStatus();
  });
}

uint32_t ricci_program_is_binary(const void* data, size_t bytes) {
  return data != nullptr && file::IsBinary(BytesOf(data, bytes));
}
}
