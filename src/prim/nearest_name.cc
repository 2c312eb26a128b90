#include "prim/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace prim {
namespace {

constexpr size_t kLongest = 40;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// How many letters must be put in, left out or replaced to make `b` of `a`.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

bool HasWords(std::string_view known, std::string_view name) {
  return ("_" + std::string(known) + "_").find("_" + std::string(name) + "_") != std::string::npos;
}

// How far `known` is from `name`: the kind of the likeness, the wrong letters, the length. kFar: not like it.
using Far = std::tuple<int, size_t, size_t>;
constexpr Far kFar{3, 0, 0};
Far Farness(std::string_view name, std::string_view known) {
  if (HasWords(known, name)) return {0, 0, known.size()};
  const size_t wrong = Distance(name, known);
  if (wrong <= std::max<size_t>(1, name.size() / 3)) return {1, wrong, known.size()};
  return name.size() > 2 && known.starts_with(name) ? Far{2, 0, known.size()} : kFar;
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() < 2 || name.size() > kLongest) return {};
  const std::string lower = Lower(name);
  std::string_view nearest;
  Far least = kFar;
  for (std::string_view k : known) {
    if (k.size() > kLongest) continue;
    const Far farness = Farness(lower, Lower(k));
    if (farness < least) least = farness, nearest = k;
  }
  return nearest;
}

absl::Status NoSuchPrimitive(const Registry& registry, std::string_view name) {
  std::vector<std::string_view> known;
  for (PrimId id = 1; id < registry.size(); ++id) {
    if (registry.Get(id).listed()) known.push_back(registry.Get(id).name);
  }
  const std::string_view nearest = NearestName(name, known);
  return absl::NotFoundError(nearest.empty() ? base::Cat(name, ": no such primitive; add the plugin that provides it")
                                             : base::Cat(name, ": no such primitive; did you mean ", nearest, "?"));
}

}}}  // namespace ricci::v0::prim
