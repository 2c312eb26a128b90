// Laws of any program: its text, and the devices.
#include "base/status_abi.h"
#include "laws/trial.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

}  // namespace

absl::Status CheckText(ricci_ctx* ctx, const ricci_program* p) {
  RICCI_TRY(base::FromAbi(ricci_program_verify(p)));
  std::string text;
  RICCI_TRY(base::FromAbi(ricci_program_print(p, &text, Append)));
  ricci_program* parsed = nullptr;
  RICCI_TRY(base::FromAbi(ricci_program_parse(ctx, text.data(), text.size(), "", 0, &parsed)));
  const Program owned = Own(parsed);
  if (ricci_program_equal(p, parsed) != 0) return absl::OkStatus();
  return absl::FailedPreconditionError("the parsed text is a different program: " + text);
}

absl::Status CheckProgram(Trial& t) { return t.Run(LawId::kDevice, *t.f(), t.x(), Where::kEverywhere).status(); }

}}}  // namespace ricci::v0::laws
