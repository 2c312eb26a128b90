// pendulum_fit: recovers the friction of 4,096 pendulums at once from how they swing.
//
// The code is that of one pendulum: a scan of 1,000 Runge-Kutta steps and a loss against the observed angles.
// value_and_grad differentiates through the scan, and vmap turns it into 4,096 pendulums.
#ifndef SAMPLES_QUICKSTART_PENDULUM_FIT_H_
#define SAMPLES_QUICKSTART_PENDULUM_FIT_H_
#include <vector>

#include "ricci/ricci.hpp"

struct PendulumResult {
  double worst;                // largest relative error of a friction
  std::vector<double> errors;  // the same after each iteration
};

// Prints progress and times.
PendulumResult FitPendulums(const ricci::Context& ctx);

#endif
