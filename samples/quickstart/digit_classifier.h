// digit_classifier: trains a small network on the optical digits with jit(value_and_grad) and Adam.
//
// The data are shuffled with a fixed key before they are split into training and test data: they are ordered by writer,
// so a split in file order would test the network on handwriting it has never seen.
#ifndef SAMPLES_QUICKSTART_DIGIT_CLASSIFIER_H_
#define SAMPLES_QUICKSTART_DIGIT_CLASSIFIER_H_
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

struct DigitResult {
  double accuracy;             // on the fifth of the data that is not used in training
  std::vector<double> losses;  // mean loss of each epoch
};

// `epochs` passes over the training data. Prints progress, times, and the gradient norms of single examples.
DigitResult TrainDigits(const ricci::Context& ctx, const std::string& csv_path, int64_t epochs);

#endif
