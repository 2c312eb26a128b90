// Plugins that break the contract at load, transform, compile or run: a status that names them, and a context that
// keeps working and accepts the plugin once it is fixed.
#include <cstdio>
#include <functional>

#include "ricci/backend.h"
#include "support/small_program.h"

namespace ricci::testing { namespace {

ricci_str Str(std::string_view v) { return {v.data(), v.size()}; }

// What the plugin under test does; query functions have no argument to carry it.
struct Behaviour {
  ricci_plugin plugin;
  std::function<ricci_status*(ricci_ctx*)> attach;
  int detached = 0;
} g_behaviour;

ricci_status* Attach(void*, ricci_ctx* c) { return g_behaviour.attach ? g_behaviour.attach(c) : nullptr; }
void Detach(void*, ricci_ctx* c) {
  ricci_context_release(ricci_context_retain(c));  // allowed even now
  ++g_behaviour.detached;
}
ricci_status* Query(const ricci_host_info* h, const ricci_plugin** out) {
  EXPECT_EQ(h->abi_major, RICCI_ABI_MAJOR);
  EXPECT_NE(h->api, nullptr);
  *out = &g_behaviour.plugin;
  return nullptr;
}

ricci_status* SameType(void*, ricci_builder* b, const ricci_op* op) {
  return ricci_builder_set_out_types(b, op->in_types, 1);
}

ricci_prim_def Def(std::string_view name) {
  ricci_prim_def d{};
  d.hdr.size = sizeof d;
  d.name = Str(name);
  d.abstract_eval = SameType;
  return d;
}

class HostilePlugin : public SmallProgram {
 protected:
  HostilePlugin() {
    ricci_plugin p{};
    p.hdr.size = sizeof p;
    p.abi_major = RICCI_ABI_MAJOR;
    p.abi_minor = RICCI_ABI_MINOR;
    p.name = Str("hostile");
    p.version = Str("1");
    p.attach = Attach;
    p.detach = Detach;
    g_behaviour = {p, nullptr, 0};
  }
  std::string LoadError(uint32_t code = RICCI_INVALID_ARGUMENT) {
    return ErrorOf(ricci_context_add_plugin(ctx, Query), code);
  }
  // Loads a plugin with this one row.
  void Load(const ricci_prim_def& d) {
    g_behaviour.attach = [d](ricci_ctx* c) { return ricci_prim_register(c, &d, nullptr); };
    ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  }
  ricci_program* UseRow() { return Parse("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"); }
  const ricci_prim_def* RowOf(ricci_prim p) const {
    ricci_prim id = 0;
    for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(ctx, i, &id); ++i) {
      if (id == p) return row;
    }
    ADD_FAILURE() << "no row has id " << p;
    return nullptr;
  }
  std::string ParseError(std::string_view text, uint32_t code = RICCI_INVALID_ARGUMENT) {
    ricci_program* p = nullptr;
    return ErrorOf(ricci_program_parse(ctx, text.data(), text.size(), "t", 1, &p), code);
  }
};

TEST_F(HostilePlugin, WrongVersionFeatureOrSize) {
  g_behaviour.plugin.abi_minor = 99;
  EXPECT_EQ(LoadError(RICCI_FAILED_PRECONDITION),
            "plugin hostile: compiled against ABI 0.99, this core has 0.1; rebuild it");
  g_behaviour.plugin.abi_minor = RICCI_ABI_MINOR;
  g_behaviour.plugin.needs_features[1] = 2;
  EXPECT_EQ(LoadError(RICCI_FAILED_PRECONDITION), "plugin hostile: needs feature 65, which this core lacks");
  g_behaviour.plugin.needs_features[1] = 0;
  g_behaviour.plugin.hdr.size = 3;
  EXPECT_EQ(LoadError(), "plugin: hdr.size is 3; set it to the size of the struct");
  g_behaviour.plugin.hdr.size = sizeof(ricci_plugin);
  g_behaviour.plugin.attach = nullptr;
  EXPECT_EQ(LoadError(), "plugin hostile: attach is NULL");
  g_behaviour.plugin.attach = Attach;
  g_behaviour.plugin.name = {nullptr, 7};
  EXPECT_EQ(LoadError(), "plugin: name is empty");
}

TEST_F(HostilePlugin, QueryGivesNothingOrFails) {
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(
                ctx, [](const ricci_host_info*, const ricci_plugin**) -> ricci_status* { return nullptr; })),
            "plugin: its query function gave no plugin");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx,
                                             [](const ricci_host_info*, const ricci_plugin**) {
                                               return ricci_status_make(RICCI_CANCELLED, "", 0);
                                             }),
                    RICCI_CANCELLED),
            "");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx, nullptr)), "ricci_context_add_plugin: query is NULL");
}

TEST_F(HostilePlugin, TwiceIsAnError) {
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  EXPECT_EQ(LoadError(), "plugin hostile: already added to this context");
  EXPECT_EQ(ErrorOf(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)),
            "plugin lax: already added to this context");
}

TEST_F(HostilePlugin, DetachRunsOnceAtTheEnd) {
  ricci_ctx* own = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&own)));
  ASSERT_TRUE(Ok(ricci_context_add_plugin(own, Query)));
  EXPECT_EQ(g_behaviour.detached, 0);
  ricci_context_release(own);
  EXPECT_EQ(g_behaviour.detached, 1);
}

TEST_F(HostilePlugin, FailedAttachLeavesNothingBehind) {
  static int dropped;
  dropped = 0;
  ricci_prim_def d = Def("h.op"), over = Def("sin");
  d.drop_self = [](void*) { ++dropped; };
  over.hdr.flags = RICCI_PRIM_OVERRIDE;
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.priority = 1000;
  l.loops = [](void*, ricci_kernel_builder*, const ricci_op*) { return ricci_status_make(RICCI_INTERNAL, "bad", 3); };
  bool fail = true;
  g_behaviour.attach = [&](ricci_ctx* c) {
    ricci_prim cos = Prim("cos");
    EXPECT_TRUE(Ok(ricci_prim_register(c, &d, nullptr)));
    EXPECT_TRUE(Ok(ricci_prim_add_lowering(c, cos, &l)));
    if (!fail) return static_cast<ricci_status*>(nullptr);
    EXPECT_TRUE(Ok(ricci_prim_register(c, &over, nullptr)));
    return ricci_status_make(RICCI_INTERNAL, "not today", 9);
  };
  EXPECT_EQ(LoadError(RICCI_INTERNAL), "not today");
  EXPECT_EQ(dropped, 1);
  ricci_prim p = 0;
  EXPECT_EQ(ErrorOf(ricci_prim_find(ctx, "h.op", 4, &p), RICCI_NOT_FOUND),
            "h.op: no such primitive; add the plugin that provides it");
  ricci_executable* x =
      CompileText("program f(%x: f32[4]) {\n %c: f32[4] = cos(%x)\n %y: f32[4] = sin(%c)\n return %y\n}");
  ASSERT_NE(x, nullptr) << "sin and cos are those of lax again";
  ricci_executable_release(x);
  fail = false;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, Query)));
  EXPECT_NE(Prim("h.op"), 0u);
}

TEST_F(HostilePlugin, RowsThatCannotBe) {
  ricci_prim_def d = Def("");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "primitive: a row needs a name");
  d = Def("two words");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "primitive: `two words` is not a name; use letters, digits, _, . and -, with a letter first");
  d = Def("h.typeless");
  d.abstract_eval = nullptr;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.typeless: a row needs abstract_eval, which gives the types of its results");
  d = Def("sin");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "sin: already registered by plugin lax; RICCI_PRIM_OVERRIDE replaces it");
  d = Def("h.twice");
  EXPECT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.twice: already registered by the host; RICCI_PRIM_OVERRIDE replaces it");
  ricci_lowering l{};
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: lowering: hdr.size is 0; set it to the size of the struct");
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_SCALAR;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: SCALAR lowering: its callback `scalar` is NULL");
  l.kind = 66;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: a lowering has kind 66; known: 1 (DECOMPOSE) to 6 (SOURCE)");
  l.kind = RICCI_LOWER_LIBRARY;
  ricci_library library{};
  l.library = &library;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: LIBRARY lowering: library: hdr.size is 0; set it to the size of the struct");
  library.hdr.size = sizeof library;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: LIBRARY lowering: plan of its library is NULL");
  l.kind = RICCI_LOWER_SOURCE;
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: SOURCE lowering: its callback `source` is NULL");
  l.source = [](void*, const ricci_op*, const ricci_source_args*) -> ricci_status* { return nullptr; };
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: SOURCE lowering: its target is `*`; name the one whose compiler reads the text");
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, 99999, &l)), "lowering: no primitive has id 99999");
  ricci_backend b{};
  b.hdr.size = sizeof b;
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend: kind is empty");
  b.kind = Str("odd");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: compile is NULL");
}

TEST_F(HostilePlugin, TargetsThatNoDeviceIs) {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  ricci_target good{};
  good.hdr.size = sizeof good;
  ricci_target_init(&good);
  const auto error = [&](auto change) {
    ricci_target t = good;
    change(t);
    b.target = &t;
    return ErrorOf(ricci_backend_register(ctx, &b));
  };
  EXPECT_EQ(error([](ricci_target& t) { t.hdr.size = 0; }),
            "backend: target: hdr.size is 0; set it to the size of the struct");
  EXPECT_EQ(error([](ricci_target& t) { t.lanes = 12; }),
            "backend: target: lanes is 12; it must be a power of 2 up to 1024");
  EXPECT_EQ(error([](ricci_target& t) { t.registers = 0; }), "backend: target: registers is 0; it must be 1 to 65536");
  EXPECT_EQ(error([](ricci_target& t) { t.points_wanted = 4; }),
            "backend: target: points_wanted is 4; it must be at least the lanes, and at most 2^40");
  EXPECT_EQ(error([](ricci_target& t) { t.near_bytes = 0; }), "backend: target: near_bytes is 0; it must be 1 to 2^40");
  EXPECT_EQ(error([](ricci_target& t) { t.cache_bytes = ~uint64_t{0}; }),
            "backend: target: cache_bytes is 18446744073709551615; it must be 1 to 2^40");
  EXPECT_EQ(error([](ricci_target& t) { t.memory_bytes_per_cycle = std::nan(""); }),
            "backend: target: memory_bytes_per_cycle is nan; it must be more than 0 and less than 10^12");
  EXPECT_EQ(error([](ricci_target& t) { t.op_cycles = nullptr; }),
            "backend: target: op_cycles is NULL; it must be set, or n_op_cycles 0");
  ricci_target_init(nullptr);
  ricci_target none{};
  ricci_target_init(&none);  // a size of 0: nothing is written
  EXPECT_EQ(none.lanes, 0u);
}

TEST_F(HostilePlugin, ArraysThatAreNotThere) {
  ricci_prim_def d = Def("h.op");
  d.n_attr_specs = 1;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "h.op: attr_specs is NULL, but n_attr_specs is 1");
  ricci_attr_spec spec{};
  d.attr_specs = &spec;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "h.op: attribute spec 0 needs a name");
  spec.name = Str("axis");
  spec.kind = 10;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.op: attribute axis has kind 10; known: 1 (INT) to 9 (PROGRAMS)");
  d.n_attr_specs = 0;
  d.n_lowerings = 2;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "h.op: lowerings is NULL, but n_lowerings is 2");
  const ricci_lowering* list[] = {nullptr, nullptr};
  d.lowerings = list;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)), "h.op: a lowering is NULL");
  d.n_lowerings = 0;
  d.hdr.size = 4097;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "primitive: hdr.size is 4097, more than a page of 4096 bytes; set it to the size of the struct");
  d.hdr.size = ~0u;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "primitive: hdr.size is 4294967295, more than a page of 4096 bytes; set it to the size of the struct");
}

TEST_F(HostilePlugin, SizesOfElements) {
  struct Larger {  // as in a newer plugin
    ricci_attr_spec known;
    uint64_t more;
  } specs[2] = {};
  specs[0].known = {Str("first"), RICCI_ATTR_INT, 0};
  specs[1].known = {Str("second"), RICCI_ATTR_FLOAT, 0};
  ricci_prim_def d = Def("h.larger");
  d.attr_specs = &specs[0].known;
  d.n_attr_specs = 2;
  for (const uint32_t wrong : {8u, 5000u}) {
    d.attr_spec_size = wrong;
    EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
              "h.larger: attr_spec_size is " + std::to_string(wrong) + "; set it to the size of ricci_attr_spec");
  }
  d.attr_spec_size = sizeof(Larger);
  ricci_prim p = 0;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, &p)));
  const ricci_prim_def* row = RowOf(p);
  ASSERT_EQ(row->n_attr_specs, 2u);
  EXPECT_EQ(std::string(row->attr_specs[1].name.ptr, row->attr_specs[1].name.len), "second");
  EXPECT_EQ(row->attr_specs[1].kind, static_cast<uint32_t>(RICCI_ATTR_FLOAT));
  EXPECT_TRUE(RICCI_HAS(row, place));
  ricci_prim_def older = *row;
  older.hdr.size = offsetof(ricci_prim_def, place);
  EXPECT_FALSE(RICCI_HAS(&older, place));
  EXPECT_TRUE(RICCI_HAS(&older, examples));
}

TEST_F(HostilePlugin, DocsThatNobodyCanRead) {
  ricci_prim_def d = Def("h.op");
  d.doc = Str("the best operation");
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.op: doc is `the best operation`; it must be one line like `z = h.op(x, y): what it computes`");
  ricci_attr_spec spec{Str("eps"), RICCI_ATTR_FLOAT, 0, Str("1")};
  d.doc = {nullptr, 7};  // no doc: neither names nor a number
  d.attr_specs = &spec;
  d.n_attr_specs = 1;
  EXPECT_EQ(ErrorOf(ricci_prim_register(ctx, &d, nullptr)),
            "h.op: attribute eps is `1` when left out, but has no flag RICCI_ATTR_OPTIONAL");
  spec.flags = RICCI_ATTR_OPTIONAL;
  spec.absent = {nullptr, 9};
  EXPECT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
}

TEST_F(HostilePlugin, OperandsAndResultsAreCountedByTheDoc) {
  ricci_prim_def d = Def("h.op");
  d.doc = Str("y = h.op(x, rest...): x");
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op()\n return %y\n}"),
            "t:2: h.op: takes at least 1 operand (x, rest...), not 0");
  d.hdr.flags = RICCI_PRIM_OVERRIDE;
  d.doc = Str("y, i = h.op(x): x, and where it is");
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"),
            "t:2: h.op: gives 2 results (y, i), not 1");
}

TEST_F(HostilePlugin, RowsOfAnOlderHeader) {
  struct Older {  // before it had `absent`
    ricci_str name;
    uint32_t kind, flags;
  };
  static_assert(sizeof(Older) == offsetof(ricci_attr_spec, absent));
  const Older specs[] = {{Str("first"), RICCI_ATTR_INT, 0}, {Str("second"), RICCI_ATTR_FLOAT, RICCI_ATTR_OPTIONAL}};
  ricci_prim_def d = Def("h.older");
  d.attr_specs = reinterpret_cast<const ricci_attr_spec*>(specs);
  d.n_attr_specs = 2;
  d.hdr.size = offsetof(ricci_prim_def, doc);
  d.doc = Str("not read");
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  const ricci_prim_def* row = RowOf(Prim("h.older"));
  EXPECT_EQ(row->doc.len, 0u);
  EXPECT_EQ(std::string(row->attr_specs[1].name.ptr, row->attr_specs[1].name.len), "second");
  EXPECT_EQ(row->attr_specs[1].absent.len, 0u);
}

TEST_F(HostilePlugin, FlagsThatNobodyKnows) {
  ricci_prim_def d = Def("h.flags");
  d.hdr.flags = 1u << 20;
  const std::string why = ErrorOf(ricci_prim_register(ctx, &d, nullptr));
  EXPECT_EQ(why.substr(0, 82), "primitive: unknown flags in hdr.flags 1048576; known: 1 (RICCI_PRIM_LINEAR), 2 (RI");
  ricci_lowering l{};
  l.hdr = {sizeof l, 4, nullptr};
  EXPECT_EQ(ErrorOf(ricci_prim_add_lowering(ctx, Prim("sin"), &l)),
            "sin: lowering: unknown flags in hdr.flags 4; known: 1 (RICCI_LOWERING_TRANSFORMABLE), 2 "
            "(RICCI_LOWERING_UPDATES)");
  ricci_backend b{};
  b.hdr = {sizeof b, 8, nullptr};
  EXPECT_EQ(
      ErrorOf(ricci_backend_register(ctx, &b)),
      "backend: unknown flags in hdr.flags 8; known: 1 (RICCI_BACKEND_REFERENCE), 2 (RICCI_BACKEND_HOST_VISIBLE), "
      "4 (RICCI_BACKEND_SOURCES)");
  ricci_context_opts o{};
  o.hdr = {sizeof o, 1, nullptr};
  ricci_ctx* none = nullptr;
  EXPECT_EQ(ErrorOf(ricci_context_create(&o, &none)), "context options: unknown flags in hdr.flags 1; none are known");
}

// What a host can see of all rows: names and lowerings.
std::string Rows(const ricci_ctx* c) {
  std::string text;
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* d = ricci_prim_at(c, i, &id); ++i) {
    text += std::string(d->name.ptr, d->name.len) + ":";
    for (uint32_t l = 0; l < d->n_lowerings; ++l) text += " " + std::to_string(d->lowerings[l]->priority);
    text += "\n";
  }
  return text;
}

TEST_F(HostilePlugin, AFailedAttachLeavesAllRowsAsTheyWere) {
  ricci_prim_def own = Def("h.host"), over = Def("sin");
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &own, nullptr)));
  own.hdr.flags = over.hdr.flags = RICCI_PRIM_OVERRIDE;
  own.n_attr_specs = 1;
  const ricci_attr_spec spec{Str("k"), RICCI_ATTR_INT, 0};
  own.attr_specs = &spec;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &own, nullptr))) << "the host's own override is not the plugin's";
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.priority = 77;
  l.loops = [](void*, ricci_kernel_builder*, const ricci_op*) { return static_cast<ricci_status*>(nullptr); };
  g_behaviour.attach = [&](ricci_ctx* c) {
    ricci_prim_def fresh = Def("h.fresh");
    EXPECT_TRUE(Ok(ricci_prim_register(c, &fresh, nullptr)));
    for (const char* name : {"cos", "sin", "add"}) EXPECT_TRUE(Ok(ricci_prim_add_lowering(c, Prim(name), &l)));
    EXPECT_TRUE(Ok(ricci_prim_register(c, &over, nullptr)));
    EXPECT_TRUE(Ok(ricci_prim_add_lowering(c, Prim("sin"), &l)));
    EXPECT_TRUE(Ok(ricci_prim_add_lowering(c, Prim("cos"), &l)));
    return ricci_status_make(RICCI_INTERNAL, "not today", 9);
  };
  const std::string before = Rows(ctx);
  EXPECT_EQ(LoadError(RICCI_INTERNAL), "not today");
  EXPECT_EQ(Rows(ctx), before);
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_find(ctx, "h.host", 6, &id)));
  EXPECT_EQ(RowOf(id)->n_attr_specs, 1u);
}

// A replaced row outlives what was compiled with it.
TEST_F(HostilePlugin, ARowThatWasReplacedLivesOn) {
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_find(ctx, "cos", 3, &id)));
  const ricci_prim_def* row = RowOf(id);
  ricci_prim_def over = Def("cos");
  over.hdr.flags = RICCI_PRIM_OVERRIDE;
  Load(over);
  EXPECT_EQ(std::string(row->name.ptr, row->name.len), "cos");
  EXPECT_GT(row->n_lowerings, 0u);
  EXPECT_EQ(RowOf(id)->n_lowerings, 0u);
}

TEST_F(HostilePlugin, RulesThatEndTheBuilderTheyWereHanded) {
  static int how;
  ricci_prim_def d = Def("h.op");
  const auto end = [](ricci_builder* b) {
    ricci_program* p = nullptr;
    ricci_val v = 0;
    if (how == 0) return ricci_builder_abandon(b), static_cast<ricci_status*>(nullptr);
    if (how == 1) return ricci_builder_finish(b, nullptr, 0, &p);
    return ricci_builder_param(b, 1, &v);
  };
  static ricci_status* (*const end_builder)(ricci_builder*) = end;
  d.jvp = [](void*, ricci_builder* b, const ricci_op*, const ricci_jvp_args* a) -> ricci_status* {
    a->out_primals[0] = a->primals[0];
    a->out_tangents[0] = a->tangents[0];
    return end_builder(b);
  };
  d.batch = [](void*, ricci_builder* b, const ricci_op*, const ricci_batch_args* a) -> ricci_status* {
    a->out[0] = a->in[0];
    a->out_dims[0] = a->in_dims[0];
    return end_builder(b);
  };
  d.simplify = [](void*, ricci_builder* b, const ricci_op*, const ricci_val*, ricci_val*) { return end_builder(b); };
  Load(d);
  ricci_program* f = UseRow();
  ASSERT_NE(f, nullptr);
  const uint8_t one = 1;
  const char* const kWrong[] = {
      "t:2: h.op: rule RULE of plugin hostile: abandons the builder that it got; it may only append to it",
      "t:2: h.op: ricci_builder_finish: b was lent to a rule, which may append to it but not finish it",
      "t:2: h.op: ricci_builder_param: b was lent to a rule, which may append to it but not add parameters to it"};
  for (how = 0; how < 3; ++how) {
    const auto expected = [&](const std::string& rule) {
      std::string text = kWrong[how];
      if (const size_t at = text.find("RULE"); at != text.npos) text.replace(at, 4, rule);
      return text;
    };
    ricci_program* g = nullptr;
    uint8_t batched = 0;
    EXPECT_EQ(ErrorOf(ricci_jvp(f, &one, 1, &g)), expected("jvp"));
    EXPECT_EQ(ErrorOf(ricci_batch(f, &one, 1, 3, nullptr, &batched, &g)), expected("batch"));
  }
  ricci_program_release(f);
}

TEST_F(HostilePlugin, AbstractEvalThatEndsItsBuilder) {
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    ricci_builder_abandon(b);
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"),
            "t:2: h.op: rule abstract_eval of plugin hostile: abandons the builder that it got; it may only append "
            "to it");
}

TEST_F(HostilePlugin, LoweringsThatPassNull) {
  static std::string told;
  told.clear();
  ricci_prim_def d = Def("h.op");
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.loops = [](void*, ricci_kernel_builder* k, const ricci_op*) -> ricci_status* {
    ricci_sval v = 0;
    ricci_karr a = 0;
    const int64_t extent = 4;
    ricci_status* wrong[] = {ricci_kernel_const(nullptr, RICCI_F32, &extent, &v),
                             ricci_kernel_const(k, RICCI_F32, nullptr, &v),
                             ricci_kernel_const(k, RICCI_F32, &extent, nullptr),
                             ricci_kernel_const_index(k, 3, nullptr),
                             ricci_kernel_scalar(k, RICCI_S_ADD, 0, nullptr, 2, &v),
                             ricci_kernel_complex(nullptr, v, v, &v),
                             ricci_kernel_complex(k, v, v, nullptr),
                             ricci_kernel_parts(k, 0x80000007, &v, &v),
                             ricci_kernel_parts(k, v, &v, nullptr),
                             ricci_kernel_load(k, 1, nullptr, 1, &v),
                             ricci_kernel_store(k, 1, nullptr, 1, v),
                             ricci_kernel_combine(nullptr, 1, &v, 1, RICCI_S_ADD, v),
                             ricci_kernel_combine(k, 1, nullptr, 1, RICCI_S_ADD, v),
                             ricci_kernel_combine(k, 1, &v, 1, RICCI_S_SUB, v),
                             ricci_kernel_combine(k, 987654, &v, 1, RICCI_S_ADD, v),
                             ricci_kernel_private(k, 1, nullptr),
                             ricci_kernel_private(k, 987654, &a),
                             ricci_kernel_view(k, 1, 0, v, nullptr),
                             ricci_kernel_copy(nullptr, 1, 1),
                             ricci_kernel_parallel(k, nullptr, 1, &v),
                             ricci_kernel_parallel(k, &extent, 1, nullptr),
                             ricci_kernel_for(k, v, v, nullptr),
                             ricci_kernel_while(nullptr),
                             ricci_kernel_end(nullptr),
                             ricci_kernel_reduce(k, RICCI_S_ADD, v, v, nullptr),
                             ricci_kernel_yield(k, v, nullptr),
                             ricci_kernel_scan(k, v, v, &v, 1, nullptr, &v),
                             ricci_kernel_combiner(k, nullptr, 1, &v),
                             ricci_kernel_prefix(k, &v, 1, nullptr),
                             ricci_kernel_inline(k, nullptr, nullptr, 0, nullptr, nullptr, 0),
                             ricci_kernel_check(k, v, 3, nullptr, 4)};
    for (ricci_status* s : wrong) told += ErrorOf(s) + "\n";
    EXPECT_EQ(ricci_kernel_operand(nullptr, 0), 0u);
    EXPECT_EQ(ricci_kernel_array_type(nullptr, 1), 0u);
    EXPECT_EQ(ricci_kernel_dtype(nullptr, 1), 0u);
    return ricci_kernel_copy(k, ricci_kernel_result(k, 0), ricci_kernel_operand(k, 0));
  };
  const ricci_lowering* list[] = {&l};
  d.lowerings = list;
  d.n_lowerings = 1;
  Load(d);
  ricci_program* f = UseRow();
  ricci_executable* x = nullptr;
  EXPECT_TRUE(Ok(ricci_compile(f, nullptr, &x))) << "nothing of that harms the builder";
  EXPECT_EQ(
      told,
      "ricci_kernel_const: k is NULL\nricci_kernel_const: element is NULL\nricci_kernel_const: out is NULL\n"
      "ricci_kernel_const_index: out is NULL\nricci_kernel_scalar: in is NULL\n"
      "ricci_kernel_complex: k is NULL\nricci_kernel_complex: out is NULL\n"
      "kernel: value 2147483655 is not complex\nricci_kernel_parts: im is NULL\nricci_kernel_load: index is NULL\n"
      "ricci_kernel_store: index is NULL\nricci_kernel_combine: k is NULL\n"
      "ricci_kernel_combine: index is NULL\nkernel: elements are combined by add, mul, max or min\n"
      "kernel: load from something that is not an array\nricci_kernel_private: out is NULL\n"
      "kernel: a private array of type 987654, which is not known\nricci_kernel_view: out is NULL\n"
      "ricci_kernel_copy: k is NULL\nricci_kernel_parallel: extents is NULL\n"
      "ricci_kernel_parallel: index is NULL\nricci_kernel_for: index is NULL\nricci_kernel_while: k is NULL\n"
      "ricci_kernel_end: k is NULL\nricci_kernel_reduce: index is NULL\nricci_kernel_yield: out is NULL\n"
      "ricci_kernel_scan: left is NULL\nricci_kernel_combiner: result is NULL\nricci_kernel_prefix: out is NULL\n"
      "ricci_kernel_inline: f is NULL\nricci_kernel_check: msg is NULL\n");
  ricci_executable_release(x);
  ricci_program_release(f);
}

// If a lowering fails in a kernel that is merged by rows, the run reports that failure, whatever its code.
TEST_F(HostilePlugin, FailedPreconditionIsNotSwallowed) {
  static int calls;
  calls = 0;
  ricci_prim_def d = Def("h.row_sum");
  d.hdr.flags = RICCI_PRIM_READS_ONCE;
  d.factors = Str("r c -> r; sum c");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) -> ricci_status* {
    ricci_type_desc type = ricci_type_desc_default();
    if (ricci_status* s = ricci_type_get(op->ctx, op->in_types[0], &type)) return s;
    type.rank = 1;
    ricci_type t = 0;
    if (ricci_status* s = ricci_type_make(op->ctx, &type, &t)) return s;
    return ricci_builder_set_out_types(b, &t, 1);
  };
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.loops = [](void*, ricci_kernel_builder*, const ricci_op*) {
    ++calls;
    return ricci_status_make(RICCI_FAILED_PRECONDITION, "no licence", 10);
  };
  const ricci_lowering* list[] = {&l};
  d.lowerings = list;
  d.n_lowerings = 1;
  Load(d);
  ricci_program* f = Parse(
      "program f(%x: f32[64,32]) {\n"
      " %m: f32[64] = reduce_max(%x) axes=[1]\n"
      " %b: f32[64,32] = broadcast_in_dim(%m) shape=[64,32] broadcast_dimensions=[0]\n"
      " %s: f32[64,32] = sub(%x, %b)\n"
      " %e: f32[64,32] = exp(%s)\n"
      " %t: f32[64] = h.row_sum(%e)\n return %e, %t\n}");
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  ricci_executable* x = nullptr;
  ricci_backend b{};  // a device on which all passes run
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.compile = [](void*, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
    *code = &calls;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args*) { return static_cast<ricci_status*>(nullptr); };
  b.drop_code = [](void*) {};
  ASSERT_TRUE(Ok(ricci_backend_register(ctx, &b)));
  ricci_device* const on = ricci_device_get(ctx, 0);
  o.devices = &on;
  o.n_devices = 1;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x), RICCI_FAILED_PRECONDITION), "t:6: h.row_sum: no licence");
  EXPECT_EQ(calls, 1) << "and it was not tried again elsewhere";
  ricci_program_release(f);
}

TEST_F(HostilePlugin, AbstractEvalThatSetsNothing) {
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder*, const ricci_op*) -> ricci_status* { return nullptr; };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"),
            "t:2: h.op: abstract_eval set no result types");
}

TEST_F(HostilePlugin, AbstractEvalThatEmitsOrInventsTypes) {
  static ricci_prim sin;
  sin = Prim("sin");
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
    ricci_val out = 0;
    return ricci_builder_emit(b, sin, nullptr, 0, nullptr, 0, &out, 1);
  };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}", RICCI_FAILED_PRECONDITION),
            "t:2: sin: abstract_eval may not emit");
}

TEST_F(HostilePlugin, MissingRulesAreNamed) {
  Load(Def("h.op"));
  ricci_program *f = UseRow(), *g = nullptr;
  const uint8_t active = 1;
  const std::string message = ErrorOf(ricci_jvp(f, &active, 1, &g), RICCI_UNIMPLEMENTED);
  EXPECT_NE(message.find("h.op"), message.npos) << message;
  EXPECT_NE(message.find("jvp"), message.npos) << message;
  ricci_executable* x = nullptr;
  const std::string lowering = ErrorOf(ricci_compile(f, nullptr, &x), RICCI_UNIMPLEMENTED);
  EXPECT_NE(lowering.find("h.op"), lowering.npos) << lowering;
  ricci_program_release(f);
}

TEST_F(HostilePlugin, RulesThatFillNothingOrGarbage) {
  for (const ricci_val garbage : {RICCI_VAL_NONE, ricci_val{12345}, ~ricci_val{1}}) {
    static ricci_val fill;
    fill = garbage;
    ricci_prim_def d = Def("h.op");
    d.hdr.flags = garbage == RICCI_VAL_NONE ? 0u : uint32_t{RICCI_PRIM_OVERRIDE};
    d.jvp = [](void*, ricci_builder*, const ricci_op*, const ricci_jvp_args* a) -> ricci_status* {
      a->out_primals[0] = fill;
      a->out_tangents[0] = fill;
      return nullptr;
    };
    ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
    ricci_program *f = UseRow(), *g = nullptr;
    const uint8_t active = 1;
    ricci_status* s = ricci_jvp(f, &active, 1, &g);
    ASSERT_NE(s, nullptr);
    const std::string message = Message(s);
    EXPECT_NE(message.find("h.op"), message.npos) << message;
    EXPECT_NE(message.find("jvp"), message.npos) << message;
    ricci_program_release(f);
  }
}

TEST_F(HostilePlugin, LoweringsThatFailOrLeaveLoopsOpen) {
  for (int how = 0; how < 3; ++how) {
    static int kind;
    kind = how;
    ricci_prim_def d = Def("h.op");
    d.hdr.flags = how == 0 ? 0u : uint32_t{RICCI_PRIM_OVERRIDE};
    ricci_lowering l{};
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_LOOPS;
    l.loops = [](void*, ricci_kernel_builder* k, const ricci_op*) -> ricci_status* {
      if (kind == 0) return ricci_status_make(RICCI_INTERNAL, "cannot", 6);
      if (kind == 1) return ricci_kernel_while(k);
      ricci_sval bad = 4711;
      return ricci_kernel_store(k, ricci_kernel_result(k, 0), &bad, 1, bad);
    };
    const ricci_lowering* list[] = {&l};
    d.lowerings = list;
    d.n_lowerings = 1;
    ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
    ricci_program* f = UseRow();
    ricci_executable* x = nullptr;
    ricci_status* s = ricci_compile(f, nullptr, &x);
    ASSERT_NE(s, nullptr) << "case " << how;
    const std::string message = Message(s);
    EXPECT_NE(message.find("h.op"), message.npos) << message;
    ricci_program_release(f);
  }
}

TEST_F(HostilePlugin, BackendsThatFail) {
  static int kind;
  static int dropped;
  dropped = 0;
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.drop_self = [](void*) { ++dropped; };
  b.compile = [](void*, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
    if (kind == 0) return ricci_status_make(RICCI_INTERNAL, "no code", 7);
    *code = &kind;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args*) { return ricci_status_make(RICCI_DATA_LOSS, "burnt", 5); };
  b.drop_code = [](void*) {};
  ricci_ctx* own = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&own)));
  std::swap(own, ctx);
  ASSERT_TRUE(Ok(ricci_context_add_plugin(ctx, ricci_plugin_query_lax)));
  ASSERT_TRUE(Ok(ricci_backend_register(ctx, &b)));
  device = ricci_device_get(ctx, 0);
  ricci_device_desc desc{};
  desc.hdr.size = sizeof desc;
  ricci_device_info(device, &desc);
  EXPECT_EQ(std::string(desc.kind.ptr, desc.kind.len), "odd") << "device 0 is that of the backend added last";
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = nullptr;
  kind = 0;
  EXPECT_EQ(ErrorOf(ricci_compile(f, nullptr, &x), RICCI_INTERNAL), "no code");
  kind = 1;
  ASSERT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
  ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[2] = {a, a};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, nullptr), RICCI_DATA_LOSS), "burnt");
  EXPECT_EQ(out, nullptr);
  ricci_array_release(a);
  ricci_executable_release(x);
  ricci_program_release(f);
  std::swap(own, ctx);
  EXPECT_EQ(dropped, 0);
  ricci_context_release(own);
  EXPECT_EQ(dropped, 1);
}

TEST_F(HostilePlugin, NamesThatAreNoPlugin) {
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "/nonexistent.so", 15), RICCI_NOT_FOUND),
            "plugin /nonexistent.so: No such file or directory");
  ErrorOf(ricci_context_load_plugin(ctx, "nonexistent.so", 14), RICCI_NOT_FOUND);
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "libm.so.6", 9)), "plugin libm.so.6: exports no ricci_plugin_query");
  EXPECT_EQ(ErrorOf(ricci_context_load_plugin(ctx, "a\0b", 3)), "ricci_context_load_plugin: path is not a file name");
}

}  // namespace
}  // namespace ricci::testing
