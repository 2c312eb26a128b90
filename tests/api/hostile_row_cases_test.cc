// Every field of a row, its attributes and its lowerings, times what can be wrong with it: refused by name when it is
// registered.
#include "hostile_case.h"

namespace ricci::testing { namespace {

// A row that is right, and what its pointers point to.
struct RowUnderTest {
  ricci_prim_def def = Def("h.op");
  ricci_attr_spec specs[2] = {{Str("axis"), RICCI_ATTR_INT, 0, {}}, {Str("eps"), RICCI_ATTR_FLOAT, 0, {}}};
  ricci_lowering lowering{};
  ricci_library library{};
  const ricci_lowering* lowerings[1] = {&lowering};

  RowUnderTest() {
    lowering.hdr.size = sizeof lowering;
    lowering.kind = RICCI_LOWER_LOOPS;
    lowering.target = Str("*");
    lowering.decompose = [](void*, ricci_builder*, const ricci_op*, const ricci_val*, ricci_val*) { return Nothing(); };
    lowering.scalar = [](void*, ricci_kernel_builder*, const ricci_op*, const ricci_sval*, ricci_sval*) {
      return Nothing();
    };
    lowering.index = [](void*, ricci_kernel_builder*, const ricci_op*, uint32_t, const ricci_sval*, ricci_sval*) {
      return Nothing();
    };
    lowering.loops = [](void*, ricci_kernel_builder*, const ricci_op*) { return Nothing(); };
    lowering.source = [](void*, const ricci_op*, const ricci_source_args*) { return Nothing(); };
    lowering.library = &library;
    library.hdr.size = sizeof library;
    library.plan = [](void*, const ricci_op*, ricci_library_plan*) { return Nothing(); };
    library.launch = [](void*, const ricci_launch*) { return Nothing(); };
    def.attr_specs = specs;
    def.n_attr_specs = 2;
    def.lowerings = lowerings;
    def.n_lowerings = 1;
  }
  RowUnderTest(const RowUnderTest&) = delete;
  static ricci_status* Nothing() { return nullptr; }
};
using Change = std::function<void(RowUnderTest&)>;

// Registered by the plugin; nothing of it may stay.
HostileCase Registered(std::string name, std::vector<std::string> said, const Change& change) {
  said.push_back("hostile");
  return {std::move(name), std::move(said), [change](HostileCases& t) {
            RowUnderTest row;
            change(row);
            ricci_status* s = t.Attached([&](ricci_ctx* c) { return ricci_prim_register(c, &row.def, nullptr); });
            ricci_prim p = 0;
            ErrorOf(ricci_prim_find(t.context(), "h.op", 4, &p), RICCI_NOT_FOUND);
            return s;
          }};
}
// The lowering of a row, in the row and added to it later.
void AddLoweringCases(std::vector<HostileCase>& out, const std::string& name, std::vector<std::string> said,
                      const Change& change) {
  out.push_back(Registered("lowering_" + name, said, change));
  said.insert(said.end(), {"hostile", "sin"});
  said.erase(std::remove(said.begin(), said.end(), "h.op"), said.end());
  out.push_back({"added_lowering_" + name, std::move(said), [change](HostileCases& t) {
                   RowUnderTest row;
                   change(row);
                   return t.Attached([&](ricci_ctx* c) -> ricci_status* {
                     ricci_prim p = 0;
                     if (ricci_status* s = ricci_prim_find(c, "sin", 3, &p)) return s;
                     return ricci_prim_add_lowering(c, p, row.def.lowerings[0]);
                   });
                 }});
}

std::vector<HostileCase> NamesAndHeaders() {
  std::vector<HostileCase> out;
  for (const BadHeader& bad : BadHeaders()) {
    out.push_back(
        Registered("row_" + bad.name, {"primitive: ", bad.said}, [=](RowUnderTest& r) { bad.change(r.def.hdr); }));
  }
  for (uint32_t bit = 12; bit < 32; ++bit) {
    out.push_back(Registered("row_flag_" + std::to_string(bit),
                             {"unknown flags in hdr.flags " + std::to_string(1u << bit)},
                             [=](RowUnderTest& r) { r.def.hdr.flags = 1u << bit; }));
  }
  const std::tuple<std::string, uint32_t, std::string> flags[] = {
      {"names_without_a_name", RICCI_PRIM_NAMES, "h.op: has RICCI_PRIM_NAMES, but no attribute `name`"},
      {"saves_inside_without_a_rule", RICCI_PRIM_SAVES_INSIDE, "h.op: has RICCI_PRIM_SAVES_INSIDE, but partial_eval"}};
  for (const auto& [name, flag, said] : flags) {
    out.push_back(Registered(name, {said}, [flag = flag](RowUnderTest& r) { r.def.hdr.flags = flag; }));
  }
  for (const BadText& bad : BadTexts(256)) {
    out.push_back(
        Registered("name_" + bad.name, {"primitive: name", bad.said}, [=](RowUnderTest& r) { r.def.name = bad.text; }));
  }
  for (const char* name : {"two words", "1st", ".op", "h.op\n", "h%op", "h(op", "h\"op", "h/op", "-op", "h,op"}) {
    out.push_back(Registered(std::string("name_is_") + name, {std::string("`") + name + "` is not a name"},
                             [=](RowUnderTest& r) { r.def.name = Str(name); }));
  }
  out.push_back(Registered("name_with_nul", {"is not a name"}, [](RowUnderTest& r) { r.def.name = {"h\0p", 3}; }));
  out.push_back(Registered("name_is_null", {"a row needs a name"}, [](RowUnderTest& r) { r.def.name = {nullptr, 9}; }));
  out.push_back(Registered("name_is_empty", {"a row needs a name"}, [](RowUnderTest& r) { r.def.name = Str(""); }));
  for (const char* taken : {"sin", "add", "scan", "while", "cond", "vmap", "custom_jvp"}) {
    out.push_back(Registered(std::string("name_of_") + taken, {std::string(taken) + ": already registered by"},
                             [=](RowUnderTest& r) { r.def.name = Str(taken); }));
  }
  return out;
}

std::vector<HostileCase> Fields() {
  const std::pair<std::string, ricci_str ricci_prim_def::*> texts[] = {{"doc", &ricci_prim_def::doc},
                                                                       {"examples", &ricci_prim_def::examples},
                                                                       {"factors", &ricci_prim_def::factors},
                                                                       {"missing", &ricci_prim_def::missing}};
  std::vector<HostileCase> out;
  for (const auto& [field, member] : texts) {
    for (const BadText& bad : BadTexts(1 << 20)) {
      out.push_back(Registered(field + "_" + bad.name, {"h.op: " + field, bad.said},
                               [=, m = member](RowUnderTest& r) { r.def.*m = bad.text; }));
    }
  }
  for (const char* doc :
       {"the best", "z = other.op(x): y", "z = h.op(x: y", "z = h.op(x)", "z = h.op(x): a\nb", "= h.op(x): y"}) {
    out.push_back(
        Registered(std::string("doc_is_") + doc, {"h.op: doc is"}, [=](RowUnderTest& r) { r.def.doc = Str(doc); }));
  }
  for (const uint32_t kind : {2u, 3u, 255u, 1u << 31, UINT32_MAX}) {
    out.push_back(Registered("batch_kind_" + std::to_string(kind), {"h.op: batch_kind is " + std::to_string(kind)},
                             [=](RowUnderTest& r) { r.def.batch_kind = kind; }));
  }
  out.push_back(Registered("abstract_eval_is_null", {"h.op: a row needs abstract_eval"},
                           [](RowUnderTest& r) { r.def.abstract_eval = nullptr; }));
  return out;
}

std::vector<HostileCase> Attributes() {
  std::vector<HostileCase> out;
  for (const uint32_t n : {257u, 1u << 31, UINT32_MAX}) {
    out.push_back(Registered("specs_" + std::to_string(n), {"h.op: n_attr_specs is " + std::to_string(n)},
                             [=](RowUnderTest& r) { r.def.n_attr_specs = n; }));
  }
  out.push_back(Registered("specs_are_null", {"h.op: attr_specs is NULL, but n_attr_specs is 2"},
                           [](RowUnderTest& r) { r.def.attr_specs = nullptr; }));
  for (const uint32_t size : {1u, 8u, 15u, 4097u, UINT32_MAX}) {
    out.push_back(Registered("spec_size_" + std::to_string(size), {"h.op: attr_spec_size is " + std::to_string(size)},
                             [=](RowUnderTest& r) { r.def.attr_spec_size = size; }));
  }
  for (const uint32_t kind : {0u, 10u, 255u, 1u << 31, UINT32_MAX}) {
    out.push_back(Registered("spec_kind_" + std::to_string(kind),
                             {"h.op: attribute eps has kind " + std::to_string(kind)},
                             [=](RowUnderTest& r) { r.specs[1].kind = kind; }));
  }
  for (const uint32_t flags : {2u, 4u, 1u << 31, UINT32_MAX}) {
    out.push_back(Registered("spec_flags_" + std::to_string(flags),
                             {"h.op: attribute eps has flags " + std::to_string(flags)},
                             [=](RowUnderTest& r) { r.specs[1].flags = flags; }));
  }
  for (const BadText& bad : BadTexts(256)) {
    out.push_back(Registered("spec_name_" + bad.name, {"h.op: name of attribute spec 1", bad.said},
                             [=](RowUnderTest& r) { r.specs[1].name = bad.text; }));
  }
  for (const BadText& bad : BadTexts(1 << 20)) {
    out.push_back(Registered("spec_absent_" + bad.name, {"h.op: absent of attribute spec 1", bad.said},
                             [=](RowUnderTest& r) { r.specs[1].absent = bad.text; }));
  }
  for (const char* name : {"", "two words", "9", "a=b", "[x]"}) {
    out.push_back(Registered(std::string("spec_name_is_") + name, {"h.op: attribute spec 1 needs a name"},
                             [=](RowUnderTest& r) { r.specs[1].name = Str(name); }));
  }
  out.push_back(Registered("spec_twice", {"h.op: attribute axis is declared twice"},
                           [](RowUnderTest& r) { r.specs[1].name = Str("axis"); }));
  out.push_back(Registered("spec_absent_but_required", {"h.op: attribute eps is `1` when left out"},
                           [](RowUnderTest& r) { r.specs[1].absent = Str("1"); }));
  return out;
}

std::vector<HostileCase> Lowerings() {
  std::vector<HostileCase> out;
  for (const uint32_t n : {1025u, 1u << 31, UINT32_MAX}) {
    out.push_back(Registered("lowerings_" + std::to_string(n), {"h.op: n_lowerings is " + std::to_string(n)},
                             [=](RowUnderTest& r) { r.def.n_lowerings = n; }));
  }
  out.push_back(Registered("lowerings_are_null", {"h.op: lowerings is NULL, but n_lowerings is 1"},
                           [](RowUnderTest& r) { r.def.lowerings = nullptr; }));
  out.push_back(
      Registered("lowering_is_null", {"h.op: a lowering is NULL"}, [](RowUnderTest& r) { r.lowerings[0] = nullptr; }));
  for (const BadHeader& bad : BadHeaders()) {
    AddLoweringCases(out, bad.name, {"h.op", "lowering: ", bad.said},
                     [=](RowUnderTest& r) { bad.change(r.lowering.hdr); });
    AddLoweringCases(out, "library_" + bad.name, {"h.op", "LIBRARY lowering: library: ", bad.said},
                     [=](RowUnderTest& r) {
                       r.lowering.kind = RICCI_LOWER_LIBRARY;
                       bad.change(r.library.hdr);
                     });
  }
  for (const uint32_t bit : {2u, 3u, 16u, 31u}) {
    AddLoweringCases(out, "flag_" + std::to_string(bit), {"h.op", "unknown flags in hdr.flags"},
                     [=](RowUnderTest& r) { r.lowering.hdr.flags = 1u << bit; });
  }
  for (const uint32_t kind : {0u, 7u, 255u, 1u << 31, UINT32_MAX}) {
    AddLoweringCases(out, "kind_" + std::to_string(kind), {"h.op", "a lowering has kind " + std::to_string(kind)},
                     [=](RowUnderTest& r) { r.lowering.kind = kind; });
  }
  for (const BadText& bad : BadTexts(256)) {
    AddLoweringCases(out, "target_" + bad.name, {"h.op", "LOOPS lowering: target", bad.said},
                     [=](RowUnderTest& r) { r.lowering.target = bad.text; });
  }
  for (const char* target : {"CPU", "c u", "cpu,cuda", "**", "cpu\n"}) {
    AddLoweringCases(out, std::string("target_is_") + target, {"h.op", "is neither `*` nor a word of small letters"},
                     [=](RowUnderTest& r) { r.lowering.target = Str(target); });
  }
  return out;
}

// Each kind without its callback, and with a flag that is of another kind.
std::vector<HostileCase> KindsOfLowerings() {
  struct Kind {
    uint32_t kind;
    std::string name;
    Change without;
    std::string said;
  };
  const Kind kinds[] = {
      {RICCI_LOWER_DECOMPOSE, "DECOMPOSE", [](RowUnderTest& r) { r.lowering.decompose = nullptr; },
       "`decompose` is NULL"},
      {RICCI_LOWER_SCALAR, "SCALAR", [](RowUnderTest& r) { r.lowering.scalar = nullptr; }, "`scalar` is NULL"},
      {RICCI_LOWER_INDEX, "INDEX", [](RowUnderTest& r) { r.lowering.index = nullptr; }, "`index` is NULL"},
      {RICCI_LOWER_LOOPS, "LOOPS", [](RowUnderTest& r) { r.lowering.loops = nullptr; }, "`loops` is NULL"},
      {RICCI_LOWER_LIBRARY, "LIBRARY", [](RowUnderTest& r) { r.lowering.library = nullptr; }, "`library` is NULL"},
      {RICCI_LOWER_LIBRARY, "LIBRARY", [](RowUnderTest& r) { r.library.plan = nullptr; },
       "plan of its library is NULL"},
      {RICCI_LOWER_LIBRARY, "LIBRARY", [](RowUnderTest& r) { r.library.launch = nullptr; },
       "launch of its library is NULL"},
      {RICCI_LOWER_LIBRARY, "LIBRARY", [](RowUnderTest& r) { r.library.hdr.flags = RICCI_LIBRARY_ONLY_ENQUEUES; },
       "its target is `*`, where it is a function of the host and has no stream; RICCI_LIBRARY_ONLY_ENQUEUES is for"},
      {RICCI_LOWER_LIBRARY, "LIBRARY", [](RowUnderTest& r) { r.library.hdr.flags = 2; }, "unknown flags in hdr.flags"},
      {RICCI_LOWER_SOURCE, "SOURCE", [](RowUnderTest& r) { r.lowering.source = nullptr; }, "`source` is NULL"},
      {RICCI_LOWER_SOURCE, "SOURCE", [](RowUnderTest&) {}, "its target is `*`"}};
  std::vector<HostileCase> out;
  for (const Kind& k : kinds) {
    AddLoweringCases(out, k.name + "_where_" + k.said, {"h.op", k.name + " lowering: ", k.said}, [=](RowUnderTest& r) {
      r.lowering.kind = k.kind;
      k.without(r);
    });
  }
  return out;
}
std::vector<HostileCase> FlagsOfOtherKinds() {
  std::vector<HostileCase> out;
  for (uint32_t kind = RICCI_LOWER_DECOMPOSE; kind <= RICCI_LOWER_SOURCE; ++kind) {
    const auto add = [&](uint32_t flag, const std::string& of) {
      AddLoweringCases(out, of + "_flag_of_kind_" + std::to_string(kind), {"h.op", "is for " + of + " only"},
                       [=](RowUnderTest& r) {
                         r.lowering.kind = kind;
                         r.lowering.target = Str("odd");
                         r.lowering.hdr.flags = flag;
                       });
    };
    if (kind != RICCI_LOWER_DECOMPOSE) add(RICCI_LOWERING_TRANSFORMABLE, "DECOMPOSE");
    if (kind != RICCI_LOWER_LOOPS) add(RICCI_LOWERING_UPDATES, "LOOPS");
  }
  return out;
}

std::vector<HostileCase> AllRows() {
  std::vector<HostileCase> out;
  for (auto part : {NamesAndHeaders, Fields, Attributes, Lowerings, KindsOfLowerings, FlagsOfOtherKinds}) {
    for (HostileCase& c : part()) out.push_back(std::move(c));
  }
  return Named(std::move(out));
}

using HostileRowCases = HostileCases;
TEST_P(HostileRowCases, GiveAStatus) { RunCase(); }
INSTANTIATE_TEST_SUITE_P(Rows, HostileRowCases, ::testing::ValuesIn(AllRows()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
