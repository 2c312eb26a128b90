// Example: a program on which laws are checked, with the ranges from which its operands are drawn. The examples of a
// row come from the text that the row carries.
#ifndef RICCI_LAWS_EXAMPLE_H_
#define RICCI_LAWS_EXAMPLE_H_
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "laws/numbers.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace laws {

struct Range {
  double low, high;
  bool operator==(const Range&) const = default;
};
// Where a text gives none: -2..2 for floats, 0..4 for integers, both values of bool.
Range DefaultRange(uint32_t dtype);

struct Example {
  std::string name;  // in messages
  Program program;
  std::vector<Range> ranges;  // one per parameter
  uint32_t flags = 0;         // RICCI_CHECK_*
  uint64_t seed = 0;
  std::string row = {};  // the row under examination; empty for a program
};

// The texts in `examples` (ricci_prim_def), without the separators.
std::vector<std::string_view> SplitExamples(std::string_view examples);
// INVALID_ARGUMENT names the example.
absl::StatusOr<std::vector<Example>> ExamplesOf(prim::Registry& registry, const prim::Row& row);

}}}  // namespace ricci::v0::laws
#endif
