#include "host/numpy/contraction_order.h"

#include <algorithm>
#include <limits>

namespace ricci { inline namespace v0 {
namespace {

using Order = std::vector<std::pair<size_t, size_t>>;
constexpr size_t kSearched = 8;

// A product of some operands: its letters, and what making it costs in multiplications.
struct Part {
  ContractionTerm letters;
  double cost = 0;
  uint32_t left = 0, right = 0;  // the sets of operands that it is the product of
};

// a * b, summed over all letters that are not `needed`; counts one multiplication per element of the product.
template <typename Needed>
Part Joined(const ContractionTerm& a, const ContractionTerm& b, const Needed& needed) {
  Part out{a, 1};
  out.letters.insert(b.begin(), b.end());
  for (const auto& [letter, size] : out.letters) out.cost *= static_cast<double>(size);
  std::erase_if(out.letters, [&](const auto& l) { return !needed(l.first); });
  return out;
}

// The pairs to multiply for the product of the operands of `set`, in order, as sets of operands.
void Collect(const std::vector<Part>& best, uint32_t set, std::vector<std::pair<uint32_t, uint32_t>>& out) {
  if ((set & (set - 1)) == 0) return;
  Collect(best, best[set].left, out);
  Collect(best, best[set].right, out);
  out.push_back({best[set].left, best[set].right});
}
// The same pairs as positions in the list of the operands that are left.
Order PositionsOf(const std::vector<std::pair<uint32_t, uint32_t>>& pairs, size_t n) {
  std::vector<uint32_t> left;
  for (size_t i = 0; i < n; ++i) left.push_back(1u << i);
  Order out;
  for (const auto& [x, y] : pairs) {
    auto a = static_cast<size_t>(std::find(left.begin(), left.end(), x) - left.begin());
    auto b = static_cast<size_t>(std::find(left.begin(), left.end(), y) - left.begin());
    if (a > b) std::swap(a, b);
    out.push_back({a, b});
    left[a] = x | y;
    left.erase(left.begin() + static_cast<int64_t>(b));
  }
  return out;
}
// Every way to split every set of operands in two: 3^n steps.
Order Searched(const std::vector<ContractionTerm>& terms, const std::vector<int>& output) {
  const uint32_t all = (1u << terms.size()) - 1;
  std::vector<Part> best(all + 1);
  for (uint32_t set = 1; set <= all; ++set) {
    if ((set & (set - 1)) == 0) {
      best[set].letters = terms[static_cast<size_t>(__builtin_ctz(set))];
      continue;
    }
    const auto needed = [&](int letter) {
      if (std::find(output.begin(), output.end(), letter) != output.end()) return true;
      for (size_t i = 0; i < terms.size(); ++i) {
        if ((set >> i & 1) == 0 && terms[i].contains(letter)) return true;
      }
      return false;
    };
    best[set].cost = std::numeric_limits<double>::infinity();
    for (uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      const uint32_t rest = set ^ part;
      Part p = Joined(best[part].letters, best[rest].letters, needed);
      p.cost += best[part].cost + best[rest].cost;
      p.left = part;
      p.right = rest;
      if (p.cost < best[set].cost || best[set].left == 0) best[set] = std::move(p);
    }
  }
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  Collect(best, all, pairs);
  return PositionsOf(pairs, terms.size());
}

Order Greedy(std::vector<ContractionTerm> terms, const std::vector<int>& output) {
  Order out;
  while (terms.size() > 1) {
    size_t best_a = 0, best_b = 1;
    Part best;
    bool found = false;  // costs may be infinite
    for (size_t a = 0; a < terms.size(); ++a) {
      for (size_t b = a + 1; b < terms.size(); ++b) {
        const auto needed = [&](int letter) {
          if (std::find(output.begin(), output.end(), letter) != output.end()) return true;
          for (size_t i = 0; i < terms.size(); ++i) {
            if (i != a && i != b && terms[i].contains(letter)) return true;
          }
          return false;
        };
        Part p = Joined(terms[a], terms[b], needed);
        if (found && p.cost >= best.cost) continue;
        best = std::move(p);
        found = true;
        best_a = a;
        best_b = b;
      }
    }
    out.push_back({best_a, best_b});
    terms[best_a] = std::move(best.letters);
    terms.erase(terms.begin() + static_cast<int64_t>(best_b));
  }
  return out;
}

}  // namespace

Order ContractionOrder(const std::vector<ContractionTerm>& terms, const std::vector<int>& output) {
  return terms.size() <= kSearched ? Searched(terms, output) : Greedy(terms, output);
}

}}  // namespace ricci::v0
