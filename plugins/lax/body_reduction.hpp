// Reductions by a program: checks of the program, how it runs in a kernel, and the reduction as a tree of its batched
// form.
//
// The operands are n arrays and n initial values; `computation` combines two times n scalars to n. As in XLA it is
// associative with the initial values as identity, or else the result depends on the order. Kernels fold one element
// after the other, the initial values first. The tree combines neighbours until one row is left, and the initial values
// with that: an associative computation need not commute. All its steps are equations on arrays, so it has every
// derivative, and its rows may have initial values of their own.
#ifndef RICCI_LAX_BODY_REDUCTION_HPP_
#define RICCI_LAX_BODY_REDUCTION_HPP_
#include <numeric>

#include "factor_text.hpp"
#include "held_program.hpp"
#include "reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline uint32_t CountOfReduced(const Eqn& e) { return e.n_in() / 2; }

// The factors `in` of every operand and `out` of every result; the initial values have none.
inline std::string FactorsOfEach(const Eqn& e, FactorText& text, Dims in, Dims out) {
  const uint32_t n = CountOfReduced(e);
  for (uint32_t i = 0; i < n; ++i) text.AddIn(in);
  for (uint32_t i = 0; i < n; ++i) text.AddIn({});
  for (uint32_t i = 0; i < n; ++i) text.AddOut(out);
  return text.Done();
}

// ---- type ----
inline void CheckScalars(const Eqn& e, std::string_view what, const ricci_type* types, uint32_t count, uint32_t times) {
  const uint32_t n = CountOfReduced(e);
  if (count != n * times) e.Fail("computation ", what, " ", Count(count, "value"), ", not ", n * times);
  for (uint32_t i = 0; i < count; ++i) {
    const ArrayType given(e.context(), types[i]), wanted = e.in(n + i % n);
    if (types[i] != wanted.id()) e.Fail("computation ", what, " ", given, " as value ", i, ", not ", wanted);
  }
}
// Operands in pairs with initial values, and a computation that fits.
inline void CheckBodyReduction(const Eqn& e) {
  const uint32_t n = CountOfReduced(e);
  if (n == 0 || e.n_in() != 2 * n) {
    e.Fail("takes operands and as many initial values, not ", Count(e.n_in(), "operand"));
  }
  for (uint32_t i = 0; i < n; ++i) {
    rules::WantDType(e, i, kAny);
    if (!SameDims(e.in(i).shape(), e.in(0).shape())) {
      e.Fail("operands 0 and ", i, " are ", e.in(0), " and ", e.in(i), "; they must have one shape");
    }
    if (e.in_id(n + i) != e.in(i).WithShape({}).id()) {
      e.Fail("initial value ", i, " is ", e.in(n + i), "; it must be ", e.in(i).WithShape({}));
    }
  }
  uint32_t n_params = 0, n_results = 0;
  const ricci_type *params = nullptr, *results = nullptr;
  ricci_program_signature(e.program("computation"), &n_params, &params, &n_results, &results);
  CheckScalars(e, "takes", params, n_params, 2);
  CheckScalars(e, "gives", results, n_results, 1);
}

// ---- a computation that is one operation ----
// Its name if the computation is that operation on its two parameters (`add`, `max`, ...), else empty.
inline std::string OnlyOperation(const Eqn& e) {
  if (CountOfReduced(e) != 1 || ricci_program_equation_count(e.program("computation")) != 1) return {};
  const ricci_type types[] = {e.in_id(1), e.in_id(1)};
  ricci_builder* scratch = nullptr;
  ricci_val in[2] = {}, out = 0;
  Check(ricci_builder_create(e.context(), nullptr, 0, types, 2, &scratch, in));
  std::string name;
  ricci_prim prim = 0;
  ricci_status* inlined = ricci_builder_inline(scratch, e.program("computation"), in, 2, &out, 1);
  if (inlined == nullptr && ricci_builder_definition(scratch, out, &prim, nullptr, nullptr, nullptr, nullptr) != 0) {
    const ricci_val a = ricci_builder_operand(scratch, out, 0), b = ricci_builder_operand(scratch, out, 1);
    ricci_str text{};
    ricci_prim_name(e.context(), prim, &text);
    if ((a == in[0] && b == in[1]) || (a == in[1] && b == in[0])) name = View(text);
  }
  ricci_builder_abandon(scratch);
  Check(inlined);
  return name;
}

// ---- tree ----
// `f` for `size` rows at once.
inline OwnedProgram OverRows(const OwnedProgram& f, int64_t size) {
  uint32_t n_params = 0, n_results = 0;
  ricci_program_signature(f.handle(), &n_params, nullptr, &n_results, nullptr);
  const std::vector<uint8_t> in(n_params, 1);
  std::vector<uint8_t> out(n_results, 1);
  ricci_program* batched = nullptr;
  Check(ricci_batch(f.handle(), in.data(), n_params, size, nullptr, out.data(), &batched));
  return OwnedProgram(batched);
}
// f(left..., right...): `order[i]` says which of [left..., right...] parameter i is.
inline Values Combined(const OwnedProgram& f, std::span<const uint32_t> order, const Values& left,
                       const Values& right) {
  Values in;
  for (uint32_t i : order) in.push_back(i < left.size() ? left[i] : right[i - left.size()]);
  return Inlined(f.handle(), in, left.size());
}
// `f` for all rows of `left` and `right`, arrays of one shape.
inline Values CombinedRows(const OwnedProgram& f, std::span<const uint32_t> order, const Values& left,
                           const Values& right) {
  const ArrayType type = left[0].type();
  const Shape shape(type.shape().begin(), type.shape().end()), flat{ElementCount(shape)};
  if (flat[0] == 0) return left;
  const auto reshaped = [](Values in, const Shape& to) {
    for (Value& v : in) v = reshape(v, to);
    return in;
  };
  const Values right_rows = reshaped(right, flat), left_rows = reshaped(left, flat);
  return reshaped(Combined(OverRows(f, flat[0]), order, left_rows, right_rows), shape);
}
// `rows`: arrays whose dimension 0 is reduced, in pairs; the last of an odd number waits. `init`: of the shape of the
// result each.
inline Values ReducedTree(const OwnedProgram& f, std::span<const uint32_t> order, Values rows, const Values& init) {
  const auto every_second = [&](int64_t from, int64_t to) {
    Values out;
    for (const Value& v : rows) {
      Shape first(static_cast<size_t>(v.rank()), 0), limit(v.shape().begin(), v.shape().end()), step(first.size(), 1);
      first[0] = from, limit[0] = to, step[0] = 2;
      out.push_back(slice(v, first, limit, step));
    }
    return out;
  };
  int64_t n = rows[0].dim(0);
  if (n == 0) return init;
  for (; n > 1; n = n - n / 2) {
    const int64_t half = n / 2;
    const Values odd = every_second(1, 2 * half), even = every_second(0, 2 * half);
    Values next = CombinedRows(f, order, even, odd);
    for (size_t i = 0; i < rows.size() && n % 2 != 0; ++i) {
      const Value both[] = {next[i], slice_in_dim(rows[i], n - 1, n, 0)};
      next[i] = concatenate(both, 0);
    }
    rows = std::move(next);
  }
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = reshape(rows[i], init[i].shape());
  return CombinedRows(f, order, init, rows);
}

// ---- the tree as rules ----
// `in`: arrays with the reduced dimensions made one, the first, then initial values of the shape of the result each.
inline Values TreeOf(const OwnedProgram& f, const Values& in) {
  const size_t n = in.size() / 2;
  std::vector<uint32_t> order(in.size());
  std::iota(order.begin(), order.end(), 0);
  return ReducedTree(f, order, Values(in.begin(), in.begin() + static_cast<ptrdiff_t>(n)),
                     Values(in.begin() + static_cast<ptrdiff_t>(n), in.end()));
}
// The results, then a tangent for each that has one. `tangents` has those of `in` that have one.
inline Values TreeJvp(const OwnedProgram& f, const Values& in, const Values& tangents) {
  std::vector<uint8_t> active;
  for (const Value& v : in) active.push_back(In(v.dtype(), kInexact));
  ricci_program* jvp = nullptr;
  Check(ricci_jvp(f.handle(), active.data(), static_cast<uint32_t>(active.size()), &jvp));
  const OwnedProgram held(jvp);
  const auto n = static_cast<uint32_t>(in.size() / 2), m = static_cast<uint32_t>(tangents.size() / 2), all = n + m;
  // Parameters of the jvp: left, right, tangents of left, tangents of right; a side is n values and m tangents.
  std::vector<uint32_t> order;
  const auto add = [&](uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) order.push_back(first + i);
  };
  add(0, n), add(all, n), add(n, m), add(all + n, m);
  Values rows(in.begin(), in.begin() + n), init(in.begin() + n, in.end());
  rows.insert(rows.end(), tangents.begin(), tangents.begin() + m);
  init.insert(init.end(), tangents.begin() + m, tangents.end());
  return ReducedTree(held, order, rows, init);
}
// A jvp by it; `arranged(values)` gives operands, or tangents of all operands, as the tree takes them, and `f` may have
// more operands after those of the equation, whose arrays are `more`.
template <typename Arrange>
void JvpByTree(const Eqn& e, Jvp& a, const OwnedProgram& f, Arrange&& arranged, const Values& more = {}) {
  const uint32_t n = CountOfReduced(e);
  Values instantiated, in = arranged(a.primals), tangents;
  for (uint32_t i = 0; i < 2 * n; ++i) {
    const bool has = In(e.in(i).dtype(), kInexact);
    instantiated.push_back(has ? instantiate(a.tangents[i], e.in(i)) : a.primals[i]);
  }
  const Values all = arranged(instantiated);
  for (uint32_t i = 0; i < 2 * n; ++i) {
    if (In(e.in(i).dtype(), kInexact)) tangents.push_back(all[i]);
  }
  for (size_t i = 0; i < more.size() / 2; ++i) in.insert(in.begin() + n + static_cast<ptrdiff_t>(i), more[i]);
  in.insert(in.end(), more.begin() + static_cast<ptrdiff_t>(more.size() / 2), more.end());
  const Values out = TreeJvp(f, in, tangents);
  a.out.assign(out.begin(), out.begin() + n);
  size_t next = n + more.size() / 2;
  for (uint32_t i = 0; i < n; ++i) {
    if (In(e.in(i).dtype(), kInexact)) a.out_tangents[i] = out[next++];
  }
}
inline bool AnyTangent(const Jvp& a) {
  return std::any_of(a.tangents.begin(), a.tangents.end(), [](const Value& t) { return !t.is_zero(); });
}
// Do initial values have a batch?
inline bool OwnInitialValues(const Eqn& e, const Batch& a) {
  return std::any_of(a.in.begin() + CountOfReduced(e), a.in.end(), [](const Batched& x) { return x.is_batched(); });
}
inline OwnedProgram ComputationOf(const Eqn& e) { return OwnedProgram::Share(e.program("computation")); }
// Initial values, each with the batch first, repeated to `shape`.
inline Value InitialRows(const Value& batched, Dims shape) {
  const int64_t first[] = {0};
  return broadcast_in_dim(batched, shape, first);
}

// ---- kernel ----
// The values combined so far.
class Accumulators {
 public:
  Accumulators(KernelBuilder& k, const Eqn& e) : k_(k), e_(e) {
    for (uint32_t i = 0; i < CountOfReduced(e); ++i) {
      const ArrayType scalar = e.in(i).WithShape({});
      now_.push_back(k.Local(scalar).id);
      next_.push_back(k.Local(scalar).id);
      k.Copy(At(now_, i), k.Operand(CountOfReduced(e) + i));
    }
  }
  // Combines the elements at `at` into them.
  void Add(const Index& at) const {
    std::vector<ricci_karr> in = now_;
    for (uint32_t i = 0; i < now_.size(); ++i) {
      KernelArray element = k_.Operand(i);
      for (size_t d = at.size(); d-- > 0;) element = element.View(static_cast<uint32_t>(d), at[d]);
      in.push_back(element.id);
    }
    Check(ricci_kernel_inline(k_.get(), e_.program("computation"), in.data(), static_cast<uint32_t>(in.size()),
                              next_.data(), nullptr, static_cast<uint32_t>(next_.size())));
    for (size_t i = 0; i < now_.size(); ++i) k_.Copy(At(now_, i), At(next_, i));
  }
  void Store(const Index& to) const {
    for (uint32_t i = 0; i < now_.size(); ++i) k_.Result(i).Store(to, At(now_, i).Load({}));
  }

 private:
  KernelArray At(const std::vector<ricci_karr>& list, size_t i) const { return {k_.get(), list[i]}; }
  KernelBuilder& k_;
  const Eqn& e_;
  std::vector<ricci_karr> now_, next_;
};

}}}  // namespace ricci::v0::lax
#endif
