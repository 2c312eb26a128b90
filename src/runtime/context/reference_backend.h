// `ref`: the reference device, a complete backend that interprets kernels and plans. Every context has it; it is the
// oracle of the tests.
#ifndef RICCI_RUNTIME_REFERENCE_BACKEND_H_
#define RICCI_RUNTIME_REFERENCE_BACKEND_H_
#include "ricci/backend.h"
#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace runtime {

// Of this context, in which its runs find the locations of loops.
ricci_backend ReferenceBackend(const Context* context);

}}}  // namespace ricci::v0::runtime
#endif
