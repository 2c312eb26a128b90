// digits_file: the optical digits of samples/data, scaled and shuffled.
#ifndef SAMPLES_QUICKSTART_DIGITS_FILE_H_
#define SAMPLES_QUICKSTART_DIGITS_FILE_H_
#include <cstdint>
#include <string>
#include <vector>

constexpr int64_t kPixels = 64;
constexpr int64_t kClasses = 10;

struct Digits {
  std::vector<float> images;    // kPixels values in [0, 1] per digit
  std::vector<int32_t> labels;  // 0 to 9
  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Throws std::runtime_error with file and line if the file has another form.
Digits ReadDigits(const std::string& path);

// Digits order[first], order[first + 1], ... order[first + count - 1].
Digits Take(const Digits& from, const std::vector<int64_t>& order, int64_t first, int64_t count);

#endif
