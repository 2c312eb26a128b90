// Numbers, shapes and texts that rules and lowerings give: each out of range, too large, or of another type.
#include "hostile_script.h"

namespace ricci::testing { namespace {

std::string Rule(const std::string& rule) { return "rule " + rule + " of plugin hostile"; }

std::vector<HostileCase> Types() {
  const auto sets = [](std::vector<ricci_type> types, uint32_t n) {
    return
        [=](const RuleCall& c) { return ricci_builder_set_out_types(c.b, types.empty() ? nullptr : types.data(), n); };
  };
  const auto emits = [](const RuleCall& c) {
    ricci_prim sin = 0;
    ricci_val out = 0;
    EXPECT_TRUE(Ok(ricci_prim_find(c.op->ctx, "sin", 3, &sin)));
    return ricci_builder_emit(c.b, sin, nullptr, 0, nullptr, 0, &out, 1);
  };
  const auto zero = [](const RuleCall& c) {
    ricci_val out = 0;
    return ricci_builder_zero(c.b, c.op->in_types[0], &out);
  };
  const std::string rule = "abstract_eval";
  return {
      RuleThat(rule, "sets_nothing", {Rule(rule), "sets no result types"}, [](const RuleCall&) { return nullptr; }),
      RuleThat(rule, "hides_a_failure", {Rule(rule), "sets no result types"},
               [=](const RuleCall& c) -> ricci_status* { return ricci_status_free(sets({999999}, 1)(c)), nullptr; }),
      RuleThat(rule, "sets_an_unknown_type", {"result type 999999 is not known"}, sets({999999}, 1)),
      RuleThat(rule, "sets_type_0", {"result type 0 is not known"}, sets({0}, 1)),
      RuleThat(rule, "sets_types_at_null", {"t is NULL"}, sets({}, 3)),
      RuleThat(rule, "sets_2_to_32_types", {"4294967295 results, at most 1048576"}, sets({1}, UINT32_MAX)),
      RuleThat(rule, "sets_too_many_types", {"1048577 results, at most 1048576"}, sets({1}, (1 << 20) + 1)),
      RuleThat(rule, "emits", {"abstract_eval may not emit"}, emits),
      RuleThat(rule, "adds_a_constant", {"abstract_eval may not add constants"}, zero),
      RuleThat(rule, "gives_two_results", {"the text has 1 result, the primitive 2"}, [=](const RuleCall& c) {
        return sets({c.op->in_types[0], c.op->in_types[0]}, 2)(c);
      })};
}

std::vector<HostileCase> Dimensions() {
  std::vector<HostileCase> out;
  for (const int32_t dim : {-2, 2, 17, INT32_MIN, INT32_MAX}) {
    out.push_back(RuleThat("batch", "dim_" + std::to_string(dim),
                           {Rule("batch"), "dimension " + std::to_string(dim) + " of slot 0 is out of range"},
                           [=](const RuleCall& c) -> ricci_status* {
                             c.out[0] = c.in[0];
                             c.batch->out_dims[0] = dim;
                             return nullptr;
                           }));
  }
  out.push_back(RuleThat("batch", "dim_is_another", {Rule("batch"), "slot 0 is f32[3,4], not f32[4,3]"},
                         [](const RuleCall& c) -> ricci_status* {
                           c.out[0] = c.in[0];
                           c.batch->out_dims[0] = 1;
                           return nullptr;
                         }));
  return out;
}

std::vector<HostileCase> ViewMaps() {
  struct Wrong {
    std::string name;
    int64_t first, limit, from, shift;
  };
  const Wrong all[] = {{"first_below", -1, 4, 0, 0},
                       {"limit_beyond", 0, 5, 0, 0},
                       {"limit_before_first", 3, 2, 0, 0},
                       {"from_beyond", 0, 4, 7, 0},
                       {"from_below", 0, 4, -2, 0},
                       {"shifted_out", 0, 4, 0, 1},
                       {"shift_overflows", 0, 4, 0, INT64_MAX},
                       {"shift_underflows", 0, 4, 0, INT64_MIN},
                       {"nowhere", 0, 4, -1, 0},
                       {"all_are_the_largest", INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                       {"all_are_the_smallest", INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}};
  std::vector<HostileCase> out;
  for (const Wrong& w : all) {
    out.push_back(RuleThat("view_map", w.name,
                           {Rule("view_map"), "impossible map for elements of operand 0, f32[4], in f32[4]"},
                           [=](const RuleCall& c) -> ricci_status* {
                             c.view_map->known = 1;
                             c.view_map->first[0] = w.first, c.view_map->limit[0] = w.limit;
                             c.view_map->from[0] = w.from, c.view_map->shift[0] = w.shift;
                             return nullptr;
                           }));
  }
  return out;
}

std::vector<HostileCase> FactorTexts() {
  const auto writes = [](const char* p, size_t n) {
    return [=](const RuleCall& c) -> ricci_status* { return c.write(c.sink, p, n), nullptr; };
  };
  static const std::string endless(1 << 17, 'a');
  std::vector<HostileCase> out = {
      RuleThat("factors_of", "writes_at_null", {Rule("factors_of"), "writes 5 bytes at NULL"}, writes(nullptr, 5)),
      RuleThat("factors_of", "writes_2_to_63_bytes", {Rule("factors_of"), "more than 65536 bytes"},
               writes("a", size_t{1} << 63)),
      RuleThat("factors_of", "writes_all_bytes", {Rule("factors_of"), "more than 65536 bytes"}, writes("a", SIZE_MAX)),
      RuleThat("factors_of", "writes_too_much", {Rule("factors_of"), "more than 65536 bytes"},
               writes(endless.data(), endless.size()))};
  for (const char* text : {"a", "a ->", "-> a", "a b -> a b", "a -> b", "a -> a; a", "a -> a; most a", "a -> a; sum b",
                           "a -> a; sum a", "a -> a a", "-> -> ->", "; ; ;", "\xff -> \xff", ", , ,"}) {
    out.push_back(RuleThat("factors_of", std::string("text_") + text, {"factors"}, writes(text, std::strlen(text))));
  }
  return out;
}

// ---- lowerings ----

ricci_status* One(const RuleCall& c, uint32_t dtype, ricci_sval* out) {
  const double bits[2] = {};
  return ricci_kernel_const(c.k, dtype, bits, out);
}
ricci_sval At(const RuleCall& c, int64_t i) {
  ricci_sval v = 0;
  EXPECT_TRUE(Ok(ricci_kernel_const_index(c.k, i, &v)));
  return v;
}

std::vector<HostileCase> Elements() {
  std::vector<HostileCase> out;
  for (const std::string rule : {"scalar", "index"}) {
    out.push_back(RuleThat(rule, "gives_nothing", {Rule(rule), "gives no value for result 0"},
                           [](const RuleCall&) { return nullptr; }));
    for (const ricci_sval v : {4711u, 1u << 31, (1u << 31) + 7, UINT32_MAX}) {
      out.push_back(RuleThat(rule, "gives_number_" + std::to_string(v), {Rule(rule), "gives no value for result 0"},
                             [=](const RuleCall& c) -> ricci_status* { return c.element[0] = v, nullptr; }));
    }
    for (const auto& [dtype, name] :
         {std::pair{RICCI_F64, "f64"}, std::pair{RICCI_I32, "i32"}, std::pair{RICCI_BOOL, "bool"}}) {
      out.push_back(RuleThat(rule, std::string("gives_") + name,
                             {Rule(rule), std::string("gives ") + name + " for an element of result 0, f32[4]"},
                             [dtype = dtype](const RuleCall& c) { return One(c, dtype, c.element); }));
    }
    out.push_back(
        RuleThat(rule, "leaves_a_loop_open", {Rule(rule), "leaves a loop or branch open"}, [](const RuleCall& c) {
          ricci_sval i = 0;
          if (ricci_status* s = One(c, RICCI_F32, c.element)) return s;
          ricci_sval n = 0;
          if (ricci_status* s = ricci_kernel_load(c.k, ricci_kernel_operand(c.k, 0), (i = At(c, 0), &i), 1, &n))
            return s;
          if (ricci_status* s = ricci_kernel_scalar(c.k, RICCI_S_CONVERT, RICCI_I64, &n, 1, &n)) return s;
          return ricci_kernel_for(c.k, At(c, 0), n, &i);
        }));
    out.push_back(RuleThat(rule, "ends_what_it_did_not_begin", {}, [](const RuleCall& c) {
      if (ricci_status* s = One(c, RICCI_F32, c.element)) return s;
      return ricci_kernel_end(c.k);
    }));
  }
  return out;
}

// A rule of abstract_eval that lies: the lowering works on other shapes.
HostileCase LyingShape(const std::string& name, std::vector<int64_t> dims, std::vector<std::string> said) {
  said.push_back("h.op");
  return {"scalar_of_shape_" + name, std::move(said), [dims](HostileCases& t) {
            Script& s = NewScript();
            s.test = &t;
            SetRule(s, "scalar");
            static ricci_type told;
            told = t.TypeOf(RICCI_F32, dims);
            s.def.abstract_eval = [](void*, ricci_builder* b, const ricci_op*) {
              return ricci_builder_set_out_types(b, &told, 1);
            };
            s.act = [](const RuleCall& c) -> ricci_status* { return c.element[0] = c.loaded[0], nullptr; };
            t.AddRow(s.def);
            std::string type = "f32[";
            for (size_t i = 0; i < dims.size(); ++i) type += (i == 0 ? "" : ",") + std::to_string(dims[i]);
            ricci_program* f = t.Read("program f(%x: f32[4]) {\n %y: " + type + "] = h.op(%x)\n return %y\n}");
            ricci_compile_opts o = ricci_compile_opts_default();
            ricci_device* on = t.ref();
            o.devices = &on;
            o.n_devices = 1;
            ricci_executable* x = nullptr;
            ricci_status* failed = ricci_compile(f, &o, &x);
            ricci_executable_release(x);
            ricci_program_release(f);
            return failed;
          }};
}

std::vector<HostileCase> Stores() {
  const auto store = [](ricci_karr (*array)(const ricci_kernel_builder*, uint32_t), std::vector<int64_t> index,
                        uint32_t dtype) {
    return [=](const RuleCall& c) {
      ricci_sval v = 0;
      if (ricci_status* s = One(c, dtype, &v)) return s;
      std::vector<ricci_sval> at;
      for (int64_t i : index) at.push_back(At(c, i));
      return ricci_kernel_store(c.k, array(c.k, 0), at.data(), static_cast<uint32_t>(at.size()), v);
    };
  };
  const auto load = [](int64_t index) {
    return [=](const RuleCall& c) {
      ricci_sval v = 0, at = At(c, index);
      if (ricci_status* s = ricci_kernel_load(c.k, ricci_kernel_operand(c.k, 0), &at, 1, &v)) return s;
      ricci_sval zero = At(c, 0);
      return ricci_kernel_store(c.k, ricci_kernel_result(c.k, 0), &zero, 1, v);
    };
  };
  std::vector<HostileCase> out;
  for (const int64_t index : {int64_t{4}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    const std::string name = std::to_string(index);
    out.push_back(RuleThat("loops", "stores_at_" + name, {"element " + name + " of an array of 4"},
                           store(ricci_kernel_result, {index}, RICCI_F32)));
    out.push_back(RuleThat("loops", "loads_at_" + name, {"element " + name + " of an array of 4"}, load(index)));
  }
  out.push_back(RuleThat("loops", "stores_with_two_indices", {"2 indices for f32[4]"},
                         store(ricci_kernel_result, {0, 0}, RICCI_F32)));
  out.push_back(RuleThat("loops", "stores_without_an_index", {"0 indices for f32[4]"},
                         store(ricci_kernel_result, {}, RICCI_F32)));
  out.push_back(
      RuleThat("loops", "stores_f64", {"is f32 but the value is f64"}, store(ricci_kernel_result, {0}, RICCI_F64)));
  out.push_back(RuleThat("loops", "stores_to_an_operand", {}, store(ricci_kernel_operand, {0}, RICCI_F32)));
  return out;
}

std::vector<HostileCase> Blocks() {
  using Step = ricci_status* (*)(const RuleCall&);
  struct Wrong {
    std::string name;
    Step step;
  };
  static ricci_sval v;
  static ricci_karr a;
  const Wrong all[] = {
      {"leaves_a_while_open", [](const RuleCall& c) { return ricci_kernel_while(c.k); }},
      {"ends_twice", [](const RuleCall& c) { return ricci_kernel_end(c.k); }},
      {"else_without_if", [](const RuleCall& c) { return ricci_kernel_else(c.k); }},
      {"cond_without_while", [](const RuleCall& c) { return ricci_kernel_cond(c.k, At(c, 0)); }},
      {"if_of_an_index", [](const RuleCall& c) { return ricci_kernel_if(c.k, At(c, 0)); }},
      {"yield_without_reduce", [](const RuleCall& c) { return ricci_kernel_yield(c.k, At(c, 0), &v); }},
      {"prefix_without_scan", [](const RuleCall& c) { return ricci_kernel_prefix(c.k, &(v = At(c, 0)), 1, &v); }},
      {"combiner_without_scan", [](const RuleCall& c) { return ricci_kernel_combiner(c.k, &(v = At(c, 0)), 1, &v); }},
      {"reduce_by_sub",
       [](const RuleCall& c) { return ricci_kernel_reduce(c.k, RICCI_S_SUB, At(c, 0), At(c, 4), &v); }},
      {"reduce_by_nothing", [](const RuleCall& c) { return ricci_kernel_reduce(c.k, 9999, At(c, 0), At(c, 4), &v); }},
      {"for_of_nothing", [](const RuleCall& c) { return ricci_kernel_for(c.k, 0, 4711, &v); }},
      {"operation_0", [](const RuleCall& c) { return ricci_kernel_scalar(c.k, 0, 0, &(v = At(c, 0)), 1, &v); }},
      {"operation_9999", [](const RuleCall& c) { return ricci_kernel_scalar(c.k, 9999, 0, &(v = At(c, 0)), 1, &v); }},
      {"operation_of_no_operands",
       [](const RuleCall& c) { return ricci_kernel_scalar(c.k, RICCI_S_ADD, 0, &v, 0, &v); }},
      {"operation_of_many_operands",
       [](const RuleCall& c) {
         const ricci_sval many[] = {v, v, v, v};
         return ricci_kernel_scalar(c.k, RICCI_S_ADD, 0, many, 4, &v);
       }},
      {"convert_to_nothing",
       [](const RuleCall& c) { return ricci_kernel_scalar(c.k, RICCI_S_CONVERT, 99, &(v = At(c, 0)), 1, &v); }},
      {"constant_of_no_dtype", [](const RuleCall& c) { return ricci_kernel_const(c.k, 99, &v, &v); }},
      {"private_of_no_type", [](const RuleCall& c) { return ricci_kernel_private(c.k, 0, &a); }},
      {"view_along_9",
       [](const RuleCall& c) { return ricci_kernel_view(c.k, ricci_kernel_operand(c.k, 0), 9, At(c, 0), &a); }},
      {"view_of_nothing", [](const RuleCall& c) { return ricci_kernel_view(c.k, 0, 0, At(c, 0), &a); }},
      {"copy_of_nothing", [](const RuleCall& c) { return ricci_kernel_copy(c.k, ricci_kernel_result(c.k, 0), 4711); }},
      {"copy_to_nothing", [](const RuleCall& c) { return ricci_kernel_copy(c.k, 4711, ricci_kernel_operand(c.k, 0)); }},
      {"operand_9",
       [](const RuleCall& c) {
         return ricci_kernel_copy(c.k, ricci_kernel_result(c.k, 0), ricci_kernel_operand(c.k, 9));
       }},
      {"result_9",
       [](const RuleCall& c) {
         return ricci_kernel_copy(c.k, ricci_kernel_result(c.k, 9), ricci_kernel_operand(c.k, 0));
       }},
      {"check_of_an_index",
       [](const RuleCall& c) { return ricci_kernel_check(c.k, At(c, 0), RICCI_INTERNAL, "x", 1); }},
      {"check_with_code_ok", [](const RuleCall& c) { return ricci_kernel_check(c.k, At(c, 0), RICCI_OK, "x", 1); }},
      {"parallel_below_0",
       [](const RuleCall& c) {
         const int64_t n = -1;
         return ricci_kernel_parallel(c.k, &n, 1, &v);
       }},
  };
  std::vector<HostileCase> out;
  for (const Wrong& w : all) out.push_back(RuleThat("loops", w.name, {}, w.step));
  return out;
}

std::vector<HostileCase> Calls() {
  const auto plans = [](std::function<void(ricci_library_plan&)> change) {
    return [=](const RuleCall& c) -> ricci_status* { return change(*c.plan), nullptr; };
  };
  std::vector<HostileCase> out;
  for (const int64_t tasks : {int64_t{-1}, INT64_MIN, (int64_t{1} << 31) + 1, INT64_MAX}) {
    out.push_back(RuleThat("plan", "tasks_" + std::to_string(tasks),
                           {Rule("plan"), "tasks is " + std::to_string(tasks)},
                           plans([=](ricci_library_plan& p) { p.tasks = tasks; })));
  }
  for (const uint64_t bytes : {(uint64_t{1} << 62) + 1, uint64_t{1} << 63, UINT64_MAX}) {
    out.push_back(RuleThat("plan", "workspace_" + std::to_string(bytes), {"workspace of " + std::to_string(bytes)},
                           plans([=](ricci_library_plan& p) { p.workspace_bytes = bytes; })));
  }
  for (const uint64_t bytes : {(uint64_t{1} << 40) + 1, uint64_t{1} << 63, UINT64_MAX}) {
    out.push_back(RuleThat("plan", "scratch_" + std::to_string(bytes), {"scratch of " + std::to_string(bytes)},
                           plans([=](ricci_library_plan& p) { p.scratch_bytes = bytes; })));
  }
  return out;
}

std::vector<HostileCase> Sources() {
  const auto gives = [](std::function<void(ricci_source&)> change) {
    return [=](const RuleCall& c) {
      ricci_source s = ricci_source_default();
      s.text = s.entry = Str("text");
      change(s);
      return c.source->give(c.source->sink, &s);
    };
  };
  static const ricci_source_scalar wrong[] = {{99, 0, 0}, {RICCI_BOOL, 0, 1 << 9}, {RICCI_C64, 0, 0}};
  std::vector<HostileCase> out = {
      RuleThat("source", "gives_nothing", {Rule("source"), "gave no source"}, [](const RuleCall&) { return nullptr; }),
      RuleThat("source", "gives_null", {"give: s is NULL"},
               [](const RuleCall& c) { return c.source->give(c.source->sink, nullptr); }),
      RuleThat("source", "gives_to_null", {"give: sink is NULL"},
               [](const RuleCall& c) {
                 const ricci_source s = ricci_source_default();
                 return c.source->give(nullptr, &s);
               }),
      RuleThat("source", "text_is_empty", {"its text is empty"}, gives([](ricci_source& s) { s.text = {}; })),
      RuleThat("source", "entry_is_empty", {"`entry` is empty"}, gives([](ricci_source& s) { s.entry = {}; })),
      RuleThat("source", "scalars_are_null", {"its scalars are NULL, but n_scalars is 3"},
               gives([](ricci_source& s) { s.n_scalars = 3; })),
      RuleThat("source", "grid_is_negative", {"its grid is -1 x 1 x 1"},
               gives([](ricci_source& s) { s.grid[0] = -1; })),
      RuleThat("source", "grid_overflows", {"more than 2^62"},
               gives([](ricci_source& s) { s.grid[0] = s.grid[1] = INT64_MAX; })),
      RuleThat("source", "block_is_empty", {"its block is 1 x 0 x 1"}, gives([](ricci_source& s) { s.block[1] = 0; })),
      RuleThat("source", "block_overflows", {"more than 2^62"},
               gives([](ricci_source& s) { s.block[0] = s.block[1] = INT64_MAX; })),
      RuleThat("source", "workspace", {"workspace of"}, gives([](ricci_source& s) { s.workspace_bytes = UINT64_MAX; })),
      RuleThat("source", "shared", {"shared memory of"}, gives([](ricci_source& s) { s.shared_bytes = UINT64_MAX; }))};
  for (uint32_t i = 0; i < 3; ++i) {
    out.push_back(RuleThat("source", "scalar_" + std::to_string(i), {"scalar 0 has"},
                           gives([=](ricci_source& s) { s.scalars = &wrong[i], s.n_scalars = 1; })));
  }
  for (const BadHeader& bad : BadHeaders()) {
    out.push_back(
        RuleThat("source", bad.name, {"source: ", bad.said}, gives([=](ricci_source& s) { bad.change(s.hdr); })));
  }
  return out;
}

// A rule that changes its own row while that is used.
std::vector<HostileCase> Registrations() {
  std::vector<HostileCase> out;
  for (const std::string rule : {"match", "loops", "decompose", "jvp", "abstract_eval"}) {
    out.push_back(
        RuleThat(rule, "adds_a_lowering_to_its_row", {Rule(rule), "adds a lowering to its own row while that is used"},
                 [](const RuleCall& c) -> ricci_status* {
                   ricci_lowering l{};
                   l.hdr.size = sizeof l;
                   l.kind = RICCI_LOWER_LOOPS;
                   l.loops = [](void*, ricci_kernel_builder*, const ricci_op*) -> ricci_status* { return nullptr; };
                   EXPECT_TRUE(Ok(ricci_prim_add_lowering(c.op->ctx, c.op->prim, &l)));
                   return nullptr;
                 }));
  }
  return out;
}

std::vector<HostileCase> AllNumbers() {
  std::vector<HostileCase> out = {
      LyingShape("8", {8}, {Rule("scalar"), "operand 0 is f32[4] and the result f32[8]"}),
      LyingShape("3", {3}, {Rule("scalar"), "operand 0 is f32[4] and the result f32[3]"}),
      LyingShape("none", {}, {Rule("scalar"), "operand 0 is f32[4] and the result f32[]"}),
      LyingShape("2_2", {2, 2}, {Rule("scalar"), "operand 0 is f32[4] and the result f32[2,2]"})};
  for (auto part :
       {Types, Dimensions, ViewMaps, FactorTexts, Elements, Stores, Blocks, Calls, Sources, Registrations}) {
    for (HostileCase& c : part()) out.push_back(std::move(c));
  }
  return Named(std::move(out));
}

using HostileNumberCases = HostileCases;
TEST_P(HostileNumberCases, GiveAStatus) { RunCase(); }
INSTANTIATE_TEST_SUITE_P(Numbers, HostileNumberCases, ::testing::ValuesIn(AllNumbers()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
