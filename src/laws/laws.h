// The laws: a table of names and functions. Each compares a transformed program with what the transform means.
//
// All laws are run and reported; the status is that of the first one that fails, with everything needed to repeat it.
#ifndef RICCI_LAWS_LAWS_H_
#define RICCI_LAWS_LAWS_H_
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace ricci { inline namespace v0 { namespace laws {

// In the order of the table.
enum class LawId : uint8_t {
  kRules,
  kText,
  kWritten,
  kFactors,
  kViewMaps,
  kOptimized,
  kDevice,
  kJvp,
  kTranspose,
  kJvpOfJvp,
  kJvpOfTranspose,
  kTransposeOfJvp,
  kVmap,
  kBatch,
  kVmapOfJvp,
  kVmapOfTranspose,
  kJvpOfVmap,
  kTransposeOfVmap,
  kCount
};
class Trial;

struct Law {
  std::string_view name;
  int order;   // of the derivatives that it needs
  bool batch;  // needs batching
  absl::Status (*check)(Trial& t);
};
std::span<const Law> AllLaws();

// ---- program_laws.cc ----
absl::Status CheckProgram(Trial& t);
// ---- row_claims.cc ----
absl::Status CheckClaims(Trial& t);
// ---- derivative_laws.cc ----
absl::Status CheckJvp(Trial& t);
absl::Status CheckTranspose(Trial& t);
absl::Status CheckJvpOfJvp(Trial& t);
absl::Status CheckJvpOfTranspose(Trial& t);
absl::Status CheckTransposeOfJvp(Trial& t);
absl::Status CheckJvpOfVmap(Trial& t);
absl::Status CheckTransposeOfVmap(Trial& t);
// ---- batch_laws.cc ----
absl::Status CheckVmap(Trial& t);
absl::Status CheckBatch(Trial& t);
absl::Status CheckVmapOfJvp(Trial& t);
absl::Status CheckVmapOfTranspose(Trial& t);

}}}  // namespace ricci::v0::laws
#endif
