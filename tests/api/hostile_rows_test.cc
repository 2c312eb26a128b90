// Rows that break the contract when a plugin registers them: each is refused by name, and nothing of it stays.

#include "hostile_plugin.h"

namespace ricci::testing { namespace {

using HostileRows = HostilePlugin;

TEST_F(HostileRows, RowsThatCannotBe) {
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

// With all that a backend must have.
ricci_backend OddBackend() {
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = Str("odd");
  b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  return b;
}

TEST_F(HostileRows, FormsThatNobodyCanAskFor) {
  ricci_backend b = OddBackend();
  b.forms = Str("ptx");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: forms is given, but not dump_form");
  b.dump_form = [](void*, ricci_str, void*, void (*)(void*, const char*, size_t)) -> ricci_status* { return nullptr; };
  b.forms = Str("ptx,SASS");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: form `SASS` is not a word of small letters");
  b.forms = Str("ptx,");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: form `` is not a word of small letters");
  b.forms = Str("decisions,plan");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: form plan is a stage that every device has");
  b.forms = Str("cse");
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: form cse is a stage that every device has");
  b.forms = {};
  EXPECT_EQ(ErrorOf(ricci_backend_register(ctx, &b)), "backend odd: dump_form is given, but not forms");
}

TEST_F(HostileRows, TargetsThatNoDeviceIs) {
  ricci_backend b = OddBackend();
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

TEST_F(HostileRows, ArraysThatAreNotThere) {
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

TEST_F(HostileRows, SizesOfElements) {
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
  EXPECT_TRUE(RICCI_HAS(row, view_map));
  ricci_prim_def older = *row;
  older.hdr.size = offsetof(ricci_prim_def, view_map);
  EXPECT_FALSE(RICCI_HAS(&older, view_map));
  EXPECT_TRUE(RICCI_HAS(&older, examples));
}

TEST_F(HostileRows, DocsThatNobodyCanRead) {
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

TEST_F(HostileRows, OperandsAndResultsAreCountedByTheDoc) {
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

TEST_F(HostileRows, RowsOfAnOlderHeader) {
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

TEST_F(HostileRows, FlagsThatNobodyKnows) {
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
  b.hdr = {sizeof b, 64, nullptr};
  EXPECT_EQ(
      ErrorOf(ricci_backend_register(ctx, &b)),
      "backend: unknown flags in hdr.flags 64; known: 1 (RICCI_BACKEND_REFERENCE), 2 (RICCI_BACKEND_HOST_VISIBLE), "
      "4 (RICCI_BACKEND_SOURCES), 8 (RICCI_BACKEND_PROFILES), 16 (RICCI_BACKEND_OPEN_CALLS), 32 "
      "(RICCI_BACKEND_REPORTS_WHEN_ASKED)");
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

TEST_F(HostileRows, AFailedAttachLeavesAllRowsAsTheyWere) {
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
  EXPECT_EQ(LoadError(RICCI_INTERNAL), "plugin hostile: not today");
  EXPECT_EQ(Rows(ctx), before);
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_find(ctx, "h.host", 6, &id)));
  EXPECT_EQ(RowOf(id)->n_attr_specs, 1u);
}

// A replaced row outlives what was compiled with it.
TEST_F(HostileRows, ARowThatWasReplacedLivesOn) {
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

}  // namespace
}  // namespace ricci::testing
