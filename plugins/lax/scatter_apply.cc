// scatter_apply: x with a program applied to its elements at the positions listed in an index array, once for each
// time a position is listed; jax.lax.scatter_apply, x.at[i].apply(f) of jax.numpy.
//
// The program may take and give several scalars, one of each of several arrays of one shape: the program of a
// derivative does. Where and which elements are reached is as in scatter.
//
// Each element goes through the program by itself, so its derivative is a number: that of the program at all the
// elements it passes through, multiplied. This number comes from another scatter_apply, whose program is the jvp and
// whose further arrays are ones, so that there is a derivative of any order and reverse mode, of which jax.lax has
// neither. Where a complex element is concerned, it is two numbers: what becomes of 1 and of i.
#include <array>
#include <complex>

#include "held_program.hpp"
#include "scatter_lowering.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr size_t kOwnAttrs = 2;
constexpr auto kAttrs = [] {
  std::array<AttrSpec, std::size(kScatterAttrs) + kOwnAttrs> out{};
  out[0] = {"computation", AttrKind::kProgram};
  out[1] = {"update_shape", AttrKind::kInts};
  std::copy(std::begin(kScatterAttrs), std::end(kScatterAttrs), out.begin() + kOwnAttrs);
  return out;
}();

// ---- operands: x, indices, then other arrays of the shape of x ----
uint32_t ArrayCount(const Eqn& e) { return e.n_in() - 1; }
uint32_t OperandOf(uint32_t array) { return array == 0 ? 0 : array + 1; }
ArrayType ArrayAt(const Eqn& e, uint32_t array) { return e.in(OperandOf(array)); }

void CheckScalars(const Eqn& e, std::string_view what, const ricci_type* types, uint32_t count) {
  const uint32_t n = ArrayCount(e);
  if (count != n) e.Fail("computation ", what, " ", Count(count, "value"), ", not ", n, ", one for each array");
  for (uint32_t i = 0; i < n; ++i) {
    const ArrayType given(e.context(), types[i]), wanted = ArrayAt(e, i).WithShape({});
    if (given != wanted) e.Fail("computation ", what, " ", given, " as value ", i, ", not ", wanted);
  }
}
ArrayTypes Type(const Eqn& e) {
  if (e.n_in() < 2) e.Fail("takes 2 operands or more (x, indices, xs...), not ", e.n_in());
  ArrayTypes out;
  for (uint32_t i = 0; i < ArrayCount(e); ++i) {
    out.push_back(ArrayAt(e, i));
    if (!SameDims(out[i].shape(), out[0].shape())) {
      e.Fail("operands 0 and ", OperandOf(i), " are ", out[0], " and ", out[i], "; they must have one shape");
    }
  }
  const Dims updates = e.ints("update_shape");
  CheckUpdates(e, WindowDims(e, kScatterNames), updates, Text("update_shape ", updates));
  uint32_t n_params = 0, n_results = 0;
  const ricci_type *params = nullptr, *results = nullptr;
  ricci_program_signature(e.program("computation"), &n_params, &params, &n_results, &results);
  CheckScalars(e, "takes", params, n_params);
  CheckScalars(e, "gives", results, n_results);
  return out;
}

// ---- jvp ----
bool HasTangents(const Eqn& e, uint32_t array) { return In(ArrayAt(e, array).dtype(), kInexact); }

// The same with another program, on arrays that follow those of the equation.
Values ApplyAlso(const Eqn& e, ricci_program* const& computation, const Values& in) {
  std::vector<ricci_attr> attrs(e.attrs().begin(), e.attrs().end());
  for (ricci_attr& a : attrs) {
    if (View(a.name) == "computation") a = Attr("computation", computation);
  }
  const Operands operands(in);
  return Emit(operands.builder, operands.scope, e.op().prim, attrs, operands.ids, static_cast<uint32_t>(in.size()) - 1);
}
// The results, then for each that has a derivative how it changes with array `by`, in the direction `seed` (1 or i).
Values WithSlopes(const Eqn& e, const OwnedProgram& jvp, const Values& primals, uint32_t by,
                  std::complex<double> seed) {
  Values in = primals;
  for (uint32_t i = 0; i < ArrayCount(e); ++i) {
    if (!HasTangents(e, i)) continue;
    const Value& x = primals[OperandOf(i)];
    const Value own = IsComplex(x.dtype()) ? full_like(x, seed) : full_like(x, seed.real());
    in.push_back(i == by ? own : zeros_like(x));
  }
  ricci_program* const program = jvp.handle();
  return ApplyAlso(e, program, in);
}
// Adds the slopes times `tangent`, a real number each, to the tangents of the results.
void AddTerms(const Eqn& e, const Values& with_slopes, const Value& tangent, Jvp& a) {
  uint32_t next = ArrayCount(e);
  for (uint32_t i = 0; i < ArrayCount(e); ++i) {
    if (!HasTangents(e, i)) continue;
    const Value term = mul(with_slopes[next++], convert_element_type(tangent, ArrayAt(e, i).dtype()));
    a.out_tangents[i] = a.out_tangents[i].is_zero() ? term : add(a.out_tangents[i], term);
  }
}
void JvpRule(const Eqn& e, Jvp& a) {
  const uint32_t n = ArrayCount(e);
  std::vector<uint8_t> active;
  for (uint32_t i = 0; i < n; ++i) active.push_back(HasTangents(e, i));
  ricci_program* jvp = nullptr;
  Check(ricci_jvp(e.program("computation"), active.data(), n, &jvp));
  const OwnedProgram held(jvp);
  const auto add_column = [&](uint32_t by, std::complex<double> seed, const Value& tangent) {
    const Values all = WithSlopes(e, held, a.primals, by, seed);
    a.out.assign(all.begin(), all.begin() + n);
    AddTerms(e, all, tangent, a);
  };
  for (uint32_t i = 0; i < n; ++i) {
    const Value& t = a.tangents[OperandOf(i)];
    if (t.is_zero()) continue;
    const bool has_parts = IsComplex(t.dtype());
    add_column(i, 1, has_parts ? real(t) : t);
    if (has_parts) add_column(i, {0, 1}, imag(t));
  }
  if (a.out.empty()) a.out = e.EmitN(a.primals);
}

// ---- batch ----
void BatchRule(const Eqn& e, Batch& a) {
  const BatchedScatter b(e, a.in[1]);
  Values in;
  for (uint32_t i = 0; i < a.in.size(); ++i) in.push_back(i == 1 ? b.indices : rules::BatchFirst(a.in[i], a.size));
  Shape updates(e.ints("update_shape").begin(), e.ints("update_shape").end());
  updates.insert(updates.begin(), a.size);
  const Values out = e.EmitN(in, {{"update_shape", updates},
                                  {"update_window_dims", b.window},
                                  {"inserted_window_dims", b.dropped},
                                  {"scatter_dims_to_operand_dims", b.start_map},
                                  {"operand_batching_dims", b.operand_batch},
                                  {"scatter_indices_batching_dims", b.index_batch}});
  for (uint32_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], 0};
}

// How often an element is reached is not known from a part of the positions.
std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowDims d(e, kScatterNames);
  const WindowFactors f = FactorsOfWindows(text, e, d, WindowSizes(d, e.ints("update_shape")));
  for (int64_t i : rules::Complement(d.index_batch, e.in(1).rank() - 1)) {
    text.MarkWhole(f.indices[static_cast<size_t>(i)]);
  }
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(i == 1 ? f.indices : f.operand);
  for (uint32_t i = 0; i < ArrayCount(e); ++i) text.AddOut(f.operand);
  return text.Done();
}

// ---- lowering ----
// The results, which hold the arrays, changed in place; all elements of a point are loaded before one is stored.
void ApplyInPlace(KernelBuilder& k, const Eqn& e) {
  OverWindows(k, e, e.ints("update_shape"), /*in_order=*/true, [&](const Index& to, const Index&) {
    const uint32_t n = ArrayCount(e);
    std::vector<ricci_karr> in, out(n);
    for (uint32_t i = 0; i < n; ++i) {
      KernelArray element = k.Result(i);
      for (size_t d = to.size(); d-- > 0;) element = element.View(static_cast<uint32_t>(d), to[d]);
      in.push_back(element.id);
    }
    Check(ricci_kernel_inline(k.get(), e.program("computation"), in.data(), n, nullptr, out.data(), n));
    Index given;
    for (ricci_karr id : out) given.push_back(KernelArray{k.get(), id}.Load({}));
    for (uint32_t i = 0; i < n; ++i) k.Result(i).Store(to, given[i]);
  });
}
void CopyThenApply(KernelBuilder& k, const Eqn& e) {
  k.Parallel(e.in(0).shape(), [&](const Index& at) {
    for (uint32_t i = 0; i < ArrayCount(e); ++i) k.Result(i).Store(at, k.Operand(OperandOf(i)).Load(at));
  });
  ApplyInPlace(k, e);
}
bool HasOneArray(const Eqn& e) { return ArrayCount(e) == 1; }
constexpr Lowering kLowerings[] = {
    {.loops = ApplyInPlace, .match = HasOneArray, .flags = RICCI_LOWERING_UPDATES, .priority = 1},
    {.loops = CopyThenApply}};

constexpr Row kRows[] = {
    {.name = "scatter_apply",
     .doc =
         "ys... = scatter_apply(x, indices, xs...): x, and arrays xs of its shape, with `computation` (one scalar of "
         "each -> one for each) applied at the positions in `indices`, to the elements that updates of `update_shape` "
         "would reach, once for each time",
     .attrs = kAttrs,
     .type = Type,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .missing = rules::kNotLinear,
     .examples =
         // Rows, elements, windows and batches, positions out of bounds and repeated; then several arrays.
     "(f64[4,3], i32[5,1] in 0..6) update_shape=[5,3] update_window_dims=[1] inserted_window_dims=[0] "
     "scatter_dims_to_operand_dims=[0] mode=\"clip\" computation=program(%x: f64[]) {\n"
     "  %y: f64[] = sin(%x)\n"
     "  return %y\n"
     "};\n"
     "(f64[3,4], i32[2,3,2] in 0..6) update_shape=[2,3] update_window_dims=[] inserted_window_dims=[0,1] "
     "scatter_dims_to_operand_dims=[0,1] mode=\"fill\" computation=program(%x: f64[]) {\n"
     "  %y: f64[] = square(%x)\n"
     "  return %y\n"
     "};\n"
     "(f64[5,4], i32[3,2] in 0..6) update_shape=[2,3,2] update_window_dims=[0,2] inserted_window_dims=[] "
     "scatter_dims_to_operand_dims=[0,1] mode=\"fill\" computation=program(%x: f64[]) {\n"
     "  %y: f64[] = tanh(%x)\n"
     "  return %y\n"
     "};\n"
     "(f64[3,4,2], i32[2,3,1] in 0..6) update_shape=[2,3,2] update_window_dims=[2] inserted_window_dims=[1] "
     "scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[1] mode=\"fill\" "
     "computation=program(%x: f64[]) {\n"
     "  %y: f64[] = cos(%x)\n"
     "  return %y\n"
     "};\n"
     "(c128[4], i32[3,1] in 0..6) update_shape=[3] update_window_dims=[] inserted_window_dims=[0] "
     "scatter_dims_to_operand_dims=[0] mode=\"fill\" computation=program(%x: c128[]) {\n"
     "  %c: c128[] = conj(%x)\n"
     "  %y: c128[] = mul(%c, %x)\n"
     "  return %y\n"
     "};\n"
     "(f64[4,3], i32[5,1] in 0..6, i32[4,3] in 0..9, f64[4,3]) update_shape=[5,3] update_window_dims=[1] "
     "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\" "
     "computation=program(%a: f64[], %i: i32[], %b: f64[]) {\n"
     "  %y: f64[] = mul(%a, %b)\n"
     "  %s: f64[] = sin(%a)\n"
     "  return %y, %i, %s\n"
     "}"}};

}  // namespace

RowList scatter_apply_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
