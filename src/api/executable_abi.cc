// ricci/executable.h: compilation, runs with arrays, and calls with bound pointers.
#include "ricci/executable.h"

#include "api/arguments.h"
#include "runtime/compile/compile.h"
#include "runtime/run/bound_call.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::BoundCall;
using runtime::FromAbi;

namespace {

BoundCall* FromAbi(ricci_call* k) { return reinterpret_cast<BoundCall*>(k); }

absl::StatusOr<runtime::CompileOptions> Options(const ricci_compile_opts* given, const ir::Program& f) {
  runtime::CompileOptions options;
  RICCI_ASSIGN(const ricci_compile_opts o,
               api::ReadOptions(given, ricci_compile_opts_default(), "compile options",
                                {RICCI_FLAG(RICCI_COMPILE_CHECKED), RICCI_FLAG(RICCI_COMPILE_PROFILED)}));
  if (o.opt_level > 3) return base::InvalidArgument("compile options: opt_level is ", o.opt_level, ", not 0 to 3");
  if (o.n_donate != 0 && o.n_donate != f.n_params()) {
    return base::InvalidArgument("compile options: n_donate is ", o.n_donate, ", but program ", f.name, " has ",
                                 base::Count(f.n_params(), "parameter"));
  }
  if (o.n_donate != 0 && o.donate == nullptr) return base::InvalidArgument("compile options: donate is NULL");
  if (o.n_devices > 1) {
    return absl::UnimplementedError(
        base::Cat("compile options: n_devices is ", o.n_devices, "; a program runs on one device today"));
  }
  if (o.n_devices != 0 && (o.devices == nullptr || o.devices[0] == nullptr)) {
    return base::InvalidArgument("compile options: devices is NULL, or its first device");
  }
  for (uint32_t i = 0; i < o.n_devices; ++i) options.devices.push_back(FromAbi(o.devices[i]));
  options.donate = api::Span(o.donate, o.n_donate);
  RICCI_ASSIGN(options.stages, pass::ChooseStages(api::View(o.passes), api::View(o.skip)));
  options.opt_level = o.opt_level;
  options.checked = (o.hdr.flags & RICCI_COMPILE_CHECKED) != 0;
  options.profiled = (o.hdr.flags & RICCI_COMPILE_PROFILED) != 0;
  if (o.progress != nullptr) {
    options.progress = [call = o.progress, self = o.progress_self](uint32_t done, uint32_t total) {
      return call(self, done, total) != 0;
    };
  }
  return options;
}

absl::Status CheckProfile(const ricci_profile& profile, const runtime::CompiledCode& code) {
  RICCI_ASSIGN(const ricci_profile p, base::ReadStruct(&profile, "run options: profile"));
  if (p.span == nullptr) return base::InvalidArgument("run options: profile: span is NULL");
  if (code.key().profiled) return absl::OkStatus();
  return absl::FailedPreconditionError(
      base::Cat("run options: profile: program ", code.program().name, " was compiled without RICCI_COMPILE_PROFILED"));
}

absl::StatusOr<runtime::RunOptions> Options(const ricci_run_opts* given, const runtime::CompiledCode& code) {
  runtime::RunOptions options;
  if (given == nullptr) return options;  // nearly always, and this is hot
  RICCI_ASSIGN(const ricci_run_opts o, base::ReadStruct(given, "run options"));
  if (o.stream != nullptr) options.stream = FromAbi(o.stream);
  if (o.stream != nullptr && options.stream->device() != code.device()) {
    return base::InvalidArgument("run options: the stream is of device ", options.stream->device()->Name(),
                                 ", but program ", code.program().name, " was compiled for ", code.device()->Name());
  }
  options.cancel = o.cancel;
  options.deadline_ns = o.deadline_ns;
  options.profile = o.profile;
  if (o.profile != nullptr) RICCI_TRY(CheckProfile(*o.profile, code));
  return options;
}

absl::Status CheckRun(Arguments args, const ricci_executable* x, ricci_array* const* in, uint32_t n_in,
                      ricci_array** out, uint32_t n_out) {
  RICCI_TRY(args.NotNull({{"x", x}}));
  const ir::Program& f = FromAbi(x)->code().program();
  if (n_in != f.n_params()) {
    return base::InvalidArgument("program ", f.name, " takes ", base::Count(f.n_params(), "argument"), ", not ", n_in);
  }
  if (n_out != f.n_results()) {
    return base::InvalidArgument("program ", f.name, " gives ", base::Count(f.n_results(), "result"), ", not ", n_out);
  }
  RICCI_TRY(args.Array("in", in, n_in));
  return args.Array("out", out, n_out);
}

}  // namespace

extern "C" {

ricci_status* ricci_compile(const ricci_program* f, const ricci_compile_opts* o, ricci_executable** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    const ir::Program& program = *ir::FromAbi(f);
    RICCI_ASSIGN(const runtime::CompileOptions options, Options(o, program));
    RICCI_ASSIGN(auto executable, runtime::Compile(program, options));
    *out = runtime::Abi(executable.Detach());
    return absl::OkStatus();
  });
}

ricci_executable* ricci_executable_retain(ricci_executable* x) {
  if (x != nullptr) FromAbi(x)->Retain();
  return x;
}

void ricci_executable_release(ricci_executable* x) {
  if (x != nullptr) FromAbi(x)->Release();
}

ricci_status* ricci_executable_run(const ricci_executable* x, ricci_array* const* in, uint32_t n_in, ricci_array** out,
                                   uint32_t n_out, const ricci_run_opts* o) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(CheckRun(args, x, in, n_in, out, n_out));
    RICCI_ASSIGN(const runtime::RunOptions options, Options(o, FromAbi(x)->code()));
    return FromAbi(x)->Run({in, n_in}, {out, n_out}, options);
  });
}

ricci_status* ricci_executable_enqueue(const ricci_executable* x, ricci_array* const* in, uint32_t n_in,
                                       ricci_array** out, uint32_t n_out, const ricci_run_opts* o) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(CheckRun(args, x, in, n_in, out, n_out));
    RICCI_ASSIGN(const runtime::RunOptions options, Options(o, FromAbi(x)->code()));
    return FromAbi(x)->Enqueue({in, n_in}, {out, n_out}, options);
  });
}

void ricci_executable_info(const ricci_executable* x, ricci_executable_stats* out) {
  if (x != nullptr && out != nullptr) base::WriteStruct(out, FromAbi(x)->stats());
}

void ricci_executable_signature(const ricci_executable* x, uint32_t* n_params, const ricci_type** params,
                                uint32_t* n_results, const ricci_type** results) {
  const ir::Program* f = x == nullptr ? nullptr : &FromAbi(x)->code().program();
  ricci_program_signature(ir::Abi(f), n_params, params, n_results, results);
}

void ricci_pass_name(uint32_t i, ricci_str* out) {
  const auto names = pass::StageNames();
  if (out != nullptr) *out = i < names.size() ? api::ToStr(names[i]) : ricci_str{"", 0};
}

int32_t ricci_executable_alias(const ricci_executable* x, uint32_t result) {
  if (x == nullptr || result >= FromAbi(x)->code().program().n_results()) return -1;
  return FromAbi(x)->code().alias(result);
}

ricci_status* ricci_executable_dump(const ricci_executable* x, const char* stage, size_t len, void* sink,
                                    void (*write)(void* sink, const char* p, size_t n)) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"x", x}, {"stage", stage}, {"write", reinterpret_cast<const void*>(write)}}));
    RICCI_ASSIGN(const std::string text, FromAbi(x)->code().Dump(api::View(stage, len)));
    write(sink, text.data(), text.size());
    return absl::OkStatus();
  });
}

ricci_status* ricci_call_create(const ricci_executable* x, ricci_call** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"x", x}, {"out", out}}));
    RICCI_ASSIGN(auto call, BoundCall::Create(base::Ref<const runtime::Executable>(FromAbi(x))));
    *out = reinterpret_cast<ricci_call*>(call.release());
    return absl::OkStatus();
  });
}

ricci_status* ricci_call_bind(ricci_call* k, uint32_t slot, void* ptr, uint64_t bytes) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    return FromAbi(k)->Bind(slot, ptr, bytes);
  });
}

ricci_status* ricci_call_run(ricci_call* k) {
  if (k != nullptr) return FromAbi(k)->Run();
  return Border(__func__, [&](Arguments args) { return args.NotNull({{"k", k}}); });
}

ricci_status* ricci_call_run_at(ricci_call* k, void* const* pointers, size_t n, int64_t offset) {
  ricci_status* bound = Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("pointers", pointers, n));
    return FromAbi(k)->BindAll({pointers, n}, offset);
  });
  return bound != nullptr ? bound : FromAbi(k)->Run();
}

ricci_status* ricci_call_enqueue(ricci_call* k, const ricci_run_opts* o, ricci_event** event) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_ASSIGN(const runtime::RunOptions options, Options(o, FromAbi(k)->code()));
    RICCI_ASSIGN(runtime::EventRef end, FromAbi(k)->Enqueue(options));
    if (event != nullptr) *event = runtime::Abi(end.Detach());
    return absl::OkStatus();
  });
}

void ricci_call_release(ricci_call* k) { delete FromAbi(k); }
}
