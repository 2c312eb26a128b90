// Transforms as the fuzzer uses them: each gives the new program or throws the Error of its status.
#ifndef RICCI_TESTS_FUZZ_PROGRAM_TRANSFORMS_H_
#define RICCI_TESTS_FUZZ_PROGRAM_TRANSFORMS_H_
#include <set>

#include "fuzz/subject.h"

namespace ricci::testing {

inline constexpr int64_t kBatch = 3;
using Mask = std::vector<uint8_t>;
using BatchAxes = std::vector<int32_t>;

// Which of `types` have tangents.
Mask FloatingOf(const std::vector<ArrayType>& types);

Program JvpOf(const Program& p, const Mask& active);
struct ReverseMode {
  Program fwd, bwd;
};
ReverseMode VjpOf(const Program& p, const Mask& wanted);
// Both halves of reverse mode as one program: parameters, a cotangent per floating result -> a cotangent per wanted
// parameter.
Program BackwardOf(ricci_ctx* ctx, const Program& p, const Mask& wanted);
Program VmapOf(const Program& p, const BatchAxes& in_axes, const BatchAxes& out_axes, int64_t size = kBatch);
// By the batching rules; the batch is axis 0. out_batched is filled in.
Program BatchOf(const Program& p, const Mask& in_batched, Mask& out_batched);
// Functions with custom derivatives become calls, so that autodiff differentiates through them.
Program WithoutCustomRules(const Program& p);
// The same for custom_vjp only, which has no forward mode.
Program WithoutCustomVjp(const Program& p);

// What a transform may refuse: a rule is missing, arrays would need more dimensions than they can have (a stack of
// residuals, a batch), or a checkpoint would compute an effect again.
bool MayBeRefused(const Error& e);

// Names of all rows in it, nested programs too.
std::multiset<std::string> RowsOf(const Program& p);

}  // namespace ricci::testing
#endif
