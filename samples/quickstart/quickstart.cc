// quickstart DIGITS_CSV FOLDER [--small] [--device cpu|cuda] [--config KEY=VALUE]...: two problems from start to end,
// and their curves as SVG files in FOLDER.
//
// 1. digit_classifier trains a network on 1,797 digits; 2. pendulum_fit finds the friction of 4,096 pendulums. Both
// must reach a stated accuracy, or the program fails. With --small, for slow devices, both are shorter, and what they
// must reach is less.
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "../add_device.h"
#include "digit_classifier.h"
#include "pendulum_fit.h"
#include "svg_curve.h"

namespace {

struct Size {
  int64_t epochs;
  double wanted_accuracy;
  PendulumSize pendulums;
  double wanted_error;  // of the worst friction
};
constexpr Size kFull = {80, 0.97, {.pendulums = 4096, .time_steps = 1000, .iterations = 100}, 0.01};
constexpr Size kSmall = {4, 0.85, {.pendulums = 33, .time_steps = 200, .iterations = 40}, 0.1};

void Save(const std::string& path, const Curve& curve) {
  if (!WriteSvg(path, curve)) throw std::runtime_error(path + ": cannot be written");
  std::printf("wrote %s\n", path.c_str());
}

bool Run(ricci::Context& ctx, const std::string& csv, const std::string& folder, const Size& size) {
  std::printf("device: %s (%s)\n", std::string(ctx.device().kind()).c_str(), std::string(ctx.device().name()).c_str());
  const DigitResult digits = TrainDigits(ctx, csv, size.epochs);
  Save(folder + "/digits.svg", {"Training on 1,437 digits", "epoch", "mean loss", digits.losses, true});
  const PendulumResult pendulums = FitPendulums(ctx, size.pendulums);
  Save(folder + "/pendulums.svg", {"Friction of " + std::to_string(size.pendulums.pendulums) + " pendulums",
                                   "iteration", "worst relative error", pendulums.errors, true});
  std::printf("test accuracy %.4f (wanted: %.2f), worst friction error %.3f %% (wanted: %.0f %%)\n", digits.accuracy,
              size.wanted_accuracy, 100 * pendulums.worst, 100 * size.wanted_error);
  return digits.accuracy >= size.wanted_accuracy && pendulums.worst <= size.wanted_error;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ricci::Context ctx;
    if (ricci_status* failed = add_device(ctx.handle(), &argc, argv)) throw ricci::Error(failed);
    const bool is_small = argc == 4 && std::strcmp(argv[3], "--small") == 0;
    if (argc == 3 || is_small) return Run(ctx, argv[1], argv[2], is_small ? kSmall : kFull) ? 0 : 1;
    std::fprintf(stderr,
                 "usage: %s samples/data/digits.csv folder [--small] [--device cpu|cuda] [--config KEY=VALUE]...\n",
                 argv[0]);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\n%s\n", e.what());
    return 1;
  }
}
