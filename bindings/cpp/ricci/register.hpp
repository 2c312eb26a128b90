// ricci/register.hpp: hands rows to the core: one thunk per kind of rule, and the description of a plugin.
//
// `self` of every registered row is the Row, so rows live as long as the process (constexpr tables). Each thunk is
// noexcept: it turns the ABI's arrays into Values, runs the rule, and writes back what it filled in.
#ifndef RICCI_REGISTER_HPP_
#define RICCI_REGISTER_HPP_
#include "ricci/rules.hpp"

namespace ricci::inline v0::thunks {

inline const Row& RowOf(void* self) { return *static_cast<const Row*>(self); }
inline Values ToValues(ricci_builder* b, const ricci_val* ids, uint32_t n) {
  Values out;
  out.reserve(n);
  for (uint32_t i = 0; i < n; ++i) out.push_back({b, ids[i]});
  return out;
}
inline void FromValues(const Values& from, ricci_val* to) {
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
    RowOf(self).jvp(Eqn(op, b), j);
    FromValues(j.out, a->out_primals);
    FromValues(j.out_tangents, a->out_tangents);
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
    FromValues(t.in_cts, a->in_cts);
  });
}

inline ricci_status* RunBatch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) noexcept {
  return Guard([&] {
    Batch batch{a->axis_size, {a->axis_name.ptr, a->axis_name.len}, {}, std::vector<Batched>(op->n_out)};
    for (uint32_t i = 0; i < op->n_in; ++i) batch.in.push_back({{b, a->in[i]}, a->in_dims[i]});
    RowOf(self).batch(Eqn(op, b), batch);
    for (uint32_t i = 0; i < op->n_out; ++i) {
      a->out[i] = batch.out[i].value.id;
      a->out_dims[i] = static_cast<int32_t>(batch.out[i].dim);
    }
  });
}

inline ricci_status* Simplify(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in,
                              ricci_val* out) noexcept {
  return Guard([&] { out[0] = RowOf(self).simplify(Eqn(op, b), ToValues(b, in, op->n_in)).id; });
}

inline ricci_status* Factors(void* self, const ricci_op* op, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)) noexcept {
  return Guard([&] {
    const std::string text = RowOf(self).factors_of(Eqn(op, nullptr));
    write(sink, text.data(), text.size());
  });
}

inline ricci_status* TellPlace(void* self, const ricci_op* op, uint32_t operand, ricci_place* out) noexcept {
  return Guard([&] {
    const std::optional<Place> place = RowOf(self).place(Eqn(op, nullptr), operand);
    out->known = place.has_value();
    if (!place) return;
    std::copy(place->first.begin(), place->first.end(), out->first);
    std::copy(place->limit.begin(), place->limit.end(), out->limit);
    std::copy(place->from.begin(), place->from.end(), out->from);
    std::copy(place->shift.begin(), place->shift.end(), out->shift);
  });
}

inline ricci_status* RunScalar(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                               ricci_sval* out) noexcept {
  return Guard([&] {
    std::vector<Scalar> operands;
    for (uint32_t i = 0; i < op->n_in; ++i) operands.push_back({k, in[i]});
    KernelBuilder kernel(k);
    *out = RowOf(self).scalar(kernel, Eqn(op, nullptr), operands).id;
  });
}

// Which equations a lowering takes: one of the rules `..._match`.
template <MatchRule Row::*kRule>
ricci_status* Match(void* self, const ricci_op* op, uint32_t* accept) noexcept {
  return Guard([&] { *accept = (RowOf(self).*kRule)(Eqn(op, nullptr)); });
}

inline ricci_status* RunIndex(void* self, ricci_kernel_builder* k, const ricci_op* op, uint32_t result,
                              const ricci_sval* index, ricci_sval* out) noexcept {
  return Guard([&] {
    const Eqn e(op, nullptr);
    Index at;
    for (int64_t i = 0; i < e.out(result).rank(); ++i) at.push_back({k, index[i]});
    KernelBuilder kernel(k);
    *out = RowOf(self).index(kernel, e, result, at).id;
  });
}

template <LoopsRule Row::*kRule>
ricci_status* RunLoops(void* self, ricci_kernel_builder* k, const ricci_op* op) noexcept {
  return Guard([&] {
    KernelBuilder kernel(k);
    (RowOf(self).*kRule)(kernel, Eqn(op, nullptr));
  });
}

inline ricci_status* Decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in,
                               ricci_val* out) noexcept {
  return Guard([&] {
    const Values results = RowOf(self).decompose(Eqn(op, b), ToValues(b, in, op->n_in));
    if (results.size() != op->n_out) {
      throw Error(RICCI_INTERNAL, Text("the decomposition gives ", results.size(), " results, not ", op->n_out));
    }
    FromValues(results, out);
  });
}

}  // namespace ricci::inline v0::thunks

namespace ricci::inline v0 {

inline ricci_str ToAbi(std::string_view s) { return {s.data(), s.size()}; }

// The lowerings of a row, best first.
inline std::vector<ricci_lowering> LoweringsOf(const Row& row) {
  std::vector<ricci_lowering> out;
  const auto add = [&](uint32_t kind) -> ricci_lowering& {
    ricci_lowering& l = out.emplace_back();
    l.hdr.size = sizeof l;
    l.kind = kind;
    l.target = {"*", 1};
    return l;
  };
  if (row.scalar != nullptr) {
    ricci_lowering& l = add(RICCI_LOWER_SCALAR);
    l.scalar = thunks::RunScalar;
    if (row.scalar_match != nullptr) l.match = thunks::Match<&Row::scalar_match>;
  }
  if (row.updates != nullptr) {
    ricci_lowering& l = add(RICCI_LOWER_LOOPS);
    l.hdr.flags = RICCI_LOWERING_UPDATES;
    l.loops = thunks::RunLoops<&Row::updates>;
    if (row.updates_match != nullptr) l.match = thunks::Match<&Row::updates_match>;
  }
  if (row.index != nullptr) {
    ricci_lowering& l = add(RICCI_LOWER_INDEX);
    l.index = thunks::RunIndex;
    if (row.index_match != nullptr) l.match = thunks::Match<&Row::index_match>;
  }
  if (row.loops != nullptr) add(RICCI_LOWER_LOOPS).loops = thunks::RunLoops<&Row::loops>;
  if (row.decompose != nullptr) {
    ricci_lowering& l = add(RICCI_LOWER_DECOMPOSE);
    l.decompose = thunks::Decompose;
    if (row.transformable) l.hdr.flags = RICCI_LOWERING_TRANSFORMABLE;
  }
  return out;
}

// Registers one row. It must live as long as the context.
inline void Register(ricci_ctx* ctx, const Row& row) {
  std::vector<ricci_attr_spec> specs;
  for (const AttrSpec& a : row.attrs) {
    specs.push_back({ToAbi(a.name), static_cast<uint32_t>(a.kind), a.optional ? RICCI_ATTR_OPTIONAL : 0u});
  }
  const std::vector<ricci_lowering> lowerings = LoweringsOf(row);
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
  if (row.jvp == rules::Linear) {
    def.hdr.flags |= RICCI_PRIM_LINEAR;
  } else if (row.jvp != nullptr) {
    def.jvp = thunks::RunJvp;
  }
  if (row.transpose != nullptr) def.transpose = thunks::RunTranspose;
  if (row.batch == rules::Elementwise) {
    def.batch_kind = RICCI_BATCH_ELEMENTWISE;
  } else if (row.batch != nullptr) {
    def.batch = thunks::RunBatch;
  }
  if (row.simplify != nullptr) def.simplify = thunks::Simplify;
  def.factors = ToAbi(row.factors);
  if (row.factors_of != nullptr) def.factors_of = thunks::Factors;
  if (row.place != nullptr) def.place = thunks::TellPlace;
  def.missing = ToAbi(row.missing);
  def.examples = ToAbi(row.examples);
  def.lowerings = lowering_ptrs.data();
  def.n_lowerings = static_cast<uint32_t>(lowering_ptrs.size());
  ricci_prim id = 0;
  Check(ricci_prim_register(ctx, &def, &id));
}

// The tables of a plugin: functions that return them, so that each file of rows stands alone.
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
  p.name = {name.data(), name.size()};
  p.version = {version.data(), version.size()};
  p.attach = attach;
  return p;
}

}  // namespace ricci::inline v0
#endif
