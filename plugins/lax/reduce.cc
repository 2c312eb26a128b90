// reduce: the elements along `dimensions` combined by a program, several operands at once (a greatest element and its
// index).
//
// A computation that is one operation with a reduction of its own becomes that reduction, as in jax.lax. Derivatives,
// and batches of initial values, go through a tree of the batched computation; jax.lax refuses tangents and batches of
// initial values, here they have both.
#include "body_reduction.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"computation", AttrKind::kProgram}, {"dimensions", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  CheckBodyReduction(e);
  const Dims dimensions = e.ints("dimensions");
  rules::WantAxes(e, 0, "dimensions", dimensions);
  ArrayTypes out;
  for (uint32_t i = 0; i < CountOfReduced(e); ++i) {
    out.push_back(e.in(i).WithShape(rules::Without(e.in(i).shape(), dimensions)));
  }
  return out;
}

// ---- as a tree ----
// Reduced dimensions first and as one; `axes` are those of `x`.
Value RowsFirst(const Value& x, Dims axes) {
  const Shape kept = rules::Complement(axes, x.rank());
  Shape order(axes.begin(), axes.end()), rows{ElementCount(rules::Pick(x.shape(), axes))};
  order.insert(order.end(), kept.begin(), kept.end());
  for (int64_t d : kept) rows.push_back(x.dim(d));
  return reshape(transpose(x, order), rows);
}
// Operands as the tree takes them.
Values ForTree(const Eqn& e, std::span<const Value> in) {
  const uint32_t n = CountOfReduced(e);
  Values out;
  for (uint32_t i = 0; i < n; ++i) out.push_back(RowsFirst(in[i], e.ints("dimensions")));
  for (uint32_t i = n; i < 2 * n; ++i) out.push_back(broadcast(in[i], e.out().shape()));
  return out;
}
void JvpRule(const Eqn& e, Jvp& a) {
  if (!AnyTangent(a)) {
    a.out = e.EmitN(a.primals);
    return;
  }
  JvpByTree(e, a, ComputationOf(e), [&](const Values& in) { return ForTree(e, in); });
}
// Initial values with a batch: a point of the result has its own.
Values TreeBatch(const Eqn& e, const Batch& a) {
  const uint32_t n = CountOfReduced(e);
  Values in;
  for (uint32_t i = 0; i < n; ++i) {
    in.push_back(RowsFirst(rules::BatchFirst(a.in[i], a.size), rules::Shifted(e.ints("dimensions"), 0)));
  }
  Shape shape(e.out().shape().begin(), e.out().shape().end());
  shape.insert(shape.begin(), a.size);
  for (uint32_t i = n; i < 2 * n; ++i) in.push_back(InitialRows(rules::BatchFirst(a.in[i], a.size), shape));
  return TreeOf(ComputationOf(e), in);
}
void BatchRule(const Eqn& e, Batch& a) {
  const uint32_t n = CountOfReduced(e);
  const bool own = OwnInitialValues(e, a);
  Values in;
  for (uint32_t i = 0; i < 2 * n && !own; ++i) in.push_back(i < n ? rules::BatchFirst(a.in[i], a.size) : a.in[i].value);
  const Values out = own ? TreeBatch(e, a) : e.EmitN(in, {{"dimensions", rules::Shifted(e.ints("dimensions"), 0)}});
  for (uint32_t i = 0; i < n; ++i) a.out[i] = {out[i], 0};
}

// ---- lowering ----
constexpr std::string_view kReductions[][2] = {{"add", "reduce_sum"}, {"mul", "reduce_prod"}, {"max", "reduce_max"},
                                               {"min", "reduce_min"}, {"and", "reduce_and"},  {"or", "reduce_or"},
                                               {"xor", "reduce_xor"}};
// The reduction of its own, or empty.
std::string_view Known(const std::string& operation) {
  for (const auto& [name, reduction] : kReductions) {
    if (name == operation) return reduction;
  }
  return {};
}
bool IsKnown(const Eqn& e) { return !Known(OnlyOperation(e)).empty(); }
Values AsKnown(const Eqn& e, std::span<const Value> in) {
  const std::string operation = OnlyOperation(e);
  const Value all = Emit1(Known(operation), {in[0]}, {{"axes", e.ints("dimensions")}});
  return {Emit1(operation, {broadcast(in[1], e.out().shape()), all})};
}

void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0);
  const Dims axes = e.ints("dimensions");
  const Shape kept = rules::Complement(axes, x.rank());
  k.Parallel(e.out().shape(), [&](const Index& at) {
    const Accumulators all(k, e);
    Index from(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < kept.size(); ++i) from[static_cast<size_t>(kept[i])] = at[i];
    const auto add = [&](const Index& inner) {
      for (size_t i = 0; i < axes.size(); ++i) from[static_cast<size_t>(axes[i])] = inner[i];
      all.Add(from);
    };
    if (x.elements() != 0) LoopBox(k, rules::Pick(x.shape(), axes), add);
    all.Store(at);
  });
}
constexpr Lowering kLowerings[] = {{.decompose = AsKnown, .match = IsKnown, .priority = 1}, {.loops = Loops}};

// How two parts combine is not one of the kinds of factors.
std::string Factors(const Eqn& e) {
  FactorText text;
  Shape in, out;
  for (int64_t d = 0; d < e.in(0).rank(); ++d) {
    const bool reduced = rules::Contains(e.ints("dimensions"), d);
    in.push_back(reduced ? text.Whole() : text.Shared());
    if (!reduced) out.push_back(in.back());
  }
  return FactorsOfEach(e, text, in, out);
}

constexpr Row kRows[] = {
    {.name = "reduce",
     .doc = "ys... = reduce(xs...): operands, then an initial value for each, combined along `dimensions` by the "
            "associative `computation`: two times one scalar for each operand -> one for each",
     .attrs = kAttrs,
     .type = Type,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3,4], f64[]) dimensions=[2,0] computation=program(%a: f64[], %b: f64[]) {\n"
                 "  %s: f64[] = add(%a, %b)\n"
                 "  %p: f64[] = mul(%a, %b)\n"
                 "  %y: f64[] = sub(%s, %p)\n"
                 "  return %y\n"
                 "};\n"
                 "(f64[2,5], f64[]) dimensions=[1] computation=program(%a: f64[], %b: f64[]) {\n"
                 "  %y: f64[] = mul(%a, %b)\n"
                 "  return %y\n"
                 "};\n"
                 "(f64[5,2], i32[5,2], f64[], i32[]) dimensions=[0] computation=program(%a: f64[], %i: i32[], %b: "
                 "f64[], %j: i32[]) {\n"
                 "  %g: bool[] = ge(%a, %b)\n"
                 "  %y: f64[] = select_n(%g, %b, %a)\n"
                 "  %k: i32[] = select_n(%g, %j, %i)\n"
                 "  return %y, %k\n"
                 "}"}};

}  // namespace

RowList reduce_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
