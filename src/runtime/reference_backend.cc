#include "runtime/reference_backend.h"

#include "base/status_abi.h"
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

// The code is the tables.
struct Code {
  std::vector<const ricci_kernel_table*> kernels;
  const ricci_plan* plan;
};

ricci_status* Compile(void*, const ricci_compile_args* a, void** code, ricci_code_info*) {
  return base::AtBorder([&]() -> absl::Status {
    RICCI_TRY(kernel::Verify(*a->plan, a->kernels, a->n_kernels));
    *code = new Code{{a->kernels, a->kernels + a->n_kernels}, a->plan};
    return absl::OkStatus();
  });
}

ricci_status* Run(void* code, const ricci_run_args* a) {
  return base::AtBorder([&] {
    const Code& c = *static_cast<const Code*>(code);
    return kernel::Interpret(*c.plan, c.kernels.data(), static_cast<uint32_t>(c.kernels.size()), *a);
  });
}

void DropCode(void* code) { delete static_cast<Code*>(code); }

ricci_str Text(std::string_view v) { return {v.data(), v.size()}; }

}  // namespace

ricci_backend ReferenceBackend() {
  ricci_backend b{};
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
