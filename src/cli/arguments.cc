#include "cli/arguments.h"

#include <algorithm>
#include <charconv>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

int64_t ToInteger(std::string_view name, std::string_view text, int64_t min, int64_t max) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw UsageError("--" + std::string(name) + ": `" + std::string(text) + "` is not an integer");
  }
  if (error != std::errc() || v < min || v > max) {
    throw UsageError("--" + std::string(name) + ": " + std::string(text) + " is not from " + std::to_string(min) +
                     " to " + std::to_string(max));
  }
  return v;
}

// `-` alone is standard input, and `-3` can be no option either.
bool IsOption(std::string_view word) { return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9'); }

}  // namespace

bool AsksForHelp(std::string_view word) { return word == "--help" || word == "-h"; }

Arguments::Arguments(const std::vector<std::string>& words, const std::vector<std::string_view>& options,
                     const std::vector<std::string_view>& flags) {
  const auto contains = [](const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!IsOption(word)) {
      operands_.push_back(word);
      continue;
    }
    if (word[1] != '-') throw UsageError("unknown option " + word);
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (contains(flags, name)) {
      if (equals != std::string::npos) throw UsageError("--" + name + " takes no value");
      options_.emplace_back(name, "");
    } else if (!contains(options, name)) {
      throw UsageError("unknown option --" + name);
    } else if (equals != std::string::npos) {
      options_.emplace_back(name, word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      options_.emplace_back(name, words[++i]);
    } else {
      throw UsageError("--" + name + " takes a value");
    }
  }
}

std::optional<std::string> Arguments::option(std::string_view name) const {
  const auto found = std::find_if(options_.rbegin(), options_.rend(), [&](const auto& o) { return o.first == name; });
  if (found == options_.rend()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : options_) {
    if (key == name) out.push_back(value);
  }
  return out;
}

const std::string& Arguments::file() const {
  if (operands_.size() == 1) return operands_[0];
  throw UsageError("takes one FILE (`-` for standard input), not " + std::to_string(operands_.size()));
}

std::string Arguments::option_or(std::string_view name, std::string otherwise) const {
  return option(name).value_or(std::move(otherwise));
}

int64_t Arguments::integer_or(std::string_view name, int64_t otherwise, int64_t min, int64_t max) const {
  const auto text = option(name);
  return text ? ToInteger(name, *text, min, max) : otherwise;
}

double Arguments::number_or(std::string_view name, double otherwise) const {
  const auto text = option(name);
  if (!text) return otherwise;
  double v = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), v);
  if (error != std::errc() || end != text->data() + text->size() || !(v >= 0)) {
    throw UsageError("--" + std::string(name) + ": `" + *text + "` is not a number of at least 0");
  }
  return v;
}

std::optional<std::vector<int64_t>> Arguments::integers(std::string_view name, int64_t min, int64_t max) const {
  const auto text = option(name);
  if (!text) return std::nullopt;
  std::vector<int64_t> out;
  for (size_t from = 0; from <= text->size() && !text->empty();) {
    const size_t comma = std::min(text->find(',', from), text->size());
    out.push_back(ToInteger(name, std::string_view(*text).substr(from, comma - from), min, max));
    from = comma + 1;
  }
  return out;
}

}}}  // namespace ricci::v0::cli
