// ricci/axes.hpp: axes as arguments: integers, negative ones counted from the end, and no other type that would convert
// to one.
#ifndef RICCI_AXES_HPP_
#define RICCI_AXES_HPP_
#include <concepts>
#include <initializer_list>

#include "ricci/operand.hpp"

namespace ricci { inline namespace v0 {

template <typename T>
concept AxisInteger = std::integral<T> && !std::same_as<T, bool>;
// What callers pass as an axis by mistake: other numbers, and what was meant as the second operand of maximum.
template <typename T>
concept NoAxis = std::floating_point<T> || std::same_as<T, bool> || std::same_as<T, Value> || std::same_as<T, Array>;

// One axis.
class AxisNumber {
 public:
  template <AxisInteger T>
  constexpr AxisNumber(T axis) : axis_(static_cast<int64_t>(axis)) {}  // NOLINT: `softmax(x, -1)`
  template <NoAxis T>
  constexpr AxisNumber(const T&) {  // NOLINT
    static_assert(AxisInteger<T>, "an axis is an integer");
  }
  constexpr operator int64_t() const { return axis_; }  // NOLINT

 private:
  int64_t axis_ = 0;
};

// Which axes to reduce: all of them, one, or several.
class Axes {
 public:
  Axes() = default;
  template <AxisInteger T>
  Axes(T axis) : Axes({static_cast<int64_t>(axis)}) {}  // NOLINT: `sum(x, -1)`
  Axes(std::initializer_list<int64_t> axes);            // NOLINT
  template <NoAxis T>
  Axes(const T&) {  // NOLINT
    static_assert(AxisInteger<T>,
                  "axes are integers: max(x, 1) and sum(x, 1) reduce along axis 1; the greater and the lesser of two "
                  "values are maximum(x, y) and minimum(x, y)");
  }

  // The axes of an array of that rank, in increasing order; throws if one is out of range or occurs twice.
  Shape Of(std::string_view name, const Location& at, int64_t rank) const;
  // None were given.
  bool all() const { return all_; }

 private:
  bool all_ = true;
  Shape list_;
};

}}  // namespace ricci::v0
#endif
