// scan: a loop of known length that carries values, reads one slice of each x and writes one slice of each y per trip.
//
// The loop to prefer: reverse mode works through it, because the residuals of all trips can be stacked. This file has
// the row, its type and its lowering; scan_rules.cc has the transforms.
#include "control/scan.h"

#include "base/hash_map.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

absl::Status Type(Builder& b, const StructuralOp& h) {
  RICCI_TRY(CheckCounts("scan", h, {"num_consts", "num_carry"}));
  RICCI_TRY(CheckRunIn("scan", h));
  const ScanParts s(h.attrs, h.op.n_in);
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
                                   " and ends as ", ToText(b.types().Get(out[i])));
    }
  }
  for (uint32_t i = s.n_carry; i < out.size(); ++i) {
    RICCI_ASSIGN(out[i], trace::WithDim(b.types(), out[i], 0, s.length));
  }
  return SetOutTypes(b, out);
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

// The loop within a kernel. What changes from trip to trip is kept in private arrays.
class KernelLoop {
 public:
  KernelLoop(ricci_kernel_builder* k, const StructuralOp& h) : k_(k), h_(h), s_(h.attrs, h.op.n_in) {}

  // carry = init; then all trips, `unroll` of them in one iteration; remaining trips follow the loop.
  absl::Status Run() {
    RICCI_TRY(Start());
    const int64_t per = TripsPerIteration(*s_.body, s_.length, s_.unroll), iterations = s_.length / per;
    ricci_sval lo, hi, iteration, first = 0, index;
    RICCI_K(ricci_kernel_const_index(k_, 0, &lo));
    RICCI_K(ricci_kernel_const_index(k_, iterations, &hi));
    RICCI_K(ricci_kernel_for(k_, lo, hi, &iteration));
    RICCI_ASSIGN(first, Scalar(RICCI_S_MUL, iteration, per));
    for (int64_t i = 0; i < per; ++i) {
      RICCI_ASSIGN(index, Scalar(RICCI_S_ADD, first, i));
      RICCI_TRY(Trip(index));
    }
    RICCI_K(ricci_kernel_end(k_));
    for (int64_t i = iterations * per; i < s_.length; ++i) {
      RICCI_K(ricci_kernel_const_index(k_, i, &index));
      RICCI_TRY(Trip(index));
    }
    for (uint32_t i = 0; i < s_.n_carry; ++i) RICCI_K(ricci_kernel_copy(k_, ricci_kernel_result(k_, i), carry_[i]));
    return absl::OkStatus();
  }

 private:
  absl::Status Start() {
    for (uint32_t i = 0; i < s_.n_carry; ++i) {
      ricci_karr a, n;
      RICCI_K(ricci_kernel_private(k_, s_.body->result_types[i], &a));
      RICCI_K(ricci_kernel_private(k_, s_.body->result_types[i], &n));
      RICCI_K(ricci_kernel_copy(k_, a, ricci_kernel_operand(k_, s_.n_consts + i)));
      carry_.push_back(a);
      next_.push_back(n);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ricci_sval> Scalar(uint32_t op, ricci_sval a, int64_t b) {
    ricci_sval in[] = {a, 0}, out;
    RICCI_K(ricci_kernel_const_index(k_, b, &in[1]));
    RICCI_K(ricci_kernel_scalar(k_, op, 0, in, 2, &out));
    return out;
  }

  // body(consts, carry, x[i]) into the next carry and y[i].
  absl::Status Trip(ricci_sval trip) {
    ricci_sval index = trip;
    if (s_.reverse) {
      ricci_sval in[] = {0, trip};
      RICCI_K(ricci_kernel_const_index(k_, s_.length - 1, &in[0]));
      RICCI_K(ricci_kernel_scalar(k_, RICCI_S_SUB, 0, in, 2, &index));
    }
    std::vector<ricci_karr> in(h_.op.n_in);
    for (uint32_t i = 0; i < h_.op.n_in; ++i) {
      in[i] = ricci_kernel_operand(k_, i);
      if (i >= s_.n_consts && i < s_.n_consts + s_.n_carry) in[i] = carry_[i - s_.n_consts];
      if (i >= s_.n_consts + s_.n_carry) RICCI_K(ricci_kernel_view(k_, in[i], 0, index, &in[i]));
    }
    // All of the next carry is computed before any of the old one is overwritten.
    std::vector<ricci_karr> dst = next_;
    for (uint32_t i = 0; i < s_.n_ys; ++i) {
      dst.emplace_back();
      RICCI_K(ricci_kernel_view(k_, ricci_kernel_result(k_, s_.n_carry + i), 0, index, &dst.back()));
    }
    RICCI_K(
        ricci_kernel_inline(k_, ir::Abi(s_.body), in.data(), h_.op.n_in, dst.data(), nullptr, s_.body->n_results()));
    for (uint32_t i = 0; i < s_.n_carry; ++i) RICCI_K(ricci_kernel_copy(k_, carry_[i], next_[i]));
    return absl::OkStatus();
  }

  ricci_kernel_builder* const k_;
  const StructuralOp& h_;
  const ScanParts s_;
  std::vector<ricci_karr> carry_, next_;
};

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h) { return KernelLoop(k, h).Run(); }

// What one copy of `f` costs in code, with the scans in it unrolled as they will be. Every program is visited once.
constexpr int64_t kMostOfOne = 64;          // elements of one value that are computed individually
constexpr int64_t kMostUnrolled = 1 << 14;  // of all copies together

int64_t CodeOf(const Program& f, base::HashMap<const Program*, int64_t>& known) {
  if (const auto it = known.find(&f); it != known.end()) return it->second;
  int64_t sum = 0;
  for (const ir::Equation& eqn : f.equations) {
    for (uint32_t i = 0; i < eqn.n_results; ++i)
      sum += std::clamp<int64_t>(f.type(eqn.result(i)).elements, 1, kMostOfOne);
    const int64_t copies = std::clamp<int64_t>(trace::IntOf(eqn.attrs, "unroll", 1), 1, kMostUnrolled);
    for (const ricci_attr& a : eqn.attrs) {
      for (ricci_program* p : ir::Programs(a)) {
        const int64_t inner = CodeOf(*ir::FromAbi(p), known);
        sum += std::max(inner, std::min(copies * inner, kMostUnrolled));
      }
    }
    sum = std::min(sum, kMostUnrolled);
  }
  return known[&f] = std::max<int64_t>(sum, 1);
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
                                      Spec("reverse", RICCI_ATTR_BOOL, "false"),
                                      Spec("num_consts", RICCI_ATTR_INT),
                                      Spec("num_carry", RICCI_ATTR_INT),
                                      Spec("unroll", RICCI_ATTR_INT, "1"),
                                      Spec("run_in", RICCI_ATTR_STRING, "chosen by estimate")};
constexpr ricci_lowering kLoops = Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

}  // namespace

int64_t TripsPerIteration(const Program& body, int64_t length, int64_t unroll) {
  const int64_t wanted = std::min(unroll, length);
  if (wanted <= 1) return 1;
  base::HashMap<const Program*, int64_t> known;
  return std::clamp<int64_t>(kMostUnrolled / CodeOf(body, known), 1, wanted);
}

absl::StatusOr<Vals> EmitScan(Builder& b, const ScanParts& like, const Program& body, uint32_t n_consts,
                              uint32_t n_carry, std::span<const Val> in) {
  std::vector<ricci_attr> attrs = {trace::IntAttr("length", like.length), trace::BoolAttr("reverse", like.reverse),
                                   trace::IntAttr("num_consts", n_consts), trace::IntAttr("num_carry", n_carry),
                                   trace::IntAttr("unroll", like.unroll)};
  if (!like.run_in.empty()) attrs.push_back(trace::StringAttr("run_in", like.run_in));
  return EmitHolding(b, "scan", body, std::move(attrs), in);
}

constinit const StructuralRow kScanRow = {
    .name = "scan",
    .doc =
        "ys... = scan(xs...): `body` run `length` times on constants, carry and a slice of each "
        "other operand; gives the last carry, then the stacked results",
    .flow = prim::Flow::kScan,
    .flags = RICCI_PRIM_SAVES_INSIDE,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = ScanJvp,
    .transpose = ScanTranspose,
    .batch = ScanBatch,
    .partial_eval = ScanPartialEval,
    .dce = ScanDce,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
