// reduce: a small program that fails like a large one, for a report.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#include "cli/command.h"
#include "cli/elements.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

using Fails = std::function<bool(const ricci_program*)>;

// ---- running ----
using Results = std::vector<std::vector<unsigned char>>;

// Inputs that are constants would be folded, which ref does whatever the device.
std::string Skipped(const Arguments& arguments) {
  std::string skip = arguments.option_or("skip", "");
  if (arguments.all("input").empty()) return skip;
  return skip + (skip.empty() ? "" : ",") + "fold,fold_again";
}

Results RunOn(const Session& session, const Arguments& arguments, const ricci_program* p, ricci_device* device) {
  const Executable x = Compile(p, device, static_cast<uint32_t>(arguments.integer_or("opt", 0, 0, 3)),
                               arguments.option_or("passes", ""), Skipped(arguments));
  const Signature s = SignatureOf(p);
  const std::vector<Array> inputs = DrawnInputs(session, arguments, s.params, device);
  std::vector<ricci_array*> in, out(s.results.size());
  for (const Array& a : inputs) in.push_back(a.get());
  Check(ricci_executable_run(x.get(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                             static_cast<uint32_t>(out.size()), nullptr));
  std::vector<Array> owned;
  for (ricci_array* a : out) owned.push_back(Own(a));
  Results results;
  for (const Array& a : owned) {
    results.emplace_back(ricci_array_bytes(a.get()));
    Check(ricci_array_copy_to_host(a.get(), results.back().data(), results.back().size()));
  }
  return results;
}

// The message of the error with which it fails, or "".
std::string ErrorOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const Failure& e) {
    return e.what();
  }
  return "";
}

// ---- what counts as failing ----
// Two numbers of one dtype: equal up to the tolerance, relative to the larger of 1 and the first; NaN equals NaN.
bool Near(double expected, double got, double tolerance) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (expected == got) return true;
  return std::fabs(expected - got) <= tolerance * std::max(1.0, std::fabs(expected));  // false for infinities
}

bool SameElements(const TypeInfo& type, const std::vector<unsigned char>& a, const std::vector<unsigned char>& b,
                  double tolerance) {
  const uint32_t part = PartOf(type.dtype), size = ricci_dtype_size(part);
  if (part < RICCI_F16 || part > RICCI_F64) return a == b;
  for (size_t at = 0; at + size <= a.size(); at += size) {
    if (!Near(FloatAt(part, a.data() + at), FloatAt(part, b.data() + at), tolerance)) return false;
  }
  return true;
}

// The device gives another result than `ref`, or only one of them gives any.
bool Differs(const Session& session, const Arguments& arguments, const ricci_program* p) {
  const double tolerance = arguments.number_or("tolerance", 0.01);
  Results expected, got;
  const std::string on_ref = ErrorOf([&] { expected = RunOn(session, arguments, p, session.Device("ref")); });
  const std::string on_device =
      ErrorOf([&] { got = RunOn(session, arguments, p, session.Device(arguments.option_or("device", ""))); });
  if (!on_ref.empty() || !on_device.empty()) return on_ref.empty() != on_device.empty();
  const std::vector<ricci_type> types = SignatureOf(p).results;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!SameElements(session.Info(types[i]), expected[i], got[i], tolerance)) return true;
  }
  return false;
}

bool FailsWith(const Session& session, const Arguments& arguments, const ricci_program* p, const std::string& text) {
  const std::string error =
      ErrorOf([&] { RunOn(session, arguments, p, session.Device(arguments.option_or("device", ""))); });
  return error.find(text) != std::string::npos;
}

// Some equation makes a NaN or an infinity.
bool MakesNans(const Session& session, const Arguments& arguments, const ricci_program* p) {
  ricci_device* device = session.Device(arguments.option_or("device", ""));
  const std::vector<Array> inputs = DrawnInputs(session, arguments, SignatureOf(p).params, device);
  std::vector<ricci_array*> in;
  for (const Array& a : inputs) in.push_back(a.get());
  ricci_status* s = ricci_check_finite(p, device, in.data(), static_cast<uint32_t>(in.size()));
  const bool found = s != nullptr && ricci_status_code(s) == RICCI_OUT_OF_RANGE;
  ricci_status_free(s);
  return found;
}

// A file of this process, removed at its end.
class ScratchFile {
 public:
  ScratchFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/ricci-reduce-XXXXXX";
    const int file = ::mkstemp(path_.data());
    if (file < 0) throw Failure(path_ + ": cannot be written; set TMPDIR to a folder for files of this command");
    ::close(file);
  }
  ScratchFile(const ScratchFile&) = delete;
  ~ScratchFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The command gets the file as its last word, by a variable, so that nothing in its name needs quotes.
bool CommandHolds(const std::string& command, const ScratchFile& file, const ricci_program* p, bool binary) {
  WriteAll(file.path(), FileOf(p, binary));
  ::setenv("RICCI_PROGRAM", file.path().c_str(), /*overwrite=*/1);
  return std::system((command + " \"$RICCI_PROGRAM\" >&2").c_str()) == 0;
}

// ---- the command ----
// Parameters with --input become constants, so that they stay what they are when others are dropped.
Program WithGivenInputs(const Session& session, const Arguments& arguments, Program p) {
  const Signature s = SignatureOf(p.get());
  const std::vector<bool> given = GivenInputs(arguments, s.params.size());
  if (std::find(given.begin(), given.end(), true) == given.end()) return p;
  const std::vector<Array> inputs = Inputs(session, arguments, s.params, session.Device("ref"));
  std::vector<ricci_type> kept;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) kept.push_back(s.params[i]);
  }
  ricci_str name{};
  ricci_program_name(p.get(), &name);
  ricci_builder* b = nullptr;
  std::vector<ricci_val> params(kept.size()), in, out(s.results.size());
  Check(ricci_builder_create(session.context(), name.ptr, name.len, kept.data(), static_cast<uint32_t>(kept.size()), &b,
                             params.data()));
  Handle<ricci_builder> owned(b, ricci_builder_abandon);
  for (size_t i = 0, next = 0; i < given.size(); ++i) {
    ricci_val v = given[i] ? 0 : params[next++];
    const ricci_array* a = inputs[i].get();
    if (given[i]) Check(ricci_builder_const(b, s.params[i], ricci_array_data(a), ricci_array_bytes(a), &v));
    in.push_back(v);
  }
  Check(ricci_builder_inline(b, p.get(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                             static_cast<uint32_t>(out.size())));
  ricci_program* made = nullptr;
  Check(ricci_builder_finish(b, out.data(), static_cast<uint32_t>(out.size()), &made));
  (void)owned.release();  // finished
  return Own(made);
}

// What is reported while the search runs, and an exception that may not cross the ABI.
struct Progress {
  const Fails& fails;
  uint64_t tries = 0;
  std::exception_ptr error = nullptr;

  uint32_t Try(const ricci_program* candidate) noexcept {
    if (error != nullptr) return 0;
    try {
      if (tries++, !fails(candidate)) return 0;
      const std::string text = TextOf(candidate);
      std::fprintf(stderr, "reduce: %zu lines after %llu %s\n",
                   static_cast<size_t>(std::count(text.begin(), text.end(), '\n')),
                   static_cast<unsigned long long>(tries), tries == 1 ? "try" : "tries");
      return 1;
    } catch (...) {
      error = std::current_exception();
      return 0;
    }
  }
};

Program Reduced(const Arguments& arguments, const Program& p, const Fails& fails) {
  Progress progress{fails};
  ricci_reduction how{};
  how.hdr.size = sizeof how;
  how.self = &progress;
  how.fails = [](void* self, const ricci_program* c) { return static_cast<Progress*>(self)->Try(c); };
  how.tries = static_cast<uint64_t>(arguments.integer_or("tries", 0, 0));
  how.seconds = arguments.number_or("seconds", 0);
  ricci_program* out = nullptr;
  ricci_status* s = ricci_program_reduce(p.get(), &how, &out);
  Program reduced = Own(out);
  if (progress.error != nullptr) {
    ricci_status_free(s);
    std::rethrow_exception(progress.error);
  }
  Check(s);
  return reduced;
}

// A program as a reader of its file gets it: what fails may be what its form makes of it.
Program ReadAgain(const Session& session, const ricci_program* p, bool binary) {
  return session.ToProgram(FileOf(p, binary), "reduced");
}

void Reduce(const Session& session, const Arguments& arguments) {
  const auto error = arguments.option("error"), command = arguments.option("command");
  const bool nans = arguments.flag("nans");
  if (error.has_value() + command.has_value() + nans > 1) {
    throw UsageError("takes one of --error, --nans and --command");
  }
  const std::string given = ReadAll(arguments.file());
  const bool binary = ricci_program_is_binary(given.data(), given.size()) != 0;
  const Program p = WithGivenInputs(session, arguments, session.ToProgram(given, arguments.file()));
  const ScratchFile file;
  const Fails fails = [&](const ricci_program* candidate) {
    if (command) return CommandHolds(*command, file, candidate, binary);
    const Program read = ReadAgain(session, candidate, binary);
    if (nans) return MakesNans(session, arguments, read.get());
    return error ? FailsWith(session, arguments, read.get(), *error) : Differs(session, arguments, read.get());
  };
  const Program reduced = Reduced(arguments, p, fails);
  if (!fails(reduced.get())) throw Failure("the reduced program does not fail again: does the failure come by chance?");
  if (const auto path = arguments.option("output")) return WriteAll(*path, FileOf(reduced.get(), binary));
  const std::string text = TextOf(reduced.get());
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

std::span<const Command> ReduceCommands() {
  static const Command kCommands[] = {
      {"reduce",
       "[OPTIONS] FILE",
       "finds a smaller program that fails in the same way",
       "\nDrops results, parameters and equations, replaces equations by what they hold, and makes dimensions, trip\n"
       "counts and constants smaller, in loops and branches too, as long as the program still fails. It fails if its\n"
       "results on the device differ from those on ref, or if only one of the two gives an error; or as one of the\n"
       "first three options says. Each program that is kept is reported on stderr. A binary program is tried in binary "
       "form.\n"
       "\n  --error TEXT        it fails if compiling or running it gives an error with this text\n"
       "  --nans              it fails if an equation makes a NaN or an infinity, as run --check-nans looks for them\n"
       "  --command CMD       it fails if `CMD FILE` exits with 0, where FILE holds the program in the form of the "
       "input\n"
       "  --output FILE       writes the program there, in the form of the input (default: prints it as text)\n"
       "  --device KIND       ref, cpu, cuda (default: the best one)\n"
       "  --opt N, --passes A,B, --skip A,B\n"
       "                      as in run\n"
       "  --tolerance R       floats differ by more than R, relative to the larger of 1 and their value on ref\n"
       "                      (default: 0.01)\n"
       "  --input I=...       as in run; the parameter becomes a constant, which may become simpler. Then no pass "
       "folds\n"
       "                      constants: run the result with --skip fold,fold_again too\n"
       "  --seed N            the other inputs are drawn from this seed (default: 0)\n"
       "  --tries N, --seconds S\n"
       "                      ends the search early (default: when no step makes it smaller)\n",
       {"error", "command", "output", "device", "opt", "passes", "skip", "tolerance", "input", "seed", "tries",
        "seconds"},
       {"nans"},
       Reduce},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
