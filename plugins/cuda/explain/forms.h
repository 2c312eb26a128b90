// The forms of compiled code for people: what was decided for each kernel, its text, PTX and machine code. They are
// made again from the plan when somebody asks, and need no GPU.
//
// The figures of `--explain` come from compiling again with a log, so they cost nothing otherwise.
#ifndef RICCI_CUDA_FORMS_H_
#define RICCI_CUDA_FORMS_H_
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver/module_compiler.h"
#include "cuda/run/plan_parts.h"
#include "ricci/backend.h"

namespace ricci::cuda {

struct CodeToRead {
  const ricci_compile_args& given;
  const ModuleCompiler& compiler;
  int processors;                    // of the GPU; 0: there is none
  const PlanParts* parts = nullptr;  // what runs as graphs; null: without a GPU
  // Why each branch is a node of its own in graphs; empty: it is not, or no GPU is present.
  std::string_view why_no_choices = {};
};

// As ricci_backend.forms.
inline constexpr std::string_view kForms = "decisions,source,ptx,sass";
// As ricci_backend.dump_form, and also the form `native`, which is what ricci_backend.dump writes.
ricci_status* WriteForm(const CodeToRead& code, std::string_view form, void* sink,
                        void (*write)(void* sink, const char* p, size_t n));

// The text of all kernels, with the functions that they call and the locations of the host's source.
std::string WholeText(const CodeToRead& code);

// The different texts of a plan's sources, of which one may have several launches.
std::vector<std::string> TextsOfSources(const ricci_compile_args& a);

// ---- explain.cc: a paragraph for each launch ----
ricci_status* Explain(const CodeToRead& code, std::string& out);

}  // namespace ricci::cuda
#endif
