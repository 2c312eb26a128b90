// The real compiler, which must take the texts that the simulated GPU runs, without a warning.
//
// `ricci_standin_nvrtc`, or RICCI_STANDIN_NVRTC of the environment, gives the file of NVRTC; there is none otherwise.
// One of some texts (`ricci_standin_every`, first eight) is compiled for one architecture in turn, other ones for each
// number in RICCI_TURN, and twice as many with `all` there. With RICCI_STANDIN_NVRTC_ALL in the environment all are,
// for each architecture whose code differs.
#ifndef RICCI_TESTS_CUDA_REAL_COMPILER_H_
#define RICCI_TESTS_CUDA_REAL_COMPILER_H_
#include <string>

namespace ricci::cuda::standin {

// Complains if it refuses the text or warns of something. `unlinked`: calls that are not linked are allowed.
void CompileForReal(const std::string& text, bool unlinked);

}  // namespace ricci::cuda::standin
#endif
