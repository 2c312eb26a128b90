// einsum: parses the subscripts, chooses an order of pairs, and writes each pair as one product.
//
// A pair of operands is a dot_general if letters are summed between them, else a broadcast product, which fuses.
// Letters that only one operand has and nothing else needs are summed first; repeated letters are taken as diagonals.
#include "ricci/einsum.hpp"

#include <algorithm>

#include "host/core/numpy_steps.h"
#include "host/numpy/contraction_order.h"
#include "ricci/reductions.hpp"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {
namespace {

// Letters of dimensions; those of an ellipsis are numbers counted from its end, below any letter.
using Letters = std::vector<int>;
struct Term {
  Value value;
  Letters letters;  // one per dimension
};

bool IsIn(int letter, const Letters& list) { return std::find(list.begin(), list.end(), letter) != list.end(); }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Parser {
  const CallSite& site;
  std::string_view text;

  template <typename... Parts>
  [[noreturn]] void Fail(const Parts&... parts) const {
    site.Fail("subscripts \"", text, "\": ", parts...);
  }
  // The letters of one operand of this rank (-1: of the result, whose ellipsis has `dots` dimensions).
  Letters ListOf(std::string_view list, int64_t rank, int64_t dots, size_t number) const {
    Letters out;
    bool has_dots = false;
    const auto letters = std::count_if(list.begin(), list.end(), IsLetter);
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] == ' ') continue;
      if (IsLetter(list[i])) {
        out.push_back(list[i]);
        continue;
      }
      if (list.substr(i, 3) != "..." || has_dots) Fail("`", list.substr(i, 1), "` is not allowed there");
      has_dots = true;
      const int64_t n = rank < 0 ? dots : rank - letters;
      if (n < 0) Fail("operand ", number, " has ", Count(rank, "dimension"), ", fewer than its letters");
      for (int64_t k = n; k > 0; --k) out.push_back(static_cast<int>(-k));
      i += 2;
    }
    if (rank >= 0 && static_cast<int64_t>(out.size()) != rank) {
      Fail("operand ", number, " has ", Count(rank, "dimension"), " and ", Count(letters, "letter"));
    }
    return out;
  }
  std::vector<Letters> Inputs(std::string_view inputs, const Values& v) const {
    std::vector<Letters> out;
    for (size_t from = 0; from <= inputs.size();) {
      const size_t comma = std::min(inputs.find(',', from), inputs.size());
      if (out.size() == v.size()) Fail("more lists than the ", Count(v.size(), "operand"));
      out.push_back(ListOf(inputs.substr(from, comma - from), v[out.size()].rank(), 0, out.size()));
      from = comma + 1;
    }
    if (out.size() != v.size()) Fail(Count(out.size(), "list"), " for ", Count(v.size(), "operand"));
    return out;
  }
  // The result of a text without `->`: dimensions of ellipses, then the letters that occur once, in order.
  Letters Implied(const std::vector<Letters>& inputs) const {
    Letters all, out;
    for (const Letters& l : inputs) all.insert(all.end(), l.begin(), l.end());
    std::sort(all.begin(), all.end());
    for (int letter : all) {
      const bool once = std::count(all.begin(), all.end(), letter) == 1;
      if ((letter < 0 || once) && !IsIn(letter, out)) out.push_back(letter);
    }
    return out;
  }
  Letters Output(std::string_view output, const std::vector<Letters>& inputs) const {
    int64_t dots = 0;
    for (const Letters& l : inputs)
      dots = std::max<int64_t>(dots, std::count_if(l.begin(), l.end(), [](int c) { return c < 0; }));
    Letters out = ListOf(output, -1, dots, 0);
    for (int letter : out) {
      if (letter < 0) continue;
      const std::string name(1, static_cast<char>(letter));
      if (std::count(out.begin(), out.end(), letter) > 1) Fail("`", name, "` occurs twice in the result");
      if (std::none_of(inputs.begin(), inputs.end(), [&](const Letters& l) { return IsIn(letter, l); })) {
        Fail("`", name, "` of the result does not occur in any operand");
      }
    }
    return out;
  }
};

int64_t SizeOfLetter(const Term& t, int letter) {
  const auto at = std::find(t.letters.begin(), t.letters.end(), letter) - t.letters.begin();
  return t.value.dim(at);
}

// Sums over the dimensions at `axes`; narrow floats in f32.
Value SumOver(const Value& v, Dims axes) {
  if (axes.empty()) return v;
  const DType wide = IsNarrowFloat(v.dtype()) ? DType::kF32 : v.dtype();
  return lax::convert_element_type(lax::reduce_sum(lax::convert_element_type(v, wide), axes), v.dtype());
}
// Dimensions i < j, which have the same letter, as one dimension at the position of i: with the two merged, every
// element n + 1 after the one before.
Value Diagonal(const Value& v, int64_t i, int64_t j) {
  Shape order = CountFrom(0, v.rank());
  order.erase(order.begin() + j);
  order.insert(order.begin() + i + 1, j);
  const Value side_by_side = lax::transpose(v, order);
  Shape flat = ShapeOfValue(side_by_side);
  const int64_t n = v.dim(i);
  flat.erase(flat.begin() + i);
  flat[static_cast<size_t>(i)] = n * n;
  const Value row = lax::reshape(side_by_side, flat);
  Shape starts(flat.size(), 0), limits = flat, strides(flat.size(), 1);
  strides[static_cast<size_t>(i)] = n + 1;
  return lax::slice(row, starts, limits, strides);
}
void TakeDiagonals(const CallSite& site, size_t number, Term& t) {
  for (size_t j = 1; j < t.letters.size(); ++j) {
    const auto first = std::find(t.letters.begin(), t.letters.begin() + static_cast<int64_t>(j), t.letters[j]);
    const int64_t i = first - t.letters.begin();
    if (i == static_cast<int64_t>(j)) continue;
    const int64_t a = t.value.dim(i), b = t.value.dim(static_cast<int64_t>(j));
    if (a != b) {
      site.Fail("`", std::string(1, static_cast<char>(t.letters[j])), "` of operand ", number, " runs over sizes ", a,
                " and ", b);
    }
    t.value = Diagonal(t.value, i, static_cast<int64_t>(j));
    t.letters.erase(t.letters.begin() + static_cast<int64_t>(j--));
  }
}
// Drops dimensions of size 1 that another operand has in full; throws where two sizes differ otherwise.
void MatchSizes(const CallSite& site, std::vector<Term>& terms) {
  for (Term& t : terms) {
    Shape dropped;
    for (size_t k = 0; k < t.letters.size(); ++k) {
      const int letter = t.letters[k];
      for (const Term& other : terms) {
        if (!IsIn(letter, other.letters)) continue;
        const int64_t a = t.value.dim(static_cast<int64_t>(k)), b = SizeOfLetter(other, letter);
        if (a == b || b == 1) continue;
        if (a != 1) {
          const std::string name = letter < 0 ? "..." : std::string(1, static_cast<char>(letter));
          site.Fail("`", name, "` runs over sizes ", a, " and ", b);
        }
        dropped.push_back(static_cast<int64_t>(k));
        break;
      }
    }
    t.value = lax::squeeze(t.value, dropped);
    for (auto d = dropped.rbegin(); d != dropped.rend(); ++d) t.letters.erase(t.letters.begin() + *d);
  }
}
// Sums over the letters that are in no other list.
void SumAlone(Term& t, const std::vector<const Letters*>& needed) {
  Shape axes;
  Letters kept;
  for (size_t k = 0; k < t.letters.size(); ++k) {
    const bool used =
        std::any_of(needed.begin(), needed.end(), [&](const Letters* l) { return IsIn(t.letters[k], *l); });
    if (used) kept.push_back(t.letters[k]);
    if (!used) axes.push_back(static_cast<int64_t>(k));
  }
  t.value = SumOver(t.value, axes);
  t.letters = kept;
}
// The dimensions of `t` in the order of `letters`, size 1 where it has none.
Value Spread(const Term& t, const Letters& letters) {
  Shape order, missing;
  for (size_t k = 0; k < letters.size(); ++k) {
    const auto at = std::find(t.letters.begin(), t.letters.end(), letters[k]);
    if (at == t.letters.end())
      missing.push_back(static_cast<int64_t>(k));
    else
      order.push_back(at - t.letters.begin());
  }
  return lax::expand_dims(lax::transpose(t.value, order), missing);
}
// a * b, summed over the letters that only they have.
Term Product(const CallSite& site, const Term& a, const Term& b, const std::vector<const Letters*>& needed) {
  const auto kept = [&](int letter) {
    return std::any_of(needed.begin(), needed.end(), [&](const Letters* l) { return IsIn(letter, *l); });
  };
  lax::DotDims d;
  Letters batch, free_a, free_b;
  for (size_t i = 0; i < a.letters.size(); ++i) {
    const auto at = std::find(b.letters.begin(), b.letters.end(), a.letters[i]);
    const auto dim = static_cast<int64_t>(i), other = static_cast<int64_t>(at - b.letters.begin());
    if (at == b.letters.end()) {
      free_a.push_back(a.letters[i]);
    } else if (kept(a.letters[i])) {
      batch.push_back(a.letters[i]);
      d.lhs_batch.push_back(dim);
      d.rhs_batch.push_back(other);
    } else {
      d.lhs_contract.push_back(dim);
      d.rhs_contract.push_back(other);
    }
  }
  for (int letter : b.letters) {
    if (!IsIn(letter, a.letters)) free_b.push_back(letter);
  }
  Letters letters = batch;
  letters.insert(letters.end(), free_a.begin(), free_a.end());
  letters.insert(letters.end(), free_b.begin(), free_b.end());
  if (!d.lhs_contract.empty()) return {lax::dot_general(a.value, b.value, d), letters};
  return {multiply(Operand(Spread(a, letters), site.at), Operand(Spread(b, letters), site.at)), letters};
}

// The letters that the result and the terms other than `a` and `b` need.
std::vector<const Letters*> Needed(const std::vector<Term>& terms, size_t a, size_t b, const Letters& output) {
  std::vector<const Letters*> out{&output};
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i != a && i != b) out.push_back(&terms[i].letters);
  }
  return out;
}
Value Contract(const CallSite& site, std::vector<Term> terms, const Letters& output) {
  for (size_t i = 0; i < terms.size(); ++i) SumAlone(terms[i], Needed(terms, i, i, output));
  std::vector<ContractionTerm> sizes;
  for (const Term& t : terms) {
    sizes.emplace_back();
    for (size_t k = 0; k < t.letters.size(); ++k) sizes.back()[t.letters[k]] = t.value.dim(static_cast<int64_t>(k));
  }
  for (const auto& [a, b] : ContractionOrder(sizes, output)) {
    Term product = Product(site, terms[a], terms[b], Needed(terms, a, b, output));
    terms.erase(terms.begin() + static_cast<int64_t>(b));
    terms[a] = std::move(product);
    SumAlone(terms[a], Needed(terms, a, a, output));
  }
  return Spread(terms[0], output);
}

}  // namespace

Value EinsumOf(const Subscripts& s, std::span<const Operand> xs) {
  const Values v = UseList("einsum", xs);
  const CallSite site = SiteOf("einsum", xs);
  const Parser parser{site, s.text};
  const size_t arrow = s.text.find("->");
  const std::vector<Letters> inputs = parser.Inputs(s.text.substr(0, arrow), v);
  const Letters output =
      arrow == s.text.npos ? parser.Implied(inputs) : parser.Output(s.text.substr(arrow + 2), inputs);
  // Sums of bool are computed in integers; as in NumPy the result is whether any term is true.
  const bool logical = v[0].dtype() == DType::kBool;
  std::vector<Term> terms;
  for (size_t i = 0; i < v.size(); ++i) {
    terms.push_back({logical ? lax::convert_element_type(v[i], DType::kI32) : v[i], inputs[i]});
    TakeDiagonals(site, i, terms.back());
  }
  MatchSizes(site, terms);
  const Value out = Contract(site, std::move(terms), output);
  return logical ? ToBool(out) : out;
}

}}  // namespace ricci::v0
