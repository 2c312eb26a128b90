// Reference: the results of a program for given inputs on `ref`, and the tolerance for other ways to compute it.
//
// Tolerances come from the program itself (noise.h): a result that noise does not move must be equal bit for bit, and
// one that noise moves across a threshold is not compared.
#ifndef RICCI_TESTS_FUZZ_REFERENCE_H_
#define RICCI_TESTS_FUZZ_REFERENCE_H_
#include <functional>

#include "fuzz/execution.h"
#include "fuzz/noise.h"
#include "fuzz/subject.h"

namespace ricci::testing {

class Reference {
 public:
  Reference(ricci_ctx* ctx, const Program& p, std::vector<Bytes> inputs, CheckCounts& counts,
            Rounding rounding = Rounding::kFree);
  // The same program with other inputs; it is not compiled again.
  Reference(const Reference& other, std::vector<Bytes> inputs);

  // Results of `ref`, or the reason why there are none.
  const RunResult& want() const { return want_; }
  // Whether `got` is the same within the tolerance; only if there are results.
  Complaint Compare(const RunResult& got, std::string_view what);
  // Whether the calls of the host with effects are the same, in their order, with the same operands.
  Complaint CompareCalls(const RunResult& got, std::string_view what);
  // The most that a few variants of noise move an element, in absolute terms; no value if noise determines the element.
  std::optional<double> Spread(size_t result, size_t element);

 private:
  struct Noise {
    std::optional<Compiled> program;
    std::string failure;
  };
  // The same element in a variant of noise; NULL if it has none.
  using InNoise = std::function<const std::byte*(uint32_t variant)>;
  bool Close(DType d, const std::byte* got, const std::byte* want, const InNoise& in_noise);
  // NULL if the noisy program cannot run.
  const RunResult* Noisy(uint32_t variant);
  const std::byte* NoisyOperand(uint32_t variant, size_t call, size_t operand, size_t at);

  ricci_ctx* ctx_;
  Program p_;
  std::shared_ptr<const Compiled> compiled_;
  std::shared_ptr<std::vector<Noise>> noise_;  // by variant
  std::vector<Bytes> inputs_;
  CheckCounts& counts_;
  Rounding rounding_;
  std::vector<ArrayType> types_;
  RunResult want_;
  std::vector<RunResult> noisy_;
};

}  // namespace ricci::testing
#endif
