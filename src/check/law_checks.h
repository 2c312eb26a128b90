// The laws, checked for one program at one example.
#ifndef RICCI_CHECK_LAW_CHECKS_H_
#define RICCI_CHECK_LAW_CHECKS_H_
#include "check/numbers.h"

namespace ricci::inline v0::check {

// `f` has the parameters of the example; adds the number of comparisons to *count.
absl::Status CheckLaws(ricci_ctx* ctx, const Program& f, const ricci_check_example& example, uint64_t* count);

}  // namespace ricci::inline v0::check
#endif
