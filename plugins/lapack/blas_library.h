// The library with LAPACK's routines: an OpenBLAS that is found and opened while the host runs.
#ifndef RICCI_LAPACK_BLAS_LIBRARY_H_
#define RICCI_LAPACK_BLAS_LIBRARY_H_
#include <span>
#include <string>
#include <string_view>

namespace ricci::lapack {

// A handle of dlopen, which is never closed.
class BlasLibrary {
 public:
  explicit BlasLibrary(void* handle) : handle_(handle) {}

  // The first of `names` that is an OpenBLAS which several threads may call; it then computes each call with the
  // thread that makes it. Throws NOT_FOUND with what is wrong with each of them.
  static BlasLibrary Open(std::span<const char* const> names);

  void* handle() const { return handle_; }
  // Fortran's routine `name`, such as `dsyevd`; throws UNIMPLEMENTED if the library lacks it.
  void* Routine(std::string_view name) const;

 private:
  // What is wrong with it; empty if nothing is.
  std::string Fault() const;

  void* handle_;
};

// The names of OpenBLAS with LAPACK inside, in the order in which they are tried.
std::span<const char* const> BlasNames();

}  // namespace ricci::lapack
#endif
