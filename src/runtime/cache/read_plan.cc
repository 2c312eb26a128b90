// Bytes to plans. Each table is read within the bytes, then all are checked against each other, by the rules for new
// plans (kernel::Verify): a plan that is returned has only buffers, kernels, calls and locations that there are.
#include "file/bytes.h"
#include "file/program_file.h"
#include "pass/plan/lower_plan.h"
#include "pass/target/choose_lowering.h"
#include "ricci/exact.h"
#include "runtime/cache/saved_plan.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

using file::ByteReader;

absl::Status Wrong(std::string_view what) {
  return absl::DataLossError(base::Cat("saved plan: ", what, " is not possible"));
}
absl::Status Holds(bool holds, std::string_view what) { return holds ? absl::OkStatus() : Wrong(what); }

bool FitsMemory(uint64_t bytes) { return bytes <= uint64_t{RICCI_MAX_DIM}; }

class PlanReader {
 public:
  PlanReader(std::string_view bytes, const ir::Program& program, const pass::Options& options)
      : r_(bytes), program_(program), options_(options), out_(std::make_unique<pass::Lowered>()), plan_(out_->plan) {}

  absl::StatusOr<std::unique_ptr<pass::Lowered>> Run() {
    out_->optimized = ir::ProgramRef(&program_);
    plan_.n_inputs = program_.n_params();
    plan_.n_outputs = program_.n_results();
    plan_.arena_bytes = r_.Get<uint64_t>();
    out_->flops = r_.Get<uint64_t>();
    RICCI_TRY(Holds(FitsMemory(plan_.arena_bytes), "the size of the arena"));
    Kernels();
    Buffers();
    RICCI_TRY(Steps());
    RICCI_TRY(Constants());
    Sources();
    RICCI_TRY(Checks());
    RICCI_TRY(Aliases());
    RICCI_TRY(Libraries());
    RICCI_TRY(Holds(r_.finished(), "its length"));
    for (ricci_plan_buffer& b : plan_.buffers) RICCI_TRY(CheckBuffer(b));
    RICCI_TRY(CheckTables());
    return std::move(out_);
  }

 private:
  void Kernels() {
    for (uint32_t n = r_.Count(16), i = 0; i < n; ++i) {
      kernel::Kernel& k = out_->kernels.emplace_back();
      k.name = r_.GetText();
      k.domain.resize(r_.Count(sizeof(int64_t)));
      for (int64_t& extent : k.domain) extent = r_.Get<int64_t>();
      k.buffers.resize(r_.Count(16));
      for (ricci_kernel_buffer& b : k.buffers) {
        b.dtype = r_.Get<uint32_t>();
        b.access = r_.Get<uint32_t>();
        b.elements = r_.Get<int64_t>();
      }
      k.updates = r_.Get<int32_t>();
    }
  }

  void Buffers() {
    plan_.buffers.resize(r_.Count(24));
    for (ricci_plan_buffer& b : plan_.buffers) {
      b.kind = r_.Get<uint32_t>();
      b.index = r_.Get<uint32_t>();
      b.bytes = r_.Get<uint64_t>();
      b.offset = r_.Get<uint64_t>();
      b.data = nullptr;
    }
  }

  absl::Status Steps() {
    std::vector<ir::LocationId> locations;
    for (uint32_t n = r_.Count(12), i = 0; i < n; ++i) {
      const std::string_view file = r_.GetText(), func = r_.GetText();
      const auto line = r_.Get<uint32_t>();
      const bool unknown = file.empty() && func.empty() && line == 0;
      locations.push_back(unknown ? 0 : program_.vocabulary()->InternLocation(file, line, func));
    }
    plan_.steps.resize(r_.Count(20));
    for (ricci_plan_step& s : plan_.steps) {
      s.kind = r_.Get<uint32_t>();
      s.index = r_.Get<uint32_t>();
      s.args = r_.Get<uint32_t>();
      s.n_args = r_.Get<uint32_t>();
      const auto location = r_.Get<uint32_t>();
      RICCI_TRY(Holds(location < locations.size(), "the place of a step"));
      s.location = locations[location];
    }
    plan_.args.resize(r_.Count(sizeof(uint32_t)));
    for (uint32_t& buffer : plan_.args) buffer = r_.Get<uint32_t>();
    return absl::OkStatus();
  }

  absl::Status Constants() {
    plan_.n_constants = r_.Count(sizeof(uint64_t));
    for (uint32_t i = 0; i < plan_.n_constants; ++i) {
      const auto size = r_.Get<uint64_t>();
      const std::string_view bytes = r_.GetBytes(size);
      RICCI_TRY(Holds(!r_.failed(), "the size of a constant"));
      out_->constants.push_back(std::make_shared<ir::ConstantData>(
          program_.memory(), std::span(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())));
    }
    return absl::OkStatus();
  }

  void Sources() {
    for (uint32_t n = r_.Count(20), i = 0; i < n; ++i) {
      auto source = std::make_unique<pass::SourceText>();
      source->entry = r_.GetText();
      source->call.entry = {source->entry.data(), source->entry.size()};
      source->call.n_in = r_.Get<uint32_t>();
      source->call.n_out = r_.Get<uint32_t>();
      source->call.workspace_bytes = r_.Get<uint64_t>();
      plan_.sources.push_back(source->call);
      out_->sources.push_back(std::move(source));
    }
  }

  absl::Status Checks() {
    for (uint32_t n = r_.Count(24), i = 0; i < n; ++i) {
      const auto code = r_.Get<uint32_t>();
      const std::string_view message = r_.GetText();
      base::StatusSite site;
      for (std::string* text : {&site.primitive, &site.rule, &site.file}) *text = r_.GetText();
      site.line = r_.Get<uint32_t>();
      RICCI_TRY(Holds(code != 0 && code <= static_cast<uint32_t>(absl::StatusCode::kUnauthenticated), "a check"));
      const absl::Status check(static_cast<absl::StatusCode>(code), base::ToAbsl(message));
      out_->checks.push_back(base::WithSite(check, site));
    }
    return absl::OkStatus();
  }

  // Each result takes the memory of an argument that is donated and as large.
  absl::Status Aliases() {
    out_->output_alias.resize(r_.Count(sizeof(int32_t)));
    for (int32_t& alias : out_->output_alias) alias = r_.Get<int32_t>();
    const bool none = out_->output_alias.empty();
    RICCI_TRY(Holds(none || out_->output_alias.size() == plan_.n_outputs, "the number of results in place"));
    for (size_t i = 0; i < out_->output_alias.size(); ++i) {
      const int32_t from = out_->output_alias[i];
      if (from == -1) continue;
      const bool donated =
          from >= 0 && static_cast<size_t>(from) < options_.donate.size() && options_.donate[from] != 0;
      RICCI_TRY(Holds(donated, "a result in place"));
      const types::TypeTable& types = program_.vocabulary()->types;
      const bool fits = types.Get(program_.param_types[from]).bytes == types.Get(program_.result_types[i]).bytes;
      RICCI_TRY(Holds(fits, "a result in place"));
    }
    return absl::OkStatus();
  }

  // ---- library calls ----
  absl::Status Libraries() {
    std::vector<ricci_plan_library> saved(r_.Count(44));
    for (ricci_plan_library& c : saved) {
      c.tasks = r_.Get<int64_t>();
      for (uint64_t* v : {&c.workspace_bytes, &c.flops, &c.scratch_bytes}) *v = r_.Get<uint64_t>();
      for (uint32_t* v : {&c.n_in, &c.n_out, &c.flags}) *v = r_.Get<uint32_t>();
    }
    if (saved.empty()) return absl::OkStatus();
    prim::Registry& registry = prim::Registry::Of(program_);
    RICCI_ASSIGN(const ir::ProgramRef calls, file::ReadProgram(registry, r_.GetText(), "saved plan"));
    RICCI_TRY(Holds(calls->equations.size() == saved.size(), "the number of library calls"));
    plan_.libraries.reserve(saved.size());  // so that the plan can always take over a state
    for (size_t i = 0; i < saved.size(); ++i) RICCI_TRY(PlanCall(registry, *calls, calls->equations[i], saved[i]));
    return absl::OkStatus();
  }

  absl::Status PlanCall(const prim::Registry& registry, const ir::Program& calls, const ir::Equation& eqn,
                        const ricci_plan_library& saved) {
    const prim::Row& row = registry.Get(eqn.prim);
    const trace::Op op(calls, eqn);
    RICCI_ASSIGN(const ricci_lowering* l,
                 pass::ChooseLowering(row, *op.get(), options_.target, pass::kKernelKinds | pass::kCallKinds));
    RICCI_TRY(Holds(l != nullptr && l->kind == RICCI_LOWER_LIBRARY, "a library call"));
    RICCI_ASSIGN(const ricci_plan_library now, pass::PlanLibrary(options_, row, calls, eqn, *op.get(), *l));
    out_->AddLibrary(row.name, now);  // from here on the plan owns the state
    const bool same = now.tasks == saved.tasks && now.workspace_bytes == saved.workspace_bytes &&
                      now.flops == saved.flops && now.scratch_bytes == saved.scratch_bytes && now.n_in == saved.n_in &&
                      now.n_out == saved.n_out && now.flags == saved.flags;
    RICCI_TRY(Holds(same, "a library call"));
    std::vector<uint64_t>& bytes = call_bytes_.emplace_back();
    for (const ir::ValueId v : eqn.operands) bytes.push_back(calls.type(v).bytes);
    for (uint32_t i = 0; i < eqn.n_results; ++i) bytes.push_back(calls.type(eqn.first_result + i).bytes);
    bytes.push_back(now.workspace_bytes);
    return Holds(bytes.size() == uint64_t{now.n_in} + now.n_out + 1, "the operands of a library call");
  }

  // ---- the tables against each other, and against the program ----
  absl::Status CheckBuffer(ricci_plan_buffer& b) {
    const types::TypeTable& types = program_.vocabulary()->types;
    switch (b.kind) {
      case RICCI_BUFFER_INPUT:
        RICCI_TRY(Holds(b.index < plan_.n_inputs, "an argument"));
        return Holds(b.bytes == types.Get(program_.param_types[b.index]).bytes, "the size of an argument");
      case RICCI_BUFFER_OUTPUT:
        RICCI_TRY(Holds(b.index < plan_.n_outputs, "a result"));
        return Holds(b.bytes == types.Get(program_.result_types[b.index]).bytes, "the size of a result");
      case RICCI_BUFFER_CONSTANT:
        RICCI_TRY(Holds(b.index < plan_.n_constants, "a constant"));
        b.data = out_->constants[b.index]->bytes.data();
        return Holds(b.bytes == out_->constants[b.index]->bytes.size(), "the size of a constant");
      default:
        return absl::OkStatus();
    }
  }

  // What new plans are checked for, as far as that needs no instructions; then the operands of library calls, whose
  // types only the reader knows.
  absl::Status CheckTables() {
    for (const kernel::Kernel& k : out_->kernels) {
      RICCI_TRY(kernel::VerifyTable(k.View()));
      RICCI_TRY(Holds(k.updates >= -1 && k.updates < static_cast<int64_t>(k.buffers.size()), "what a kernel updates"));
    }
    const kernel::KernelViews kernels(out_->kernels);
    RICCI_TRY(kernel::Verify(plan_.View(), kernels.data(), kernels.size()));
    for (const ricci_plan_step& s : plan_.steps) {
      if (s.kind == RICCI_STEP_LIBRARY) RICCI_TRY(CheckCall(s));
    }
    return absl::OkStatus();
  }

  absl::Status CheckCall(const ricci_plan_step& s) const {
    const std::vector<uint64_t>& needed = call_bytes_[s.index];
    for (uint32_t i = 0; i < s.n_args; ++i) {
      const ricci_plan_buffer& b = plan_.buffers[plan_.args[s.args + i]];
      RICCI_TRY(Holds(b.bytes >= needed[i], "the size of an argument of a library call"));
      const bool read_only = b.kind == RICCI_BUFFER_CONSTANT || b.kind == RICCI_BUFFER_INPUT;
      RICCI_TRY(Holds(!read_only || i < plan_.libraries[s.index].n_in, "a result of a library call"));
    }
    return absl::OkStatus();
  }

  ByteReader r_;
  const ir::Program& program_;
  const pass::Options& options_;
  std::unique_ptr<pass::Lowered> out_;
  kernel::Plan& plan_;
  std::vector<std::vector<uint64_t>> call_bytes_;  // of each library call: operands, results, workspace
};

}  // namespace

absl::StatusOr<std::unique_ptr<pass::Lowered>> ReadPlan(std::string_view bytes, const ir::Program& program,
                                                        const pass::Options& options) {
  return PlanReader(bytes, program, options).Run();
}

}}}  // namespace ricci::v0::runtime
