// The build of the file (program or shared object) in which a function of this process lies.
#ifndef RICCI_RUNTIME_BUILD_ID_H_
#define RICCI_RUNTIME_BUILD_ID_H_
#include <string>

namespace ricci { inline namespace v0 { namespace runtime {

// The build id that the linker has put there, as digits: it follows from all that the file contains. Empty if the
// address is outside of all files (code made at run time), or the linker was asked for none (--build-id=none).
std::string BuildIdOf(const void* function);

template <typename F>
std::string BuildIdOf(F* function) {
  return BuildIdOf(reinterpret_cast<const void*>(function));
}

}}}  // namespace ricci::v0::runtime
#endif
