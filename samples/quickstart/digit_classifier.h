// digit_classifier: trains a small network on the optical digits with jit(value_and_grad) and Adam.
//
// The split into training and test data is shuffled with a fixed key: in file order the writers differ, so that a
// network would be tested on hands it never saw.
#ifndef SAMPLES_QUICKSTART_DIGIT_CLASSIFIER_H_
#define SAMPLES_QUICKSTART_DIGIT_CLASSIFIER_H_
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

struct DigitResult {
  double accuracy;             // on the fifth of the data that training never saw
  std::vector<double> losses;  // mean loss of each epoch
};

// Prints progress, times, and the gradient norms of single examples.
DigitResult TrainDigits(const ricci::Context& ctx, const std::string& csv_path);

#endif
