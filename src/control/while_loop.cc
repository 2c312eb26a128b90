// while: repeats a held program as long as another one, the condition, gives true.
//
// Forward mode carries the tangents along. Reverse mode needs a bound: with `max_trips` stated, the loop is
// differentiated as a scan of that length whose trips do nothing once the condition fails. A loop that needs more trips
// than stated ends at the bound, and the run fails with OUT_OF_RANGE, differentiated or not: its values pass through
// `check`, which derivatives carry along. This file has the row, its type and its lowering; while_rules.cc has the
// transforms.
#include "control/while_loop.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

absl::Status Type(Builder& b, const StructuralOp& h) {
  RICCI_TRY(CheckCounts("while", h, {"cond_nconsts", "body_nconsts"}));
  RICCI_TRY(CheckRunIn("while", h));
  const WhileParts w(h.attrs, h.op.n_in);
  if (ir::FindAttr(h.attrs, "max_trips") != nullptr && w.max_trips < 0) {
    return base::InvalidArgument("while: max_trips ", w.max_trips, " must not be negative");
  }
  const auto in = h.in_types();
  const auto carry = in.subspan(w.n_cond + w.n_body);
  std::vector<TypeId> cond_params(in.begin(), in.begin() + w.n_cond);
  cond_params.insert(cond_params.end(), carry.begin(), carry.end());
  RICCI_TRY(CheckParams(b, "while", "cond", *w.cond, cond_params));
  RICCI_ASSIGN(TypeId predicate, b.types().Intern(RICCI_BOOL, {}));
  RICCI_TRY(CheckResults(b, "while", "cond", *w.cond, {&predicate, 1}));
  RICCI_TRY(CheckParams(b, "while", "body", *w.body, in.subspan(w.n_cond)));
  RICCI_TRY(CheckResults(b, "while", "body", *w.body, carry));
  return SetOutTypes(b, carry);
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

// Counts trips in a private array and sets `go_on` to false at the bound.
class TripBound {
 public:
  TripBound(ricci_kernel_builder* k, int64_t max_trips) : k_(k), max_trips_(max_trips) {}

  absl::Status Start(ricci_type i64) {
    if (max_trips_ < 0) return absl::OkStatus();
    ricci_sval zero;
    RICCI_K(ricci_kernel_private(k_, i64, &trips_));
    RICCI_K(ricci_kernel_const_index(k_, 0, &zero));
    RICCI_K(ricci_kernel_store(k_, trips_, nullptr, 0, zero));
    return absl::OkStatus();
  }
  absl::Status Apply(ricci_sval* go_on) {
    if (max_trips_ < 0) return absl::OkStatus();
    ricci_sval now, bound, within, off, fine, one, next;
    RICCI_K(ricci_kernel_load(k_, trips_, nullptr, 0, &now));
    RICCI_K(ricci_kernel_const_index(k_, max_trips_, &bound));
    RICCI_TRY(Scalar(RICCI_S_LT, {now, bound}, &within));
    RICCI_TRY(Scalar(RICCI_S_NOT, {*go_on}, &off));
    RICCI_TRY(Scalar(RICCI_S_OR, {within, off}, &fine));
    const std::string message = StillGoingOn(max_trips_);
    RICCI_K(ricci_kernel_check(k_, fine, RICCI_OUT_OF_RANGE, message.data(), message.size()));
    RICCI_TRY(Scalar(RICCI_S_AND, {*go_on, within}, go_on));
    RICCI_K(ricci_kernel_const_index(k_, 1, &one));
    RICCI_TRY(Scalar(RICCI_S_ADD, {now, one}, &next));
    RICCI_K(ricci_kernel_store(k_, trips_, nullptr, 0, next));
    return absl::OkStatus();
  }

 private:
  absl::Status Scalar(uint32_t op, std::vector<ricci_sval> in, ricci_sval* out) {
    return base::FromAbi(ricci_kernel_scalar(k_, op, 0, in.data(), static_cast<uint32_t>(in.size()), out));
  }

  ricci_kernel_builder* const k_;
  const int64_t max_trips_;
  ricci_karr trips_ = 0;
};

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h) {
  const WhileParts w(h.attrs, h.op.n_in);
  std::vector<ricci_karr> cond_in, body_in, carry, next;
  for (uint32_t i = 0; i < w.n_cond; ++i) cond_in.push_back(ricci_kernel_operand(k, i));
  for (uint32_t i = 0; i < w.n_body; ++i) body_in.push_back(ricci_kernel_operand(k, w.n_cond + i));
  for (uint32_t i = 0; i < w.n_carry; ++i) {
    ricci_karr a, n;
    RICCI_K(ricci_kernel_private(k, h.op.out_types[i], &a));
    RICCI_K(ricci_kernel_private(k, h.op.out_types[i], &n));
    RICCI_K(ricci_kernel_copy(k, a, ricci_kernel_operand(k, w.n_cond + w.n_body + i)));
    carry.push_back(a);
    next.push_back(n);
  }
  cond_in.insert(cond_in.end(), carry.begin(), carry.end());
  body_in.insert(body_in.end(), carry.begin(), carry.end());
  TripBound bound(k, w.max_trips);
  RICCI_ASSIGN(TypeId i64, w.cond->vocabulary()->types.Intern(RICCI_I64, {}));
  RICCI_TRY(bound.Start(i64));
  RICCI_K(ricci_kernel_while(k));
  ricci_karr predicate;
  ricci_sval go_on;
  RICCI_K(ricci_kernel_inline(k, ir::Abi(w.cond), cond_in.data(), static_cast<uint32_t>(cond_in.size()), nullptr,
                              &predicate, 1));
  RICCI_K(ricci_kernel_load(k, predicate, nullptr, 0, &go_on));
  RICCI_TRY(bound.Apply(&go_on));
  RICCI_K(ricci_kernel_cond(k, go_on));
  // All of the next carry is computed before any of the old one is overwritten.
  RICCI_K(ricci_kernel_inline(k, ir::Abi(w.body), body_in.data(), static_cast<uint32_t>(body_in.size()), next.data(),
                              nullptr, w.n_carry));
  for (uint32_t i = 0; i < w.n_carry; ++i) RICCI_K(ricci_kernel_copy(k, carry[i], next[i]));
  RICCI_K(ricci_kernel_end(k));
  for (uint32_t i = 0; i < w.n_carry; ++i) RICCI_K(ricci_kernel_copy(k, ricci_kernel_result(k, i), carry[i]));
  return absl::OkStatus();
}

constexpr std::string_view kExamples =
    "(f64[], i32[] in 0..4, f64[]) cond_nconsts=0 body_nconsts=1 max_trips=5 cond=program(%n: i32[], %y: f64[]) {\n"
    "  %zero: i32[] = constant 0\n"
    "  %p: bool[] = gt(%n, %zero)\n"
    "  return %p\n"
    "} body=program(%x: f64[], %n: i32[], %y: f64[]) {\n"
    "  %one: i32[] = constant 1\n"
    "  %m: i32[] = sub(%n, %one)\n"
    "  %s: f64[] = sin(%y)\n"
    "  %z: f64[] = add(%s, %x)\n"
    "  return %m, %z\n"
    "};\n"
    "order=0 (f64[], i32[] in 0..4, f64[]) cond_nconsts=0 body_nconsts=1 cond=program(%n: i32[], %y: f64[]) {\n"
    "  %zero: i32[] = constant 0\n"
    "  %p: bool[] = gt(%n, %zero)\n"
    "  return %p\n"
    "} body=program(%x: f64[], %n: i32[], %y: f64[]) {\n"
    "  %one: i32[] = constant 1\n"
    "  %m: i32[] = sub(%n, %one)\n"
    "  %s: f64[] = sin(%y)\n"
    "  %z: f64[] = add(%s, %x)\n"
    "  return %m, %z\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("cond", RICCI_ATTR_PROGRAM),
                                      Spec("body", RICCI_ATTR_PROGRAM),
                                      Spec("cond_nconsts", RICCI_ATTR_INT),
                                      Spec("body_nconsts", RICCI_ATTR_INT),
                                      Spec("max_trips", RICCI_ATTR_INT, "no bound"),
                                      Spec("run_in", RICCI_ATTR_STRING, "chosen by estimate")};
constexpr ricci_lowering kLoops = Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

}  // namespace

std::string StillGoingOn(int64_t max_trips) {
  return base::Cat("while: the condition still holds after ", max_trips,
                   " trips, the given bound; raise max_trips, or end the loop earlier");
}

absl::StatusOr<Vals> EmitWhile(Builder& b, const WhileParts& like, const Program& cond, const Program& body,
                               uint32_t n_cond, uint32_t n_body, std::span<const Val> in) {
  ricci_program *cond_slot, *body_slot;
  std::vector<ricci_attr> attrs = {trace::ProgramAttr("cond", cond, cond_slot),
                                   trace::ProgramAttr("body", body, body_slot), trace::IntAttr("cond_nconsts", n_cond),
                                   trace::IntAttr("body_nconsts", n_body)};
  if (like.max_trips >= 0) attrs.push_back(trace::IntAttr("max_trips", like.max_trips));
  if (!like.run_in.empty()) attrs.push_back(trace::StringAttr("run_in", like.run_in));
  return b.Emit("while", attrs, in);
}

constinit const StructuralRow kWhileRow = {
    .name = "while",
    .doc =
        "ys... = while(xs...): `body` run while `cond` holds, on constants of `cond`, constants of "
        "`body` and the carry; gives the last carry",
    .flow = prim::Flow::kWhile,
    .flags = RICCI_PRIM_MAY_FAIL,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = WhileJvp,
    .batch = WhileBatch,
    .partial_eval = WhilePartialEval,
    .dce = WhileDce,
    .missing = "transpose: the number of trips is not known; state a bound with max_trips, or use scan",
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
