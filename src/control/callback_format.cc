#include "control/callback_format.h"

#include "base/status.h"
#include "ir/literal.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

// Calls text(part) and operand() in the order of `format`.
template <typename Text, typename Operand>
absl::Status Walk(std::string_view format, Text text, Operand operand) {
  for (size_t at = 0; at < format.size();) {
    const size_t brace = std::min(format.find_first_of("{}", at), format.size());
    text(format.substr(at, brace - at));
    at = brace;
    if (at == format.size()) break;
    const std::string_view two = format.substr(at, 2);
    if (two == "{}") {
      operand();
    } else if (two == "{{" || two == "}}") {
      text(two.substr(1));
    } else {
      return base::InvalidArgument("debug_print: fmt has a brace alone at character ", at,
                                   "; {} is an operand, {{ and }} are braces");
    }
    at += 2;
  }
  return absl::OkStatus();
}

// `[[1.0, 2.0], [3.0, 4.0]]`
void AppendArray(std::string& out, const ricci_type_desc& type, uint32_t dim, const std::byte*& p) {
  if (dim == type.rank) {
    ir::AppendElement(out, type.dtype, p);
    p += types::Info(type.dtype).size;
    return;
  }
  out += '[';
  for (int64_t i = 0; i < type.dims[dim]; ++i) {
    if (i != 0) out += ", ";
    AppendArray(out, type, dim + 1, p);
  }
  out += ']';
}

}  // namespace

absl::Status CheckFormat(std::string_view format, uint32_t n) {
  uint32_t asked = 0;
  RICCI_TRY(Walk(
      format, [](std::string_view) {}, [&] { ++asked; }));
  if (asked == n) return absl::OkStatus();
  return base::InvalidArgument("debug_print: fmt asks for ", base::Count(asked, "operand"), "; there are ", n);
}

std::string Formatted(std::string_view format, std::span<const ricci_type_desc> types, const void* const* in) {
  std::string out;
  size_t next = 0;
  (void)Walk(
      format, [&](std::string_view text) { out += text; },  // it has been checked
      [&] {
        const auto* p = static_cast<const std::byte*>(in[next]);
        AppendArray(out, types[next++], 0, p);
      });
  return out;
}

}}}  // namespace ricci::v0::control
