// rules: a row's rule is called with arguments as documented and its results are checked; a missing rule falls back on
// a decomposition or is an error, which names primitive, rule and place.
#include "transform/rules.h"

#include "base/status_abi.h"
#include "trace/attrs.h"
#include "transform/grad.h"
#include "transform/transform_fixture.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci::testing { namespace {

constexpr ricci_status* kOk = nullptr;

class Rules : public TransformTest {
 protected:
  // A program of one equation on line 2.
  ir::ProgramRef One(std::string_view prim, std::string_view type = "f64[2]") {
    const std::string t(type);
    return Parse(
        base::Cat("program f(%x: ", t, ", %y: ", t, ") {\n  %z: ", t, " = ", prim, "(%x, %y)\n  return %z\n}"));
  }
  // "test.op jvp test:2: the message" of a transform that must fail.
  template <typename T>
  std::string Failure(const absl::StatusOr<T>& made, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    const std::string message = ErrorOf(made, code);
    const base::StatusSite site = base::SiteOf(made.status());
    return base::Cat(site.primitive, " ", site.rule, " ", site.file, ":", site.line, ": ", message);
  }
  absl::StatusOr<transform::JvpProgram> Jvp(std::string_view prim) { return transform::Jvp(*One(prim), Mask{1, 0}); }
  absl::StatusOr<transform::TransposeProgram> Transpose(std::string_view prim) {
    return transform::Transpose(*One(prim), Mask{1, 0}, {}, false);
  }
  absl::StatusOr<transform::BatchProgram> Batch(std::string_view prim) {
    return transform::Batch(*One(prim), Mask{1, 0}, 3, "axis");
  }
};

TEST_F(Rules, AMissingRuleIsNamedWithTheReasonOfTheRow) {
  AddRow("test.bare");
  AddRow("test.reason", [](ricci_prim_def& d) {
    constexpr std::string_view kWhy = "jvp: integer result; try floats; transpose, batch: not linear: at all";
    d.missing = {kWhy.data(), kWhy.size()};
  });
  AddRow("test.other", [](ricci_prim_def& d) {
    constexpr std::string_view kWhy = "transpose: not linear";
    d.missing = {kWhy.data(), kWhy.size()};
  });
  constexpr auto kCode = absl::StatusCode::kUnimplemented;
  EXPECT_EQ(Failure(Jvp("test.bare"), kCode), "test.bare jvp test:2: test.bare: no jvp rule");
  EXPECT_EQ(Failure(Transpose("test.bare"), kCode), "test.bare transpose test:2: test.bare: no transpose rule");
  EXPECT_EQ(Failure(Batch("test.bare"), kCode), "test.bare batch test:2: test.bare: no batch rule");
  EXPECT_EQ(Failure(Jvp("test.reason"), kCode),
            "test.reason jvp test:2: test.reason: no jvp rule (integer result; try floats)");
  EXPECT_EQ(Failure(Transpose("test.reason"), kCode),
            "test.reason transpose test:2: test.reason: no transpose rule (not linear: at all)");
  EXPECT_EQ(Failure(Batch("test.reason"), kCode),
            "test.reason batch test:2: test.reason: no batch rule (not linear: at all)");
  EXPECT_EQ(Failure(Jvp("test.other"), kCode), "test.other jvp test:2: test.other: no jvp rule");
}

// Innermost first: a transform of a held program keeps the place of the equation that failed.
TEST_F(Rules, AnErrorInAHeldProgramKeepsItsOwnPlace) {
  const ir::ProgramRef f = Parse(R"(
program f(%x: f64[]) {
  %y: f64[] = call(%x) body=program g(%x: f64[]) {
    %n: f64[] = neg(%x)
    %s: f64[] = sin(%n)
    return %s
  }
  return %y
})");
  EXPECT_EQ(Failure(transform::Transpose(*f, Mask{1}, {}, false), absl::StatusCode::kUnimplemented),
            "sin transpose test:5: sin: no transpose rule (not linear)");
}

TEST_F(Rules, AtEquationAddsThePlaceAndKeepsOk) {
  const ir::ProgramRef f = One("add");
  const ir::Equation& eqn = f->equations[0];
  EXPECT_TRUE(transform::AtEquation(absl::OkStatus(), *f, eqn, "jvp").ok());
  const absl::Status at = transform::AtEquation(absl::DataLossError("lost"), *f, eqn, "dce");
  EXPECT_EQ(Failure(absl::StatusOr<int>(at), absl::StatusCode::kDataLoss), "add dce test:2: lost");
  const absl::Status outer = transform::AtEquation(at, *One("mul"), One("mul")->equations[0], "jvp");
  EXPECT_EQ(Failure(absl::StatusOr<int>(outer), absl::StatusCode::kDataLoss), "add dce test:2: lost");
}

TEST_F(Rules, WhatAJvpRuleFillsInIsChecked) {
  AddRow("test.nothing", [](ricci_prim_def& d) {
    d.jvp = [](void*, ricci_builder*, const ricci_op*, const ricci_jvp_args*) { return kOk; };
  });
  AddRow("test.foreign", [](ricci_prim_def& d) {
    d.jvp = [](void*, ricci_builder*, const ricci_op*, const ricci_jvp_args* a) {
      a->out_primals[0] = 12345;
      return kOk;
    };
  });
  AddRow("test.type", [](ricci_prim_def& d) {
    d.jvp = [](void*, ricci_builder* b, const ricci_op*, const ricci_jvp_args* a) {
      a->out_primals[0] = a->primals[0];
      const ricci_type scalar = trace::FromAbi(b)->types().Intern(RICCI_F64, {}).value();
      a->out_tangents[0] = trace::FromAbi(b)->Zero(scalar).value();
      return kOk;
    };
  });
  AddRow("test.own", [](ricci_prim_def& d) {
    d.jvp = [](void*, ricci_builder*, const ricci_op*, const ricci_jvp_args*) {
      return base::ToAbi(absl::OutOfRangeError("test.own: y is 0"));
    };
  });
  EXPECT_EQ(Failure(Jvp("test.nothing")),
            "test.nothing jvp test:2: test.nothing: rule jvp of the host: slot 0 is not filled");
  EXPECT_EQ(Failure(Jvp("test.foreign")),
            "test.foreign jvp test:2: test.foreign: rule jvp of the host: slot 0 holds a value of another builder");
  EXPECT_EQ(Failure(Jvp("test.type")),
            "test.type jvp test:2: test.type: rule jvp of the host: slot 1 is f64[], not f64[2]");
  EXPECT_EQ(Failure(Jvp("test.own"), absl::StatusCode::kOutOfRange), "test.own jvp test:2: test.own: y is 0");
}

TEST_F(Rules, ATangentOfAnIntegerIsDropped) {
  AddRow("test.count", [](ricci_prim_def& d) {
    d.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
      const ricci_type type = trace::FromAbi(b)->types().Intern(RICCI_I32, {}).value();
      return ricci_builder_set_out_types(b, &type, 1);
    };
    d.jvp = [](void*, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
      a->out_primals[0] = trace::FromAbi(b)->Zero(op->out_types[0]).value();
      a->out_tangents[0] = a->out_primals[0];
      return kOk;
    };
  });
  const ir::ProgramRef f = Parse("program f(%x: f64[]) {\n  %n: i32[] = test.count(%x)\n  return %n\n}");
  EXPECT_EQ(Get(transform::Jvp(*f, Mask{1})).nonzero, Mask{0});
}

// The operation is linear in operand 0 only: what the rule says of the other one is ignored, whatever it is.
TEST_F(Rules, ACotangentOfANonLinearOperandIsIgnored) {
  AddRow("test.scale", [](ricci_prim_def& d) {
    d.transpose = [](void*, ricci_builder*, const ricci_op*, const ricci_transpose_args* a) {
      EXPECT_EQ(a->linear[0], 1);
      EXPECT_EQ(a->linear[1], 0);
      EXPECT_EQ(a->operands[0], trace::kNone);
      EXPECT_NE(a->operands[1], trace::kNone);
      EXPECT_EQ(a->in_cts[0], trace::kZero);
      a->in_cts[0] = a->cts[0];
      a->in_cts[1] = 12345;
      return kOk;
    };
  });
  const auto t = Get(Transpose("test.scale"));
  EXPECT_EQ(t.nonzero, (Mask{1, 0}));
  EXPECT_EQ(Text(t.program), "\nprogram f(%0: f64[2], %1: f64[2]) {\n  return %1\n}");
}

TEST_F(Rules, ABatchRuleSeesTheAxisAndItsDimensionsAreChecked) {
  int32_t dim = 0;
  AddRow("test.batch", [&](ricci_prim_def& d) {
    d.self = &dim;
    d.batch = [](void* self, ricci_builder*, const ricci_op* op, const ricci_batch_args* a) {
      EXPECT_EQ(a->axis_size, 3);
      EXPECT_EQ(std::string_view(a->axis_name.ptr, a->axis_name.len), "axis");
      EXPECT_EQ(a->in_dims[0], 0);
      EXPECT_EQ(a->in_dims[1], -1);
      EXPECT_EQ(op->n_out, 1u);
      a->out_dims[0] = *static_cast<const int32_t*>(self);
      a->out[0] = a->in[a->out_dims[0] < 0 ? 1 : 0];
      return kOk;
    };
  });
  EXPECT_EQ(Get(Batch("test.batch")).out_batched, Mask{1});
  dim = -1;
  EXPECT_EQ(Get(Batch("test.batch")).out_batched, Mask{0});
  const std::string at = "test.batch batch test:2: test.batch: rule batch of the host: ";
  dim = 2;
  EXPECT_EQ(Failure(Batch("test.batch")), at + "dimension 2 of slot 0 is out of range");
  dim = -2;
  EXPECT_EQ(Failure(Batch("test.batch")), at + "dimension -2 of slot 0 is out of range");
  dim = 1;
  EXPECT_EQ(Failure(Batch("test.batch")), at + "slot 0 is f64[3,2], not f64[2,3]");
}

// x * y as a decomposition; only one that is declared transformable stands in for missing rules.
ricci_lowering Product(uint32_t flags) {
  ricci_lowering l{};
  l.hdr = {sizeof l, flags, nullptr};
  l.kind = RICCI_LOWER_DECOMPOSE;
  l.target = {"*", 1};
  l.decompose = [](void*, ricci_builder* b, const ricci_op*, const ricci_val* in, ricci_val* out) {
    out[0] = trace::FromAbi(b)->Emit1("mul", {}, {in, 2}).value();
    return kOk;
  };
  return l;
}

TEST_F(Rules, ATransformableDecompositionSuppliesEveryRule) {
  const ricci_lowering lowering = Product(RICCI_LOWERING_TRANSFORMABLE);
  const ricci_lowering* const lowerings[] = {&lowering};
  AddRow("test.product", [&](ricci_prim_def& d) { d.lowerings = lowerings, d.n_lowerings = 1; });
  const Numbers x = {2, 3}, y = {5, 7}, d = {10, 100};
  EXPECT_EQ(Run(Get(Jvp("test.product")).program, {x, y, d})[1], (Numbers{50, 700}));
  EXPECT_EQ(Run(Get(Transpose("test.product")).program, {y, d})[0], (Numbers{50, 700}));
  const auto batch = Get(Batch("test.product"));
  EXPECT_EQ(batch.out_batched, Mask{1});
  EXPECT_EQ(Run(batch.program, {{1, 2, 3, 4, 5, 6}, y})[0], (Numbers{5, 14, 15, 28, 25, 42}));
}

// `next` of its operands, or `next` within the body of a call: a decomposition that never ends.
ricci_lowering LeadsTo(const char* next, bool within, bool twice) {
  struct To {
    std::string next;
    bool within, twice;
  };
  static std::vector<std::unique_ptr<To>> all;  // rows outlive the test
  ricci_lowering l = Product(RICCI_LOWERING_TRANSFORMABLE);
  l.self = all.emplace_back(std::make_unique<To>(To{next, within, twice})).get();
  l.decompose = [](void* self, ricci_builder* abi, const ricci_op*, const ricci_val* in, ricci_val* out) {
    const To& to = *static_cast<const To*>(self);
    trace::Builder& b = *trace::FromAbi(abi);
    const auto step = [&](trace::Builder& at, const trace::Val* x) -> absl::StatusOr<trace::Val> {
      RICCI_ASSIGN(const trace::Val one, at.Emit1(to.next, {}, {x, 2}));
      if (!to.twice) return one;
      const trace::Val both[] = {one, x[1]};
      return at.Emit1(to.next, {}, both);
    };
    const auto body = [&]() -> absl::StatusOr<trace::Val> {
      if (!to.within) return step(b, in);
      const ir::TypeId types[] = {b.type_id(in[0]), b.type_id(in[1])};
      RICCI_ASSIGN(const auto nested, b.Nest("body", types));
      RICCI_ASSIGN(const trace::Val result, step(*nested, nested->params().data()));
      RICCI_ASSIGN(const ir::ProgramRef f, nested->Finish({&result, 1}));
      ricci_program* slot = nullptr;
      const ricci_attr held = trace::ProgramAttr("body", *f, slot);
      return b.Emit1("call", {&held, 1}, {in, 2});
    };
    absl::StatusOr<trace::Val> made = body();
    if (!made.ok()) return base::ToAbi(made.status());
    out[0] = *made;
    return kOk;
  };
  return l;
}

// By every transform, through any number of rows: a status, not the end of the stack.
TEST_F(Rules, ADecompositionThatNeverEndsIsAnError) {
  struct Case {
    std::string row, next;
    bool within, twice;
  };
  const Case cases[] = {
      {"test.self", "test.self", false, false},    {"test.there", "test.back", false, false},
      {"test.back", "test.there", false, false},   {"test.both", "test.both", false, true},
      {"test.inside", "test.inside", true, false}, {"test.inside_twice", "test.inside_twice", true, true}};
  for (const Case& c : cases) {
    const ricci_lowering lowering = LeadsTo(c.next.c_str(), c.within, c.twice);
    const ricci_lowering* const lowerings[] = {&lowering};
    AddRow(c.row, [&](ricci_prim_def& d) { d.lowerings = lowerings, d.n_lowerings = 1; });
  }
  for (const Case& c : cases) {
    const ir::ProgramRef f = One(c.row);
    const absl::Status all[] = {transform::Jvp(*f, Mask{1, 0}).status(),
                                transform::Transpose(*f, Mask{1, 0}, {}, false).status(),
                                transform::Batch(*f, Mask{1, 0}, 3, "axis").status()};
    for (const absl::Status& s : all) {
      const std::string message(s.message());
      const bool said = message.find("its decomposition never ends") != message.npos ||
                        message.find("programs nested deeper than 256") != message.npos;
      EXPECT_TRUE(!s.ok() && said) << c.row << ": " << s;
    }
  }
  EXPECT_EQ(ErrorOf(Jvp("test.self"), absl::StatusCode::kInvalidArgument), "test.self: its decomposition never ends");
}

// Nor does a rule that transforms a program nested in its own, in which its operation is again.
TEST_F(Rules, ARuleThatTransformsItselfIsAnError) {
  using Transform = absl::Status (*)(const ir::Program& f);
  static Transform again;
  static const auto nested = [](ricci_builder* abi, const ricci_op* op) {
    const auto within = [&]() -> absl::Status {
      trace::Builder& b = *trace::FromAbi(abi);
      RICCI_ASSIGN(const auto inner, b.Nest("inner", {op->in_types, op->n_in}));
      RICCI_ASSIGN(const trace::Val out, inner->Emit1("test.recursive", {}, inner->params()));
      RICCI_ASSIGN(const ir::ProgramRef f, inner->Finish({&out, 1}));
      return again(*f);
    };
    return base::ToAbi(within());
  };
  AddRow("test.recursive", [](ricci_prim_def& d) {
    d.jvp = [](void*, ricci_builder* b, const ricci_op* op, const ricci_jvp_args*) { return nested(b, op); };
    d.transpose = [](void*, ricci_builder* b, const ricci_op* op, const ricci_transpose_args*) {
      return nested(b, op);
    };
    d.batch = [](void*, ricci_builder* b, const ricci_op* op, const ricci_batch_args*) { return nested(b, op); };
  });
  const Transform all[] = {[](const ir::Program& f) {
                             return transform::Jvp(f, Mask{1, 0}).status();
                           },
                           [](const ir::Program& f) {
                             return transform::Transpose(f, Mask{1, 0}, {}, false).status();
                           },
                           [](const ir::Program& f) {
                             return transform::Batch(f, Mask{1, 0}, 3, "axis").status();
                           }};
  for (const Transform t : all) {
    again = t;
    EXPECT_EQ(std::string(t(*One("test.recursive")).message()), "test.recursive: programs nested deeper than 256");
  }
}

// What has no tangent needs no rule for it: an effect, an integer.
TEST_F(Rules, ResultsWithoutTangentsNeedNoJvpRule) {
  AddRow("test.effect", [](ricci_prim_def& d) {
    d.hdr.flags = RICCI_PRIM_EFFECTFUL;
    d.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
      return ricci_builder_set_out_types(b, nullptr, 0);
    };
  });
  AddRow("test.count", [](ricci_prim_def& d) {
    d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
      const ricci_type_desc i = ricci_type_desc_of(RICCI_I32, 0, nullptr);
      ricci_type t = 0;
      ricci_status* const s = ricci_type_make(op->ctx, &i, &t);
      return s != nullptr ? s : ricci_builder_set_out_types(b, &t, 1);
    };
  });
  const ir::ProgramRef f = Parse(R"(
program f(%x: f64[2]) {
  test.effect(%x)
  %n: i32[] = test.count(%x)
  return %x, %n
})");
  EXPECT_EQ(Text(Get(transform::Jvp(*f, Mask{1})).program), R"(
program f(%0: f64[2], %1: f64[2]) {
  test.effect(%0)
  %2: i32[] = test.count(%0)
  return %0, %2, %1
})");
}

TEST_F(Rules, AnOrdinaryDecompositionDoesNot) {
  const ricci_lowering lowering = Product(0);
  const ricci_lowering* const lowerings[] = {&lowering};
  AddRow("test.opaque", [&](ricci_prim_def& d) { d.lowerings = lowerings, d.n_lowerings = 1; });
  const std::string how = " (flag its decomposition RICCI_LOWERING_TRANSFORMABLE, and it supplies one)";
  EXPECT_EQ(ErrorOf(Jvp("test.opaque"), absl::StatusCode::kUnimplemented), "test.opaque: no jvp rule" + how);
  EXPECT_EQ(ErrorOf(Transpose("test.opaque"), absl::StatusCode::kUnimplemented),
            "test.opaque: no transpose rule" + how);
  EXPECT_EQ(ErrorOf(Batch("test.opaque"), absl::StatusCode::kUnimplemented), "test.opaque: no batch rule" + how);
}

TEST_F(Rules, AnElementwiseRowIsBatchedWithoutARule) {
  AddRow("test.pair", [](ricci_prim_def& d) { d.batch_kind = RICCI_BATCH_ELEMENTWISE; });
  EXPECT_EQ(Text(Get(Batch("test.pair")).program), R"(
program f(%0: f64[3,2], %1: f64[2]) {
  %2: f64[3,2] = broadcast_in_dim(%1) shape=[3,2] broadcast_dimensions=[1]
  %3: f64[3,2] = test.pair(%0, %2)
  return %3
})");
  // A scalar beside arrays stays one as long as it is not batched.
  const ir::ProgramRef f =
      Parse("program f(%x: f64[2], %y: f64[]) {\n  %z: f64[2] = test.pair(%x, %y)\n  return %z\n}");
  EXPECT_EQ(Prims(Get(transform::Batch(*f, Mask{1, 0}, 3, "")).program), "test.pair");
  EXPECT_EQ(Prims(Get(transform::Batch(*f, Mask{1, 1}, 3, "")).program), "broadcast_in_dim test.pair");
}

TEST_F(Rules, UsesAreCounted) {
  const uint64_t jvp = Uses("mul", prim::Rule::kJvp), transpose = Uses("mul", prim::Rule::kTranspose),
                 batch = Uses("mul", prim::Rule::kBatch);
  Get(Jvp("mul"));
  Get(Transpose("mul"));
  Get(Batch("mul"));
  EXPECT_EQ(Uses("mul", prim::Rule::kJvp), jvp + 1);
  EXPECT_EQ(Uses("mul", prim::Rule::kTranspose), transpose + 1);
  EXPECT_EQ(Uses("mul", prim::Rule::kBatch), batch + 1);
}

}  // namespace
}  // namespace ricci::testing
