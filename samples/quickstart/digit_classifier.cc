#include "digit_classifier.h"

#include <cmath>
#include <cstdio>

#include "digits_file.h"
#include "progress.h"
#include "stopwatch.h"

namespace {

using ricci::Array;
using ricci::Value;

constexpr int64_t kHidden = 128, kBatch = 128;
constexpr int64_t kExamples = 8;  // whose gradient norms are printed
constexpr uint64_t kSeed = 0;
constexpr double kRate = 2e-3, kDecay1 = 0.9, kDecay2 = 0.999;

// The same structure of Arrays outside of a trace and of Values inside: {hidden matrix, bias, output matrix, bias}.
template <typename T>
using Weights = std::vector<T>;

template <typename T>
struct Training {
  Weights<T> weights, mean, square;  // with Adam's running means of the gradient and of its square
  T step;
};

// Images of shape [64] or [n, 64] to scores of shape [10] or [n, 10].
Value Scores(const Weights<Value>& w, const Value& images) {
  return matmul(relu(matmul(images, w[0]) + w[1]), w[2]) + w[3];
}

// Mean cross entropy, of one example or of many.
Value Loss(const Weights<Value>& w, const Value& images, const Value& labels) {
  return -mean(sum(one_hot(labels, kClasses) * log_softmax(Scores(w, images), -1), -1));
}

Training<Value> Initial(const Value& key) {
  const ricci::Values keys = ricci::random::split(key, 2);
  Weights<Value> w = {
      ricci::random::normal(keys[0], {kPixels, kHidden}) * std::sqrt(2.0 / kPixels), ricci::zeros(key, {kHidden}),
      ricci::random::normal(keys[1], {kHidden, kClasses}) * std::sqrt(1.0 / kHidden), ricci::zeros(key, {kClasses})};
  Weights<Value> zero;
  for (const Value& leaf : w) zero.push_back(zeros_like(leaf));
  return {w, zero, zero, ricci::zeros(key, {})};
}

// One step of Adam: the new state and the loss before it.
std::pair<Training<Value>, Value> TrainStep(const Training<Value>& s, const Value& images, const Value& labels) {
  const auto [loss, gradient] = ricci::value_and_grad(Loss)(s.weights, images, labels);
  Training<Value> next = s;
  next.step = s.step + 1.0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    next.mean[i] = kDecay1 * s.mean[i] + (1 - kDecay1) * gradient[i];
    next.square[i] = kDecay2 * s.square[i] + (1 - kDecay2) * square(gradient[i]);
    const Value mean = next.mean[i] / (1.0 - pow(kDecay1, next.step));
    const Value spread = sqrt(next.square[i] / (1.0 - pow(kDecay2, next.step)));
    next.weights[i] = s.weights[i] - kRate * mean / (spread + 1e-8);
  }
  return {next, loss};
}

Value Accuracy(const Weights<Value>& w, const Value& images, const Value& labels) {
  return mean(astype(argmax(Scores(w, images), -1) == labels, ricci::DType::kF32));
}

// Length of the gradient of one example's loss, over all weights.
Value GradientNorm(const Weights<Value>& w, const Value& image, const Value& label) {
  Value total = zeros_like(image[0]);
  for (const Value& g : ricci::grad(Loss)(w, image, label)) total += sum(square(g));
  return sqrt(total);
}

Array Images(const ricci::Context& ctx, const Digits& d) { return Array(ctx, d.images, {d.size(), kPixels}); }
Array Labels(const ricci::Context& ctx, const Digits& d) { return Array(ctx, d.labels, {d.size()}); }

// A random order of 0, ..., n - 1.
std::vector<int64_t> Order(const ricci::Context& ctx, int64_t n, uint64_t seed) {
  const auto shuffle = ricci::jit([n](const Value& key) { return ricci::random::permutation(key, n); });
  const std::vector<int32_t> order = shuffle(ricci::random::key(ctx, seed)).to_vector<int32_t>();
  return {order.begin(), order.end()};
}

}  // namespace

DigitResult TrainDigits(const ricci::Context& ctx, const std::string& csv_path, int64_t epochs) {
  const Digits all = ReadDigits(csv_path);
  const std::vector<int64_t> order = Order(ctx, all.size(), kSeed);
  const int64_t n_train = all.size() * 4 / 5;
  const Digits train = Take(all, order, 0, n_train), test = Take(all, order, n_train, all.size() - n_train);

  const auto step = ricci::jit(TrainStep, {.donate_argnums = {0}, .context = {}, .device = {}});
  const auto accuracy = ricci::jit(Accuracy);
  Training<Array> state = ricci::jit(Initial)(ricci::random::key(ctx, kSeed + 1));
  const Array test_images = Images(ctx, test), test_labels = Labels(ctx, test);
  const Digits first = Take(train, Order(ctx, n_train, kSeed + 2), 0, kBatch);
  CompileAndReport("digits: training step", step, state, Images(ctx, first), Labels(ctx, first));

  DigitResult result{0, {}};
  double stepping = 0;
  const int64_t batches = n_train / kBatch;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<int64_t> now = Order(ctx, n_train, kSeed + 2 + static_cast<uint64_t>(epoch));
    double loss = 0;
    for (int64_t i = 0; i < batches; ++i) {
      const Digits batch = Take(train, now, i * kBatch, kBatch);
      const Array images = Images(ctx, batch), labels = Labels(ctx, batch);
      const Stopwatch watch;
      auto [next, value] = step(state, images, labels);
      stepping += watch.seconds();
      state = std::move(next);
      loss += value.item<float>() / static_cast<double>(batches);
    }
    result.losses.push_back(loss);
    result.accuracy = accuracy(state.weights, test_images, test_labels).item<float>();
    char text[80];
    std::snprintf(text, sizeof text, "digits: epoch %2d/%d  loss %.4f  test accuracy %.4f", static_cast<int>(epoch + 1),
                  static_cast<int>(epochs), loss, result.accuracy);
    ShowProgress(epoch + 1, epochs, text);
  }
  std::printf("digits: %.3f ms per step of %d examples\n", 1e3 * stepping / static_cast<double>(epochs * batches),
              static_cast<int>(kBatch));

  const Digits few = Take(test, Order(ctx, test.size(), kSeed), 0, kExamples);
  const auto norms = ricci::jit(ricci::vmap(GradientNorm, {ricci::kUnbatched, 0, 0}));
  std::printf("digits: gradient norms of single examples:");
  for (float norm : norms(state.weights, Images(ctx, few), Labels(ctx, few)).to_vector<float>()) {
    std::printf(" %.2g", static_cast<double>(norm));
  }
  std::printf("\n");
  return result;
}
