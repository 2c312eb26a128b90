// The parts of structural equations by name: what their attributes hold, and which operands are what.
//
// Rules, transforms of equations and passes read them here, so that the names of attributes and the order of operands
// are stated once for each primitive:
//
//   scan(consts, init, xs) -> (carry, ys)             body(consts, carry, x) -> (carry, y)
//   while(cond_consts, body_consts, init) -> carry    cond(cond_consts, carry) -> bool
//                                                     body(body_consts, carry) -> carry
//   cond(index, operands) -> results                  branches[index](operands) -> results
//   vmap(operands) -> results                         body(slices) -> slices
//
// The equation has passed its rule abstract_eval, which checks the counts. The attributes outlive the view.
#ifndef RICCI_CONTROL_PARTS_H_
#define RICCI_CONTROL_PARTS_H_
#include <algorithm>

#include "trace/attrs.h"
#include "transform/vmap_schedule.h"

namespace ricci { inline namespace v0 { namespace control {

using AttrSpan = std::span<const ricci_attr>;

struct ScanParts {
  ScanParts(AttrSpan attrs, size_t n_in)
      : body(&trace::ProgramOf(attrs, "body")),
        length(trace::IntOf(attrs, "length")),
        reverse(trace::IntOf(attrs, "reverse") != 0),
        unroll(trace::IntOf(attrs, "unroll", 1)),
        n_consts(static_cast<uint32_t>(trace::IntOf(attrs, "num_consts"))),  // exact: checked
        n_carry(static_cast<uint32_t>(trace::IntOf(attrs, "num_carry"))),    // exact: checked
        n_xs(static_cast<uint32_t>(n_in) - n_consts - n_carry),
        n_ys(body->n_results() - std::min(body->n_results(), n_carry)),
        run_in(trace::StringOf(attrs, "run_in")) {}
  explicit ScanParts(const ir::Equation& eqn) : ScanParts(eqn.attrs, eqn.operands.size()) {}

  const ir::Program* body;
  int64_t length;
  bool reverse;
  int64_t unroll;
  uint32_t n_consts, n_carry, n_xs, n_ys;
  std::string_view run_in;
};

struct WhileParts {
  WhileParts(AttrSpan attrs, size_t n_in)
      : cond(&trace::ProgramOf(attrs, "cond")),
        body(&trace::ProgramOf(attrs, "body")),
        n_cond(static_cast<uint32_t>(trace::IntOf(attrs, "cond_nconsts"))),  // exact: checked
        n_body(static_cast<uint32_t>(trace::IntOf(attrs, "body_nconsts"))),  // exact: checked
        n_carry(static_cast<uint32_t>(n_in) - n_cond - n_body),
        max_trips(trace::IntOf(attrs, "max_trips", -1)),
        run_in(trace::StringOf(attrs, "run_in")) {}
  explicit WhileParts(const ir::Equation& eqn) : WhileParts(eqn.attrs, eqn.operands.size()) {}

  const ir::Program *cond, *body;
  uint32_t n_cond, n_body, n_carry;
  int64_t max_trips;  // -1: not stated
  std::string_view run_in;
};

inline std::span<ricci_program* const> Branches(AttrSpan attrs) {
  return ir::Programs(*ir::FindAttr(attrs, "branches"));
}

struct VmapParts {
  explicit VmapParts(AttrSpan attrs)
      : body(&trace::ProgramOf(attrs, "body")),
        size(trace::IntOf(attrs, "size")),
        in_axes(trace::IntsOf(attrs, "in_axes")),
        out_axes(trace::IntsOf(attrs, "out_axes")),
        axis_name(trace::StringOf(attrs, "axis_name")),
        schedule(transform::ScheduleNamed(trace::StringOf(attrs, "schedule")).value_or(transform::Schedule::kAuto)) {}

  const ir::Program* body;
  int64_t size;
  std::span<const int64_t> in_axes, out_axes;  // -1 of an operand: not batched
  std::string_view axis_name;
  transform::Schedule schedule;
};

}}}  // namespace ricci::v0::control
#endif
