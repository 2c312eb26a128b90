// `ref`: the reference device, a complete backend that interprets kernels and plans. Every context has it; it is the
// oracle of the tests.
#ifndef RICCI_RUNTIME_REFERENCE_BACKEND_H_
#define RICCI_RUNTIME_REFERENCE_BACKEND_H_
#include "ricci/backend.h"

namespace ricci { inline namespace v0 { namespace runtime {

ricci_backend ReferenceBackend();

}}}  // namespace ricci::v0::runtime
#endif
