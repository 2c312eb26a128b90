/* The quickstart's classifier as a function: the scores of one image, by a host that links nothing of Ricci. The
 * weights here are made up so that hidden unit i is pixel i, and class c adds up the pixels i with i mod 10 = c. */
#include <stdio.h>

#include "digit_scores.h"

static float w0[64 * 128], b0[128], w1[128 * 10], b1[10], image[64], scores[10];
static unsigned char workspace[DIGIT_SCORES_WORKSPACE_BYTES + 1];

int main(void) {
  for (int i = 0; i < 64; ++i) {
    w0[i * 128 + i] = 1;
    w1[i * 10 + i % 10] = 1;
  }
  image[13] = 0.75f;
  image[23] = 0.25f;
  if (digit_scores(w0, b0, w1, b1, image, scores, workspace) != 0) return 1;
  int best = 0;
  for (int c = 1; c < 10; ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  printf("class %d, score %.3f\n", best, (double)scores[best]);
  return 0;
}
