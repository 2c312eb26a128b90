#include "laws/laws.h"

#include "laws/trial.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

// What a row says of its rules is checked once (row_rules), what it says of its operation on each example. Text,
// written results, factors, view maps, the optimized form and devices are checked wherever a program is made or run
// (Trial); the law of the device only adds the program itself.
absl::Status Elsewhere(Trial&) { return absl::OkStatus(); }

constexpr Law kLaws[] = {
    {"rules", 0, false, CheckClaims},
    {"text", 0, false, Elsewhere},
    {"written", 0, false, Elsewhere},
    {"factors", 0, false, Elsewhere},
    {"view_maps", 0, false, Elsewhere},
    {"optimized", 0, false, Elsewhere},
    {"device", 0, false, CheckProgram},
    {"jvp", 1, false, CheckJvp},
    {"transpose", 1, false, CheckTranspose},
    {"jvp of jvp", 2, false, CheckJvpOfJvp},
    {"jvp of transpose", 2, false, CheckJvpOfTranspose},
    {"transpose of jvp", 2, false, CheckTransposeOfJvp},
    {"vmap", 0, true, CheckVmap},
    {"batch", 0, true, CheckBatch},
    {"vmap of jvp", 1, true, CheckVmapOfJvp},
    {"vmap of transpose", 1, true, CheckVmapOfTranspose},
    {"jvp of vmap", 1, true, CheckJvpOfVmap},
    {"transpose of vmap", 1, true, CheckTransposeOfVmap},
};
static_assert(std::size(kLaws) == static_cast<size_t>(LawId::kCount));

}  // namespace

std::span<const Law> AllLaws() { return kLaws; }

}}}  // namespace ricci::v0::laws
