// Rules and lowerings that break the contract at trace, transform, compile or run: a status that names primitive and
// rule.

#include "hostile_plugin.h"

namespace ricci::testing { namespace {

using HostileRules = HostilePlugin;

TEST_F(HostileRules, RulesThatEndTheBuilderTheyWereHanded) {
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

TEST_F(HostileRules, AbstractEvalThatEndsItsBuilder) {
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

TEST_F(HostileRules, LoweringsThatPassNull) {
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
TEST_F(HostileRules, FailedPreconditionIsNotSwallowed) {
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

TEST_F(HostileRules, AbstractEvalThatSetsNothing) {
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder*, const ricci_op*) -> ricci_status* { return nullptr; };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}"),
            "t:2: h.op: rule abstract_eval of plugin hostile: sets no result types");
}

TEST_F(HostileRules, AbstractEvalThatEmitsOrInventsTypes) {
  static ricci_prim sin;
  sin = Prim("sin");
  ricci_prim_def d = Def("h.op");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
    ricci_val out = 0;
    return ricci_builder_emit(b, sin, nullptr, 0, nullptr, 0, &out, 1);
  };
  Load(d);
  EXPECT_EQ(ParseError("program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}", RICCI_FAILED_PRECONDITION),
            "t:2: h.op: rule abstract_eval of plugin hostile: sin: abstract_eval may not emit");
}

TEST_F(HostileRules, MissingRulesAreNamed) {
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

TEST_F(HostileRules, RulesThatFillNothingOrGarbage) {
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

TEST_F(HostileRules, LoweringsThatFailOrLeaveLoopsOpen) {
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

}  // namespace
}  // namespace ricci::testing
