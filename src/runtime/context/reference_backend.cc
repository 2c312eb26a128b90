#include "runtime/context/reference_backend.h"

#include "base/status.h"
#include "base/status_abi.h"
#include "kernel/kernel.h"
#include "kernel/stop_request.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// The code is the tables.
struct Code {
  const Context* context;
  std::vector<const ricci_kernel_table*> kernels;
  const ricci_plan* plan;
};

ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info*) {
  return base::AtBorder([&]() -> absl::Status {
    RICCI_TRY(kernel::Verify(*a->plan, a->kernels, a->n_kernels));
    *code = new Code{static_cast<const Context*>(self), {a->kernels, a->kernels + a->n_kernels}, a->plan};
    return absl::OkStatus();
  });
}

// The loop in which the host ended a run, in the words of the other backends (plugins/codegen/loop_text.h).
std::string InTheLoop(const Context& context, const kernel::HostStop& ended) {
  const ir::Location& at = context.vocabulary().GetLocation(ended.location);
  if (at.file.empty()) return {};
  std::string text = base::Cat(" in the loop at ", at.file, ":", at.line);
  if (ended.trips != 0) text += base::Cat(", after ", base::Count(ended.trips, "trip"));
  return text;
}

ricci_status* Run(void* code, const ricci_run_args* a) {
  return base::AtBorder([&]() -> absl::Status {
    const Code& c = *static_cast<const Code*>(code);
    kernel::HostStop ended;
    const absl::Status s =
        kernel::Interpret(*c.plan, c.kernels.data(), static_cast<uint32_t>(c.kernels.size()), *a, &ended);
    return ended.happened ? absl::Status(s.code(), base::Cat(s.message(), InTheLoop(*c.context, ended))) : s;
  });
}

void DropCode(void* code) { delete static_cast<Code*>(code); }

ricci_str Text(std::string_view v) { return {v.data(), v.size()}; }

}  // namespace

ricci_backend ReferenceBackend(const Context* context) {
  ricci_backend b{};
  b.self = const_cast<Context*>(context);
  b.hdr = {sizeof b, RICCI_BACKEND_REFERENCE | RICCI_BACKEND_PROFILES, nullptr};
  b.kind = Text("ref");
  b.name = Text("interpreter");
  b.workers = 1;
  b.opt_level_default = 1;
  b.compile = Compile;
  b.run = Run;
  b.drop_code = DropCode;
  return b;
}

}}}  // namespace ricci::v0::runtime
