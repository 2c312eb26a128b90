// svg_curve: one curve with axes as an SVG file, so that results can be viewed in any browser.
//
// Written by hand rather than with a plotting library: a sample should need nothing but Ricci.
#ifndef SAMPLES_QUICKSTART_SVG_CURVE_H_
#define SAMPLES_QUICKSTART_SVG_CURVE_H_
#include <string>
#include <vector>

struct Curve {
  std::string title, x_label, y_label;
  std::vector<double> y;       // at x = 1, 2, ...
  bool logarithmic_y = false;  // then all y must be positive
};

// False if the file cannot be written.
bool WriteSvg(const std::string& path, const Curve& curve);

#endif
