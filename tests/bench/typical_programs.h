// What the benchmarks measure and tests/cuda looks at as machine code: the same functions, results for parameters.
#ifndef RICCI_TESTS_BENCH_TYPICAL_PROGRAMS_H_
#define RICCI_TESTS_BENCH_TYPICAL_PROGRAMS_H_
#include "bench_program.h"

namespace bench {

ricci::Values Gelu(const ricci::Values& in);       // of the sum of two arrays, by tanh
ricci::Values Softmax(const ricci::Values& in);    // of rows
ricci::Values Layernorm(const ricci::Values& in);  // of rows, without scale and bias

// A damped pendulum, angle and speed, after `length` steps of Runge-Kutta; `grad`: the gradient of the angle.
ProgramRef Pendulum(ricci_ctx* ctx, int64_t length, bool grad);

// A step of lattice Boltzmann, D2Q9 on a periodic grid: [9, n, n].
inline constexpr double kLatticeWeights[9] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                                              1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
ricci::Values LatticeStep(const ricci::Values& in);
// The same as a vmap of rolls by a table of shifts makes it: arrays beside themselves, of which whole windows are
// gathered, after a collision of all directions at once.
ricci::Values StreamStep(const ricci::Values& in);

}  // namespace bench
#endif
