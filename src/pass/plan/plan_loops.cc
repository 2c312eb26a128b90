// Loops and branches of a plan: steps around the steps of their bodies.
//
// The results of a body are copied to where the next trip, or what follows, reads them; coalesce_copies.cc then makes
// one buffer of the two wherever it can. A scan counts in memory: kernels of a trip read the counter, and slices of xs
// and ys name the loop by its buffer.
#include "control/scan.h"
#include "control/while_loop.h"
#include "pass/plan/plan_lowering.h"
#include "pass/target/choose_lowering.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::Status PlanLowering::LoopOrBranch(Frame& frame, const ir::Equation& eqn) {
  const prim::Flow flow = registry_.Get(eqn.prim).flow;
  ++depth_;
  const absl::Status status = flow == prim::Flow::kScan    ? Scan(frame, eqn)
                              : flow == prim::Flow::kWhile ? While(frame, eqn)
                                                           : Cond(frame, eqn);
  --depth_;
  return status;
}

// ---- carries ----

// The carry is kept in the results of the loop if they are whole buffers; its initial value is copied there.
absl::StatusOr<BufferRefs> PlanLowering::StartCarry(Frame& frame, std::span<const ir::ValueId> init,
                                                    const BufferRefs& results) {
  BufferRefs carry;
  for (size_t i = 0; i < init.size(); ++i) {
    carry.push_back(results[i].whole() ? results[i] : writer_.InArena(frame.f.type_id(init[i])));
    RICCI_TRY(Move(frame, init[i], carry[i]));
  }
  return carry;
}

// Where the body writes the next carry: in place if it only updates the carry.
absl::StatusOr<BufferRefs> PlanLowering::NextCarry(const ir::Program& body, size_t n_consts, const BufferRefs& carry) {
  BufferRefs next;
  for (size_t i = 0; i < carry.size(); ++i) {
    RICCI_ASSIGN(bool in_place, IsUpdated(body, static_cast<uint32_t>(i), static_cast<ir::ValueId>(n_consts + i)));
    next.push_back(in_place ? carry[i] : writer_.InArena(body.result_types[i]));
  }
  return next;
}

// Is result i of `body` an update of parameter `p` after which nothing reads the parameter?
absl::StatusOr<bool> PlanLowering::IsUpdated(const ir::Program& body, uint32_t i, ir::ValueId p) {
  const ir::ValueId v = body.results[i];
  const ir::Equation* update = body.definition(v);
  if (update == nullptr || update->operands.empty() || update->operands[0] != p || update->result(0) != v) return false;
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

absl::Status PlanLowering::CopyAll(const ir::Program& body, const BufferRefs& from, const BufferRefs& to, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (!(from[i] == to[i])) RICCI_TRY(writer_.Copy(body.result_types[i], from[i], to[i]));
  }
  return absl::OkStatus();
}

// ---- while ----

absl::Status PlanLowering::While(Frame& frame, const ir::Equation& eqn) {
  const control::WhileParts w(eqn);
  RICCI_ASSIGN(BufferRefs results, Results(frame, eqn));
  RICCI_ASSIGN(BufferRefs consts, StorageOfAll(frame, eqn.operands.first(w.n_cond + w.n_body)));
  RICCI_ASSIGN(BufferRefs carry, StartCarry(frame, eqn.operands.subspan(w.n_cond + w.n_body), results));
  const BufferRef predicate = writer_.InArena(w.cond->result_types[0]);
  BufferRef trips;
  if (w.max_trips >= 0) {
    RICCI_ASSIGN(trips, writer_.ScalarInArena(RICCI_I64));
    RICCI_TRY(writer_.StartCounter("trips_start", trips.buffer));
  }
  ControlStep(RICCI_STEP_WHILE, 0, {predicate.buffer}, eqn);
  BufferRefs in(consts.begin(), consts.begin() + w.n_cond);
  in.insert(in.end(), carry.begin(), carry.end());
  RICCI_TRY(Body(*w.cond, in, {predicate}));
  if (w.max_trips >= 0) {  // at the bound the loop ends, and if its condition still holds, the run fails
    const absl::Status too_long = absl::OutOfRangeError(control::StillGoingOn(w.max_trips));
    RICCI_TRY(writer_.BoundTrips(trips.buffer, predicate.buffer, w.max_trips,
                                 transform::AtEquation(too_long, frame.f, eqn, "run"), eqn.location));
  }
  ControlStep(RICCI_STEP_COND, 0, {}, eqn);
  in.assign(consts.begin() + w.n_cond, consts.end());
  in.insert(in.end(), carry.begin(), carry.end());
  RICCI_ASSIGN(const BufferRefs next, NextCarry(*w.body, w.n_body, carry));
  RICCI_TRY(Body(*w.body, in, next));
  RICCI_TRY(CopyAll(*w.body, next, carry, carry.size()));
  ControlStep(RICCI_STEP_END, 0, {}, eqn);
  return CopyAll(*w.body, carry, results, carry.size());
}

// ---- scan ----

absl::Status PlanLowering::Scan(Frame& frame, const ir::Equation& eqn) {
  const control::ScanParts p(eqn);
  RICCI_ASSIGN(const BufferRef counter, writer_.ScalarInArena(RICCI_I64));
  RICCI_ASSIGN(const BufferRef predicate, writer_.ScalarInArena(RICCI_BOOL));
  const KernelBuilder::Slot slot{p.length, p.reverse, counter.buffer};
  RICCI_ASSIGN(BufferRefs results, Results(frame, eqn));
  ScanTrips s{p, {}, {}, {}, counter.buffer};
  RICCI_ASSIGN(s.in, StorageOfAll(frame, eqn.operands.first(p.n_consts)));
  RICCI_ASSIGN(s.carry, StartCarry(frame, eqn.operands.subspan(p.n_consts, p.n_carry), results));
  s.in.insert(s.in.end(), s.carry.begin(), s.carry.end());
  for (size_t i = p.n_consts + p.n_carry; i < eqn.operands.size(); ++i) {
    RICCI_ASSIGN(BufferRef x, Whole(frame, eqn.operands[i]));
    s.in.push_back({x.buffer, slot});
  }
  RICCI_ASSIGN(s.out, NextCarry(*p.body, p.n_consts, s.carry));
  const BufferRefs stacks = Stacks(frame.f, eqn, results, p.n_carry);
  for (const BufferRef& stack : stacks) s.out.push_back({stack.buffer, slot});
  RICCI_TRY(ScanLoop(eqn, s, predicate.buffer));
  RICCI_TRY(CopyAll(*p.body, s.carry, results, p.n_carry));
  for (size_t i = p.n_carry; i < results.size(); ++i) {
    if (results[i].whole()) continue;
    RICCI_TRY(writer_.Copy(frame.f.type_id(eqn.result(static_cast<uint32_t>(i))), stacks[i - p.n_carry], results[i]));
  }
  return absl::OkStatus();
}

// Where trips write their ys: the results if they are whole buffers.
BufferRefs PlanLowering::Stacks(const ir::Program& f, const ir::Equation& eqn, const BufferRefs& results,
                                size_t n_carry) {
  BufferRefs stacks;
  for (size_t i = n_carry; i < results.size(); ++i) {
    const ir::TypeId t = f.type_id(eqn.result(static_cast<uint32_t>(i)));
    stacks.push_back(results[i].whole() ? results[i] : writer_.InArena(t));
  }
  return stacks;
}

// Several trips in each iteration, and the remaining ones after the loop.
absl::Status PlanLowering::ScanLoop(const ir::Equation& eqn, const ScanTrips& s, uint32_t predicate) {
  const int64_t length = s.parts.length;
  const int64_t per = control::TripsPerIteration(*s.parts.body, length, s.parts.unroll);
  const int64_t iterations = length / per;  // exact: neither is negative, and per is 1 or more
  RICCI_TRY(writer_.StartCounter("counter_start", s.counter));
  ControlStep(RICCI_STEP_WHILE, static_cast<uint32_t>(std::min<int64_t>(iterations, UINT32_MAX)), {predicate}, eqn);
  RICCI_TRY(writer_.CompareCounter(s.counter, predicate, iterations * per));
  ControlStep(RICCI_STEP_COND, 0, {}, eqn);
  RICCI_TRY(Trips(s, per));
  ControlStep(RICCI_STEP_END, 0, {}, eqn);
  return Trips(s, length % per);  // exact: as above
}

// `n` trips, one after another, each with its counter. The carry goes from its own buffers to the next ones and back,
// and is in its own at the end.
absl::Status PlanLowering::Trips(const ScanTrips& s, int64_t n) {
  BufferRefs in = s.in, out = s.out;
  const auto begin = in.begin() + static_cast<ptrdiff_t>(s.parts.n_consts);
  const auto end = begin + static_cast<ptrdiff_t>(s.carry.size());
  for (int64_t trip = 0; trip < n; ++trip) {
    RICCI_TRY(Body(*s.parts.body, in, out));
    std::swap_ranges(begin, end, out.begin());
    if (trip + 1 == n) RICCI_TRY(CopyAll(*s.parts.body, {begin, end}, s.carry, s.carry.size()));
    RICCI_TRY(writer_.CountUp(s.counter));
  }
  return absl::OkStatus();
}

// ---- cond ----

absl::Status PlanLowering::Cond(Frame& frame, const ir::Equation& eqn) {
  const auto branches = control::Branches(eqn.attrs);
  RICCI_ASSIGN(BufferRefs results, Results(frame, eqn));
  RICCI_ASSIGN(BufferRef index, Whole(frame, eqn.operands[0]));
  RICCI_ASSIGN(BufferRefs in, StorageOfAll(frame, eqn.operands.subspan(1)));
  ControlStep(RICCI_STEP_CASE, static_cast<uint32_t>(branches.size()), {index.buffer}, eqn);
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i != 0) ControlStep(RICCI_STEP_NEXT, 0, {}, eqn);
    RICCI_TRY(Body(*ir::FromAbi(branches[i]), in, results));
  }
  ControlStep(RICCI_STEP_END, 0, {}, eqn);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
