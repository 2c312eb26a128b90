// Verifier: what must hold for every program, whatever made it.
//
// Run after each pass, in release builds too, so that a bug of ours shows at its source and not as wrong numbers. It
// checks the form (indices, order, types known, nested programs held); that the types are those that the primitives
// give is up to the builder.
#ifndef RICCI_IR_VERIFY_H_
#define RICCI_IR_VERIFY_H_
#include "absl/status/status.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace ir {

// INTERNAL, naming program and equation, unless `p` and all programs in it are well-formed.
absl::Status Verify(const Program& p);

}}}  // namespace ricci::v0::ir
#endif
