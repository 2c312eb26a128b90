// Arguments of one command: operands, and options written `--name value` or `--name=value`.
#ifndef RICCI_CLI_ARGUMENTS_H_
#define RICCI_CLI_ARGUMENTS_H_
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ricci { inline namespace v0 { namespace cli {

// Wrong use of the tool: the message is followed by a hint to the help.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Is it `--help` or `-h`?
bool AsksForHelp(std::string_view word);

class Arguments {
 public:
  // `flags` are options without a value, `options` those with one; anything else that starts with `-` is an error,
  // except `-` itself, which is standard input.
  Arguments(const std::vector<std::string>& words, const std::vector<std::string_view>& options,
            const std::vector<std::string_view>& flags);

  const std::vector<std::string>& operands() const { return operands_; }
  // The only operand; another number of them is an error.
  const std::string& file() const;
  bool flag(std::string_view name) const { return option(name).has_value(); }
  // The last value given.
  std::optional<std::string> option(std::string_view name) const;
  // All values that were given, in order.
  std::vector<std::string> all(std::string_view name) const;
  std::string option_or(std::string_view name, std::string otherwise) const;
  // A number outside [min, max] is an error.
  int64_t integer_or(std::string_view name, int64_t otherwise, int64_t min = INT64_MIN, int64_t max = INT64_MAX) const;
  // A number that is not at least 0 is an error.
  double number_or(std::string_view name, double otherwise) const;
  // `1,-2,3`; nothing if it was not given. A number outside [min, max] is an error.
  std::optional<std::vector<int64_t>> integers(std::string_view name, int64_t min, int64_t max) const;

 private:
  std::vector<std::string> operands_;
  std::vector<std::pair<std::string, std::string>> options_;
};

}}}  // namespace ricci::v0::cli
#endif
