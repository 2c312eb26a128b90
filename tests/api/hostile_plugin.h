// HostilePlugin: a context and a plugin that does whatever a test wants, within the contract or not.
#ifndef RICCI_TESTS_API_HOSTILE_PLUGIN_H_
#define RICCI_TESTS_API_HOSTILE_PLUGIN_H_
#include <functional>

#include "ricci/backend.h"
#include "support/small_program.h"

namespace ricci::testing {

inline ricci_str Str(std::string_view v) { return {v.data(), v.size()}; }

// What the plugin under test does; query functions have no argument to carry it.
struct Behaviour {
  ricci_plugin plugin;
  std::function<ricci_status*(ricci_ctx*)> attach;
  int detached = 0;
};
inline Behaviour g_behaviour;

inline ricci_status* Attach(void*, ricci_ctx* c) { return g_behaviour.attach ? g_behaviour.attach(c) : nullptr; }
inline void Detach(void*, ricci_ctx* c) {
  ricci_context_release(ricci_context_retain(c));  // allowed even now
  ++g_behaviour.detached;
}
inline ricci_status* Query(const ricci_host_info* h, const ricci_plugin** out) {
  EXPECT_EQ(h->abi_major, RICCI_ABI_MAJOR);
  EXPECT_NE(h->api, nullptr);
  *out = &g_behaviour.plugin;
  return nullptr;
}

inline ricci_status* SameType(void*, ricci_builder* b, const ricci_op* op) {
  return ricci_builder_set_out_types(b, op->in_types, 1);
}

inline ricci_prim_def Def(std::string_view name) {
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

}  // namespace ricci::testing
#endif
