// Arrays as text, as NumPy's array2string writes them.
#include "ricci/printing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "host/core/plain_math.h"
#include "ricci/element.hpp"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

namespace {

constexpr size_t kLineWidth = 75;
constexpr int64_t kThreshold = 1000, kEdge = 3;
constexpr int kMostDigits = 8;

// The digits of a number and its power of ten: d.ddd x 10^exponent.
struct Decimal {
  bool negative;
  std::string digits;
  int exponent;
};
// As few digits as tell the number from others of its dtype.
Decimal Shortest(double x, DType dtype) {
  const Element exact = Encode(dtype, x);
  char text[40];
  for (int precision = 0; precision < 17; ++precision) {
    std::snprintf(text, sizeof text, "%.*e", precision, x);
    const Element e = Encode(dtype, std::strtod(text, nullptr));
    if (std::equal(e.bytes.begin(), e.bytes.begin() + static_cast<int64_t>(e.size), exact.bytes.begin())) break;
  }
  const std::string all = text;
  const size_t e = all.find('e');
  Decimal d{all[0] == '-', "", std::atoi(all.c_str() + e + 1)};
  for (char c : all.substr(0, e)) {
    if (c >= '0' && c <= '9') d.digits += c;
  }
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}
// Without an exponent: before and after the point, at most `most` digits after it.
std::pair<std::string, std::string> Positional(double x, DType dtype, int most) {
  const Decimal d = Shortest(x, dtype);
  const auto n = static_cast<int>(d.digits.size());
  const int after = std::max(0, n - 1 - d.exponent);
  char text[420];
  if (after > most) {
    std::snprintf(text, sizeof text, "%.*f", most, x);
  } else {
    const double shortest = std::strtod((d.digits + "e" + std::to_string(d.exponent - n + 1)).c_str(), nullptr);
    std::snprintf(text, sizeof text, "%s%.*f", d.negative ? "-" : "", after, shortest);
  }
  std::string all = text;
  const size_t point = all.find('.');
  if (point == std::string::npos) return {all, ""};
  std::string fraction = all.substr(point + 1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return {all.substr(0, point), fraction};
}
std::string Padded(std::string s, size_t width) { return s.size() < width ? s.insert(0, width - s.size(), ' ') : s; }
std::string NotFinite(double x) { return std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf"; }

// One format for all elements of an array.
class FloatFormat {
 public:
  FloatFormat(const std::vector<double>& all, DType dtype) : dtype_(dtype) {
    double most = 0, least = INFINITY;
    for (double x : all) {
      if (!std::isfinite(x) || x == 0) continue;
      most = std::max(most, std::fabs(x));
      least = std::min(least, std::fabs(x));
    }
    scientific_ = most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
    for (double x : all) {
      if (!std::isfinite(x)) continue;
      const auto [whole, fraction] = Parts(x);
      left_ = std::max(left_, whole.size());
      right_ = std::max(right_, fraction.size());
    }
    for (double x : all) {
      const size_t tail = right_ + 1 + (scientific_ ? 4 : 0);
      if (!std::isfinite(x)) left_ = std::max(left_, NotFinite(x).size() > tail ? NotFinite(x).size() - tail : 0);
    }
  }
  std::string Text(double x) const {
    if (!std::isfinite(x)) return Padded(NotFinite(x), left_ + right_ + 1 + (scientific_ ? 4 : 0));
    auto [whole, fraction] = Parts(x);
    if (!scientific_) return Padded(whole, left_) + "." + fraction + std::string(right_ - fraction.size(), ' ');
    char exponent[8];
    std::snprintf(exponent, sizeof exponent, "e%+03d", Rounded(x).exponent);
    return Padded(whole, left_) + "." + fraction + std::string(right_ - fraction.size(), '0') + exponent;
  }

 private:
  // At most kMostDigits after the first digit.
  Decimal Rounded(double x) const {
    const Decimal d = Shortest(x, dtype_);
    if (d.digits.size() <= kMostDigits + 1) return d;
    char text[40];
    std::snprintf(text, sizeof text, "%.*e", kMostDigits, x);
    return Shortest(std::strtod(text, nullptr), DType::kF64);
  }
  std::pair<std::string, std::string> Parts(double x) const {
    if (!scientific_) return Positional(x, dtype_, kMostDigits);
    const Decimal d = Rounded(x);
    return {(std::signbit(x) ? "-" : "") + d.digits.substr(0, 1), d.digits.substr(1)};
  }
  DType dtype_;
  bool scientific_ = false;
  size_t left_ = 1, right_ = 0;
};

// A number alone, as Python prints it.
std::string Alone(double x, DType dtype) {
  if (!std::isfinite(x)) return NotFinite(x);
  const double size = std::fabs(x);
  if (size == 0 || (size >= 1e-4 && size < 1e16)) {
    const auto [whole, fraction] = Positional(x, dtype, 400);
    return whole + "." + (fraction.empty() ? "0" : fraction);
  }
  const Decimal d = Shortest(x, dtype);
  char exponent[8];
  std::snprintf(exponent, sizeof exponent, "e%+03d", d.exponent);
  const std::string fraction = d.digits.size() > 1 ? "." + d.digits.substr(1) : "";
  return (d.negative ? "-" : "") + d.digits.substr(0, 1) + fraction + exponent;
}

// Which elements of a dimension are shown.
bool IsSummed(int64_t n, bool summary) { return summary && n > 2 * kEdge; }

// The brackets around the texts of the elements.
class Layout {
 public:
  Layout(Dims shape, const std::vector<std::string>& words, bool summary)
      : shape_(shape), words_(words), summary_(summary) {}
  std::string Write(size_t axis, const std::string& indent, size_t width, int64_t first) const {
    if (axis == shape_.size()) return words_[static_cast<size_t>(first)];
    const std::string next = indent + " ";
    std::string out = axis + 1 == shape_.size() ? Row(indent, width, first) : Rows(axis, indent, next, width, first);
    return "[" + out.substr(indent.size()) + "]";
  }

 private:
  int64_t Stride(size_t axis) const {
    int64_t n = 1;
    for (size_t d = axis + 1; d < shape_.size(); ++d) n *= shape_[d];
    return n;
  }
  std::string Row(const std::string& indent, size_t width, int64_t first) const {
    const int64_t n = shape_.back();
    std::string out, line = indent;
    const auto put = [&](const std::string& word, bool last) {
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += line + "\n";
        line = indent;
      }
      line += word + (last ? "" : " ");
    };
    for (int64_t i = 0; i < n; ++i) {
      if (IsSummed(n, summary_) && i == kEdge) {
        put("...", false);
        i = n - kEdge;
      }
      put(words_[static_cast<size_t>(first + i)], i + 1 == n);
    }
    return out + line;
  }
  std::string Rows(size_t axis, const std::string& indent, const std::string& next, size_t width, int64_t first) const {
    const std::string separator(shape_.size() - axis - 1, '\n');
    const int64_t n = shape_[axis], stride = Stride(axis);
    std::string out;
    for (int64_t i = 0; i < n; ++i) {
      if (IsSummed(n, summary_) && i == kEdge) {
        out += indent + "..." + separator;
        i = n - kEdge;
      }
      out += indent + Write(axis + 1, next, width - 1, first + i * stride) + (i + 1 == n ? "" : separator);
    }
    return out;
  }

  Dims shape_;
  const std::vector<std::string>& words_;
  const bool summary_;
};

// Whether element i is shown.
bool IsShown(Dims shape, int64_t i, bool summary) {
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) {
    const int64_t position = i % shape[d];
    if (IsSummed(shape[d], summary) && position >= kEdge && position < shape[d] - kEdge) return false;
  }
  return true;
}
std::vector<double> Doubles(const Value& v) {
  return Array(lax::convert_element_type(v, DType::kF64)).to_vector<double>();
}

// The texts of the elements that are shown.
class Words {
 public:
  Words(const Array& a, bool summary) : shown_(static_cast<size_t>(a.size())) {
    for (size_t i = 0; i < shown_.size(); ++i) shown_[i] = IsShown(a.shape(), static_cast<int64_t>(i), summary);
  }
  std::vector<std::string> Floats(const std::vector<double>& all, DType dtype, bool alone) const {
    std::vector<double> some;
    for (size_t i = 0; i < all.size(); ++i) {
      if (shown_[i]) some.push_back(all[i]);
    }
    const FloatFormat format(some, dtype);
    std::vector<std::string> out(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      if (shown_[i]) out[i] = alone ? Alone(all[i], dtype) : format.Text(all[i]);
    }
    return out;
  }
  // Aligned to the right.
  std::vector<std::string> Aligned(std::vector<std::string> all) const {
    size_t width = 0;
    for (size_t i = 0; i < all.size(); ++i) width = shown_[i] ? std::max(width, all[i].size()) : width;
    for (std::string& s : all) s = Padded(s, width);
    return all;
  }

 private:
  std::vector<bool> shown_;
};
std::vector<std::string> Integers(const Array& a) {
  std::vector<std::string> out;
  if (a.dtype() == DType::kBool) {
    for (bool b : a.to_vector<bool>()) out.push_back(b ? "True" : "False");
  } else if (In(a.dtype(), kUnsigned)) {
    const Array wide = astype(a, DType::kU64);
    for (uint64_t x : wide.to_vector<uint64_t>()) out.push_back(std::to_string(x));
  } else {
    const Array wide = astype(a, DType::kI64);
    for (int64_t x : wide.to_vector<int64_t>()) out.push_back(std::to_string(x));
  }
  return out;
}
std::vector<std::string> Complexes(const Array& a, const Words& words) {
  const DType part = PartOf(a.dtype());
  const std::vector<std::string> re = words.Floats(Doubles(real(a)), part, false);
  std::vector<std::string> im = words.Floats(Doubles(imag(a)), part, false);
  for (size_t i = 0; i < im.size(); ++i) {
    const size_t sign = im[i].find_first_not_of(' ');
    if (sign == std::string::npos) continue;
    const size_t end = im[i].find_last_not_of(' ') + 1;
    std::string text = im[i].substr(sign, end - sign) + "j" + im[i].substr(end);
    if (text[0] != '-') text = "+" + text;
    im[i] = re[i] + text;
  }
  return im;
}

}  // namespace

std::string to_string(const Array& a, Location at) {
  if (a.empty()) FailAt(at, "to_string: the array was never set");
  if (a.dtype() == DType::kKey) FailAt(at, "to_string: ", a.type(), " holds keys, which have no text");
  if (a.size() == 0) return "[]";
  const bool summary = a.size() > kThreshold, alone = a.rank() == 0;
  const Words words(a, summary);
  const std::vector<std::string> texts = IsComplex(a.dtype()) ? Complexes(a, words)
                                         : IsFloat(a.dtype()) ? words.Floats(Doubles(constant(a, a)), a.dtype(), alone)
                                                              : words.Aligned(Integers(a));
  return Layout(a.shape(), texts, summary).Write(0, " ", kLineWidth, 0);
}

}}  // namespace ricci::v0
