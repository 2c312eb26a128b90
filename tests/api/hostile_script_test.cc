// The scripted row itself: each rule is called where the script says, and a row that does what it must passes.
#include "hostile_script.h"

namespace ricci::testing {
namespace {

void SetProgramRule(Script& s, const std::string& rule) {
  if (rule == "abstract_eval") {
    s.def.abstract_eval = [](void* self, ricci_builder* b, const ricci_op* op) {
      return Of(self).Do({.op = op, .b = b});
    };
  } else if (rule == "jvp") {
    s.def.jvp = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
      return Of(self).Do({.op = op, .b = b, .in = a->primals, .out = a->out_primals, .jvp = a});
    };
  } else if (rule == "transpose") {
    s.def.transpose = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_transpose_args* a) {
      return Of(self).Do({.op = op, .b = b, .in = a->cts, .out = a->in_cts, .transpose = a});
    };
  } else if (rule == "batch") {
    s.def.batch = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
      return Of(self).Do({.op = op, .b = b, .in = a->in, .out = a->out, .batch = a});
    };
  } else if (rule == "partial_eval") {
    s.def.partial_eval = [](void* self, const ricci_op* op, const ricci_partial_eval_args* a) {
      return Of(self).Do({.op = op, .b = a->known, .in = a->in, .out = a->out, .partial_eval = a});
    };
  } else if (rule == "dce") {
    s.def.dce = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a) {
      return Of(self).Do({.op = op, .b = b, .in = a->in, .out = a->out, .dce = a});
    };
  } else if (rule == "simplify") {
    s.def.simplify = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
      return Of(self).Do({.op = op, .b = b, .in = in, .out = out});
    };
  } else if (rule == "contract") {
    s.def.contract = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, const uint8_t*,
                        ricci_val* out) { return Of(self).Do({.op = op, .b = b, .in = in, .out = out}); };
  } else if (rule == "view_map") {
    s.def.view_map = [](void* self, const ricci_op* op, uint32_t, ricci_view_map* out) {
      return Of(self).Do({.op = op, .view_map = out});
    };
  } else if (rule == "factors_of") {
    s.def.factors_of = [](void* self, const ricci_op* op, void* sink, void (*write)(void*, const char*, size_t)) {
      return Of(self).Do({.op = op, .sink = sink, .write = write});
    };
  }
}

void SetLoweringRule(Script& s, const std::string& rule) {
  ricci_lowering& l = s.lowering;
  if (rule == "decompose") {
    l.kind = RICCI_LOWER_DECOMPOSE;
    l.decompose = [](void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
      return Of(self).Do({.op = op, .b = b, .in = in, .out = out});
    };
  } else if (rule == "match") {
    l.match = [](void* self, const ricci_op* op, uint32_t*) { return Of(self).Do({.op = op}); };
  } else if (rule == "scalar") {
    l.kind = RICCI_LOWER_SCALAR;
    l.scalar = [](void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in, ricci_sval* out) {
      return Of(self).Do({.op = op, .k = k, .loaded = in, .element = out});
    };
  } else if (rule == "index") {
    l.kind = RICCI_LOWER_INDEX;
    l.index = [](void* self, ricci_kernel_builder* k, const ricci_op* op, uint32_t, const ricci_sval* index,
                 ricci_sval* out) { return Of(self).Do({.op = op, .k = k, .index = index, .element = out}); };
  } else if (rule == "loops") {
    l.loops = [](void* self, ricci_kernel_builder* k, const ricci_op* op) { return Of(self).Do({.op = op, .k = k}); };
  } else if (rule == "plan" || rule == "launch") {
    l.kind = RICCI_LOWER_LIBRARY;
    s.library.plan = [](void* self, const ricci_op*, ricci_library_plan* out) -> ricci_status* {
      out->state = self;
      return nullptr;
    };
    s.library.launch = [](void*, const ricci_launch*) -> ricci_status* { return nullptr; };
    if (rule == "plan") {
      s.library.plan = [](void* self, const ricci_op* op, ricci_library_plan* out) {
        return Of(self).Do({.op = op, .plan = out});
      };
    } else {
      s.library.launch = [](void* state, const ricci_launch*) { return Of(state).Do({}); };
    }
  } else if (rule == "source") {
    l.kind = RICCI_LOWER_SOURCE;
    l.target = Str("odd");
    l.source = [](void* self, const ricci_op* op, const ricci_source_args* a) {
      return Of(self).Do({.op = op, .source = a});
    };
  }
}

ricci_status* CopyLoops(void*, ricci_kernel_builder* k, const ricci_op*) {
  return ricci_kernel_copy(k, ricci_kernel_result(k, 0), ricci_kernel_operand(k, 0));
}
ricci_lowering Loops() {
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_LOOPS;
  l.target = Str("*");
  l.loops = CopyLoops;
  return l;
}

// A device on which all passes run, and that takes any source.
ricci_status* AddOdd(ricci_ctx* c, ricci_device** device) {
  ricci_backend b{};
  b.hdr = {sizeof b, RICCI_BACKEND_SOURCES, nullptr};
  b.kind = Str("odd");
  b.compile = [](void*, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
    static int some;
    *code = &some;
    return nullptr;
  };
  b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
  b.drop_code = [](void*) {};
  ricci_target target{};
  target.hdr = {sizeof target, RICCI_TARGET_FMA, nullptr};
  ricci_target_init(&target);
  b.target = &target;
  if (ricci_status* s = ricci_backend_register(c, &b)) return s;
  *device = ricci_device_find(c, "odd", 3);
  return nullptr;
}

ricci_status* CompileFor(ricci_device* on, const ricci_program* f) {
  ricci_compile_opts o = ricci_compile_opts_default();
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  ricci_status* s = ricci_compile(f, &o, &x);
  ricci_executable_release(x);
  return s;
}
ricci_status* Launched(HostileCases& t, const ricci_program* f) {
  ricci_compile_opts o = ricci_compile_opts_default();
  ricci_device* on = t.ref();
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  if (ricci_status* s = ricci_compile(f, &o, &x)) return s;
  const float data[4] = {1, 2, 3, 4};
  ricci_array *in = nullptr, *out = nullptr;
  EXPECT_TRUE(Ok(ricci_array_from_host(on, t.TypeOf(RICCI_F32, {4}), data, nullptr, &in)));
  ricci_status* s = ricci_executable_run(x, &in, 1, &out, 1, nullptr);
  // On a device with time of its own the failure comes with the result.
  float seen[4] = {};
  if (s == nullptr) s = ricci_array_copy_to_host(out, seen, sizeof seen);
  ricci_array_release(out);
  ricci_array_release(in);
  ricci_executable_release(x);
  return s;
}

ricci_status* Applied(HostileCases& t, const std::string& rule, const ricci_program* f) {
  const uint8_t ones[2] = {1, 1}, first[2] = {1, 0};
  uint8_t flags[2] = {};
  uint32_t n = 0;
  ricci_program *g = nullptr, *h = nullptr;
  ricci_status* s = nullptr;
  if (rule == "jvp") s = ricci_jvp(f, ones, 1, &g);
  if (rule == "transpose") s = ricci_linear_transpose(f, ones, 1, nullptr, nullptr, &g);
  if (rule == "batch") s = ricci_batch(f, ones, 1, 3, nullptr, flags, &g);
  if (rule == "dce") s = ricci_dce(f, ones, 1, flags, &g);
  if (rule == "partial_eval") s = ricci_partial_eval(f, first, 2, nullptr, flags, &n, &g, &h);
  ricci_program_release(g);
  ricci_program_release(h);
  if (rule == "launch") return Launched(t, f);
  if (rule == "match" || rule == "scalar" || rule == "index" || rule == "loops" || rule == "plan" ||
      rule == "decompose") {
    return CompileFor(t.ref(), f);
  }
  if (rule == "simplify" || rule == "contract" || rule == "source") {
    ricci_device* odd = nullptr;
    if (ricci_status* failed = AddOdd(t.context(), &odd)) return failed;
    return CompileFor(odd, f);
  }
  if (rule == "view_map" || rule == "factors_of") return ricci_check_program(f, nullptr, nullptr);
  return s;
}

}  // namespace

void SetRule(Script& s, const std::string& rule) {
  s.def.self = &s;
  s.lowering = s.copy = Loops();
  s.library.hdr.size = sizeof s.library;
  s.lowering.library = &s.library;
  s.lowering.priority = 1;
  SetProgramRule(s, rule);
  SetLoweringRule(s, rule);
  s.def.lowerings = s.list;
  s.def.n_lowerings = 2;
}

ricci_status* Use(HostileCases& t, const std::string& rule) {
  const bool two = rule == "partial_eval";
  const std::string text = two ? "program f(%x: f32[4], %z: f32[4]) {\n %y: f32[4] = h.op(%x, %z)\n return %y\n}"
                               : "program f(%x: f32[4]) {\n %y: f32[4] = h.op(%x)\n return %y\n}";
  ricci_program* f = nullptr;
  if (ricci_status* s = ricci_program_parse(t.context(), text.data(), text.size(), "t", 1, &f)) return s;
  ricci_status* s = Applied(t, rule, f);
  ricci_program_release(f);
  return s;
}

HostileCase RuleThat(const std::string& rule, const std::string& what, std::vector<std::string> said, Act act) {
  said.push_back("h.op");
  return {rule + "_" + what, std::move(said), [rule, act = std::move(act)](HostileCases& t) -> ricci_status* {
            Script& s = NewScript();
            s.test = &t;
            s.act = act;
            SetRule(s, rule);
            t.AddRow(s.def);
            return Use(t, rule);
          }};
}

namespace {

// ---- what is wrong with no rule ----

ricci_status* AsItMust(const RuleCall& c) {
  if (c.jvp != nullptr) c.jvp->out_tangents[0] = c.jvp->tangents[0];
  if (c.batch != nullptr) c.batch->out_dims[0] = c.batch->in_dims[0];
  if (c.dce != nullptr) c.dce->used_in[0] = 1;
  if (c.partial_eval != nullptr) c.partial_eval->out_is_known[0] = 1;
  if (c.out != nullptr && c.in != nullptr) c.out[0] = c.in[0];
  if (c.loaded != nullptr) c.element[0] = c.loaded[0];
  if (c.index != nullptr) return ricci_kernel_load(c.k, ricci_kernel_operand(c.k, 0), c.index, 1, c.element);
  if (c.k != nullptr && c.loaded == nullptr) return CopyLoops(nullptr, c.k, c.op);
  if (c.write != nullptr) c.write(c.sink, "a -> a", 6);
  if (c.plan != nullptr) c.plan->tasks = 1;
  if (c.source != nullptr) {
    ricci_source s = ricci_source_default();
    s.text = s.entry = Str("text");
    return c.source->give(c.source->sink, &s);
  }
  if (c.view_map != nullptr) {
    c.view_map->known = 1;
    c.view_map->from[0] = 0;
  }
  return nullptr;
}

class ScriptedRule : public HostileCases {};
TEST_P(ScriptedRule, IsCalledAndIsNoErrorIfItDoesWhatItMust) {
  ricci_status* s = GetParam().run(*this);
  // The laws go on to what this row does not have.
  const std::string message = s == nullptr ? "" : Message(s);
  if (message.find("h.op: no batch rule") == message.npos) {
    EXPECT_EQ(message, "");
  }
  ExpectUsable();
}
std::vector<HostileCase> Good() {
  std::vector<HostileCase> out;
  for (const std::string& rule : AllRules()) {
    if (rule == "abstract_eval") continue;
    out.push_back(RuleThat(rule, "as_it_must", {}, AsItMust));
  }
  return Named(std::move(out));
}
INSTANTIATE_TEST_SUITE_P(Rules, ScriptedRule, ::testing::ValuesIn(Good()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
