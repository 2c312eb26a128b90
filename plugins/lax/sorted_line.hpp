// SortedLine: what sort emits for one line: its keys and the order of its elements.
//
// Short lines are sorted by counting what comes before each element, longer ones by merging, long ones by the digits of
// their keys. Up to 8 keys are compared in one expression; more are numbers of one kind in one array, in which a loop
// finds the first that differs, so that neither code nor compile time has an expression of each key.
#ifndef RICCI_LAX_SORTED_LINE_HPP_
#define RICCI_LAX_SORTED_LINE_HPP_
#include <algorithm>

#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {

inline constexpr int64_t kShortLine = 48, kLongLine = 128;
inline constexpr int64_t kDigitBits = 8, kDigits = 1 << kDigitBits;
inline constexpr int64_t kManyKeys =
    8;  // more are compared by a loop over them, whose code does not grow with their number
inline constexpr uint32_t kKeysOfALoop = 16;  // of so many the words are made in one loop, which is too long to unroll

class SortedLine {
 public:
  SortedLine(KernelBuilder& k, const Eqn& e, const Index& at)
      : k_(k), e_(e), at_(at), axis_(e.integer("dimension")), n_(e.in(0).dim(axis_)) {
    if (IsLoneLongKey()) return;
    if (e.integer("num_keys") > kManyKeys) {
      AddWords();
      return;
    }
    for (uint32_t i = 0; i < e.integer("num_keys"); ++i) AddKeys(i);
  }
  void Sort() const {
    if (IsLoneLongKey()) return ByDigitsAlone();
    if (n_words_ > 0) return n_ < kLongLine ? ByMerging() : ByDigitsOfWords();
    if (n_ <= kShortLine) return ByCounting();
    n_ < kLongLine ? ByMerging() : ByDigits();
  }

 private:
  static DType key_dtype(DType d) { return d == DType::kBool ? DType::kU8 : PartOf(d); }
  // A key that is all there is to move.
  bool IsLoneLongKey() const {
    const DType dtype = e_.in(0).dtype();
    return n_ >= kLongLine && e_.n_in() == 1 && dtype != DType::kBool && !IsComplex(dtype);
  }
  // Of operand i, in arrays of their own.
  void AddKeys(uint32_t i) {
    const bool is_complex = IsComplex(e_.in(i).dtype());
    std::vector<KernelArray> parts;
    const DType dtype = key_dtype(e_.in(i).dtype());
    for (int part = 0; part <= is_complex; ++part) {
      parts.push_back(k_.Local(e_.Type(dtype, Dims(&n_, 1))));
      key_dtypes_.push_back(dtype);
    }
    k_.Loop(n_, [&](Scalar j) {
      const Scalar v = k_.Operand(i).Load(Position(j));
      if (is_complex) {
        parts[0].Store({j}, Real(v));
        return parts[1].Store({j}, Imag(v));
      }
      parts[0].Store({j}, Convert(v, dtype));
    });
    first_key_.push_back(keys_.size());
    keys_.insert(keys_.end(), parts.begin(), parts.end());
  }
  // Many keys, as numbers of one kind in one array, in which a loop finds them.
  void AddWords() {
    const auto n_keys = static_cast<uint32_t>(e_.integer("num_keys"));  // exact: checked by the type
    for (uint32_t i = 0; i < n_keys; ++i) {
      n_words_ += IsComplex(e_.in(i).dtype()) ? 2 : 1;
      if (BitsOf(key_dtype(e_.in(i).dtype())) > 32) word_ = DType::kU64;
    }
    const int64_t shape[] = {n_words_, n_};
    words_ = k_.Local(e_.Type(word_, shape));
    int64_t next = 0;
    for (uint32_t first = 0; first < n_keys; first += kKeysOfALoop) {
      k_.Loop(n_, [&](Scalar j) {
        for (uint32_t i = first; i < std::min(first + kKeysOfALoop, n_keys); ++i) next = StoreWords(i, next, j);
      });
    }
  }
  // Element j of key i as word `next`; returns the word after it.
  int64_t StoreWords(uint32_t i, int64_t next, Scalar j) const {
    const DType dtype = e_.in(i).dtype();
    const Scalar v = k_.Operand(i).Load(Position(j));
    if (!IsComplex(dtype)) {
      words_.Store({k_.At(next), j}, Ordered(Convert(v, key_dtype(dtype)), word_));
      return next + 1;
    }
    words_.Store({k_.At(next), j}, Ordered(Real(v), word_));
    words_.Store({k_.At(next + 1), j}, Ordered(Imag(v), word_));
    return next + 2;
  }
  // Element `at` of operand i. Those that are not keys are loaded again, and bool, which its key is not.
  Scalar Element(uint32_t i, Scalar at) const {
    const DType dtype = e_.in(i).dtype();
    if (i >= first_key_.size() || dtype == DType::kBool) return k_.Operand(i).Load(Position(at));
    const KernelArray* key = &keys_[first_key_[i]];
    if (!IsComplex(dtype)) return key->Load({at});
    const Scalar im = key[1].Load({at});
    return Complex(key[0].Load({at}), im);
  }
  Index Position(Scalar j) const {
    Index out = at_;
    out.insert(out.begin() + axis_, j);
    return out;
  }
  ArrayType Indices(Dims shape) const { return e_.Type(DType::kI64, shape); }

  // Keys as they are ordered: NaN comes last, and is equal to NaN.
  static Scalar Less(Scalar a, Scalar b) {
    if (!IsFloat(a.dtype())) return a < b;
    const Scalar is_nan = b != b, before_nan = (a == a) & is_nan;
    return (a < b) | before_nan;
  }
  static Scalar Equal(Scalar a, Scalar b) {
    if (!IsFloat(a.dtype())) return a == b;
    const Scalar is_nan = b != b, both_nan = (a != a) & is_nan;
    return (a == b) | both_nan;
  }
  // Whether element i comes before element j by their keys; equal elements do not.
  Scalar Before(Scalar i, Scalar j) const {
    if (n_words_ > 0) return BeforeByWords(i, j);
    Scalar out;
    for (size_t key = keys_.size(); key-- > 0;) {
      const Scalar a = keys_[key].Load({i}), b = keys_[key].Load({j}), less = Less(a, b);
      if (out.id == 0) {
        out = less;
        continue;
      }
      out = less | (Equal(a, b) & out);
    }
    return out;
  }
  // By the first word in which they differ, or the last.
  Scalar BeforeByWords(Scalar i, Scalar j) const {
    const KernelArray at = k_.Local(Indices({}));
    at.Store({}, k_.At(0));
    k_.While(
        [&] {
          const Scalar word = at.Load({});
          const Scalar of_j = words_.Load({word, j}), is_equal = words_.Load({word, i}) == of_j;
          return (word < n_words_ - 1) & is_equal;
        },
        [&] { at.Store({}, at.Load({}) + 1); });
    const Scalar word = at.Load({}), of_j = words_.Load({word, j});
    return words_.Load({word, i}) < of_j;
  }
  // Element `from` of the line goes to position `to` of the results.
  void Write(Scalar to, Scalar from) const {
    for (uint32_t i = 0; i < e_.n_in(); ++i) k_.Result(i).Store(Position(to), Element(i, from));
  }

  // The position of element i is the number of elements before it.
  void ByCounting() const {
    k_.Loop(n_, [&](Scalar i) {
      const Scalar position = k_.Reduce(RICCI_S_ADD, n_, [&](Scalar j) {
        const Scalar not_after = !Before(i, j), first_of_equal = (j < i) & not_after;
        const Scalar before = Before(j, i) | first_of_equal;
        return Convert(before, DType::kI64);
      });
      Write(position, i);
    });
  }

  // Runs of `width` sorted elements are merged in pairs until one is left; orders[0] and [1] take turns.
  void ByMerging() const {
    const int64_t both[] = {2, n_};
    const KernelArray orders = k_.Local(Indices(both)), width = k_.Local(Indices({})), source = k_.Local(Indices({}));
    k_.Loop(n_, [&](Scalar i) { orders.Store({k_.At(0), i}, i); });
    width.Store({}, k_.At(1));
    source.Store({}, k_.At(0));
    k_.While([&] { return width.Load({}) < n_; },
             [&] {
               const Scalar w = width.Load({}), from = source.Load({});
               const Scalar of_pair = 2 * w, pairs = (n_ + 2 * w - 1) / of_pair;
               k_.Loop(k_.At(0), pairs, [&](Scalar pair) { Merge(orders, from, pair * 2 * w, w); });
               source.Store({}, 1 - from);
               width.Store({}, 2 * w);
             });
    const Scalar from = source.Load({});
    k_.Loop(n_, [&](Scalar i) { Write(i, orders.Load({from, i})); });
  }
  void Merge(KernelArray orders, Scalar from, Scalar lo, Scalar w) const {
    const Scalar n = k_.At(n_), last = k_.At(n_ - 1), mid = Min(lo + w, n), hi = Min(lo + 2 * w, n);
    const KernelArray left = k_.Local(Indices({})), right = k_.Local(Indices({}));
    left.Store({}, lo);
    right.Store({}, mid);
    k_.Loop(lo, hi, [&](Scalar to) {
      const Scalar l = left.Load({}), r = right.Load({});
      const Scalar of_left = orders.Load({from, Min(l, last)}), of_right = orders.Load({from, Min(r, last)});
      const Scalar is_before = Before(of_right, of_left), is_less = (r < hi) & is_before;
      const Scalar take_right = (l >= mid) | is_less;
      const Scalar next = Select(take_right, of_right, of_left);
      orders.Store({1 - from, to}, next);
      const Scalar one = Convert(take_right, DType::kI64);
      left.Store({}, l + (1 - one));
      right.Store({}, r + one);
    });
  }

  // A key as an unsigned number that is larger for what comes later. -0 is 0, and every NaN the largest.
  static Scalar Ordered(Scalar v, DType word) {
    const bool wide = word == DType::kU64;
    if (IsFloat(v.dtype())) {
      const uint64_t sign = uint64_t{1} << (wide ? 63 : 31);
      const Scalar x = Convert(v, wide ? DType::kF64 : DType::kF32), bits = Bitcast(x, word);
      const Scalar below_zero = bits >= Like(bits, sign), raised = bits | Like(bits, sign);
      const Scalar flipped = Select(below_zero, !bits, raised), ordered = Select(x == 0.0, Like(bits, sign), flipped);
      return Select(x == x, ordered, !Like(bits, 0));
    }
    if (!In(v.dtype(), kSigned)) return Convert(v, word);
    const Scalar bits = Bitcast(Convert(v, wide ? DType::kI64 : DType::kI32), word);
    return bits + Like(bits, uint64_t{1} << (BitsOf(v.dtype()) - 1));
  }

  // The elements being moved between two halves of an array, with the words whose digits decide where to. A key that is
  // alone needs no words: it is moved itself.
  struct Digits {
    KernelArray moved, words;
    bool alone;
    DType word;
    int64_t passes;
    KernelArray ends;  // by pass and digit: how many there are, then where the next one goes
  };
  Digits DigitsOf(DType dtype, KernelArray moved, bool alone) const {
    const bool wide = BitsOf(dtype) > 32;
    const int64_t both[] = {2, n_}, bits = IsFloat(dtype) ? (wide ? 64 : 32) : BitsOf(dtype);
    Digits d{moved, {}, alone, wide ? DType::kU64 : DType::kU32, bits / kDigitBits, {}};
    const int64_t counts[] = {d.passes, kDigits};
    if (!alone) d.words = k_.Local(e_.Type(d.word, both));
    d.ends = k_.Local(Indices(counts));
    return d;
  }

  void ByDigitsAlone() const {
    const int64_t both[] = {2, n_};
    const Digits d = DigitsOf(e_.in(0).dtype(), k_.Local(e_.in(0).WithShape(both)), true);
    k_.Loop(n_, [&](Scalar i) { d.moved.Store({k_.At(0), i}, k_.Operand(0).Load(Position(i))); });
    Count(d, 0);
    MoveAll(d, 0, true);
  }

  // From the last key to the first, and in each from its last digit to its first: elements go after those with smaller
  // digits, in their present order. What is moved are their numbers.
  void ByDigits() const {
    const int64_t both[] = {2, n_};
    const DType number = n_ > INT32_MAX ? DType::kI64 : DType::kI32;
    const KernelArray moved = k_.Local(e_.Type(number, both));
    k_.Loop(n_, [&](Scalar i) { moved.Store({k_.At(0), i}, Convert(i, number)); });
    int64_t half = 0;  // of `moved`, the current one
    for (size_t key = keys_.size(); key-- > 0;) {
      const Digits d = DigitsOf(key_dtypes_[key], moved, false);
      k_.Loop(n_, [&](Scalar i) {
        const Scalar at = Convert(moved.Load({k_.At(half), i}), DType::kI64);
        d.words.Store({k_.At(half), i}, Ordered(keys_[key].Load({at}), d.word));
      });
      Count(d, half);
      half = MoveAll(d, half, key == 0);
    }
  }
  // The same by words: the number of passes is even, so after each word all is in the first half again.
  void ByDigitsOfWords() const {
    const int64_t both[] = {2, n_};
    const DType number = n_ > INT32_MAX ? DType::kI64 : DType::kI32;
    const KernelArray moved = k_.Local(e_.Type(number, both));
    k_.Loop(n_, [&](Scalar i) { moved.Store({k_.At(0), i}, Convert(i, number)); });
    const Digits d = DigitsOf(word_, moved, false);
    k_.Loop(n_words_, [&](Scalar later) {
      const Scalar word = n_words_ - 1 - later;
      k_.Loop(n_, [&](Scalar i) {
        const Scalar at = Convert(moved.Load({k_.At(0), i}), DType::kI64);
        d.words.Store({k_.At(0), i}, words_.Load({word, at}));
      });
      Count(d, 0);
      MoveAll(d, 0, /*last=*/false);
    });
    k_.Loop(n_, [&](Scalar i) { Write(i, Convert(moved.Load({k_.At(0), i}), DType::kI64)); });
  }
  Scalar WordAt(const Digits& d, int64_t half, Scalar i) const {
    return d.alone ? Ordered(d.moved.Load({k_.At(half), i}), d.word) : d.words.Load({k_.At(half), i});
  }
  static Scalar DigitOf(Scalar word, int64_t pass) {
    const Scalar digit = ShiftRightLogical(word, Like(word, static_cast<uint64_t>(pass * kDigitBits)));
    return Convert(digit & (kDigits - 1), DType::kI64);
  }

  // How often each digit occurs does not depend on the order, so all are counted at once; then where each begins.
  void Count(const Digits& d, int64_t half) const {
    k_.Loop(d.passes, [&](Scalar pass) {
      k_.Loop(kDigits, [&](Scalar digit) { d.ends.Store({pass, digit}, k_.At(0)); });
    });
    k_.Loop(n_, [&](Scalar i) {
      const Scalar word = WordAt(d, half, i);
      for (int64_t pass = 0; pass < d.passes; ++pass) {
        const Scalar digit = DigitOf(word, pass);
        d.ends.Store({k_.At(pass), digit}, d.ends.Load({k_.At(pass), digit}) + 1);
      }
    });
    const KernelArray end = k_.Local(Indices({}));
    k_.Loop(d.passes, [&](Scalar pass) {
      end.Store({}, k_.At(0));
      k_.Loop(kDigits, [&](Scalar digit) {
        const Scalar count = d.ends.Load({pass, digit}), begin = end.Load({});
        d.ends.Store({pass, digit}, begin);
        end.Store({}, begin + count);
      });
    });
  }

  // Digit by digit from one half to the other; returns the half where all are then. What is `last` goes to the results.
  int64_t MoveAll(const Digits& d, int64_t half, bool last) const {
    for (int64_t pass = 0; pass < d.passes; ++pass, half = 1 - half) Move(d, pass, half, last && pass == d.passes - 1);
    return half;
  }
  void Move(const Digits& d, int64_t pass, int64_t from, bool to_results) const {
    const Scalar to_half = k_.At(1 - from);
    k_.Loop(n_, [&](Scalar i) {
      const Scalar word = WordAt(d, from, i), digit = DigitOf(word, pass), v = d.moved.Load({k_.At(from), i});
      const Scalar to = d.ends.Load({k_.At(pass), digit});
      if (to_results) {
        d.alone ? k_.Result(0).Store(Position(to), v) : Write(to, Convert(v, DType::kI64));
      } else {
        if (!d.alone) d.words.Store({to_half, to}, word);
        d.moved.Store({to_half, to}, v);
      }
      d.ends.Store({k_.At(pass), digit}, to + 1);
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const Index& at_;
  const int64_t axis_, n_;
  std::vector<KernelArray> keys_;
  std::vector<DType> key_dtypes_;
  std::vector<size_t> first_key_;  // of each operand with keys
  KernelArray words_;              // of many keys, instead of the three above
  int64_t n_words_ = 0;
  DType word_ = DType::kU32;
};

}}}}  // namespace ricci::v0::lax::rows
#endif
