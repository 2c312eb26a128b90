#include "digits_file.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace {

// Appends the 64 pixels and the label of one line.
void ReadLine(const std::string& line, const std::string& place, Digits& into) {
  const char* at = line.c_str();
  for (int64_t i = 0; i <= kPixels; ++i) {
    int value = 0, length = 0;
    const int highest = i < kPixels ? 16 : 9;
    if (std::sscanf(at, i == 0 ? "%d%n" : ",%d%n", &value, &length) != 1 || value < 0 || value > highest) {
      throw std::runtime_error(place + ": expected 64 pixels from 0 to 16 and a digit, separated by commas");
    }
    at += length;
    if (i < kPixels) into.images.push_back(static_cast<float>(value) / 16.0f);
    if (i == kPixels) into.labels.push_back(value);
  }
}

}  // namespace

Digits ReadDigits(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  Digits out;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    ReadLine(line, path + ":" + std::to_string(number), out);
  }
  return out;
}

Digits Take(const Digits& from, const std::vector<int64_t>& order, int64_t first, int64_t count) {
  Digits out;
  for (int64_t i = first; i < first + count; ++i) {
    const int64_t digit = order[static_cast<size_t>(i)];
    const auto image = from.images.begin() + digit * kPixels;
    out.images.insert(out.images.end(), image, image + kPixels);
    out.labels.push_back(from.labels[static_cast<size_t>(digit)]);
  }
  return out;
}
