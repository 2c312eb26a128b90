// Convolutions of any layout, with every attribute given or left out, and Fourier transforms of any kind.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

// How large sizes are: features of a group, dimensions, and elements of windows.
struct Scale {
  int64_t least_features, most_features, least_size, most_size, most_window;
};
constexpr Scale kSmall = {1, 3, 1, 7, 4};
// Enough products for the blocks of a backend, along one dimension or two.
constexpr Scale kLine = {4, 8, 20, 50, 9}, kPlane = {4, 8, 5, 9, 4};

// One spatial dimension: the sizes of lhs and rhs, and the attributes.
struct Window {
  int64_t size, window, stride, low, high, lhs_dilation, rhs_dilation;
};
Window SomeWindow(Draft& d, const Scale& scale) {
  constexpr int64_t kSteps[] = {1, 1, 2, 3};
  const auto padding = [&] { return d.dice().Chance(0.5) ? 0 : d.dice().Between(-1, 3); };
  Window w{d.dice().Between(scale.least_size, scale.most_size),
           d.dice().Between(1, scale.most_window),
           d.dice().Pick(kSteps),
           padding(),
           padding(),
           d.dice().Pick(kSteps),
           d.dice().Pick(kSteps)};
  if ((w.size - 1) * w.lhs_dilation + 1 + w.low + w.high < 0) w.low = w.high = 0;
  return w;
}

// A random order of dimensions, and `sizes` in it: sizes[i] is that of dimension spec[i].
Shape SomeSpec(Draft& d, size_t rank) {
  Shape spec = rules::Range(static_cast<int64_t>(rank));
  if (d.dice().Chance(0.6)) d.dice().Shuffle(spec);
  return spec;
}
Shape Placed(const Shape& sizes, const Shape& spec) {
  Shape out(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) out[static_cast<size_t>(spec[i])] = sizes[i];
  return out;
}

void Convolve(Draft& d) {
  const int64_t groups = d.dice().Chance(0.3) ? d.dice().Between(2, 3) : 1;
  const bool by_batch = d.dice().Chance(0.5);
  const int64_t feature_groups = by_batch ? 1 : groups, batch_groups = by_batch ? groups : 1;
  const bool large = d.dice().Chance(0.25);
  const int64_t rank = large ? d.dice().Between(1, 2) : d.dice().Between(0, 2);
  const Scale& scale = !large ? kSmall : rank == 1 ? kLine : kPlane;
  const auto features = [&] { return d.dice().Between(scale.least_features, scale.most_features); };
  const int64_t inputs = features();
  Shape lhs = {d.dice().Between(1, 3) * batch_groups, inputs * feature_groups}, rhs = {features() * groups, inputs},
        strides, padding, lhs_dilation, rhs_dilation;
  for (int64_t n = 0; n < rank; ++n) {
    const Window w = SomeWindow(d, scale);
    lhs.push_back(w.size), rhs.push_back(w.window);
    strides.push_back(w.stride), lhs_dilation.push_back(w.lhs_dilation), rhs_dilation.push_back(w.rhs_dilation);
    padding.push_back(w.low), padding.push_back(w.high);
  }
  const Shape lhs_spec = SomeSpec(d, lhs.size()), rhs_spec = SomeSpec(d, lhs.size()),
              out_spec = SomeSpec(d, lhs.size());
  if (ElementCount(lhs) > d.palette().max_elements || ElementCount(rhs) > d.palette().max_elements) return;
  const DType dtype = d.SomeDType(kNumbers);
  d.Emit("conv_general_dilated", {d.Of(dtype, Placed(lhs, lhs_spec)), d.Of(dtype, Placed(rhs, rhs_spec))},
         {{"window_strides", strides},
          {"padding", padding},
          {"lhs_dilation", lhs_dilation},
          {"rhs_dilation", rhs_dilation},
          {"lhs_spec", lhs_spec},
          {"rhs_spec", rhs_spec},
          {"out_spec", out_spec},
          {"feature_group_count", feature_groups},
          {"batch_group_count", batch_groups}});
}

void Fourier(Draft& d) {
  constexpr std::string_view kKinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 18, 20, 67};
  const std::string_view kind = d.dice().Pick(kKinds);
  Shape lengths = {d.dice().Pick(kSizes)};
  if (d.dice().Chance(0.3)) lengths.insert(lengths.begin(), d.dice().Between(1, 4));
  Shape shape = lengths;
  if (kind == "IRFFT") shape.back() = lengths.back() / 2 + 1;
  if (d.dice().Chance(0.5)) shape.insert(shape.begin(), d.dice().Between(0, 3));
  int64_t trailing = 0;
  while (trailing < 2 && d.dice().Chance(0.3)) {
    shape.push_back(d.dice().Between(0, 3));
    ++trailing;
  }
  if (ElementCount(shape) > d.palette().max_elements) return;
  const DTypeSet reals = SetOf(DType::kF32) | SetOf(DType::kF64);
  const DType dtype = d.SomeDType(kind == "RFFT" ? reals : kComplexes);
  d.Emit("fft", {d.Of(dtype, shape)}, {{"fft_type", kind}, {"fft_lengths", lengths}, {"trailing", trailing}});
}

constexpr Generator kGenerators[] = {{2, true, Convolve}, {2, true, Fourier}};

}  // namespace

std::span<const Generator> SignalGenerators() { return kGenerators; }

}  // namespace ricci::testing
