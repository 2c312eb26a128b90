#include "forms.h"

#include "listing.h"
#include "plan_modules.h"
#include "source_lines.h"

namespace ricci::cuda {
namespace {

// Of the kernels, then of each source: modules of their own.
std::vector<std::string> ModulesOf(const ricci_compile_args& a, const ricci_ctx* ctx) {
  std::vector<std::string> texts;
  std::vector<Launch> launches;
  std::string error;  // there is none: they were compiled
  if (a.n_kernels != 0) texts.push_back(EachLinePlaced(PrintModule(a, launches, error, ctx)));
  for (uint32_t i = 0; i < a.plan->n_sources; ++i)
    texts.emplace_back(a.plan->sources[i].text.ptr, a.plan->sources[i].text.len);
  return texts;
}

// The kernels without the functions that they call, which are much the same in every program.
std::string Source(const ricci_compile_args& a) {
  std::vector<Launch> launches;
  std::string error, text = PrintKernels(a, launches, error);
  for (uint32_t i = 0; i < a.plan->n_sources; ++i)
    text += std::string(a.plan->sources[i].text.ptr, a.plan->sources[i].text.len);
  return text;
}

}  // namespace

ricci_status* WriteForm(const CodeToRead& code, std::string_view form, std::string& out) {
  if (form == "decisions") return Explain(code, out);
  if (form == "source") return out = Source(code.given), nullptr;
  for (const std::string& text : ModulesOf(code.given, code.compiler.ctx())) {
    Listing listing;
    if (ricci_status* failed = MakeListing(code.compiler.nvrtc(), text, code.compiler.architecture(), listing))
      return failed;
    if (form == "ptx") {
      out += listing.ptx;
    } else if (ricci_status* failed = Disassemble(code.compiler.nvrtc(), listing.code, out)) {
      return failed;
    }
  }
  return nullptr;
}

}  // namespace ricci::cuda
