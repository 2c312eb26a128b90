// pendulum_fit: recovers the friction of many pendulums at once from how they swing.
//
// The code is that of one pendulum: a scan of Runge-Kutta steps and a loss against the observed angles. value_and_grad
// differentiates through the scan, and vmap turns it into all pendulums.
#ifndef SAMPLES_QUICKSTART_PENDULUM_FIT_H_
#define SAMPLES_QUICKSTART_PENDULUM_FIT_H_
#include <vector>

#include "ricci/ricci.hpp"

struct PendulumResult {
  double worst;                // largest relative error of a friction
  std::vector<double> errors;  // the same after each iteration
};

struct PendulumSize {
  int64_t pendulums, time_steps, iterations;
};

// Prints progress and times.
PendulumResult FitPendulums(const ricci::Context& ctx, const PendulumSize& size);

#endif
