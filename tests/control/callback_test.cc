// Programs that call functions of the host: what they get, how often and in which order, under every transform.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class Callbacks : public ::testing::Test {
 protected:
  Callbacks() {
    ricci_callback f{};
    f.hdr.size = sizeof f;
    f.self = this;
    f.call = Double;
    EXPECT_TRUE(Ok(Add("double", f)));
    f.call = Note;
    EXPECT_TRUE(Ok(Add("note", f)));
    f.call = [](void*, const ricci_callback_call*) { return ricci_status_make(RICCI_OUT_OF_RANGE, "too far", 7); };
    EXPECT_TRUE(Ok(Add("fail", f)));
  }
  ricci_status* Add(std::string_view name, const ricci_callback& f) {
    return ricci_context_add_callback(r.ctx(), name.data(), name.size(), &f);
  }
  static int64_t Elements(const ricci_callback_call* c, ricci_type t) {
    ricci_type_desc d = ricci_type_desc_default();
    EXPECT_TRUE(Ok(ricci_type_get(c->ctx, t, &d)));
    int64_t n = 1;
    for (uint32_t i = 0; i < d.rank; ++i) n *= d.dims[i];
    return n;
  }
  // Twice the f64 operand, repeated over the result.
  static ricci_status* Double(void* self, const ricci_callback_call* c) {
    ++static_cast<Callbacks*>(self)->calls;
    const int64_t n = Elements(c, c->out_types[0]), given = Elements(c, c->in_types[0]);
    for (int64_t i = 0; i < n; ++i) {
      static_cast<double*>(c->out[0])[i] = 2 * static_cast<const double*>(c->in[0])[i % given];
    }
    return nullptr;
  }
  // Keeps the first element of its first operand.
  static ricci_status* Note(void* self, const ricci_callback_call* c) {
    auto& noted = static_cast<Callbacks*>(self)->noted;
    noted.push_back(*static_cast<const double*>(c->in[0]));
    if (c->n_out == 1) *static_cast<double*>(c->out[0]) = static_cast<double>(noted.size());
    return nullptr;
  }
  std::string CompileError(std::string_view text) { return CompileError(r.Parse(text)); }
  std::string CompileError(const Program& f) {
    ricci_executable* x = nullptr;
    ricci_status* const s = ricci_compile(f.get(), nullptr, &x);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }
  // What `f` notes in one run on each device.
  void ExpectNoted(const Program& f, const std::vector<Numbers>& args, const Numbers& want) {
    for (const std::string& device : r.Devices()) {
      noted.clear();
      r.Run(f, args, device);
      EXPECT_EQ(noted, want) << device;
    }
  }

  int64_t calls = 0;
  Numbers noted;
  ProgramRunner r;
};

std::string Pure(std::string_view method) {
  return "program f(%x: f64[2]) { %y: f64[2] = pure_callback(%x) callback=\"double\" results=\"f64[2]\" "
         "vmap_method=\"" +
         std::string(method) + "\" %z: f64[2] = sin(%y) return %z }";
}

TEST_F(Callbacks, AProgramUsesWhatTheFunctionGives) {
  const Numbers got = r.RunEverywhere(r.Parse(Pure("")), {{1, 2}})[0];
  ExpectNear(got, {std::sin(2.0), std::sin(4.0)}, 1e-15);
  // Nothing needs the result, so it is not called.
  calls = 0;
  const Program unused = r.Parse(
      "program f(%x: f64[2]) { %y: f64[2] = pure_callback(%x) callback=\"double\" results=\"f64[2]\" return %x }");
  for (const std::string& device : r.Devices()) {
    if (device != "ref") r.Run(unused, {{1, 2}}, device);
  }
  EXPECT_EQ(calls, 0);
}

TEST_F(Callbacks, UnderVmapItIsCalledOneByOneOrOnce) {
  const Numbers x = {1, 2, 3, 4, 5, 6};
  Numbers want;
  for (double v : x) want.push_back(std::sin(2 * v));
  const std::pair<const char*, int64_t> methods[] = {{"sequential", 3}, {"expand_dims", 1}, {"broadcast_all", 1}};
  for (const auto& [method, times] : methods) {
    const Program f = r.Vmap(r.Parse(Pure(method)), {0}, {0}, 3);
    for (const std::string& device : r.Devices()) {
      calls = 0;
      ExpectNear(r.Run(f, {x}, device)[0], want, 1e-14);
      EXPECT_EQ(calls, times) << method << " " << device;
    }
    const Program twice = r.Vmap(r.Vmap(r.Parse(Pure(method)), {0}, {0}, 3), {1}, {1}, 2);
    EXPECT_EQ(r.RunEverywhere(twice, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}})[0].size(), 12u);
  }
  EXPECT_EQ(CompileError("program f(%x: f64[3,2]) { %y: f64[3,2] = vmap(%x) size=3 in_axes=[0] out_axes=[0] body=" +
                         Pure("") + " return %y }"),
            "test:1: pure_callback: vmap needs to know how to call it; give vmap_method: sequential, expand_dims "
            "or broadcast_all");
}

TEST_F(Callbacks, OperandsWithoutABatchAreNotRepeatedUnlessAsked) {
  constexpr std::string_view kSum =
      "program f(%x: f64[], %y: f64[]) { %z: f64[] = pure_callback(%y, %x) callback=\"double\" results=\"f64[]\" "
      "vmap_method=\"expand_dims\" return %z }";
  EXPECT_EQ(r.RunEverywhere(r.Vmap(r.Parse(kSum), {0, -1}, {0}, 3), {{1, 2, 3}, {5}})[0], (Numbers{10, 10, 10}));
}

TEST_F(Callbacks, EffectsKeepTheirOrderAndNumber) {
  constexpr std::string_view kThree = R"(
program f(%x: f64[]) {
  %two: f64[] = constant 2.0
  debug_callback(%x) callback="note"
  %y: f64[] = mul(%x, %two)
  %a: f64[] = io_callback(%y) callback="note" results="f64[]"
  %s: f64[] = sin(%x)
  debug_callback(%two) callback="note"
  debug_callback(%two) callback="note"
  %b: f64[] = io_callback(%y) callback="note" results="f64[]"
  %r: f64[] = add(%s, %b)
  return %r
})";
  ExpectNoted(r.Parse(kThree), {{3}}, {3, 6, 2, 2, 6});
  EXPECT_NEAR(r.Run(r.Parse(kThree), {{3}}, r.Devices()[0])[0][0], std::sin(3.0) + 10, 1e-12);
}

TEST_F(Callbacks, EffectsInLoopsAndBranches) {
  const Program loop = r.Parse(R"(
program f(%x: f64[3], %c: f64[]) {
  %e: f64[] = scan(%c, %x) length=3 num_consts=0 num_carry=1 body=program b(%c: f64[], %v: f64[]) {
    %n: f64[] = add(%c, %v)
    debug_callback(%n) callback="note"
    return %n
  }
  %zero: f64[] = constant 0.0
  %p: bool[] = gt(%e, %zero)
  %i: i32[] = convert_element_type(%p) new_dtype=i32
  %r: f64[] = cond(%i, %e) branches=[program no(%v: f64[]) { return %v }, program yes(%v: f64[]) {
    debug_callback(%v) callback="note"
    return %v
  }]
  return %r
})");
  ExpectNoted(loop, {{1, 2, 3}, {0}}, {1, 3, 6, 6});
  ExpectNoted(loop, {{1, 2, 3}, {-10}}, {-9, -7, -4});
}

// Each element of a batch takes its own branch and makes its own trips, and only the effects in these happen.
TEST_F(Callbacks, EffectsOfABatchAreThoseOfItsElements) {
  const Program branch = r.Parse(R"(
program f(%i: i32[], %x: f64[]) {
  %two: f64[] = constant 2.0
  %r: f64[] = cond(%i, %x, %two) branches=[program no(%v: f64[], %two: f64[]) {
    debug_callback(%two) callback="note"
    return %v
  }, program yes(%v: f64[], %two: f64[]) {
    %n: f64[] = io_callback(%v) callback="note" results="f64[]"
    %w: f64[] = mul(%v, %two)
    return %w
  }]
  return %r
})");
  ExpectNoted(r.Vmap(branch, {0, 0}, {0}, 3), {{1, 0, 1}, {5, 6, 7}}, {5, 2, 7});
  EXPECT_EQ(r.RunEverywhere(r.Vmap(branch, {0, 0}, {0}, 3), {{1, 0, 1}, {5, 6, 7}})[0], (Numbers{10, 6, 14}));
  const Program loop = r.Parse(R"(
program f(%x: f64[]) {
  %e: f64[] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program c(%v: f64[]) {
    %five: f64[] = constant 5.0
    %go: bool[] = lt(%v, %five)
    return %go
  } body=program b(%v: f64[]) {
    debug_callback(%v) callback="note"
    %w: f64[] = add(%v, %v)
    return %w
  }
  return %e
})");
  ExpectNoted(r.Vmap(loop, {0}, {0}, 3), {{1, 7, 3}}, {1, 2, 4, 3});
  EXPECT_EQ(r.RunEverywhere(r.Vmap(loop, {0}, {0}, 3), {{1, 7, 3}})[0], (Numbers{8, 7, 6}));
}

// However much the passes find out: what softmax gives is 1, and so the same for all elements.
TEST_F(Callbacks, SimplificationDoesNotChangeHowOftenAnEffectHappens) {
  const Program f = r.Parse(R"(
program f(%x: f64[2]) {
  %c: f64[2] = constant [1.0, 1.0]
  %y: f64[2] = vmap(%c, %x) size=2 in_axes=[0,0] out_axes=[0] body=program b(%c: f64[], %x: f64[]) {
    debug_callback(%c) callback="note"
    return %x
  }
  return %y
})");
  ExpectNoted(f, {{1, 2}}, {1, 1});
}

// Its elements take the same branch, so the check in it needs no lanes; another branch may be refused.
TEST_F(Callbacks, ACheckInABranchBesideACallback) {
  const auto branches = [](std::string_view index) {
    return "program f(%i: i32[], %j: i32[], %x: f64[]) {\n  %r: f64[] = cond(" + std::string(index) +
           R"(, %x) branches=[
  program no(%v: f64[]) { return %v }, program yes(%v: f64[]) {
    %zero: f64[] = constant 0.0
    %ok: bool[] = gt(%v, %zero)
    %n: f64[] = pure_callback(%v) callback="double" results="f64[]" vmap_method="sequential"
    %w: f64[] = check(%ok, %n) code=9 message="not positive"
    return %w
  }]
  return %r
})";
  };
  const Program same = r.Vmap(r.Parse(branches("%i")), {-1, 0, 0}, {0}, 2);
  EXPECT_EQ(r.RunEverywhere(same, {{1}, {0, 0}, {3, 4}})[0], (Numbers{6, 8}));
  EXPECT_EQ(CompileError(r.Vmap(r.Parse(branches("%j")), {-1, 0, 0}, {0}, 2)),
            "vmap: its body holds a check in a branch, so it can only run in lanes, and pure_callback, which "
            "cannot run within a kernel");
}

// Batching it for the outer vmap moves it below another one each time.
TEST_F(Callbacks, ACheckInABranchBesideACallbackIsRefusedWithinTwoBatches) {
  const Program f = r.Parse(R"(
program f(%j: i32[2,3], %x: f64[3]) {
  %r: f64[2,3] = vmap(%j, %x) size=2 in_axes=[0,-1] out_axes=[0] body=program(%j: i32[3], %x: f64[3]) {
    %s: f64[3], %c: f64[3] = vmap(%j, %x) size=3 in_axes=[0,0] out_axes=[0,0] body=program(%j: i32[], %x: f64[]) {
      %r: f64[] = cond(%j, %x) branches=[program no(%v: f64[]) { return %v }, program yes(%v: f64[]) {
        %zero: f64[] = constant 0.0
        %ok: bool[] = gt(%v, %zero)
        %n: f64[] = pure_callback(%v) callback="double" results="f64[]" vmap_method="sequential"
        %w: f64[] = check(%ok, %n) code=9 message="not positive"
        return %w
      }]
      %c: f64[] = cos(%x)
      return %r, %c
    }
    %t: f64[3] = add(%s, %c)
    return %t
  }
  return %r
})");
  EXPECT_EQ(CompileError(f),
            "test:3: vmap: its body holds a check in a branch, so it can only run in lanes, and pure_callback, which "
            "cannot run within a kernel");
}

TEST_F(Callbacks, AnOrderedEffectInABranchOfABatchIsRefused) {
  const Program f = r.Parse(R"(
program f(%i: i32[], %x: f64[]) {
  %r: f64[] = cond(%i, %x) branches=[program no(%v: f64[]) { return %v }, program yes(%v: f64[]) {
    %n: f64[] = io_callback(%v) callback="note" results="f64[]" ordered=true
    return %n
  }]
  return %r
})");
  EXPECT_EQ(CompileError(r.Vmap(f, {0, 0}, {0}, 3)),
            "test:4: io_callback: an ordered callback has no order under vmap; use ordered=false");
}

// What does not change on the trips of a loop is computed once before it, but effects stay in it.
TEST_F(Callbacks, DerivativesOfALoopRunItsEffectsOnce) {
  const Program loop = r.Parse(R"(
program f(%w: f64[], %x: f64[3]) {
  %e: f64[] = scan(%w, %w, %x) length=3 num_consts=1 num_carry=1 body=program b(%w: f64[], %c: f64[], %v: f64[]) {
    %s: f64[] = sin(%w)
    debug_callback(%s) callback="note"
    %n: f64[] = mul(%c, %s)
    return %n
  }
  return %e
})");
  const double s = std::sin(0.5);
  ExpectNoted(r.Grad(loop), {{0.5}, {1, 2, 3}}, {s, s, s});
  ExpectNear(r.RunEverywhere(r.Grad(loop), {{0.5}, {1, 2, 3}})[0], {s * s * s + 0.5 * 3 * s * s * std::cos(0.5)},
             1e-12);
}

// The loop counts; that one of its operands is varied changes no carry, so only the effect is left to run.
TEST_F(Callbacks, DerivativesRunTheEffectsOfACountingLoopOnce) {
  const Program f = r.Parse(R"(
program f(%x: f64[], %n: i64[]) {
  %e: i64[] = while(%x, %n) cond_nconsts=0 body_nconsts=1 cond=program c(%i: i64[]) {
    %three: i64[] = constant 3
    %go: bool[] = lt(%i, %three)
    return %go
  } body=program b(%x: f64[], %i: i64[]) {
    debug_callback(%x) callback="note"
    %k: i64[] = while(%x, %i) cond_nconsts=0 body_nconsts=1 cond=program c(%j: i64[]) {
      %two: i64[] = constant 2
      %go: bool[] = lt(%j, %two)
      return %go
    } body=program b(%x: f64[], %j: i64[]) {
      debug_callback(%x) callback="note"
      %one: i64[] = constant 1
      %l: i64[] = add(%j, %one)
      return %l
    }
    %one: i64[] = constant 1
    %l: i64[] = add(%k, %one)
    return %l
  }
  %y: f64[] = sin(%x)
  return %y
})");
  ExpectNoted(r.Grad(f), {{0.5}, {0}}, Numbers(3, 0.5));
  ExpectNear(r.RunEverywhere(r.Grad(f), {{0.5}, {0}})[0], {std::cos(0.5)}, 1e-15);
}

// The linear half of jvp runs the loop again, without the effects unless it needs what they give.
TEST_F(Callbacks, ALoopThatRunsAgainForItsDerivativeLeavesTheEffectsToTheFirstOne) {
  const auto loop = [](std::string_view effect) {
    return R"(
program f(%x: f64[]) {
  %e: f64[], %d: f64[] = while(%x, %x) cond_nconsts=0 body_nconsts=0 cond=program c(%v: f64[], %w: f64[]) {
    %five: f64[] = constant 5.0
    %go: bool[] = lt(%v, %five)
    return %go
  } body=program b(%v: f64[], %w: f64[]) {
    )" + std::string(effect) +
           R"(
    %n: f64[] = add(%v, %v)
    %m: f64[] = add(%w, %a)
    return %n, %m
  }
  %y: f64[] = mul(%e, %d)
  return %y
})";
  };
  const uint8_t known[] = {1, 0};
  uint8_t out_known[2] = {};
  uint32_t n_residuals = 0;
  ricci_program *first = nullptr, *second = nullptr;
  const auto split = [&](std::string_view effect) {
    return ricci_partial_eval(r.Jvp(r.Parse(loop(effect)), {1}).get(), known, 2, nullptr, out_known, &n_residuals,
                              &first, &second);
  };
  ASSERT_TRUE(Ok(split("debug_callback(%v) callback=\"note\" %a: f64[] = copy(%v)")));
  const Program values(first), tangents(second);
  EXPECT_NE(r.Print(values).find("debug_callback"), std::string::npos);
  EXPECT_NE(r.Print(tangents).find("while"), std::string::npos);
  EXPECT_EQ(r.Print(tangents).find("debug_callback"), std::string::npos);
  EXPECT_EQ(Message(split("%s: f64[] = stop_gradient(%v) %a: f64[] = io_callback(%s) callback=\"note\" "
                          "results=\"f64[]\"")),
            "test:3: while: an effect may not run twice, with the values and with the derivatives; move it out, or "
            "give max_trips");
}

TEST_F(Callbacks, AResultWithoutAnAxisMayNotComeFromAnEffect) {
  const Program f = r.Parse(R"(
program f(%x: f64[], %w: f64[]) {
  %a: f64[] = io_callback(%w) callback="note" results="f64[]"
  %b: f64[] = mul(%w, %w)
  return %a, %b
})");
  const auto vmap = [&](std::vector<int32_t> out_axes) {
    const int32_t in_axes[] = {0, -1};
    ricci_program* p = nullptr;
    ricci_status* const s = ricci_vmap(f.get(), in_axes, 2, out_axes.data(), 2, 3, nullptr, &p);
    return std::pair(s == nullptr ? "" : Message(s), Program(p));
  };
  EXPECT_EQ(vmap({-1, 0}).first,
            "vmap: a result of program f has out_axes -1 but comes from an operation with an effect; give it an axis");
  ExpectNoted(vmap({0, -1}).second, {{1, 2, 3}, {4}}, {4});  // no operand is batched, so it is called once
}

TEST_F(Callbacks, DerivativesPassDebugRowsByAndRefuseTheOthers) {
  const Program f = r.Parse(R"(
program f(%x: f64[]) {
  %s: f64[] = sin(%x)
  debug_callback(%s) callback="note"
  %y: f64[] = mul(%s, %s)
  return %y
})");
  ExpectNoted(r.Grad(f), {{0.5}}, {std::sin(0.5)});
  ExpectNear(r.RunEverywhere(r.Grad(f), {{0.5}})[0], {std::sin(1.0)}, 1e-15);
  ExpectNoted(r.Vmap(f, {0}, {0}, 2), {{0.5, 0.25}}, {std::sin(0.5), std::sin(0.25)});
  const Program pure = r.Parse(Pure(""));
  const uint8_t active = 1;
  ricci_program* out = nullptr;
  EXPECT_EQ(Message(ricci_jvp(pure.get(), &active, 1, &out)),
            "test:1: pure_callback: double has no derivative; put it into a function with custom_jvp or "
            "custom_vjp, or give it the operands through stop_gradient");
}

TEST_F(Callbacks, ItsFailureIsThatOfTheRun) {
  const Program f =
      r.Parse("program f(%x: f64[]) { %y: f64[] = io_callback(%x) callback=\"fail\" results=\"f64[]\" return %y }");
  EXPECT_EQ(r.RunError(f, {{1}}), "test:1: io_callback: too far");
  // The same program from elsewhere is not the same code.
  const Program lower =
      r.Parse("\n\nprogram f(%x: f64[]) { %y: f64[] = io_callback(%x) callback=\"fail\" results=\"f64[]\" return %y }");
  EXPECT_EQ(r.RunError(lower, {{1}}), "test:3: io_callback: too far");
}

TEST_F(Callbacks, WrongProgramsAndCallbacks) {
  const auto io = [](std::string_view results) {
    return "program f(%x: f64[]) { %y: f64[] = io_callback(%x) callback=\"note\" results=\"" + std::string(results) +
           "\" return %y }";
  };
  EXPECT_NE(r.ParseError(io("f65[]")).find("io_callback: results:1:2: "), std::string::npos)
      << r.ParseError(io("f65[]"));
  EXPECT_NE(r.ParseError(io("f64[]) x=1")).find("io_callback: results:1:"), std::string::npos);
  EXPECT_EQ(
      CompileError("program f(%x: f64[]) { %y: f64[] = io_callback(%x) callback=\"none\" results=\"f64[]\" "
                   "return %y }"),
      "test:1: io_callback: the context has no callback none; add it with ricci_context_add_callback, in Python with "
      "Context.add_callback");
  ricci_callback f{};
  f.hdr.size = sizeof f;
  EXPECT_EQ(Message(Add("null", f)), "callback null: call and batch are NULL");
  f.call = Note;
  EXPECT_EQ(Message(Add("note", f)), "callback note exists already; choose another name");
  EXPECT_EQ(Message(Add("ricci.x", f)), "callback ricci.x: names that begin with ricci. are reserved");
  EXPECT_EQ(Message(Add("", f)), "a callback needs a name");
}

TEST(DebugPrint, GoesToTheLog) {
  std::string log;
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.log_self = &log;
  hooks.log = [](void* self, uint32_t, const char* text, size_t n) {
    static_cast<std::string*>(self)->append(text, n) += '\n';
  };
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = &hooks;
  ProgramRunner r(&o);
  const Program f = r.Parse(R"(
program f(%x: f64[2], %n: i32[]) {
  debug_print(%x, %n) fmt="x = {}, {{n}} = {}"
  return %x
})");
  for (const std::string& device : r.Devices()) {
    log.clear();
    r.Run(f, {{1.5, -2}, {7}}, device);
    EXPECT_EQ(log, "x = [1.5, -2.0], {n} = 7\n") << device;
    log.clear();
    r.Run(r.Vmap(f, {0, -1}, {0}, 2), {{1, 2, 3, 4}, {7}}, device);
    EXPECT_EQ(log, "x = [1.0, 2.0], {n} = 7\nx = [3.0, 4.0], {n} = 7\n") << device;
  }
  EXPECT_NE(r.ParseError("program f(%x: f64[]) { debug_print(%x) fmt=\"none\" return %x }")
                .find("debug_print: fmt asks for 0 operands; there are 1"),
            std::string::npos);
  EXPECT_NE(r.ParseError("program f(%x: f64[]) { debug_print(%x) fmt=\"{\" return %x }")
                .find("debug_print: fmt has a brace alone at character 0; {} is an operand, {{ and }} are braces"),
            std::string::npos);
}

}}  // namespace ricci::testing
