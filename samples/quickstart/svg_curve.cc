#include "svg_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

constexpr double kWidth = 720, kHeight = 420, kLeft = 80, kRight = 20, kTop = 50, kBottom = 60;

// The range of the y axis: whole decades if logarithmic, else a little more than the data.
struct Axis {
  double low, high;
  bool logarithmic;
  double Place(double v) const {
    const double t = logarithmic ? std::log10(v) : v;
    return kTop + (kHeight - kTop - kBottom) * (1 - (t - low) / (high - low));
  }
};

Axis AxisOf(const Curve& c) {
  const auto [low, high] = std::minmax_element(c.y.begin(), c.y.end());
  if (c.logarithmic_y) {
    const double bottom = std::floor(std::log10(*low)), top = std::ceil(std::log10(*high));
    return {bottom, std::max(top, bottom + 1), true};
  }
  const double margin = std::max(0.05 * (*high - *low), 1e-9);
  return {*low - margin, *high + margin, false};
}

double PlaceX(size_t i, size_t n) {
  return kLeft + (kWidth - kLeft - kRight) * (n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.5);
}

void Label(std::FILE* file, double x, double y, const char* anchor, const std::string& text) {
  std::fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text.c_str());
}

std::string Number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

// Horizontal lines with numbers: decades, or five steps.
void DrawGrid(std::FILE* file, const Axis& axis) {
  const double step =
      axis.logarithmic ? std::max(1.0, std::ceil((axis.high - axis.low) / 8)) : (axis.high - axis.low) / 5;
  for (double t = axis.low; t <= axis.high + step * 1e-6; t += step) {
    const double value = axis.logarithmic ? std::pow(10.0, t) : t, y = axis.Place(value);
    std::fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, y,
                 kWidth - kRight, y);
    Label(file, kLeft - 8, y + 4, "end", Number(value));
  }
}

void DrawCurve(std::FILE* file, const Curve& c, const Axis& axis) {
  std::fprintf(file, "<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\" points=\"");
  for (size_t i = 0; i < c.y.size(); ++i) {
    std::fprintf(file, "%.2f,%.2f ", PlaceX(i, c.y.size()), axis.Place(c.y[i]));
  }
  std::fprintf(file, "\"/>\n");
}

}  // namespace

bool WriteSvg(const std::string& path, const Curve& curve) {
  std::FILE* file = curve.y.empty() ? nullptr : std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const Axis axis = AxisOf(curve);
  std::fprintf(file,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
               "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               kWidth, kHeight);
  DrawGrid(file, axis);
  DrawCurve(file, curve, axis);
  Label(file, kWidth / 2, kTop / 2, "middle", curve.title);
  Label(file, kLeft, kHeight - kBottom + 20, "middle", "1");
  Label(file, kWidth - kRight, kHeight - kBottom + 20, "end", Number(static_cast<double>(curve.y.size())));
  Label(file, kWidth / 2, kHeight - 18, "middle", curve.x_label);
  Label(file, 12, kTop - 10, "start", curve.y_label);
  std::fprintf(file, "</svg>\n");
  return std::fclose(file) == 0;
}
