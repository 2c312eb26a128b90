// ricci/register.hpp: hands rows to the core: one thunk per kind of rule, and the description of a plugin.
//
// `self` of a registered row is the Row, that of its lowerings the Lowering, so both must live as long as the context
// (constexpr tables do). Each thunk is noexcept: it turns the ABI's arrays into Values, runs the rule, and writes back
// what the rule filled in.
#ifndef RICCI_REGISTER_HPP_
#define RICCI_REGISTER_HPP_
#include "ricci/rules.hpp"

namespace ricci { inline namespace v0 { namespace thunks {

inline const Row& RowOf(void* self) { return *static_cast<const Row*>(self); }
inline const Lowering& LoweringOf(void* self) { return *static_cast<const Lowering*>(self); }
inline Values ToValues(ricci_builder* b, const ricci_val* ids, uint32_t n) {
  Values out;
  out.reserve(n);
  for (uint32_t i = 0; i < n; ++i) out.push_back({b, ids[i]});
  return out;
}
// A rule may have changed the length of a list that has `wanted` entries in the core.
inline void WantCount(std::string_view rule, std::string_view what, size_t given, size_t wanted) {
  if (given == wanted) return;
  throw Error(RICCI_INTERNAL, Text("the ", rule, " returns ", Count(given, what), ", not ", wanted));
}
template <typename T>
void Give(std::string_view rule, std::string_view what, const std::vector<T>& from, T* to, size_t wanted) {
  WantCount(rule, what, from.size(), wanted);
  std::copy(from.begin(), from.end(), to);
}
inline void FromValues(std::string_view rule, std::string_view what, const Values& from, ricci_val* to, size_t wanted) {
  WantCount(rule, what, from.size(), wanted);
  for (size_t i = 0; i < from.size(); ++i) to[i] = from[i].id;
}

inline ricci_status* Type(void* self, ricci_builder* b, const ricci_op* op) noexcept {
  return Guard([&] {
    const ArrayTypes types = RowOf(self).type(Eqn(op, b));
    std::vector<ricci_type> ids;
    ids.reserve(types.size());
    for (const ArrayType& t : types) ids.push_back(t.id());
    Check(ricci_builder_set_out_types(b, ids.data(), static_cast<uint32_t>(ids.size())));
  });
}

inline ricci_status* RunJvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) noexcept {
  return Guard([&] {
    Jvp j{ToValues(b, a->primals, op->n_in), ToValues(b, a->tangents, op->n_in), Values(op->n_out),
          Values(op->n_out, Value::Zero(b))};
    RowOf(self).jvp.function(Eqn(op, b), j);
    FromValues("rule jvp", "result", j.out, a->out_primals, op->n_out);
    FromValues("rule jvp", "tangent", j.out_tangents, a->out_tangents, op->n_out);
  });
}

inline ricci_status* RunTranspose(void* self, ricci_builder* b, const ricci_op* op,
                                  const ricci_transpose_args* a) noexcept {
  return Guard([&] {
    Transpose t{ToValues(b, a->cts, op->n_out),
                {a->linear, op->n_in},
                ToValues(b, a->operands, op->n_in),
                Values(op->n_in, Value::Zero(b))};
    RowOf(self).transpose(Eqn(op, b), t);
    FromValues("rule transpose", "cotangent", t.in_cts, a->in_cts, op->n_in);
  });
}

inline ricci_status* RunBatch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) noexcept {
  return Guard([&] {
    Batch batch{a->axis_size, View(a->axis_name), {}, std::vector<Batched>(op->n_out)};
    for (uint32_t i = 0; i < op->n_in; ++i) batch.in.push_back({{b, a->in[i]}, a->in_dims[i]});
    RowOf(self).batch.function(Eqn(op, b), batch);
    WantCount("rule batch", "result", batch.out.size(), op->n_out);
    for (uint32_t i = 0; i < op->n_out; ++i) {
      a->out[i] = batch.out[i].value.id;
      a->out_dims[i] = static_cast<int32_t>(batch.out[i].dim);
    }
  });
}

inline ricci_status* RunPartialEval(void* self, const ricci_op* op, const ricci_partial_eval_args* a) noexcept {
  return Guard([&] {
    const bool apart = (a->hdr.flags & RICCI_PARTIAL_EVAL_APART) != 0;
    PartialEval p{a->known, a->unknown, View(a->policy), apart, {a->is_known, op->n_in}, {}, {}, {}, a};
    for (uint32_t i = 0; i < op->n_in; ++i) p.in.push_back({a->is_known[i] ? a->known : a->unknown, a->in[i]});
    p.out.resize(op->n_out);
    p.out_is_known.resize(op->n_out);
    RowOf(self).partial_eval(Eqn(op, nullptr), p);
    FromValues("rule partial_eval", "result", p.out, a->out, op->n_out);
    Give("rule partial_eval", "flag", p.out_is_known, a->out_is_known, op->n_out);
  });
}

inline ricci_status* RunDeadCode(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a) noexcept {
  return Guard([&] {
    DeadCode d{{a->used_out, op->n_out}, std::vector<uint8_t>(op->n_in), {}, Values(op->n_out)};
    if (a->in != nullptr) d.in = ToValues(b, a->in, op->n_in);
    RowOf(self).dce(Eqn(op, b), d);
    Give("rule dce", "flag", d.used_in, a->used_in, op->n_in);
    FromValues("rule dce", "result", d.out, a->out, op->n_out);
  });
}

inline ricci_status* Simplify(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in,
                              ricci_val* out) noexcept {
  return Guard([&] {
    const Values results = RowOf(self).simplify(Eqn(op, b), ToValues(b, in, op->n_in));
    if (!results.empty()) FromValues("simplification", "result", results, out, op->n_out);
  });
}

inline ricci_status* Contract(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in,
                              const uint8_t* only, ricci_val* out) noexcept {
  return Guard([&] {
    const Values results = RowOf(self).contract(Eqn(op, b), ToValues(b, in, op->n_in), {only, op->n_in});
    if (!results.empty()) FromValues("contraction", "result", results, out, op->n_out);
  });
}

inline ricci_status* Factors(void* self, const ricci_op* op, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)) noexcept {
  return Guard([&] {
    const std::string text = RowOf(self).factors_of(Eqn(op, nullptr));
    write(sink, text.data(), text.size());
  });
}

inline ricci_status* TellViewMap(void* self, const ricci_op* op, uint32_t operand, ricci_view_map* out) noexcept {
  return Guard([&] {
    const std::optional<ViewMap> map = RowOf(self).view_map(Eqn(op, nullptr), operand);
    out->known = map.has_value();
    if (!map) return;
    const Eqn e(op, nullptr);
    const auto from_rank = static_cast<size_t>(e.in(operand).rank()), to_rank = static_cast<size_t>(e.out().rank());
    Give("rule view_map", "number", map->first, out->first, from_rank);
    Give("rule view_map", "number", map->limit, out->limit, from_rank);
    Give("rule view_map", "number", map->from, out->from, to_rank);
    Give("rule view_map", "number", map->shift, out->shift, to_rank);
  });
}

inline ricci_status* RunScalar(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                               ricci_sval* out) noexcept {
  return Guard([&] {
    std::vector<Scalar> operands;
    for (uint32_t i = 0; i < op->n_in; ++i) operands.push_back({k, in[i]});
    KernelBuilder kernel(k);
    *out = LoweringOf(self).scalar(kernel, Eqn(op, nullptr), operands).id;
  });
}

inline ricci_status* Match(void* self, const ricci_op* op, uint32_t* accept) noexcept {
  return Guard([&] { *accept = LoweringOf(self).match(Eqn(op, nullptr)); });
}

inline ricci_status* RunIndex(void* self, ricci_kernel_builder* k, const ricci_op* op, uint32_t result,
                              const ricci_sval* index, ricci_sval* out) noexcept {
  return Guard([&] {
    const Eqn e(op, nullptr);
    Index at;
    for (int64_t i = 0; i < e.out(result).rank(); ++i) at.push_back({k, index[i]});
    KernelBuilder kernel(k);
    *out = LoweringOf(self).index(kernel, e, result, at).id;
  });
}

inline ricci_status* RunLoops(void* self, ricci_kernel_builder* k, const ricci_op* op) noexcept {
  return Guard([&] {
    KernelBuilder kernel(k);
    LoweringOf(self).loops(kernel, Eqn(op, nullptr));
  });
}

inline ricci_status* Decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in,
                               ricci_val* out) noexcept {
  return Guard([&] {
    const Values results = LoweringOf(self).decompose(Eqn(op, b), ToValues(b, in, op->n_in));
    FromValues("decomposition", "result", results, out, op->n_out);
  });
}

inline void GiveLaunches(const Source& given, const ricci_source_args& a) {
  ricci_source s = ricci_source_default();
  s.text = ToAbi(given.text);
  s.entry = ToAbi(given.entry);
  std::copy(given.grid.begin(), given.grid.end(), s.grid);
  std::copy(given.block.begin(), given.block.end(), s.block);
  s.scalars = given.scalars.data();
  s.n_scalars = static_cast<uint32_t>(given.scalars.size());
  s.workspace_bytes = given.workspace_bytes;
  s.shared_bytes = given.shared_bytes;
  s.flops = given.flops;
  s.file = ToAbi(given.file);
  s.line = given.line;
  Check(a.give(a.sink, &s));
  for (const Source& next : given.after) GiveLaunches(next, a);
}
inline ricci_status* RunSource(void* self, const ricci_op* op, const ricci_source_args* a) noexcept {
  return Guard([&] { GiveLaunches(LoweringOf(self).source(Eqn(op, nullptr), a->device), *a); });
}

}}}  // namespace ricci::v0::thunks

namespace ricci { inline namespace v0 {

constexpr uint32_t KindOf(const Lowering& l) {
  if (l.scalar != nullptr) return RICCI_LOWER_SCALAR;
  if (l.index != nullptr) return RICCI_LOWER_INDEX;
  if (l.loops != nullptr) return RICCI_LOWER_LOOPS;
  if (l.source != nullptr) return RICCI_LOWER_SOURCE;
  return l.library != nullptr ? RICCI_LOWER_LIBRARY : RICCI_LOWER_DECOMPOSE;
}
// It must live as long as the context.
inline ricci_lowering ToAbi(const Lowering& given) {
  ricci_lowering l{};
  l.hdr = {sizeof l, given.flags, nullptr};
  l.kind = KindOf(given);
  l.priority = given.priority;
  l.target = ToAbi(given.target);
  l.self = const_cast<Lowering*>(&given);
  if (given.match != nullptr) l.match = thunks::Match;
  if (given.scalar != nullptr) l.scalar = thunks::RunScalar;
  if (given.index != nullptr) l.index = thunks::RunIndex;
  if (given.loops != nullptr) l.loops = thunks::RunLoops;
  if (given.decompose != nullptr) l.decompose = thunks::Decompose;
  if (given.source != nullptr) l.source = thunks::RunSource;
  l.library = given.library;
  return l;
}

// Registers one row. It must live as long as the context.
inline void Register(ricci_ctx* ctx, const Row& row) {
  std::vector<ricci_attr_spec> specs;
  for (const AttrSpec& a : row.attrs) {
    const uint32_t flags = a.absent.empty() ? 0 : RICCI_ATTR_OPTIONAL;
    specs.push_back({ToAbi(a.name), static_cast<uint32_t>(a.kind), flags, ToAbi(a.absent)});
  }
  std::vector<ricci_lowering> lowerings;
  for (const Lowering& l : row.lowerings) lowerings.push_back(ToAbi(l));
  std::vector<const ricci_lowering*> lowering_ptrs;
  for (const ricci_lowering& l : lowerings) lowering_ptrs.push_back(&l);

  ricci_prim_def def{};
  def.hdr.size = sizeof def;
  def.hdr.flags = row.flags;
  def.name = ToAbi(row.name);
  def.self = const_cast<Row*>(&row);
  def.attr_specs = specs.data();
  def.n_attr_specs = static_cast<uint32_t>(specs.size());
  def.attr_spec_size = sizeof(ricci_attr_spec);
  if (row.type != nullptr) def.abstract_eval = thunks::Type;
  if (row.jvp.tagged) def.hdr.flags |= RICCI_PRIM_LINEAR;
  if (row.jvp.function != nullptr) def.jvp = thunks::RunJvp;
  if (row.transpose != nullptr) def.transpose = thunks::RunTranspose;
  if (row.batch.tagged) def.batch_kind = RICCI_BATCH_ELEMENTWISE;
  if (row.batch.function != nullptr) def.batch = thunks::RunBatch;
  if (row.partial_eval != nullptr) def.partial_eval = thunks::RunPartialEval;
  if (row.dce != nullptr) def.dce = thunks::RunDeadCode;
  if (row.simplify != nullptr) def.simplify = thunks::Simplify;
  if (row.contract != nullptr) def.contract = thunks::Contract;
  def.factors = ToAbi(row.factors);
  if (row.factors_of != nullptr) def.factors_of = thunks::Factors;
  if (row.view_map != nullptr) def.view_map = thunks::TellViewMap;
  def.missing = ToAbi(row.missing);
  def.examples = ToAbi(row.examples);
  def.doc = ToAbi(row.doc);
  def.lowerings = lowering_ptrs.data();
  def.n_lowerings = static_cast<uint32_t>(lowering_ptrs.size());
  ricci_prim id = 0;
  Check(ricci_prim_register(ctx, &def, &id));
}

// The tables of a plugin: functions that return them, so that each file of rows is independent of the others.
using RowTables = std::span<RowList (*const)()>;

inline ricci_status* AttachRows(ricci_ctx* ctx, RowTables tables) noexcept {
  return Guard([&] {
    for (RowList (*table)() : tables) {
      for (const Row& row : table()) Register(ctx, row);
    }
  });
}

// The description that a plugin's query function returns; `attach` registers its rows with AttachRows.
constexpr ricci_plugin Describe(std::string_view name, std::string_view version,
                                ricci_status* (*attach)(void* self, ricci_ctx* c)) {
  ricci_plugin p{};
  p.hdr.size = sizeof p;
  p.abi_major = RICCI_ABI_MAJOR;
  p.abi_minor = RICCI_ABI_MINOR;
  p.name = ToAbi(name);
  p.version = ToAbi(version);
  p.attach = attach;
  return p;
}

}}  // namespace ricci::v0
#endif
