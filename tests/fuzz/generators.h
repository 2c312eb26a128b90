// The table of generators: for each family of rows one function that appends a random equation of it.
//
// Kinds of programs that are not rows (edges, nesting, equations that are almost equal) are counted by name
// (`Draft::Count`, kinds.h). A run with --coverage fails if a row of the built-in plugin or of control was never drawn,
// so a new primitive is fuzzed or the test reports that it is not.
#ifndef RICCI_TESTS_FUZZ_GENERATORS_H_
#define RICCI_TESTS_FUZZ_GENERATORS_H_
#include <span>

#include "fuzz/draft.h"

namespace ricci::testing {

struct Generator {
  int weight;
  bool smooth;  // may occur in a program whose derivatives are checked
  void (*emit)(Draft& d);
};

std::span<const Generator> ElementwiseGenerators();
std::span<const Generator> LayoutGenerators();
std::span<const Generator> IndexingGenerators();
std::span<const Generator> ReductionGenerators();
std::span<const Generator> LinalgGenerators();
std::span<const Generator> SignalGenerators();
std::span<const Generator> WindowGenerators();
std::span<const Generator> NeuralGenerators();
std::span<const Generator> RandomKeyGenerators();
std::span<const Generator> CheckGenerators();
std::span<const Generator> EdgeGenerators();
std::span<const Generator> ComparisonGenerators();
// ---- only in programs that call functions of the host ----
std::span<const Generator> HostCallGenerators();
// ---- only while another level of nesting is allowed ----
std::span<const Generator> ControlGenerators();
std::span<const Generator> DerivativeGenerators();

// The code with which a drawn `check` fails; no other failure has it.
inline constexpr uint32_t kBrokenPromise = RICCI_DATA_LOSS;
// The rule of every custom_vmap, which AddBatchRule gives a context: what the batching rules make of the body.
inline constexpr std::string_view kBatchOfBody = "fuzz.batch";
void AddBatchRule(ricci_ctx* ctx);

// Appends one equation of a generator drawn by weight.
void EmitSomething(Draft& d);
// The same of those that hold programs.
void EmitNested(Draft& d);
// A vmap of a large body with several loops.
void EmitLargeBody(Draft& d);
// Products and factorisations of large matrices.
void EmitLargeMatrices(Draft& d);

}  // namespace ricci::testing
#endif
