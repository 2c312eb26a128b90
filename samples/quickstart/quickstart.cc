// quickstart DIGITS_CSV FOLDER [--device cpu|cuda] [--config KEY=VALUE]...: two problems from start to end, and their
// curves as SVG files in FOLDER.
//
// 1. digit_classifier trains a network on 1,797 digits; 2. pendulum_fit finds the friction of 4,096 pendulums. Both
// must reach a stated accuracy, or the program fails.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "digit_classifier.h"
#include "pendulum_fit.h"
#include "svg_curve.h"

namespace {

constexpr double kWantedAccuracy = 0.97, kWantedError = 0.01;

void Save(const std::string& path, const Curve& curve) {
  if (!WriteSvg(path, curve)) throw std::runtime_error(path + ": cannot be written");
  std::printf("wrote %s\n", path.c_str());
}

struct Options {
  std::vector<std::string> operands, config;
  std::string device = "cpu";
};

// False if the words make no sense.
bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      options.operands.push_back(word);
      continue;
    }
    if (++i == argc || (word != "--device" && word != "--config")) return false;
    if (word == "--device") options.device = argv[i];
    if (word == "--config") options.config.push_back(argv[i]);
  }
  return options.operands.size() == 2 && (options.device == "cpu" || options.device == "cuda");
}

// The first device of a context, which programs run on, is one of the plugin that was added last.
void Configure(ricci::Context& ctx, const Options& options) {
  for (const std::string& pair : options.config) {
    const size_t equals = std::min(pair.find('='), pair.size());
    ctx.config(pair.substr(0, equals), equals < pair.size() ? pair.substr(equals + 1) : "");
  }
  if (options.device != "cuda") return;
#ifdef QUICKSTART_CUDA
  ctx.add_plugin(ricci_plugin_query_cuda);
#else
  throw std::runtime_error("this build has no backend for GPUs");
#endif
}

bool Run(const Options& options) {
  const std::string &csv = options.operands[0], &folder = options.operands[1];
  ricci::Context ctx;
  Configure(ctx, options);
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
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s samples/data/digits.csv folder [--device cpu|cuda] [--config KEY=VALUE]...\n",
                 argv[0]);
    return 2;
  }
  try {
    return Run(options) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\n%s\n", e.what());
    return 1;
  }
}
