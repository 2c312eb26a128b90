// HostileCase: one way in which a plugin breaks the contract, and the fixture that runs it.
//
// Cases come from tables: a field or rule, times what can be wrong with it. Each must give a status whose message has
// the words of the case, release everything (the counting host looks), and leave a context in which another program
// still runs. It names primitive and rule, and the plugin too unless the words are the rule's own.
//
// Not there, because a handle is an address: handles used after their end, objects released that are not the caller's,
// and other pointers to nothing. Nor rows that a rule of another row changes while they are used: the header forbids
// it, and nothing detects it.
#ifndef RICCI_TESTS_API_HOSTILE_CASE_H_
#define RICCI_TESTS_API_HOSTILE_CASE_H_
#include <set>
#include <stdexcept>

#include "hostile_plugin.h"

namespace ricci::testing {

class HostileCases;
struct HostileCase {
  std::string name;               // of the test: letters, digits and _
  std::vector<std::string> said;  // what the message must contain
  std::function<ricci_status*(HostileCases&)> run;
};
// Names that gtest takes, each once.
inline std::vector<HostileCase> Named(std::vector<HostileCase> cases) {
  std::set<std::string> taken;
  for (HostileCase& c : cases) {
    for (char& x : c.name) x = std::isalnum(static_cast<unsigned char>(x)) ? x : '_';
    for (const std::string base = c.name; !taken.insert(c.name).second;) {
      c.name = base + "_" + std::to_string(taken.size());
    }
  }
  return cases;
}
inline std::string NameOfCase(const ::testing::TestParamInfo<HostileCase>& info) { return info.param.name; }
inline void PrintTo(const HostileCase& c, std::ostream* out) { *out << c.name; }

// ---- texts that cannot be read ----

struct BadText {
  std::string name;
  ricci_str text;
  std::string said;
};
// A text may have `longest` bytes. The lengths without memory must not be read at all.
inline std::vector<BadText> BadTexts(size_t longest) {
  static const std::string long_text((1 << 20) + 1, 'a');
  return {{"too_long", {long_text.data(), longest + 1}, "at most"},
          {"of_2_to_62_bytes", {"x", size_t{1} << 62}, "at most"},
          {"of_2_to_63_bytes", {"x", size_t{1} << 63}, "at most"},
          {"of_all_bytes", {"x", SIZE_MAX}, "at most"},
          {"with_a_lone_continuation", Str("a\x80"), "not UTF-8"},
          {"that_is_cut_short", Str("a\xc3"), "not UTF-8"},
          {"that_is_cut_before_a_letter", Str("\xc3z"), "not UTF-8"},
          {"that_is_overlong", Str("\xc0\xaf"), "not UTF-8"},
          {"that_is_overlong_in_three", Str("\xe0\x80\x80"), "not UTF-8"},
          {"with_a_surrogate", Str("\xed\xa0\x80"), "not UTF-8"},
          {"beyond_unicode", Str("\xf4\x90\x80\x80"), "not UTF-8"}};
}

// ---- structs of other sizes, with other extensions ----

struct BadHeader {
  std::string name;
  std::function<void(ricci_hdr&)> change;
  std::string said;
};
inline std::vector<BadHeader> BadHeaders() {
  static ricci_ext critical{sizeof critical, RICCI_EXT_CRITICAL, 42, nullptr};
  static ricci_ext endless{sizeof endless, 0, 43, nullptr};
  endless.next = &endless;
  std::vector<BadHeader> out = {
      {"a_critical_extension", [](ricci_hdr& h) { h.next = &critical; }, "unknown critical extension 42"},
      {"extensions_without_an_end", [](ricci_hdr& h) { h.next = &endless; }, "end the list with NULL"}};
  for (const uint32_t size : {0u, 1u, static_cast<uint32_t>(sizeof(ricci_hdr)) - 1, 4097u, 1u << 31, UINT32_MAX}) {
    out.push_back({"size_" + std::to_string(size), [size](ricci_hdr& h) { h.size = size; },
                   "hdr.size is " + std::to_string(size)});
  }
  return out;
}

// ---- the fixture ----

class HostileCases : public HostilePlugin, public ::testing::WithParamInterface<HostileCase> {
 public:
  ricci_ctx* context() const { return ctx; }
  ricci_device* ref() const { return device; }
  ricci_program* Read(std::string_view text) { return Parse(text); }
  ricci_type TypeOf(uint32_t dtype, std::vector<int64_t> dims) { return Type(dtype, std::move(dims)); }
  // What a context says of a plugin with this `attach`.
  ricci_status* Attached(std::function<ricci_status*(ricci_ctx*)> attach) {
    g_behaviour.attach = std::move(attach);
    return ricci_context_add_plugin(ctx, Query);
  }
  // The plugin `hostile` with this row, which is right as far as anyone can see.
  void AddRow(const ricci_prim_def& d) { Load(d); }

 protected:
  void RunCase() {
    const HostileCase& c = GetParam();
    ricci_status* s = c.run(*this);
    ASSERT_NE(s, nullptr) << "no status";
    EXPECT_NE(ricci_status_code(s), uint32_t{RICCI_OK});
    ricci_str primitive{}, rule{};
    ricci_status_site(s, &primitive, &rule, nullptr, nullptr);
    const std::string site =
        " (" + std::string(primitive.ptr, primitive.len) + ", " + std::string(rule.ptr, rule.len) + ")";
    const std::string message = Message(s) + site;
    for (const std::string& text : c.said) {
      EXPECT_NE(message.find(text), message.npos) << "`" << text << "` is not in: " << message;
    }
    EXPECT_EQ(message.find("reached the border"), message.npos) << message;
    EXPECT_EQ(message.find("invariant broken"), message.npos) << message;
    ExpectUsable();
  }
  // Another program compiles and runs.
  void ExpectUsable() {
    ricci_executable* x = CompileText(kAddText);
    ASSERT_NE(x, nullptr);
    ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
    ricci_array* in[2] = {a, a};
    ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
    EXPECT_EQ(SmallProgram::Read(out), (std::vector<float>{2, 4, 6, 8}));
    ricci_array_release(out);
    ricci_array_release(a);
    ricci_executable_release(x);
  }
};

}  // namespace ricci::testing
#endif
