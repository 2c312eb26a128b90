// run, compile, bench: programs as native code.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cli/command.h"
#include "cli/elements.h"
#include "cli/interrupt.h"
#include "cli/run_times.h"
#include "cli/stored_arrays.h"
#include "cli/trace_file.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

Executable CompileOperand(const Session& session, const Arguments& arguments, const Program& p) {
  return Compile(p.get(), session.Device(arguments.option_or("device", "")),
                 static_cast<uint32_t>(arguments.integer_or("opt", 0, 0, 3)), arguments.option_or("passes", ""),
                 arguments.option_or("skip", ""), arguments.option("profile") ? uint32_t{RICCI_COMPILE_PROFILED} : 0u);
}

// ---- run ----
// Throws the name of the first equation that makes a NaN or an infinity.
void CheckNans(const Session& session, const Arguments& arguments, const Program& p,
               const std::vector<ricci_array*>& in) {
  if (!arguments.flag("check-nans")) return;
  Check(ricci_check_finite(p.get(), session.Device(arguments.option_or("device", "")), in.data(),
                           static_cast<uint32_t>(in.size())));
}

// Runs until the end or SIGINT, which may have to end a loop that never does.
void RunUnlessInterrupted(const Session& session, const Program& p, const Executable& x, ricci_run_opts options,
                          const std::vector<ricci_array*>& in, std::vector<ricci_array*>& out) {
  const Interrupt interrupt;
  options.cancel = Interrupt::word();
  ricci_status* s = ricci_executable_run(x.get(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                         static_cast<uint32_t>(out.size()), &options);
  if (!Interrupt::came() || ricci_status_code(s) != RICCI_CANCELLED) return Check(s);
  ricci_str where{};
  ricci_status_message(s, &where);
  const std::string came_from(View(where)), loops = LoopsWithoutBound(session, p.get());
  ricci_status_free(s);
  throw Failure("run: interrupted: " + came_from + "; " +
                (loops.empty() ? "every loop of the program has a bound"
                               : "loops without a bound, which may never end: " + loops));
}

// Runs, with --profile reporting to that file.
void RunOnce(const Session& session, const Arguments& arguments, const Program& p, const Executable& x,
             const std::vector<ricci_array*>& in, std::vector<ricci_array*>& out) {
  const auto path = arguments.option("profile");
  Profile profile;
  ricci_run_opts options = ricci_run_opts_default();
  if (path) options.profile = profile.hook();
  profile.Begin();
  RunUnlessInterrupted(session, p, x, options, in, out);
  profile.End();
  if (!path) return;
  ricci_str name{};
  ricci_program_name(p.get(), &name);
  profile.Write(*path, View(name));
}

void Run(const Session& session, const Arguments& arguments) {
  const Program p = LoadOperand(session, arguments);
  const Executable x = CompileOperand(session, arguments, p);
  const Signature s = SignatureOf(p.get());
  const std::vector<Array> inputs =
      Inputs(session, arguments, s.params, session.Device(arguments.option_or("device", "")));
  std::vector<ricci_array*> in, out(s.results.size());
  for (const Array& a : inputs) in.push_back(a.get());
  CheckNans(session, arguments, p, in);
  RunOnce(session, arguments, p, x, in, out);
  std::vector<Array> results;
  for (ricci_array* a : out) results.push_back(Own(a));
  if (const auto path = arguments.option("output")) return SaveResults(session, *path, results);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<unsigned char> bytes = HostBytes(session, s.results[i]);
    Check(ricci_array_copy_to_host(out[i], bytes.data(), bytes.size()));
    const std::string text =
        ElementsText(session.Info(s.results[i]), bytes.data(), arguments.integer_or("limit", 64, 0));
    std::printf("%zu: %s = %s\n", i, session.TypeText(s.results[i]).c_str(), text.c_str());
  }
}

// ---- compile ----
void PrintStats(const Session& session, const ricci_executable* x) {
  ricci_executable_stats s{};
  s.hdr.size = sizeof s;
  ricci_executable_info(x, &s);
  std::printf("passes          %10.3f ms\nlowering        %10.3f ms\ncode generation %10.3f ms%s\n",
              s.transform_s * 1e3, s.lower_s * 1e3, s.codegen_s * 1e3, s.cache_hit != 0 ? " (from the cache)" : "");
  std::printf("plan            %10u kernel%s, %u library call%s, %u step%s\n", s.kernels, s.kernels == 1 ? "" : "s",
              s.library_calls, s.library_calls == 1 ? "" : "s", s.steps, s.steps == 1 ? "" : "s");
  std::printf("code            %10" PRIu64 " bytes\nworking memory  %10" PRIu64 " bytes\nconstants       %10" PRIu64
              " bytes\n",
              s.code_bytes, s.arena_bytes + s.scratch_bytes, s.constant_bytes);
  std::printf("operations      %10" PRIu64 " floating, per run\n", s.flops);
  if (ricci_cache_is_on(session.context()) == 0) return;
  ricci_cache_stats kept{};
  kept.hdr.size = sizeof kept;
  ricci_cache_info(session.context(), &kept);
  const uint64_t stores = kept.stores + kept.executable_stores;
  std::printf("kept programs   %10" PRIu64 " found\nkept code       %10" PRIu64 " found\nentries         %10" PRIu64
              " stored\n",
              kept.executable_hits, kept.hits, stores - kept.failed_stores);
}

// The names of all passes, wrapped into lines.
std::string PassList() {
  std::string text, line;
  ricci_str name{};
  for (uint32_t i = 0; ricci_pass_name(i, &name), name.len != 0; ++i) {
    if (line.size() + name.len > 80) {
      text += line + "\n    ";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(View(name));
  }
  return text + line + "\n";
}

// The reference device interprets: it has no native form.
bool HasNative(const Session& session, const Arguments& arguments) {
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(session.Device(arguments.option_or("device", "")), &desc);
  return View(desc.kind) != "ref";
}

void CompileCommand(const Session& session, const Arguments& arguments) {
  if (arguments.option("output")) return WriteObjects(arguments);
  for (const char* of_objects : {"header", "name", "derivatives", "wrt", "vmap", "cpu", "target", "workspace"}) {
    if (arguments.option(of_objects)) {
      throw UsageError("--" + std::string(of_objects) + " is for object files; name one with -o FILE.o");
    }
  }
  if (arguments.flag("explain") && arguments.option("dump")) throw UsageError("takes one of --explain and --dump");
  const Program p = LoadOperand(session, arguments);
  const Executable x = CompileOperand(session, arguments, p);
  const std::string stage = arguments.flag("explain") ? "decisions" : arguments.option_or("dump", "");
  if (stage.empty()) return PrintStats(session, x.get());
  std::vector<std::string> stages{stage};
  if (stage == "all") stages = {"program", "optimized", "kernels", "plan", "native"};
  for (const std::string& known : stages) {
    if (known == "native" && stage == "all" && !HasNative(session, arguments)) continue;
    if (stage == "all") std::printf("// ---- %s ----\n", known.c_str());
    std::string text;
    Check(ricci_executable_dump(x.get(), known.data(), known.size(), &text, AppendTo));
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

// ---- bench ----
// Arrays of zeros on a device, for results.
std::vector<Array> Zeros(const Session& session, const std::vector<ricci_type>& types, ricci_device* device) {
  std::vector<Array> out;
  for (const ricci_type t : types) {
    const std::vector<uint64_t> zeros(session.Info(t).bytes() / 8 + 1);
    ricci_array* a = nullptr;
    Check(ricci_array_from_host(device, t, zeros.data(), nullptr, &a));
    out.push_back(Own(a));
  }
  return out;
}

// Returns the least of them.
double PrintTimes(const char* where, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  std::printf("best    %.3f us per run%s\nmedian  %.3f us per run%s\n", seconds[0] * 1e6, where,
              seconds[seconds.size() / 2] * 1e6, where);
  return seconds[0];
}

void Bench(const Session& session, const Arguments& arguments) {
  const Program p = LoadOperand(session, arguments);
  const auto start = Clock::now();
  const Executable x = CompileOperand(session, arguments, p);
  const double compile = Seconds(start);
  const Signature s = SignatureOf(p.get());
  ricci_device* const device = session.Device(arguments.option_or("device", ""));
  const std::vector<Array> inputs = Inputs(session, arguments, s.params, device);
  const std::vector<Array> results = Zeros(session, s.results, device);
  ricci_call* raw = nullptr;
  Check(ricci_call_create(x.get(), &raw));
  const Call call = Own(raw);
  uint32_t slot = 0;
  for (const std::vector<Array>* arrays : {&inputs, &results}) {
    for (const Array& a : *arrays) {
      Check(ricci_call_bind(raw, slot++, ricci_array_device_data(a.get()), ricci_array_bytes(a.get())));
    }
  }
  const RunTimes times = MeasureRuns(raw, device,
                                     {.seconds = arguments.number_or("seconds", 1),
                                      .in_flight = arguments.integer_or("inflight", 1, 1, kMostInFlight),
                                      .events = arguments.flag("events")});
  std::printf("compile %.3f ms\n", compile * 1e3);
  const double best = PrintTimes("", times.host);
  if (!times.device.empty()) PrintTimes(" on the device", times.device);
  ricci_executable_stats stats{};
  stats.hdr.size = sizeof stats;
  ricci_executable_info(x.get(), &stats);
  if (stats.flops != 0) std::printf("rate    %.3f GFLOP/s\n", static_cast<double>(stats.flops) / best * 1e-9);
}

}  // namespace

std::span<const Command> RunCommands() {
  constexpr std::string_view kRunDetails =
      "\n  --input 'I=LITERAL' value of parameter I as in program text, such as '0=[1.0, 2.0]' or '1=0.5'\n"
      "  --input I=@FILE     the same from .npy, .npz or .safetensors; I=@FILE:NAME for one of several arrays;\n"
      "                      random keys as jax.random.key_data gives them, u32[...,2], or as u64\n"
      "  --seed N            the other inputs are drawn from this seed (default: 0)\n"
      "  --device KIND       ref, cpu, cuda (default: the best one)\n"
      "  --opt N             1 compiles fast, 2 and 3 run fast\n"
      "  --passes A,B        only these passes, and those that every plan needs (`ricci help compile` lists them)\n"
      "  --skip A,B          all passes but these\n"
      "  --cache DIR         keeps what is compiled there, and does not compile it again (`ricci help cache`)\n";
  static const std::string run_details =
      std::string(kRunDetails) +
      "  --output FILE       writes the results there and prints none: .npy (one result), .npz or .safetensors\n"
      "  --profile FILE      writes a trace of the run there, for chrome://tracing or ui.perfetto.dev: kernels, "
      "library\n"
      "                      calls and copies, with names, lines, threads and times\n"
      "  --limit N           elements printed per result (default: 64)\n"
      "  --check-nans        first runs each equation by itself, and fails at the first one that makes a NaN or an\n"
      "                      infinity of finite operands, in loops and branches too, with its line; takes tens of\n"
      "                      times as long\n";
  static const std::string bench_details =
      std::string(kRunDetails) +
      "  --seconds S         time to measure (default: 1)\n"
      "  --inflight N        enqueues N runs before it waits for the first of them, and so on (default: 1, at most\n"
      "                      1024); on ref and cpu a run has ended when it is enqueued\n"
      "  --events            prints also the time on the device, by its events (on ref and cpu by the host's clock): "
      "of\n"
      "                      each run, or with --inflight from the first of many runs to the last one, for each\n";
  static const std::string compile_details =
      "\n  --explain      prints how each vmap, loop and kernel runs, what was estimated for it, and what is computed\n"
      "                 once or again; on cuda also registers, occupancy and bytes of each kernel\n"
      "  --dump STAGE   program, optimized, kernels, plan, native, all of these, the name of a pass, checks\n"
      "                 (what each failure of a run means), or object, which is a file; on cpu also assembly; on\n"
      "                 cuda source (the kernels alone), ptx and sass, which needs\n"
      "                 --config cuda.disassembler=PATH (of nvdisasm)\n"
      "  --device KIND  ref, cpu, cuda (default: the best one); --config cuda.arch=sm_90a needs no GPU\n"
      "  --opt N        1 compiles fast, 2 and 3 run fast\n"
      "  --passes A,B   only these passes, and those that every plan needs\n"
      "  --skip A,B     all passes but these\n"
      "  --cache DIR    keeps what is compiled there, and does not compile it again (`ricci help cache`)\n"
      "\nObject files, for programs in C or C++ that link nothing of Ricci (plugins/object/README.md):\n"
      "  -o FILE.o      the program as `int NAME(inputs, outputs, workspace)`; FILE.a takes several FILEs\n"
      "  -h FILE.h      its C header: shapes, types, ownership, threads, size of the workspace\n"
      "  --name NAME    of the function (default: the program's)\n"
      "  --derivatives grad,jvp,hvp   adds NAME_grad, NAME_jvp, NAME_hvp (hvp: Hessian times a vector)\n"
      "  --wrt 0,2      parameters to differentiate by (default: all floating ones)\n"
      "  --vmap N       all functions over a leading dimension of N\n"
      "  --cpu NAME     x86-64, x86-64-v2, x86-64-v3 (default), x86-64-v4, native, or any of LLVM's names\n"
      "  --target NAME  x86_64-linux-gnu, aarch64-linux-gnu (default: this machine's)\n"
      "  --workspace KIND   caller (default) or own: in the object, which then serves one thread at a time\n"
      "\nPasses, in their order:\n    " +
      PassList();
  static const Command kCommands[] = {
      {"run",
       "[OPTIONS] FILE",
       "compiles and runs a program; prints its results",
       run_details,
       {"input", "output", "seed", "device", "opt", "passes", "skip", "cache", "limit", "profile"},
       {"check-nans"},
       Run},
      {"compile",
       "[OPTIONS] FILE [-o FILE.o -h FILE.h]",
       "compiles a program; prints statistics or a stage, or writes an object file",
       compile_details,
       {"device", "opt", "dump", "passes", "skip", "cache", "output", "header", "name", "derivatives", "wrt", "vmap",
        "cpu", "target", "workspace"},
       {"explain"},
       CompileCommand,
       {{"-o", "output"}, {"-h", "header"}}},
      {"bench",
       "[OPTIONS] FILE",
       "measures a program with bound inputs and results",
       bench_details,
       {"input", "seed", "device", "opt", "passes", "skip", "cache", "seconds", "inflight"},
       {"events"},
       Bench},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
