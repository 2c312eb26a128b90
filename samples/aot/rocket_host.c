/* A controller on a plain C host: it finds the thrust that brings a rocket to a height after 40 steps, by descending
 * the gradient of an integrated equation of motion. Nothing of Ricci is linked, nothing is allocated, and the stack may
 * be 64 KB (`ulimit -s 64`). */
#include <stdio.h>

#include "rocket.h"

static unsigned char workspace[ROCKET_WORKSPACE_BYTES + ROCKET_GRAD_WORKSPACE_BYTES + 1];

int main(void) {
  static float thrust[40], slope[40], rest;
  const float target = 100;
  float cost = 0, height = 0;
  for (int trip = 0; trip < 200; ++trip) {
    if (rocket_grad(thrust, &target, slope, &rest, workspace) != 0) return 1;
    for (int i = 0; i < 40; ++i) thrust[i] -= 0.05f * slope[i];
  }
  if (rocket(thrust, &target, &cost, &height, workspace) != 0) return 1;
  printf("after 40 steps: height %.2f, cost %.2f\n", (double)height, (double)cost);
  return 0;
}
