// Programs of the benchmarks: traced with ricci/lax.hpp, transformed and compiled through the C ABI, run with bound
// pointers.
#ifndef RICCI_TESTS_BENCH_BENCH_PROGRAM_H_
#define RICCI_TESTS_BENCH_BENCH_PROGRAM_H_
#include <functional>
#include <memory>
#include <vector>

#include "bench_loop.h"
#include "ricci/lax.hpp"
#include "ricci/ricci.h"

namespace bench {

// Shared owners of handles.
using ContextRef = std::shared_ptr<ricci_ctx>;
using ProgramRef = std::shared_ptr<ricci_program>;
using ExecutableRef = std::shared_ptr<ricci_executable>;

// A context with the primitives and, if it is linked, the CPU backend.
ContextRef MakeContext();

// A parameter's type.
struct Param {
  ricci::Shape shape;
  ricci::DType dtype = ricci::DType::kF32;
};
// The program of `f`: parameters -> results.
ProgramRef Trace(ricci_ctx* ctx, const std::vector<Param>& params,
                 const std::function<ricci::Values(const ricci::Values&)>& f);
ricci::Values Inline(const ricci_program* f, const ricci::Values& in);
// Derivatives of result 0 with respect to the first `n` parameters.
ProgramRef Grad(const ricci_program* f, uint32_t n);
// Axis 0 of every parameter, or in_axes (-1: none), and of every result.
ProgramRef Vmap(const ricci_program* f, int64_t size, std::vector<int32_t> in_axes = {});
// `length` trips of body: carry -> carry.
ricci::Values Scan(const ricci_program* body, const ricci::Values& carry, int64_t length);

ExecutableRef Compile(const ricci_program* f);

// A compiled program with its own buffers, one per parameter and result.
class Bound {
 public:
  // inputs[i] has as many bytes as parameter i.
  Bound(ricci_ctx* ctx, ExecutableRef executable, const std::vector<std::vector<float>>& inputs);
  void Run() const { ricci::Check(ricci_call_run(call_.get())); }
  // Sum of the absolute values of all (f32) results.
  double Check() const;
  double Bytes() const;  // of all parameters and results

 private:
  ExecutableRef executable_;
  std::vector<std::vector<float>> buffers_;
  size_t n_inputs_;
  std::shared_ptr<ricci_call> call_;
};

// The case of program `f` with these inputs.
Prepared Ready(ricci_ctx* ctx, const ricci_program* f, const std::vector<std::vector<float>>& inputs, double work = 1);

// The cases of each group.
std::vector<Case> CallCases(ricci_ctx* ctx);
std::vector<Case> ElementwiseCases(ricci_ctx* ctx);
std::vector<Case> ProductCases(ricci_ctx* ctx);
std::vector<Case> LoopCases(ricci_ctx* ctx);
std::vector<Case> PairCases(ricci_ctx* ctx);
std::vector<Case> TrainingCases(ricci_ctx* ctx);
std::vector<Case> GptCases(ricci_ctx* ctx);
std::vector<Case> SpectralCases(ricci_ctx* ctx);

}  // namespace bench
#endif
