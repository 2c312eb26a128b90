// print, verify: read a program, check it, and write it in its canonical form.
#include <cinttypes>
#include <cstdio>

#include "cli/command.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

void Print(const Session& session, const Arguments& arguments) {
  std::fputs(TextOf(LoadOperand(session, arguments).get()).c_str(), stdout);
}

std::string Types(const Session& session, const std::vector<ricci_type>& types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) text += (i == 0 ? "" : ", ") + session.TypeText(types[i]);
  return text + ")";
}

void Verify(const Session& session, const Arguments& arguments) {
  const Program p = LoadOperand(session, arguments);
  Check(ricci_program_verify(p.get()));
  ricci_str name{};
  ricci_program_name(p.get(), &name);
  const Signature s = SignatureOf(p.get());
  std::printf("%.*s: %s -> %s, %u equations, hash %016" PRIx64 "\n", static_cast<int>(name.len), name.ptr,
              Types(session, s.params).c_str(), Types(session, s.results).c_str(),
              ricci_program_equation_count(p.get()), ricci_program_hash(p.get()));
}

}  // namespace

std::span<const Command> TextCommands() {
  static const Command kCommands[] = {
      {"print", "FILE", "the program in canonical text form", "", {}, {}, Print},
      {"verify", "FILE", "checks a program; prints its signature, size and hash", "", {}, {}, Verify},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
