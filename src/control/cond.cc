// cond: runs one of several held programs, chosen by an i32 index that is clamped to the number of branches.
//
// A batched index cannot choose for the whole batch: then all branches run and select_n picks one for each element, or,
// if one has an effect, the elements run individually. In lanes (a vmap lowered as a kernel) the branches stay
// branches.
#include "control/cond.h"

namespace ricci { inline namespace v0 { namespace control {

absl::StatusOr<Vals> EmitCond(Builder& b, const Programs& branches, std::span<const Val> in) {
  std::vector<ricci_program*> handles;
  for (const ProgramRef& p : branches) handles.push_back(ir::Abi(p.get()));
  const ricci_attr attrs[] = {trace::ProgramsAttr("branches", handles)};
  return b.Emit("cond", attrs, in);
}

namespace {

absl::Status Type(Builder& b, const StructuralOp& h) {
  const auto branches = Branches(h);
  if (branches.empty()) return absl::InvalidArgumentError("cond: there is no branch");
  if (h.op.n_in == 0) return absl::InvalidArgumentError("cond: operand 0 must be the i32 index of the branch");
  const auto& index = b.types().Get(h.op.in_types[0]);
  if (index.dtype != RICCI_I32 || index.rank() != 0) {
    return base::InvalidArgument("cond: the index is ", ToText(index), ", not i32[]");
  }
  const auto& first = *ir::FromAbi(branches[0]);
  const std::span<const TypeId> results(first.result_types.data(), first.result_types.size());
  for (size_t i = 0; i < branches.size(); ++i) {
    const std::string name = base::Cat("branch ", i);
    RICCI_TRY(CheckParams(b, "cond", name, *ir::FromAbi(branches[i]), h.in_types().subspan(1)));
    RICCI_TRY(CheckResults(b, "cond", name, *ir::FromAbi(branches[i]), results));
  }
  return SetOutTypes(b, results);
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

absl::Status LowerBranch(ricci_kernel_builder* k, const StructuralOp& h, size_t i) {
  std::vector<ricci_karr> in, out;
  for (uint32_t o = 1; o < h.op.n_in; ++o) in.push_back(ricci_kernel_operand(k, o));
  for (uint32_t r = 0; r < h.op.n_out; ++r) out.push_back(ricci_kernel_result(k, r));
  return base::FromAbi(
      ricci_kernel_inline(k, Branches(h)[i], in.data(), h.op.n_in - 1, out.data(), nullptr, h.op.n_out));
}

// Branches `first` to before `last`, by halves: a branch is as deep in the kernel as the logarithm of their number.
absl::Status LowerBranches(ricci_kernel_builder* k, const StructuralOp& h, ricci_sval index, size_t first,
                           size_t last) {
  if (last - first == 1) return LowerBranch(k, h, first);
  const size_t middle = first + (last - first) / 2;
  const auto last_below = static_cast<int32_t>(middle - 1);
  ricci_sval c, below;
  RICCI_K(ricci_kernel_const(k, RICCI_I32, &last_below, &c));
  const ricci_sval pair[] = {index, c};
  RICCI_K(ricci_kernel_scalar(k, RICCI_S_LE, 0, pair, 2, &below));
  RICCI_K(ricci_kernel_if(k, below));
  RICCI_TRY(LowerBranches(k, h, index, first, middle));
  RICCI_K(ricci_kernel_else(k));
  RICCI_TRY(LowerBranches(k, h, index, middle, last));
  RICCI_K(ricci_kernel_end(k));
  return absl::OkStatus();
}

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h) {
  ricci_sval index;
  RICCI_K(ricci_kernel_load(k, ricci_kernel_operand(k, 0), nullptr, 0, &index));
  return LowerBranches(k, h, index, 0, Branches(h).size());
}

constexpr std::string_view kExamples =
    "(i32[] in -1..4, f64[3]) branches=[program(%v: f64[3]) {\n"
    "  %s: f64[3] = sin(%v)\n"
    "  %t: f64[] = reduce_sum(%v) axes=[0]\n"
    "  return %s, %t\n"
    "}, program(%v: f64[3]) {\n"
    "  %s: f64[3] = mul(%v, %v)\n"
    "  %one: f64[] = constant 1.0\n"
    "  return %s, %one\n"
    "}, program(%v: f64[3]) {\n"
    "  %zero: f64[] = constant 0.0\n"
    "  return %v, %zero\n"
    "}]";
constexpr ricci_attr_spec kAttrs[] = {Spec("branches", RICCI_ATTR_PROGRAMS)};
constexpr ricci_lowering kLoops = Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

}  // namespace

constinit const StructuralRow kCondRow = {
    .name = "cond",
    .doc = "ys... = cond(which, xs...): the results of branch number `which` of `branches`, clamped to their range",
    .flow = prim::Flow::kCond,
    .flags = RICCI_PRIM_SAVES_INSIDE,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = CondJvp,
    .transpose = CondTranspose,
    .batch = CondBatch,
    .partial_eval = CondPartialEval,
    .dce = CondDce,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
