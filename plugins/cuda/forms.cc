#include "forms.h"

#include <algorithm>

#include "listing.h"
#include "plan_modules.h"
#include "source_lines.h"

namespace ricci::cuda {
namespace {

// Of the kernels, then of the sources: modules of their own.
std::vector<std::string> ModulesOf(const ricci_compile_args& a, const ricci_ctx* ctx) {
  std::vector<std::string> texts;
  std::vector<Launch> launches;
  std::string error;  // there is none: they were compiled
  if (a.n_kernels != 0) texts.push_back(EachLinePlaced(PrintModule(a, launches, error, ctx)));
  for (const std::string& text : TextsOfSources(a)) texts.push_back(text);
  return texts;
}

// The kernels without the functions that they call, which are much the same in every program.
std::string Source(const ricci_compile_args& a) {
  std::vector<Launch> launches;
  std::string error, all = PrintKernels(a, launches, error);
  for (const std::string& text : TextsOfSources(a)) all += text;
  return all;
}

}  // namespace

std::vector<std::string> TextsOfSources(const ricci_compile_args& a) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    const std::string text(a.plan->sources[i].text.ptr, a.plan->sources[i].text.len);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

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
