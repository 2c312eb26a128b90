// The factor text of an operation, put together dimension by dimension.
//
// A dimension that passes through is one factor on both sides; one that is cut, shifted or looked up is a factor of its
// own that cannot be split (`whole`).
#ifndef RICCI_LAX_FACTOR_TEXT_HPP_
#define RICCI_LAX_FACTOR_TEXT_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

class FactorText {
 public:
  int64_t Shared() { return next_++; }
  int64_t Whole() {
    MarkWhole(next_);
    return next_++;
  }
  void MarkWhole(int64_t factor) { whole_.push_back(factor); }
  // The kind of a combined factor: `sum`, `max`, ...
  void Mark(std::string_view kind, int64_t factor) { kinds_ += Text("; ", kind, " ", rules::Letter(factor)); }
  void AddIn(Dims factors) { Add(in_, factors); }
  void AddOut(Dims factors) { Add(out_, factors); }
  // A whole factor that no list has, such as one of updates that are not an operand, is left out.
  std::string Done() const {
    const std::string text = in_ + " -> " + out_ + kinds_;
    Shape whole;
    for (int64_t factor : whole_) {
      if (rules::Contains(listed_, factor)) whole.push_back(factor);
    }
    return whole.empty() ? text : text + "; whole " + rules::Letters(whole);
  }

 private:
  void Add(std::string& to, Dims factors) {
    if (&to == &in_ ? n_in_++ != 0 : n_out_++ != 0) to += ", ";
    to += rules::Letters(factors);
    listed_.insert(listed_.end(), factors.begin(), factors.end());
  }
  std::string in_, out_, kinds_;
  int n_in_ = 0, n_out_ = 0;
  Shape whole_, listed_;
  int64_t next_ = 0;
};

// A view of operand 0 whose result dimension j is all of operand dimension from[j], or of no single one (-1). Other
// operands are scalars.
inline std::string ViewFactors(const Eqn& e, Dims from) {
  FactorText text;
  Shape in(static_cast<size_t>(e.in(0).rank()), -1), out;
  for (int64_t i : from) {
    const int64_t factor = i < 0 ? text.Whole() : text.Shared();
    if (i >= 0) in[static_cast<size_t>(i)] = factor;
    out.push_back(factor);
  }
  for (int64_t& factor : in) {
    if (factor < 0) factor = text.Whole();
  }
  text.AddIn(in);
  for (uint32_t i = 1; i < e.n_in(); ++i) text.AddIn({});
  text.AddOut(out);
  for (uint32_t i = 1; i < e.n_out(); ++i) {  // results may differ in size in dimensions that are not whole
    for (size_t j = 0; j < from.size(); ++j) {
      if (from[j] < 0) out[j] = text.Whole();
    }
    text.AddOut(out);
  }
  return text.Done();
}

}}}  // namespace ricci::v0::lax
#endif
