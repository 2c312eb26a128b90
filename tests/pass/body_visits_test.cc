// Nested programs: no transform and no pass visits a body more than a fixed number of times, however deep it is. A row
// in the innermost body counts the calls of its rules.
#include "control/structural_row.h"
#include "pass/lowered_program.h"
#include "transform/dead_code.h"
#include "transform/grad.h"
#include "transform/partial_eval.h"
#include "transform/vmap.h"

namespace ricci::testing { namespace {

using control::Builder;

// x -> x with a derivative that is not constant.
struct Probe {
  uint64_t calls = 0;

  static Probe& Of(void* self) {
    auto& probe = *static_cast<Probe*>(self);
    ++probe.calls;
    return probe;
  }
  static ricci_status* Type(void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  }
  static ricci_status* Jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
    Of(self);
    return base::AtBorder([&]() -> absl::Status {
      Builder& to = *trace::FromAbi(b);
      RICCI_ASSIGN(auto out, to.Emit(op->prim, {}, {a->primals, 1}));
      a->out_primals[0] = out[0];
      const trace::Val in[] = {out[0], a->tangents[0]};
      RICCI_ASSIGN(a->out_tangents[0], to.Emit1("mul", {}, in));
      return absl::OkStatus();
    });
  }
  static ricci_status* Dce(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a) {
    Of(self);
    a->used_in[0] = 1;
    if (a->in == nullptr) return nullptr;
    return base::AtBorder([&]() -> absl::Status {
      RICCI_ASSIGN(auto out, trace::FromAbi(b)->Emit(op->prim, {}, {a->in, 1}));
      a->out[0] = out[0];
      return absl::OkStatus();
    });
  }
  static ricci_status* Batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
    Of(self);
    return base::AtBorder([&]() -> absl::Status {
      RICCI_ASSIGN(auto out, trace::FromAbi(b)->Emit(op->prim, {}, {a->in, 1}));
      a->out[0] = out[0];
      a->out_dims[0] = a->in_dims[0];
      return absl::OkStatus();
    });
  }
  static ricci_status* Match(void* self, const ricci_op*, uint32_t* accept) {
    Of(self);
    *accept = 1;
    return nullptr;
  }
  static ricci_status* Scalar(void* self, ricci_kernel_builder*, const ricci_op*, const ricci_sval* in,
                              ricci_sval* out) {
    Of(self);
    out[0] = in[0];
    return nullptr;
  }
};

class BodyVisits : public LoweredProgram {
 protected:
  BodyVisits() {
    static constexpr std::string_view kName = "test.probe", kTarget = "*";
    ricci_lowering l{};
    l.hdr.size = sizeof l;
    l.kind = RICCI_LOWER_SCALAR;
    l.target = control::Str(kTarget);
    l.match = Probe::Match;
    l.scalar = Probe::Scalar;
    const ricci_lowering* lowerings[] = {&l};
    ricci_prim_def d{};
    d.hdr.size = sizeof d;
    d.name = control::Str(kName);
    d.self = &probe;
    d.abstract_eval = Probe::Type;
    d.jvp = Probe::Jvp;
    d.dce = Probe::Dce;
    d.batch = Probe::Batch;
    d.lowerings = lowerings;
    d.n_lowerings = 1;
    EXPECT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  }

  // How often the probe's rules are called while `run` works on `depth` levels of `wrap` around it.
  using Wrap = std::string (*)(std::string_view body);
  uint64_t Calls(Wrap wrap, int depth, const std::function<absl::Status(const ir::Program&)>& run) {
    std::string body = "(%x: f64[]) {\n%y: f64[] = test.probe(%x)\nreturn %y }";
    for (int i = 0; i < depth; ++i) body = wrap(body);
    ricci_program* f = Parse("program f" + body);
    if (f == nullptr) return 0;
    probe.calls = 0;
    EXPECT_EQ(run(*ir::FromAbi(f)), absl::OkStatus()) << depth;
    ricci_program_release(f);
    return probe.calls;
  }
  // There are no more calls at 16 levels than at 4.
  void ExpectFlat(std::string_view what, const std::function<absl::Status(const ir::Program&)>& run);

  Probe probe;
};

std::string Scan(std::string_view body) {
  return base::Cat("(%x: f64[]) {\n%y: f64[] = scan(%x) length=2 num_consts=0 num_carry=1 body=program", body,
                   "\nreturn %y }");
}
std::string ScanWithConst(std::string_view body) {  // the tangent and the batch reach the carry after one trip
  return base::Cat("(%x: f64[]) {\n%o: f64[] = constant 1.0\n",
                   "%y: f64[] = scan(%x, %o) length=2 num_consts=1 num_carry=1 body=program(%x: f64[], %c: f64[]) {\n",
                   "%s: f64[] = add(%x, %c)\n%b: f64[] = call(%s) body=program", body, "\nreturn %b }\nreturn %y }");
}
std::string While(std::string_view body) {
  return base::Cat("(%x: f64[]) {\n%y: f64[] = while(%x) cond_nconsts=0 body_nconsts=0 max_trips=2 ",
                   "cond=program(%x: f64[]) {\n%o: f64[] = constant 1.0\n%p: bool[] = lt(%x, %o)\nreturn %p } ",
                   "body=program", body, "\nreturn %y }");
}
std::string Cond(std::string_view body) {
  return base::Cat("(%x: f64[]) {\n%i: i32[] = convert_element_type(%x) new_dtype=i32\n",
                   "%y: f64[] = cond(%i, %x) branches=[program", body, ", program(%x: f64[]) {\nreturn %x }]\n",
                   "return %y }");
}
std::string Checkpoint(std::string_view body) {
  return base::Cat("(%x: f64[]) {\n%y: f64[] = checkpoint(%x) policy=\"nothing\" body=program", body, "\nreturn %y }");
}
std::string Call(std::string_view body) {
  return base::Cat("(%x: f64[]) {\n%y: f64[] = call(%x) body=program", body, "\nreturn %y }");
}

void BodyVisits::ExpectFlat(std::string_view what, const std::function<absl::Status(const ir::Program&)>& run) {
  const std::pair<std::string_view, Wrap> kinds[] = {{"scan", Scan},   {"scan with constant", ScanWithConst},
                                                     {"while", While}, {"cond", Cond},
                                                     {"call", Call},   {"checkpoint", Checkpoint}};
  for (const auto& [name, wrap] : kinds) {
    const uint64_t few = Calls(wrap, 4, run), many = Calls(wrap, 16, run);
    EXPECT_GT(few, 0) << what << " of " << name;
    EXPECT_LE(many, few) << what << " of " << name;
  }
}

TEST_F(BodyVisits, DeadCodeVisitsABodyOnce) {
  ExpectFlat("prune", [](const ir::Program& f) { return transform::Prune(f, transform::Mask(1, 1)).status(); });
}

TEST_F(BodyVisits, ForwardModeVisitsABodyOnce) {
  ExpectFlat("jvp", [](const ir::Program& f) { return transform::Jvp(f, transform::Mask(1, 1)).status(); });
}

TEST_F(BodyVisits, BatchingVisitsABodyOnce) {
  ExpectFlat("batch", [](const ir::Program& f) { return transform::Batch(f, transform::Mask(1, 1), 3, "").status(); });
}

TEST_F(BodyVisits, GradientsVisitABodyOnce) {
  const uint32_t zero = 0;
  ExpectFlat("grad", [&](const ir::Program& f) { return transform::Grad(f, {&zero, 1}, false).status(); });
}

TEST_F(BodyVisits, PassesVisitABodyOnce) {
  ExpectFlat("lower", [](const ir::Program& f) { return pass::Lower(f, {.target = pass::Target("cpu")}).status(); });
}

// A delay line: every trip moves each of `n` carries to the one before it, so a flag of the last one takes n trips to
// reach the first. The result is the first one.
std::string DelayLine(std::string_view loop, int n) {
  std::string params, in, out, results;
  for (int i = 0; i < n; ++i) {
    const std::string_view comma = i == 0 ? "" : ", ";
    params += base::Cat(comma, "%x", i, ": f64[]");
    in += base::Cat(comma, "%x", i);
    results += base::Cat(comma, "%r", i, ": f64[]");
    out += i + 1 == n ? base::Cat(comma, "%p") : base::Cat(comma, "%x", i + 1);
  }
  return base::Cat("program f(", params, ") {\n", results, " = ", loop == "scan" ? "scan(" : "while(", in, ") ",
                   loop == "scan" ? base::Cat("length=2 num_consts=0 num_carry=", n)
                                  : base::Cat("cond_nconsts=0 body_nconsts=0 cond=program(", params,
                                              ") {\n%o: f64[] = constant 1.0\n%p: bool[] = lt(%o, %o)\nreturn %p }"),
                   " body=program(", params, ") {\n%p: f64[] = test.probe(%x", n - 1, ")\nreturn ", out,
                   " }\nreturn %r0 }");
}

TEST_F(BodyVisits, FlagsOfManyCarriesTakeABoundedNumberOfRounds) {
  using Run = std::function<absl::Status(const ir::Program&)>;
  const auto last = [](const ir::Program& f) {
    transform::Mask mask(f.n_params(), 0);
    mask.back() = 1;
    return mask;
  };
  const std::pair<std::string_view, Run> transforms[] = {
      {"prune", [](const ir::Program& f) { return transform::Prune(f, transform::Mask(1, 1)).status(); }},
      {"jvp", [&](const ir::Program& f) { return transform::Jvp(f, last(f)).status(); }},
      {"batch", [&](const ir::Program& f) { return transform::Batch(f, last(f), 3, "").status(); }},
      {"partial evaluation", [&](const ir::Program& f) {
         return transform::PartialEval(f, transform::Not(last(f)), transform::Mask(1, 0)).status();
       }}};
  for (const std::string_view loop : {"scan", "while"}) {
    for (const auto& each : transforms) {
      const std::string_view name = each.first;
      const Run& run = each.second;
      const auto calls = [&](int n) {
        ricci_program* f = Parse(DelayLine(loop, n));
        if (f == nullptr) return uint64_t{0};
        probe.calls = 0;
        EXPECT_EQ(run(*ir::FromAbi(f)), absl::OkStatus()) << name << " of " << loop;
        ricci_program_release(f);
        return probe.calls;
      };
      const uint64_t few = calls(100), many = calls(400);
      EXPECT_GT(few, 0) << name << " of " << loop;
      EXPECT_LE(many, few) << name << " of " << loop;
    }
  }
}

}  // namespace
}  // namespace ricci::testing
