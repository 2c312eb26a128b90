// check: the laws of ricci/check.h, for primitives (on the examples that they carry) and for programs; one line per
// law.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "cli/command.h"
#include "cli/elements.h"
#include "ricci/check.h"
#include "ricci/float_format.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

struct Tally {
  uint64_t reported = 0, failed = 0;
};

void PrintLaw(void* sink, const ricci_check_law* law) {
  Tally& tally = *static_cast<Tally*>(sink);
  ++tally.reported;
  const int width = static_cast<int>(law->name.len);
  const auto comparisons = static_cast<unsigned long long>(law->comparisons);
  if (law->failure.len != 0) {
    ++tally.failed;
    std::printf("  %-18.*s FAILED  %.*s\n", width, law->name.ptr, static_cast<int>(law->failure.len), law->failure.ptr);
  } else if (law->comparisons == 0) {
    std::printf("  %-18.*s -       nothing to compare\n", width, law->name.ptr);
  } else {
    std::printf("  %-18.*s ok      %llu comparison%s", width, law->name.ptr, comparisons, comparisons == 1 ? "" : "s");
    std::printf(law->worst == 0 ? ", equal\n" : ", largest error %.0e\n", law->worst);
  }
}

// ---- operands ----
bool IsPrimitive(const Session& session, const std::string& name) {
  ricci_prim id = 0;
  ricci_status* s = ricci_prim_find(session.context(), name.data(), name.size(), &id);
  const bool found = s == nullptr;
  ricci_status_free(s);
  return found;
}
// The primitives of the plugins that were loaded.
std::vector<std::string> LoadedPrimitives(const Session& session) {
  std::vector<std::string> out;
  ricci_prim id = 0;
  for (uint32_t i = session.builtin_primitives();; ++i) {
    const ricci_prim_def* d = ricci_prim_at(session.context(), i, &id);
    if (d == nullptr) return out;
    out.emplace_back(View(d->name));
  }
}

double Bound(const std::string& option, std::string_view text) {
  double v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc() && end == text.data() + text.size()) return v;
  throw UsageError("--range " + option + ": write I=LOW..HIGH");
}
// `I=LOW..HIGH`
void ReadRange(const std::string& option, std::vector<ricci_check_operand>& operands) {
  const size_t equals = option.find('='), dots = option.find("..");
  if (equals == std::string::npos || dots == std::string::npos || dots < equals) Bound(option, "");
  const double index = Bound(option, std::string_view(option).substr(0, equals));
  if (!(index >= 0 && index < static_cast<double>(operands.size())) || index != std::floor(index)) {
    throw UsageError("--range " + option + ": the program has " + CountOfParameters(operands.size()));
  }
  ricci_check_operand& operand = operands[static_cast<size_t>(index)];
  operand.low = Bound(option, std::string_view(option).substr(equals + 1, dots - equals - 1));
  operand.high = Bound(option, std::string_view(option).substr(dots + 2));
  if (!(operand.low < operand.high)) throw UsageError("--range " + option + ": LOW must be below HIGH");
}

ricci_check_operand OperandOf(const Session& session, ricci_type type) {
  const uint32_t dtype = session.Info(type).dtype;
  const bool floating = ricci_float_format_of(dtype).exponent_bits != 0;
  const double high = dtype == RICCI_BOOL || floating ? 2.0 : dtype == RICCI_KEY ? 0x1p32 : 4.0;
  return {type, 0, floating ? -2.0 : 0.0, high};
}
uint32_t LeftOut(const Arguments& arguments) {
  uint32_t flags = 0;
  if (arguments.flag("no-derivatives")) flags |= RICCI_CHECK_NO_DERIVATIVES;
  if (arguments.flag("first-order")) flags |= RICCI_CHECK_FIRST_ORDER;
  if (arguments.flag("no-batch")) flags |= RICCI_CHECK_NO_BATCH;
  return flags;
}

// ---- checking ----
// Is the program one of floating numbers, none of which is precise enough for differences?
bool IsCoarse(const Session& session, const Program& p) {
  bool inexact = false;
  for (ricci_type t : SignatureOf(p.get()).params) {
    const uint32_t dtype = session.Info(t).dtype;
    if (PartOf(dtype) == RICCI_F64) return false;
    inexact |= ricci_float_format_of(PartOf(dtype)).exponent_bits != 0;
  }
  return inexact;
}

ricci_status* CheckProgram(const Session& session, const Arguments& arguments, const Program& p,
                           const ricci_check_opts& o) {
  std::vector<ricci_check_operand> operands;
  for (ricci_type t : SignatureOf(p.get()).params) operands.push_back(OperandOf(session, t));
  for (const std::string& range : arguments.all("range")) ReadRange(range, operands);
  ricci_check_example e{};
  e.hdr.size = sizeof e;
  e.hdr.flags = LeftOut(arguments);
  e.operands = operands.data();
  e.n_operands = static_cast<uint32_t>(operands.size());
  e.seed = static_cast<uint64_t>(arguments.integer_or("seed", 0));
  return ricci_check_program(p.get(), &e, &o);
}

// True if all laws hold. An error that comes before any law is printed, and thrown if this operand is the only one.
bool CheckOne(const Session& session, const Arguments& arguments, const std::string& operand, bool alone) {
  Tally tally;
  const std::string device = arguments.option_or("device", "");
  if (!device.empty()) session.Device(device);  // an error before anything is printed
  ricci_check_opts o = ricci_check_opts_default();
  o.device = {device.data(), device.size()};
  o.sink = &tally;
  o.law = PrintLaw;
  const bool is_primitive = IsPrimitive(session, operand);
  if (!is_primitive && operand != "-" && !std::ifstream(operand)) {
    throw Failure(operand + ": no such primitive, and no such file");
  }
  std::printf("%s\n", operand == "-" ? "<stdin>" : operand.c_str());
  ricci_status* s = nullptr;
  bool is_coarse = false;
  if (is_primitive) {
    s = ricci_check_primitive(session.context(), operand.data(), operand.size(), nullptr, 0, &o);
  } else {
    const Program p = session.Load(operand);
    s = CheckProgram(session, arguments, p, o);
    is_coarse = !arguments.flag("no-derivatives") && IsCoarse(session, p);
  }
  if (tally.reported == 0 && alone) Check(s);
  if (tally.reported == 0) {
    ricci_str why{};
    ricci_status_message(s, &why);
    std::printf("  cannot be checked  %.*s\n", static_cast<int>(why.len), why.ptr);
    ++tally.failed;
  }
  if (is_coarse) std::puts("  derivatives are checked in f64 only: make the parameters f64 for that");
  ricci_status_free(s);
  return tally.failed == 0;
}

void CheckCommand(const Session& session, const Arguments& arguments) {
  std::vector<std::string> operands = arguments.operands();
  if (operands.empty()) operands = LoadedPrimitives(session);
  if (operands.empty()) throw UsageError("takes a PRIMITIVE or a FILE (`-` for standard input), or --plugin");
  size_t broken = 0;
  for (const std::string& operand : operands) broken += !CheckOne(session, arguments, operand, operands.size() == 1);
  if (broken == 0) return;
  std::fflush(stdout);
  throw Failure(operands.size() == 1
                    ? "a law does not hold"
                    : "laws do not hold for " + std::to_string(broken) + " of " + std::to_string(operands.size()));
}

}  // namespace

std::span<const Command> CheckCommands() {
  static const Command kCommands[] = {
      {"check",
       "[OPTIONS] [PRIMITIVE... | FILE]",
       "checks primitives or a program against the laws",
       "\nEvery rule is compared with what it means: derivatives with central differences (in f64 only, since others\n"
       "are too coarse), batches with loops, devices with `ref`. A primitive is checked on the\n"
       "examples that its row carries; without operands, all primitives of the plugin given by --plugin. One line per\n"
       "law; exit status 1 if one does not hold.\n"
       "\n  --device KIND        compare this device with ref (default: all)\n"
       "  --range 'I=LOW..HIGH'  elements of parameter I of a program (default: -2..2, integers 0..4)\n"
       "  --seed N             the elements are drawn from this seed (default: 0)\n"
       "  --no-derivatives, --first-order, --no-batch\n"
       "                       laws of a program that are left out\n",
       {"device", "range", "seed"},
       {"no-derivatives", "first-order", "no-batch"},
       CheckCommand},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
