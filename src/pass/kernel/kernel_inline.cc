// Inlining programs into kernels: bodies of loops, branches, vmap in lanes, fusions.
//
// Decides for each equation whether it stays an expression, is evaluated element by element, or fills a private array.
// Inside loops and lanes small arrays become one scalar value per element, so that they live in registers.
//
// Where the lanes are spread over a batch, arrays of up to 1.5 times as many elements as there are registers (48 of 32)
// are written out, fewer in large bodies. Where they are not it is up to 8, since then a loop over the elements takes
// the lanes: a scan over f32[64] takes a sixteenth of the time (Limits::written_in_lanes and written_alone of
// target.h).
#include "base/status_abi.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/kernel/operation_cost.h"
#include "pass/kernel/read_accesses.h"
#include "pass/target/choose_lowering.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// The most elements of an array that are written out individually at the top of a kernel, where the domain does the
// work.
constexpr int64_t kMostAtTop = 1;
constexpr int64_t kFewWritten = 8;  // of an array, in bodies so large that they would take long to compile

// The same in lanes, so that the code for `f`, apart from programs that it holds, does not take long to compile.
int64_t MostInLanes(const ir::Program& f, const Limits& limits) {
  const struct {
    int64_t most, total;
  } bounds[] = {{limits.written_in_lanes, 2048}, {std::min<int64_t>(limits.written_in_lanes, 32), 4096}};
  for (const auto& bound : bounds) {
    int64_t total = 0;
    for (const ir::Equation& eqn : f.equations) {
      for (uint32_t i = 0; i < eqn.n_results; ++i) {
        const int64_t n = f.type(eqn.result(i)).elements;
        if (n <= bound.most) total += n;
      }
    }
    if (total <= bound.total) return bound.most;
  }
  return kFewWritten;
}

}  // namespace

// Arrays with up to this many elements are written out individually here; larger ones are a loop.
int64_t KernelBuilder::MostElements() const {
  if (w_.Depth() == 0) return kMostAtTop;
  const Limits& limits = target_.limits;
  return w_.Points() >= limits.fewest_points ? std::max(most_in_lanes_, kFewWritten) : limits.written_alone;
}

absl::StatusOr<KernelBuilder::Uses> KernelBuilder::CountUses(const ir::Program& f) {
  const size_t n = f.values.size();
  Uses uses{std::vector<uint32_t>(n), std::vector<uint8_t>(n, 1), std::vector<uint8_t>(n), std::vector<uint8_t>(n)};
  std::vector<const ricci_lowering*> lowerings;
  for (const ir::Equation& eqn : f.equations) {
    const trace::Op op(f, eqn);
    RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(registry_.Get(eqn.prim), *op.get(), target_, kKernelKinds));
    lowerings.push_back(l);
    // The operands of a barrier are computed once, before it.
    const bool barrier = registry_.Get(eqn.prim).has(RICCI_PRIM_BARRIER);
    const bool pointwise = l != nullptr && l->kind != RICCI_LOWER_LOOPS && !barrier;
    bool looped = l == nullptr || l->kind == RICCI_LOWER_LOOPS;
    for (uint32_t i = 0; i < eqn.n_results; ++i) looped |= f.type(eqn.result(i)).elements > MostElements();
    for (ir::ValueId v : eqn.operands) {
      ++uses.count[v];
      uses.only_pointwise[v] &= pointwise;
      uses.in_loops[v] |= looped;
    }
  }
  for (ir::ValueId r : f.results) ++uses.count[r];
  if (w_.Depth() > 0) ChooseStored(f, lowerings, uses);
  return uses;
}

// Within loops and lanes: expressions that several operations read, or loops, what a decomposition leaves to be
// computed by several, and what views read by many accesses. At the top of a kernel fuse has seen to that.
void KernelBuilder::ChooseStored(const ir::Program& f, std::span<const ricci_lowering* const> lowerings,
                                 Uses& uses) const {
  ReadAccesses read(f);
  OperationCosts costs(registry_, target_);
  for (auto e = static_cast<uint32_t>(f.equations.size()); e-- > 0;) {
    const ir::Equation& eqn = f.equations[e];
    const prim::Row& row = registry_.Get(eqn.prim);
    const ricci_lowering* l = lowerings[e];
    Accesses accesses = read.OfResults(eqn);
    if (row.has(RICCI_PRIM_BARRIER)) {  // its results are its operands
      read.SetComputed(e, /*elementwise=*/true, std::move(accesses));
      continue;
    }
    const bool loops = l != nullptr && l->kind == RICCI_LOWER_LOOPS;
    const bool elementwise = l != nullptr && l->kind == RICCI_LOWER_SCALAR;
    const bool view = l != nullptr && l->kind == RICCI_LOWER_INDEX && !row.has(RICCI_PRIM_TRANSCENDENTAL);
    bool stored = loops;
    for (uint32_t i = 0; i < eqn.n_results && !loops; ++i) {
      const ir::ValueId v = eqn.result(i);
      const bool written_out = f.type(v).elements <= MostElements();
      const bool again = !view && (uses.count[v] > 1 || !uses.only_pointwise[v]);
      const int64_t cost = l == nullptr ? kMostCost : view || accesses.size() < 2 ? 1 : costs.Of(f, eqn);
      uses.stored[v] =
          !written_out && (again || !MayRepeatAt(accesses.size(), view, cost, target_.limits.cheap_to_repeat));
      stored |= written_out || uses.stored[v];
    }
    if (l == nullptr) {
      read.SetDecomposed(e);
    } else if (stored) {
      read.SetStored(e, elementwise);
    } else {
      read.SetComputed(e, elementwise, std::move(accesses));
    }
  }
}

absl::Status KernelBuilder::Inline(const ir::Program& f, std::span<const ArrayId> in, std::span<const ArrayId> dst,
                                   std::span<ArrayId> out) {
  const int64_t around = std::exchange(most_in_lanes_, MostInLanes(f, target_.limits));
  const absl::Status status = InlineBody(f, in, dst, out);
  most_in_lanes_ = around;
  return status;
}

absl::Status KernelBuilder::InlineBody(const ir::Program& f, std::span<const ArrayId> in, std::span<const ArrayId> dst,
                                       std::span<ArrayId> out) {
  if (in.size() != f.n_params()) {
    return base::InvalidArgument("kernel: program ", f.name, " takes ", base::Count(f.n_params(), "argument"), ", not ",
                                 in.size());
  }
  std::vector<ArrayId> env(f.values.size(), 0), dst_of(f.values.size(), 0);
  for (uint32_t i = 0; i < in.size(); ++i) {
    if (!Has(in[i]) || type_id(in[i]) != f.param_types[i]) {
      return base::InvalidArgument("kernel: argument ", i, " of program ", f.name, " is ",
                                   Has(in[i]) ? ToText(type(in[i])) : std::string("nothing"), ", not ",
                                   ToText(f.type(i)));
    }
    env[i] = in[i];
  }
  for (uint32_t i = 0; i < dst.size(); ++i) {
    if (Has(dst[i]) && IsStorage(dst[i]) && type_id(dst[i]) == f.result_types[i]) continue;
    return base::InvalidArgument("kernel: result ", i, " of program ", f.name, " goes to ",
                                 !Has(dst[i])         ? std::string("nothing")
                                 : !IsStorage(dst[i]) ? std::string("an array that cannot be stored to")
                                                      : ToText(type(dst[i])),
                                 ", not ", ToText(f.type(f.results[i])));
  }
  for (const ir::Constant& c : f.constants) env[c.value] = AddLiteral(f.type_id(c.value), c);
  for (size_t i = 0; i < dst.size(); ++i) {
    if (f.definition(f.results[i]) != nullptr && dst_of[f.results[i]] == 0) dst_of[f.results[i]] = dst[i];
  }
  RICCI_ASSIGN(Uses uses, CountUses(f));
  for (const ir::Equation& eqn : f.equations) RICCI_TRY(InlineEquation(f, eqn, uses, dst_of, env));
  std::vector<ArrayId> to, from;
  for (size_t i = 0; i < dst.size(); ++i) {
    const ArrayId result = env[f.results[i]];
    if (result == dst[i]) continue;  // filled in place
    to.push_back(dst[i]);
    from.push_back(result);
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = env[f.results[i]];
  return CopyGroup(to, from);
}

absl::Status KernelBuilder::InlineEquation(const ir::Program& f, const ir::Equation& eqn, const Uses& uses,
                                           std::span<const ArrayId> dst_of, std::vector<ArrayId>& env) {
  const trace::Op op(f, eqn);
  const prim::Row& row = registry_.Get(eqn.prim);
  std::vector<ArrayId> operands;
  for (ir::ValueId v : eqn.operands) operands.push_back(env[v]);
  if (row.has(RICCI_PRIM_BARRIER)) {
    std::copy(operands.begin(), operands.end(), env.begin() + eqn.first_result);
    return absl::OkStatus();
  }
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), target_, kKernelKinds));
  if (l == nullptr) {
    RICCI_ASSIGN(l, ChooseLowering(row, *op.get(), target_, 1u << RICCI_LOWER_DECOMPOSE));
    if (l == nullptr) {
      return transform::AtEquation(
          NoLowering(registry_, *op.get(), target_, kKernelKinds | 1u << RICCI_LOWER_DECOMPOSE), f, eqn, "lower");
    }
    auto body = transform::Decompose(registry_, *op.get(), *l, 0);
    if (!body.ok()) return transform::AtEquation(body.status(), f, eqn, "lower");
    decomposed_.push_back(*body);
    RICCI_TRY(Inline(**body, operands, {}, std::span<ArrayId>(env).subspan(eqn.first_result, eqn.n_results)));
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      ArrayId& result = env[eqn.result(i)];
      if (!uses.stored[eqn.result(i)] || IsStorage(result)) continue;
      RICCI_ASSIGN(result, Evaluate(result, /*to_private=*/true));
    }
    return absl::OkStatus();
  }
  if (l->kind == RICCI_LOWER_LOOPS) {
    std::vector<ArrayId> results;
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      results.push_back(dst_of[eqn.result(i)]);
      if (results[i] == 0) {
        RICCI_ASSIGN(results[i], Private(f.type_id(eqn.result(i))));
      }
    }
    if (IsUpdate(*l)) {
      RICCI_TRY(Copy(results[0], operands[0]));
      operands[0] = results[0];
    }
    RICCI_ASSIGN(results, RunLoops(f, eqn, *l, std::move(operands), results));
    std::copy(results.begin(), results.end(), env.begin() + eqn.first_result);
    return absl::OkStatus();
  }
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    const ir::ValueId v = eqn.result(i);
    if (uses.count[v] == 0) continue;
    env[v] = AddLazy(f.type_id(v), {&f, &eqn, l, operands, i});
    const int64_t elements = f.type(v).elements;
    if (elements <= MostElements()) {
      RICCI_ASSIGN(env[v], Evaluate(env[v], /*to_private=*/false));
      // The array is filled here, once: a loop that reads it would fill it in every trip. If nothing reads it, it is
      // dropped.
      if (elements > 1 && uses.in_loops[v]) RICCI_TRY(Spill(env[v]));
    } else if (uses.stored[v]) {
      RICCI_ASSIGN(env[v], Evaluate(env[v], /*to_private=*/true));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ArrayId> KernelBuilder::Evaluate(ArrayId lazy, bool to_private) {
  if (to_private) {
    RICCI_ASSIGN(ArrayId stored, Private(type_id(lazy)));
    RICCI_TRY(Copy(stored, lazy));
    return stored;
  }
  Elements elements;
  const int64_t n = type(lazy).elements;
  const std::vector<int64_t> shape(type(lazy).shape.begin(), type(lazy).shape.end());
  for (int64_t i = 0; i < n; ++i) {
    Index index;
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      index.at.insert(index.at.begin(), w_.Index(rest % shape[d]));
    RICCI_ASSIGN(Val v, LoadIndex(lazy, index));
    elements.values.push_back(v);
  }
  return Add({type_id(lazy), std::move(elements)});
}

}}}  // namespace ricci::v0::pass
