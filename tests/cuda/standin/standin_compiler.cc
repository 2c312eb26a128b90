// The functions of NVRTC: a text is compiled by g++ into a shared object, which is the machine code of this machine.
#include <dlfcn.h>
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
#include <sstream>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

// What a CUDA compiler knows without a header, as far as printed kernels use it.
constexpr const char* kPrelude = R"(
#define __device__
#define __global__
#define __noinline__ __attribute__((noinline))
struct Index { unsigned x, y, z; };
struct Place {
  Index block, blocks, thread, threads;
  unsigned long long (*shuffle)(unsigned long long, unsigned);
  void (*barrier)();
};
static thread_local Index blockIdx, gridDim, threadIdx, blockDim;
static thread_local const Place* here;
static void Enter(const Place* p) {
  here = p;
  blockIdx = p->block; gridDim = p->blocks; threadIdx = p->thread; blockDim = p->threads;
}
#define __shared__ static thread_local
template <typename T>
static T __shfl_xor_sync(unsigned, T v, int across) {
  unsigned long long bits = 0;
  const Place* const p = here;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits = p->shuffle(bits, (unsigned)across);
  Enter(p);  // others ran in between
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}
static void __syncthreads() {
  const Place* const p = here;
  p->barrier();
  Enter(p);
}
extern "C" {
float fabsf(float); float sqrtf(float); float fmaf(float, float, float); float truncf(float); float rintf(float);
float copysignf(float, float); float floorf(float); float ceilf(float); float roundf(float); float fmodf(float, float);
float tanf(float); float lgammaf_r(float, int*);
double fabs(double); double sqrt(double); double fma(double, double, double); double trunc(double); double rint(double);
double copysign(double, double); double floor(double); double ceil(double); double round(double);
double fmod(double, double); double tan(double); double lgamma_r(double, int*); double ldexp(double, int);
}
static double lgamma(double x) { int sign; return lgamma_r(x, &sign); }
static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
template <typename T> static void atomicMin(T* p, T v) { if (v < *p) *p = v; }
template <typename T> static void atomicMax(T* p, T v) { if (v > *p) *p = v; }
template <typename T> static void atomicAdd(T* p, T v) { *p += v; }
)";

// For each kernel a function that takes its arguments as a launch does. Kernels are printed with a type and a name for
// each argument.
std::string Callers(const std::string& text) {
  std::string out;
  const std::string begin = "extern \"C\" __global__ void ";
  for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
    const size_t name = at + begin.size(), open = text.find('(', name), close = text.find(')', open);
    std::istringstream arguments(text.substr(open + 1, close - open - 1));
    std::string values, one;
    int n = 0;
    while (std::getline(arguments, one, ',')) {
      const std::string type = one.substr(0, one.find_last_of("* ") + 1);
      values += std::string(n == 0 ? "" : ", ") + "*(" + type + "*)a[" + std::to_string(n) + "]";
      ++n;
    }
    const std::string kernel = text.substr(name, open - name), body = text.substr(at, text.find(begin, at + 1) - at);
    const bool meets = body.find("__shfl") != body.npos || body.find("__syncthreads") != body.npos;
    out += "extern \"C\" unsigned long long call_" + kernel + "(void** a, const Place* p) {\n  if (p == 0) return " +
           std::to_string(static_cast<uint64_t>(n) | (meets ? kMeets : 0)) + "ull;\n  Enter(p);\n  " + kernel + "(" +
           values + ");\n  return 0;\n}\n";
  }
  return out;
}

// The real compiler, which must take the texts too: one of `every`, for one architecture in turn.
std::unique_ptr<Compiler> real;
std::atomic<uint32_t> texts{0}, compiled{0}, every{4};

void CompileForReal(const std::string& text) {
  static constexpr const char* kArchitectures[] = {"sm_80", "sm_90a", "sm_100a", "sm_120"};
  if (real == nullptr || texts++ % every != 0) return;
  std::string error;
  const char* const architecture = kArchitectures[compiled++ % std::size(kArchitectures)];
  if (!real->Compile(text, architecture, error).empty()) return;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain(error + "\n" + text);
}

constexpr int kKnown[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};  // architectures, as of NVRTC 13
constexpr char kPtx[] = "// the simulated compiler has no PTX\n";

struct Program {
  std::string source, log;
  std::string code;  // the length, then the shared object
};

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path NewFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "ricci-standin-XXXXXX").string();
  return mkdtemp(name.data()) == nullptr ? "." : name;
}

int CompileNew(Program& p) {
  CompileForReal(p.source);
  const std::filesystem::path folder = NewFolder(), source = folder / "k.cc", object = folder / "k.so",
                              log = folder / "log";
  std::ofstream(source) << kPrelude << "#line 1 \"ricci.cu\"\n" << p.source << "\n" << Callers(p.source);
  const std::string command = "g++ -std=c++17 -O0 -w -fPIC -shared -ffp-contract=off -fno-math-errno -x c++ " +
                              source.string() + " -o " + object.string() + " 2> " + log.string();
  const int status = std::system(command.c_str());
  p.log = ReadFile(log);
  const std::string library = ReadFile(object);
  std::filesystem::remove_all(folder);
  if (status != 0) return 6;  // NVRTC_ERROR_COMPILATION
  const uint64_t size = library.size();
  p.code.assign(reinterpret_cast<const char*>(&size), sizeof size);
  p.code += library;
  return 0;
}

// Texts of late are remembered, since tests run the same program many times.
int Compile(Program& p) {
  constexpr size_t kMost = 256;
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::string, Program>& known = *new std::map<std::string, Program>;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(p.source); found != known.end()) return p = found->second, 0;
  }
  const int result = CompileNew(p);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMost) known.clear();
  if (result == 0) known[p.source] = p;
  return result;
}

// Code that was loaded stays, so the same code is loaded once.
void* Load(const std::string& code) {
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::pair<size_t, size_t>, void*>& loaded = *new std::map<std::pair<size_t, size_t>, void*>;
  const std::lock_guard lock(mutex);
  void*& library = loaded[{code.size(), std::hash<std::string>()(code)}];
  if (library != nullptr) return library;
  const std::filesystem::path folder = NewFolder(), object = folder / "k.so";
  std::ofstream(object, std::ios::binary) << code;
  library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove_all(folder);
  return library;
}

}  // namespace

CuResult LoadModule(const void* image, Module& out) {
  uint64_t size;
  std::memcpy(&size, image, sizeof size);
  out.library = Load(std::string(static_cast<const char*>(image) + sizeof size, size));
  return out.library == nullptr ? CuResult{200} : CuResult{kCuSuccess};  // invalid image
}

Kernel FindKernel(const Module& module, const char* name) {
  Kernel kernel = nullptr;
  void* const p = dlsym(module.library, ("call_" + std::string(name)).c_str());
  std::memcpy(&kernel, &p, sizeof p);
  return kernel;
}

}  // namespace ricci::cuda::standin

using ricci::cuda::standin::Program;
extern "C" {
// From now on each text is also compiled by the NVRTC in that file; false if it cannot be opened.
int ricci_standin_nvrtc(const char* path) {
  std::string error;
  ricci::cuda::standin::real = ricci::cuda::OpenCompiler({path}, error);
  return ricci::cuda::standin::real != nullptr;
}
// Of so many texts one.
void ricci_standin_every(uint32_t n) { ricci::cuda::standin::every = n; }
uint32_t ricci_standin_compiled() { return ricci::cuda::standin::compiled; }
int nvrtcCreateProgram(void** out, const char* source, const char*, int, const char* const*, const char* const*) {
  *out = new Program{source, {}, {}};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  return ricci::cuda::standin::Compile(*static_cast<Program*>(program));
}
int nvrtcGetCUBINSize(void* program, size_t* bytes) { return *bytes = static_cast<Program*>(program)->code.size(), 0; }
int nvrtcGetCUBIN(void* program, char* out) {
  const std::string& code = static_cast<Program*>(program)->code;
  std::memcpy(out, code.data(), code.size());
  return 0;
}
int nvrtcGetNumSupportedArchs(int* n) { return *n = std::size(ricci::cuda::standin::kKnown), 0; }
int nvrtcGetSupportedArchs(int* numbers) {
  return std::copy(std::begin(ricci::cuda::standin::kKnown), std::end(ricci::cuda::standin::kKnown), numbers), 0;
}
int nvrtcGetPTXSize(void*, size_t* bytes) { return *bytes = sizeof ricci::cuda::standin::kPtx, 0; }
int nvrtcGetPTX(void*, char* out) {
  std::memcpy(out, ricci::cuda::standin::kPtx, sizeof ricci::cuda::standin::kPtx);
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
