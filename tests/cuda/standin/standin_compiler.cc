// The functions of NVRTC: a text is compiled by g++ into a shared object, which is the machine code of this machine.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "device_matrices.h"
#include "device_mbarriers.h"
#include "device_prelude.h"
#include "device_stores.h"
#include "device_warpgroups.h"
#include "kernel_cache.h"
#include "kernel_library.h"
#include "ptx_text.h"
#include "real_compiler.h"

namespace ricci::cuda::standin {
namespace {

bool HasAny(const std::string& text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return text.find(w) != text.npos; });
}

// Words of a text whose threads may wait for each other: functions of the compiler, and those of the text that use
// them.
std::vector<std::string> WordsThatMeet(const std::string& text) {
  std::vector<std::string> words{"__shfl", "__sync", "__ballot", "ricci_meet", "ricci_dev_warp", "ldmatrix.", "mma."};
  const std::string begin = "static __device__ ";
  for (size_t at = text.find(begin), next; at != text.npos; at = next) {
    next = text.find(begin, at + 1);
    const std::string function = text.substr(at, std::min(next, text.find("extern \"C\" __global__", at)) - at);
    const size_t open = function.find('(');
    if (open == function.npos || !HasAny(function, words)) continue;
    words.push_back(function.substr(function.find_last_of("* ", open) + 1, open - function.find_last_of("* ", open)));
  }
  return words;
}

// The bytes of the arrays that a kernel declares, as an expression: `f32 v5[4000];`. Those of its functions and of the
// prelude are registers, or as if they were.
std::string PrivateArrays(const std::string& body) {
  static const std::regex& declaration = *new std::regex(R"(\n +([a-z]+[0-9]*) \w+\[(\d+)\];)");
  std::string bytes = "0ull";
  for (std::sregex_iterator at(body.begin(), body.end(), declaration), end; at != end; ++at) {
    bytes += " + sizeof(" + at->str(1) + ") * " + at->str(2) + "ull";
  }
  return bytes;
}

constexpr const char* kInPairs = "__cluster_dims__(2, 1, 1)";

// The line before a kernel that only some architectures have.
std::string GuardOf(const std::string& text, size_t kernel) {
  const size_t line = kernel < 2 ? std::string::npos : text.rfind('\n', kernel - 2);
  if (line == std::string::npos || text.compare(line + 1, 3, "#if") != 0) return {};
  return text.substr(line + 1, kernel - line - 1);
}

// For each kernel a function that takes its arguments as a launch does. Kernels are printed with a type and a name for
// each argument.
std::string Callers(const std::string& text) {
  std::string out;
  const std::string begin = "extern \"C\" __global__ ", result = "void ";
  const std::vector<std::string> meeting = WordsThatMeet(text);
  for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
    const size_t name = text.find(result, at) + result.size(), open = text.find('(', name),
                 close = text.find(')', open);
    std::istringstream arguments(text.substr(open + 1, close - open - 1));
    std::string values, one;
    int n = 0, maps = 0;
    while (std::getline(arguments, one, ',')) {
      const std::string type = one.substr(0, one.find_last_of("* ") + 1);
      values += std::string(n == 0 ? "" : ", ") + "*(" + type + "*)a[" + std::to_string(n) + "]";
      ++n;
      maps += type.find("u64x16") != type.npos ? 1 : 0;
    }
    const bool in_pairs = text.substr(at, name - at).find(kInPairs) != std::string::npos;
    const std::string kernel = text.substr(name, open - name), body = text.substr(at, text.find(begin, at + 1) - at);
    const bool meets = HasAny(body, meeting);
    const std::string guard = GuardOf(text, at);
    out += guard + "extern \"C\" RICCI_UNSEEN unsigned long long call_" + kernel +
           "(void** a, const Place* p) {\n  if (p == 0) return " +
           std::to_string(static_cast<uint64_t>(n) | static_cast<uint64_t>(maps) * kMaps | (meets ? kMeets : 0) |
                          (in_pairs ? kPairs : 0)) +
           "ull + " + std::to_string(kStack) + "ull * (" + PrivateArrays(body) +
           ");\n  Enter(p);\n  ricci_begin_thread();\n  " + kernel + "(" + values +
           ");\n  ricci_end_thread();\n  return 0;\n}\n" + (guard.empty() ? "" : "#endif\n");
  }
  return out;
}

// Whether the function around this place is a kernel whose blocks are pairs.
bool IsInPairs(const std::string& text, size_t at) {
  const size_t kernel = text.rfind("__global__ ", at), function = text.rfind("\nstatic __device__ ", at);
  if (kernel == text.npos || (function != text.npos && function > kernel)) return false;
  return text.substr(kernel, text.find('(', text.find("void ", kernel)) - kernel).find(kInPairs) != text.npos;
}

// Of a kernel whose blocks are pairs the array is that of both, of which each has its part.
void DivideArray(std::string& text, size_t at) {
  const size_t end = text.find("[]", at), name = text.rfind(' ', end) + 1, type = text.rfind(' ', name - 2) + 1;
  const std::string own = text.substr(name, end - name), of = text.substr(type, name - 1 - type);
  text.insert(text.find(';', end) + 1, " " + of + "* const " + own + " = " + own +
                                           "_of_pair + ricci_rank_in_cluster() * (232448 / sizeof(" + of + "));");
  text.replace(name, end + 2 - name, own + "_of_pair[2 * 232448 / sizeof(" + of + ")]");
}

// Arrays that take their size from the launch are as large as any may be; the check knows their size.
std::string WithDynamicArrays(std::string text) {
  const std::string begin = "extern __shared__";
  for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    text.replace(at, begin.size(), "__dynamic_shared__");
    const size_t size = text.find("[]", at);
    if (size >= text.find(';', at)) continue;
    if (IsInPairs(text, at)) {
      DivideArray(text, at);
    } else {
      text.insert(size + 1, "232448");
    }
  }
  return text;
}

// Of so many texts one is checked.
std::atomic<uint32_t> check_every{1}, checked{0};
constexpr const char* kFlags = " -std=c++17 -O0 -w -fPIC -shared -ffp-contract=off -fno-math-errno";
constexpr const char* kCheckedFlags =
    " -g1 -DRICCI_CHECKED -fsanitize=thread --param tsan-instrument-func-entry-exit=0 -fsanitize-coverage=trace-pc";
std::atomic<bool> is_evaluated{false};  // inline PTX is
constexpr const char* kFlagsOfWarpgroups = " -D__CUDA_ARCH_FEAT_SM90_ALL";
constexpr char kPtx[] = "// the simulated compiler has no PTX\n";
std::string refused;                   // texts with this word are
std::atomic<uint32_t> made{0};         // texts that were not
std::atomic<uint32_t> fails_after{0};  // texts until one fails, with `failure`
std::atomic<int> failure{0};

// Functions of the device that a driver or a linker adds to a text which may be unlinked.
constexpr const char* kLinkedFunctions[] = {"cudaGraphSetConditional"};

struct Program {
  std::string source, log;
  std::string architecture;
  std::string code;       // the length, then the shared object
  bool unlinked = false;  // calls that are not linked are allowed

  std::string key() const {
    return architecture + (unlinked ? " unlinked" : "") + (is_evaluated ? " PTX\n" : "\n") + source;
  }
};

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path NewFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "ricci-standin-XXXXXX").string();
  return mkdtemp(name.data()) == nullptr ? "." : name;
}

// At -O0 g++ makes code of static functions that nothing calls, unless they are inline: most of the time that a text
// would take. The text has those of the stand-in with the word where it is missing.
std::string WithInlineFunctions(const std::string& text) {
  const std::string word = "static ", unseen = "RICCI_UNSEEN ", apart = "__attribute__((noinline)) ";
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line); out += line + "\n") {
    size_t at = 0;
    for (const std::string& before : {unseen, apart})
      at += line.compare(at, before.size(), before) == 0 ? before.size() : 0;
    const size_t open = line.find('(', at), other = line.find_first_of("=;{", at);
    const bool is_function = line.compare(at, word.size(), word) == 0 && open != line.npos && open < other;
    if (is_function && line.find(" inline ", at) == line.npos) line.insert(at + word.size(), "inline ");
  }
  return out;
}

std::set<std::string> NamesIn(const std::string& text) {
  static const std::regex& name = *new std::regex(R"(\bricci_\w+)");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert(at->str());
  return names;
}

// What all texts begin with.
const std::string& Beginning() {
  static const std::string& text =
      *new std::string(WithInlineFunctions(std::string(DevicePrelude()) + DeviceMatrices()));
  return text;
}

// Then what groups of warps and copies of the GPU need, a third of the time of most texts, which have none of its
// names.
const std::string& GroupsAndCopies(const std::string& source) {
  static const std::string &text = *new std::string(WithInlineFunctions(std::string(DeviceWarpgroups()) +
                                                                        DeviceMbarriers() + DeviceStores())),
                           &none = *new std::string(NoDeviceWarpgroups());
  static const std::vector<std::string>& names = *[] {
    std::set<std::string> all = NamesIn(text);
    for (const std::string& n : NamesIn(Beginning())) all.erase(n);
    return new std::vector<std::string>(all.begin(), all.end());
  }();
  return HasAny(source, names) ? text : none;
}

// What g++ compiles for a program.
std::string TextFor(const Program& p) {
  std::ostringstream out;
  const std::string text = WithDynamicArrays(p.source);
  out << Beginning() << GroupsAndCopies(text) << (is_evaluated ? WithInlineFunctions(PtxPrelude()) : "")
      << (is_evaluated ? "#define __CUDA_ARCH__ 890\n" : "") << "#line 1 \"ricci.cu\"\n"
      << (is_evaluated ? WithPtxCalls(text) : text) << "\n"
      << Callers(p.source) << DeviceEnd();
  return out.str();
}

// It takes a third of the time of the other, where it is installed.
const char* LinkerFlag() {
  static const bool has_gold = std::system("ld.gold --version > /dev/null 2>&1") == 0;
  return has_gold ? " -fuse-ld=gold" : "";
}

// The shared object of a text; empty, with the log, if g++ refuses it.
std::string RunCompiler(const std::string& flags, const std::string& text, std::string& log) {
  const std::filesystem::path folder = NewFolder(), source = folder / "k.cc", object = folder / "k.so",
                              messages = folder / "log";
  std::ofstream(source) << text;
  // Without what a process may not have loaded for all, such as Python, the library of exceptions.
  const std::string command = "g++" + flags + LinkerFlag() + " -nostdlib -fno-exceptions -x c++ " + source.string() +
                              " -o " + object.string() + " -lm -lc 2> " + messages.string();
  const int status = std::system(command.c_str());
  log = ReadFile(messages);
  std::string library = status == 0 ? ReadFile(object) : "";
  std::filesystem::remove_all(folder);
  return library;
}

// Which g++ it is. The stand-in itself may be built by another compiler.
const std::string& CompilerVersion() {
  static const std::string& version = *[] {
    auto* const text = new std::string;
    FILE* const out = popen("g++ -dumpfullversion", "r");
    char line[64] = "";
    if (out != nullptr && std::fgets(line, sizeof line, out) != nullptr) *text = line;
    if (out != nullptr) pclose(out);
    return text;
  }();
  return version;
}

int CompileNew(Program& p) {
  const bool is_checked = check_every != 0 && checked++ % check_every == 0;
  const std::string flags = std::string(kFlags) + (is_checked ? kCheckedFlags : "") +
                            (p.architecture == "sm_90a" && !is_evaluated ? kFlagsOfWarpgroups : ""),
                    text = TextFor(p), key = CompilerVersion() + flags + "\n" + text;
  std::string library = FindKept(key);
  if (library.empty()) {
    library = RunCompiler(flags, text, p.log);
    if (library.empty()) return 6;  // NVRTC_ERROR_COMPILATION
    Keep(key, library);
  }
  CompileForReal(p.source, p.unlinked);
  const uint64_t size = library.size();
  p.code.assign(reinterpret_cast<const char*>(&size), sizeof size);
  p.code += library;
  return 0;
}

// Texts of late are remembered, since tests run the same program many times.
int Compile(Program& p) {
  if (fails_after != 0 && --fails_after == 0) return failure;
  if (!refused.empty() && p.source.find(refused) != p.source.npos) {
    p.log = "ricci.cu(1): error: the test refuses " + refused + "\n";
    return 6;
  }
  for (const char* const function : kLinkedFunctions) {
    if (p.unlinked || p.source.find(function) == p.source.npos) continue;
    p.log = std::string("ptxas fatal   : Unresolved extern function '") + function + "'\n";
    return 6;
  }
  ++made;
  constexpr size_t kMost = 256;
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::string, Program>& known = *new std::map<std::string, Program>;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(p.key()); found != known.end()) return p = found->second, 0;
  }
  const int result = CompileNew(p);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMost) known.clear();
  if (result == 0) known[p.key()] = p;
  return result;
}

}  // namespace

namespace {

// Machine code begins with its length, which is never so large.
constexpr const char* kPtxBegins = "//\n// ";
constexpr const char* kRealBegins = "\177ELF";  // for a real GPU, by NVRTC

// What was compiled as PTX: its text says only which of these it is.
std::vector<std::string>& ptx_code = *new std::vector<std::string>;
std::mutex& ptx_mutex = *new std::mutex;

std::string PtxOf(const Program& p) {
  if (!p.unlinked) return kPtx;
  const std::lock_guard lock(ptx_mutex);
  const auto found = std::find(ptx_code.begin(), ptx_code.end(), p.code);
  const auto number = static_cast<size_t>(found - ptx_code.begin());
  if (found == ptx_code.end()) ptx_code.push_back(p.code);
  return std::string(kPtxBegins) + "Simulated PTX\n//\n.version 9.0\n.target sm_75\n// code " + std::to_string(number) +
         "\n";
}

// A driver of CUDA 12.4 knows PTX 8.4.
CuResult LoadPtx(const std::string& ptx, int driver_version, const std::string*& out) {
  int major = 0, minor = 0;
  size_t number = 0;
  const size_t version = ptx.find(".version "), code = ptx.find("// code ");
  if (version == ptx.npos || code == ptx.npos) return 218;  // invalid PTX
  if (std::sscanf(ptx.c_str() + version, ".version %d.%d", &major, &minor) != 2) return 218;
  if (std::sscanf(ptx.c_str() + code, "// code %zu", &number) != 1) return 218;
  if ((major + 4) * 1000 + minor * 10 > driver_version) return 222;  // unsupported version
  const std::lock_guard lock(ptx_mutex);
  if (number >= ptx_code.size()) return 218;
  out = &ptx_code[number];
  return kCuSuccess;
}

}  // namespace

CuResult LoadModule(const void* image, int driver_version, Module& out) {
  std::string copy;
  if (std::memcmp(image, kRealBegins, std::strlen(kRealBegins)) == 0) return kCuInvalidImage;
  if (std::memcmp(image, kPtxBegins, std::strlen(kPtxBegins)) == 0) {
    const std::string* code = nullptr;
    if (const CuResult failed = LoadPtx(static_cast<const char*>(image), driver_version, code)) return failed;
    copy = *code;
    image = copy.data();
  }
  uint64_t size;
  std::memcpy(&size, image, sizeof size);
  out.library = LoadLibrary({static_cast<const char*>(image) + sizeof size, size});
  return out.library == nullptr ? kCuInvalidImage : kCuSuccess;
}

}  // namespace ricci::cuda::standin

using ricci::cuda::standin::Program;

namespace {

constexpr int kKnown[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};  // architectures, as NVRTC 13.0
int newest = 121;
const int* Newest() { return std::upper_bound(std::begin(kKnown), std::end(kKnown), newest); }

}  // namespace

extern "C" {
void ricci_standin_ptx(int evaluated) { ricci::cuda::standin::is_evaluated = evaluated != 0; }
void ricci_standin_check(uint32_t every) { ricci::cuda::standin::check_every = every; }
void ricci_standin_compiler_fails(uint32_t n, int result) {
  ricci::cuda::standin::failure = result;
  ricci::cuda::standin::fails_after = n;
}
// From now on texts that hold this word are refused; an empty word: none. And how many others were compiled.
void ricci_standin_refuse(const char* word) { ricci::cuda::standin::refused = word; }
uint32_t ricci_standin_made() { return ricci::cuda::standin::made; }
int nvrtcCreateProgram(void** out, const char* source, const char*, int, const char* const*, const char* const*) {
  *out = new Program{source, {}, {}, {}};
  return 0;
}
// The newest architecture that the compiler knows.
void ricci_standin_newest(int architecture) { newest = architecture; }
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
int nvrtcGetNumSupportedArchs(int* count) { return *count = static_cast<int>(Newest() - kKnown), 0; }
int nvrtcGetSupportedArchs(int* out) { return std::copy(kKnown, Newest(), out), 0; }
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
int nvrtcCompileProgram(void* program, int n_options, const char* const* options) {
  constexpr std::string_view kArchitecture = "--gpu-architecture=";
  auto& p = *static_cast<Program*>(program);
  for (int i = 0; i < n_options; ++i) {
    const std::string_view option = options[i];
    if (option.substr(0, kArchitecture.size()) == kArchitecture) p.architecture = option.substr(kArchitecture.size());
    if (option == "--relocatable-device-code=true") p.unlinked = true;
  }
  return ricci::cuda::standin::Compile(p);
}
int nvrtcGetCUBINSize(void* program, size_t* bytes) { return *bytes = static_cast<Program*>(program)->code.size(), 0; }
int nvrtcGetCUBIN(void* program, char* out) {
  const auto& p = *static_cast<Program*>(program);
  std::memcpy(out, p.code.data(), p.code.size());
  if (p.unlinked) std::memset(out, 0, sizeof(uint64_t));  // no driver loads it as it is
  return 0;
}
int nvrtcGetPTXSize(void* program, size_t* bytes) {
  return *bytes = ricci::cuda::standin::PtxOf(*static_cast<Program*>(program)).size() + 1, 0;
}
int nvrtcGetPTX(void* program, char* out) {
  const std::string ptx = ricci::cuda::standin::PtxOf(*static_cast<Program*>(program));
  std::memcpy(out, ptx.c_str(), ptx.size() + 1);
  return 0;
}
int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  return *bytes = static_cast<Program*>(program)->log.size() + 1, 0;
}
int nvrtcGetProgramLog(void* program, char* out) {
  const std::string& log = static_cast<Program*>(program)->log;
  std::memcpy(out, log.c_str(), log.size() + 1);
  return 0;
}
}
