#include "cli/object_header.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/reserved_names.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// By dtype: the C type of an element. 16-bit and narrower floats are their bits, complex numbers pairs.
constexpr std::array<const char*, RICCI_KEY + 1> kTypes = {
    "",         "uint8_t",  "int8_t",   "int16_t",  "int32_t",  "int64_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t", "uint16_t", "uint16_t", "float",   "double",
    "float",    "double",   "uint8_t",  "uint8_t",  "uint8_t",  "uint8_t", "uint64_t"};

// How such elements are written, where the C type does not say it.
constexpr std::array<const char*, RICCI_KEY + 1> kNotes = {"",
                                                           ", each 0 or 1",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           "",
                                                           ", as bits",
                                                           ", as bits",
                                                           "",
                                                           "",
                                                           ", pairs re, im",
                                                           ", pairs re, im",
                                                           ", as bits",
                                                           ", as bits",
                                                           ", as bits",
                                                           ", as bits",
                                                           ""};

constexpr std::string_view kWorkspaceBytes = "_WORKSPACE_BYTES", kGuard = "RICCI_OBJECT_";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Upper(std::string text) {
  for (char& c : text)
    c = IsLetter(c) || IsDigit(c) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  return text;
}

// Text that may stand in a comment.
std::string Quiet(std::string text) {
  for (size_t at = 0; (at = text.find("*/", at)) != text.npos;) text.replace(at, 2, "* /");
  for (size_t at = 0; (at = text.find("/*", at)) != text.npos;) text.replace(at, 2, "/ *");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

uint64_t CountOf(const TypeInfo& t) {
  const bool pairs = t.dtype == RICCI_C64 || t.dtype == RICCI_C128;
  return static_cast<uint64_t>(t.elements) * (pairs ? 2 : 1);
}

std::string Parameter(const Session& session, ricci_type type, const std::string& name, bool is_input) {
  const TypeInfo t = session.Info(type);
  return std::string(is_input ? "const " : "") + kTypes[t.dtype] + " *" + name;
}

// `   in0   f32[2,3]: 6 elements of float, row by row`.
std::string Line(const Session& session, ricci_type type, const std::string& name) {
  const TypeInfo t = session.Info(type);
  const uint64_t n = CountOf(t);
  return " *   " + name + ": " + session.TypeText(type) + ", " + std::to_string(n) + " of " + kTypes[t.dtype] +
         kNotes[t.dtype] + "\n";
}

std::string Function(const Session& session, const ObjectFunction& f) {
  std::string text = "/* " + Quiet(f.what) + ".\n", list;
  for (size_t i = 0; i < f.signature.params.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    text += Line(session, f.signature.params[i], name);
    list += (list.empty() ? "" : ", ") + Parameter(session, f.signature.params[i], name, /*is_input=*/true);
  }
  for (size_t i = 0; i < f.signature.results.size(); ++i) {
    const std::string name = "out" + std::to_string(i);
    text += Line(session, f.signature.results[i], name);
    list += (list.empty() ? "" : ", ") + Parameter(session, f.signature.results[i], name, /*is_input=*/false);
  }
  for (size_t i = 0; i < f.checks.size(); ++i) {
    text += " *   returns " + std::to_string(i + 1) + ": " + Quiet(f.checks[i]) + "\n";
  }
  const std::string macro = WorkspaceMacro(f.name);
  if (f.own_workspace) {
    text += f.workspace_bytes == 0 ? " * It needs no working memory. */\n"
                                   : " * Its working memory is in the object: one call at a time, of all threads. */\n";
  } else {
    text += " *   workspace: " + macro + " bytes at any address; NULL if that is 0 */\n";
    text += "#define " + macro + " " + std::to_string(f.workspace_bytes) + "u\n";
    list += std::string(list.empty() ? "" : ", ") + "void *workspace";
  }
  return text + "int " + f.name + "(" + (list.empty() ? "void" : list) + ");\n";
}

}  // namespace

std::string WorkspaceMacro(const std::string& name) { return Upper(name) + std::string(kWorkspaceBytes); }

std::string IdentifierError(std::string_view name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
  if (name.empty() || !letters || IsDigit(name[0])) return "is not a C identifier";
  if (IsReservedName(name)) return "is a name of C or its libraries";
  if (name.ends_with(kWorkspaceBytes) || name.starts_with(kGuard))
    return "is a name that headers of objects keep for macros";
  const bool reserved = name[0] == '_' && (name.size() == 1 || name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
  return reserved ? "is a name that C keeps for itself" : "";
}

std::string HeaderText(const Session& session, const std::vector<ObjectFunction>& functions,
                       const std::string& file_name, const std::string& processor) {
  const std::string guard = std::string(kGuard) + Upper(file_name) + "_";
  std::string text = "/* " + Quiet(file_name) + ": functions compiled by Ricci for " + processor + R"(.
 *
 * Each returns 0, or the number of the first check in the program that failed; the outputs are then not to be used.
 * Arrays are dense and row by row (the last index varies fastest), aligned to their elements, and stay the caller's;
 * outputs overlap neither each other nor inputs. Inputs are only read. Nothing is allocated or kept between calls: calls
 * on any threads at once are fine, each with outputs and a workspace of its own. Link libm. */
)";
  text += "#ifndef " + guard + "\n#define " + guard + "\n#include <stdint.h>\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const ObjectFunction& f : functions) text += "\n" + Function(session, f);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

}}}  // namespace ricci::v0::cli
