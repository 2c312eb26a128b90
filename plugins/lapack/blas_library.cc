// Names of routines depend on who built the library: PyPI's scipy-openblas puts `scipy_` before them, and builds whose
// integers have 64 bits put `64_` after them. All integers are passed by address as 64-bit numbers that are 0 before a
// routine writes to them, so a library with 32-bit integers reads and writes their lower halves (x86-64).
#include "blas_library.h"

#include <dlfcn.h>

#include "ricci/error.hpp"

namespace ricci::lapack {
namespace {

struct Spelling {
  std::string_view before, after_fortran, after_c;
};
constexpr Spelling kSpellings[] = {{"scipy_", "_64_", "64_"}, {"", "_64_", "64_"}, {"scipy_", "_", ""}, {"", "_", ""}};

constexpr const char* kNames[] = {"libscipy_openblas64_.so", "libscipy_openblas.so", "libopenblas64_.so.0",
                                  "libopenblas.so.0"};

void* Symbol(void* handle, std::string_view before, std::string_view name, std::string_view after) {
  return dlsym(handle, Text(before, name, after).c_str());
}
template <typename Function>
Function* OfOpenBlas(void* handle, std::string_view name) {
  for (const Spelling& s : kSpellings) {
    if (void* found = Symbol(handle, s.before, name, s.after_c)) return reinterpret_cast<Function*>(found);
  }
  return nullptr;
}

}  // namespace

std::span<const char* const> BlasNames() { return kNames; }

// A sequential build keeps state that calls on two threads overwrite: their results are wrong.
std::string BlasLibrary::Fault() const {
  const auto parallel = OfOpenBlas<int()>(handle_, "openblas_get_parallel");
  if (parallel == nullptr || OfOpenBlas<void(int)>(handle_, "openblas_set_num_threads") == nullptr) {
    return "is not OpenBLAS";
  }
  return parallel() == 0 ? "is a sequential build, which only one thread may call" : "";
}

BlasLibrary BlasLibrary::Open(std::span<const char* const> names) {
  std::string faults;
  for (const char* name : names) {
    void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const BlasLibrary library(handle);
    const std::string fault = handle == nullptr ? "cannot be opened" : library.Fault();
    if (fault.empty()) {
      OfOpenBlas<void(int)>(handle, "openblas_set_num_threads")(1);
      return library;
    }
    if (handle != nullptr) dlclose(handle);
    faults += Text(faults.empty() ? "" : "; ", name, " ", fault);
  }
  throw Error(RICCI_NOT_FOUND,
              Text("lapack: no library: ", faults,
                   "; install libopenblas0-pthread, or open another OpenBLAS of one of these names before this plugin "
                   "is added; without it the built-in lowerings are used"));
}

void* BlasLibrary::Routine(std::string_view name) const {
  for (const Spelling& s : kSpellings) {
    if (void* found = Symbol(handle_, s.before, name, s.after_fortran)) return found;
  }
  throw Error(RICCI_UNIMPLEMENTED, Text("lapack: the library has no routine ", name));
}

}  // namespace ricci::lapack
