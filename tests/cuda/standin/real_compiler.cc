#include "real_compiler.h"

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/driver/nvrtc_program.h"
#include "standin.h"

namespace ricci::cuda::standin {
namespace {

// Those for which texts differ: without wgmma, with it, and what is newer.
constexpr const char* kDiffering[] = {"sm_80", "sm_90a", "sm_100a"};
// What else NVRTC 13 knows.
constexpr const char* kOthers[] = {"sm_75",  "sm_86",   "sm_87",  "sm_88",  "sm_89", "sm_90",
                                   "sm_100", "sm_103a", "sm_110", "sm_120", "sm_121"};

// The number of the commit, or `all`.
std::string Turn() {
  const char* const turn = std::getenv("RICCI_TURN");
  return turn == nullptr ? "0" : turn;
}
uint32_t OneOf() { return Turn() == "all" ? 4 : 8; }

std::mutex& mutex = *new std::mutex;
std::unique_ptr<Compiler> real;  // with the mutex held
std::atomic<uint32_t> texts{0}, compiled{0}, every{OneOf()};

bool Open(const char* path) {
  const std::lock_guard lock(mutex);
  std::string error;
  real = OpenCompiler({path}, error);
  return real != nullptr;
}

void OpenGiven() {
  const char* const path = std::getenv("RICCI_STANDIN_NVRTC");
  if (path == nullptr || Open(path)) return;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain(std::string("RICCI_STANDIN_NVRTC: no NVRTC in ") + path);
}

const Compiler* Opened() {
  // Not std::call_once: compiled as this library is, it would want the variables of libstdc++ at a fixed place of a
  // thread, which a program of C that has loaded that library later has not.
  [[maybe_unused]] static const bool asked = (OpenGiven(), true);
  const std::lock_guard lock(mutex);
  return real.get();
}

// Which of the texts are compiled, and for which architectures, follows from the number of the commit.
uint32_t FirstText() {
  static const auto first = static_cast<uint32_t>(std::strtoull(Turn().c_str(), nullptr, 10));
  return first;
}

// The three that differ, and between them one of the others.
const char* Next() {
  static std::atomic<uint32_t> turn{FirstText()};
  const uint32_t n = turn++;
  return n % 2 == 0 ? kDiffering[n / 2 % std::size(kDiffering)] : kOthers[n / 2 % std::size(kOthers)];
}

void CompileFor(const Compiler& compiler, const std::string& architecture, const std::string& text, bool unlinked) {
  ++compiled;
  const NvrtcProgram program(compiler, text);
  const bool is_taken = program.Compile({.architecture = architecture, .unlinked = unlinked});
  std::string log;
  if (!program.ReadText(compiler.nvrtcGetProgramLogSize, compiler.nvrtcGetProgramLog, log)) log = "there is no log";
  if (is_taken && log.empty()) return;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain(std::string("NVRTC ") + (is_taken ? "warns of" : "refuses") + " a kernel for " + architecture + ": " +
             log + "\n" + text);
}

}  // namespace

void CompileForReal(const std::string& text, bool unlinked) {
  static const bool all = std::getenv("RICCI_STANDIN_NVRTC_ALL") != nullptr;
  const Compiler* const compiler = Opened();
  const uint32_t one_of = every;
  if (compiler == nullptr || one_of == 0 || (!all && (FirstText() + texts++) % one_of != 0)) return;
  // Nothing else has clusters as sm_90a has them, so the text of that has them unasked.
  if (text.find("__cluster_dims__") != text.npos) return CompileFor(*compiler, "sm_90a", text, unlinked);
  if (!all) return CompileFor(*compiler, Next(), text, unlinked);
  for (const char* const architecture : kDiffering) CompileFor(*compiler, architecture, text, unlinked);
}

}  // namespace ricci::cuda::standin

extern "C" {
// From now on texts are also compiled by the NVRTC in that file; false if it cannot be opened.
int ricci_standin_nvrtc(const char* path) { return ricci::cuda::standin::Open(path); }
// From now on of so many texts one, none with 0; the number of before.
uint32_t ricci_standin_every(uint32_t n) { return ricci::cuda::standin::every.exchange(n); }
// So many were, for so many architectures each.
uint32_t ricci_standin_compiled() { return ricci::cuda::standin::compiled; }
}
