// quickstart DIGITS_CSV FOLDER [--device cpu|cuda] [--config KEY=VALUE]...: two problems from start to end, and their
// curves as SVG files in FOLDER.
//
// 1. digit_classifier trains a network on 1,797 digits; 2. pendulum_fit finds the friction of 4,096 pendulums. Both
// must reach a stated accuracy, or the program fails.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "../add_device.h"
#include "digit_classifier.h"
#include "pendulum_fit.h"
#include "svg_curve.h"

namespace {

constexpr double kWantedAccuracy = 0.97, kWantedError = 0.01;

void Save(const std::string& path, const Curve& curve) {
  if (!WriteSvg(path, curve)) throw std::runtime_error(path + ": cannot be written");
  std::printf("wrote %s\n", path.c_str());
}

bool Run(ricci::Context& ctx, const std::string& csv, const std::string& folder) {
  std::printf("device: %s (%s)\n", std::string(ctx.device().kind()).c_str(), std::string(ctx.device().name()).c_str());
  const DigitResult digits = TrainDigits(ctx, csv);
  Save(folder + "/digits.svg", {"Training on 1,437 digits", "epoch", "mean loss", digits.losses, true});
  const PendulumResult pendulums = FitPendulums(ctx);
  Save(folder + "/pendulums.svg",
       {"Friction of 4,096 pendulums", "iteration", "worst relative error", pendulums.errors, true});
  std::printf("test accuracy %.4f (wanted: %.2f), worst friction error %.3f %% (wanted: %.0f %%)\n", digits.accuracy,
              kWantedAccuracy, 100 * pendulums.worst, 100 * kWantedError);
  return digits.accuracy >= kWantedAccuracy && pendulums.worst <= kWantedError;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ricci::Context ctx;
    if (ricci_status* failed = add_device(ctx.handle(), &argc, argv)) throw ricci::Error(failed);
    if (argc == 3) return Run(ctx, argv[1], argv[2]) ? 0 : 1;
    std::fprintf(stderr, "usage: %s samples/data/digits.csv folder [--device cpu|cuda] [--config KEY=VALUE]...\n",
                 argv[0]);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\n%s\n", e.what());
    return 1;
  }
}
