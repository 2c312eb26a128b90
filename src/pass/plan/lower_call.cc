// Equations that are steps of the plan: a library call, or launches of functions written as text for the target's
// compiler.
//
// What the rule of the row gives is copied and checked here, so that backends get sizes that fit and launches that can
// be counted. Equal sources have one number: a backend compiles them once, and sees that steps are equal.
#include "base/abi_struct.h"
#include "base/abi_text.h"
#include "base/status_abi.h"
#include "pass/plan/lower_plan.h"
#include "pass/plan/plan_lowering.h"
#include "prim/rule_call.h"
#include "ricci/exact.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// Memory that a call wants, if it can be had.
absl::Status CheckBytes(std::string_view first, uint64_t first_bytes, std::string_view second, uint64_t second_bytes) {
  if (std::max(first_bytes, second_bytes) <= uint64_t{RICCI_MAX_DIM}) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      base::Cat(first, " of ", first_bytes, " and ", second, " of ", second_bytes, " bytes are too large"));
}

constexpr int64_t kMostTasks = int64_t{1} << 31;
constexpr uint64_t kMostScratch = uint64_t{1} << 40;  // of a thread, so that those of all threads can be added

// What a library says of a call: numbers that can be counted and added.
absl::Status CheckCall(const prim::Row& row, const ricci_library_plan& plan) {
  if (plan.tasks < 0 || plan.tasks > kMostTasks) {
    return prim::Violation(row, "plan", base::Cat("tasks is ", plan.tasks, "; it must be 0 to ", kMostTasks));
  }
  RICCI_TRY(CheckBytes("workspace", plan.workspace_bytes, "scratch", plan.scratch_bytes));
  if (plan.scratch_bytes <= kMostScratch) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      base::Cat(prim::NameOfRule(row, "plan"), ": scratch of ", plan.scratch_bytes, " bytes, more than 2^40"));
}

// ---- library calls ----

// A planned call and what it is of: backends know neither primitives nor locations, so a failure is named here, unless
// the backend wants calls as they are. What is thrown ends here too: code that a backend generates may have no tables
// for unwinding.
struct NamedCall {
  const ricci_library* library;
  void* state;
  std::string name;
  base::StatusSite site;
};
ricci_status* LaunchNamed(void* state, const ricci_launch* l) {
  const auto& call = *static_cast<const NamedCall*>(state);
  return base::AtBorder([&] {
    return base::WithSite(
        base::CallForeign([&] { return call.name; }, [&] { return call.library->launch(call.state, l); }), call.site);
  });
}
void DropNamed(void* state) {
  const std::unique_ptr<const NamedCall> call(static_cast<const NamedCall*>(state));
  if (call->library->drop_state != nullptr) base::CallQuietly([&] { call->library->drop_state(call->state); });
}
constexpr ricci_library kNamed = {{sizeof(ricci_library), 0, nullptr}, nullptr, LaunchNamed, DropNamed};

// ---- sources ----

// What a rule gives: launches, in their order.
using Launches = std::vector<std::unique_ptr<SourceText>>;

std::string ToText(const int64_t (&shape)[3]) { return base::Cat(shape[0], " x ", shape[1], " x ", shape[2]); }

absl::Status CheckShape(std::string_view what, const int64_t (&shape)[3], int64_t least) {
  ricci_exact product = ricci_exact_of(1);
  for (int64_t n : shape) {
    if (n < least) return base::InvalidArgument("its ", what, " is ", ToText(shape), "; each must be at least ", least);
    product = product * n;
  }
  int64_t fits = 0;
  if (ricci_exact_narrow(product, 0, RICCI_MAX_DIM, &fits) != 0) return absl::OkStatus();
  return base::InvalidArgument("its ", what, " is ", ToText(shape), ", more than 2^62 in all");
}

absl::Status CheckScalar(const ricci_source_scalar& s, uint32_t i) {
  const bool integer = s.dtype >= RICCI_BOOL && s.dtype <= RICCI_U64;
  if (!integer && s.dtype != RICCI_F32 && s.dtype != RICCI_F64) {
    return base::InvalidArgument("scalar ", i, " has dtype ", s.dtype, "; it must be bool, an integer, f32 or f64");
  }
  const uint32_t bits = 8 * ricci_dtype_size(s.dtype);
  if (bits == 64 || s.bits >> bits == 0) return absl::OkStatus();
  return base::InvalidArgument("scalar ", i, " has bits above the lowest ", bits, " of its dtype");
}

absl::StatusOr<std::unique_ptr<SourceText>> Copied(const ricci_source* from) {
  if (from == nullptr) return base::InvalidArgument("give: s is NULL");
  RICCI_ASSIGN(const ricci_source s, base::ReadStruct(from, "source"));
  if (s.text.len == 0) return base::InvalidArgument("its text is empty");
  if (s.entry.len == 0) return base::InvalidArgument("`entry` is empty");
  if (s.n_scalars != 0 && s.scalars == nullptr) {
    return base::InvalidArgument("its scalars are NULL, but n_scalars is ", s.n_scalars);
  }
  RICCI_TRY(CheckShape("grid", s.grid, 0));
  RICCI_TRY(CheckShape("block", s.block, 1));
  for (uint32_t i = 0; i < s.n_scalars; ++i) RICCI_TRY(CheckScalar(s.scalars[i], i));
  RICCI_TRY(CheckBytes("workspace", s.workspace_bytes, "shared memory", s.shared_bytes));
  auto out = std::make_unique<SourceText>();
  out->text = base::View(s.text);
  out->entry = base::View(s.entry);
  out->file = base::View(s.file);
  out->scalars.assign(s.scalars, s.scalars + s.n_scalars);
  ricci_plan_source& call = out->call;
  call.text = {out->text.data(), out->text.size()};
  call.entry = {out->entry.data(), out->entry.size()};
  std::copy(std::begin(s.grid), std::end(s.grid), call.grid);
  std::copy(std::begin(s.block), std::end(s.block), call.block);
  call.scalars = out->scalars.data();
  call.n_scalars = s.n_scalars;
  call.workspace_bytes = s.workspace_bytes;
  call.shared_bytes = s.shared_bytes;
  call.flops = s.flops;
  call.file = {out->file.data(), out->file.size()};
  call.line = s.line;
  return out;
}

ricci_status* Give(void* sink, const ricci_source* s) {
  return base::AtBorder([&]() -> absl::Status {
    if (sink == nullptr) return base::InvalidArgument("give: sink is NULL");
    RICCI_ASSIGN(auto source, Copied(s));
    static_cast<Launches*>(sink)->push_back(std::move(source));
    return absl::OkStatus();
  });
}

// All of them have the same workspace, so that their arguments are the same.
absl::StatusOr<Launches> LaunchesOf(const prim::Row& row, const ricci_op& op, const ricci_lowering& l,
                                    const Options& options) {
  Launches launches;
  ricci_source_args args{};
  args.hdr.size = sizeof args;
  args.device = options.device;
  args.native_context = options.native_context;
  args.sink = &launches;
  args.give = Give;
  RICCI_TRY(prim::CallRule(row, "source", [&] { return l.source(l.self, &op, &args); }));
  if (launches.empty()) return prim::Violation(row, "source", "gave no source");
  uint64_t workspace = 0;
  for (const auto& launch : launches) workspace = std::max(workspace, launch->call.workspace_bytes);
  for (const auto& launch : launches) {
    launch->call.n_in = op.n_in;
    launch->call.n_out = op.n_out;
    launch->call.workspace_bytes = workspace;
  }
  return launches;
}

}  // namespace

// ---- the steps ----

absl::StatusOr<PlanLowering::Callee> PlanLowering::Source(Frame& frame, const ir::Equation& eqn, const trace::Op& op,
                                                          const ricci_lowering& l) {
  auto launches = LaunchesOf(registry_.Get(eqn.prim), *op.get(), l, options_);
  if (!launches.ok()) return transform::AtEquation(launches.status(), frame.f, eqn, "source");
  Callee callee{RICCI_STEP_SOURCE, {}, launches->front()->call.workspace_bytes};
  for (auto& launch : *launches) {
    launch->site = transform::SiteOf(frame.f, eqn, "source");
    callee.numbers.push_back(writer_.AddSource(std::move(launch)));
  }
  return callee;
}

absl::StatusOr<ricci_plan_library> PlanLibrary(const Options& options, const prim::Row& row, const ir::Program& f,
                                               const ir::Equation& eqn, const ricci_op& op, const ricci_lowering& l) {
  auto named = std::make_unique<NamedCall>(
      NamedCall{l.library, nullptr, prim::NameOfRule(row, "launch"), transform::SiteOf(f, eqn, "launch")});
  ricci_library_plan plan{};
  plan.hdr.size = sizeof plan;
  plan.device = options.device;
  const bool on_host = base::View(l.target) == "*";
  plan.native_context = on_host ? nullptr : options.native_context;
  const size_t n_lowerings = row.lowerings.size();
  RICCI_TRY(base::CallForeign([&] { return prim::NameOfRule(row, "plan"); },
                              [&] { return l.library->plan(l.self, &op, &plan); }));
  named->state = plan.state;  // from here on it must be dropped
  absl::Status wrong = prim::CheckLowerings(row, "plan", n_lowerings);
  if (wrong.ok()) wrong = CheckCall(row, plan);
  if (!wrong.ok()) {
    DropNamed(named.release());
    return wrong;
  }
  ricci_plan_library call{};
  call.library = options.open_calls ? l.library : &kNamed;
  call.state = options.open_calls ? plan.state : named.release();
  call.tasks = std::max<int64_t>(plan.tasks, 1);
  call.n_in = op.n_in;
  call.n_out = op.n_out;
  call.workspace_bytes = plan.workspace_bytes;
  call.flops = plan.flops;
  call.scratch_bytes = plan.scratch_bytes;
  const bool only_enqueues = (l.library->hdr.flags & RICCI_LIBRARY_ONLY_ENQUEUES) != 0;
  call.flags = (row.effectful() ? uint32_t{RICCI_CALL_EFFECT} : 0u) | (on_host ? uint32_t{RICCI_CALL_ON_HOST} : 0u) |
               (only_enqueues ? uint32_t{RICCI_CALL_ONLY_ENQUEUES} : 0u);
  return call;
}

// Lets the library plan the call, and adds it to the plan.
absl::StatusOr<PlanLowering::Callee> PlanLowering::Library(Frame& frame, const ir::Equation& eqn, const trace::Op& op,
                                                           const ricci_lowering& l) {
  const prim::Row& row = registry_.Get(eqn.prim);
  writer_.ReserveLibrary();
  const auto call = PlanLibrary(options_, row, frame.f, eqn, *op.get(), l);
  if (!call.ok()) return transform::AtEquation(call.status(), frame.f, eqn, "plan");
  return Callee{RICCI_STEP_LIBRARY, {writer_.AddLibrary(row.name, *call, {&frame.f, &eqn})}, call->workspace_bytes};
}

// Calls take whole buffers, so slices are copied.
absl::Status PlanLowering::Call(Frame& frame, const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l) {
  RICCI_ASSIGN(const Callee callee,
               l.kind == RICCI_LOWER_SOURCE ? Source(frame, eqn, op, l) : Library(frame, eqn, op, l));
  std::vector<uint32_t> buffers;
  RICCI_ASSIGN(BufferRefs operands, StorageOfAll(frame, eqn.operands));
  RICCI_ASSIGN(BufferRefs results, Results(frame, eqn));
  for (uint32_t i = 0; i < operands.size(); ++i) {
    BufferRef whole = operands[i];
    if (!whole.whole()) {
      whole = writer_.InArena(op->in_types[i]);
      RICCI_TRY(writer_.Copy(op->in_types[i], operands[i], whole));
    }
    buffers.push_back(whole.buffer);
  }
  BufferRefs written;
  for (uint32_t i = 0; i < results.size(); ++i) {
    written.push_back(results[i].whole() ? results[i] : writer_.InArena(op->out_types[i]));
    buffers.push_back(written[i].buffer);
  }
  if (callee.workspace != 0) buffers.push_back(writer_.AddBuffer(RICCI_BUFFER_ARENA, 0, callee.workspace));
  for (uint32_t number : callee.numbers) writer_.Step(callee.step, number, buffers, eqn.location);
  for (uint32_t i = 0; i < results.size(); ++i) {
    if (!results[i].whole()) RICCI_TRY(writer_.Copy(op->out_types[i], written[i], results[i]));
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
