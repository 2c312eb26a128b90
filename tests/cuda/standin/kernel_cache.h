// Compiled texts in a folder, so that the tests of one run, and those with a sanitizer, compile each text once.
//
// The folder is that of the environment's RICCI_STANDIN_CACHE; without it nothing is kept. A file has the whole of what
// it was made from before what was made, so another compiler, prelude or text never finds it. Files that were not used
// for a day are deleted.
#ifndef RICCI_TESTS_CUDA_KERNEL_CACHE_H_
#define RICCI_TESTS_CUDA_KERNEL_CACHE_H_
#include <string>

namespace ricci::cuda::standin {

// What was made from `key`; empty if it is not there.
std::string FindKept(const std::string& key);
// Other processes see all of it or nothing.
void Keep(const std::string& key, const std::string& made);

}  // namespace ricci::cuda::standin
#endif
