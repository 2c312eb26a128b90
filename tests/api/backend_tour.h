// BackendTour: a backend that has every function, and a host that makes the core call each of them.
//
// The tour goes on after failures, as far as there are objects to go on with, and gathers what they say.
#ifndef RICCI_TESTS_API_BACKEND_TOUR_H_
#define RICCI_TESTS_API_BACKEND_TOUR_H_
#include <string>
#include <vector>

#include "ricci/ricci.h"
#include "support/late_backend.h"

namespace ricci::testing {

// `late` with all functions that a backend with memory of its own may have.
ricci_backend FullLateBackend(LateDevices& late);
// A backend of the host's memory, which has `run`; its programs copy their first argument.
ricci_backend HostBackend();

// In a context that has the backend as device 0: the messages of all calls that fail, one for each.
std::vector<std::string> BackendTour(ricci_ctx* ctx);

}  // namespace ricci::testing
#endif
