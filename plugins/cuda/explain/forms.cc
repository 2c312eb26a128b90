#include "cuda/explain/forms.h"

#include <algorithm>

#include "cuda/driver/gpu.h"
#include "cuda/explain/listing.h"
#include "cuda/print/source_lines.h"
#include "cuda/run/plan_modules.h"

namespace ricci::cuda {
namespace {

// Of the kernels, then of the sources: modules of their own.
std::vector<std::string> ModulesOf(const CodeToRead& code) {
  std::vector<std::string> texts;
  if (code.given.n_kernels != 0) texts.push_back(WithLineOfEach(WholeText(code)));
  for (const std::string& text : TextsOfSources(code.given)) texts.push_back(text);
  return texts;
}

// The kernels without the functions that they call, which are much the same in every program.
std::string Source(const CodeToRead& code) {
  std::vector<Launch> launches;
  std::string error, all = PrintKernels(code.given, code.compiler.target(), launches, error);
  for (const std::string& text : TextsOfSources(code.given)) all += text;
  return all;
}

ricci_status* FormOf(const CodeToRead& code, std::string_view form, std::string& out) {
  if (form == "decisions") return Explain(code, out);
  if (form == "native") return out = WholeText(code), nullptr;
  if (form == "source") return out = Source(code), nullptr;
  for (const std::string& text : ModulesOf(code)) {
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

}  // namespace

std::string WholeText(const CodeToRead& code) {
  std::vector<Launch> launches;
  std::string error;  // there is none: it was compiled
  return PrintModule(code.given, code.compiler.target(), launches, error, code.compiler.ctx());
}

std::vector<std::string> TextsOfSources(const ricci_compile_args& a) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < a.plan->n_sources; ++i) {
    const std::string text(a.plan->sources[i].text.ptr, a.plan->sources[i].text.len);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

ricci_status* WriteForm(const CodeToRead& code, std::string_view form, void* sink,
                        void (*write)(void* sink, const char* p, size_t n)) {
  return Guard([&]() -> ricci_status* {
    std::string text;
    if (ricci_status* failed = FormOf(code, form, text)) return failed;
    return write(sink, text.data(), text.size()), nullptr;
  });
}

}  // namespace ricci::cuda
