// Texts of compiled code: the stages of its compilation, and the forms that the device has.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "ir/print.h"
#include "runtime/context/backend_call.h"
#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// What Dump knows on every device.
constexpr std::string_view kStages[] = {"program", "optimized", "decisions", "kernels",
                                        "plan",    "checks",    "native",    "object"};

void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

bool IsPass(std::string_view name) {
  const auto passes = pass::StageNames();
  return std::find(passes.begin(), passes.end(), name) != passes.end();
}

template <typename Names>
std::string List(const Names& names) {
  std::string list;
  for (const auto& name : names) list += base::Cat(list.empty() ? "" : ", ", name);
  return list;
}

// What the function of that name writes for these arguments.
template <typename F, typename... Args>
absl::StatusOr<std::string> WrittenBy(const ricci_backend& b, std::string_view function, F f, Args... args) {
  std::string text;
  RICCI_TRY(CallBackend(b, function, f, args..., static_cast<void*>(&text), Append));
  return text;
}

}  // namespace

bool IsStage(std::string_view name) {
  return std::find(std::begin(kStages), std::end(kStages), name) != std::end(kStages) || IsPass(name);
}

absl::StatusOr<pass::Estimate> EstimateOn(const ricci_backend& backend, const pass::Lowered& lowered,
                                          std::string* text) {
  const kernel::KernelViews kernels(lowered.kernels);
  const ricci_plan plan = lowered.plan.View();
  ricci_estimate out{};
  out.hdr.size = sizeof out;
  out.sink = text;
  out.write = text == nullptr ? nullptr : Append;
  RICCI_TRY(
      CallBackend(backend, "estimate", backend.estimate, backend.self, kernels.data(), kernels.size(), &plan, &out));
  if (out.cycles >= 0 && out.code >= 0) return pass::Estimate{out.cycles, out.code};  // a NaN is not
  return Broken(backend, "estimate",
                base::Cat("gave ", out.cycles, " cycles and ", out.code, " operations; both must be 0 or more"));
}

// No lock is held while it compiles: two threads may both do so, and share the first result.
absl::StatusOr<base::Ref<const CompiledCode>> CompiledCode::InFull() const {
  const auto known = [&] {
    const std::lock_guard lock(in_full_mutex_);
    return in_full_;
  };
  if (const base::Ref<const CompiledCode> found = known(); found) return found;
  RICCI_ASSIGN(auto lowered, pass::Lower(program(), key_.PassOptions()));
  RICCI_ASSIGN(const base::Ref<const CompiledCode> code, Create(key_, std::move(lowered), {}));
  const std::lock_guard lock(in_full_mutex_);
  if (!in_full_) in_full_ = code;
  return in_full_;
}

absl::StatusOr<std::string> CompiledCode::Dump(std::string_view stage) const {
  const ricci_backend& backend = device()->backend;
  if (stage == "program") return ir::Print(program());
  if (is_saved_) {
    RICCI_ASSIGN(const base::Ref<const CompiledCode> code, InFull());
    return code->Dump(stage);
  }
  if (stage == "optimized") return ir::Print(*lowered_->optimized);
  if (stage == "plan") return kernel::ToText(plan_, kernels_.data(), kernels_.size());
  if (stage == "decisions") return DumpDecisions();
  if (stage == "checks") return DumpChecks();
  if (stage == "native") {
    if (backend.dump != nullptr) return WrittenBy(backend, "dump", backend.dump, code_);
    return absl::UnimplementedError(base::Cat("dump: device ", device()->Name(), " has no native form"));
  }
  if (stage == "object") {
    if (backend.dump_object != nullptr) return WrittenBy(backend, "dump_object", backend.dump_object, code_);
    return absl::UnimplementedError(base::Cat("dump: device ", device()->Name(), " writes no object files"));
  }
  if (device()->HasForm(stage)) return DumpForm(stage);
  if (stage != "kernels") return DumpPass(stage);
  std::string text;
  for (const kernel::Kernel& k : lowered_->kernels) text += kernel::ToText(k) + "\n";
  return text;
}

absl::StatusOr<std::string> CompiledCode::DumpDecisions() const {
  std::string text;
  for (const std::string& decision : lowered_->decisions) text += decision;
  if (device()->HasForm("decisions")) {
    RICCI_ASSIGN(const std::string kernels, DumpForm("decisions"));
    return text + kernels;
  }
  if (device()->reference) return text + "device " + device()->kind + " interprets: nothing is scheduled\n";
  if (device()->backend.estimate == nullptr) return text + "device " + device()->kind + " does not estimate kernels\n";
  RICCI_ASSIGN(const pass::Estimate estimate, EstimateOn(device()->backend, *lowered_, &text));
  absl::StrAppendFormat(&text, "in all about %.0f cycles of one thread\n", estimate.cycles);
  return text;
}

std::string CompiledCode::DumpChecks() const {
  std::string text;
  for (size_t i = 0; i < lowered_->checks.size(); ++i) {
    std::string message(lowered_->checks[i].message());
    std::replace(message.begin(), message.end(), '\n', ' ');
    text += base::Cat(i, ": ", message, "\n");
  }
  return text;
}

absl::StatusOr<std::string> CompiledCode::DumpPass(std::string_view pass) const {
  if (!IsPass(pass)) {
    std::vector<std::string> known(std::begin(kStages), std::end(kStages));
    for (const std::string& form : device()->forms) {
      if (form != "decisions") known.push_back(form);
    }
    return base::InvalidArgument("dump: device ", device()->Name(), " has no stage ", pass, "; it has ", List(known),
                                 ", and the passes ", List(pass::StageNames()));
  }
  auto text = pass::TextAfter(program(), key_.PassOptions(), pass);
  if (!absl::IsNotFound(text.status())) return text;
  return base::InvalidArgument("dump: pass ", pass, " does not run ",
                               device()->reference ? "on device " : "with the passes chosen for program ",
                               device()->reference ? device()->kind : program().name);
}

absl::StatusOr<std::string> CompiledCode::DumpForm(std::string_view form) const {
  const ricci_backend& backend = device()->backend;
  return WrittenBy(backend, "dump_form", backend.dump_form, code_, ricci_str{form.data(), form.size()});
}

}}}  // namespace ricci::v0::runtime
