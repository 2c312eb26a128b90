// The plugin `object`: a backend of kind `cpu` that runs nothing and writes object files.
//
// For a context of its own, without the plugin `cpu`: programs are lowered as for that one, so that an object computes
// what a host would. All that was compiled in the context is in the object that ricci_executable_dump writes
// ("object"); each function has the name of its program. Options, before it is added: `object.target`, `object.cpu`
// (processor_names.h), `object.workspace` (`caller`, `own`).
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "called_code.h"
#include "cholesky_code.h"
#include "codegen/schedule.h"
#include "cpu/kernel/kernel_codegen.h"
#include "cpu/library/convolution.h"
#include "cpu/library/gemm.h"
#include "cpu/library/library_op.h"
#include "lu_code.h"
#include "object_code.h"
#include "product_code.h"
#include "ricci/api_table.h"
#include "ricci/ricci.h"
#include "solve_code.h"

namespace ricci::object { namespace {

struct Backend {
  ricci_ctx* ctx;
  std::unique_ptr<ObjectUnit> unit;
};

ricci_status* Fail(uint32_t code, const std::string& what) {
  const std::string text = "object: " + what;
  return ricci_status_make(code, text.data(), text.size());
}

// No exception crosses the ABI.
template <typename Body>
ricci_status* Guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ricci_status_make(RICCI_RESOURCE_EXHAUSTED, "object: out of memory", 21);
  }
}

ricci_status* LaunchNothing(void*, const ricci_launch*) {
  return Fail(RICCI_FAILED_PRECONDITION, "this backend runs nothing");
}

// ---- what is code here, and a library's call in a host: products, convolutions as products, factorisations ----
// How operations of one kind are planned: `plan` returns false for one that has no such code.
template <typename Planned, bool (*plan)(const ricci_op* op, Planned& p), uint64_t (*flops)(const Planned& p),
          uint64_t (*scratch)(const Planned& p),
          LLVMValueRef (*emit)(const cpu::LlvmBuilder& l, const Planned& p, const Processor&, const std::string& name)>
struct Called {
  static ricci_status* Match(void*, const ricci_op* op, uint32_t* accept) {
    return Guard([&]() -> ricci_status* {
      Planned p;
      *accept = plan(op, p);
      return nullptr;
    });
  }
  static ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) {
    return Guard([&]() -> ricci_status* {
      Planned p;
      if (!plan(op, p)) return Fail(RICCI_INTERNAL, "planned an operation that did not match");
      out->tasks = 1;
      out->flops = flops(p);
      out->scratch_bytes = scratch(p);
      out->state = new CalledCode([p](const cpu::LlvmBuilder& l, const Processor& processor, const std::string& name) {
        return emit(l, p, processor, name);
      });
      return nullptr;
    });
  }
  static constexpr ricci_library kTable = {{sizeof(ricci_library), 0, nullptr}, Plan, LaunchNothing, [](void* code) {
                                             delete static_cast<CalledCode*>(code);
                                           }};

  static ricci_status* Add(ricci_ctx* ctx, std::string_view primitive) {
    return cpu::AddLibrary(ctx, primitive, Match, &kTable);
  }
};

template <bool (*plan)(const ricci_op* op, cpu::Product& p)>
using CalledProduct = Called<cpu::Product, plan, ProductFlops, ProductScratch, EmitProduct>;

ricci_status* AddCalledCode(ricci_ctx* ctx) {
  if (ricci_status* s = CalledProduct<cpu::PlanGemm>::Add(ctx, "dot_general")) return s;
  if (ricci_status* s = CalledProduct<cpu::PlanConvolution>::Add(ctx, "conv_general_dilated")) return s;
  if (auto* s =
          Called<Solution, PlanSolution, SolutionFlops, SolutionScratch, EmitSolution>::Add(ctx, "triangular_solve")) {
    return s;
  }
  if (auto* s = Called<Cholesky, PlanCholesky, CholeskyFlops, CholeskyScratch, EmitCholesky>::Add(ctx, "cholesky")) {
    return s;
  }
  return Called<Lu, PlanLu, LuFlops, LuScratch, EmitLu>::Add(ctx, "lu");
}

// ---- what has no code of its own ----
// The primitive that has this library lowering in its row; empty: another plugin has added it.
std::string PrimitiveOf(const ricci_ctx* ctx, const ricci_library* library) {
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(ctx, i, &id); ++i) {
    for (uint32_t k = 0; k < row->n_lowerings; ++k) {
      if (row->lowerings[k]->library == library) return {row->name.ptr, row->name.len};
    }
  }
  return {};
}

std::string LocationText(const ricci_ctx* ctx, const ricci_plan& plan, uint32_t library) {
  const auto calls = [&](const ricci_plan_step& s) { return s.kind == RICCI_STEP_LIBRARY && s.index == library; };
  const auto* const step = std::find_if(plan.steps, plan.steps + plan.n_steps, calls);
  ricci_str file{};
  uint32_t line = 0;
  if (step != plan.steps + plan.n_steps) ricci_location_get(ctx, step->location, &file, &line, nullptr);
  return line == 0 ? "" : " at " + std::string(file.ptr, file.len) + ":" + std::to_string(line);
}

// The first library call that is not code here, as an error; empty: there is none.
std::string ForeignCall(const ricci_ctx* ctx, const ricci_plan& plan) {
  for (uint32_t i = 0; i < plan.n_libraries; ++i) {
    const ricci_plan_library& call = plan.libraries[i];
    if (call.library->launch == LaunchNothing) continue;
    const std::string name = PrimitiveOf(ctx, call.library);
    return (name.empty() ? "an equation" : name) + LocationText(ctx, plan, i) +
           " calls a function of the host, which is not in an object; leave the equation out, or give its primitive "
           "another lowering than LIBRARY";
  }
  return {};
}

// ---- the backend ----
ricci_status* Compile(void* self, const ricci_compile_args* a, void** code, ricci_code_info* info) {
  return Guard([&]() -> ricci_status* {
    auto* backend = static_cast<Backend*>(self);
    std::string error = ForeignCall(backend->ctx, *a->plan);
    if (!error.empty()) return Fail(RICCI_UNIMPLEMENTED, error);
    const std::string name(a->program.ptr, a->program.len);
    if (!backend->unit->Add(a->kernels, a->n_kernels, *a->plan, name, a->opt_level, info->scratch_bytes, error)) {
      return Fail(RICCI_UNIMPLEMENTED, name + ": " + error);
    }
    *code = backend;
    return nullptr;
  });
}

ricci_status* Run(void*, const ricci_run_args*) {
  return Fail(RICCI_FAILED_PRECONDITION, "this backend writes object files and runs nothing");
}

ricci_status* DumpObject(void* code, void* sink, void (*write)(void* sink, const char* p, size_t n)) {
  return Guard([&]() -> ricci_status* {
    std::string error;
    const std::string object = static_cast<Backend*>(code)->unit->Write(error);
    if (!error.empty()) return Fail(RICCI_UNIMPLEMENTED, error);
    write(sink, object.data(), object.size());
    return nullptr;
  });
}

ricci_status* Estimate(void* self, const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan* plan,
                       ricci_estimate* out) {
  return Guard([&]() -> ricci_status* {
    const ObjectUnit& unit = *static_cast<Backend*>(self)->unit;
    codegen::EstimatePlan(kernels, n_kernels, *plan, cpu::TargetOf(unit.lanes(), unit.contracts()), *out);
    return nullptr;
  });
}

std::string Option(ricci_ctx* ctx, const char* key) {
  ricci_str value{};
  return ricci_context_option(ctx, key, std::strlen(key), &value) != 0 ? std::string(value.ptr, value.len) : "";
}

ricci_status* Register(ricci_ctx* ctx, std::unique_ptr<Backend> backend) {
  ricci_backend b{};
  b.hdr = {sizeof b, RICCI_BACKEND_SOURCES | RICCI_BACKEND_OPEN_CALLS, nullptr};
  b.kind = {"cpu", 3};
  b.name = {"object", 6};
  b.self = backend.get();
  b.drop_self = [](void* self) { delete static_cast<Backend*>(self); };
  b.workers = 1;
  b.opt_level_default = 2;
  b.compile = Compile;
  b.run = Run;
  b.drop_code = [](void*) {};
  b.dump_object = DumpObject;
  b.estimate = Estimate;
  const ricci_target target = cpu::TargetOf(backend->unit->lanes(), backend->unit->contracts());
  b.target = &target;
  if (ricci_status* s = ricci_backend_register(ctx, &b)) return s;
  static_cast<void>(backend.release());
  return nullptr;
}

ricci_status* Attach(void*, ricci_ctx* ctx) {
  return Guard([&]() -> ricci_status* {
    const std::string target = Option(ctx, "object.target"), name = Option(ctx, "object.cpu"),
                      workspace = Option(ctx, "object.workspace");
    if (!workspace.empty() && workspace != "caller" && workspace != "own") {
      return Fail(RICCI_INVALID_ARGUMENT, "workspace `" + workspace + "` is neither `caller` nor `own`");
    }
    Processor processor;
    std::string error;
    if (!FindProcessor(target, name, processor, error)) return Fail(RICCI_INVALID_ARGUMENT, error);
    auto unit = ObjectUnit::Create(processor, workspace == "own", error);
    if (unit == nullptr) return Fail(RICCI_UNIMPLEMENTED, error);
    if (ricci_status* s = AddCalledCode(ctx)) return s;
    return Register(ctx, std::make_unique<Backend>(Backend{ctx, std::move(unit)}));
  });
}

const ricci_plugin* Description() {
  static const ricci_plugin plugin = [] {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = {"object", 6};
    p.version = {"0.1.0", 5};
    p.attach = Attach;
    return p;
  }();
  return &plugin;
}

}  // namespace
}  // namespace ricci::object

extern "C" RICCI_API ricci_status* ricci_plugin_query_object(const ricci_host_info*, const ricci_plugin** out) {
  *out = ricci::object::Description();
  return nullptr;
}
