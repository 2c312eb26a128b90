// Lowering: each equation becomes a kernel, a library call, or, for large loops and branches, steps around the steps of
// its bodies; over one buffer per value.
//
// Parameters, results and constants are bound by the caller; what lies between is in the arena. Inside a scan, the
// slice of an x or y for one trip is no buffer of its own: kernels read and write the stack at the loop's counter, so
// nothing is copied.
#include "pass/lower_plan.h"

#include "base/hash_map.h"
#include "base/status_abi.h"
#include "control/scan.h"
#include "control/while_loop.h"
#include "pass/body_cost.h"
#include "pass/kernel_builder.h"
#include "pass/pass.h"
#include "ricci/exact.h"
#include "trace/attrs.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci::inline v0::pass {
namespace {

constexpr uint32_t kNone = ~0u;
constexpr std::byte kZero[8] = {};  // an element of up to 64 bits

using Slot = KernelBuilder::Slot;
using Binding = KernelBuilder::Binding;

// Where a value is: a buffer, or a slice of it.
struct Ref {
  uint32_t buffer = kNone;
  Slot slot;

  bool known() const { return buffer != kNone; }
  bool whole() const { return slot.length < 0; }
  bool operator==(const Ref& o) const { return buffer == o.buffer && slot.loop == o.slot.loop && whole() == o.whole(); }
};
using Refs = std::vector<Ref>;

// The values of one program.
struct Frame {
  const ir::Program& f;
  Refs refs;
};

class PlanLowering {
 public:
  PlanLowering(const ir::Program& f, const Options& options, Lowered& out)
      : options_(options),
        registry_(prim::Registry::Of(f)),
        types_(registry_.vocabulary().types),
        plan_(out.plan),
        out_(out) {}

  absl::Status Run(const ir::Program& f) {
    plan_.n_inputs = f.n_params();
    plan_.n_outputs = f.n_results();
    Refs params, results;
    for (uint32_t i = 0; i < f.n_params(); ++i)
      params.push_back({AddBuffer(RICCI_BUFFER_INPUT, i, f.type(i).bytes), {}});
    for (uint32_t i = 0; i < f.n_results(); ++i) {
      results.push_back({AddBuffer(RICCI_BUFFER_OUTPUT, i, f.type(f.results[i]).bytes), {}});
    }
    return Body(f, params, results);
  }

 private:
  uint32_t AddBuffer(uint32_t kind, uint32_t index, uint64_t bytes, const void* data = nullptr) {
    plan_.buffers.push_back({kind, index, bytes, 0, data});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  Ref InArena(ir::TypeId t) { return {AddBuffer(RICCI_BUFFER_ARENA, 0, types_.Get(t).bytes), {}}; }
  uint32_t AddConstant(const std::shared_ptr<const ir::ConstantData>& data) {
    auto [it, fresh] = constant_buffer_.try_emplace(data.get(), 0);
    if (fresh) {
      it->second = AddBuffer(RICCI_BUFFER_CONSTANT, plan_.n_constants++, data->bytes.size(), data->bytes.data());
      out_.constants.push_back(data);
    }
    return it->second;
  }
  void KernelStep(kernel::Kernel k, const std::vector<uint32_t>& buffers, uint64_t location) {
    plan_.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(out_.kernels.size()), buffers, location);
    out_.kernels.push_back(std::move(k));
  }

  // Steps for all equations of `f`; result i ends up in results[i].
  absl::Status Body(const ir::Program& f, const Refs& params, const Refs& results) {
    Frame frame{f, Refs(f.values.size())};
    std::copy(params.begin(), params.end(), frame.refs.begin());
    for (uint32_t i = 0; i < f.n_results(); ++i) {
      Ref& ref = frame.refs[f.results[i]];
      if (f.definition(f.results[i]) != nullptr && !ref.known()) ref = results[i];
    }
    // What a trip stacks of an old carry goes first: then a kernel of the trip may write over it.
    const auto early = [&](uint32_t i) { return f.results[i] < f.n_params() && !results[i].whole(); };
    for (uint32_t i = 0; i < f.n_results(); ++i) {
      if (early(i)) RICCI_TRY(Move(frame, f.results[i], results[i]));
    }
    for (const ir::Equation& eqn : f.equations) RICCI_TRY(Equation(frame, eqn));
    for (uint32_t i = 0; i < f.n_results(); ++i) {
      if (!early(i)) RICCI_TRY(Move(frame, f.results[i], results[i]));
    }
    return absl::OkStatus();
  }

  // results[i] = value v, where it is not there already.
  absl::Status Move(Frame& frame, ir::ValueId v, const Ref& to) {
    if (const ir::Constant* c = frame.f.constant(v); c != nullptr && c->splat && to.whole()) {
      return Fill(to.buffer, frame.f.type(v), *c);
    }
    RICCI_ASSIGN(Ref from, Place(frame, v));
    return from == to ? absl::OkStatus() : CopyStep(frame.f.type_id(v), from, to);
  }

  absl::Status CopyStep(ir::TypeId t, const Ref& from, const Ref& to) {
    if (types_.Get(t).elements == 0) return absl::OkStatus();
    if (from.whole() && to.whole()) {
      plan_.Step(RICCI_STEP_COPY, 0, {to.buffer, from.buffer});
      return absl::OkStatus();
    }
    KernelBuilder k(registry_, "copy", options_.target);
    RICCI_ASSIGN(KernelBuilder::Result lowered, k.LowerCopy(t, from.slot, to.slot));
    return BoundKernel(std::move(lowered), {from}, {to}, 0);
  }

  absl::Status BoundKernel(KernelBuilder::Result lowered, const Refs& operands, const Refs& results,
                           uint64_t location) {
    std::vector<uint32_t> buffers;
    for (const Binding& binding : lowered.bindings) {
      switch (binding.kind) {
        case Binding::Kind::kConstant:
          buffers.push_back(AddConstant(binding.data));
          break;
        case Binding::Kind::kOperand:
          buffers.push_back(operands[binding.index].buffer);
          break;
        case Binding::Kind::kResult:
          buffers.push_back(results[binding.index].buffer);
          break;
        case Binding::Kind::kCounter:
          buffers.push_back(binding.index);
          break;  // a loop is named by its counter's buffer
      }
    }
    // Numbers of checks are those of the whole plan.
    for (ricci_inst& inst : lowered.kernel.insts) {
      if (inst.op == RICCI_K_CHECK) inst.imm += static_cast<int64_t>(out_.checks.size());
    }
    out_.checks.insert(out_.checks.end(), lowered.checks.begin(), lowered.checks.end());
    KernelStep(std::move(lowered.kernel), buffers, location);
    return absl::OkStatus();
  }

  // Where value `v` is; constants and values not yet made get a buffer.
  absl::StatusOr<Ref> Place(Frame& frame, ir::ValueId v) {
    Ref& ref = frame.refs[v];
    if (ref.known()) return ref;
    const ir::Constant* c = frame.f.constant(v);
    if (c != nullptr && (!c->splat || frame.f.type(v).elements == 1)) {
      ref = {AddConstant(c->data), {}};
    } else {
      ref = InArena(frame.f.type_id(v));
      if (c != nullptr) RICCI_TRY(Fill(ref.buffer, frame.f.type(v), *c));
      if (c != nullptr && depth_ > 0)
        return std::exchange(ref, Ref{});  // filled on one path only: fill again elsewhere
    }
    return ref;
  }

  absl::Status Fill(uint32_t buffer, const ir::ArrayType& t, const ir::Constant& c) {
    return FillKernel("fill", buffer, t.dtype, t.elements, c.data->bytes.data());
  }

  absl::Status FillKernel(std::string_view name, uint32_t buffer, uint32_t dtype, int64_t elements,
                          const std::byte* element) {
    if (elements == 0) return absl::OkStatus();
    ElementWriter w(name);
    const uint32_t to = w.Buffer(dtype, elements, RICCI_ACCESS_WRITE);
    kernel::Val i = w.Index(0);
    if (elements > 1) w.Parallel({&elements, 1}, &i);
    w.Store(to, i, w.Element(dtype, element));
    if (elements > 1) w.End();
    RICCI_ASSIGN(kernel::Kernel k, w.Finish());
    KernelStep(std::move(k), {buffer}, 0);
    return absl::OkStatus();
  }

  absl::StatusOr<Refs> Places(Frame& frame, std::span<const ir::ValueId> values) {
    Refs refs;
    for (ir::ValueId v : values) {
      RICCI_ASSIGN(Ref r, Place(frame, v));
      refs.push_back(r);
    }
    return refs;
  }

  absl::StatusOr<Refs> Results(Frame& frame, const ir::Equation& eqn) {
    std::vector<ir::ValueId> values;
    for (uint32_t i = 0; i < eqn.n_results; ++i) values.push_back(eqn.result(i));
    return Places(frame, values);
  }

  absl::Status Equation(Frame& frame, const ir::Equation& eqn) {
    const trace::Op op(frame.f, eqn);
    const prim::Row& row = registry_.Get(eqn.prim);
    RICCI_ASSIGN(bool in_plan, RunsInPlan(frame.f, eqn, options_));
    if (in_plan) {
      ++depth_;
      const absl::Status status = row.flow == prim::Flow::kScan    ? Scan(frame, eqn)
                                  : row.flow == prim::Flow::kWhile ? While(frame, eqn)
                                                                   : Cond(frame, eqn);
      --depth_;
      return status;
    }
    RICCI_ASSIGN(const ricci_lowering* l,
                 ChooseLowering(row, *op.get(), options_.target, kKernelKinds | 1u << RICCI_LOWER_LIBRARY));
    if (l != nullptr && l->kind == RICCI_LOWER_LIBRARY) return Library(frame, eqn, op, *l);
    RICCI_ASSIGN(Refs results, Results(frame, eqn));
    if (l != nullptr && IsUpdate(*l)) RICCI_TRY(Move(frame, eqn.operands[0], results[0]));
    std::vector<Slot> slots;
    for (ir::ValueId v : eqn.operands) slots.push_back(frame.refs[v].slot);
    for (uint32_t i = 0; i < eqn.n_results; ++i) slots.push_back(frame.refs[eqn.result(i)].slot);
    const bool fusion = row.flow == prim::Flow::kFusion;
    const std::string_view name = fusion ? trace::ProgramOf(eqn.attrs, "body").name : row.name;
    KernelBuilder k(registry_, name, options_.target);
    RICCI_ASSIGN(KernelBuilder::Result lowered, k.Lower(frame.f, eqn, slots));
    Refs operands(eqn.operands.size());
    for (const Binding& binding : lowered.bindings) {
      if (binding.kind != Binding::Kind::kOperand) continue;
      RICCI_ASSIGN(operands[binding.index], Place(frame, eqn.operands[binding.index]));
    }
    return BoundKernel(std::move(lowered), operands, results, eqn.location);
  }

  // Library calls take whole buffers: slices go through copies.
  absl::Status Library(Frame& frame, const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l) {
    ricci_library_plan plan{};
    plan.hdr.size = sizeof plan;
    plan.device = options_.device;
    plan.native_context = options_.native_context;
    RICCI_TRY(transform::AtEquation(base::FromAbi(l.library->plan(l.self, op.get(), &plan)), frame.f, eqn, "plan"));
    const auto number = static_cast<uint32_t>(plan_.libraries.size());
    plan_.libraries.push_back({l.library, plan.state, std::max<int64_t>(plan.tasks, 1), op->n_in, op->n_out,
                               plan.workspace_bytes, plan.flops, plan.scratch_bytes});
    if (std::max(plan.workspace_bytes, plan.scratch_bytes) > uint64_t{RICCI_MAX_DIM}) {
      const absl::Status large = absl::ResourceExhaustedError(base::Cat(
          "workspace of ", plan.workspace_bytes, " and scratch of ", plan.scratch_bytes, " bytes are too large"));
      return transform::AtEquation(large, frame.f, eqn, "plan");
    }
    std::vector<uint32_t> buffers;
    RICCI_ASSIGN(Refs operands, Places(frame, eqn.operands));
    RICCI_ASSIGN(Refs results, Results(frame, eqn));
    for (uint32_t i = 0; i < operands.size(); ++i) {
      Ref whole = operands[i];
      if (!whole.whole()) {
        whole = InArena(op->in_types[i]);
        RICCI_TRY(CopyStep(op->in_types[i], operands[i], whole));
      }
      buffers.push_back(whole.buffer);
    }
    Refs written;
    for (uint32_t i = 0; i < results.size(); ++i) {
      written.push_back(results[i].whole() ? results[i] : InArena(op->out_types[i]));
      buffers.push_back(written[i].buffer);
    }
    if (plan.workspace_bytes != 0) buffers.push_back(AddBuffer(RICCI_BUFFER_ARENA, 0, plan.workspace_bytes));
    plan_.Step(RICCI_STEP_LIBRARY, number, buffers, eqn.location);
    for (uint32_t i = 0; i < results.size(); ++i) {
      if (!results[i].whole()) RICCI_TRY(CopyStep(op->out_types[i], written[i], results[i]));
    }
    return absl::OkStatus();
  }

  // ---- control flow ----

  // The carry lives in the results of the loop where they are whole; its initial value is moved there.
  absl::StatusOr<Refs> StartCarry(Frame& frame, std::span<const ir::ValueId> init, const Refs& results) {
    Refs carry;
    for (size_t i = 0; i < init.size(); ++i) {
      carry.push_back(results[i].whole() ? results[i] : InArena(frame.f.type_id(init[i])));
      RICCI_TRY(Move(frame, init[i], carry[i]));
    }
    return carry;
  }
  // Where the body leaves the next carry: in place if all it does to it is an update.
  absl::StatusOr<Refs> NextCarry(const ir::Program& body, size_t n_consts, const Refs& carry) {
    Refs next;
    for (size_t i = 0; i < carry.size(); ++i) {
      RICCI_ASSIGN(bool in_place, IsUpdated(body, static_cast<uint32_t>(i), static_cast<ir::ValueId>(n_consts + i)));
      next.push_back(in_place ? carry[i] : InArena(body.result_types[i]));
    }
    return next;
  }
  // Is result i of `body` an update of parameter `p` behind which nothing reads the parameter?
  absl::StatusOr<bool> IsUpdated(const ir::Program& body, uint32_t i, ir::ValueId p) {
    const ir::ValueId v = body.results[i];
    const ir::Equation* update = body.definition(v);
    if (update == nullptr || update->operands.empty() || update->operands[0] != p || update->result(0) != v)
      return false;
    const trace::Op op(body, *update);
    RICCI_ASSIGN(const ricci_lowering* l,
                 ChooseLowering(registry_.Get(update->prim), *op.get(), options_.target, kKernelKinds));
    if (l == nullptr || !IsUpdate(*l)) return false;
    const auto reads = [](std::span<const ir::ValueId> values, ir::ValueId x) {
      return std::find(values.begin(), values.end(), x) != values.end();
    };
    if (reads(update->operands.subspan(1), p) || reads(body.results, p)) return false;
    if (std::count(body.results.begin(), body.results.end(), v) != 1) return false;
    return std::none_of(body.equations.begin() + body.values[v].index + 1, body.equations.end(),
                        [&](const ir::Equation& later) { return reads(later.operands, p); });
  }
  absl::Status CopyAll(const ir::Program& body, const Refs& from, const Refs& to, size_t n) {
    for (size_t i = 0; i < n; ++i)
      RICCI_TRY(from[i] == to[i] ? absl::OkStatus() : CopyStep(body.result_types[i], from[i], to[i]));
    return absl::OkStatus();
  }

  absl::Status While(Frame& frame, const ir::Equation& eqn) {
    const ir::Program &cond = trace::ProgramOf(eqn.attrs, "cond"), &body = trace::ProgramOf(eqn.attrs, "body");
    const auto n_cond = static_cast<size_t>(trace::IntOf(eqn.attrs, "cond_nconsts"));  // exact: checked by the type
    const auto n_body = static_cast<size_t>(trace::IntOf(eqn.attrs, "body_nconsts"));  // exact: checked by the type
    RICCI_ASSIGN(Refs results, Results(frame, eqn));
    RICCI_ASSIGN(Refs consts, Places(frame, eqn.operands.first(n_cond + n_body)));
    RICCI_ASSIGN(Refs carry, StartCarry(frame, eqn.operands.subspan(n_cond + n_body), results));
    const Ref predicate = InArena(cond.result_types[0]);
    const int64_t max_trips = trace::IntOf(eqn.attrs, "max_trips", -1);
    Ref trips;
    if (max_trips >= 0) {
      RICCI_ASSIGN(ir::TypeId i64, types_.Intern(RICCI_I64, {}));
      trips = InArena(i64);
      RICCI_TRY(FillKernel("trips_start", trips.buffer, RICCI_I64, 1, kZero));
    }
    plan_.Step(RICCI_STEP_WHILE, 0, {predicate.buffer}, eqn.location);
    Refs in(consts.begin(), consts.begin() + n_cond);
    in.insert(in.end(), carry.begin(), carry.end());
    RICCI_TRY(Body(cond, in, {predicate}));
    if (max_trips >= 0) RICCI_TRY(TripBound(frame, eqn, trips.buffer, predicate.buffer, max_trips));
    plan_.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{}, eqn.location);
    in.assign(consts.begin() + n_cond, consts.end());
    in.insert(in.end(), carry.begin(), carry.end());
    RICCI_ASSIGN(const Refs next, NextCarry(body, n_body, carry));
    RICCI_TRY(Body(body, in, next));
    RICCI_TRY(CopyAll(body, next, carry, carry.size()));
    plan_.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{}, eqn.location);
    return CopyAll(body, carry, results, carry.size());
  }

  // At the bound the loop ends, and if its condition still holds then, the run fails.
  absl::Status TripBound(Frame& frame, const ir::Equation& eqn, uint32_t trips, uint32_t predicate, int64_t max_trips) {
    kernel::Writer w("trip_bound");
    const uint32_t t = w.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ_WRITE);
    const uint32_t p = w.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_READ_WRITE);
    const kernel::Val zero = w.Index(0), now = w.Load(t, zero), on = w.Load(p, zero);
    const kernel::Val within = w.Less(now, w.Index(max_trips));
    w.Require(w.Or(within, w.Not(on)), static_cast<uint32_t>(out_.checks.size()));
    w.Store(p, zero, w.And(on, within));
    w.Store(t, zero, w.Add(now, w.Index(1)));
    RICCI_ASSIGN(kernel::Kernel k, w.Finish());
    out_.checks.push_back(
        transform::AtEquation(absl::OutOfRangeError(control::StillGoingOn(max_trips)), frame.f, eqn, "run"));
    KernelStep(std::move(k), {trips, predicate}, eqn.location);
    return absl::OkStatus();
  }

  // A counter in memory; trip kernels read it, and the slots of xs and ys name the loop by it.
  absl::Status Scan(Frame& frame, const ir::Equation& eqn) {
    const ir::Program& body = trace::ProgramOf(eqn.attrs, "body");
    const auto n_consts = static_cast<size_t>(trace::IntOf(eqn.attrs, "num_consts"));  // exact: checked by the type
    const auto n_carry = static_cast<size_t>(trace::IntOf(eqn.attrs, "num_carry"));    // exact: checked by the type
    const int64_t length = trace::IntOf(eqn.attrs, "length");
    RICCI_ASSIGN(ir::TypeId i64, types_.Intern(RICCI_I64, {}));
    RICCI_ASSIGN(ir::TypeId boolean, types_.Intern(RICCI_BOOL, {}));
    const Ref counter = InArena(i64), predicate = InArena(boolean);
    const Slot slot{length, trace::IntOf(eqn.attrs, "reverse") != 0, counter.buffer};
    RICCI_ASSIGN(Refs results, Results(frame, eqn));
    RICCI_ASSIGN(Refs in, Places(frame, eqn.operands.first(n_consts)));
    RICCI_ASSIGN(Refs carry, StartCarry(frame, eqn.operands.subspan(n_consts, n_carry), results));
    in.insert(in.end(), carry.begin(), carry.end());
    for (size_t i = n_consts + n_carry; i < eqn.operands.size(); ++i) {
      RICCI_ASSIGN(Ref x, Whole(frame, eqn.operands[i]));
      in.push_back({x.buffer, slot});
    }
    RICCI_ASSIGN(Refs out, NextCarry(body, n_consts, carry));
    Refs stacks;
    for (size_t i = n_carry; i < results.size(); ++i) {
      stacks.push_back(results[i].whole() ? results[i]
                                          : InArena(frame.f.type_id(eqn.result(static_cast<uint32_t>(i)))));
      out.push_back({stacks.back().buffer, slot});
    }
    const int64_t per = control::TripsPerIteration(body, length, trace::IntOf(eqn.attrs, "unroll", 1));
    const int64_t iterations = length / per;  // exact: neither is negative, and per is 1 or more
    const auto trips = [&](int64_t n) { return Trips(body, in, out, carry, n_consts, counter.buffer, n); };
    RICCI_TRY(FillKernel("counter_start", counter.buffer, RICCI_I64, 1, kZero));
    plan_.Step(RICCI_STEP_WHILE, static_cast<uint32_t>(std::min<int64_t>(iterations, UINT32_MAX)), {predicate.buffer},
               eqn.location);
    RICCI_TRY(CounterKernel("counter_less", counter.buffer, predicate.buffer, iterations * per));
    plan_.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{}, eqn.location);
    RICCI_TRY(trips(per));
    plan_.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{}, eqn.location);
    RICCI_TRY(trips(length % per));  // exact: as above
    RICCI_TRY(CopyAll(body, carry, results, n_carry));
    for (size_t i = n_carry; i < results.size(); ++i) {
      if (results[i].whole()) continue;
      RICCI_TRY(CopyStep(frame.f.type_id(eqn.result(static_cast<uint32_t>(i))), stacks[i - n_carry], results[i]));
    }
    return absl::OkStatus();
  }

  // `n` trips of a scan, one after another, and the counter with them. in: consts, carry, xs; out: the next carry, ys.
  // The carry goes from its own buffers to the next ones and back, and is in its own at the end.
  absl::Status Trips(const ir::Program& body, Refs in, Refs out, const Refs& carry, size_t n_consts, uint32_t counter,
                     int64_t n) {
    const auto carry_in = in.begin() + static_cast<ptrdiff_t>(n_consts);
    for (int64_t trip = 0; trip < n; ++trip) {
      RICCI_TRY(Body(body, in, out));
      std::swap_ranges(carry_in, carry_in + static_cast<ptrdiff_t>(carry.size()), out.begin());
      if (trip + 1 == n)
        RICCI_TRY(CopyAll(body, {carry_in, carry_in + static_cast<ptrdiff_t>(carry.size())}, carry, carry.size()));
      RICCI_TRY(CounterKernel("counter_next", counter, kNone, 0));
    }
    return absl::OkStatus();
  }

  // Value `v` in a buffer of its own, copied there if it is a slice.
  absl::StatusOr<Ref> Whole(Frame& frame, ir::ValueId v) {
    RICCI_ASSIGN(Ref r, Place(frame, v));
    if (r.whole()) return r;
    const Ref copy = InArena(frame.f.type_id(v));
    RICCI_TRY(CopyStep(frame.f.type_id(v), r, copy));
    return copy;
  }

  // predicate = counter < length, or, without a predicate, counter += 1.
  absl::Status CounterKernel(std::string_view name, uint32_t counter, uint32_t predicate, int64_t length) {
    kernel::Writer w(name);
    const bool less = predicate != kNone;
    const uint32_t c = w.Buffer(RICCI_I64, 1, less ? RICCI_ACCESS_READ : RICCI_ACCESS_READ_WRITE);
    const kernel::Val zero = w.Index(0), now = w.Load(c, zero);
    std::vector<uint32_t> buffers{counter};
    if (less) {
      const uint32_t p = w.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_WRITE);
      w.Store(p, zero, w.Less(now, w.Index(length)));
      buffers.push_back(predicate);
    } else {
      w.Store(c, zero, w.Add(now, w.Index(1)));
    }
    RICCI_ASSIGN(kernel::Kernel k, w.Finish());
    KernelStep(std::move(k), buffers, 0);
    return absl::OkStatus();
  }

  absl::Status Cond(Frame& frame, const ir::Equation& eqn) {
    const auto branches = ir::Programs(*ir::FindAttr(eqn.attrs, "branches"));
    RICCI_ASSIGN(Refs results, Results(frame, eqn));
    RICCI_ASSIGN(Ref index, Whole(frame, eqn.operands[0]));
    RICCI_ASSIGN(Refs in, Places(frame, eqn.operands.subspan(1)));
    plan_.Step(RICCI_STEP_CASE, static_cast<uint32_t>(branches.size()), {index.buffer}, eqn.location);
    for (size_t i = 0; i < branches.size(); ++i) {
      if (i != 0) plan_.Step(RICCI_STEP_NEXT, 0, std::vector<uint32_t>{}, eqn.location);
      RICCI_TRY(Body(*ir::FromAbi(branches[i]), in, results));
    }
    plan_.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{}, eqn.location);
    return absl::OkStatus();
  }

  const Options& options_;
  prim::Registry& registry_;
  types::TypeTable& types_;
  kernel::Plan& plan_;
  Lowered& out_;
  uint32_t depth_ = 0;  // of loops and branches in the plan
  base::HashMap<const ir::ConstantData*, uint32_t> constant_buffer_;
};

}  // namespace

absl::Status LowerPlan(const Options& options, Lowered& out) {
  return PlanLowering(*out.optimized, options, out).Run(*out.optimized);
}

}  // namespace ricci::inline v0::pass
