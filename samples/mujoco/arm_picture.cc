#include "arm_picture.h"

#include <cstdio>

namespace engine {
namespace {

constexpr double kSize = 560, kTitle = 40, kScale = 270;  // pixels; kScale for 1 m
constexpr const char* kColours[] = {"#1f6feb", "#d1242f", "#1a7f37", "#9a6700",
                                    "#8250df", "#bf3989", "#0a7ea4", "#57606a"};

Point Pixel(const Point& p) { return {kSize / 2 + kScale * p[0], kTitle + kSize / 2 - kScale * p[1]}; }

void DrawReach(std::FILE* file) {
  const Point centre = Pixel({0, 0});
  for (const double radius : {kUpper - kLower, kUpper + kLower}) {
    std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"none\" stroke=\"#ddd\"/>\n", centre[0],
                 centre[1], kScale * radius);
  }
  std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"#333\"/>\n", centre[0], centre[1]);
}

void DrawPath(std::FILE* file, const ArmRun& arm, const char* colour) {
  std::fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-opacity=\"0.8\" points=\"",
               colour);
  const Point start = Pixel({0, -kUpper - kLower});  // hanging
  std::fprintf(file, "%.1f,%.1f ", start[0], start[1]);
  for (size_t i = 0; i < arm.angles.size(); i += kJoints) {
    const Point p = Pixel(TipOf(&arm.angles[i]));
    std::fprintf(file, "%.1f,%.1f ", p[0], p[1]);
  }
  std::fprintf(file, "\"/>\n");
}

void DrawArm(std::FILE* file, const ArmRun& arm, const char* colour) {
  const Point shoulder = Pixel({0, 0}), elbow = Pixel(ElbowOf(arm.last())), tip = Pixel(TipOf(arm.last()));
  std::fprintf(file,
               "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"6\" stroke-opacity=\"0.25\" "
               "stroke-linecap=\"round\" stroke-linejoin=\"round\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n",
               colour, shoulder[0], shoulder[1], elbow[0], elbow[1], tip[0], tip[1]);
}

void DrawTarget(std::FILE* file, const ArmRun& arm, const char* colour) {
  const Point p = Pixel(arm.target);
  std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"7\" fill=\"white\" stroke=\"%s\" stroke-width=\"2\"/>\n",
               p[0], p[1], colour);
  const Point tip = Pixel(TipOf(arm.last()));
  std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", tip[0], tip[1], colour);
}

}  // namespace

bool WriteArms(const std::string& path, const std::string& title, const std::vector<ArmRun>& arms) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
               "font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
               "<text x=\"%.0f\" y=\"26\" text-anchor=\"middle\">%s</text>\n",
               kSize, kSize + kTitle, kSize / 2, title.c_str());
  DrawReach(file);
  const auto draw = [&](void (*part)(std::FILE*, const ArmRun&, const char*)) {
    for (size_t i = 0; i < arms.size(); ++i) part(file, arms[i], kColours[i % std::size(kColours)]);
  };
  draw(DrawArm);
  draw(DrawPath);
  draw(DrawTarget);
  std::fprintf(file, "</svg>\n");
  return std::fclose(file) == 0;
}

}  // namespace engine
