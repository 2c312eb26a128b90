// Control flow: bodies are drafts of their own, whose parameters come from values of the program around them.
//
// In a program drawn deep each body holds another one, down to the last level, so bodies and trip counts are small. A
// large program is a vmap over scalars and short arrays, whose loops follow one another. Loops are short. A carry of
// floats usually passes through sin or tanh, so that it stays finite.
#include "fuzz/generators.h"
#include "fuzz/host_calls.h"
#include "ir/walk.h"

namespace ricci::testing {
namespace {

using Owned = std::shared_ptr<ricci_program>;

std::vector<ArrayType> TypesOf(const Values& in) {
  std::vector<ArrayType> out;
  for (const Value& v : in) out.push_back(v.type());
  return out;
}
int64_t MostElements(const Draft& d) { return d.palette().deep ? 16 : 256; }
// Up to `n` operands that bodies can work with.
Values SomeValues(Draft& d, int64_t n) {
  Values in;
  const int64_t most = MostElements(d);
  for (int64_t i = 0; i < n; ++i) {
    const Value v = d.Find(kAny, [&](const ArrayType& t) { return t.elements() <= most; });
    in.push_back(v.is_none() ? d.Fresh(d.Type(d.SomeDType(kNumbers), d.SomeShape(1))) : v);
  }
  return in;
}
Values SomeResults(Draft& body, int64_t n) {
  Values out = body.SomeKept(2);
  for (int64_t i = 0; i < n; ++i) {
    const Value v = body.Find(kAny, {});
    if (!v.is_none()) out.push_back(v);
  }
  if (out.empty()) out.push_back(body.Constant(body.Type(DType::kF32, {})));
  return out;
}
void GrowBody(Draft& body, int64_t times = 1) {
  const bool nests = body.palette().deep && body.nesting() < body.palette().max_nesting && body.dice().Chance(0.9);
  if (nests) EmitNested(body);
  body.Grow(body.palette().deep ? body.dice().Between(1, 2) : times * body.dice().Between(1, 5));
}
Owned SomeBody(Draft& d, const std::vector<ArrayType>& params) {
  Draft body(d, params);
  GrowBody(body);
  return body.Finish(SomeResults(body, d.dice().Between(1, 2)));
}

void Call(Draft& d) {
  const Values in = SomeValues(d, d.dice().Between(1, 3));
  const Owned body = SomeBody(d, TypesOf(in));
  ricci_program* p = body.get();
  d.Emit("call", in, {{"body", p}, {"name", "g"}});
}
void Checkpoint(Draft& d) {
  const Values in = SomeValues(d, d.dice().Between(1, 3));
  Draft draft(d, TypesOf(in));
  // Policies decide on what held programs compute: loops and branches, between operations that need their results.
  if (draft.nesting() < draft.palette().max_nesting && d.dice().Chance(0.4)) {
    EmitNested(draft);
    d.Count("checkpoint made to hold what holds a program");
  }
  GrowBody(draft);
  const Owned body = draft.Finish(SomeResults(draft, d.dice().Between(1, 2)));
  ricci_program* p = body.get();
  constexpr const char* kPolicies[] = {"nothing", "dots", "everything", "names:a", "dots|names_but:a"};
  d.Emit("checkpoint", in, {{"body", p}, {"policy", d.dice().Pick(kPolicies)}, {"prevent_cse", d.dice().Chance(0.7)}});
}

void Cond(Draft& d) {
  Values in = SomeValues(d, d.dice().Between(1, 3));
  const std::vector<ArrayType> params = TypesOf(in);
  std::vector<Owned> branches;
  std::vector<ArrayType> results;
  const int64_t n_branches = d.dice().Between(1, 3);
  for (int64_t i = 0; i < n_branches; ++i) {
    Draft body(d, params);
    GrowBody(body);
    Values out;
    for (const ArrayType& t : results) out.push_back(body.Produce(t));
    if (i == 0) results = TypesOf(out = SomeResults(body, d.dice().Between(1, 2)));
    branches.push_back(body.Finish(out));
  }
  std::vector<ricci_program*> list;
  for (const Owned& p : branches) list.push_back(p.get());
  in.insert(in.begin(), d.Of(DType::kI32, {}));
  d.Emit("cond", in, {{"branches", std::span<ricci_program* const>(list)}});
}

// Sometimes states where a loop runs, whatever the estimates. No kernel can call the host.
void SometimesRunIn(Draft& d, std::initializer_list<const ricci_program*> held, std::vector<ricci_attr>& attrs) {
  if (!d.dice().Chance(0.2)) return;
  const bool in_kernel = d.dice().Chance(0.5) && std::none_of(held.begin(), held.end(), CallsHost);
  attrs.push_back(Attr("run_in", in_kernel ? "kernel" : "plan"));
  d.Count("loop with run_in");
}

// A branch around what may fail cannot be batched.
bool MayFail(const ricci_program* p) {
  for (const ir::Program* f : ir::NestedFirst(*ir::FromAbi(p))) {
    for (const ir::Equation& eqn : f->equations) {
      if (f->vocabulary()->PrimName(eqn.prim) == "check" || ir::FindAttr(eqn.attrs, "max_trips") != nullptr)
        return true;
    }
  }
  return false;
}

// Sometimes states how a vmap runs, whatever the estimates; what has a batching rule of the host never runs in lanes.
void SomeSchedule(Draft& d, const ricci_program* body, std::vector<ricci_attr>& attrs) {
  if (!d.dice().Chance(0.2) || CallsHost(body)) return;
  const bool whole = ir::FromAbi(body)->custom_batch, by_itself = MayFail(body);
  if (whole && by_itself) return;  // either is refused, unless a pass finds the branch
  const bool lanes = (d.dice().Chance(0.5) || by_itself) && !whole;
  attrs.push_back(Attr("schedule", lanes ? "lanes" : "batched"));
  d.Count("vmap with a stated schedule");
}

void Scan(Draft& d) {
  const Values consts = SomeValues(d, d.dice().Below(2)), carries = SomeValues(d, d.dice().Below(3));
  const int64_t most = MostElements(d), longest = d.palette().deep ? 2 : 8;
  const Value first =
      d.Find(kAny, [&](const ArrayType& t) { return t.rank() > 0 && t.dim(0) <= longest && t.elements() <= most; });
  const int64_t length =
      first.is_none() || d.dice().Chance(0.2) ? d.dice().Between(0, std::min<int64_t>(5, longest)) : first.dim(0);
  Values xs;
  for (int64_t n = d.dice().Below(3); n > 0; --n) {
    const Value x =
        d.Find(kAny, [&](const ArrayType& t) { return t.rank() > 0 && t.dim(0) == length && t.elements() <= most; });
    if (!x.is_none()) xs.push_back(x);
  }
  std::vector<ArrayType> params = TypesOf(consts);
  for (const Value& v : carries) params.push_back(v.type());
  for (const Value& v : xs) params.push_back(v.type().WithShape(v.shape().subspan(1)));
  Draft body(d, params);
  GrowBody(body);
  Values out;
  for (const Value& v : carries) out.push_back(body.Produce(v.type()));
  for (int64_t n = d.dice().Below(3); n > 0; --n) {
    const Value y = body.Find(kAny, [&](const ArrayType& t) { return t.elements() <= most; });
    if (!y.is_none()) out.push_back(y);
  }
  if (out.empty()) return;
  const Owned p = body.Finish(out);
  Values in = consts;
  in.insert(in.end(), carries.begin(), carries.end());
  in.insert(in.end(), xs.begin(), xs.end());
  ricci_program* raw = p.get();
  std::vector<ricci_attr> attrs = {Attr("body", raw),
                                   Attr("length", length),
                                   Attr("reverse", d.dice().Chance(0.3)),
                                   Attr("num_consts", consts.size()),
                                   Attr("num_carry", carries.size()),
                                   Attr("unroll", d.dice().Between(1, 2))};
  SometimesRunIn(d, {raw}, attrs);
  d.Emit("scan", in, attrs);
}

// `x`, with a promise that holds wherever this runs; only `x` if that is refused, or has too many elements.
Value Promised(Draft& d, const Value& promise, const Value& x) {
  const Values out =
      d.Emit("check", {promise, x}, {{"code", static_cast<int64_t>(kBrokenPromise)}, {"message", "ran unguarded"}});
  return out.empty() ? x : out[0];
}
// Branches that rely on being taken: each checks the condition of its index, some inside a nested body.
void GuardedCond(Draft& d) {
  const Value at = d.Of(DType::kI32, {});
  const Values in = {at, at, SomeValues(d, 1)[0]};
  const std::vector<ArrayType> params = {at.type(), in[2].type()};
  std::vector<Owned> branches;
  std::vector<ricci_program*> list;
  for (const char* holds : {"le", "gt"}) {
    Draft body(d, params);
    const Value promise = body.Emit(holds, {body.params()[0], lax::full_like(body.params()[0], 0)})[0];
    const Value x = Promised(body, promise, body.params()[1]);
    GrowBody(body);
    Owned branch = body.Finish({x, body.Produce(x.type())});
    if (d.dice().Chance(0.3)) {
      Draft outer(d, params);
      ricci_program* p = branch.get();
      branch = outer.Finish(outer.Emit("call", outer.params(), {{"body", p}, {"name", "g"}}));
    }
    branches.push_back(branch);
  }
  for (const Owned& p : branches) list.push_back(p.get());
  d.Emit("cond", in, {{"branches", std::span<ricci_program* const>(list)}});
  d.Count("check that its branch guards");
}

// while i < limit (and sometimes a condition on the carry): the first carry counts.
void While(Draft& d) {
  Values carries = SomeValues(d, d.dice().Between(1, 2)), consts = SomeValues(d, d.dice().Below(2));
  const Value limit = d.Of(DType::kI32, {});
  const bool guards = d.dice().Chance(0.2);  // a check in its body that holds for lanes that go on
  if (guards) consts.push_back(limit);
  carries.insert(carries.begin(), Emit1("sub", {limit, d.Of(DType::kI32, {})}));
  const int64_t bound = d.palette().deep ? 2 : d.dice().Between(3, 9);
  std::vector<ArrayType> cond_params = {limit.type()}, body_params = TypesOf(consts);
  for (const Value& v : carries) cond_params.push_back(v.type()), body_params.push_back(v.type());
  Draft cond(d, cond_params);
  Value go = cond.Emit("lt", {cond.params()[1], cond.params()[0]})[0];
  const Value extra = cond.Find(kBools, [](const ArrayType& t) { return t.rank() == 0; });
  if (d.dice().Chance(0.3)) go = cond.Emit("and", {go, extra})[0];
  const Owned cond_program = cond.Finish({go});
  Draft body(d, body_params);
  GrowBody(body);
  const size_t n = consts.size();
  Value one = lax::full_like(body.params()[n], 1);
  if (guards) one = Promised(body, body.Emit("lt", {body.params()[n], body.params()[n - 1]})[0], one);
  if (guards) d.Count("check that its loop guards");
  Values out = {body.Emit("add", {body.params()[n], one})[0]};
  for (size_t i = 1; i < carries.size(); ++i) out.push_back(body.Produce(carries[i].type()));
  const Owned body_program = body.Finish(out);
  // The trip count is clamped so that it stays small for any limit.
  const Value shortest = lax::sub(limit, lax::full_like(limit, bound));
  carries[0] = lax::max(carries[0], shortest);
  Values in = {limit};
  in.insert(in.end(), consts.begin(), consts.end());
  in.insert(in.end(), carries.begin(), carries.end());
  ricci_program *c = cond_program.get(), *b = body_program.get();
  std::vector<ricci_attr> attrs = {Attr("cond", c), Attr("body", b), Attr("cond_nconsts", 1),
                                   Attr("body_nconsts", consts.size())};
  if (d.palette().smooth || d.dice().Chance(0.4)) attrs.push_back(Attr("max_trips", bound + 1));
  SometimesRunIn(d, {c, b}, attrs);
  d.Emit("while", in, attrs);
}

void Vmap(Draft& d) {
  const int64_t most = MostElements(d);
  Value first = d.Find(kAny, [&](const ArrayType& t) { return t.rank() > 0 && t.elements() <= most; });
  if (first.is_none()) {
    if (!d.palette().deep) return;
    first = d.Constant(d.Type(DType::kF32, Dims(std::array<int64_t, 1>{2})));
  }
  const int64_t axis = d.dice().Below(first.rank()), size = first.dim(axis);
  Values in = {first};
  Shape in_axes = {axis}, out_axes;
  for (int64_t n = d.dice().Below(3); n > 0; --n) {
    const Value v = d.Find(kAny, [&](const ArrayType& t) { return t.elements() <= most; });
    if (v.is_none()) continue;
    Shape places = {-1};
    for (int64_t i = 0; i < v.rank(); ++i) {
      if (v.dim(i) == size) places.push_back(i);
    }
    in.push_back(v);
    in_axes.push_back(d.dice().Pick(places));
  }
  std::vector<ArrayType> params;
  for (size_t i = 0; i < in.size(); ++i) {
    Shape shape(in[i].shape().begin(), in[i].shape().end());
    if (in_axes[i] >= 0) shape.erase(shape.begin() + in_axes[i]);
    params.push_back(in[i].type().WithShape(shape));
  }
  Draft body(d, params);
  body.BeginVmap();
  GrowBody(body, 2);
  const Values out = SomeResults(body, d.dice().Between(1, 3));
  for (const Value& v : out) out_axes.push_back(d.dice().Between(0, v.rank()));
  const Owned p = body.Finish(out);
  ricci_program* raw = p.get();
  std::vector<ricci_attr> attrs = {Attr("body", raw), Attr("size", size), Attr("in_axes", in_axes),
                                   Attr("out_axes", out_axes)};
  SomeSchedule(d, raw, attrs);
  d.Emit("vmap", in, attrs);
}

// A body of hundreds of equations on small arrays, with three to five loops one after another.
void LargeLanes(Draft& d) {
  const int64_t size = d.dice().Between(2, 9), n_loops = d.dice().Between(3, 5);
  const DType dtype = d.dice().Chance(0.5) ? DType::kF32 : DType::kF64;
  constexpr int64_t kInner[] = {1, 2, 3, 4};
  Values in;
  std::vector<ArrayType> params;
  for (int i = 0; i < 4; ++i) {
    const Shape shape = i < 2 ? Shape{size} : Shape{size, d.dice().Pick(kInner)};
    in.push_back(d.Of(i == 3 ? DType::kI32 : dtype, shape));
    params.push_back(in.back().type().WithShape(Dims(shape).subspan(1)));
  }
  Draft body(d, params);
  body.LimitElements(12);
  body.BeginVmap();
  for (int64_t i = 0; i <= n_loops; ++i) {
    body.Grow(d.dice().Between(100, 240) / n_loops);
    if (i < n_loops) While(body);
  }
  const Values out = SomeResults(body, 4);
  const Shape in_axes(in.size(), 0), out_axes(out.size(), 0);
  const Owned p = body.Finish(out);
  ricci_program* raw = p.get();
  d.Emit("vmap", in, {{"body", raw}, {"size", size}, {"in_axes", in_axes}, {"out_axes", out_axes}});
}

constexpr Generator kGenerators[] = {{1, true, Call}, {2, true, Checkpoint}, {2, true, Cond}, {1, true, GuardedCond},
                                     {3, true, Scan}, {2, true, While},      {3, true, Vmap}};

}  // namespace

std::span<const Generator> ControlGenerators() { return kGenerators; }

void EmitLargeBody(Draft& d) { LargeLanes(d); }

}  // namespace ricci::testing
