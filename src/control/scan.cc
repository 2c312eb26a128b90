// scan: a loop of known length that carries values, reads one slice of each x and writes one slice of each y per trip.
//
// The loop of choice: reverse mode works through it, because the residuals of all trips can be stacked. This file has
// the row, its type and its lowering; scan_rules.cc has the transforms.
#include "control/scan.h"

namespace ricci::inline v0::control {
namespace {

absl::Status Type(Builder& b, const Held& h) {
  RICCI_TRY(CheckCounts("scan", h, {"num_consts", "num_carry"}));
  const ScanParts s(h);
  if (s.length < 0) return base::InvalidArgument("scan: length ", s.length, " is negative");
  if (s.unroll < 1) return base::InvalidArgument("scan: unroll ", s.unroll, " must be positive");
  if (s.n_carry > s.body->n_results()) {
    return base::InvalidArgument("scan: num_consts ", s.n_consts, " and num_carry ", s.n_carry, " do not fit ",
                                 base::Count(h.op.n_in, "operand"), " and ", base::Count(s.body->n_results(), "result"),
                                 " of body");
  }
  std::vector<TypeId> params(h.in_types().begin(), h.in_types().end());
  for (uint32_t i = s.n_consts + s.n_carry; i < h.op.n_in; ++i) {
    const auto& x = b.types().Get(params[i]);
    if (x.rank() == 0 || x.shape[0] != s.length) {
      return base::InvalidArgument("scan: operand ", i, " is ", ToText(x), "; its first dimension must be the length ",
                                   s.length);
    }
    RICCI_ASSIGN(params[i], trace::WithoutDim(b.types(), params[i], 0));
  }
  RICCI_TRY(CheckParams(b, "scan", "body", *s.body, params));
  std::vector<TypeId> out(s.body->result_types.begin(), s.body->result_types.end());
  for (uint32_t i = 0; i < s.n_carry; ++i) {
    if (out[i] != params[s.n_consts + i]) {
      return base::InvalidArgument("scan: carry ", i, " enters as ", ToText(b.types().Get(params[s.n_consts + i])),
                                   " and leaves as ", ToText(b.types().Get(out[i])));
    }
  }
  for (uint32_t i = s.n_carry; i < out.size(); ++i) {
    RICCI_ASSIGN(out[i], trace::WithDim(b.types(), out[i], 0, s.length));
  }
  return SetOutTypes(b, out);
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

// carry = init; for each trip: body(consts, carry, x[i]) into the next carry and y[i].
absl::Status Lower(ricci_kernel_builder* k, const Held& h) {
  const ScanParts s(h);
  std::vector<ricci_karr> carry, in(h.op.n_in), next;
  for (uint32_t i = 0; i < s.n_carry; ++i) {
    ricci_karr a, n;
    RICCI_K(ricci_kernel_private(k, s.body->result_types[i], &a));
    RICCI_K(ricci_kernel_private(k, s.body->result_types[i], &n));
    RICCI_K(ricci_kernel_copy(k, a, ricci_kernel_operand(k, s.n_consts + i)));
    carry.push_back(a);
    next.push_back(n);
  }
  ricci_sval lo, hi, trip, index;
  RICCI_K(ricci_kernel_const_index(k, 0, &lo));
  RICCI_K(ricci_kernel_const_index(k, s.length, &hi));
  RICCI_K(ricci_kernel_for(k, lo, hi, &trip));
  index = trip;
  if (s.reverse) {
    ricci_sval last;
    RICCI_K(ricci_kernel_const_index(k, s.length - 1, &last));
    const ricci_sval pair[] = {last, trip};
    RICCI_K(ricci_kernel_scalar(k, RICCI_S_SUB, 0, pair, 2, &index));
  }
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    in[i] = ricci_kernel_operand(k, i);
    if (i >= s.n_consts && i < s.n_consts + s.n_carry) in[i] = carry[i - s.n_consts];
    if (i >= s.n_consts + s.n_carry) RICCI_K(ricci_kernel_view(k, in[i], 0, index, &in[i]));
  }
  // All of the next carry is computed before any of the old one is overwritten.
  std::vector<ricci_karr> dst = next;
  for (uint32_t i = 0; i < s.n_ys; ++i) {
    dst.emplace_back();
    RICCI_K(ricci_kernel_view(k, ricci_kernel_result(k, s.n_carry + i), 0, index, &dst.back()));
  }
  RICCI_K(ricci_kernel_inline(k, ir::Abi(s.body), in.data(), h.op.n_in, dst.data(), nullptr, s.body->n_results()));
  for (uint32_t i = 0; i < s.n_carry; ++i) RICCI_K(ricci_kernel_copy(k, carry[i], next[i]));
  RICCI_K(ricci_kernel_end(k));
  for (uint32_t i = 0; i < s.n_carry; ++i) RICCI_K(ricci_kernel_copy(k, ricci_kernel_result(k, i), carry[i]));
  return absl::OkStatus();
}

constexpr std::string_view kExamples =
    "(f64[], f64[2], f64[4]) length=4 reverse=false num_consts=1 num_carry=1 body=program(%c: f64[], %s: f64[2], %x: "
    "f64[]) {\n"
    "  %p: f64[] = mul(%c, %x)\n"
    "  %b: f64[2] = broadcast_in_dim(%p) shape=[2] broadcast_dimensions=[]\n"
    "  %q: f64[2] = sin(%s)\n"
    "  %t: f64[2] = add(%q, %b)\n"
    "  %r: f64[] = reduce_sum(%s) axes=[0]\n"
    "  return %t, %r\n"
    "};\n"
    "(f64[], f64[2], f64[4]) length=4 reverse=true unroll=2 num_consts=1 num_carry=1 body=program(%c: f64[], %s: "
    "f64[2], %x: f64[]) {\n"
    "  %p: f64[] = mul(%c, %x)\n"
    "  %b: f64[2] = broadcast_in_dim(%p) shape=[2] broadcast_dimensions=[]\n"
    "  %q: f64[2] = sin(%s)\n"
    "  %t: f64[2] = add(%q, %b)\n"
    "  %r: f64[] = reduce_sum(%s) axes=[0]\n"
    "  return %t, %r\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("body", RICCI_ATTR_PROGRAM),
                                      Spec("length", RICCI_ATTR_INT),
                                      Spec("reverse", RICCI_ATTR_BOOL, RICCI_ATTR_OPTIONAL),
                                      Spec("num_consts", RICCI_ATTR_INT),
                                      Spec("num_carry", RICCI_ATTR_INT),
                                      Spec("unroll", RICCI_ATTR_INT, RICCI_ATTR_OPTIONAL)};
constexpr ricci_lowering kLoops = Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

}  // namespace

absl::StatusOr<Vals> EmitScan(Builder& b, const ScanParts& like, const Program& body, uint32_t n_consts,
                              uint32_t n_carry, std::span<const Val> in) {
  return EmitHolding(b, "scan", body,
                     {trace::IntAttr("length", like.length), trace::BoolAttr("reverse", like.reverse),
                      trace::IntAttr("num_consts", n_consts), trace::IntAttr("num_carry", n_carry),
                      trace::IntAttr("unroll", like.unroll)},
                     in);
}

absl::Status RegisterScan(prim::Registry& r) {
  ricci_prim_def d = Define("scan", kAttrs, kLowerings);
  d.abstract_eval = TypeThunk<Type>;
  d.jvp = RuleThunk<ScanJvp, ricci_jvp_args>;
  d.transpose = RuleThunk<ScanTranspose, ricci_transpose_args>;
  d.batch = RuleThunk<ScanBatch, ricci_batch_args>;
  d.partial_eval = PartialEvalThunk<ScanPartialEval>;
  d.dce = DceThunk<ScanDce>;
  d.examples = Str(kExamples);
  return r.Add(d, prim::Flow::kScan).status();
}

}  // namespace ricci::inline v0::control
